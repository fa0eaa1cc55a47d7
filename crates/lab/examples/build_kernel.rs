//! Builds the lab's kernel and says where it is:
//! `cargo run -p disklab-lab --example build_kernel [FOLDER OF A KERNEL SOURCE]`.

use std::process::ExitCode;
use std::time::Instant;

use disklab_exec::Executor;
use disklab_lab::kernel::{self, Source};

fn main() -> ExitCode {
    let source = match std::env::args_os().nth(1) {
        Some(folder) => Source::Tree(folder.into()),
        None => Source::Debian,
    };
    let began = Instant::now();
    let mut said = String::new();
    let built =
        kernel::ensure(&source, &kernel::cache_folder(), &Executor::default(), &mut |progress| {
            let percent = progress.fraction.map(|f| format!(", {:.0} %", f * 100.0));
            let words = format!("{}{}", progress.step.words(), percent.unwrap_or_default());
            if words != said {
                println!("{:4} s  {words}", began.elapsed().as_secs());
                said = words;
            }
        });
    match built {
        Ok(kernel) => {
            println!("{:4} s  {}", began.elapsed().as_secs(), kernel.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if error.is_wrong_use() { 2 } else { 1 })
        }
    }
}

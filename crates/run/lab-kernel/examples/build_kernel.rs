//! Builds the lab's kernel and says where it is; with `--zfs` the one that has
//! OpenZFS, from Debian's packages or from a directory:
//! `cargo run -p disklab-lab-kernel --example build_kernel [--zfs[=DIRECTORY]] [DIRECTORY OF A KERNEL SOURCE]`.

use std::process::ExitCode;
use std::time::Instant;

use disklab_exec::Executor;
use disklab_lab_kernel::{
    self as kernel, BuildProgress, LinuxSource, LinuxVersion, Parts, ZfsSource,
};

fn main() -> ExitCode {
    let (mut source, mut zfs) = (LinuxSource::Debian(LinuxVersion::default()), None);
    for word in std::env::args().skip(1) {
        match word.strip_prefix("--zfs") {
            Some("") => zfs = Some(ZfsSource::Debian),
            Some(directory) => {
                zfs = Some(ZfsSource::Tree(directory.trim_start_matches('=').into()))
            }
            None => source = LinuxSource::Tree(word.into()),
        }
    }
    let began = Instant::now();
    let mut said = String::new();
    let mut say = |progress: BuildProgress| {
        let percent = progress.fraction.map(|f| format!(", {:.0} %", f * 100.0));
        let words = format!("{}{}", progress.step.words(), percent.unwrap_or_default());
        if words != said {
            println!("{:4} s  {words}", began.elapsed().as_secs());
            said = words;
        }
    };
    let (cache, executor) = (kernel::cache_directory(), Executor::default());
    let built = match &zfs {
        None => kernel::ensure(&source, Parts::ALL, &cache, &executor, &mut say),
        Some(zfs) => {
            kernel::ensure_zfs(&source, zfs, &cache, &executor, &mut say).map(|zfs| zfs.kernel)
        }
    };
    match built {
        Ok(kernel) => {
            println!("{:4} s  {}", began.elapsed().as_secs(), kernel.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if error.is_usage_error() { 2 } else { 1 })
        }
    }
}

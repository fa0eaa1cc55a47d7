//! Runs a fio job file with the engine, as `fio --output-format=json+` would.
//!
//! ```text
//! cargo run --release -p disklab-engine --example run_job -- FILE [DIRECTORY] [--logs DIRECTORY]
//! ```

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use disklab_engine::{JobContext, LogKind, run};
use disklab_jobfile::{Policy, parse};
use disklab_source::Source;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let logs = match words.iter().position(|word| word == "--logs") {
        Some(at) if at + 1 < words.len() => {
            let logs_in = words.remove(at + 1);
            words.remove(at);
            Some(logs_in)
        }
        _ => None,
    };
    let name = words.first().ok_or("which job file?")?.clone();
    let directory = words.get(1).map_or(".", String::as_str);
    let text = std::fs::read_to_string(&name)?;
    let jobs = parse(&Arc::new(Source { name, text }), Policy::default())?;
    let report = run(&jobs, &JobContext::new(directory, 1))?;
    if let Some(logs_in) = logs {
        for kind in [LogKind::Bandwidth, LogKind::Operations, LogKind::Latency] {
            for (name, text) in report.logs(kind) {
                std::fs::write(Path::new(&logs_in).join(name), text)?;
            }
        }
    }
    println!("{:#}", report.to_fio_json());
    Ok(())
}

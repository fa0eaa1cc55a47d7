//! Makes a large run out of a small one, for measuring how long a report takes:
//! `multiply RUN BLOCKS OUT` copies the samples of RUN's first block into as
//! many blocks as asked for.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use disklab_cell::{Levels, SeedSharing, order};
use disklab_store::Run;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, from, blocks, to] = arguments.as_slice() else {
        eprintln!("usage: multiply RUN BLOCKS OUT");
        return ExitCode::from(2);
    };
    match multiply(Path::new(from), blocks, Path::new(to)) {
        Ok(cells) => {
            println!("{cells} cells in {to}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("multiply: {error}");
            ExitCode::from(2)
        }
    }
}

fn multiply(from: &Path, blocks: &str, to: &Path) -> Result<usize, Box<dyn std::error::Error>> {
    let small = Run::open(from)?;
    let mut samples = HashMap::new();
    small.for_each_sample(|record, sample| {
        let cell = &record.cell;
        samples.entry(cell.levels.clone()).or_insert(sample);
    })?;
    let mut info = small.info()?;
    info.repeats = blocks.parse()?;
    let levels: Vec<Levels> = samples.keys().cloned().collect();
    let cells = order(&levels, info.repeats, info.seed, SeedSharing::Shared);
    let mut large = Run::create(to, &info, &cells)?;
    for cell in &cells {
        let sample = &samples[&cell.levels];
        large.record(cell, sample, 1.0)?;
    }
    Ok(cells.len())
}

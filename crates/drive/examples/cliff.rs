//! Prints the figures of the shingled drive's gates, beside what was measured.

use std::time::Instant;

use disklab_drive::smr::gates::{CHUNKS, Places, cliff, sequential, small_writes_when_full};
use disklab_drive::{Kind, shipped};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(Kind::Smr(p)) = shipped("st8000as0002").map(|file| file.kind) else {
        return Err("the drive is not shingled".into());
    };
    let published = [
        (21.6, 17.0, 9.5),
        (28.8, 22.8, 4.2),
        (44.4, 27.5, 7.7),
        (91.0, 28.0, 13.3),
        (198.0, 30.5, 20.5),
        (386.0, 30.2, 30.3),
        (1000.0, 34.5, 39.0),
    ];
    let show = |name: &str, load: &disklab_drive::smr::gates::Cliff| {
        println!(
            "{name:>10} {:9.1} ms {:7.1} GiB {:7.1} MiB/s  {:?}",
            load.before / 1e6,
            load.at.unwrap_or(0) as f64 / f64::from(1 << 30),
            load.after / f64::from(1 << 20),
            load.counts
        );
    };
    for (chunk, (ms, at, rate)) in CHUNKS.into_iter().zip(published) {
        let begun = Instant::now();
        let load = cliff(&p, chunk, 48 << 30, Places::Random(3));
        show("random", &load);
        println!(
            "{:>6} MiB {:+8.1} % {:+10.1} % {:+9.1} %   in {:.2} s",
            chunk >> 20,
            (load.before / 1e6 / ms - 1.0) * 100.0,
            (load.at.unwrap_or(0) as f64 / f64::from(1 << 30) / at - 1.0) * 100.0,
            (load.after / f64::from(1 << 20) / rate - 1.0) * 100.0,
            begun.elapsed().as_secs_f64()
        );
    }
    show("sequential", &cliff(&p, 1 << 20, 48 << 30, Places::Sequential));
    let (windows, host) = sequential(&p, 100 << 30, 8);
    for window in windows.iter().step_by(10) {
        print!("{:.0} ", window.rate / f64::from(1 << 20));
    }
    println!("MiB/s");
    println!("{:?}", disklab_drive::Drive::statistics(&host.drive));
    println!(
        "4 KiB when full: {:.2} IOPS, {:.2} with flushes",
        small_writes_when_full(&p, 4096, 4000, false),
        small_writes_when_full(&p, 4096, 400, true)
    );
    Ok(())
}

//! Prints the figures of the analytic gates for every shipped drive, or for the
//! drive files given as arguments.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{GIB, drives, expected_iops, random_iops, rate, rate_at, rewrite_turns, scan_seconds};
use disklab_drive::Operation::{Read, Write};
use disklab_drive::hdd::Parameters;
use disklab_drive::load;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut list: Vec<(String, Parameters)> = Vec::new();
    for path in std::env::args().skip(1) {
        let file = load(&path, &std::fs::read_to_string(&path)?)?;
        let parameters = file.mechanics().ok_or("a drive without a disk")?.clone();
        list.push((path, parameters));
    }
    if list.is_empty() {
        list = drives().into_iter().map(|(id, p)| (id.to_owned(), p)).collect();
    }

    println!("Random 4 KiB reads at depth 1, IOPS; scan of the drive, s; rewrite, turns");
    println!(
        "{:18} {:>8} {:>8} {:>7} {:>9} {:>9} {:>7} {:>9} {:>9}",
        "drive", "model", "formula", "%", "scan", "formula", "%", "same", "next"
    );
    for (id, p) in &list {
        let (iops, _) = random_iops(p, Read, 1, p.capacity, 60_000);
        let expected = expected_iops(p);
        let scan = scan_seconds(p, 16 << 20);
        let formula = p.capacity as f64 / f64::midpoint(p.outer_rate, p.inner_rate);
        let (same, next) = rewrite_turns(p);
        println!(
            "{id:18} {iops:8.2} {expected:8.2} {:+7.2} {scan:9.0} {formula:9.0} {:+7.2} \
             {same:9.6} {next:9.6}",
            (iops / expected - 1.0) * 100.0,
            (scan / formula - 1.0) * 100.0
        );
    }

    for (title, operation, quality, gibibytes) in [
        ("Random 4 KiB reads, ideal choice, IOPS by depth", Read, Some(1.0), None),
        ("The same within the outer GiB", Read, Some(1.0), Some(1)),
        ("Random 4 KiB reads, IOPS by depth", Read, None, None),
        ("Random 4 KiB writes with write cache, IOPS by depth", Write, None, None),
    ] {
        println!("\n{title}");
        println!(
            "{:18} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
            "drive", 1, 2, 4, 8, 16, 32, "32/1", "µs at 1", "at 32"
        );
        for (id, p) in &list {
            let p = Parameters { ncq_quality: quality.unwrap_or(p.ncq_quality), ..p.clone() };
            let span = gibibytes.map_or(p.capacity, |n: u64| n * GIB);
            let results = [1, 2, 4, 8, 16, 32].map(|depth| {
                let (begun, count) = (Instant::now(), 10_000);
                let (iops, _) = random_iops(&p, operation, depth, span, count);
                (iops, begun.elapsed().as_secs_f64() / count as f64 * 1e6)
            });
            print!("{id:18}");
            results.iter().for_each(|(iops, _)| print!(" {iops:7.1}"));
            let gain = results[5].0 / results[0].0;
            println!(" {gain:7.2} {:7.2} {:7.2}", results[0].1, results[5].1);
        }
    }

    println!("\nSequential reads, MB/s by position, and the largest deviation from R(x)");
    for (id, p) in &list {
        print!("{id:18}");
        let mut worst: f64 = 0.0;
        for step in 0..=40 {
            let x = f64::from(step) / 40.0;
            let measured = rate_at(p, x);
            worst = worst.max((measured / rate(p, x) - 1.0).abs());
            if step % 5 == 0 {
                print!(" {:6.1}", measured / 1e6);
            }
        }
        println!("   {:.2} %", worst * 100.0);
    }
    Ok(())
}

//! How fast the lab is: random reads of 4 KiB from one drive that takes 10.86 ms
//! for each, in round trips of 16 bytes over a Unix socket pair.
//!
//! Arguments: the kernel, the number of reads, the processor.

use std::error::Error;
use std::time::{Duration, Instant};

use disklab_drive::{Completion, Drive, Nanos, Request, Statistics};
use disklab_lab::{DiskOptions, Lab, LabOptions, round_trip};

/// One request at a time, each in the same time.
struct Steady {
    pending: Option<Completion>,
}

impl Drive for Steady {
    fn submit(&mut self, now: Nanos, request: Request) {
        let at = Nanos(now.0 + 10_860_000);
        self.pending = Some(Completion { id: request.id, at });
    }
    fn next_event(&self) -> Option<Nanos> {
        self.pending.map(|c| c.at)
    }
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        if self.pending.is_some_and(|c| c.at <= now) {
            completions.extend(self.pending.take());
        }
    }
    fn statistics(&self) -> Statistics {
        Statistics::default()
    }
    fn sectors(&self) -> u64 {
        10_000_000_000_000 / 512
    }
    fn write_cache(&self) -> bool {
        false
    }
    fn set_write_cache(&mut self, _now: Nanos, _on: bool) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let kernel = words.next().ok_or("the kernel's path, reads, processor")?;
    let reads: u32 = words.next().map_or(Ok(100_000), |n| n.parse())?;
    let core: usize = words.next().map_or(Ok(0), |n| n.parse())?;
    let reader = std::env::current_exe()?.with_file_name("reader");
    let once = |reads: u32| -> Result<(Duration, String), Box<dyn Error>> {
        let folder = std::env::temp_dir().join(format!("disklab-speed-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let mut options = LabOptions::new(&kernel, &folder, &reader);
        options.init_arguments = vec![reads.to_string()];
        options.memory_bytes = 128 << 20;
        options.core = Some(core);
        options.disks = vec![DiskOptions::new(Box::new(Steady { pending: None }), "SPEED")];
        let began = Instant::now();
        let report = Lab::start(options).and_then(Lab::run);
        let took = began.elapsed();
        let console = std::fs::read_to_string(folder.join("console"))?;
        std::fs::remove_dir_all(&folder)?;
        if !console.contains("reads=") {
            return Err(format!("the reader said nothing:\n{console}").into());
        }
        let said = console.lines().find(|l| l.starts_with("reads=")).unwrap_or("?").to_owned();
        let turns = report.map_err(|e| format!("{e}"))?.turns;
        Ok((took, format!("{said} {turns:?}")))
    };
    let before = round_trip(Some(core), 20_000)?;
    // Booting is not what is measured.
    let (boot, _) = once(1)?;
    let (took, said) = once(reads)?;
    let after = round_trip(Some(core), 20_000)?;
    let rt = (before + after) / 2;
    let each = took.saturating_sub(boot) / reads;
    println!("{said}");
    println!("boot {boot:.2?}, round trip {rt:.2?} ({before:.2?}, {after:.2?})");
    println!(
        "{:.0} reads per second of real time, {each:.2?} each: {:.1} round trips",
        1.0 / each.as_secs_f64(),
        each.as_secs_f64() / rt.as_secs_f64()
    );
    Ok(())
}

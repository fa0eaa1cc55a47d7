//! The lab's speed, as `disklab lab bench` measures it, of this crate alone.
//!
//! Arguments: how often (3), the processor (0), another one (none).

use std::error::Error;

use disklab_lab::speed::{SPEED_JOB, SpeedOptions, carry_out_in_guest, measure};
use disklab_lab::{guest, kernel};

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(words) = guest::arguments() {
        let words = words.strip_prefix(&[SPEED_JOB.to_owned()]).unwrap_or_default();
        if let Err(e) =
            guest::begin().map_err(|e| e.to_string()).and_then(|()| carry_out_in_guest(words))
        {
            println!("failed: {e}");
        }
        guest::power_off();
    }
    let mut words = std::env::args().skip(1);
    let mut number = || words.next().map(|w| w.parse::<usize>()).transpose();
    let repeats = number()?.unwrap_or(3) as u32;
    let core = number()?.unwrap_or(0);
    let folder = std::env::temp_dir().join(format!("disklab-speed-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let options = SpeedOptions {
        kernel: kernel::find(&kernel::cache_folder()).ok_or("there is no kernel")?,
        program: std::env::current_exe()?,
        folder: folder.clone(),
        core,
        other_core: number()?,
        repeats,
        interrupt: Default::default(),
    };
    let figures = measure(&options, &mut |what| eprintln!("{what}"));
    std::fs::remove_dir_all(folder)?;
    for figure in figures? {
        let (low, high) = figure.spread().unwrap_or_default();
        println!(
            "{:38} {:9.2} {:5} ({low:.2} to {high:.2}) {:?} {:?}",
            figure.name,
            figure.median().unwrap_or_default(),
            figure.unit,
            figure.target,
            figure.is_met()
        );
    }
    Ok(())
}

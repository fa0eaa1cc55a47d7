//! `disklab lab bench`: how fast the lab is here.

use disklab_lab::round_trip;
use serde_json::json;

use super::super::{print, print_json};
use crate::cli::BenchArgs;
use crate::exit::{DONE, Failure};

/// Rounds of which the mean is taken.
const ROUNDS: u32 = 20_000;

/// Measures the unit in which the lab's costs are stated.
pub fn bench(_args: &BenchArgs, json: bool) -> Result<u8, Failure> {
    let took = round_trip(None, ROUNDS).map_err(Failure::failed)?;
    let microseconds = took.as_secs_f64() * 1e6;
    if json {
        print_json(&json!({ "round_trip_us": microseconds }))?;
    } else {
        print(&format!("round trip of 16 bytes to another process: {microseconds:.1} µs\n"))?;
    }
    Ok(DONE)
}

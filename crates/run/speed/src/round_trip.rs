//! The unit in which the lab's speed is told.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use disklab_exec::{OWNER_VARIABLE, close_inherited, owner};
use disklab_lab::LabError;
use disklab_lab::Pinned;

/// Bytes that go there and back: as many as the calendar's messages have.
const BYTES: usize = 16;
/// Rounds before the clock starts.
const WARM_UP: u32 = 1000;

/// How long 16 bytes take to another process and back, over a Unix socket pair,
/// with both on processor `core`: the mean of `rounds`.
///
/// Machines differ and are noisy; a lab's costs per request, divided by this as
/// measured in the same minute, are steady.
///
/// # Errors
/// Where `cat`, which plays the other process, cannot be started, or the
/// processor is not ours to run on.
pub fn round_trip(core: Option<usize>, rounds: u32) -> Result<Duration, LabError> {
    let failed = "measure the round trip to `cat`";
    let _pinned = Pinned::to(core)?;
    let (mut near, far) = UnixStream::pair().map_err(LabError::system(failed))?;
    let again = far.try_clone().map_err(LabError::system(failed))?;
    let mut cat = close_inherited(&mut Command::new("cat"))
        .env(OWNER_VARIABLE, owner())
        .stdin(Stdio::from(OwnedFd::from(far)))
        .stdout(Stdio::from(OwnedFd::from(again)))
        .stderr(Stdio::null())
        .spawn()
        .map_err(LabError::system("start `cat`"))?;
    let mut bytes = [0; BYTES];
    let mut go = |rounds: u32| -> std::io::Result<Duration> {
        let began = Instant::now();
        for _ in 0..rounds {
            near.write_all(&bytes)?;
            near.read_exact(&mut bytes)?;
        }
        Ok(began.elapsed())
    };
    let took = go(WARM_UP).and_then(|_| go(rounds.max(1)));
    // It ends when our side is closed; be sure.
    let _ = cat.kill();
    let _ = cat.wait();
    Ok(took.map_err(LabError::system(failed))? / rounds.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_is_measured() {
        let time = round_trip(None, 100).unwrap();
        assert!(time > Duration::ZERO);
    }

    #[test]
    fn a_processor_that_is_not_there_is_refused() {
        assert!(matches!(round_trip(Some(100_000), 1), Err(LabError::Options(_))));
    }
}

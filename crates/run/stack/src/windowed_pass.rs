//! What passes over the drives of an md array, a rebuild or a scrub, from a place on for as long as one looks.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use disklab_exec::Executor;
use disklab_measure::BlockDevice;
use disklab_units::Bytes;

use crate::StackError;

/// A multiple of every chunk size: a pass begins there.
const ALIGNMENT: u64 = 64 << 20;

/// How long the kernel may take to begin.
const LATEST: Duration = Duration::from_secs(30);

/// A rebuild or a scrub that can begin anywhere.
pub trait WindowedPass: Debug + Send + Sync {
    /// How many bytes it passes, as the kernel counts them.
    fn length(&self) -> Bytes;

    /// Bytes per second that the kernel holds it to.
    fn limit(&self) -> Option<Bytes>;

    /// Begins at the last place at or before `from` that is one of every array; returns where it is
    /// once it has begun.
    ///
    /// # Errors
    /// [`StackError`] where the array's command or the kernel refuses.
    fn begin(&self, from: Bytes, executor: &Executor) -> Result<Bytes, StackError>;

    /// Whether it has not come to its end.
    fn is_running(&self) -> bool;

    /// Stops it. Returns up to where all is done and durable, and since when.
    ///
    /// # Errors
    /// [`StackError::Io`] where the kernel or the drive refuses.
    fn end(&self) -> Result<(Bytes, Instant), StackError>;

    /// Has the array do no such thing.
    ///
    /// # Errors
    /// [`StackError::Io`] where the kernel refuses.
    fn freeze(&self) -> Result<(), StackError>;
}

/// What an array is doing, of [`WindowedPass`]: `recover` or `check`.
pub(crate) fn acts(array: &BlockDevice, action: &str) -> bool {
    array.attribute("md/sync_action").is_some_and(|own| own.trim() == action)
}

/// Bytes per second that the array's passes are held to.
pub(crate) fn limit(array: &BlockDevice) -> Option<Bytes> {
    kib(array.attribute("md/sync_speed_max")?.split_whitespace().next()?)
}

/// How many bytes of each member the array uses.
pub(crate) fn component_size(array: &BlockDevice) -> Bytes {
    array.attribute("md/component_size").and_then(|text| kib(&text)).unwrap_or_default()
}

/// A number of KiB, as the kernel's files of arrays have it.
pub(crate) fn kib(text: &str) -> Option<Bytes> {
    text.trim().parse().ok().map(|kib: u64| Bytes(kib.saturating_mul(1024)))
}

/// The last place at or before `from` at which an array's pass may begin.
pub(crate) fn aligned(from: Bytes) -> Bytes {
    Bytes(from.0 / ALIGNMENT * ALIGNMENT)
}

/// Writes an attribute of an array.
pub(crate) fn set(array: &BlockDevice, attribute: &str, value: &str) -> Result<(), StackError> {
    let path = array.attribute_path(attribute);
    std::fs::write(&path, value).map_err(|e| StackError::io("cannot write", &path, e))
}

/// Waits until the array's action is beyond `from`, if it is not over before.
pub(crate) fn wait_for_first(
    layer: &str,
    (array, action): (&BlockDevice, &str),
    from: Bytes,
    executor: &Executor,
) -> Result<(), StackError> {
    let began = Instant::now();
    while acts(array, action) && began.elapsed() < LATEST {
        if has_passed(position(array), from) {
            break;
        }
        executor
            .interrupt
            .sleep(Duration::from_millis(5))
            .map_err(|stop| StackError::Program { layer: layer.to_owned(), source: stop.into() })?;
    }
    Ok(())
}

/// Until its superblocks are written, a pass is shown at the place that it begins at.
fn has_passed(position: Option<Bytes>, from: Bytes) -> bool {
    position.is_some_and(|at| at > from)
}

/// Where the array's rebuild or check is, if there is one.
pub(crate) fn position(array: &BlockDevice) -> Option<Bytes> {
    position_in(&std::fs::read_to_string("/proc/mdstat").unwrap_or_default(), array.name())
}

/// From the line `[>…]  recovery = 12.6% (37043392/292945152) finish=…`, in KiB, of this array.
fn position_in(mdstat: &str, array: &str) -> Option<Bytes> {
    let mut lines = mdstat.lines().skip_while(|line| line.split(' ').next() != Some(array)).skip(1);
    let own = lines.by_ref().take_while(|line| line.starts_with(' '));
    let is_moving = |line: &&str| line.contains("recovery =") || line.contains("check =");
    let (_, rest) = own.filter(is_moving).find_map(|line| line.split_once('('))?;
    kib(rest.split_once('/')?.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MDSTAT: &str = "Personalities : [raid6]\nmd1 : active raid1 vda[0] vdb[1]\n      \
        1023 blocks super 1.2 [2/2] [UU]\n\nmd12 : active raid5 vdb[4] vdd[3] vdc[2] vda[0]\n      \
        29298914304 blocks super 1.2 level 5\n      [>....]  recovery =  0.5% (68988/9766304768) \
        finish=1.0min speed=2K/sec\n\nunused devices: <none>\n";

    #[test]
    fn a_pass_begins_at_or_before_where_it_is_to() {
        let mib = |mib: u64| Bytes(mib << 20);
        for (from, begins) in [(mib(0), mib(0)), (mib(63), mib(0)), (mib(64), mib(64))] {
            assert_eq!(aligned(from), begins);
        }
        assert_eq!(aligned(Bytes((200 << 20) - 1)), mib(192));
    }

    #[test]
    fn the_position_is_that_of_the_own_array() {
        for text in [MDSTAT.to_owned(), MDSTAT.replace("recovery", "check")] {
            assert_eq!(position_in(&text, "md12"), Some(Bytes(68988 * 1024)));
            for other in ["md1", "md2", ""] {
                assert_eq!(position_in(&text, other), None, "{other}");
            }
        }
        assert_eq!(position_in(&MDSTAT.replace("68988/", "x/"), "md12"), None);
        assert_eq!(position_in(&MDSTAT.replace("recovery", "reshape"), "md12"), None);
    }

    #[test]
    fn a_pass_has_begun_once_it_is_beyond_where_it_begins() {
        let from = Bytes(64 << 20);
        let seen = [None, Some(from), Some(Bytes(from.0 + 1024)), Some(Bytes(from.0 * 2))];
        assert_eq!(seen.map(|at| has_passed(at, from)), [false, false, true, true]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}", array in "(md1)?") {
            let _ = position_in(&format!("md1 : \n   {text} recovery = {text}"), &array);
        }
    }
}

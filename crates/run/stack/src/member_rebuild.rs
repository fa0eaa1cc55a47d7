//! A member of an md array, rebuilt from a place on for as long as one looks.
//!
//! `mdadm --add` begins at the member's start. A member that is added while the array is frozen, and
//! given its slot by hand, keeps the `recovery_start` that it was given before (kernel:
//! `drivers/md/md.c`, `slot_store` and `md_sync_position`).

use std::fs::File;
use std::time::{Duration, Instant};

use disklab_exec::{Executor, Invocation};
use disklab_measure::BlockDevice;
use disklab_units::Bytes;

use crate::StackError;

/// A multiple of every chunk size: a rebuild begins there.
const ALIGNMENT: u64 = 64 << 20;

/// How often a failed member is tried to be removed while requests to it are in flight.
const TRIES: u32 = 100;

/// How long the kernel may take to begin.
const LATEST: Duration = Duration::from_secs(30);

/// A device of an array, which can be rebuilt from any place on.
#[derive(Debug, Clone)]
pub struct MemberRebuild {
    layer: String,
    array: BlockDevice,
    member: BlockDevice,
    length: Bytes,
}

impl MemberRebuild {
    pub(crate) fn new(layer: &str, array: BlockDevice, member: BlockDevice) -> Self {
        let kib = array.attribute("md/component_size").and_then(|text| text.trim().parse().ok());
        let length = Bytes(kib.unwrap_or(0_u64).saturating_mul(1024));
        Self { layer: layer.to_owned(), array, member, length }
    }

    /// How much of it the array uses.
    pub fn length(&self) -> Bytes {
        self.length
    }

    /// Bytes per second that the array's rebuild is held to.
    pub fn limit(&self) -> Option<Bytes> {
        let text = self.array.attribute("md/sync_speed_max")?;
        let kib: u64 = text.split_whitespace().next()?.parse().ok()?;
        Some(Bytes(kib.saturating_mul(1024)))
    }

    /// Takes it out, puts it in again as a blank one, and has it rebuilt from the last place at or
    /// before `from` that is one of every array, and which is returned when that has begun.
    ///
    /// # Errors
    /// [`StackError`] where the array's command or the kernel refuses.
    pub fn begin(&self, from: Bytes, executor: &Executor) -> Result<Bytes, StackError> {
        self.freeze()?;
        replace_member(&self.layer, &self.array, &self.member, executor)?;
        let from = from.0 / ALIGNMENT * ALIGNMENT;
        self.set(&self.own("recovery_start"), &(from / 512).to_string())?;
        self.set(&self.own("slot"), &self.free_slot().to_string())?;
        self.set("md/sync_action", "recover")?;
        self.wait_for_first(Bytes(from), executor)?;
        Ok(Bytes(from))
    }

    /// Waits until something is rebuilt from `from` on: the array's superblocks are written first.
    fn wait_for_first(&self, from: Bytes, executor: &Executor) -> Result<(), StackError> {
        let began = Instant::now();
        while self.is_rebuilding() && began.elapsed() < LATEST {
            let mdstat = std::fs::read_to_string("/proc/mdstat").unwrap_or_default();
            if position_in(&mdstat, self.array.name()).is_some_and(|at| at > from) {
                break;
            }
            executor.interrupt.sleep(Duration::from_millis(5)).map_err(|stop| {
                StackError::Program { layer: self.layer.clone(), source: stop.into() }
            })?;
        }
        Ok(())
    }

    /// Whether it is being rebuilt.
    pub fn is_rebuilding(&self) -> bool {
        self.array.attribute("md/sync_action").is_some_and(|action| action.trim() == "recover")
    }

    /// Has the array stay as it is, and what was written to the member be on its medium. Returns up to
    /// where it is rebuilt.
    ///
    /// # Errors
    /// [`StackError::Io`] where the kernel or the drive refuses.
    pub fn end(&self) -> Result<Bytes, StackError> {
        self.freeze()?;
        let node = self.member.node();
        let flushed = File::open(&node).and_then(|member| member.sync_all());
        flushed.map_err(|e| StackError::io("cannot flush", &node, e))?;
        let at = self.array.attribute(&self.own("recovery_start"));
        let sectors: Option<u64> = at.and_then(|text| text.trim().parse().ok());
        Ok(sectors.map_or(self.length, |sectors| Bytes(sectors.saturating_mul(512))))
    }

    /// Has the array rebuild nothing.
    ///
    /// # Errors
    /// [`StackError::Io`] where the kernel refuses.
    pub fn freeze(&self) -> Result<(), StackError> {
        self.set("md/sync_action", "frozen")
    }

    fn own(&self, attribute: &str) -> String {
        format!("md/dev-{}/{attribute}", self.member.name())
    }

    fn set(&self, attribute: &str, value: &str) -> Result<(), StackError> {
        let path = self.array.attribute_path(attribute);
        std::fs::write(&path, value).map_err(|e| StackError::io("cannot write", &path, e))
    }

    /// The first place in the array that no device has.
    fn free_slot(&self) -> u64 {
        let is_taken = |slot: &u64| self.array.attribute_path(&format!("md/rd{slot}")).exists();
        (0..).find(|slot| !is_taken(slot)).unwrap_or(0)
    }
}

/// From the line `[>…]  recovery = 12.6% (37043392/292945152) finish=…`, in KiB, of this array.
pub(crate) fn position_in(mdstat: &str, array: &str) -> Option<Bytes> {
    let mut lines = mdstat.lines().skip_while(|line| line.split(' ').next() != Some(array)).skip(1);
    let own = lines.by_ref().take_while(|line| line.starts_with(' '));
    let (_, rest) = own.filter_map(|line| line.split_once("recovery =")).next()?;
    let (_, rest) = rest.split_once('(')?;
    let kib: u64 = rest.split_once('/')?.0.trim().parse().ok()?;
    Some(Bytes(kib.saturating_mul(1024)))
}

/// A command of mdadm for a member of an array.
pub(crate) fn mdadm(array: &BlockDevice, what: &str, member: &BlockDevice) -> Invocation {
    Invocation::new("mdadm").arg(array.node()).arg(what).arg(member.node())
}

/// Fails the member if it works, removes it, and adds it as a device that never was one.
pub(crate) fn replace_member(
    layer: &str,
    array: &BlockDevice,
    member: &BlockDevice,
    executor: &Executor,
) -> Result<(), StackError> {
    let failed = |source| StackError::Program { layer: layer.to_owned(), source };
    let run = |invocation: &Invocation| executor.check(invocation).map(drop).map_err(failed);
    run(&mdadm(array, "--fail", member))?;
    for _ in 1..TRIES {
        if executor.run(&mdadm(array, "--remove", member)).is_ok_and(|done| done.code == 0) {
            break;
        }
        let stop = executor.interrupt.sleep(Duration::from_millis(50));
        stop.map_err(|stop| failed(stop.into()))?;
    }
    run(&Invocation::new("mdadm").arg("--zero-superblock").arg(member.node()))?;
    run(&mdadm(array, "--add", member))
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
    fn the_position_is_that_of_the_own_array() {
        assert_eq!(position_in(MDSTAT, "md12"), Some(Bytes(68988 * 1024)));
        for other in ["md1", "md2", ""] {
            assert_eq!(position_in(MDSTAT, other), None, "{other}");
        }
        assert_eq!(position_in(&MDSTAT.replace("68988/", "x/"), "md12"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}", array in "(md1)?") {
            let _ = position_in(&format!("md1 : \n   {text} recovery = {text}"), &array);
        }
    }
}

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
use crate::windowed_pass::{
    WindowedPass, acts, aligned, component_size, limit, set, wait_for_first,
};

/// How often a failed member is tried to be removed while requests to it are in flight.
const TRIES: u32 = 100;

/// A device of an array, which can be rebuilt from any place on.
#[derive(Debug, Clone)]
pub(crate) struct MemberRebuild {
    pub layer: String,
    pub array: BlockDevice,
    pub member: BlockDevice,
}

impl WindowedPass for MemberRebuild {
    fn length(&self) -> Bytes {
        component_size(&self.array)
    }

    fn limit(&self) -> Option<Bytes> {
        limit(&self.array)
    }

    /// Takes it out, puts it in again as a blank one, and has it rebuilt from there.
    fn begin(&self, from: Bytes, executor: &Executor) -> Result<Bytes, StackError> {
        self.freeze()?;
        replace_member(&self.layer, &self.array, &self.member, executor)?;
        let from = aligned(from);
        set(&self.array, &self.own("recovery_start"), &(from.0 / 512).to_string())?;
        set(&self.array, &self.own("slot"), &self.free_slot().to_string())?;
        set(&self.array, "md/sync_action", "recover")?;
        wait_for_first(&self.layer, (&self.array, "recover"), from, executor)?;
        Ok(from)
    }

    fn is_running(&self) -> bool {
        acts(&self.array, "recover")
    }

    fn end(&self) -> Result<(Bytes, Instant), StackError> {
        self.freeze()?;
        let node = self.member.node();
        let flushed = File::open(&node).and_then(|member| member.sync_all());
        flushed.map_err(|e| StackError::io("cannot flush", &node, e))?;
        let at = self.array.attribute(&self.own("recovery_start"));
        let sectors: Option<u64> = at.and_then(|text| text.trim().parse().ok());
        let to = sectors.map_or(self.length(), |sectors| Bytes(sectors.saturating_mul(512)));
        Ok((to, Instant::now()))
    }

    fn freeze(&self) -> Result<(), StackError> {
        set(&self.array, "md/sync_action", "frozen")
    }
}

impl MemberRebuild {
    fn own(&self, attribute: &str) -> String {
        format!("md/dev-{}/{attribute}", self.member.name())
    }

    /// The first place in the array that no device has.
    fn free_slot(&self) -> u64 {
        let is_taken = |slot: &u64| self.array.attribute_path(&format!("md/rd{slot}")).exists();
        (0..).find(|slot| !is_taken(slot)).unwrap_or(0)
    }
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

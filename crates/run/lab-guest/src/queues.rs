//! What virtio cannot say of disks' queues: words on the kernel's command line. The lab's kernel
//! reads [`NON_ROTATING`] and [`QUEUE_DEPTH`] before it adds a disk
//! (`kernel/patches/queues.patch`), since writeback throttling is set up then, and [`FLUSH_QUEUES`]
//! (`kernel/patches/flushes.patch`), before the disk is in use; by the others the
//! guest's first program sets the queues through sysfs. A kernel that knows none of them ignores
//! them, as parameters of modules that it does not have.
//!
//! virtio-blk knows one depth for all disks (`virtblk_queue_depth` in drivers/block/virtio_blk.c).
//! A disk that takes fewer requests has its tags reduced: without a scheduler, `nr_requests` is
//! the number of tags (`blk_mq_update_nr_requests` in block/blk-mq.c), which a scheduler that is
//! chosen afterwards leaves as it is.

use std::fs;

use disklab_drive::IoScheduler;

/// Names of disks that do not rotate: to virtio all do. The first program sets it, too, for a
/// kernel that does not know the word.
pub const NON_ROTATING: &str = "disklab.non_rotating=";
/// Names of disks whose queue is as deep as the word's end says, to writeback throttling
/// (`blk_queue_depth` in include/linux/blkdev.h): the commands that a SCSI disk takes, and the
/// tags of an NVMe drive.
pub const QUEUE_DEPTH: &str = "disklab.queue_depth.";
/// Names of disks that have as many hardware queues in a machine as the word's end says, each with
/// flushes of its own.
pub const FLUSH_QUEUES: &str = "disklab.flush_queues.";
/// Names of disks whose requests are not sorted.
pub const UNSORTED: &str = "disklab.unsorted=";
/// Names of disks that take as many requests at a time as the word's end says.
pub const TAGS: &str = "disklab.tags.";
/// Names of disks in whose scheduler as many requests wait as the word's end says.
pub const REQUESTS: &str = "disklab.requests.";

/// Names of SCSI disks whose commands the kernel gives up after as many seconds as the word's end
/// says.
pub const COMMAND_TIMEOUT: &str = "disklab.command_timeout.";

/// A queue's file that says whether its disk rotates.
const ROTATIONAL: &str = "rotational";
/// What writeback throttling has reads wait at most on a disk that rotates, in microseconds
/// (`wbt_default_latency_nsec` in block/blk-wbt.c).
const WBT_ROTATING: &str = "75000";

/// Sets the queues of this guest's disks as its command line says.
pub(crate) fn set() {
    let Ok(line) = fs::read_to_string("/proc/cmdline") else { return };
    let set = |name: &str, file: &str, value: &str| {
        let _ = fs::write(format!("/sys/block/{name}/queue/{file}"), value);
    };
    for (name, file, value) in settings(&line) {
        set(name, file, value);
        if file == ROTATIONAL && throttles_late(name) {
            set(name, "wbt_lat_usec", "-1");
        }
    }
}

/// Whether a kernel that took a disk for one that rotates still throttles its writes so; -1 has it
/// choose anew.
fn throttles_late(name: &str) -> bool {
    let limit = fs::read_to_string(format!("/sys/block/{name}/queue/wbt_lat_usec"));
    limit.is_ok_and(|limit| limit.trim() == WBT_ROTATING)
}

/// What to write to which file of which disk, in this order: tags are reduced while nothing is
/// sorted.
fn settings(line: &str) -> Vec<(&str, &'static str, &str)> {
    let mut settings = Vec::new();
    let mut each = |prefix: &str, files: &[(&'static str, Option<&'static str>)]| {
        let found = line.split_whitespace().filter_map(|word| word.strip_prefix(prefix));
        for (value, names) in found.filter_map(|rest| rest.split_once('=').or(Some(("", rest)))) {
            for name in names.split(',') {
                settings
                    .extend(files.iter().map(|(file, own)| (name, *file, own.unwrap_or(value))));
            }
        }
    };
    each(NON_ROTATING, &[(ROTATIONAL, Some("0"))]);
    let sorted = IoScheduler::MqDeadline.as_str();
    let unsorted = ("scheduler", Some(IoScheduler::None.as_str()));
    each(TAGS, &[unsorted, ("nr_requests", None), ("scheduler", Some(sorted))]);
    each(REQUESTS, &[("nr_requests", None)]);
    each(UNSORTED, &[unsorted]);
    each(COMMAND_TIMEOUT, &[("../device/timeout", None)]);
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_made_in_an_order_in_which_they_hold() {
        let line = "a disklab.requests.64=vdb disklab.tags.32=vdb,vdc disklab.unsorted=vda b";
        let expected = [
            ("vdb", "scheduler", "none"),
            ("vdb", "nr_requests", "32"),
            ("vdb", "scheduler", "mq-deadline"),
            ("vdc", "scheduler", "none"),
            ("vdc", "nr_requests", "32"),
            ("vdc", "scheduler", "mq-deadline"),
            ("vdb", "nr_requests", "64"),
            ("vda", "scheduler", "none"),
        ];
        assert_eq!(settings(line), expected);
        assert_eq!(settings("disklab.non_rotating=vda"), [("vda", "rotational", "0")]);
        let timeout = settings("disklab.command_timeout.180=sda");
        assert_eq!(timeout, [("sda", "../device/timeout", "180")]);
        assert_eq!(settings("init=/x"), []);
    }
}

//! What virtio cannot say of disks' queues, as [words](disklab_lab_guest::queues) on the kernel's
//! command line.

use std::collections::BTreeMap;

use disklab_drive::{IoScheduler, scheduler_requests};
use disklab_lab_guest::DiskTransport;
use disklab_lab_guest::queues::{
    COMMAND_TIMEOUT, FLUSH_QUEUES, NON_ROTATING, QUEUE_DEPTH, REQUESTS, TAGS, UNSORTED,
};

use crate::DiskOptions;
use crate::vhost::RING_LIMIT;

/// The fewest tags that `nr_requests` can be (`BLKDEV_MIN_RQ` in include/linux/blk-mq.h); a model keeps
/// for itself what is too much for it.
const FEWEST_TAGS: u64 = 4;

/// The words for these disks. Nothing is said of what the kernel does by itself. A SCSI disk says
/// itself how many requests it takes, and whether it rotates.
pub(crate) fn queue_words(disks: &[DiskOptions]) -> Vec<String> {
    let deepest = deepest(disks);
    let tags = deepest.unwrap_or(u64::from(RING_LIMIT));
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (index, disk) in disks.iter().enumerate() {
        let mut name = |word: String| {
            named.entry(word).or_default().push(disk.transport.disk_name(index));
        };
        if disk.transport == DiskTransport::Block {
            block_words(disk, tags, &mut name);
        } else if let Some(seconds) = disk.command_timeout {
            name(format!("{COMMAND_TIMEOUT}{seconds}="));
        }
        match disk.scheduler {
            Some((IoScheduler::None, _)) => name(UNSORTED.to_owned()),
            Some((IoScheduler::MqDeadline, requests)) if requests != scheduler_requests(tags) => {
                name(format!("{REQUESTS}{requests}="));
            }
            _ => {}
        }
    }
    let word = |(word, names): (String, Vec<String>)| word + &names.join(",");
    let still = named.remove_entry(NON_ROTATING).map(word);
    let depth = deepest.map(|depth| format!("virtio_blk.queue_depth={depth}"));
    still.into_iter().chain(depth).chain(named.into_iter().map(word)).collect()
}

/// What is said of a virtio block device, of which the kernel has so many tags.
fn block_words(disk: &DiskOptions, tags: u64, name: &mut impl FnMut(String)) {
    if !disk.rotates {
        name(NON_ROTATING.to_owned());
    }
    if disk.hardware_queues > 1 {
        name(format!("{FLUSH_QUEUES}{}=", disk.hardware_queues));
    }
    let own = disk.queue_depth.map_or(tags, |depth| depth.clamp(FEWEST_TAGS.min(tags), tags));
    if own < tags {
        name(format!("{TAGS}{own}="));
    }
    let depth = match disk.scheduler {
        Some((IoScheduler::None, requests)) => Some(requests),
        Some((IoScheduler::MqDeadline, _)) => disk.queue_depth,
        None => None,
    };
    if let Some(depth) = depth {
        name(format!("{QUEUE_DEPTH}{depth}="));
    }
}

/// How many requests the kernel hands to a disk at a time, if that is fewer than the ring holds:
/// what the deepest drive takes. What is more waits in the kernel, where the I/O scheduler sorts
/// and merges it.
fn deepest(disks: &[DiskOptions]) -> Option<u64> {
    if disks.iter().any(|disk| disk.transport == DiskTransport::Scsi) {
        return None;
    }
    let depths = disks.iter().map(|disk| disk.queue_depth);
    let deepest = depths.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
    (deepest < u64::from(RING_LIMIT)).then_some(deepest)
}

#[cfg(test)]
mod tests {
    use disklab_drive::{SHIPPED, shipped};

    use super::*;
    use crate::steady::Steady;

    fn disk(depth: Option<u64>) -> DiskOptions {
        let drive = Box::new(Steady::new(1 << 20, 1));
        DiskOptions { queue_depth: depth, ..DiskOptions::new(drive, "S") }
    }

    fn modelled(id: &str) -> DiskOptions {
        DiskOptions::of(&shipped(id).unwrap(), 1, "S")
    }

    #[test]
    fn the_kernel_keeps_what_no_drive_can_take() {
        let words = |depths: &[Option<u64>]| {
            queue_words(&depths.iter().map(|depth| disk(*depth)).collect::<Vec<_>>())
        };
        assert_eq!(
            words(&[Some(32), Some(31)]),
            ["virtio_blk.queue_depth=32", "disklab.tags.31=vdb"]
        );
        assert_eq!(words(&[Some(32), Some(1024)]), ["disklab.tags.32=vda"]);
        assert_eq!(words(&[Some(32), None]), ["disklab.tags.32=vda"]);
        assert_eq!(words(&[]), [""; 0]);
        assert_eq!(words(&[None]), [""; 0]);
        assert_eq!(words(&[Some(1), Some(1)]), ["virtio_blk.queue_depth=1"]);
        assert_eq!(words(&[Some(1), Some(1000)]), ["disklab.tags.4=vda"]);
    }

    #[test]
    fn disks_that_do_not_rotate_are_named() {
        let disk = |rotates| DiskOptions { rotates, ..disk(None) };
        let disks: Vec<DiskOptions> = (0..28).map(|index| disk(index == 0)).collect();
        let words = queue_words(&disks);
        let names = words[0].strip_prefix(NON_ROTATING).unwrap();
        assert!(names.starts_with("vdb,vdc,") && names.ends_with(",vdz,vdaa,vdab"), "{words:?}");
    }

    /// SATA drives need no word: the kernel does the same with them.
    #[test]
    fn models_are_named_as_far_as_virtio_differs() {
        let reported =
            |ids: &[&str]| queue_words(&ids.iter().map(|id| modelled(id)).collect::<Vec<_>>());
        assert_eq!(
            reported(&["wd80efzz", "st3500418as"]),
            ["virtio_blk.queue_depth=32", "disklab.queue_depth.32=vda,vdb"]
        );
        assert_eq!(
            reported(&["samsung-870evo-1tb"]),
            ["disklab.non_rotating=vda", "virtio_blk.queue_depth=32", "disklab.queue_depth.32=vda"]
        );
        assert_eq!(
            reported(&["samsung-980-1tb"]),
            [
                "disklab.non_rotating=vda",
                "disklab.flush_queues.16=vda",
                "disklab.queue_depth.1023=vda",
                "disklab.unsorted=vda",
            ]
        );
        assert_eq!(
            reported(&["samsung-980-1tb", "wd80efzz", "st9300603ss"]),
            [
                "disklab.non_rotating=vda",
                "disklab.flush_queues.16=vda",
                "disklab.queue_depth.1023=vda",
                "disklab.queue_depth.128=vdc",
                "disklab.queue_depth.32=vdb",
                "disklab.requests.64=vdb",
                "disklab.tags.128=vdc",
                "disklab.tags.32=vdb",
                "disklab.unsorted=vda",
            ]
        );
    }

    #[test]
    fn a_scsi_disk_says_most_itself() {
        let scsi = |id: &str| DiskOptions { transport: DiskTransport::Scsi, ..modelled(id) };
        let mut disks = ["wd80efzz", "samsung-870evo-1tb"].map(scsi);
        assert_eq!(queue_words(&disks), ["disklab.requests.64=sda,sdb"]);
        disks[1].command_timeout = Some(180);
        assert_eq!(queue_words(&disks)[0], "disklab.command_timeout.180=sdb");
    }

    /// What the configuration and the words say together is what the model has.
    #[test]
    fn every_model_is_reported_as_it_is() {
        for (id, _) in SHIPPED {
            let file = shipped(id).unwrap();
            let limits = file.queue_limits();
            let disk = modelled(id);
            let reported = disk.configuration().unwrap();
            assert_eq!(u64::from(reported.logical_bytes), limits.logical_bytes, "{id}");
            assert_eq!(u64::from(reported.physical_bytes), limits.physical_bytes, "{id}");
            assert_eq!(u64::from(reported.optimal_bytes), limits.optimal_bytes, "{id}");
            assert_eq!(
                u64::from(reported.discard.unwrap_or(0)),
                limits.discard_granularity,
                "{id}"
            );
            let write_back = disk.reports_write_cache && disk.drive.write_cache();
            assert_eq!(write_back, limits.write_back, "{id}");
            let words = queue_words(&[disk]);
            let has = |word: &str| words.iter().any(|w| w.starts_with(word));
            assert_eq!(has(NON_ROTATING), !limits.rotational, "{id}");
            assert_eq!(has(UNSORTED), limits.scheduler == IoScheduler::None, "{id}");
            let depth = format!("virtio_blk.queue_depth={}", limits.depth);
            assert_eq!(has(&depth), limits.depth < u64::from(RING_LIMIT), "{id}");
            assert_eq!(has(FLUSH_QUEUES), limits.hardware_queues > 1, "{id}");
            assert!(!has(REQUESTS) && !has(TAGS), "{id}: {words:?}");
        }
    }
}

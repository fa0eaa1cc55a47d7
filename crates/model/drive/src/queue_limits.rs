//! What Linux makes of a drive: the limits of its request queue, as `/sys/block/*/queue` shows
//! them on the machine that the drive is in. The rules are those of Linux 6.12.

use crate::transport::Transport;
use crate::{DriveFile, Kind};

/// What sorts requests on their way to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IoScheduler {
    /// Nothing.
    None,
    /// `mq-deadline`.
    MqDeadline,
}

impl IoScheduler {
    /// Its name in `/sys/block/*/queue/scheduler`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::MqDeadline => "mq-deadline",
        }
    }
}

/// Commands that an AHCI controller takes for a port (`AHCI_MAX_CMDS` in drivers/ata/ahci.h),
/// whatever the drive behind it takes.
const AHCI_COMMANDS: u64 = 32;
/// `BLKDEV_DEFAULT_RQ` (include/linux/blk-mq.h): tags beyond it count for no scheduler.
const MOST_TAGS_FOR_SCHEDULER: u64 = 128;
/// Entries of an NVMe queue (`io_queue_depth` in drivers/nvme/host/pci.c), one of which is never
/// used.
const NVME_QUEUE: u64 = 1024;
/// Queues of an NVMe drive: one for each processor (`nvme_setup_io_queues` in
/// drivers/nvme/host/pci.c), of which the machine has so many here. Drives have room for more.
const NVME_QUEUES: u64 = 16;

/// Requests that wait in a scheduler over a device with so many tags: twice as many
/// (`blk_mq_init_sched` in block/blk-mq-sched.c).
pub fn scheduler_requests(tags: u64) -> u64 {
    2 * tags.min(MOST_TAGS_FOR_SCHEDULER)
}

/// The limits of a drive's request queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// How it is attached.
    pub transport: Transport,
    /// `rotational`.
    pub rotational: bool,
    /// `logical_block_size`, bytes.
    pub logical_bytes: u64,
    /// `physical_block_size`, bytes.
    pub physical_bytes: u64,
    /// `optimal_io_size`, bytes. 0, for no SATA drive can say one, and no shipped NVMe drive's
    /// namespace is known to (`nvme_update_disk_info` in drivers/nvme/host/core.c).
    pub optimal_bytes: u64,
    /// `discard_granularity`, bytes; 0 for a drive that takes no discards. A SATA drive's is one
    /// logical block (`ata_scsiop_inq_b0` in drivers/ata/libata-scsi.c), an NVMe drive's, too
    /// (`nvme_config_discard`), and never below the physical block (`blk_validate_limits` in
    /// block/blk-settings.c).
    pub discard_granularity: u64,
    /// Whether `write_cache` is 'write back', so that the kernel sends flushes. An NVMe drive
    /// whose cache outlasts a loss of power says that it has no volatile one (VWC of Identify
    /// Controller); a SATA drive says so of no cache.
    pub write_back: bool,
    /// `fua`: a write can be made durable without a flush behind it. libata has it off
    /// (`libata.fua`, drivers/ata/libata-core.c); SAS and NVMe drives with a write cache take it
    /// (`sd_set_flush_flag` in drivers/scsi/sd.c, `nvme_update_ns_info_block`).
    pub fua: bool,
    /// Commands that the kernel gives the drive at a time.
    pub depth: u64,
    /// Hardware queues. What waits for a flush in one of them shares the next flush
    /// (block/blk-flush.c), and nothing with the others.
    pub hardware_queues: u64,
    /// The scheduler in use, udev having set no other.
    pub scheduler: IoScheduler,
    /// `nr_requests`: with a scheduler, requests that wait in it; without, tags.
    pub requests: u64,
}

impl DriveFile {
    /// How it is attached.
    pub fn transport(&self) -> Transport {
        match &self.kind {
            Kind::Hdd(parameters) => parameters.transport,
            Kind::Smr(parameters) => parameters.disk.transport,
            Kind::Ssd(parameters) => parameters.interface.transport,
        }
    }

    /// What Linux makes of it, on a machine with more than one processor.
    ///
    /// `mq-deadline` is the default of devices with one hardware queue (`elevator_get_default` in
    /// block/elevator.c). NVMe drives have one for each processor, of which each thread uses that
    /// of its own; a machine with a single processor would have mq-deadline there, too.
    pub fn queue_limits(&self) -> QueueLimits {
        let transport = self.transport();
        let (logical_bytes, physical_bytes) = self.sector_sizes();
        let write_back = self.has_volatile_cache();
        let scheduler = match transport {
            Transport::Nvme => IoScheduler::None,
            Transport::Sata | Transport::Sas => IoScheduler::MqDeadline,
        };
        // The tags are the controller's, however few the drive takes (`ata_scsi_dev_config`: a
        // drive without NCQ takes one; the others wait in the scheduler).
        let (depth, requests) = match transport {
            Transport::Sata => {
                (self.queue_depth().min(AHCI_COMMANDS), scheduler_requests(AHCI_COMMANDS))
            }
            // Adapters have some thousand tags.
            Transport::Sas => (self.queue_depth(), scheduler_requests(MOST_TAGS_FOR_SCHEDULER)),
            Transport::Nvme => (self.queue_depth().min(NVME_QUEUE - 1), NVME_QUEUE - 1),
        };
        let hardware_queues = if transport == Transport::Nvme { NVME_QUEUES } else { 1 };
        QueueLimits {
            transport,
            rotational: self.rotates(),
            logical_bytes,
            physical_bytes,
            optimal_bytes: 0,
            discard_granularity: if self.takes_discards() { physical_bytes } else { 0 },
            write_back,
            fua: write_back && transport != Transport::Sata,
            depth,
            hardware_queues,
            scheduler,
            requests,
        }
    }

    /// Whether it tells the kernel of a write cache that a loss of power empties.
    fn has_volatile_cache(&self) -> bool {
        match &self.kind {
            Kind::Hdd(parameters) => parameters.write_cache,
            Kind::Smr(parameters) => parameters.disk.write_cache,
            Kind::Ssd(parameters) => {
                let nvme = parameters.interface.transport == Transport::Nvme;
                parameters.buffer.write_cache && !(nvme && parameters.buffer.power_loss_protection)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use disklab_config::ModelSetting;

    use super::*;
    use crate::{SHIPPED, load_with, shipped};

    fn limits(id: &str) -> QueueLimits {
        shipped(id).expect(id).queue_limits()
    }

    /// What `/sys/block/*/queue` shows of such drives in machines.
    #[test]
    fn each_transport_has_its_own() {
        let disk = limits("wd80efzz");
        assert_eq!(
            disk,
            QueueLimits {
                transport: Transport::Sata,
                rotational: true,
                logical_bytes: 512,
                physical_bytes: 4096,
                optimal_bytes: 0,
                discard_granularity: 0,
                write_back: true,
                fua: false,
                depth: 32,
                hardware_queues: 1,
                scheduler: IoScheduler::MqDeadline,
                requests: 64,
            }
        );
        let ssd = limits("samsung-870evo-1tb");
        assert_eq!((ssd.rotational, ssd.discard_granularity, ssd.fua), (false, 512, false));
        assert_eq!((ssd.depth, ssd.requests), (32, 64));
        let nvme = limits("samsung-980-1tb");
        assert_eq!((nvme.scheduler, nvme.depth, nvme.requests), (IoScheduler::None, 1023, 1023));
        assert_eq!((nvme.hardware_queues, ssd.hardware_queues), (16, 1));
        assert!(nvme.write_back && nvme.fua && !nvme.rotational);
        // Its capacitors save what a flush would: it says that it has no volatile cache.
        let protected = limits("samsung-pm983-960gb");
        assert!(!protected.write_back && !protected.fua);
        let protected_sata = limits("intel-s4600-960gb");
        assert!(protected_sata.write_back, "SATA has no word for it");
        let sas = limits("st9300603ss");
        assert_eq!((sas.transport, sas.depth, sas.requests), (Transport::Sas, 128, 256));
        assert!(!sas.write_back && !sas.fua, "its write cache is off");
    }

    /// Every shipped file says how its drive is attached, and that agrees with its link.
    #[test]
    fn every_shipped_drive_is_attached_as_its_link_says() {
        for (id, text) in SHIPPED {
            let file = shipped(id).expect(id);
            let says = text.lines().any(|line| line.starts_with("transport = "));
            assert!(says || file.like.is_some(), "{id} does not say its transport");
            let limits = file.queue_limits();
            let fast = file.link_rate() > 550_000_000;
            assert_eq!(fast, limits.transport == Transport::Nvme, "{id}");
            assert_eq!(limits.rotational, file.mechanics().is_some(), "{id}");
            assert_eq!(limits.discard_granularity > 0, !limits.rotational, "{id}");
            assert!(limits.depth <= limits.requests, "{id}");
        }
    }

    /// The kernel's scheduler keeps its requests although the drive takes one at a time.
    #[test]
    fn a_drive_without_command_queueing_has_a_scheduler_as_large_as_others() {
        let (id, text) = SHIPPED.iter().find(|(id, _)| *id == "st3500418as").expect("shipped");
        let option = "st3500418as:interface.queue-depth=1";
        let depth = ModelSetting::parse("--set", option).expect("a setting").setting;
        let file = load_with(id, text, &[depth]).expect("such a drive");
        let limits = file.queue_limits();
        assert_eq!((limits.depth, limits.requests), (1, 64));
    }

    #[test]
    fn a_file_that_names_no_transport_has_the_one_of_its_link() {
        let without = |id: &str| {
            let (_, text) = SHIPPED.iter().find(|(known, _)| *known == id).expect("shipped");
            let kept = text.lines().filter(|line| !line.starts_with("transport = "));
            let text = kept.collect::<Vec<_>>().join("\n");
            crate::load(id, &text).expect("a drive").transport()
        };
        assert_eq!(without("st3500418as"), Transport::Sata);
        assert_eq!(without("samsung-980-1tb"), Transport::Nvme);
        assert_eq!(without("samsung-870evo-1tb"), Transport::Sata);
    }
}

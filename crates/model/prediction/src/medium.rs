//! What is known of a machine before anything was measured on it.

/// What drives are like, for predictions before anything was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Medium {
    /// Sequential bytes per second.
    pub bytes_per_second: f64,
    /// Seconds for one small operation at a random offset, or one that waits for
    /// the medium.
    pub seek_seconds: f64,
    /// Seconds for a system call of a program, where that is worth counting.
    pub call_seconds: f64,
    /// Seconds that a cell takes outside its workload.
    pub cell_seconds: f64,
    /// Seconds that the user waits for a second of a workload's own clock: less
    /// than one where time is virtual.
    pub clock_factor: f64,
    /// The same for a workload that waits for its own clock ([`Cost::paced`](disklab_workload::Cost::paced)).
    pub paced_factor: f64,
    /// What each drive and each request to it costs, if drives are simulated. Real ones work
    /// side by side, and what a layout does to time is not predicted.
    pub simulation: Option<Simulation>,
}

/// What simulating drives takes. What costs is less the request than the moment at which one
/// ends: virtual time stops there, and the thread that waits is woken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulation {
    /// Seconds for each drive of a cell beyond the first.
    pub drive_seconds: f64,
    /// Bytes of data per second that a pool checks and copies through a cache of its own.
    pub pool_bytes_per_second: f64,
    /// Seconds for a moment at which small writes, or what they read for a parity, end.
    pub moment_seconds: f64,
    /// Small writes for one that is durable, the file system's own included.
    pub writes_per_write: f64,
    /// Bytes per second that layers write more than they are given, as copies or parity. Content
    /// is drawn and compressed once.
    pub more_bytes_per_second: f64,
    /// Bytes per second of data and parity that go through md's stripe cache, page by page.
    pub stripe_bytes_per_second: f64,
    /// Bytes per second that making a stack writes, mostly zeros, in large requests.
    pub making_bytes_per_second: f64,
    /// The same through md's stripe cache.
    pub making_stripe_bytes_per_second: f64,
}

impl Medium {
    /// A 7200 rpm disk: 150 MB/s over the whole surface, 12 ms a seek with half
    /// a revolution (the middle of the drives in the research notes).
    pub const HARD_DISK: Self = Self {
        bytes_per_second: 150e6,
        seek_seconds: 0.012,
        call_seconds: 0.0,
        cell_seconds: 3.0,
        clock_factor: 1.0,
        paced_factor: 1.0,
        simulation: None,
    };
    /// A SATA or virtual solid-state drive.
    pub const SOLID_STATE: Self = Self {
        bytes_per_second: 400e6,
        seek_seconds: 0.0004,
        call_seconds: 0.0,
        cell_seconds: 0.7,
        clock_factor: 1.0,
        paced_factor: 1.0,
        simulation: None,
    };

    /// A virtual machine's disk, which says that it rotates whatever lies below
    /// (virtio_blk and xen-blkfront leave the kernel's default).
    pub const VIRTUAL: Self = Self {
        bytes_per_second: 300e6,
        seek_seconds: 0.001,
        call_seconds: 0.0,
        cell_seconds: 0.7,
        clock_factor: 1.0,
        paced_factor: 1.0,
        simulation: None,
    };

    /// The lab: what counts is the work of simulating. A guest boots and ends in
    /// half a second, an I/O of fio takes a fifth of a millisecond, data are drawn and copied
    /// at some 550 MB/s; a disk does some 200 I/Os in a second of its own time, and waiting
    /// takes none. As 160 cells of `nas` took on an idle machine with two processors
    /// (docs/validation/calibration.md, 'What a plan predicts'). A system
    /// call is caught by ptrace; with the switch to another program that it mostly is
    /// (PostgreSQL's clients and servers) it takes 25 µs.
    pub const LAB: Self = Self {
        bytes_per_second: 550e6,
        seek_seconds: 0.0002,
        call_seconds: 25e-6,
        cell_seconds: 0.5,
        clock_factor: 0.1,
        paced_factor: 0.0,
        simulation: Some(Simulation {
            drive_seconds: 0.03,
            pool_bytes_per_second: 750e6,
            // ext4 on RAID 5 has 41,900 of them when it is made, on one drive 4,657.
            moment_seconds: 60e-6,
            writes_per_write: 3.0,
            more_bytes_per_second: 5e9,
            stripe_bytes_per_second: 4e9,
            making_bytes_per_second: 20e9,
            making_stripe_bytes_per_second: 2.5e9,
        }),
    };

    /// By a drive's kernel name, such as `sda`, and what the kernel says of it.
    pub fn of(name: &str, rotational: Option<bool>) -> Self {
        if name.starts_with("vd") || name.starts_with("xvd") {
            Self::VIRTUAL
        } else if rotational == Some(true) {
            Self::HARD_DISK
        } else {
            Self::SOLID_STATE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_virtual_machines_disk_says_of_itself_is_not_believed() {
        for (name, rotational, expected) in [
            ("sda", Some(true), Medium::HARD_DISK),
            ("sda", Some(false), Medium::SOLID_STATE),
            ("nvme0n1", None, Medium::SOLID_STATE),
            ("vda", Some(true), Medium::VIRTUAL),
            ("xvda", Some(true), Medium::VIRTUAL),
            ("xvdb", Some(false), Medium::VIRTUAL),
        ] {
            assert_eq!(Medium::of(name, rotational), expected, "{name} {rotational:?}");
        }
    }
}

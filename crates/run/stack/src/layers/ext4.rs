//! ext4.

use std::path::Path;
use std::time::{Duration, Instant};

use disklab_cell::LayerSpec;
use disklab_exec::{Executor, Invocation};
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::file_system::{
    BLOCK_SIZE, FileSystemOptions, MKFS, MOUNT, MOUNT_OPTIONS, MountPoint, device_and_point,
    directory_on, find, label, one_volume,
};
use crate::reading::OptionReader;
use crate::seeded::uuid;
use crate::{
    DeviceState, FormatWrites, Layer, LayerContext, LayerKind, LayerOutput, Need, Shape,
    ShapeError, StackError,
};

/// ext4's line in the table.
pub(super) const KIND: LayerKind = LayerKind {
    name: "ext4",
    summary: "ext4 on one device",
    options: &[
        BLOCK_SIZE,
        MKFS,
        (
            "lazy-init",
            "skip: nobody writes the inode tables before they are used (default); off: mkfs \
             writes them; wait: the kernel writes them after mounting, and the test waits for it",
        ),
        MOUNT_OPTIONS,
    ],
    inputs: &[],
    parse,
};

/// With less, mke2fs makes no journal (`EXT2_MIN_JOURNAL_BLOCKS`, 1024 blocks,
/// in a device of 2048 at least), and nobody tests that.
const MINIMUM: Bytes = Bytes::mib(8);

/// ext4's block groups with blocks of 4 KiB (mke2fs(8), `-g`).
const GROUP: f64 = 134_217_728.0;
/// Groups in a flex group (mke2fs.conf(5), `flex_bg_size`).
const FLEX_GROUP: f64 = 16.0;
/// Bytes of a group's descriptor with `64bit`, which mke2fs.conf sets.
const DESCRIPTOR: f64 = 64.0;
/// What mke2fs writes besides descriptors, as a share of these, and at least: measured with
/// e2fsprogs 1.47 without lazy initialisation left over, 132.8 MB on 10 TB, 0.8 MB on 1 GiB.
const BESIDES: (f64, f64) = (1.2, 0.8e6);

/// While the kernel initialises, a group is done at least this often, even on a
/// slow drive: a group's table is 2 MiB by default.
const STALLED: Duration = Duration::from_secs(600);

/// When inode tables and journal are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LazyInit {
    /// When they are used: the kernel is told to leave them alone in the
    /// background (`noinit_itable`, ext4(5)). On a drive of 10 TB the tables are
    /// 156 GB, which nobody wants to write anew for each cell.
    Skip,
    /// By mkfs.
    Off,
    /// By the kernel, and then waited for.
    Wait,
}

#[derive(Debug)]
struct Ext4 {
    options: FileSystemOptions,
    lazy_init: LazyInit,
}

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    let lazy_init = OptionReader::new(spec)
        .word(
            "lazy-init",
            &[("skip", LazyInit::Skip), ("off", LazyInit::Off), ("wait", LazyInit::Wait)],
        )?
        .unwrap_or(LazyInit::Skip);
    Ok(Box::new(Ext4 { options: FileSystemOptions::parse(spec, &["lazy-init"])?, lazy_init }))
}

impl Layer for Ext4 {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let volume = one_volume("ext4", below, MINIMUM)?;
        Ok(directory_on(volume, usable(volume.size, reserved_share(&self.options.mkfs))))
    }

    /// Each flex group is initialised by itself: 4,657 on 10 TB, where 4,800 writes were
    /// counted; on RAID 5 over four such drives each was read, modified and written (13,970 of
    /// them, 60,800 requests in all).
    fn format_writes(&self, below: &Shape, _state: DeviceState) -> FormatWrites {
        let Ok(volume) = one_volume("ext4", below, MINIMUM) else { return FormatWrites::default() };
        let size = volume.size.0 as f64;
        let requests = (size / GROUP / FLEX_GROUP).ceil();
        FormatWrites { requests, ..FormatWrites::spread(written(size), volume) }
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![
            Need::FileSystem("ext4"),
            Need::Program { name: "mkfs.ext4", package: "e2fsprogs" },
            MOUNT,
        ];
        if self.lazy_init == LazyInit::Wait {
            needs.push(Need::Program { name: "dumpe2fs", package: "e2fsprogs" });
        }
        needs
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (device, point) = device_and_point("ext4", below, context)?;
        let mkfs = self.mkfs(context, &point.uuid);
        context.run("ext4", &mkfs.arg(&device))?;
        self.mount(point, &device, context)
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (device, point) = find("ext4", below, context)?;
        self.mount(point, &device, context)
    }
}

impl Ext4 {
    fn mount(
        &self,
        point: MountPoint,
        device: &Path,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let mut mount = self.options.mount.clone();
        match self.lazy_init {
            LazyInit::Skip => mount.push("noinit_itable".to_owned()),
            // No pauses between groups (ext4(5)).
            LazyInit::Wait => mount.push("init_itable=0".to_owned()),
            LazyInit::Off => {}
        }
        // Else a thread reads the bitmap of every sixteenth group for a while after
        // mounting: half a minute on 10 TB, in which everything else is slow.
        let prefetched = self.options.mount.iter().any(|o| o.contains("prefetch_block_bitmaps"));
        let quiet = !prefetched && self.lazy_init != LazyInit::Wait && prefetches(&release());
        if quiet {
            mount.push("no_prefetch_block_bitmaps".to_owned());
        }
        let output = point.mount(context, "ext4", device, &mount)?;
        if quiet {
            context.note("ext4", "bitmaps are read when they are used, not after mounting");
        }
        match self.lazy_init {
            LazyInit::Skip => context.note(
                "ext4",
                "lazy initialisation disabled: inode tables are written when they are used",
            ),
            LazyInit::Off => {
                context.note("ext4", "lazy initialisation disabled: mkfs wrote the inode tables");
            }
            LazyInit::Wait => {
                let waited = wait_for_init(context.executor, device)?;
                context.note(
                    "ext4",
                    format!(
                        "lazy initialisation waited for: {} s after mounting",
                        waited.as_secs()
                    ),
                );
            }
        }
        Ok(output)
    }

    /// What makes the file system, without the device.
    fn mkfs(&self, context: &LayerContext<'_>, uuid_of_it: &str) -> Invocation {
        let lazy = u8::from(self.lazy_init != LazyInit::Off);
        let (more, extended) = take_extended(&self.options.mkfs);
        let mut own = format!(
            "lazy_itable_init={lazy},lazy_journal_init={lazy},hash_seed={}",
            uuid(context, "ext4-hash-seed")
        );
        for text in extended {
            own = format!("{own},{text}");
        }
        let label = label(context, 16);
        let mut mkfs = Invocation::new("mkfs.ext4")
            .args(["-F", "-q", "-U", uuid_of_it, "-L", &label, "-E", &own]);
        if let Some(size) = self.options.block_size {
            mkfs = mkfs.arg("-b").arg(size.0.to_string());
        }
        mkfs.args(&more)
    }
}

/// Whether a kernel of this release reads bitmaps ahead after mounting, and has the
/// option against it: Linux 5.13 was the first (ext4(5); fs/ext4/super.c).
fn prefetches(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    matches!((numbers.next(), numbers.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (5, 13))
}

/// The running kernel's release, such as `6.12.1-amd64`.
fn release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// What users can fill: less the inode tables, the journal, and what is reserved for root and
/// for the kernel. An inode has 256 bytes for each 16 KiB; below 512 MiB for each 4 KiB, from 4 TiB
/// on for each 32 KiB and from 16 TiB on for each 64 KiB (mke2fs.conf, `small`, `big`, `huge`).
/// Descriptors, bitmaps and room to grow come on top. The kernel keeps 2 %, 4096 blocks at most
/// (`ext4_set_resv_clusters` in fs/ext4/super.c).
fn usable(size: Bytes, reserved: f64) -> Bytes {
    let share = match size.0 {
        0..0x2000_0000 => 14,
        0x2000_0000..0x400_0000_0000 => 62,
        0x400_0000_0000..0x1000_0000_0000 => 126,
        _ => 252,
    };
    let to_grow = Bytes((size.0 / 60).min(17 << 20));
    let tables = if share == 14 { Bytes(size.0 / 14) } else { Bytes(size.0 / share) + to_grow };
    let for_root = size.scaled(reserved, Bytes(4096));
    let for_kernel = Bytes((size.0 / 50).min(4096 * 4096));
    let reserved = for_root + for_kernel;
    size.saturating_sub(tables).saturating_sub(journal(size)).saturating_sub(reserved)
}

/// mke2fs's share for root where `-m` does not say otherwise (mke2fs(8)).
const RESERVED: f64 = 0.05;

/// The share of blocks that is reserved for root, by mke2fs's arguments: its last `-m`.
fn reserved_share(mkfs: &[String]) -> f64 {
    let mut share = RESERVED;
    let mut args = mkfs.iter();
    while let Some(arg) = args.next() {
        let value = match arg.strip_prefix("-m") {
            Some("") => args.next().map(String::as_str),
            other => other,
        };
        let percent = value.and_then(|value| value.parse::<f64>().ok());
        share = percent.filter(|p| (0.0..=50.0).contains(p)).map_or(share, |p| p / 100.0);
    }
    share
}

/// The journal's size with blocks of 4 KiB (`ext2fs_default_journal_size` in
/// e2fsprogs' lib/ext2fs/mkjournal.c).
fn journal(size: Bytes) -> Bytes {
    let blocks: u64 = match size.0 / 4096 {
        0..32_768 => 1024,
        32_768..262_144 => 4096,
        262_144..524_288 => 8192,
        524_288..4_194_304 => 16_384,
        4_194_304..8_388_608 => 32_768,
        8_388_608..16_777_216 => 65_536,
        16_777_216..33_554_432 => 131_072,
        _ => 262_144,
    };
    Bytes(blocks * 4096)
}

/// Separates `-E a=1` from other arguments: mke2fs listens to one `-E` only.
fn take_extended(args: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut more, mut extended) = (Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.strip_prefix("-E") {
            Some("") => extended.extend(args.next().cloned()),
            Some(text) => extended.push(text.to_owned()),
            None => more.push(arg.clone()),
        }
    }
    (more, extended)
}

/// Waits until the kernel has written all inode tables. The kernel's thread
/// cannot be watched from within a container, and serves all file systems; the
/// flag in each group's descriptor tells for this one.
fn wait_for_init(executor: &Executor, device: &Path) -> Result<Duration, StackError> {
    let program = |source| StackError::Program { layer: "ext4".to_owned(), source };
    let began = Instant::now();
    let mut nap = Duration::from_millis(100);
    let (mut last, mut changed) = (usize::MAX, began);
    loop {
        let dump = executor.check(&Invocation::new("dumpe2fs").arg(device)).map_err(program)?;
        let left = groups_left(&dump.text());
        if left == 0 {
            return Ok(began.elapsed());
        }
        if left != last {
            (last, changed) = (left, Instant::now());
        } else if changed.elapsed() > STALLED {
            return Err(StackError::InitialisingStopped { device: device.to_owned(), left });
        }
        executor.interrupt.sleep(nap).map_err(|stop| program(stop.into()))?;
        nap = (nap * 2).min(Duration::from_secs(10));
    }
}

/// How many groups in dumpe2fs's output lack a written inode table. Without
/// checksums of groups there is no lazy initialisation.
fn groups_left(dump: &str) -> usize {
    let features = dump.lines().find(|l| l.starts_with("Filesystem features:")).unwrap_or_default();
    if !["metadata_csum", "uninit_bg"].iter().any(|f| features.contains(f)) {
        return 0;
    }
    dump.lines()
        .filter(|l| l.starts_with("Group ") && l.contains("(Blocks"))
        .fold(0, |n, line| n + usize::from(!line.contains("ITABLE_ZEROED")))
}

/// Bytes that mke2fs writes. Descriptors of all groups are in the groups 0, 1, and those whose
/// numbers are powers of 3, 5 and 7 (`sparse_super`).
fn written(size: f64) -> f64 {
    let groups = (size / GROUP).ceil().max(1.0);
    let powers = |base: f64| groups.log(base).floor().max(0.0);
    let copies = 2.0 + powers(3.0) + powers(5.0) + powers(7.0);
    groups * DESCRIPTOR * copies * BESIDES.0 + BESIDES.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_options_become_one() {
        let args: Vec<String> = ["-O", "^has_journal", "-E", "stride=4", "-Estripe_width=8", "-E"]
            .map(String::from)
            .into();
        let (more, extended) = take_extended(&args);
        assert_eq!(more, ["-O", "^has_journal"]);
        assert_eq!(extended, ["stride=4", "stripe_width=8"]);
    }

    #[test]
    fn journals_are_as_large_as_mke2fs_makes_them() {
        let gib = |n: u64| Bytes(n << 30);
        for (size, mib) in [
            (Bytes((128 << 20) - 1), 4),
            (Bytes(128 << 20), 16),
            (gib(1), 32),
            (gib(2), 64),
            (gib(16), 128),
            (gib(32), 256),
            (gib(64), 512),
            (gib(128), 1024),
            (gib(20_000), 1024),
        ] {
            assert_eq!(journal(size), Bytes(mib << 20), "{size:?}");
            // One block less is the next smaller.
            let below = journal(Bytes(size.0 - 4096));
            let at_a_limit = size.0.is_power_of_two();
            assert_eq!(below < journal(size), at_a_limit, "{size:?}");
        }
    }

    #[test]
    fn kernels_that_read_bitmaps_ahead() {
        for (release, expected) in [
            ("6.12.1-amd64", true),
            ("5.13.0", true),
            ("5.12.19", false),
            ("4.18.0-553.el8", false),
            ("6", false),
            ("", false),
            ("99999999999.1", false),
        ] {
            assert_eq!(prefetches(release), expected, "{release}");
        }
        let running = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("proc");
        assert_eq!(release(), running.trim());
    }

    #[test]
    fn groups_without_tables_are_counted() {
        let groups = "Group descriptor size:    64\n\
            Group 0: (Blocks 0-32767) csum 0x2ac3 [ITABLE_ZEROED]\n\
            Group 1: (Blocks 32768-65535) csum 0x9d45 [INODE_UNINIT, BLOCK_UNINIT]\n\
            Group 2: (Blocks 65536-98303)\n";
        let with = format!("Filesystem features:      has_journal metadata_csum\n{groups}");
        assert_eq!(groups_left(&with), 2);
        let without = format!("Filesystem features:      has_journal\n{groups}");
        assert_eq!(groups_left(&without), 0);
    }

    #[test]
    fn the_estimate_is_what_users_can_fill() {
        // mke2fs 1.47 on sparse files, what df calls available, in MiB.
        for (mib, reserved, shown) in [
            (100, 0.05, 82),
            (100, 0.0, 87),
            (1024, 0.05, 907),
            (10_240, 0.05, 9452),
            (10_240, 0.0, 9964),
            (102_400, 0.05, 95_085),
            (9_537_536, 0.05, 8_984_341),
            (9_537_536, 0.0, 9_461_218),
        ] {
            let estimate = usable(Bytes::mib(mib), reserved).0 >> 20;
            let error = (estimate as f64 / shown as f64 - 1.0).abs();
            assert!(error < 0.02, "{mib} MiB: {estimate}, df: {shown}");
        }
    }

    #[test]
    fn what_is_reserved_is_read_from_the_arguments() {
        let share = |text: &str| {
            let args: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            reserved_share(&args)
        };
        for (text, expected) in
            [("", 0.05), ("-m 0", 0.0), ("-m1", 0.01), ("-O quota -m 2.5", 0.025), ("-m", 0.05)]
        {
            assert!((share(text) - expected).abs() < 1e-9, "{text}");
        }
    }
}

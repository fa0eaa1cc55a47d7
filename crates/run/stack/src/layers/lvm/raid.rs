//! LVM's own RAID: one logical volume over all devices below, kept by dm-raid.

use std::path::Path;

use disklab_cell::{Care, LayerSpec};
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::care;
use super::create::{DEFAULT_STRIPE, LVM, STRIPE_SIZE, VolumeGroup};
use super::space::{EXTENT, extents};
use crate::layers::md::{self, Level, Resync};
use crate::reading::OptionReader;
use crate::redundancy::{combine, devices, members};
use crate::udev::dmsetup;
use crate::wait::nap;
use crate::{
    DeviceState, FormatWrites, Layer, LayerContext, LayerInUse, LayerKind, LayerOutput, Need,
    PassKind, RebuildProgress, Shape, ShapeError, StackError, Volume,
};

/// One RAID volume over all devices below.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LvmRaid {
    layer: &'static str,
    level: Level,
    stripe_size: Option<Bytes>,
    /// Of the logical volume; all there is where absent.
    size: Option<Bytes>,
    /// Whether to wait for the first sync; as for md where absent.
    resync: Option<Resync>,
    /// Bytes per second of a sync or rebuild: the least and the most; the kernel's where absent.
    speeds: (Option<Bytes>, Option<Bytes>),
}

const SIZE: (&str, &str) = ("size", "of the logical volume, such as 200G (default: all there is)");

pub(in crate::layers) const RAID1: LayerKind = kind(
    "lvm-raid1",
    "LVM RAID 1: every device a copy",
    &[SIZE, md::RESYNC, md::SPEED_MIN, md::SPEED_MAX],
);
pub(in crate::layers) const RAID5: LayerKind = kind(
    "lvm-raid5",
    "LVM RAID 5: striped, distributed parity; any device may fail",
    &[STRIPE_SIZE, SIZE, md::RESYNC, md::SPEED_MIN, md::SPEED_MAX],
);
pub(in crate::layers) const RAID6: LayerKind = kind(
    "lvm-raid6",
    "LVM RAID 6: striped, two parities; LVM always syncs it first",
    &[STRIPE_SIZE, SIZE, md::SPEED_MIN, md::SPEED_MAX],
);
pub(in crate::layers) const RAID10: LayerKind = kind(
    "lvm-raid10",
    "LVM RAID 10: striped copies, of an even number of devices",
    &[STRIPE_SIZE, SIZE, md::RESYNC, md::SPEED_MIN, md::SPEED_MAX],
);

const fn kind(
    name: &'static str,
    summary: &'static str,
    options: &'static [(&'static str, &'static str)],
) -> LayerKind {
    LayerKind { name, summary, options, inputs: &[], parse }
}

const LEVELS: [(&str, Level); 4] = [
    (RAID1.name, Level::Raid1),
    (RAID5.name, Level::Raid5),
    (RAID6.name, Level::Raid6),
    (RAID10.name, Level::Raid10(2)),
];

/// In KiB/s, beyond any drive: else the kernel holds a sync back.
const UNLIMITED: &str = "10000000k";

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(read_options(spec)?))
}

fn read_options(spec: &LayerSpec) -> Result<LvmRaid, SourceError> {
    let found = LEVELS.iter().find(|(name, _)| *name == spec.name);
    let (layer, level) = *found.ok_or_else(|| spec.error("no kind of LVM RAID"))?;
    let mut reading = OptionReader::new(spec);
    let stripe_size = match level.has_chunks() {
        true => reading.power_of_two("stripe-size", Bytes::kib(4), EXTENT)?,
        false => None,
    };
    let size = reading.size("size")?;
    let words = [("skip", Resync::Skip), ("wait", Resync::Wait)];
    let resync = match level {
        // dm-raid refuses to skip it (`'nosync' not allowed for new raid6 set`, dm-raid.c).
        Level::Raid6 => Some(Resync::Wait),
        _ => reading.word("resync", &words)?,
    };
    let speeds = (reading.size(md::SPEED_MIN.0)?, reading.size(md::SPEED_MAX.0)?);
    reading.finish()?;
    Ok(LvmRaid { layer, level, stripe_size, size, resync, speeds })
}

impl LvmRaid {
    /// Devices' worth of data, of so many devices.
    fn data_devices(&self, devices: usize) -> usize {
        match self.level {
            Level::Raid1 => 1,
            Level::Raid5 => devices.saturating_sub(1),
            Level::Raid6 => devices.saturating_sub(2),
            _ => devices / 2,
        }
    }

    /// Bytes of each device that hold data or parity.
    ///
    /// # Errors
    /// Where there are too few devices or too little room.
    fn used(&self, members: &[Volume]) -> Result<Bytes, ShapeError> {
        // lvcreate(8): raid6 of three stripes at least, raid10 of two.
        let least = match self.level {
            Level::Raid6 => 5,
            Level::Raid10(_) => 4,
            level => level.least_members(),
        };
        let count = members.len();
        if count < least {
            return Err(ShapeError::TooFew { layer: self.layer.to_owned(), least, got: count });
        }
        if self.level.is_striped_copies() && !count.is_multiple_of(2) {
            let (layer, devices) = (self.layer, count);
            return Err(ShapeError::Groups { layer, devices, width: 2, what: "pairs" });
        }
        // An extent of each is for what dm-raid knows of it.
        let smallest = members.iter().map(|m| m.size).min().unwrap_or(Bytes::ZERO);
        let room = extents(smallest).saturating_sub(EXTENT);
        if room == Bytes::ZERO {
            return Err(ShapeError::NothingLeft { layer: self.layer, got: smallest });
        }
        let Some(size) = self.size else { return Ok(room) };
        let data = self.data_devices(count) as u64;
        let used = Bytes(size.0.div_ceil(data)).round_up(EXTENT);
        if used > room {
            let (layer, room) = (self.layer, room.saturating_mul(data));
            return Err(ShapeError::NoRoom { layer, wanted: size, room });
        }
        Ok(used)
    }

    fn resync(&self, below: DeviceState) -> Resync {
        let skips = below.reads_zeros || below.simulated;
        self.resync.unwrap_or(if skips { Resync::Skip } else { Resync::Wait })
    }

    /// The arguments of lvcreate, for so many devices.
    fn arguments(&self, devices: usize, resync: Resync) -> Vec<String> {
        let mut words = vec!["--type".to_owned(), self.level.word().to_owned()];
        let data = self.data_devices(devices).to_string();
        match self.level {
            Level::Raid1 => {
                words.extend(["--mirrors".to_owned(), devices.saturating_sub(1).to_string()]);
            }
            Level::Raid10(_) => {
                words.extend(["--mirrors", "1", "--stripes", &data].map(str::to_owned));
            }
            _ => words.extend(["--stripes".to_owned(), data]),
        }
        if self.level.has_chunks() {
            let stripe = self.stripe_size.unwrap_or(DEFAULT_STRIPE);
            words.extend(["--stripesize".to_owned(), format!("{}k", stripe.0 / 1024)]);
        }
        match self.size {
            None => words.extend(["--extents".to_owned(), "100%FREE".to_owned()]),
            Some(size) => words.extend(["--size".to_owned(), format!("{}b", size.0)]),
        }
        match resync {
            Resync::Skip => {
                words.push("--nosync".to_owned());
                words.extend(self.rates());
            }
            Resync::Wait => {
                words.extend(["--maxrecoveryrate", UNLIMITED].map(str::to_owned));
                words.extend(["--minrecoveryrate", UNLIMITED].map(str::to_owned));
            }
        }
        words
    }

    /// The rates that are given, as LVM's programs take them.
    fn rates(&self) -> Vec<String> {
        let (min, max) = self.speeds;
        let given = [("--maxrecoveryrate", max), ("--minrecoveryrate", min)].into_iter();
        let given = given.filter_map(|(name, speed)| Some((name, (speed?.0 / 1024).max(1))));
        given.flat_map(|(name, kib)| [name.to_owned(), format!("{kib}k")]).collect()
    }

    /// Waits for the first sync, after which the volume has the rates that are given.
    fn wait(
        &self,
        group: &VolumeGroup,
        node: &Path,
        context: &LayerContext<'_>,
    ) -> Result<(), StackError> {
        let ask: Invocation = group.report("sync_percent,raid_sync_action");
        while !is_synced(&context.run(self.layer, &ask)?.text()) {
            nap(context, self.layer)?;
        }
        // dm-raid says so before it is on the devices (`md_reap_sync_thread`, md.c), from which the table with
        // other rates is made: it would begin the sync again. A suspended volume has written it.
        for what in ["suspend", "resume"] {
            let command = dmsetup(what).arg(node).uninterruptible();
            context.run(self.layer, &command)?;
        }
        // 0 is the kernel's.
        let rates = ["--maxrecoveryrate", "0", "--minrecoveryrate", "0"].map(str::to_owned);
        let rates = rates.into_iter().chain(self.rates()).collect::<Vec<_>>();
        context.run(self.layer, &group.change(&rates)).map(drop)
    }
}

/// Of what lvs says of a volume: how much of it is in sync, and what is being done with it.
fn is_synced(words: &str) -> bool {
    let mut words = words.split_whitespace();
    let percent = words.next().and_then(|word| word.parse::<f64>().ok());
    percent.is_some_and(|percent| percent >= 100.0) && words.next() == Some("idle")
}

impl Layer for LvmRaid {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let members = members(self.layer, below)?;
        let used = self.used(members)?;
        let data = self.data_devices(members.len());
        let shares = vec![1.0 / data as f64; members.len()];
        let size = used.saturating_mul(data as u64);
        Ok(Shape::Devices(vec![combine(members, &shares, size, self.level.stripe(members.len()))]))
    }

    /// Unlike mdadm, LVM has all levels written anew from their data.
    fn format_writes(&self, below: &Shape, state: DeviceState) -> FormatWrites {
        let Ok(members) = members(self.layer, below) else { return FormatWrites::default() };
        let Ok(used) = self.used(members) else { return FormatWrites::default() };
        if self.resync(state) == Resync::Skip {
            return FormatWrites::default();
        }
        let count = members.len();
        let (read, written) = match self.level {
            // Its parity is checked first, and written if it is wrong.
            Level::Raid5 => {
                let share = if state.reads_zeros { 0.0 } else { 1.0 / count as f64 };
                (count as f64, vec![share; count])
            }
            level => level.resync(count, state.reads_zeros),
        };
        let (kind, zeros) = (PassKind::Resync, state.reads_zeros);
        FormatWrites::pass(self.layer, kind, members, used, (read, &written), zeros)
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Root, LVM, Need::DeviceMapper("raid"), Need::Md(self.level.word())]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices(self.layer, below)?;
        let resync = self.resync(context.below);
        let group = VolumeGroup::create(self.layer, &devices, context)?;
        let node = group.volume(&self.arguments(devices.len(), resync), &[], context)?;
        match resync {
            Resync::Wait => self.wait(&group, &node, context)?,
            Resync::Skip => {}
        }
        context.note(
            self.layer,
            match (resync, context.below.reads_zeros) {
                (Resync::Wait, _) => "synced before the first use",
                (Resync::Skip, true) => {
                    "no first sync: the devices read as zeros, so copies and parity agree"
                }
                (Resync::Skip, false) => {
                    "no first sync: copies and parity of what is not written may disagree, so a \
                     drive failure could lose data; speeds are not affected"
                }
            },
        );
        Ok(LayerOutput::Devices(vec![node]))
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices(self.layer, below)?;
        let (_, node) = VolumeGroup::assemble(self.layer, &devices, context)?;
        Ok(LayerOutput::Devices(vec![node]))
    }

    fn care(&self) -> &'static [Care] {
        &[Care::Fail, Care::Replace, Care::Rebuild, Care::Scrub]
    }

    fn fail(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        care::fail(at, drive)
    }

    fn replace(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        care::replace(at, drive)
    }

    fn progress(&self, at: &LayerInUse<'_>) -> Result<RebuildProgress, StackError> {
        care::progress(at)
    }

    fn rebuild_limit(&self, at: &LayerInUse<'_>) -> Result<Option<Bytes>, StackError> {
        care::limit(at)
    }

    fn scrub(&self, at: &LayerInUse<'_>) -> Result<String, StackError> {
        care::scrub(at)
    }

    fn scrubbed(&self, at: &LayerInUse<'_>) -> Result<Option<(Bytes, Bytes)>, StackError> {
        care::scrubbed(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::tests::spec;

    fn shape(text: &str, drives: usize) -> Result<Volume, ShapeError> {
        let raid = read_options(&spec(text)).expect(text);
        match raid.shape(&Shape::drives(&vec![Bytes::gib(1); drives]))? {
            Shape::Devices(mut volumes) => Ok(volumes.remove(0)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_sync_is_over_when_the_kernel_has_said_so() {
        for (words, over) in [
            ("  99.98 resync\n", false),
            ("  100.00 resync\n", false),
            ("  100.00 idle\n", true),
            ("  0.00 idle\n", false),
            ("  100.00\n", false),
            ("", false),
        ] {
            assert_eq!(is_synced(words), over, "{words}");
        }
    }

    #[test]
    fn shapes_of_all_levels() {
        // Of 1 GiB, LVM has 255 extents, of which dm-raid takes one.
        let used = 254 * 4;
        for (text, drives, mib, tolerates, each) in [
            ("lvm-raid1", 2, used, 1, 1.0),
            ("lvm-raid1", 3, used, 2, 1.0),
            ("lvm-raid5", 4, 3 * used, 1, 1.0 / 3.0),
            ("lvm-raid6", 5, 3 * used, 2, 1.0 / 3.0),
            ("lvm-raid10", 4, 2 * used, 1, 0.5),
            ("lvm-raid5[size=100M]", 3, 104, 1, 0.5),
        ] {
            let volume = shape(text, drives).expect(text);
            assert_eq!((volume.size, volume.tolerates()), (Bytes::mib(mib), tolerates), "{text}");
            assert!(volume.drive_writes.iter().all(|w| (w - each).abs() < 1e-9), "{text}");
        }
        for (text, drives, words) in [
            ("lvm-raid6", 4, "lvm-raid6 needs at least 5 devices, got 4"),
            ("lvm-raid10", 5, "lvm-raid10: 5 devices do not make pairs of 2"),
            ("lvm-raid5[size=9G]", 3, "lvm-raid5: 9 GiB do not fit; there is room for"),
        ] {
            let error = shape(text, drives).expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn arguments_and_first_syncs() {
        let raid = |text: &str| read_options(&spec(text)).expect(text);
        let line = |text: &str, devices, resync| raid(text).arguments(devices, resync).join(" ");
        assert_eq!(
            line("lvm-raid10[stripe-size=128K,size=10G]", 4, Resync::Skip),
            "--type raid10 --mirrors 1 --stripes 2 --stripesize 128k --size 10737418240b --nosync"
        );
        assert_eq!(
            line("lvm-raid1", 2, Resync::Skip),
            "--type raid1 --mirrors 1 --extents 100%FREE --nosync"
        );
        let held = line("lvm-raid1[sync-speed-max=50M]", 2, Resync::Skip);
        assert!(held.ends_with("--nosync --maxrecoveryrate 51200k"), "{held}");
        let raid6 = line("lvm-raid6", 5, Resync::Wait);
        assert!(raid6.starts_with("--type raid6 --stripes 3 --stripesize 64k"), "{raid6}");
        let lab = DeviceState { reads_zeros: true, simulated: true };
        assert_eq!(raid("lvm-raid5").resync(lab), Resync::Skip);
        assert_eq!(raid("lvm-raid5").resync(DeviceState::default()), Resync::Wait);
        assert_eq!(raid("lvm-raid6").resync(lab), Resync::Wait);
        assert!(read_options(&spec("lvm-raid6[resync=skip]")).is_err());
        let five = Shape::drives(&[Bytes::gib(1); 5]);
        let writes = |text: &str, state| raid(text).format_writes(&five, state);
        assert_eq!(writes("lvm-raid5", lab).passes, []);
        let [pass] = writes("lvm-raid6", lab).passes.try_into().expect("one pass");
        assert!((pass.written, pass.zeros) == (0.0, true) && pass.read > 5e9, "{pass:?}");
        let filled = writes("lvm-raid5", DeviceState::default());
        assert!((filled.bytes[4] / (254.0 * 4.0 * 1_048_576.0) - 0.2).abs() < 1e-9, "{filled:?}");
    }
}

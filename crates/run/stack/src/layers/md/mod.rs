//! Linux md: arrays over all devices below, or over groups of them.

use std::path::Path;

use disklab_cell::{Care, LayerSpec, LossTree};
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::reading::OptionReader;
use crate::redundancy::{devices, members, near_copies};
use crate::{
    DeviceState, FormatWrites, InputKind, Inputs, Layer, LayerContext, LayerInUse, LayerKind,
    LayerOutput, Need, PassKind, RebuildProgress, Shape, ShapeError, StackError, Volume,
    WindowedPass,
};

pub(super) mod care;
mod create;
mod level;
mod resync;

pub(crate) use level::Level;

/// Arrays over the devices below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Md {
    /// The layer's name, for errors and notes.
    pub layer: &'static str,
    /// The RAID level.
    pub level: Level,
    /// Bytes on one member before the next one's turn; mdadm's default where absent.
    pub chunk: Option<Bytes>,
    /// As mdadm has it, such as `f2`; mdadm's default where absent.
    pub layout: Option<&'static str>,
    /// Devices in one array; all where absent.
    pub width: Option<usize>,
    /// Whether there is an internal write-intent bitmap; as mdadm decides where absent.
    pub bitmap: Option<bool>,
    /// Whether to wait for the first resync; see [`Md::resync`] where absent.
    pub resync: Option<Resync>,
    /// Pages per member in the stripe cache; the kernel's 256 where absent.
    pub stripe_cache: Option<u32>,
    /// Bytes per second that a resync or rebuild gets at least, and at most; the kernel's where absent.
    pub speeds: (Option<Bytes>, Option<Bytes>),
}

/// What happens to members that need not agree yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resync {
    /// They are taken as they are (`--assume-clean`).
    Skip,
    /// They are made to agree before anything else.
    Wait,
}

const CHUNK: (&str, &str) = (
    "chunk",
    "chunk size, the bytes on one member before the next, such as 64K [default: mdadm's, 512K]",
);
const BITMAP: (&str, &str) =
    ("bitmap", "write-intent bitmap: none, internal [default: internal from 100 GiB a member]");
const WIDTH: (&str, &str) =
    ("width", "devices in one array, several side by side: md-raid5[width=3]/md-raid0 is RAID 50");
pub(super) const RESYNC: (&str, &str) = (
    "resync",
    "first resync: wait, or skip (default on members that read as zeros, and in the lab)",
);
pub(super) const STRIPE_CACHE: (&str, &str) =
    ("stripe-cache", "pages per member in the stripe cache, 17 to 32768 (the kernel's: 256)");
pub(super) const SPEED_MIN: (&str, &str) = (
    "sync-speed-min",
    "bytes per second of a rebuild whatever else is done (the kernel's: 1000 KiB)",
);
pub(super) const SPEED_MAX: (&str, &str) = (
    "sync-speed-max",
    "most bytes per second of a rebuild, such as 500M (the kernel's: 200000 KiB)",
);
const PARITY_LAYOUT: (&str, &str) =
    ("layout", "where parity goes: left-symmetric (mdadm's default), left-asymmetric, …");

const JOURNAL: InputKind = InputKind {
    name: "journal",
    summary: "device to which each stripe is written first, which closes the write hole",
    most: 1,
    if_lost: "the array becomes read-only, with all data",
};
const SPARE: InputKind = InputKind {
    name: "spare",
    summary: "hot spares: one takes the place of a member that fails",
    most: 32,
    if_lost: "no data are lost",
};

pub(super) const LINEAR: LayerKind =
    kind("md-linear", "md: one device after the other (JBOD)", &[], &[]);
pub(super) const RAID0: LayerKind =
    kind("md-raid0", "md RAID 0: striped, no redundancy", &[CHUNK], &[]);
pub(super) const RAID1: LayerKind = kind(
    "md-raid1",
    "md RAID 1: every device a copy",
    &[WIDTH, BITMAP, RESYNC, SPEED_MIN, SPEED_MAX],
    &[SPARE],
);
pub(super) const RAID4: LayerKind = kind(
    "md-raid4",
    "md RAID 4: striped, parity on the last device",
    &[CHUNK, WIDTH, BITMAP, RESYNC, STRIPE_CACHE, SPEED_MIN, SPEED_MAX],
    &[JOURNAL, SPARE],
);
pub(super) const RAID5: LayerKind = kind(
    "md-raid5",
    "md RAID 5: striped, distributed parity; any device may fail",
    &[CHUNK, PARITY_LAYOUT, WIDTH, BITMAP, RESYNC, STRIPE_CACHE, SPEED_MIN, SPEED_MAX],
    &[JOURNAL, SPARE],
);
pub(super) const RAID6: LayerKind = kind(
    "md-raid6",
    "md RAID 6: striped, two distributed parities; any two devices may fail",
    &[CHUNK, PARITY_LAYOUT, WIDTH, BITMAP, RESYNC, STRIPE_CACHE, SPEED_MIN, SPEED_MAX],
    &[JOURNAL, SPARE],
);
pub(super) const RAID10: LayerKind = kind(
    "md-raid10",
    "md RAID 10: striped copies",
    &[
        CHUNK,
        ("layout", "near2 (default), far2, offset2; or with 3 or 4 copies, such as near3"),
        WIDTH,
        BITMAP,
        RESYNC,
        SPEED_MIN,
        SPEED_MAX,
    ],
    &[SPARE],
);

const fn kind(
    name: &'static str,
    summary: &'static str,
    options: &'static [(&'static str, &'static str)],
    inputs: &'static [InputKind],
) -> LayerKind {
    LayerKind { name, summary, options, inputs, parse }
}

/// The kinds, their levels and mdadm's personalities.
const LEVELS: [(&str, Level); 7] = [
    (LINEAR.name, Level::Linear),
    (RAID0.name, Level::Raid0),
    (RAID1.name, Level::Raid1),
    (RAID4.name, Level::Raid4),
    (RAID5.name, Level::Raid5),
    (RAID6.name, Level::Raid6),
    (RAID10.name, Level::Raid10(2)),
];

/// Where parity goes (mdadm(8), `--layout`), in the words of a study and mdadm.
const PARITY_LAYOUTS: [&str; 6] = [
    "left-symmetric",
    "left-asymmetric",
    "right-symmetric",
    "right-asymmetric",
    "parity-first",
    "parity-last",
];

/// RAID 10's: the word, mdadm's short form, how many copies.
const COPIES_LAYOUTS: [(&str, (&str, u32)); 9] = [
    ("near2", ("n2", 2)),
    ("far2", ("f2", 2)),
    ("offset2", ("o2", 2)),
    ("near3", ("n3", 3)),
    ("far3", ("f3", 3)),
    ("offset3", ("o3", 3)),
    ("near4", ("n4", 4)),
    ("far4", ("f4", 4)),
    ("offset4", ("o4", 4)),
];

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(read_options(spec)?))
}

fn read_options(spec: &LayerSpec) -> Result<Md, SourceError> {
    let found = LEVELS.iter().find(|(name, _)| *name == spec.name);
    let (layer, mut level) = *found.ok_or_else(|| spec.error("no kind of md array"))?;
    let mut reading = OptionReader::new(spec);
    let chunk = if level.has_chunks() { chunk(&mut reading)? } else { None };
    let layout = if level.is_striped_copies() {
        reading.word("layout", &COPIES_LAYOUTS)?.map(|(short, copies)| {
            level = Level::Raid10(copies);
            short
        })
    } else if matches!(level, Level::Raid5 | Level::Raid6) {
        reading.word("layout", &PARITY_LAYOUTS.map(|word| (word, word)))?
    } else {
        None
    };
    let (mut width, mut bitmap, mut resync) = (None, None, None);
    let mut speeds = (None, None);
    if level.is_redundant() {
        speeds = (reading.size(SPEED_MIN.0)?, reading.size(SPEED_MAX.0)?);
        width = reading.integer("width", 2..=255)?.map(|width| width as usize);
        (bitmap, resync) = bitmap_and_resync(&mut reading)?;
    }
    let stripe_cache = if level.has_parity() { stripe_cache(&mut reading)? } else { None };
    reading.finish()?;
    if spec.has_input(JOURNAL.name) {
        if bitmap == Some(true) {
            let why =
                "an array with a journal has no bitmap; remove `bitmap=internal` or the journal";
            return Err(spec.error(format!("{layer}: {why}")));
        }
        bitmap = Some(false);
    }
    Ok(Md { layer, level, chunk, layout, width, bitmap, resync, stripe_cache, speeds })
}

/// The option `chunk`: md takes powers of two from a page on
/// (`drivers/md/raid5.c`, `setup_conf`).
pub(super) fn chunk(reading: &mut OptionReader<'_>) -> Result<Option<Bytes>, SourceError> {
    reading.power_of_two("chunk", Bytes::kib(4), Bytes::mib(64))
}

/// The options `bitmap` and `resync`.
pub(super) fn bitmap_and_resync(
    reading: &mut OptionReader<'_>,
) -> Result<(Option<bool>, Option<Resync>), SourceError> {
    let bitmap = reading.word("bitmap", &[("none", false), ("internal", true)])?;
    let resync = reading.word("resync", &[("skip", Resync::Skip), ("wait", Resync::Wait)])?;
    Ok((bitmap, resync))
}

/// The option `stripe-cache`, with the limits of `raid5_set_cache_size` in
/// `drivers/md/raid5.c`.
pub(super) fn stripe_cache(reading: &mut OptionReader<'_>) -> Result<Option<u32>, SourceError> {
    reading.integer("stripe-cache", 17..=32768)
}

/// A smaller journal than this is of no use: it is full all the time.
const LEAST_JOURNAL: Bytes = Bytes::mib(64);

pub(super) const MDADM: Need = Need::Program { name: "mdadm", package: "mdadm" };

impl Md {
    /// The devices of each array.
    ///
    /// # Errors
    /// [`ShapeError::Groups`] if they do not come out even.
    fn groups<'a, T>(&self, devices: &'a [T]) -> Result<Vec<&'a [T]>, ShapeError> {
        let width = self.width.unwrap_or(devices.len()).max(1);
        if !devices.len().is_multiple_of(width) {
            let (layer, devices) = (self.layer, devices.len());
            return Err(ShapeError::Groups { layer, devices, width, what: "arrays" });
        }
        // Of no device at all, there is one array, which is refused.
        Ok(if devices.is_empty() { vec![devices] } else { devices.chunks(width).collect() })
    }

    /// Which members must fail, where the layout says: those of far and offset copies are on the next
    /// member, the last one's on the first (md(4), 'RAID10').
    fn loss(&self, members: &[Volume]) -> Option<LossTree> {
        let Level::Raid10(copies) = self.level else { return None };
        let is_near = self.layout.is_none_or(|layout| layout.starts_with('n'));
        (!is_near).then(|| near_copies(copies as usize, 1, members))
    }

    /// What happens to the members of a new array.
    pub(super) fn resync(&self, below: DeviceState) -> Resync {
        let skips = below.reads_zeros || below.simulated;
        self.resync.unwrap_or(if skips { Resync::Skip } else { Resync::Wait })
    }

    /// What the first resync of an array over `members` reads and writes.
    pub(super) fn first_resync(&self, members: &[Volume], state: DeviceState) -> FormatWrites {
        if !self.level.is_redundant() || self.resync(state) == Resync::Skip {
            return FormatWrites::default();
        }
        let length = self.level.room(members, self.chunk);
        let (read, written) = self.level.resync(members.len(), state.reads_zeros);
        let kind = PassKind::Resync;
        FormatWrites::pass(self.layer, kind, members, length, (read, &written), state.reads_zeros)
    }
}

impl Layer for Md {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let groups = self.groups(members(self.layer, below)?)?;
        let array = |group: &&[Volume]| {
            let array = self.level.array(self.layer, group, self.chunk)?;
            Ok(Volume { loss: self.loss(group).unwrap_or_else(|| array.loss.clone()), ..array })
        };
        groups.iter().map(array).collect::<Result<_, _>>().map(Shape::Devices)
    }

    /// Whatever members are written goes to the journal first. Neither it nor a spare holds data that
    /// is nowhere else while the array runs.
    fn with_inputs(
        &self,
        made: Shape,
        data: &Shape,
        inputs: &Inputs<Volume>,
    ) -> Result<Shape, ShapeError> {
        let members = members(self.layer, data)?;
        let Shape::Devices(mut arrays) = made else { return Ok(made) };
        let [array] = arrays.as_mut_slice() else {
            let (layer, arrays) = (self.layer, arrays.len());
            let input = inputs.each().next().map_or(SPARE.name, |(input, _)| input);
            return Err(ShapeError::InputOfMany { layer, input, arrays });
        };
        let smallest = members.iter().map(|member| member.size).min().unwrap_or_default();
        inputs.check_size(self.layer, SPARE.name, smallest)?;
        inputs.check_size(self.layer, JOURNAL.name, LEAST_JOURNAL)?;
        for journal in inputs.get(JOURNAL.name) {
            array.add_writes(journal, self.level.stripe(members.len()).written());
            array.small_write.writes += journal.small_write.writes;
        }
        Ok(Shape::Devices(arrays))
    }

    fn format_writes(&self, below: &Shape, state: DeviceState) -> FormatWrites {
        let groups = members(self.layer, below).and_then(|members| self.groups(members));
        let resyncs = groups.unwrap_or_default().into_iter().map(|g| self.first_resync(g, state));
        resyncs.fold(FormatWrites::default(), FormatWrites::and)
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Root, MDADM, Need::Md(self.level.word())]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let members = devices(self.layer, below)?;
        let groups = self.groups(&members)?;
        let arrays = groups.into_iter().map(|group| self.create(group, context));
        arrays.collect::<Result<_, _>>().map(LayerOutput::Devices)
    }

    /// The members of each array are found among all devices, whatever their order.
    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let members = devices(self.layer, below)?;
        let arrays = context.own / self.width.unwrap_or(context.own).max(1);
        let arrays = (0..arrays).map(|_| self.start_again(&members, context));
        arrays.collect::<Result<_, _>>().map(LayerOutput::Devices)
    }

    fn finds_its_devices(&self) -> bool {
        true
    }

    fn care(&self) -> &'static [Care] {
        if self.level.is_redundant() {
            &[
                Care::Fail,
                Care::Replace,
                Care::TakeSpare,
                Care::PassFrom,
                Care::Rebuild,
                Care::Scrub,
            ]
        } else {
            &[]
        }
    }

    fn fail(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        care::fail(at, drive)
    }

    fn replace(&self, at: &LayerInUse<'_>, drive: &Path) -> Result<(), StackError> {
        care::replace(at, drive)
    }

    fn take_spare(&self, at: &LayerInUse<'_>, _: &Path) -> Result<(), StackError> {
        care::await_rebuild(at)
    }

    fn progress(&self, at: &LayerInUse<'_>) -> Result<RebuildProgress, StackError> {
        care::progress(at)
    }

    fn passes(
        &self,
        at: &LayerInUse<'_>,
        drive: Option<&Path>,
    ) -> Result<Vec<Box<dyn WindowedPass>>, StackError> {
        care::passes(at, drive)
    }

    fn scrub(&self, at: &LayerInUse<'_>) -> Result<String, StackError> {
        care::scrub(at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reading::tests::spec;

    #[test]
    fn options_are_understood() {
        let md = read_options(&spec("md-raid5[chunk=64K,layout=left-asymmetric,resync=wait]"));
        assert_eq!(
            md.expect("raid5"),
            Md {
                layer: "md-raid5",
                level: Level::Raid5,
                chunk: Some(Bytes::kib(64)),
                layout: Some("left-asymmetric"),
                width: None,
                bitmap: None,
                resync: Some(Resync::Wait),
                stripe_cache: None,
                speeds: (None, None),
            }
        );
        let md = read_options(&spec("md-raid10[layout=far3,bitmap=internal]")).expect("raid10");
        assert_eq!((md.level, md.layout, md.bitmap), (Level::Raid10(3), Some("f3"), Some(true)));
        let md = read_options(&spec("md-raid6[stripe-cache=4096]")).expect("raid6");
        assert_eq!(md.stripe_cache, Some(4096));
    }

    #[test]
    fn each_level_takes_only_its_own_options() {
        for (text, words) in [
            ("md-raid1[chunk=64K]", "'chunk' is not an option of md-raid1"),
            ("md-raid0[bitmap=none]", "'bitmap' is not an option of md-raid0"),
            ("md-linear[resync=wait]", "'resync' is not an option of md-linear"),
            ("md-raid10[layout=left-symmetric]", "expected 'near2', 'far2'"),
            ("md-raid5[layout=near2]", "expected 'left-symmetric'"),
            ("md-raid5[chunk=48K]", "a power of two from 4 KiB"),
            ("md-raid0[width=2]", "'width' is not an option of md-raid0"),
            ("md-raid5[width=1]", "an integer from 2 to 255"),
            ("md-raid5[stripe-cache=3]", "an integer from 17 to 32768"),
        ] {
            let error = read_options(&spec(text)).expect_err(text);
            assert!(error.message.contains(words), "{text}: {}", error.message);
        }
    }

    #[test]
    fn groups_become_arrays_side_by_side() {
        let six = Shape::drives(&[Bytes::gib(10); 6]);
        let shape = read_options(&spec("md-raid5[width=3]")).expect("raid5").shape(&six);
        let Ok(Shape::Devices(arrays)) = shape else { panic!("{shape:?}") };
        assert_eq!(arrays.len(), 2);
        let whole = read_options(&spec("md-raid0")).expect("raid0").shape(&Shape::Devices(arrays));
        let Ok(Shape::Devices(whole)) = whole else { panic!("{whole:?}") };
        assert_eq!((whole.len(), whole[0].tolerates()), (1, 1));
        assert!(whole[0].drive_writes.iter().all(|w| (w - 0.25).abs() < 1e-9), "{whole:?}");
        for (text, words) in [
            ("md-raid5[width=4]", "md-raid5: 6 devices do not make arrays of 4"),
            ("md-raid6[width=3]", "md-raid6 needs at least 4 devices, got 3"),
        ] {
            let error = read_options(&spec(text)).expect("md").shape(&six).expect_err(text);
            assert_eq!(error.to_string(), words);
        }
    }

    // The tables of options that users see, and what is understood, are the same.
    #[test]
    fn every_listed_option_is_understood() {
        for kind in [LINEAR, RAID0, RAID1, RAID4, RAID5, RAID6, RAID10] {
            for (option, _) in kind.options {
                let error = read_options(&spec(&format!("{}[{option}=§]", kind.name)));
                let message = error.expect_err("no value").message;
                assert!(message.contains(&format!("`{option}`")), "{}: {message}", kind.name);
            }
        }
    }

    proptest! {
        #[test]
        fn no_option_panics(
            level in 0_usize..LEVELS.len(),
            key in "chunk|layout|width|bitmap|resync|stripe-cache|.{0,9}",
            value in ".{0,12}",
        ) {
            let mut spec = spec(LEVELS[level].0);
            spec.options = vec![(key, Some(value))];
            let _ = read_options(&spec);
        }
    }
}

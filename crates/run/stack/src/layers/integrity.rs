//! dm-integrity on each device: a checksum for every sector, so that a read
//! fails instead of giving back something else.
//!
//! A sector that was never written has no checksum and fails when read, which
//! mkfs, md and a half-written page would stumble over. integritysetup can leave
//! devices like that (`--no-wipe`) or let the kernel fill in checksums behind
//! the user's back (`--integrity-recalculate`), alongside the work being measured.
//! Neither is honest, so the whole device is written once when it is made, and
//! the sample says so.

use std::path::Path;

use disklab_cell::LayerSpec;
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::reading::OptionReader;
use crate::redundancy::{devices, members};
use crate::udev::dm;
use crate::undo::DeviceMapping;
use crate::wait::wait_for_node;
use crate::{
    DeviceState, FormatWrites, Layer, LayerContext, LayerKind, LayerOutput, Need, PassKind, Shape,
    ShapeError, StackError, Volume, undo,
};

/// A checksum for every sector of each device below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Integrity {
    algorithm: Algorithm,
    mode: Mode,
    /// What one checksum is for.
    sector_size: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Algorithm {
    /// As integritysetup and the kernel call it.
    name: &'static str,
    /// Bytes of a checksum.
    tag: u64,
}

const ALGORITHMS: [(&str, Algorithm); 3] = [
    ("crc32c", Algorithm { name: "crc32c", tag: 4 }),
    ("xxhash64", Algorithm { name: "xxhash64", tag: 8 }),
    ("sha256", Algorithm { name: "sha256", tag: 32 }),
];

/// How data and checksums are kept in step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Everything is written twice.
    Journal,
    /// Regions being written are marked, and calculated anew after a crash.
    Bitmap,
    /// A crash may leave sectors unreadable.
    Direct,
}

pub(super) const KIND: LayerKind = LayerKind {
    name: "integrity",
    summary: "dm-integrity: a checksum for every sector of each device",
    options: &[
        ("algorithm", "crc32c (default), xxhash64, sha256"),
        ("mode", "journal (default): all is written twice; bitmap; direct: none"),
        ("sector-size", "what one checksum is for: 512 (default), 1K, 2K, 4K"),
    ],
    inputs: &[],
    parse,
};

/// The superblock, in sectors of 512 bytes (`SB_SECTORS` in
/// `drivers/md/dm-integrity.c`, as are the other numbers below).
const SUPERBLOCK: u64 = 8;
/// The journal takes 1/128 of the device …
const JOURNAL_SHIFT: u32 = 7;
/// … but no more than this many sectors.
const MOST_JOURNAL: u64 = 131_072;
/// Sectors of data between two stretches of checksums.
const INTERLEAVE: u64 = 32_768;

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(read_options(spec)?))
}

fn read_options(spec: &LayerSpec) -> Result<Integrity, SourceError> {
    let mut reading = OptionReader::new(spec);
    let algorithm = reading.word("algorithm", &ALGORITHMS)?.unwrap_or(ALGORITHMS[0].1);
    let modes = [("journal", Mode::Journal), ("bitmap", Mode::Bitmap), ("direct", Mode::Direct)];
    let mode = reading.word("mode", &modes)?.unwrap_or(Mode::Journal);
    let sector_size =
        reading.power_of_two("sector-size", Bytes(512), Bytes::kib(4))?.unwrap_or(Bytes(512));
    reading.finish()?;
    Ok(Integrity { algorithm, mode, sector_size })
}

impl Integrity {
    fn format(&self, device: &Path) -> Invocation {
        integritysetup()
            .args(["format", "--integrity", self.algorithm.name])
            .args(["--tag-size", &self.algorithm.tag.to_string()])
            .args(["--sector-size", &self.sector_size.0.to_string()])
            .arg(device)
    }

    fn open(&self, device: &Path, name: &str) -> Invocation {
        let open = integritysetup().args(["open", "--integrity", self.algorithm.name]);
        let open = match self.mode {
            Mode::Journal => open,
            Mode::Bitmap => open.arg("--integrity-bitmap-mode"),
            Mode::Direct => open.arg("--integrity-no-journal"),
        };
        open.arg(device).arg(name)
    }

    /// Opens each device, once `before` is done with it.
    fn map(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
        before: impl Fn(&Path, &LayerContext<'_>) -> Result<(), StackError>,
    ) -> Result<LayerOutput, StackError> {
        let mut mapped = Vec::new();
        for device in devices("integrity", below)? {
            let name = context.name(context.number());
            context.enter(undo::CloseIntegrity(DeviceMapping::new(&name, &device, "")))?;
            before(&device, context)?;
            context.run("integrity", &self.open(&device, &name))?;
            mapped.push(wait_for_node(context, "integrity", &Path::new("/dev/mapper").join(name))?);
        }
        Ok(LayerOutput::Devices(mapped))
    }

    /// What is left of a device, to within a few sectors (`calculate_device_limits`).
    fn room(&self, device: Bytes) -> Bytes {
        let sectors = device.0 / 512;
        let journal = (sectors >> JOURNAL_SHIFT).min(MOST_JOURNAL);
        let left = sectors.saturating_sub(SUPERBLOCK + journal);
        let checksums = INTERLEAVE * self.algorithm.tag / self.sector_size.0;
        let (whole, rest) = (left / (INTERLEAVE + checksums), left % (INTERLEAVE + checksums));
        let data = whole * INTERLEAVE + rest.saturating_sub(checksums);
        Bytes(data * 512).round_down(self.sector_size)
    }

    /// Bytes written to the device for one byte of data: the data, its
    /// checksums, and both again where there is a journal.
    fn writes(&self) -> f64 {
        let once = 1.0 + self.algorithm.tag as f64 / self.sector_size.0 as f64;
        if self.mode == Mode::Journal { 2.0 * once } else { once }
    }
}

fn integritysetup() -> Invocation {
    dm(Invocation::new("integritysetup")).arg("--batch-mode")
}

impl Layer for Integrity {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let cut = |volume: &Volume| {
            let size = self.room(volume.size);
            if size == Bytes::ZERO {
                return Err(ShapeError::NothingLeft { layer: "integrity", got: volume.size });
            }
            let drive_writes = volume.drive_writes.iter().map(|w| w * self.writes()).collect();
            Ok(Volume { size, drive_writes, ..volume.clone() })
        };
        members("integrity", below)?.iter().map(cut).collect::<Result<_, _>>().map(Shape::Devices)
    }

    /// The whole device is written once, without the journal (`_wipe_data_device` in
    /// cryptsetup's src/integritysetup.c).
    fn format_writes(&self, below: &Shape, _state: DeviceState) -> FormatWrites {
        let Ok(volumes) = members("integrity", below) else { return FormatWrites::default() };
        let length = volumes.iter().map(|v| self.room(v.size)).max().unwrap_or_default();
        let share = |v: &Volume| {
            let room = self.room(v.size).0 as f64 / length.0.max(1) as f64;
            room * (1.0 + self.algorithm.tag as f64 / self.sector_size.0 as f64)
        };
        let written: Vec<f64> = volumes.iter().map(share).collect();
        let kind = PassKind::Checksums;
        FormatWrites::pass("integrity", kind, volumes, length, (0.0, &written), true)
    }

    fn leaves_zeros(&self, _below: bool) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            Need::Root,
            Need::Program { name: "integritysetup", package: "cryptsetup-bin" },
            Need::Program { name: "dmsetup", package: "dmsetup" },
            Need::DeviceMapper("integrity"),
        ]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let output = self.map(below, context, |device, context| {
            context.run("integrity", &self.format(device)).map(drop)
        })?;
        context.note(
            "integrity",
            "each device was written once over its whole length when it was made, so that every \
             sector has a checksum",
        );
        Ok(output)
    }

    /// A superblock has no UUID: each device is opened in its place, and a mapping is recognised by
    /// what is on it.
    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        self.map(below, context, |_, _| Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::tests::spec;

    #[test]
    fn command_lines() {
        let integrity = read_options(&spec("integrity[algorithm=sha256,mode=bitmap]")).expect("ok");
        assert_eq!(
            integrity.format(Path::new("/dev/sda")).command_line(),
            "integritysetup --batch-mode format --integrity sha256 --tag-size 32 --sector-size 512 \
             /dev/sda"
        );
        assert_eq!(
            integrity.open(Path::new("/dev/sda"), "x").command_line(),
            "integritysetup --batch-mode open --integrity sha256 --integrity-bitmap-mode \
             /dev/sda x"
        );
    }

    #[test]
    fn options_are_checked() {
        for (text, words) in [
            ("integrity[algorithm=md5]", "expected 'crc32c', 'xxhash64' or 'sha256'"),
            ("integrity[mode=none]", "expected 'journal', 'bitmap' or 'direct'"),
            ("integrity[sector-size=3]", "a power of two from 512 B"),
        ] {
            let error = read_options(&spec(text)).expect_err(text);
            assert!(error.message.contains(words), "{text}: {}", error.message);
        }
    }

    // Sectors in /sys/block/dm-0/size with integritysetup 2.6 on 128 MiB.
    #[test]
    fn room_is_what_integritysetup_left() {
        for (algorithm, sectors) in
            [("crc32c", 258_152), ("xxhash64", 256_104), ("sha256", 243_728)]
        {
            let text = format!("integrity[algorithm={algorithm}]");
            let room = read_options(&spec(&text)).expect("ok").room(Bytes::mib(128)).0 / 512;
            assert!(sectors - 256 <= room && room <= sectors + 256, "{algorithm}: {room}");
        }
    }

    #[test]
    fn a_journal_writes_all_twice() {
        let writes = |text: &str| {
            let integrity = read_options(&spec(text)).expect("ok");
            match integrity.shape(&Shape::drives(&[Bytes::gib(1)])) {
                Ok(Shape::Devices(volumes)) => volumes[0].drive_writes[0],
                other => panic!("{other:?}"),
            }
        };
        assert!((writes("integrity") - 2.015_625).abs() < 1e-9);
        assert!((writes("integrity[mode=direct,sector-size=4K]") - 1.000_976_562_5).abs() < 1e-9);
    }
}

//! LUKS2 on each device: dm-crypt, with a header.

use std::path::{Path, PathBuf};

use disklab_cell::LayerSpec;
use disklab_exec::Invocation;
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::find::Search;
use crate::reading::OptionReader;
use crate::redundancy::{devices, members};
use crate::udev::dm;
use crate::undo::DeviceMapping;
use crate::wait::wait_for_node;
use crate::{
    KeptWrites, Layer, LayerContext, LayerKind, LayerOutput, Need, Shape, ShapeError, StackError,
    Volume, seeded, undo,
};

/// LUKS2 on each device below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Crypt {
    /// Such as `aes-xts-plain64`; cryptsetup's default where absent.
    cipher: Option<String>,
    /// In bits.
    key_size: Option<u32>,
    /// What one initialisation vector is for.
    sector_size: Option<Bytes>,
    /// Whether discards reach the device.
    discard: bool,
    /// Whether reads and writes are encrypted where they are issued.
    no_workqueue: bool,
}

pub(super) const KIND: LayerKind = LayerKind {
    name: "crypt",
    summary: "LUKS2 encryption of each device",
    options: &[
        ("cipher", "such as aes-xts-plain64 (cryptsetup's default)"),
        ("key-size", "of the volume key in bits, such as 256 (cryptsetup's default: 512)"),
        ("sector-size", "of encryption: 512, 1K, 2K or 4K (default: what cryptsetup chooses)"),
        ("discard", "lets discards (TRIM) reach the device"),
        ("no-workqueue", "encrypts without the kernel's queues, which suits fast SSDs"),
    ],
    inputs: &[],
    parse,
};

/// The header of LUKS2 where nothing else is asked for: two copies of the
/// metadata and the key slots (LUKS2 on-disk format, 1.1.1; seen with
/// cryptsetup 2.6).
const HEADER: Bytes = Bytes::mib(16);

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(read_options(spec)?))
}

fn read_options(spec: &LayerSpec) -> Result<Crypt, SourceError> {
    let mut reading = OptionReader::new(spec);
    let cipher = reading.text("cipher").map(str::to_owned);
    if let Some(cipher) = &cipher {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-:()_".contains(c);
        if cipher.is_empty() || cipher.starts_with('-') || !cipher.chars().all(fits) {
            return Err(reading.expected("cipher", "one such as aes-xts-plain64", cipher));
        }
    }
    let key_size = reading.integer("key-size", 64..=4096)?;
    if key_size.is_some_and(|bits| bits % 8 != 0) {
        let text = spec.option("key-size").unwrap_or_default();
        return Err(reading.expected("key-size", "a multiple of 8 bits", text));
    }
    let sector_size = reading.power_of_two("sector-size", Bytes(512), Bytes::kib(4))?;
    let discard = reading.flag("discard")?;
    let no_workqueue = reading.flag("no-workqueue")?;
    reading.finish()?;
    Ok(Crypt { cipher, key_size, sector_size, discard, no_workqueue })
}

impl Crypt {
    fn format(&self, device: &Path, uuid: &str, key: &str) -> Invocation {
        let mut format = cryptsetup()
            .args(["luksFormat", "--type", "luks2", "--uuid", uuid, "--key-file", "-"])
            // The key is known, so there is nothing to make slow.
            .args(["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"]);
        if let Some(cipher) = &self.cipher {
            format = format.args(["--cipher", cipher]);
        }
        if let Some(bits) = self.key_size {
            format = format.args(["--key-size", &bits.to_string()]);
        }
        if let Some(size) = self.sector_size {
            format = format.args(["--sector-size", &size.0.to_string()]);
        }
        format.arg(device).stdin(key)
    }

    fn open(&self, device: &Path, name: &str, key: &str) -> Invocation {
        let mut open = cryptsetup().args(["open", "--type", "luks2", "--key-file", "-"]);
        if self.discard {
            open = open.arg("--allow-discards");
        }
        if self.no_workqueue {
            open = open.args(["--perf-no_read_workqueue", "--perf-no_write_workqueue"]);
        }
        open.arg(device).arg(name).stdin(key)
    }

    /// Opens the device and returns the node of the mapping.
    fn map(
        &self,
        device: &Path,
        header: &Header,
        context: &LayerContext<'_>,
    ) -> Result<PathBuf, StackError> {
        context.run("crypt", &self.open(device, &header.name, &header.key))?;
        wait_for_node(context, "crypt", &Path::new("/dev/mapper").join(&header.name))
    }
}

fn cryptsetup() -> Invocation {
    dm(Invocation::new("cryptsetup")).arg("--batch-mode")
}

impl Layer for Crypt {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let cut = |volume: &Volume| {
            let size = (volume.size - HEADER).round_down(self.sector_size.unwrap_or(Bytes(512)));
            if size == Bytes::ZERO {
                return Err(ShapeError::NothingLeft { layer: "crypt", got: volume.size });
            }
            Ok(Volume { size, ..volume.clone() })
        };
        members("crypt", below)?.iter().map(cut).collect::<Result<_, _>>().map(Shape::Devices)
    }

    fn kept_writes(&self) -> KeptWrites {
        KeptWrites { hides_repeats: true, ..KeptWrites::default() }
    }

    /// What was never written decrypts to noise.
    fn leaves_zeros(&self, _below: bool) -> bool {
        false
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            Need::Root,
            Need::Program { name: "cryptsetup", package: "cryptsetup-bin" },
            Need::Program { name: "dmsetup", package: "dmsetup" },
            Need::DeviceMapper("crypt"),
        ]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let mut mapped = Vec::new();
        for device in devices("crypt", below)? {
            let header = Header::new(context.number(), context);
            header.enter(&device, context)?;
            context.run("crypt", &self.format(&device, &header.uuid, &header.key))?;
            mapped.push(self.map(&device, &header, context)?);
        }
        if context.below.reads_zeros {
            context.note("crypt", "zeros below decrypt to noise: nothing above reads as zeros");
        }
        Ok(LayerOutput::Devices(mapped))
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices("crypt", below)?;
        let first = context.number();
        let header = |index| Header::new(first + index, context);
        let headers: Vec<Header> = (0..context.own).map(header).collect();
        let uuids: Vec<String> = headers.iter().map(|header| header.uuid.clone()).collect();
        let search = Search { layer: "crypt", what: "the LUKS header with the UUID", tag: "UUID" };
        let mut mapped = Vec::new();
        for (device, header) in search.each(&devices, &uuids, context)?.iter().zip(&headers) {
            header.enter(device, context)?;
            mapped.push(self.map(device, header, context)?);
        }
        Ok(LayerOutput::Devices(mapped))
    }

    fn finds_its_devices(&self) -> bool {
        true
    }
}

/// What a header is known by, and what opens it.
struct Header {
    /// The mapping's name.
    name: String,
    uuid: String,
    key: String,
}

impl Header {
    fn new(number: usize, context: &LayerContext<'_>) -> Self {
        let uuid = seeded::uuid(context, &format!("crypt {number}"));
        Self { name: context.name(number), key: seeded::key(&uuid), uuid }
    }

    fn enter(&self, device: &Path, context: &mut LayerContext<'_>) -> Result<(), StackError> {
        let mapping = DeviceMapping::new(&self.name, device, &self.uuid);
        context.enter(undo::CloseCrypt(mapping))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reading::tests::spec;

    #[test]
    fn command_lines() {
        let crypt = read_options(&spec(
            "crypt[cipher=aes-xts-plain64,key-size=256,sector-size=4K,discard,no-workqueue]",
        ))
        .expect("crypt");
        assert_eq!(
            crypt.format(Path::new("/dev/sda"), "u-u", "k").command_line(),
            "cryptsetup --batch-mode luksFormat --type luks2 --uuid u-u --key-file - --pbkdf \
             pbkdf2 --pbkdf-force-iterations 1000 --cipher aes-xts-plain64 --key-size 256 \
             --sector-size 4096 /dev/sda"
        );
        assert_eq!(
            crypt.open(Path::new("/dev/sda"), "x", "k").command_line(),
            "cryptsetup --batch-mode open --type luks2 --key-file - --allow-discards \
             --perf-no_read_workqueue --perf-no_write_workqueue /dev/sda x"
        );
    }

    #[test]
    fn options_are_checked() {
        for (text, words) in [
            ("crypt[cipher=--help]", "expected one such as aes-xts-plain64"),
            ("crypt[cipher]", "found no value"),
            ("crypt[key-size=255]", "a multiple of 8 bits"),
            ("crypt[sector-size=8K]", "a power of two from 512 B to 4 KiB"),
            ("crypt[discard=yes]", "expected no value"),
            ("crypt[key=secret]", "'key' is not an option of crypt"),
        ] {
            let error = read_options(&spec(text)).expect_err(text);
            assert!(error.message.contains(words), "{text}: {}", error.message);
        }
    }

    #[test]
    fn the_header_takes_its_room() {
        let crypt = Crypt::default();
        let shape = crypt.shape(&Shape::drives(&[Bytes::mib(128), Bytes::mib(64)])).expect("shape");
        let Shape::Devices(volumes) = shape else { panic!("{shape:?}") };
        let sizes: Vec<_> = volumes.iter().map(|v| v.size).collect();
        assert_eq!(sizes, [Bytes::mib(112), Bytes::mib(48)]);
        let error = crypt.shape(&Shape::drives(&[Bytes::mib(16)])).expect_err("no room");
        assert_eq!(error, ShapeError::NothingLeft { layer: "crypt", got: Bytes::mib(16) });
    }

    proptest! {
        #[test]
        fn no_option_panics(key in "cipher|key-size|sector-size|discard", value in ".{0,15}") {
            let mut spec = spec("crypt");
            spec.options = vec![(key, Some(value))];
            let _ = read_options(&spec);
        }
    }
}

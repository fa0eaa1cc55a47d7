//! A solid-state drive's part of a drive file.

use disklab_config::{Fields, Node};
use disklab_source::SourceError;

use super::parameters::{BufferParameters, FlashParameters, Interface, Parameters, SlcCache};
use crate::Transport;
use crate::sectors::SectorFormat;
use crate::values::{at, boolean, choice, link, number, optional_time, rate, time, whole};

/// Reads the fields of a solid-state drive.
///
/// # Errors
/// Where a field is missing or unknown, or the numbers are impossible.
pub(crate) fn read(root: &Node, fields: &mut Fields<'_>) -> Result<Parameters, SourceError> {
    let capacity = fields.require_bytes("capacity")?.0;
    let sectors = choice(fields, "sectors", &SectorFormat::WORDS)?;
    let flash = read_flash(fields.require("flash")?)?;
    let slc_cache = fields.take("slc-cache").map(read_slc_cache).transpose()?;
    let buffer = read_buffer(fields.require("buffer")?)?;
    let interface = read_interface(fields.require("interface")?)?;
    let parameters =
        Parameters { capacity, visible: capacity, sectors, flash, slc_cache, buffer, interface };
    parameters.check().map_err(|fault| at(root, fault.field).error(fault.message))?;
    Ok(parameters)
}

fn read_flash(node: &Node) -> Result<FlashParameters, SourceError> {
    let mut fields = Fields::new(node, "'flash'")?;
    let flash = FlashParameters {
        channels: whole(&mut fields, "channels")?,
        dies: whole(&mut fields, "dies-per-channel")?,
        cell_bits: whole(&mut fields, "cell-bits")?,
        page: fields.require_bytes("page")?.0,
        block_pages: whole(&mut fields, "block-pages")?,
        spare: number(&mut fields, "spare")?,
        map_unit: fields.require_bytes("map-unit")?.0,
        read_4k: time(&mut fields, "read-4k")?,
        read_page: time(&mut fields, "read-page")?,
        read_spread: time(&mut fields, "read-spread")?,
        program: time(&mut fields, "program")?,
        erase: time(&mut fields, "erase")?,
        channel_rate: rate(&mut fields, "channel-rate")?,
    };
    fields.finish()?;
    Ok(flash)
}

fn read_slc_cache(node: &Node) -> Result<SlcCache, SourceError> {
    let mut fields = Fields::new(node, "'slc-cache'")?;
    let cache = SlcCache {
        size: fields.require_bytes("size")?.0,
        read: time(&mut fields, "read")?,
        program: time(&mut fields, "program")?,
        fold_delay: time(&mut fields, "fold-delay")?,
        fold_share: number(&mut fields, "fold-share")?,
    };
    fields.finish()?;
    Ok(cache)
}

fn read_buffer(node: &Node) -> Result<BufferParameters, SourceError> {
    let mut fields = Fields::new(node, "'buffer'")?;
    let buffer = BufferParameters {
        size: fields.require_bytes("size")?.0,
        write_cache: boolean(&mut fields, "write-cache")?,
        power_loss_protection: boolean(&mut fields, "power-loss-protection")?,
        flush_overhead: time(&mut fields, "flush-overhead")?,
        read_ahead: fields.bytes("read-ahead")?.map_or(0, |size| size.0),
    };
    fields.finish()?;
    Ok(buffer)
}

fn read_interface(node: &Node) -> Result<Interface, SourceError> {
    let mut fields = Fields::new(node, "'interface'")?;
    let full_duplex = boolean(&mut fields, "full-duplex")?;
    // Of the links that solid-state drives have, PCI Express alone carries data both ways.
    let known = if full_duplex { Transport::Nvme } else { Transport::Sata };
    let command = time(&mut fields, "command")?;
    let interface = Interface {
        transport: Transport::read(&mut fields, known)?,
        link_rate: link(&mut fields, "link")?,
        full_duplex,
        queue_depth: whole(&mut fields, "queue-depth")?,
        command,
        write_command: optional_time(&mut fields, "write-command")?.unwrap_or(command),
        read_overhead: time(&mut fields, "read-overhead")?,
        large_read_overhead: time(&mut fields, "large-read-overhead")?,
        write_overhead: time(&mut fields, "write-overhead")?,
        write_overhead_4k: time(&mut fields, "write-overhead-4k")?,
        discard_gib: time(&mut fields, "discard-gib")?,
        write_zeroes: boolean(&mut fields, "write-zeroes")?,
    };
    fields.finish()?;
    Ok(interface)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{DriveFile, Nanos, Operation, Request, load};

    const TEXT: &str = include_str!("../../../../../drives/generic-nvme-1tb.toml");

    fn with(name: &str, value: &str) -> (usize, Result<DriveFile, String>) {
        let starts = |line: &str| line.starts_with(&format!("{name} = "));
        let at = TEXT.lines().position(starts).unwrap_or_else(|| panic!("no field {name}"));
        let line = TEXT.lines().nth(at).unwrap();
        let text = TEXT.replacen(line, &format!("{name} = {value}"), 1);
        (at + 1, load("d.toml", &text).map_err(|error| error.to_string()))
    }

    #[test]
    fn impossible_numbers_are_refused_at_their_place() {
        for (field, value, expected) in [
            ("capacity", "0", "expected a multiple of 512 B from 1 MiB"),
            ("capacity", "\"900 TB\"", "expected a multiple of 512 B"),
            ("sectors", "\"4k\"", "'512e'"),
            ("channels", "0", "from 1 to 64"),
            ("dies-per-channel", "65", "from 1 to 64"),
            ("cell-bits", "6", "from 1 to 5"),
            ("cell-bits", "1", "need no cache of such cells"),
            ("page", "\"30 KiB\"", "expected a multiple of 4096 B"),
            ("block-pages", "1", "from 8 to 65536"),
            ("spare", "0.001", "expected more spare flash"),
            ("spare", "nan", "from 0 to 10"),
            ("map-unit", "\"512 B\"", "expected a multiple of 4096 B"),
            ("read-4k", "\"0 s\"", "from 1 ns to 1 s"),
            ("read-spread", "\"70 µs\"", "from 0 ns to 60 µs"),
            ("program", "\"2 s\"", "from 1 ns to 1 s"),
            ("program", "\"soon\"", "expected a time such as"),
            ("channel-rate", "\"8 kB/s\"", "from 1 MB/s"),
            ("fold-share", "1", "from 0 to 0.9"),
            ("fold-delay", "\"0 s\"", "expected a time from 1 ns"),
            ("link", "\"7 Gb/s\"", "expected the rate of a SATA link"),
            ("full-duplex", "2", "expected true or false"),
            ("queue-depth", "0", "from 1 to 65536"),
            ("command", "\"0 ns\"", "from 1 ns to 1 s"),
        ] {
            let (line, file) = with(field, value);
            let message = file.expect_err(field);
            assert!(message.contains(expected), "{field} = {value}: {message}");
            assert!(message.starts_with(&format!("d.toml:{line}:")), "{message}");
        }
    }

    #[test]
    fn the_flash_must_fit_the_map_and_the_map_its_entries() {
        for (field, value, expected) in [
            ("capacity", "20000000000000", "expected larger units"),
            ("block-pages", "60000", "expected more spare flash, or smaller blocks"),
        ] {
            let (_, file) = with(field, value);
            let message = file.expect_err(field);
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn tables_may_be_missing_or_unknown() {
        let error = |text: String| load("d.toml", &text).unwrap_err().to_string();
        let (before, rest) = TEXT.split_once("[slc-cache]").unwrap();
        let (_, after) = rest.split_once("[buffer]").unwrap();
        // What is plausible for a table goes with it.
        let without = format!("{before}[buffer]{after}");
        let kept = without.lines().filter(|line| !line.starts_with("\"slc-cache."));
        let without = kept.collect::<Vec<_>>().join("\n");
        load("d.toml", &without).expect("a drive without an SLC cache");
        assert!(error(TEXT.replace("[flash]", "[flush]")).contains("needs a field 'flash'"));
        assert!(error(TEXT.replace("erase = ", "erases = ")).contains("needs a field 'erase'"));
        let colour = "[buffer]\ncolour = 3";
        assert!(error(TEXT.replace("[buffer]", colour)).contains("unknown field 'colour'"));
    }

    #[test]
    fn ssd_has_its_own_properties_and_sizes() {
        let file = load("d.toml", TEXT).unwrap();
        assert!(!file.rotates() && file.takes_discards() && file.takes_write_zeroes());
        assert_eq!(file.limited_to(100_000_000_000).unwrap().build(1).sectors(), 195_312_500);
        assert!(
            file.limited_to(2_000_000_000_000)
                .unwrap_err()
                .to_string()
                .contains("cannot show 2 TB")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// Whatever a file contains, it is refused with a message or makes a drive that works.
        #[test]
        fn no_number_panics(
            line in 0_usize..60,
            value in "-?[0-9]{1,20}|\"[0-9.]{1,9} ?(ns|ms|s|TB|MB/s|MiB|KiB)\"|\\[\\]|nan|inf",
            sectors in prop::collection::vec((0_u64..2_000_000, 1_u64..300), 1..20),
        ) {
            let changed: Vec<String> = TEXT.lines().enumerate().map(|(number, text)| {
                match text.split_once(" = ") {
                    Some((key, _)) if number == line => format!("{key} = {value}"),
                    _ => text.to_owned(),
                }
            }).collect();
            match load("d.toml", &changed.join("\n")) {
                Err(error) => prop_assert!(error.to_string().starts_with("d.toml:")),
                Ok(file) => {
                    let mut drive = file.build(0);
                    let mut done = Vec::new();
                    for (id, (sector, sectors)) in (0..).zip(&sectors) {
                        let operation =
                            if id % 3 == 0 { Operation::Read } else { Operation::Write };
                        let sector = *sector;
                        drive.submit(Nanos(id), Request { id, operation, sector, sectors: *sectors });
                    }
                    while done.len() < sectors.len() {
                        let at = drive.next_event();
                        prop_assert!(at.is_some());
                        drive.advance(at.unwrap_or_default(), &mut done);
                    }
                }
            }
        }
    }
}

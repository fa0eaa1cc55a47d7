//! A solid-state drive's part of a drive file.

use disklab_study::{Fields, Node, StudyError};

use super::parameters::{Buffer, Flash, Interface, Parameters, SlcCache};
use crate::hdd::SectorFormat;
use crate::values::{at, boolean, choice, link, number, rate, time, whole};

/// Reads the fields of a solid-state drive.
///
/// # Errors
/// Where a field is missing or unknown, or the numbers are impossible.
pub(crate) fn read(root: &Node, fields: &mut Fields<'_>) -> Result<Parameters, StudyError> {
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

fn read_flash(node: &Node) -> Result<Flash, StudyError> {
    let mut fields = Fields::new(node, "'flash'")?;
    let flash = Flash {
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

fn read_slc_cache(node: &Node) -> Result<SlcCache, StudyError> {
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

fn read_buffer(node: &Node) -> Result<Buffer, StudyError> {
    let mut fields = Fields::new(node, "'buffer'")?;
    let buffer = Buffer {
        size: fields.require_bytes("size")?.0,
        write_cache: boolean(&mut fields, "write-cache")?,
        power_loss_protection: boolean(&mut fields, "power-loss-protection")?,
        flush_overhead: time(&mut fields, "flush-overhead")?,
    };
    fields.finish()?;
    Ok(buffer)
}

fn read_interface(node: &Node) -> Result<Interface, StudyError> {
    let mut fields = Fields::new(node, "'interface'")?;
    let interface = Interface {
        link_rate: link(&mut fields, "link")?,
        full_duplex: boolean(&mut fields, "full-duplex")?,
        queue_depth: whole(&mut fields, "queue-depth")?,
        command: time(&mut fields, "command")?,
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

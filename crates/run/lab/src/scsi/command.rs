//! Commands, as they are read from a chain.

use disklab_drive::Operation;

use super::{CDB_BYTES, COMMAND_BYTES, RESPONSE_BYTES, answers, inquiry, is_the_unit, mode};
use crate::block::{Configuration, GuestBuffers, RequestRefusal, RequestWork, within};
use crate::vhost::GuestRegions;

/// Operation codes (SPC-4 and SBC-3).
mod code {
    pub const TEST_UNIT_READY: u8 = 0x00;
    pub const REQUEST_SENSE: u8 = 0x03;
    pub const INQUIRY: u8 = 0x12;
    pub const MODE_SELECT_6: u8 = 0x15;
    pub const MODE_SENSE_6: u8 = 0x1A;
    pub const START_STOP_UNIT: u8 = 0x1B;
    pub const READ_CAPACITY_10: u8 = 0x25;
    pub const READ_10: u8 = 0x28;
    pub const WRITE_10: u8 = 0x2A;
    pub const SYNCHRONIZE_CACHE_10: u8 = 0x35;
    pub const UNMAP: u8 = 0x42;
    pub const MODE_SELECT_10: u8 = 0x55;
    pub const MODE_SENSE_10: u8 = 0x5A;
    pub const READ_16: u8 = 0x88;
    pub const WRITE_16: u8 = 0x8A;
    pub const SYNCHRONIZE_CACHE_16: u8 = 0x91;
    pub const SERVICE_ACTION_IN_16: u8 = 0x9E;
    pub const REPORT_LUNS: u8 = 0xA0;
}
/// The service action READ CAPACITY (16).
const READ_CAPACITY_16: u8 = 0x10;
/// READ and WRITE with protection or past the cache: DPO alone may be ignored.
const PROTECTED_OR_FUA: u8 = 0xE8;

/// The longest parameters of a command: those of MODE SELECT, or of UNMAP with one range.
const MOST_PARAMETERS: usize = 256;
/// Bytes of UNMAP's parameters before its range, and with it.
const UNMAP_HEADER: usize = 8;
const UNMAP_BYTES: usize = 24;

/// Reads the command in `buffers` for `disk`, whose write cache is on or not.
pub(crate) fn parse_command(
    buffers: &GuestBuffers,
    memory: &GuestRegions,
    disk: &Configuration,
    write_cache: bool,
) -> Result<RequestWork, RequestRefusal> {
    if buffers.readable_bytes() < COMMAND_BYTES {
        return Err(RequestRefusal::Bad);
    }
    let mut header = [0; COMMAND_BYTES as usize];
    buffers.read(memory, 0, &mut header);
    let (address, cdb) = header.split_at(COMMAND_BYTES as usize - CDB_BYTES);
    if !is_the_unit(address) {
        return Err(RequestRefusal::NoTarget);
    }
    let parameters = || {
        let bytes = (buffers.readable_bytes() - COMMAND_BYTES).min(MOST_PARAMETERS as u64);
        // At most MOST_PARAMETERS.
        let mut parameters = vec![0; bytes as usize];
        buffers.read(memory, COMMAND_BYTES, &mut parameters);
        parameters
    };
    let answer = |bytes: Vec<u8>, most: u64| {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(RequestWork::Answer(bytes[..bytes.len().min(most)].to_vec()))
    };
    let flush = RequestWork::Drive { operation: Operation::Flush, sector: 0, sectors: 0 };
    match cdb[0] {
        code::TEST_UNIT_READY | code::START_STOP_UNIT => answer(Vec::new(), 0),
        code::REQUEST_SENSE => answer(answers::no_sense(), cdb[4].into()),
        code::INQUIRY => answer(inquiry::inquiry(cdb, disk)?, be(&cdb[3..5])),
        code::MODE_SENSE_6 => answer(mode::sense(cdb, false, write_cache)?, cdb[4].into()),
        code::MODE_SENSE_10 => answer(mode::sense(cdb, true, write_cache)?, be(&cdb[7..9])),
        code::MODE_SELECT_6 => mode::select(&parameters(), false).map(RequestWork::WriteCache),
        code::MODE_SELECT_10 => mode::select(&parameters(), true).map(RequestWork::WriteCache),
        code::READ_CAPACITY_10 => answer(answers::capacity_10(disk), 8),
        code::SERVICE_ACTION_IN_16 if cdb[1] & 0x1F == READ_CAPACITY_16 => {
            answer(answers::capacity_16(disk), be(&cdb[10..14]))
        }
        code::REPORT_LUNS => answer(answers::luns(), be(&cdb[6..10])),
        code::SYNCHRONIZE_CACHE_10 | code::SYNCHRONIZE_CACHE_16 => Ok(flush),
        code::READ_10 | code::WRITE_10 | code::READ_16 | code::WRITE_16 => {
            transfer(cdb, buffers, disk)
        }
        code::UNMAP if disk.discard.is_some() => unmap(&parameters(), disk),
        _ => Err(RequestRefusal::Unsupported),
    }
}

/// A read or write, of as many bytes as the buffers have.
fn transfer(
    cdb: &[u8],
    buffers: &GuestBuffers,
    disk: &Configuration,
) -> Result<RequestWork, RequestRefusal> {
    let (first, blocks) = match cdb[0] {
        code::READ_10 | code::WRITE_10 => (be(&cdb[2..6]), be(&cdb[7..9])),
        _ => (be(&cdb[2..10]), be(&cdb[10..14])),
    };
    let (operation, bytes) = match cdb[0] {
        code::READ_10 | code::READ_16 => {
            (Operation::Read, buffers.writable_bytes().saturating_sub(RESPONSE_BYTES))
        }
        _ => (Operation::Write, buffers.readable_bytes() - COMMAND_BYTES),
    };
    // Below 2^32 blocks of 4096 bytes.
    if cdb[1] & PROTECTED_OR_FUA != 0 || bytes != blocks * u64::from(disk.logical_bytes) {
        return Err(RequestRefusal::Bad);
    }
    if blocks == 0 {
        return Ok(RequestWork::Answer(Vec::new()));
    }
    sectors_of(first, blocks, disk)
        .and_then(|(sector, sectors)| within(disk, operation, sector, sectors))
}

/// The one range of UNMAP: the block limits allow no more.
fn unmap(parameters: &[u8], disk: &Configuration) -> Result<RequestWork, RequestRefusal> {
    if parameters.len() < UNMAP_HEADER {
        return Err(RequestRefusal::Bad);
    }
    // The length of the ranges.
    match (be(&parameters[2..4]), parameters.get(UNMAP_HEADER..UNMAP_BYTES)) {
        (0, _) => Ok(RequestWork::Answer(Vec::new())),
        (16, Some(range)) => {
            let (sector, sectors) = sectors_of(be(&range[..8]), be(&range[8..12]), disk)?;
            within(disk, Operation::Discard, sector, sectors)
        }
        _ => Err(RequestRefusal::Bad),
    }
}

/// Blocks as sectors of 512 bytes.
fn sectors_of(first: u64, blocks: u64, disk: &Configuration) -> Result<(u64, u64), RequestRefusal> {
    let ratio = u64::from(disk.logical_bytes / 512).max(1);
    let sector = first.checked_mul(ratio).ok_or(RequestRefusal::OutOfRange)?;
    // Below 2^32 blocks of 4096 bytes.
    Ok((sector, blocks * ratio))
}

/// A number of up to eight bytes, the most significant first.
fn be(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

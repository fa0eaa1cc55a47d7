//! INQUIRY: what the disk is (SPC-4, 6.6 and 7.8; SBC-3, 6.5).

use crate::block::{Configuration, RANGE_SECTORS, RequestRefusal};

const VENDOR: &[u8; 8] = b"ATA     ";
const PRODUCT: &[u8; 16] = b"disklab drive   ";
const REVISION: &[u8; 4] = b"1   ";

/// Vital product data pages. That with ATA's information has the kernel treat the disk as one
/// behind a SATA link: it sends no WRITE SAME.
const SUPPORTED: u8 = 0x00;
const SERIAL_NUMBER: u8 = 0x80;
const IDENTIFICATION: u8 = 0x83;
const ATA_INFORMATION: u8 = 0x89;
const BLOCK_LIMITS: u8 = 0xB0;
const CHARACTERISTICS: u8 = 0xB1;
const PROVISIONING: u8 = 0xB2;
const PAGES: [u8; 7] = [
    SUPPORTED,
    SERIAL_NUMBER,
    IDENTIFICATION,
    ATA_INFORMATION,
    BLOCK_LIMITS,
    CHARACTERISTICS,
    PROVISIONING,
];

/// The answer to INQUIRY.
pub(super) fn inquiry(cdb: &[u8], disk: &Configuration) -> Result<Vec<u8>, RequestRefusal> {
    match (cdb[1] & 1, cdb[2]) {
        // A disk of SPC-4 with a queue.
        (0, 0) => Ok([&[0, 0, 6, 2, 31, 0, 0, 2][..], VENDOR, PRODUCT, REVISION].concat()),
        (1, code) => {
            let page = page(code, disk).ok_or(RequestRefusal::Bad)?;
            // No page is as long as 64 KiB.
            let length = (page.len() as u16).to_be_bytes();
            Ok([&[0, code][..], &length, &page].concat())
        }
        _ => Err(RequestRefusal::Bad),
    }
}

/// What follows a page's header of four bytes.
fn page(code: u8, disk: &Configuration) -> Option<Vec<u8>> {
    let logical = disk.logical_bytes.max(512);
    let mut page = vec![0; 60];
    let mut put =
        |at: usize, bytes: &[u8]| page[at - 4..at - 4 + bytes.len()].copy_from_slice(bytes);
    match code {
        SUPPORTED => return Some(PAGES.to_vec()),
        SERIAL_NUMBER => return Some(disk.serial.to_vec()),
        IDENTIFICATION => {
            let name = [&VENDOR[..], PRODUCT, &disk.serial].concat();
            // In ASCII, of the unit, begun with the vendor's name.
            return Some([&[2, 1, 0, name.len() as u8][..], &name].concat());
        }
        ATA_INFORMATION => page.resize(568, 0),
        BLOCK_LIMITS => {
            put(12, &(disk.optimal_bytes / logical).to_be_bytes());
            if let Some(granularity) = disk.discard {
                put(20, &(RANGE_SECTORS / (logical / 512)).to_be_bytes());
                put(24, &1_u32.to_be_bytes());
                put(28, &(granularity / logical).to_be_bytes());
            }
        }
        // 1 for a medium that does not rotate, 0 where the rate is not reported.
        CHARACTERISTICS => put(4, &u16::from(!disk.rotates).to_be_bytes()),
        PROVISIONING => {
            page.truncate(4);
            if disk.discard.is_some() {
                // UNMAP, of a thin unit.
                page[1] = 0x80;
                page[2] = 2;
            }
        }
        _ => return None,
    }
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_that_is_listed_is_there() {
        let disk = Configuration::of_sectors(1 << 30, 512);
        for code in PAGES {
            let page = inquiry(&[0x12, 1, code], &disk).unwrap();
            assert_eq!(page[1], code);
            assert_eq!(usize::from(u16::from_be_bytes([page[2], page[3]])), page.len() - 4);
        }
        assert_eq!(inquiry(&[0x12, 1, 0x81], &disk), Err(RequestRefusal::Bad));
        assert_eq!(inquiry(&[0x12, 0, 0], &disk).unwrap().len(), 36);
    }
}

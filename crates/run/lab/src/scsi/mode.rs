//! The caching mode page (SBC-3, 6.4.5), which says whether the write cache is on and switches it.

use crate::block::RequestRefusal;

/// Its code, and that of all pages.
const CACHING: u8 = 0x08;
const ALL: u8 = 0x3F;
/// Its bytes, header included, and the one with WCE.
const PAGE_BYTES: usize = 20;
const FLAGS: usize = 2;
const WCE: u8 = 1 << 2;

/// The answer to MODE SENSE (6), or (10) where `long`.
pub(super) fn sense(cdb: &[u8], long: bool, write_cache: bool) -> Result<Vec<u8>, RequestRefusal> {
    if !matches!(cdb[2] & 0x3F, CACHING | ALL) {
        return Err(RequestRefusal::Bad);
    }
    // What can be changed (1) is WCE, and what is now, by default and saved is alike.
    let on = write_cache || cdb[2] >> 6 == 1;
    let mut page = [0; PAGE_BYTES];
    page[0] = CACHING;
    page[1] = PAGE_BYTES as u8 - 2;
    page[FLAGS] = if on { WCE } else { 0 };
    // Neither write-protected nor with FUA, which the kernel does not use on SATA (libata.fua=0).
    let mut answer = vec![0; header_bytes(long)];
    answer[usize::from(long)] = (answer.len() - 1 - usize::from(long) + PAGE_BYTES) as u8;
    answer.extend(page);
    Ok(answer)
}

/// Whether the parameters of MODE SELECT (6), or (10) where `long`, switch the cache on.
pub(super) fn select(parameters: &[u8], long: bool) -> Result<bool, RequestRefusal> {
    let header = header_bytes(long);
    let descriptors = match (long, parameters) {
        (true, [_, _, _, _, _, _, high, low, ..]) => usize::from(*high) << 8 | usize::from(*low),
        (false, [_, _, _, length, ..]) => usize::from(*length),
        _ => return Err(RequestRefusal::Bad),
    };
    match parameters.get(header + descriptors..) {
        Some([CACHING, _, flags, ..]) => Ok(flags & WCE != 0),
        _ => Err(RequestRefusal::Bad),
    }
}

fn header_bytes(long: bool) -> usize {
    if long { 8 } else { 4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reported_can_be_selected() {
        for long in [false, true] {
            for on in [false, true] {
                let page = sense(&[0x1A, 0, ALL], long, on).unwrap();
                assert_eq!(
                    usize::from(page[usize::from(long)]),
                    page.len() - 1 - usize::from(long)
                );
                assert_eq!(select(&page, long), Ok(on));
            }
            assert_eq!(sense(&[0x1A, 0, 0x0A], long, true), Err(RequestRefusal::Bad));
        }
    }
}

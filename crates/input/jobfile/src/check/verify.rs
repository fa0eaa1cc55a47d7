//! Whether what `verify` stores has room.

use disklab_source::SourceError;

use crate::draft::Draft;
use crate::job::{Blocks, Checksum, Verify};
use crate::section::Section;

pub(super) fn verify(
    section: &Section,
    draft: &Draft,
    blocks: &Blocks,
) -> Result<Option<Verify>, SourceError> {
    let Some(checksum) = draft.checksum else { return Ok(None) };
    let mut verify = Verify { checksum, ..draft.verify.clone() };
    if checksum == Checksum::Pattern && verify.pattern.is_empty() {
        return Err(section
            .at(&["verify"])
            .error("`verify=pattern` needs the pattern: verify_pattern=0x…"));
    }
    // The interval is at most the smallest block (fixup_options in init.c).
    let smallest = match (draft.access.reads, draft.access.writes, blocks.by_order) {
        (true, false, false) => blocks.sizes.read.min(),
        (false, true, false) => blocks.sizes.write.min(),
        _ => blocks.min(),
    };
    let varies = blocks.min() != blocks.max();
    verify.interval = match verify.interval {
        Some(interval) => Some(interval.min(smallest)),
        None if varies => Some(smallest),
        None => None,
    };
    let interval = verify.interval.unwrap_or(smallest);
    let needed = verify.offset.saturating_add(checksum.header());
    if needed > interval {
        return Err(section
            .at(&["verify_offset", "verify_interval", "bssplit", "bsrange", "bs", "verify"])
            .error(format!(
                "what `verify` stores needs {needed} bytes of each {interval} (the smallest of \
                 block and `verify_interval`)"
            )));
    }
    Ok(Some(verify))
}

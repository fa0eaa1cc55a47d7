//! The files of a job, and how much it does.

use disklab_source::SourceError;

use crate::draft::Draft;
use crate::job::{Amount, Blocks, DEFAULT_FORMAT, FileSize, Files, Length, NameSource};
use crate::section::Section;
use crate::value::LARGEST;

/// More files than this are refused: they mean a tree then, which `copy` has.
const MOST_FILES: u64 = 1_000_000;

pub(super) fn files(
    section: &Section,
    draft: &Draft,
    blocks: &Blocks,
) -> Result<Files, SourceError> {
    // In a study, a directory of the job's own lies below the measured one.
    let (directories, below) = match draft.directories.as_slice() {
        [own, ..] if !section.policy().is_plain() => {
            (Vec::new(), if own == "." { String::new() } else { format!("{own}/") })
        }
        own => (own.to_vec(), String::new()),
    };
    let prefixed = |name: &str| format!("{below}{name}");
    let names = match &draft.file_names {
        Some(names) => NameSource::Fixed(names.iter().map(|name| prefixed(name)).collect()),
        // As in fio, a job that is called as a device works on that (add_job in init.c).
        None if section.policy().is_plain() && section.header().starts_with("/dev/") => {
            NameSource::Fixed(vec![section.header().to_owned()])
        }
        None => NameSource::Format {
            format: prefixed(draft.name_format.as_deref().unwrap_or(DEFAULT_FORMAT)),
            job: section.header().to_owned(),
            count: draft.file_count.unwrap_or(1),
        },
    };
    let size = match (draft.file_size, draft.size) {
        (Some((min, max)), _) => FileSize::Each { min, max },
        (None, Some(Amount::Bytes(total))) => FileSize::Shared { total },
        (None, Some(Amount::Percent(percent))) => FileSize::Existing { percent },
        (None, None) if section.policy().is_plain() => FileSize::Existing { percent: 100 },
        (None, None) => {
            return Err(section.place().error(
                "this job has no `size`, and a study measures new files: give `size` or \
                 `filesize`",
            ));
        }
    };
    let files = Files {
        names,
        directories,
        size,
        offset: draft.offset,
        offset_increment: draft.offset_increment,
        align: draft.offset_align.unwrap_or(blocks.min()),
        there: Vec::new(),
        order: draft.file_order,
        open: 1,
        block: blocks.min(),
    };
    let count = files.count();
    if count.saturating_mul(u64::from(draft.process.clones)) > MOST_FILES {
        return Err(section
            .at(&["nrfiles", "numjobs"])
            .error(format!("this job has more than {MOST_FILES} files (numjobs × nrfiles)")));
    }
    let open = draft.open_files.filter(|n| *n > 0).unwrap_or(count).min(count);
    Ok(Files { open, ..files })
}

pub(super) fn length(
    section: &Section,
    draft: &Draft,
    files: &Files,
    blocks: &Blocks,
) -> Result<Length, SourceError> {
    let count = files.count();
    let last = last_offset(section, draft)?;
    let all = match files.size {
        FileSize::Existing { .. } => return Ok(length_of(draft, 0)),
        FileSize::Each { min, max } => {
            if last >= min {
                return Err(section.at(&["offset_increment", "offset"]).error(format!(
                    "I/O would begin at byte {last}, behind the end of files of {min} bytes \
                     (`filesize`)"
                )));
            }
            (max - draft.offset.of(0)).saturating_mul(count)
        }
        FileSize::Shared { total } => total,
    };
    if all.checked_add(last).is_none_or(|end| end > LARGEST) {
        return Err(section
            .at(&["size", "filesize"])
            .error("with its offset, this is larger than any file can be"));
    }
    let size = draft.size.map_or(all, |size| size.of(all)).min(all);
    let access = draft.access;
    let least = match (blocks.by_order, access.reads, access.writes) {
        (false, true, false) => blocks.sizes.read.min(),
        (false, false, true) => blocks.sizes.write.min(),
        _ => blocks.min(),
    };
    let each = (all / count).min(size);
    if each < least {
        let of_each = if count > 1 { " of each file" } else { "" };
        return Err(section
            .at(&["bssplit", "bsrange", "bs", "nrfiles", "filesize", "size"])
            .error(format!(
                "a block of {least} bytes does not fit into the {each} bytes{of_each} that `size`, \
             `filesize` and `nrfiles` leave"
            )));
    }
    Ok(length_of(draft, size))
}

fn length_of(draft: &Draft, size: u64) -> Length {
    Length {
        size,
        io_size: draft.io_size.map_or(size, |given| given.of(size)),
        io_given: draft.io_size,
        number_ios: draft.number_ios,
        loops: draft.loops,
    }
}

/// Where the last clone begins, as far as that does not depend on files that are there.
fn last_offset(section: &Section, draft: &Draft) -> Result<u64, SourceError> {
    draft
        .offset_increment
        .of(0)
        .checked_mul(u64::from(draft.process.clones) - 1)
        .and_then(|more| more.checked_add(draft.offset.of(0)))
        .filter(|offset| *offset <= LARGEST)
        .ok_or_else(|| {
            section
                .at(&["offset_increment", "offset"])
                .error("the offset of the last clone is larger than any file can be")
        })
}

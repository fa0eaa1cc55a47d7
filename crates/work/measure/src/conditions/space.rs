//! How full a file system is, and how much of the workload's files is data.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use disklab_sample::{FileData, Space};
use rustix::fs::{SeekFrom, seek, statvfs};

/// So many files are looked at, and so many runs of data in each: the rest is taken
/// for data.
const MOST_FILES: u64 = 10_000;
const MOST_RUNS: u32 = 1_000;
/// `st_blocks` counts these (stat(3type)).
const BLOCK: u64 = 512;

/// As it is before the workload.
pub(super) fn before(directory: &Path) -> Option<Space> {
    let (bytes, used) = used(directory)?;
    Some(Space { bytes, used_before: used, used_after: None, spread_over: None, files: None })
}

/// Adds what the workload left.
pub(super) fn close(space: &mut Space, directory: &Path) {
    let files = files(directory);
    // Blocks of what is still in memory are counted late.
    if let Ok(opened) = File::open(directory) {
        let _ = rustix::fs::syncfs(&opened);
    }
    space.files = Some(files);
    space.used_after = used(directory).map(|(_, used)| used);
}

/// All and used bytes.
fn used(directory: &Path) -> Option<(u64, u64)> {
    let space = statvfs(directory).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
    let all = bytes(space.f_blocks);
    (all > 0).then(|| (all, all.saturating_sub(bytes(space.f_bfree))))
}

fn files(directory: &Path) -> FileData {
    let mut found = FileData::default();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        let Ok(entries) = std::fs::read_dir(next) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                left.push(entry.path());
            } else if kind.is_file() && found.files < MOST_FILES {
                add(&mut found, &entry.path());
            }
        }
    }
    found
}

/// What is in these files; those that are not there count for nothing.
pub fn file_data<'a>(paths: impl IntoIterator<Item = &'a Path>) -> FileData {
    let mut found = FileData::default();
    paths.into_iter().take(MOST_FILES as usize).for_each(|path| add(&mut found, path));
    found
}

fn add(found: &mut FileData, path: &Path) {
    let Ok(file) = File::open(path) else { return };
    let Ok(metadata) = file.metadata() else { return };
    let size = metadata.len();
    found.files += 1;
    found.bytes = found.bytes.saturating_add(size);
    found.data = found.data.saturating_add(data(&file, size));
    let allocated = metadata.blocks().saturating_mul(BLOCK);
    found.allocated = found.allocated.saturating_add(allocated);
    found.largest = found.largest.max(size);
}

/// Bytes that are neither hole nor unwritten, by SEEK_DATA and SEEK_HOLE (lseek(2));
/// all, where the file system knows no holes.
fn data(file: &File, size: u64) -> u64 {
    let (mut at, mut data) = (0, 0_u64);
    for _ in 0..MOST_RUNS {
        // ENXIO: nothing but a hole is left.
        let Ok(start) = seek(file, SeekFrom::Data(at)) else { return data };
        let Ok(end) = seek(file, SeekFrom::Hole(start)) else { break };
        if start >= size || end <= start {
            return data;
        }
        data = data.saturating_add(end.min(size) - start);
        at = end;
        if at >= size {
            return data;
        }
    }
    data.saturating_add(size.saturating_sub(at))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn holes_are_no_data() {
        let directory = tempfile::tempdir().expect("temp");
        std::fs::create_dir(directory.path().join("inner")).expect("directory");
        let sparse = File::create(directory.path().join("inner/sparse")).expect("file");
        sparse.set_len(64 << 20).expect("size");
        sparse.write_all_at(&[1; 4096], 32 << 20).expect("write");
        std::fs::write(directory.path().join("full"), vec![1; 1 << 20]).expect("file");
        std::fs::write(directory.path().join("empty"), "").expect("file");
        std::os::unix::fs::symlink(directory.path(), directory.path().join("cycle")).expect("link");
        let mut space = before(directory.path()).expect("space");
        close(&mut space, directory.path());
        let found = space.files.expect("files");
        assert_eq!((found.files, found.bytes), (3, 65 << 20));
        assert_eq!(found.largest, 64 << 20);
        // A file system that knows no holes takes all for data.
        let mib = found.data >> 20;
        assert!(mib == 1 || mib == 65, "{found:?}");
        assert!(space.used_after.is_some_and(|used| used <= space.bytes));
        // One file alone, and one that is gone.
        let [full, gone] = ["full", "gone"].map(|name| directory.path().join(name));
        let one = file_data([full.as_path(), gone.as_path()]);
        assert_eq!((one.files, one.bytes, one.data), (1, 1 << 20, 1 << 20));
    }

    #[test]
    fn missing_paths_take_no_space() {
        assert_eq!(before(Path::new("/no/such/directory")), None);
        assert_eq!(files(Path::new("/no/such/directory")), FileData::default());
    }
}

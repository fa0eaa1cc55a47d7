//! Large files on real file systems, laid out over a share of them without being written there.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use disklab_cell::{Caches, WorkloadPlan};
use disklab_config::Node;
use disklab_exec::{Executor, Interrupt};
use disklab_source::Source;
use disklab_workload::{Context, FileSpread, WorkContext, read_workload};

/// The drive: a sparse file.
const DRIVE: u64 = 64 << 30;

/// A file system on a loop device, mounted; all goes when this is dropped.
struct Mounted {
    directory: tempfile::TempDir,
    node: String,
}

fn succeeds(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Mounted {
    fn new(mkfs: &str, options: &[&str], mount: &str) -> Option<Self> {
        let directory = tempfile::tempdir().expect("temp");
        let image = directory.path().join("image");
        std::fs::File::create(&image).and_then(|f| f.set_len(DRIVE)).expect("sparse");
        let image = image.display().to_string();
        let Some(node) = succeeds("losetup", &["--find", "--show", &image]) else {
            eprintln!("skipped: needs root and loop devices");
            return None;
        };
        let mounted = Self { directory, node };
        let made = succeeds(mkfs, &[options, &[&mounted.node]].concat()).and_then(|_| {
            std::fs::create_dir(mounted.root()).expect("directory");
            let root = mounted.root().display().to_string();
            succeeds("mount", &["-o", mount, &mounted.node, &root])
        });
        if made.is_none() {
            eprintln!("skipped: needs {mkfs} and its file system");
        }
        made.map(|_| mounted)
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("mnt")
    }

    /// Where the pieces of a file lie, in bytes: begin and end of each.
    fn extents(&self, file: &Path) -> Vec<(u64, u64)> {
        let text = succeeds("filefrag", &["-v", "-b1", &file.display().to_string()]);
        let number = |text: &str| text.trim().trim_end_matches('.').parse::<u64>().ok();
        let extent = |line: &str| {
            let fields: Vec<&str> = line.split(':').collect();
            number(fields.first()?)?;
            let (from, to) = fields.get(2)?.split_once("..")?;
            Some((number(from)?, number(to)?))
        };
        text.expect("filefrag").lines().filter_map(extent).collect()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = succeeds("umount", &["-q", &self.root().display().to_string()]);
        let _ = succeeds("losetup", &["--detach", &self.node]);
    }
}

/// Prepares a job that reads a file of 256 MiB, over half of the file system; returns the file, over
/// how many bytes it is said to lie, and the notes.
fn prepared(root: &Path, seed: u64) -> (PathBuf, Option<u64>, String) {
    let text = "rw = 'randread'\nbs = '4k'\nsize = '256M'\nfilename = 'f'\n";
    let source = Arc::new(Source { name: "test.toml".to_owned(), text: text.to_owned() });
    let body = Node::parse(&source).expect("TOML");
    let spec = WorkloadPlan {
        id: "w".to_owned(),
        kind: "fio".to_owned(),
        body,
        caches: Caches::Keep,
        events: None,
    };
    let workload = read_workload(&spec, &Context::new(1.0, "/nowhere")).expect("a workload");
    let executor = Executor::new(Interrupt::new());
    let mut context = WorkContext {
        executor: &executor,
        directory: root,
        device: None,
        device_is_ata: false,
        watched: Vec::new(),
        seed,
        caches: Caches::Keep,
        remount: None,
        caretaker: None,
        emptied: false,
        spread: Some(FileSpread { share: 0.5 }),
        spread_over: None,
        events: &[],
        steps: Vec::new(),
        files_read: Vec::new(),
        notes: Vec::new(),
        caches_seconds: 0.0,
        background_bytes: None,
    };
    workload.prepare(&mut context).expect("prepared");
    let notes: Vec<String> = context.notes.iter().map(|note| note.text.clone()).collect();
    (root.join("f"), context.spread_over.map(|over| over.0), notes.join("; "))
}

/// The file lies all over half of the drive, is written, and nothing else is.
#[test]
fn files_lie_over_half_of_the_file_system() {
    let quietly = ["-q", "-f"].as_slice();
    for (mkfs, options) in
        [("mkfs.ext4", ["-q", "-F"].as_slice()), ("mkfs.xfs", quietly), ("mkfs.btrfs", quietly)]
    {
        let Some(mounted) = Mounted::new(mkfs, options, "rw") else { continue };
        let root = mounted.root();
        let image = mounted.directory.path().join("image");
        let written = || image.metadata().expect("image").blocks() * 512;
        let before = written();
        let (file, over, notes) = prepared(&root, 7);
        let over = over.unwrap_or_else(|| panic!("{mkfs}: {notes}"));
        assert!(over > DRIVE / 5 * 2 && over <= DRIVE / 2, "{mkfs}: {over}");
        // 16 parts of the drive, of which the pieces lie in half, whatever part is the first.
        let extents = mounted.extents(&file);
        let parts: std::collections::BTreeSet<u64> =
            extents.iter().map(|(from, _)| from / (DRIVE / 16)).collect();
        assert!(parts.len() >= 7, "{mkfs}: {extents:?}");
        assert!(extents.iter().all(|(from, to)| to - from <= 64 << 20), "{mkfs}: {extents:?}");
        let content = std::fs::read(&file).expect("read");
        assert_eq!(content.len(), 256 << 20);
        assert!(content.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)), "{mkfs}");
        let grown = written().saturating_sub(before);
        assert!(grown < 512 << 20, "{mkfs}: {grown} bytes written, also between the pieces");
        if mkfs == "mkfs.ext4" {
            let node = mounted.node.trim_start_matches("/dev/");
            let knob = |name: &str| {
                std::fs::read_to_string(format!("/sys/fs/ext4/{node}/{name}")).expect("sysfs")
            };
            assert_eq!(
                (knob("mb_stream_req").trim(), knob("mb_group_prealloc").trim()),
                ("16", "512")
            );
        }
    }
}

#[test]
fn another_seed_lays_a_file_out_elsewhere() {
    let extents = |seed| {
        let mounted = Mounted::new("mkfs.xfs", &["-q", "-f"], "rw")?;
        let (file, ..) = prepared(&mounted.root(), seed);
        Some(mounted.extents(&file))
    };
    let Some(first) = extents(7) else { return };
    assert_eq!(Some(&first), extents(7).as_ref());
    assert_ne!(Some(&first), extents(8).as_ref());
}

#[test]
fn file_systems_that_cannot_say_so() {
    let Some(mounted) = Mounted::new("mkfs.btrfs", &["-q", "-f"], "compress=zstd") else { return };
    let (_, over, notes) = prepared(&mounted.root(), 7);
    assert_eq!(over, None);
    assert!(notes.contains("in one place: what is reserved"), "{notes}");
}

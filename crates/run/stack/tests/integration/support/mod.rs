//! Loop devices for tests that touch real kernels.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use disklab_cell::parse_layers;
use disklab_config::{Node, Value};
use disklab_exec::{Executor, Interrupt, Invocation};
use disklab_source::{Location, Source, SourceError};
use disklab_stack::{
    LayerContext, Ledger, Machine, Made, Need, Stack, StackError, mounts, needs_words, undo,
};
use disklab_study::StackSpec;
use disklab_units::Bytes;
use tempfile::TempDir;

/// Whether this machine has what a test needs; says so where not.
pub fn can(needs: &[Need]) -> bool {
    let missing = Machine::here().missing(needs);
    if !missing.is_empty() {
        eprintln!("skipped: {}", needs_words(&missing));
    }
    missing.is_empty()
}

/// What every test with loop devices needs.
pub const LOOPS: [Need; 2] = [Need::Root, Need::Loop];

/// A stack on this many drives, as a study would have it.
pub fn spec(text: &str, drives: usize) -> Result<StackSpec, SourceError> {
    let source = Arc::new(Source { name: "test.toml".to_owned(), text: text.to_owned() });
    let place = Location { source, span: 0..text.len() };
    let node = Node { value: Value::Text(text.to_owned()), place: place.clone() };
    Ok(StackSpec {
        id: "test".to_owned(),
        layout: "test".to_owned(),
        file_system: String::new(),
        layers: parse_layers(&node)?,
        drives: (0..drives).collect(),
        write_cache: None,
        host_cache: None,
        place,
    })
}

/// A stack, understood.
pub fn stack(text: &str, drives: usize) -> Stack {
    spec(text, drives).and_then(|spec| Stack::parse(&spec)).unwrap_or_else(|e| panic!("{e}"))
}

/// Files as drives, in a directory of their own. All goes when it goes, also when
/// a test fails.
pub struct LoopFixture {
    pub directory: TempDir,
    pub state: PathBuf,
    pub executor: Executor,
    pub ledger: Ledger,
    pub drives: Vec<PathBuf>,
    pub notes: Vec<(String, String)>,
    number: u32,
}

static FIXTURES: AtomicU32 = AtomicU32::new(0);

impl LoopFixture {
    /// `count` sparse drives.
    pub fn new(count: usize, size: Bytes) -> Self {
        let directory = tempfile::Builder::new().prefix("disklab fixture").tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let state = directory.path().join("state");
        let ledger = Ledger::open(&state).expect("ledger");
        let (drives, notes) = (Vec::new(), Vec::new());
        let number = FIXTURES.fetch_add(1, Ordering::Relaxed);
        let mut fixture = Self { directory, state, executor, ledger, drives, notes, number };
        for number in 1..=count {
            let drive = fixture.attach(&format!("drive{number}"), size);
            fixture.drives.push(drive);
        }
        fixture
    }

    /// A sparse file, attached to a loop device.
    pub fn attach(&mut self, name: &str, size: Bytes) -> PathBuf {
        let path = self.path().join(name);
        let file = self.ledger.create_file(&path).expect("file");
        file.set_len(size.0).expect("size");
        self.ledger.enter(undo::DetachLoop(path.clone())).expect("enter");
        let losetup = Invocation::new("losetup").args(["--find", "--show"]).arg(&path);
        let done = self.executor.check(&losetup).expect("losetup");
        let device = PathBuf::from(done.text().trim());
        // Write protection outlasts a detach, and other tests may have set it.
        output("blockdev", &["--setrw", &device.display().to_string()]);
        device
    }

    /// The directory, as the kernel shows it.
    pub fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().expect("path")
    }

    /// Makes a stack on all drives.
    pub fn make(&mut self, stack: &Stack) -> Result<Made, StackError> {
        self.build(|drives, context| stack.make(drives, context))
    }

    /// Makes or assembles a stack on all drives.
    pub fn build(
        &mut self,
        how: impl FnOnce(&[PathBuf], &mut LayerContext<'_>) -> Result<Made, StackError>,
    ) -> Result<Made, StackError> {
        let directory = self.path().join("site");
        if !directory.exists() {
            self.ledger.enter(undo::RemoveDirectory(directory.clone())).expect("enter");
            std::fs::create_dir(&directory).expect("site");
        }
        let tag = format!("t{}x{}", std::process::id(), self.number);
        let mut context = LayerContext::new(&self.executor, &mut self.ledger, &directory, &tag, 7);
        let made = how(&self.drives, &mut context);
        self.notes = context.notes;
        made
    }

    /// Tears down all above `mark`, which must succeed.
    pub fn tear_down_to(&mut self, mark: usize) {
        let errors = self.ledger.tear_down_to(mark, &self.executor);
        assert!(errors.is_empty(), "{errors:?}");
    }

    /// What is mounted in the directory, and attached to files in it.
    pub fn leftovers(&self) -> Vec<String> {
        leftovers(&self.path())
    }
}

impl Drop for LoopFixture {
    fn drop(&mut self) {
        for error in self.ledger.tear_down_to(0, &self.executor) {
            eprintln!("{error}");
        }
    }
}

/// What is mounted below a directory, and attached to files below it.
pub fn leftovers(directory: &Path) -> Vec<String> {
    let mut leftovers: Vec<String> = mounts()
        .expect("mounts")
        .iter()
        .filter(|m| m.mount_point.starts_with(directory))
        .map(|m| m.mount_point.display().to_string())
        .collect();
    for entry in std::fs::read_dir("/sys/block").expect("sysfs").flatten() {
        if let Ok(text) = std::fs::read_to_string(entry.path().join("loop/backing_file"))
            && Path::new(text.trim_end()).starts_with(directory)
        {
            leftovers.push(text.trim_end().to_owned());
        }
    }
    leftovers
}

/// The standard output of a program that must succeed.
pub fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().expect(program);
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

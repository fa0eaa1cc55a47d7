//! What a layer is.

use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use disklab_cell::{Care, LayerSpec};
use disklab_exec::{ExecError, Executor, Finished, Invocation};
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::{
    Below, DeviceState, FormatWrites, InputKind, Inputs, KeptWrites, Ledger, Need, Remount, Shape,
    ShapeError, StackError, Undo, Volume, WindowedPass,
};

/// One step of a stack, with its options understood.
pub trait Layer: Debug + Send + Sync {
    /// What this layer makes of what lies below, without touching anything:
    /// capacity, redundancy, write cost.
    ///
    /// # Errors
    /// What it cannot be built on: 'raid5 needs at least 3 devices, got 2'.
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError>;

    /// The same, but with bytes written to the drives as the first so many bytes of data
    /// on it cause them, where that is not as on average.
    ///
    /// # Errors
    /// As for [`Layer::shape`].
    fn shape_of_first(&self, below: &Shape, _data: Bytes) -> Result<Shape, ShapeError> {
        self.shape(below)
    }

    /// What its other inputs change in what it `made` of its `data`: redundancy and write cost.
    ///
    /// # Errors
    /// What of them it cannot be built on.
    fn with_inputs(
        &self,
        made: Shape,
        _data: &Shape,
        _inputs: &Inputs<Volume>,
    ) -> Result<Shape, ShapeError> {
        Ok(made)
    }

    /// Whether it is a pool, which is exported and imported to empty its cache.
    fn is_imported(&self) -> bool {
        false
    }

    /// What the drives keep of what is written to it, besides the data as they are at last.
    fn kept_writes(&self) -> KeptWrites {
        KeptWrites::default()
    }

    /// What making it on `below` writes: little, or unknown, if a layer does not say.
    fn format_writes(&self, _below: &Shape, _state: DeviceState) -> FormatWrites {
        FormatWrites::default()
    }

    /// Whether what it leaves reads as zeros all over, if what lies below does or not.
    fn leaves_zeros(&self, below: bool) -> bool {
        below
    }

    /// Programs and kernel features it cannot do without.
    fn needs(&self) -> Vec<Need>;

    /// Makes it. Whatever must be torn down later is entered in the context's
    /// ledger before it is made.
    ///
    /// # Errors
    /// Where a program or a system call fails; the caller tears down.
    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError>;

    /// Finds on `below` what [`Layer::make`] made there, by its UUID or name, and starts it as an
    /// operator would after a crash. The context has the seed and the tag of then, and what is
    /// found is entered in its ledger as it was then.
    ///
    /// # Errors
    /// [`StackError::NotFound`] if it is not there, and those of programs and system calls; the
    /// caller tears down.
    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError>;

    /// What can be done to it while it is in use.
    fn care(&self) -> &'static [Care] {
        &[]
    }

    /// Declares its devices on this drive failed.
    ///
    /// # Errors
    /// [`StackError::NotByLayer`] if it cannot, [`StackError::NotOnDrive`] if it has none there.
    fn fail(&self, at: &LayerInUse<'_>, _drive: &Path) -> Result<(), StackError> {
        Err(at.cannot(Care::Fail))
    }

    /// Takes its devices on this drive out, and puts them in again as if they were new; what was on
    /// them is rebuilt meanwhile.
    ///
    /// # Errors
    /// As for [`Layer::fail`].
    fn replace(&self, at: &LayerInUse<'_>, _drive: &Path) -> Result<(), StackError> {
        Err(at.cannot(Care::Replace))
    }

    /// Has a hot spare take the place of its failed device on this drive, and returns when that is being
    /// rebuilt.
    ///
    /// # Errors
    /// As for [`Layer::fail`].
    fn take_spare(&self, at: &LayerInUse<'_>, _drive: &Path) -> Result<(), StackError> {
        Err(at.cannot(Care::TakeSpare))
    }

    /// Whether it is redundant, and how far a rebuild is.
    ///
    /// # Errors
    /// [`StackError::NotByLayer`] if it does not say.
    fn progress(&self, at: &LayerInUse<'_>) -> Result<RebuildProgress, StackError> {
        Err(at.cannot(Care::Rebuild))
    }

    /// Bytes per second that the kernel holds a rebuild to, if the layer has no [`Layer::passes`] that say so.
    ///
    /// # Errors
    /// Where that cannot be found out.
    fn rebuild_limit(&self, _at: &LayerInUse<'_>) -> Result<Option<Bytes>, StackError> {
        Ok(None)
    }

    /// The rebuilds of its devices on this drive, or the scrubs of all of them if there is none, that can
    /// begin anywhere; none if it passes what is used.
    ///
    /// # Errors
    /// [`StackError::NotOnDrive`] if it has none there.
    fn passes(
        &self,
        _at: &LayerInUse<'_>,
        _drive: Option<&Path>,
    ) -> Result<Vec<Box<dyn WindowedPass>>, StackError> {
        Ok(Vec::new())
    }

    /// Has all that it holds read and checked, and says what was found.
    ///
    /// # Errors
    /// [`StackError::NotByLayer`] if it cannot.
    fn scrub(&self, at: &LayerInUse<'_>) -> Result<String, StackError> {
        Err(at.cannot(Care::Scrub))
    }

    /// How many bytes are scrubbed, and of how many as far as it knows, while it is or was scrubbed; asked of
    /// layers without [`Layer::passes`].
    ///
    /// # Errors
    /// Where that cannot be found out.
    fn scrubbed(&self, _at: &LayerInUse<'_>) -> Result<Option<(Bytes, Bytes)>, StackError> {
        Ok(None)
    }

    /// Whether [`Layer::assemble`] finds its own devices among others.
    fn finds_its_devices(&self) -> bool {
        false
    }
}

/// What a layer gives to the next, or to the workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerOutput {
    /// Block devices.
    Devices(Vec<PathBuf>),
    /// A ZFS pool, mounted at a directory.
    Pool {
        /// As zpool(8) lists it.
        name: String,
        /// Where its root data set is mounted.
        directory: PathBuf,
    },
    /// A mounted file system.
    Directory(PathBuf),
}

impl LayerOutput {
    /// The kind of thing that it is.
    pub(crate) fn kind(&self) -> Below {
        match self {
            Self::Devices(devices) => Below::Devices(devices.len()),
            Self::Pool { .. } => Below::Pool,
            Self::Directory(_) => Below::Directory,
        }
    }
}

/// Whether a layer is redundant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RebuildProgress {
    /// As it was made.
    Redundant,
    /// It is being rebuilt; this share is done.
    Rebuilding(f64),
    /// It lacks redundancy, and nothing is being done about it.
    Degraded,
}

/// A layer of a stack that is in use.
#[derive(Debug)]
pub struct LayerInUse<'a> {
    /// Its name, for errors.
    pub layer: &'a str,
    /// What it made.
    pub output: &'a LayerOutput,
    /// Runs the programs.
    pub executor: &'a Executor,
}

impl LayerInUse<'_> {
    /// Runs a program and asks for exit code 0.
    ///
    /// # Errors
    /// [`StackError::Program`] with the layer and the end of what it printed.
    pub(crate) fn run(&self, invocation: &Invocation) -> Result<Finished, StackError> {
        self.executor.check(invocation).map_err(|source| self.program(source))
    }

    pub(crate) fn program(&self, source: ExecError) -> StackError {
        StackError::Program { layer: self.layer.to_owned(), source }
    }

    /// That the layer cannot do this.
    pub(crate) fn cannot(&self, care: Care) -> StackError {
        StackError::NotByLayer { layer: self.layer.to_owned(), what: care.words() }
    }

    /// That the layer has no device on this drive.
    pub(crate) fn not_on(&self, drive: &Path) -> StackError {
        StackError::NotOnDrive { layer: self.layer.to_owned(), drive: drive.to_owned() }
    }

    /// Sleeps for a moment.
    ///
    /// # Errors
    /// [`StackError::Program`] of an interrupt.
    pub(crate) fn sleep(&self) -> Result<(), StackError> {
        self.sleep_for(Duration::from_secs(1))
    }

    /// As [`LayerInUse::sleep`], for so long.
    pub(crate) fn sleep_for(&self, moment: Duration) -> Result<(), StackError> {
        self.executor.interrupt.sleep(moment).map_err(|stop| self.program(stop.into()))
    }
}

/// Where a stack is being made, and with what.
#[derive(Debug)]
pub struct LayerContext<'a> {
    /// Runs the programs.
    pub executor: &'a Executor,
    /// Remembers what to tear down.
    pub ledger: &'a mut Ledger,
    /// An existing, empty directory of this cell's own: mount points go here.
    pub directory: &'a Path,
    /// A short word of letters and digits, unique on this machine: names of
    /// arrays, volume groups and pools are made from it.
    pub tag: &'a str,
    /// Seed for UUIDs and keys.
    pub seed: u64,
    /// How many things of this stack are in the ledger; see [`LayerContext::number`].
    entered: usize,
    /// Notes for the sample: (what it is about, a sentence).
    pub notes: Vec<(String, String)>,
    /// ZFS pools that were made, bottom-up.
    pub pools: Vec<MadePool>,
    /// Whether the drives are known to read as zeros all over.
    pub drives_are_zero: bool,
    /// What is known of the devices below the layer that is being made.
    pub below: DeviceState,
    /// What was mounted so far, bottom-up, and how to mount it again.
    pub mounted: Vec<Remount>,
    /// What each layer on the way to the directory made, bottom-up.
    pub(crate) outputs: Vec<LayerOutput>,
    /// What else than data the layer is built on that is being made.
    pub(crate) inputs: Inputs<PathBuf>,
    /// How many of the devices below it are the layer's own.
    pub(crate) own: usize,
    /// Of which inputs its devices are, as `journal:`; empty on the way to the directory.
    pub(crate) branch: String,
}

/// A ZFS pool that was made, as ZFS tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadePool {
    /// As zpool(8) lists it.
    pub name: String,
    /// Base-2 logarithms of the sector sizes of its vdevs, each once.
    pub ashift: Vec<u8>,
    /// Its property `sync`.
    pub sync: Option<String>,
}

impl<'a> LayerContext<'a> {
    /// For a stack on drives of which nothing is known.
    pub fn new(
        executor: &'a Executor,
        ledger: &'a mut Ledger,
        directory: &'a Path,
        tag: &'a str,
        seed: u64,
    ) -> Self {
        Self {
            executor,
            ledger,
            directory,
            tag,
            seed,
            entered: 0,
            notes: Vec::new(),
            pools: Vec::new(),
            drives_are_zero: false,
            below: DeviceState::default(),
            mounted: Vec::new(),
            outputs: Vec::new(),
            inputs: Inputs::default(),
            own: 0,
            branch: String::new(),
        }
    }

    /// A number for the next thing with a name or UUID of its own: how many things of this stack are
    /// entered, and one. Making a stack and assembling it enter the same.
    pub(crate) fn number(&self) -> usize {
        self.entered + 1
    }

    /// The name of the thing with this number.
    pub(crate) fn name(&self, number: usize) -> String {
        format!("disklab-{}-{number}", self.tag)
    }

    /// Enters a thing of this stack in the ledger; see [`Ledger::enter`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn enter(&mut self, undo: impl Into<Undo>) -> Result<(), StackError> {
        self.enter_with(undo, Vec::new())
    }

    /// See [`Ledger::enter_with`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn enter_with(
        &mut self,
        undo: impl Into<Undo>,
        marks: Vec<String>,
    ) -> Result<(), StackError> {
        self.entered += 1;
        self.ledger.enter_with(undo, marks)
    }

    /// See [`Ledger::create_file`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn create_file(&mut self, path: &Path) -> Result<File, StackError> {
        self.entered += 1;
        self.ledger.create_file(path)
    }

    /// Runs a program for `layer` and asks for exit code 0.
    ///
    /// # Errors
    /// [`StackError::Program`] with the layer and the end of what it printed.
    pub fn run(&self, layer: &str, invocation: &Invocation) -> Result<Finished, StackError> {
        self.executor
            .check(invocation)
            .map_err(|source: ExecError| StackError::Program { layer: layer.to_owned(), source })
    }

    /// Adds a note to the sample.
    pub fn note(&mut self, about: &str, text: impl Into<String>) {
        self.notes.push((about.to_owned(), text.into()));
    }
}

/// A kind of layer: one line of the table.
#[derive(Debug)]
pub struct LayerKind {
    /// Its name in a study, such as `md-raid5`.
    pub name: &'static str,
    /// One line for `disklab list stacks`.
    pub summary: &'static str,
    /// Options and what they mean. Any other is refused, unless there is one
    /// called [`LayerKind::ANY_OPTION`].
    pub options: &'static [(&'static str, &'static str)],
    /// What it can be built on besides its data.
    pub inputs: &'static [InputKind],
    /// Understands the options. Without any, it must succeed: `disklab doctor`
    /// asks such a layer for its needs.
    pub parse: fn(&LayerSpec) -> Result<Box<dyn Layer>, SourceError>,
}

impl LayerKind {
    /// Means in [`LayerKind::options`] for every option not named there.
    pub const ANY_OPTION: &'static str = "*";
}

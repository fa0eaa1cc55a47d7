//! A run's directory.

use std::borrow::Borrow;
use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use disklab_cell::Cell;
use disklab_sample::{Sample, TraceEntry};
use disklab_study::MOST_CELLS;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::claim::safe_for_root;
use crate::database::connect;
use crate::directory::RunDirectory;
use crate::rows::{BadValue, MOST_SESSIONS};
use crate::schema::{DATABASE, LOCK, OLDEST, VERSION, tables};
use crate::unfinished::{self, UNFINISHED, UnfinishedRun};
use crate::untrusted::{self, Steps};
use crate::{CellRecord, CellState, DirectoryClaim, RunInfo, Session, StoreError, raw, rows};

/// A run, open. Readers may open it while it is being written.
#[derive(Debug)]
pub struct Run {
    /// All that is written goes there.
    pub(crate) directory: RunDirectory,
    pub(crate) connection: Connection,
    /// Restarted before each call.
    steps: Steps,
    /// Until all of the run is there. Dropped after the connection, and before the lock.
    unfinished: Option<UnfinishedRun>,
    /// Held by the one process that writes.
    lock: Option<File>,
}

impl Run {
    /// Makes a run in `directory` and locks it. The directory must be new, empty, or one that
    /// disklab has claimed, without a run.
    ///
    /// # Errors
    /// [`StoreError::NotEmpty`] if it contains what disklab did not put there; others if it
    /// contains a run already or cannot be written.
    pub fn create(directory: &Path, info: &RunInfo, cells: &[Cell]) -> Result<Self, StoreError> {
        Self::prepare(directory, info, cells)?.publish()
    }

    /// The same in a directory that is claimed already.
    ///
    /// # Errors
    /// As [`Run::create`], and [`StoreError::Moved`] if its name leads elsewhere by now.
    pub fn create_in(
        claim: &DirectoryClaim,
        info: &RunInfo,
        cells: &[Cell],
    ) -> Result<Self, StoreError> {
        Self::build(claim.directory().clone(), None, info, cells)?.publish()
    }

    /// Makes a run that is not there for others before [`Run::publish`]: if this process ends
    /// before, there is none, and the same can be made again.
    ///
    /// # Errors
    /// As [`Run::create`].
    pub fn prepare(directory: &Path, info: &RunInfo, cells: &[Cell]) -> Result<Self, StoreError> {
        if directory.join(DATABASE).exists() {
            return Err(StoreError::HoldsRun(directory.to_owned()));
        }
        let claim = DirectoryClaim::make(directory)?;
        Self::build(claim.directory().clone(), Some(claim), info, cells)
    }

    fn build(
        directory: RunDirectory,
        claim: Option<DirectoryClaim>,
        info: &RunInfo,
        cells: &[Cell],
    ) -> Result<Self, StoreError> {
        if !directory.is_still_there() {
            return Err(StoreError::Moved(directory.path().to_owned()));
        }
        let named = |error| directory.named(error);
        let lock = Some(take_lock(&directory)?);
        if directory.at(DATABASE).exists() {
            return Err(StoreError::HoldsRun(directory.path().to_owned()));
        }
        unfinished::clear(&directory.at("")).map_err(named)?;
        let unfinished = Some(UnfinishedRun::new(directory.clone(), claim));
        let path = directory.at(UNFINISHED);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let (mut connection, steps) = connect(&path, flags).map_err(named)?;
        let result = (|| {
            // Nothing of it counts before it is published, when all is written at once.
            connection.pragma_update(None, "synchronous", "OFF")?;
            let transaction = connection.transaction()?;
            transaction.execute_batch(&tables(VERSION))?;
            rows::insert_info(&transaction, info)?;
            for cell in cells {
                rows::insert_cell(&transaction, cell)?;
            }
            transaction.commit()
        })();
        result.map_err(StoreError::sqlite(&path)).map_err(named)?;
        Ok(Self { directory, connection, steps, unfinished, lock })
    }

    /// All of the run is there: gives it to others. Does nothing to one that is there already.
    ///
    /// # Errors
    /// [`StoreError`] if its database cannot be closed, renamed or opened again; in the first two
    /// cases, there is no run.
    pub fn publish(self) -> Result<Self, StoreError> {
        if self.unfinished.is_none() {
            return Ok(self);
        }
        // What is not published goes before the lock.
        let Self { directory, connection, lock, unfinished, .. } = self;
        let named = |error| directory.named(error);
        let (from, to) = (directory.at(UNFINISHED), directory.at(DATABASE));
        connection.close().map_err(|(_, e)| named(StoreError::sqlite(&from)(e)))?;
        File::open(&from)
            .and_then(|database| database.sync_all())
            .and_then(|()| std::fs::rename(&from, &to))
            .map_err(StoreError::io("cannot make", &to))
            .map_err(named)?;
        unfinished.into_iter().for_each(UnfinishedRun::keep);
        let (connection, steps) = connect(&to, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(named)?;
        Ok(Self { directory, connection, steps, unfinished: None, lock })
    }

    /// The name of its database.
    fn database(&self) -> &'static str {
        if self.unfinished.is_some() { UNFINISHED } else { DATABASE }
    }

    /// Opens a run for reading.
    ///
    /// # Errors
    /// Where there is none, or it is not readable. [`StoreError::UnknownSchema`] and
    /// [`StoreError::UnknownJournal`] if reading it could do more than read it.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let run = Self::open_checked(RunDirectory::to_read(directory)?)?;
        run.connection.pragma_update(None, "query_only", true).map_err(run.sqlite())?;
        Ok(run)
    }

    fn open_checked(directory: RunDirectory) -> Result<Self, StoreError> {
        let path = existing(&directory)?;
        let open = || {
            untrusted::check_side_files(&path)?;
            // Read-write where possible: only then can SQLite roll back what a
            // killed writer left half done.
            let (connection, steps) = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)
                .or_else(|_| connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY))?;
            let shown = directory.path().join(DATABASE);
            check_version(&shown, &connection)?;
            untrusted::check_schema(&shown, &connection)?;
            Ok((connection, steps))
        };
        let (connection, steps) = open().map_err(|error| directory.named(error))?;
        Ok(Self { directory, connection, steps, unfinished: None, lock: None })
    }

    /// Opens a run to resume it, and clears away the raw outputs of cells
    /// that were cut off.
    ///
    /// # Errors
    /// As [`Run::open`], and where another process is writing it, or it is of several machines.
    pub fn resume(path: &Path) -> Result<Self, StoreError> {
        existing(&RunDirectory::to_read(path)?)?;
        safe_for_root(path)?;
        let directory = RunDirectory::to_write(path)?;
        let lock = take_lock(&directory)?;
        let mut run = Self::open_checked(directory)?;
        if check_version(&path.join(DATABASE), &run.connection)? != VERSION {
            return Err(StoreError::ReadOnlyFormat(path.to_owned()));
        }
        if !run.info()?.machines.is_empty() {
            return Err(StoreError::OfMachines(path.to_owned()));
        }
        run.lock = Some(lock);
        let cleared = raw::clear_unfinished(&run.directory.at(""), &run.cells()?);
        cleared.map_err(|error| run.directory.named(error))?;
        Ok(run)
    }

    /// The run's directory, open.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// The run's directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The directory of a cell's raw outputs, relative to the run's; none if it is not there.
    pub fn outputs(&self, cell: &Cell) -> Option<String> {
        raw::outputs(&self.directory.at(""), cell)
    }

    /// Whether the run is still where it was opened: its directory may have been deleted or
    /// moved since, or a link put in its place.
    pub fn is_still_there(&self) -> bool {
        self.directory.is_still_there() && self.directory.at(self.database()).is_file()
    }

    /// What the run is.
    ///
    /// # Errors
    /// [`StoreError::OtherVersion`] if it has a setting that this version does not know.
    pub fn info(&self) -> Result<RunInfo, StoreError> {
        self.steps.restart();
        let text: String = self
            .connection
            .query_row("SELECT info FROM run", [], |row| row.get(0))
            .map_err(self.sqlite())?;
        serde_json::from_str(&text)
            .map_err(|source| StoreError::OtherVersion { path: self.path().to_owned(), source })
    }

    /// All cells, in order.
    ///
    /// # Errors
    /// [`StoreError::BadCell`] at the first cell with a value that disklab does not write,
    /// [`StoreError::TooManyRows`] if it has more cells than a run, [`StoreError::Sqlite`] if the
    /// database is damaged.
    pub fn cells(&self) -> Result<Vec<CellRecord>, StoreError> {
        self.steps.restart();
        let cells = rows::cells(&self.connection).map_err(self.sqlite())?;
        let cells = cells.map_err(|BadValue { cell, column, value }| StoreError::BadCell {
            path: self.path().to_owned(),
            cell,
            column,
            value,
        })?;
        if cells.len() as u64 > MOST_CELLS {
            let path = self.path().join(self.database());
            return Err(StoreError::TooManyRows { path, rows: "cells", most: MOST_CELLS });
        }
        Ok(cells)
    }

    /// All starts of the program on this run.
    ///
    /// # Errors
    /// [`StoreError::BadSession`] at the first that cannot be read, [`StoreError::TooManyRows`] if
    /// they are more than a run's, [`StoreError::Sqlite`] if the database is damaged.
    pub fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        self.steps.restart();
        let texts = rows::sessions(&self.connection).map_err(self.sqlite())?;
        if texts.len() > MOST_SESSIONS {
            let path = self.path().join(self.database());
            let most = MOST_SESSIONS as u64;
            return Err(StoreError::TooManyRows { path, rows: "starts of the program", most });
        }
        let read = |(index, text): (usize, &String)| {
            serde_json::from_str(text).map_err(|source| StoreError::BadSession {
                path: self.path().to_owned(),
                number: index + 1,
                source,
            })
        };
        texts.iter().enumerate().map(read).collect()
    }

    /// Calls `visit` with every finished cell and its sample, in order, one in
    /// memory at a time.
    ///
    /// # Errors
    /// [`StoreError`] at the first sample that is not one.
    pub fn for_each_sample(
        &self,
        mut visit: impl FnMut(&CellRecord, Sample),
    ) -> Result<(), StoreError> {
        let mut statement = self
            .connection
            .prepare("SELECT json FROM sample WHERE cell = ?1")
            .map_err(self.sqlite())?;
        for record in self.cells()? {
            if record.state != CellState::Done {
                continue;
            }
            self.steps.restart();
            let json: Option<String> = statement
                .query_row([record.cell.number], |row| row.get(0))
                .optional()
                .map_err(self.sqlite())?;
            let number = record.cell.number;
            let path = || self.path().to_owned();
            let json = json.ok_or_else(|| StoreError::NoSample { path: path(), cell: number })?;
            let sample = serde_json::from_str(&json).map_err(|source| StoreError::BadSample {
                path: path(),
                cell: number,
                source,
            })?;
            visit(&record, sample);
        }
        Ok(())
    }

    /// Notes that the program was started on this run.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], or SQLite's complaint.
    pub fn begin_session(&self, session: &Session) -> Result<(), StoreError> {
        self.writable()?;
        rows::insert_session(&self.connection, session).map_err(self.sqlite())
    }

    /// Adds cells that wait: the next blocks of a campaign that decides as it goes.
    ///
    /// # Errors
    /// Where they cannot be written, or one of them is there already.
    pub fn append(&mut self, cells: &[Cell]) -> Result<(), StoreError> {
        self.writable()?;
        let path = self.path().join(self.database());
        let result = (|| {
            let transaction = self.connection.transaction()?;
            for cell in cells {
                rows::insert_cell(&transaction, cell)?;
            }
            transaction.commit()
        })();
        result.map_err(StoreError::sqlite(&path))
    }

    /// Keeps what came of a campaign that decided as it went, as JSON, in place of what
    /// was kept before.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], or SQLite's complaint.
    pub fn keep_outcome(&self, json: &str) -> Result<(), StoreError> {
        self.writable()?;
        rows::keep_outcome(&self.connection, json).map_err(self.sqlite())
    }

    /// What [`Run::keep_outcome`] kept; none where nothing was, or not yet.
    ///
    /// # Errors
    /// [`StoreError::Sqlite`] if the database is damaged.
    pub fn outcome(&self) -> Result<Option<String>, StoreError> {
        self.steps.restart();
        rows::outcome(&self.connection).map_err(self.sqlite())
    }

    /// A fresh directory for the raw outputs of a cell that is about to run. The path is valid while
    /// the run is open ([`RunDirectory::at`]).
    ///
    /// # Errors
    /// [`StoreError`] if the cell's directory for raw outputs cannot be made, or the run's is no
    /// longer where it was.
    pub fn begin_cell(&self, cell: &Cell) -> Result<PathBuf, StoreError> {
        self.writable()?;
        if !self.directory.is_still_there() {
            return Err(StoreError::Moved(self.path().to_owned()));
        }
        raw::begin(&self.directory.at(""), cell).map_err(|error| self.directory.named(error))
    }

    fn finish_outputs(&self, cell: &Cell, trace: &[TraceEntry]) -> Result<(), StoreError> {
        let finished = raw::finish(&self.directory.at(""), cell, trace);
        finished.map_err(|error| self.directory.named(error))
    }

    /// Records a finished cell: all of it, or nothing.
    ///
    /// # Errors
    /// Where it cannot be written, or the cell has ended already.
    pub fn record(&mut self, cell: &Cell, sample: &Sample, seconds: f64) -> Result<(), StoreError> {
        self.writable()?;
        self.finish_outputs(cell, &sample.trace)?;
        let json = to_json(cell, sample)?;
        let path = self.path().join(self.database());
        let result = (|| {
            let transaction = self.connection.transaction()?;
            rows::end_cell(&transaction, cell, None, seconds)?;
            rows::insert_sample(&transaction, cell, sample, &json)?;
            transaction.commit()
        })();
        result.map_err(StoreError::sqlite(&path))
    }

    /// Records many cells that have ended: all of them, or none. Each has a sample, or the
    /// reason why it failed; raw outputs have those that were begun. One transaction, because
    /// a disk is waited for at the end of each.
    ///
    /// # Errors
    /// Where they cannot be written, or one of them has ended already.
    pub fn record_all<'a, S: Borrow<Sample>>(
        &mut self,
        cells: impl IntoIterator<Item = (&'a Cell, Result<S, &'a str>)>,
    ) -> Result<(), StoreError> {
        self.writable()?;
        let path = self.path().join(self.database());
        let sqlite = StoreError::sqlite(&path);
        let directory = self.directory.clone();
        let transaction = self.connection.transaction().map_err(&sqlite)?;
        for (cell, result) in cells {
            self.steps.restart();
            let why = result.as_ref().err().copied();
            if raw::is_begun(&directory.at(""), cell).map_err(|e| directory.named(e))? {
                let trace = result.as_ref().map_or(&[][..], |sample| &sample.borrow().trace);
                let finished = raw::finish(&directory.at(""), cell, trace);
                finished.map_err(|error| directory.named(error))?;
            }
            rows::end_cell(&transaction, cell, why, 0.0).map_err(&sqlite)?;
            let Ok(sample) = result else { continue };
            let json = to_json(cell, sample.borrow())?;
            rows::insert_sample(&transaction, cell, sample.borrow(), &json).map_err(&sqlite)?;
        }
        transaction.commit().map_err(&sqlite)
    }

    /// Records that a cell failed, and why.
    ///
    /// # Errors
    /// Where it cannot be written, or the cell has ended already.
    pub fn fail(
        &mut self,
        cell: &Cell,
        error: &str,
        trace: &[TraceEntry],
        seconds: f64,
    ) -> Result<(), StoreError> {
        self.writable()?;
        self.finish_outputs(cell, trace)?;
        rows::end_cell(&self.connection, cell, Some(error), seconds).map_err(self.sqlite())
    }

    /// Puts failed cells back into the queue. Returns how many there were.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], or SQLite's complaint.
    pub fn retry_failed(&self) -> Result<usize, StoreError> {
        self.writable()?;
        rows::retry_failed(&self.connection).map_err(self.sqlite())
    }

    fn writable(&self) -> Result<(), StoreError> {
        if self.lock.is_some() {
            self.steps.restart();
            return Ok(());
        }
        Err(StoreError::ReadOnly(self.path().to_owned()))
    }

    pub(crate) fn sqlite(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        StoreError::sqlite(&self.path().join(self.database()))
    }
}

/// The database. A link is none: SQLite would keep its journal next to what that leads to.
fn existing(directory: &RunDirectory) -> Result<PathBuf, StoreError> {
    let path = directory.at(DATABASE);
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => Ok(path),
        Ok(_) => {
            let path = directory.path().join(DATABASE);
            Err(StoreError::Unexpected { path, expected: "regular file" })
        }
        Err(_) => Err(StoreError::NoRun(directory.path().to_owned())),
    }
}

fn to_json(cell: &Cell, sample: &Sample) -> Result<String, StoreError> {
    serde_json::to_string(sample)
        .map_err(|source| StoreError::SampleJson { cell: cell.number, source })
}

fn check_version(path: &Path, connection: &Connection) -> Result<i64, StoreError> {
    let version: i64 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(StoreError::sqlite(path))?;
    if (OLDEST..=VERSION).contains(&version) {
        return Ok(version);
    }
    if version == 0 {
        return Err(no_run_in(path, connection)?);
    }
    Err(StoreError::OtherFormat { path: path.to_owned(), format: version, known: VERSION })
}

/// Why a database without disklab's format is not one: what a crash between making the file
/// and writing into it leaves, or somebody else's.
fn no_run_in(path: &Path, connection: &Connection) -> Result<StoreError, StoreError> {
    let is_empty = untrusted::is_empty(connection).map_err(StoreError::sqlite(path))?;
    let path = path.to_owned();
    Ok(if is_empty { StoreError::Empty(path) } else { StoreError::OtherProgram(path) })
}

pub(crate) fn take_lock(directory: &RunDirectory) -> Result<File, StoreError> {
    let path = directory.at(LOCK);
    // Without waiting: under that name there may be a FIFO, which nobody reads.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .custom_flags(flags.bits() as i32)
        .open(&path);
    if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
        let path = directory.path().join(LOCK);
        return Err(StoreError::Unexpected { path, expected: "regular file" });
    }
    let file = file
        .map_err(StoreError::io("cannot make", &path))
        .map_err(|error| directory.named(error))?;
    let held = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    // The one who held it before may have removed it.
    if held && file.metadata().is_ok_and(|lock| lock.nlink() > 0) {
        return Ok(file);
    }
    Err(StoreError::BeingWritten(directory.path().to_owned()))
}

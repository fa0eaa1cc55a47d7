//! SQLite: commits of a database in the directory, then lookups, then a read of the whole table.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_exec::Interrupt;
use disklab_sample::{
    ContentProfile, Direction, Durability, FileSet, OperationKind, StepProfile, SyncCall, Task,
    TimeIn,
};
use disklab_source::SourceError;
use disklab_units::Bytes;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::{Connection, OpenFlags, params};

use crate::tally::Tally;
use crate::tree::sync_tree;
use crate::{
    Context, Cost, Damage, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind,
};

/// The database, in the directory of the cell.
const FILE: &str = "database.sqlite";

/// A page of a database: SQLite's default (sqlite.org/pragma.html#pragma_page_size).
const PAGE: Bytes = Bytes(4096);

/// What an entry of the index takes: two numbers and what tells their lengths
/// (sqlite.org/fileformat2.html), in pages that are two thirds full.
const INDEX_ROW: u64 = 16;
/// What SQLite keeps of a database in memory: its default (pragma cache_size, -2000).
const CACHE: Bytes = Bytes(2000 << 10);

/// What a row takes besides its body: its header, its keys, and its entry in the
/// index, whose pages are two thirds full.
const ROW_MORE: u64 = 48;

/// Rows of one transaction while the database is filled.
const FILL_ROWS: u64 = 10_000;

/// SQLite's virtual machine looks at the wish to stop each time it has done so many
/// operations: far less than a second.
const POLL_OPERATIONS: i32 = 10_000;

/// `PRAGMA journal_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Journal {
    Wal,
    Delete,
    Truncate,
}

/// `PRAGMA synchronous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Synchronous {
    Full,
    Normal,
}

const JOURNALS: [(&str, Journal); 3] =
    [("wal", Journal::Wal), ("delete", Journal::Delete), ("truncate", Journal::Truncate)];
const SYNCHRONOUS: [(&str, Synchronous); 2] =
    [("full", Synchronous::Full), ("normal", Synchronous::Normal)];

/// The word of a choice.
fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, v)| v == value).map_or("", |(word, _)| word)
}

pub(super) const SQLITE: WorkloadKind = WorkloadKind {
    name: "sqlite",
    summary: "SQLite: commits of a database, then lookups and a read of the whole table",
    fields: &[
        ("journal", "'wal', 'delete' (default, as SQLite's own) or 'truncate': its journal_mode"),
        ("synchronous", "'full' (default, as SQLite's own) or 'normal'"),
        ("rows", "rows that each commit adds (default 1)"),
        ("changes", "rows at random offsets that each commit changes (default 0)"),
        ("row-size", "bytes of a row, which do not compress (default 200)"),
        ("commits", "number of commits (default 2000); scaled"),
        ("runtime", "seconds after which no further commit begins (default: no limit)"),
        ("size", "size of the database before (default '16 MiB'); scaled"),
        ("reads", "number of lookups afterwards, at random offsets [default: 0]; scaled"),
        ("scan", "whether the whole table is read at last (default false)"),
    ],
    read,
};

#[derive(Debug)]
struct Sqlite {
    journal: Journal,
    synchronous: Synchronous,
    rows: u64,
    changes: u64,
    row_size: u64,
    commits: u64,
    runtime: Option<std::time::Duration>,
    size: Bytes,
    reads: u64,
    scan: bool,
    scale: f64,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the sqlite workload")?;
    let journal = fields.choice("journal", &JOURNALS)?.unwrap_or(Journal::Delete);
    let synchronous = fields.choice("synchronous", &SYNCHRONOUS)?.unwrap_or(Synchronous::Full);
    let rows = fields.integer("rows", 1..=1_000_000)?.unwrap_or(1);
    let changes = fields.integer("changes", 0..=1_000_000)?.unwrap_or(0);
    let row_size = fields.integer("row-size", 1..=1 << 20)?.unwrap_or(200);
    let commits = fields.integer("commits", 1..=1_000_000_000)?.unwrap_or(2000);
    let runtime = fields.duration("runtime")?;
    let size_node = fields.take("size");
    let size: Bytes = match size_node {
        None => Bytes::mib(16),
        Some(node) => node.as_text()?.parse().map_err(|e| node.error(format!("`size`: {e}")))?,
    };
    if let Some(node) = size_node.filter(|_| size > Bytes::gib(1024)) {
        return Err(node.error(format!("`size`: expected at most 1 TiB, found {size}")));
    }
    let reads = fields.integer("reads", 0..=1_000_000_000)?.unwrap_or(0);
    let scan = fields.boolean("scan")?.unwrap_or(false);
    fields.finish()?;
    let scale = context.scale;
    let scaled = |count: u64| Bytes(count).scaled(scale, Bytes(1)).0;
    Ok(Box::new(Sqlite {
        journal,
        synchronous,
        rows,
        changes,
        row_size,
        commits: scaled(commits),
        runtime,
        size: size.scaled(scale, Bytes::ZERO),
        reads: if reads == 0 { 0 } else { scaled(reads) },
        scan,
        scale,
    }))
}

impl Sqlite {
    /// Rows that lie in the database before.
    fn rows_before(&self) -> u64 {
        self.size.0 / (self.row_size + ROW_MORE)
    }

    fn added(&self) -> Bytes {
        Bytes((self.row_size + ROW_MORE).saturating_mul(self.rows)).saturating_mul(self.commits)
    }

    fn open(&self, path: &Path, interrupt: &Interrupt) -> Result<Connection, WorkloadError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed("open"))?;
        let interrupt = interrupt.clone();
        connection.progress_handler(POLL_OPERATIONS, Some(move || interrupt.is_raised()));
        let journal = word(&JOURNALS, &self.journal);
        let got: String = connection
            .pragma_update_and_check(None, "journal_mode", journal, |row| row.get(0))
            .map_err(failed("set the journal of"))?;
        if got != journal {
            // Where shared memory cannot be mapped, for example.
            return Err(WorkloadError::Journal { wanted: journal, got });
        }
        connection
            .pragma_update(None, "synchronous", word(&SYNCHRONOUS, &self.synchronous))
            .map_err(failed("set up"))?;
        Ok(connection)
    }

    fn fill(&self, path: &Path, seed: u64, interrupt: &Interrupt) -> Result<(), WorkloadError> {
        let mut connection = self.open(path, interrupt)?;
        connection
            .execute_batch(
                "create table entry (id integer primary key, place integer not null, \
                 body blob not null); create index entry_place on entry (place);",
            )
            .map_err(failed("make a table in"))?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut left = self.rows_before();
        while left > 0 {
            let count = left.min(FILL_ROWS);
            interrupt.check()?;
            self.add(&mut connection, count, 0, &mut random)
                .map_err(|e| stopped(interrupt, failed("fill")(e)))?;
            left -= count;
        }
        close(connection)
    }

    /// Adds rows in one transaction, whose places in the index are random, and changes some of
    /// those that were there before all commits.
    fn add(
        &self,
        connection: &mut Connection,
        rows: u64,
        changes: u64,
        random: &mut ChaCha8Rng,
    ) -> Result<(), rusqlite::Error> {
        let mut body = vec![0; self.row_size as usize];
        let transaction = connection.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("insert into entry (place, body) values (?1, ?2)")?;
            for _ in 0..rows {
                random.fill_bytes(&mut body);
                insert.execute(params![i64::from(random.random::<u32>()), body])?;
            }
            let mut change =
                transaction.prepare_cached("update entry set body = ?1 where id = ?2")?;
            for _ in 0..changes {
                random.fill_bytes(&mut body);
                let id = random.random_range(1..=self.rows_before().max(1)) as i64;
                change.execute(params![body, id])?;
            }
        }
        transaction.commit()
    }

    fn commit(
        &self,
        connection: &mut Connection,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<(StepOutcome, u64), WorkloadError> {
        // Others than the rows that are there.
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ u64::MAX);
        let mut tally = Tally::begin();
        let began = std::time::Instant::now();
        let mut done = 0;
        while done < self.commits && self.runtime.is_none_or(|limit| began.elapsed() < limit) {
            interrupt.check()?;
            tally
                .time((self.rows + self.changes) * self.row_size, || {
                    self.add(connection, self.rows, self.changes, &mut random)
                })
                .map_err(|e| stopped(interrupt, failed("commit to")(e)))?;
            done += 1;
        }
        Ok((tally.end(Direction::Write, OperationKind::Commit), done))
    }

    fn look_up(
        &self,
        path: &Path,
        rows: u64,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<StepOutcome, WorkloadError> {
        let connection = self.open(path, interrupt)?;
        let mut random = ChaCha8Rng::seed_from_u64(seed.wrapping_add(1));
        let mut tally = Tally::begin();
        {
            let mut select = connection
                .prepare("select length(body), body from entry where id = ?1")
                .map_err(failed("read"))?;
            for _ in 0..self.reads {
                interrupt.check()?;
                // Row ids count from 1, without gaps.
                let id = random.random_range(1..=rows.max(1)) as i64;
                let found: Vec<u8> = tally
                    .time(self.row_size, || select.query_row([id], |row| row.get(1)))
                    .map_err(|e| stopped(interrupt, failed("read")(e)))?;
                if found.len() as u64 != self.row_size {
                    let (found, written) = (found.len() as u64, self.row_size);
                    return Err(Damage::Row { id, found, written }.into());
                }
            }
        }
        let outcome = tally.end(Direction::Read, OperationKind::LookUp);
        close(connection)?;
        Ok(outcome)
    }

    /// Reads all rows in their order, as a report or a dump does.
    fn scan(&self, path: &Path, interrupt: &Interrupt) -> Result<StepOutcome, WorkloadError> {
        let connection = self.open(path, interrupt)?;
        let stop = |e| stopped(interrupt, failed("read")(e));
        let mut tally = Tally::begin();
        let mut bytes = 0;
        {
            let mut select =
                connection.prepare("select body from entry order by id").map_err(stop)?;
            let mut rows = select.query([]).map_err(stop)?;
            while let Some(row) = rows.next().map_err(stop)? {
                let body =
                    row.get_ref(0).and_then(|body| Ok(body.as_blob()?.len())).map_err(stop)?;
                bytes += body as u64;
            }
        }
        tally.add(1, bytes);
        let outcome = tally.end(Direction::Read, OperationKind::Io);
        close(connection)?;
        Ok(outcome)
    }

    /// Looks whether the database is whole and holds every row.
    fn check(&self, path: &Path, rows: u64, interrupt: &Interrupt) -> Result<(), WorkloadError> {
        let connection = self.open(path, interrupt)?;
        let verdict: String = connection
            .query_row("pragma integrity_check", [], |row| row.get(0))
            .map_err(|e| stopped(interrupt, failed("check")(e)))?;
        let count: u64 = connection
            .query_row("select count(*) from entry", [], |row| row.get(0))
            .map_err(|e| stopped(interrupt, failed("check")(e)))?;
        close(connection)?;
        if verdict != "ok" {
            return Err(Damage::Database(verdict).into());
        }
        if count != rows {
            return Err(Damage::Rows { found: count, committed: rows }.into());
        }
        Ok(())
    }
}

fn failed(what: &'static str) -> impl Fn(rusqlite::Error) -> WorkloadError {
    move |source| WorkloadError::Sqlite { what, source }
}

/// The error, or that the user asked to stop where that is why.
fn stopped(interrupt: &Interrupt, error: WorkloadError) -> WorkloadError {
    interrupt.check().map_or_else(WorkloadError::from, |()| error)
}

fn close(connection: Connection) -> Result<(), WorkloadError> {
    connection.close().map_err(|(_, e)| failed("close")(e))
}

impl Workload for Sqlite {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        // A page of the table, of the index, and the journal's copies of both; the
        // rows themselves; and twice that for pages that are half full.
        let before = self.size.saturating_mul(2);
        let added = self.added().saturating_mul(2);
        // Each row that is changed lies on a page of its own.
        let page_writes = PAGE.saturating_mul(4 + self.changes).saturating_mul(self.commits);
        // A write-ahead log is written over and over; a journal goes with its commit.
        let rows =
            self.rows.saturating_add(self.changes.saturating_mul(PAGE.0 / self.row_size + 1));
        let journal = Bytes::mib(8).max(Bytes(self.row_size.saturating_mul(rows)));
        let syncs: u64 = match (self.journal, self.synchronous) {
            // Only its checkpoints, one for each 1000 pages.
            (Journal::Wal, Synchronous::Normal) => self.commits / 100 + 1,
            (Journal::Wal, Synchronous::Full) => self.commits,
            // Journal, its header, database, and the end of the journal.
            (_, Synchronous::Full) => self.commits.saturating_mul(4),
            (_, Synchronous::Normal) => self.commits.saturating_mul(3),
        };
        // Each page that is filled is written and read again, for the log and for the
        // check. Rows go to random pages of the index, of which the cache holds a part.
        let rows = self.rows_before();
        let index = Bytes(rows.saturating_mul(INDEX_ROW));
        let missed = index.saturating_sub(CACHE).0 / INDEX_ROW;
        let pages = before.0 / PAGE.0;
        Cost {
            space: before + added + journal + Bytes::mib(1),
            content: before + added + journal,
            prewrite: before,
            random_write: page_writes + added,
            seeks: syncs.saturating_add(self.reads.saturating_mul(2)).saturating_add(
                if self.scan { self.changes.saturating_mul(self.commits) } else { 0 },
            ),
            small_writes: syncs,
            calls: pages.saturating_mul(4).saturating_add(missed.saturating_mul(3) / 2),
            fixed_seconds: 0.0,
            at_most_seconds: self
                .runtime
                .filter(|_| self.reads == 0 && !self.scan)
                .map(|limit| limit.as_secs_f64()),
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        // SQLite's own suffixes (sqlite.org/tempfiles.html).
        ["", "-journal", "-wal", "-shm"].map(|suffix| format!("{FILE}{suffix}")).to_vec()
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let commits = step == "commit";
        let durability = match (self.journal, self.synchronous) {
            // Only checkpoints are made durable.
            (Journal::Wal, Synchronous::Normal) => Durability::Nothing,
            _ => Durability::EachWrite(SyncCall::Fdatasync),
        };
        let planned = match step {
            "commit" => self.commits,
            "scan" => 1,
            _ => self.reads,
        };
        let task = match step {
            "commit" => Task::Commit,
            "scan" => Task::TableScan,
            _ => Task::LookUp,
        };
        let bytes = self.size + self.added();
        Some(StepProfile {
            read_share: (!commits).then_some(1.0),
            direct: Some(false),
            durability: commits.then_some(durability),
            content: commits.then_some(ContentProfile::Random),
            files: Some(FileSet { files: 1, bytes: bytes.0 }),
            operations: Some(planned).filter(|_| !commits || self.runtime.is_none()),
            time_in: Some(if commits { TimeIn::Writes } else { TimeIn::Reads }),
            jobs: Some(1),
            depth: Some(1),
            task: Some(task),
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let path = context.directory.join(FILE);
        self.fill(&path, context.seed, &context.executor.interrupt)?;
        sync_tree(context.directory)?;
        context.note(
            "sqlite",
            format!(
                "SQLite {} in disklab itself, journal_mode {}, synchronous {}, its defaults \
                 otherwise; {} rows of {} bytes before, {} added and {} changed by each commit",
                rusqlite::version(),
                word(&JOURNALS, &self.journal),
                word(&SYNCHRONOUS, &self.synchronous),
                self.rows_before(),
                self.row_size,
                self.rows,
                self.changes
            ),
        );
        if self.journal == Journal::Wal && self.synchronous == Synchronous::Normal {
            context.note(
                "sqlite",
                "with this journal, 'normal' makes only checkpoints durable: a power failure may \
                 take the last commits, though never the database",
            );
        }
        if self.scale != 1.0 {
            context.note(
                "sqlite",
                format!(
                    "scaled to {} commits and {} lookups, in a database of {}",
                    self.commits, self.reads, self.size
                ),
            );
        }
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let path: PathBuf = context.directory.join(FILE);
        let seed = context.seed;
        // It stays open during the step.
        context.empty_caches()?;
        let mut connection = self.open(&path, &context.executor.interrupt)?;
        let mut done = 0;
        context.step("commit", |executor| {
            let (outcome, commits) = self.commit(&mut connection, seed, &executor.interrupt)?;
            done = commits;
            Ok(outcome)
        })?;
        // What closing does, a last checkpoint, belongs to no commit.
        close(connection)?;
        if done < self.commits {
            context.note("sqlite", format!("time was up after {done} of {} commits", self.commits));
        }
        let rows = self.rows_before() + done * self.rows;
        if self.reads > 0 {
            context
                .step("look-up", |executor| self.look_up(&path, rows, seed, &executor.interrupt))?;
        }
        if self.scan {
            context.step("scan", |executor| self.scan(&path, &executor.interrupt))?;
        }
        self.check(&path, rows, &context.executor.interrupt)?;
        context.note("sqlite", "the database was checked afterwards: whole, and no row is missing");
        Ok(())
    }
}

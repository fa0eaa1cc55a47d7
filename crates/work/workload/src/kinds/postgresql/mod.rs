//! PostgreSQL: transactions of pgbench on a cluster in the directory.

mod output;
mod programs;
mod server;
#[cfg(test)]
mod tests;

use std::time::Duration;

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_exec::{Executor, Invocation};
use disklab_sample::{
    Direction, Durability, Figure, FileSet, OperationKind, StepProfile, SyncCall, Task, TimeIn,
};
use disklab_source::SourceError;
use disklab_units::Bytes;

use self::programs::Programs;
use self::server::{Cluster, HERE, PrivateDirectory, Server};
use crate::tally::figure;
use crate::tree::sync_tree;
use crate::{
    Context, Cost, OutputProblem, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind,
};

/// What a unit of pgbench's scale takes: 100,000 accounts of some 130 bytes, and
/// their index (`pgbench -i`, measured: 15.0 MB).
const SCALE_UNIT: Bytes = Bytes(16 << 20);

/// A new cluster: three template databases, and a segment of the write-ahead log
/// (initdb of PostgreSQL 15, measured: 39 MB).
const CLUSTER: Bytes = Bytes(48 << 20);

/// What the write-ahead log grows to before a checkpoint takes it back, and some
/// more: `max_wal_size`, 1 GB by default, is no hard limit.
const MOST_LOG: Bytes = Bytes(1280 << 20);

/// What the log may grow by in a second.
const LOG_PER_SECOND: Bytes = Bytes(50 << 20);

/// Length of a table's page (PostgreSQL's BLCKSZ).
const PAGE: u64 = 8192;

/// System calls, and first touches of memory, which the lab pays for like them: of
/// initdb and the servers' starts, of a page of the tables while they are filled, of a
/// transaction with its seven statements (from strace, and from the time that each
/// took in the lab at 25 µs a call).
const CLUSTER_CALLS: u64 = 80_000;
const PAGE_CALLS: u64 = 10;
const TRANSACTION_CALLS: u64 = 100;

/// Transactions per second of a hard disk, for which calls are predicted.
const TRANSACTIONS_PER_SECOND: u64 = 100;

/// pgbench's scripts, with what they do most.
const SCRIPTS: [(&str, Script); 3] = [
    ("tpcb-like", Script { name: "tpcb-like", direction: Direction::Write }),
    ("simple-update", Script { name: "simple-update", direction: Direction::Write }),
    ("select-only", Script { name: "select-only", direction: Direction::Read }),
];

#[derive(Debug, Clone, Copy)]
struct Script {
    name: &'static str,
    direction: Direction,
}

pub(super) const POSTGRESQL: WorkloadKind = WorkloadKind {
    name: "postgresql",
    summary: "PostgreSQL: transactions of pgbench",
    fields: &[
        ("scale", "pgbench's scale: 100,000 accounts, 15 MB, each (default 10); scaled"),
        ("clients", "how many ask at the same time (default 4)"),
        ("seconds", "how long (default 30); not scaled"),
        ("script", "'tpcb-like' (default), 'simple-update' or 'select-only'"),
        ("synchronous-commit", "whether a commit waits until it is safe (default true)"),
    ],
    read,
};

#[derive(Debug)]
struct Postgresql {
    scale: u64,
    scaled_from: Option<u64>,
    clients: u64,
    length: Duration,
    script: Script,
    synchronous: bool,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the postgresql workload")?;
    let asked = fields.integer("scale", 1..=1_000_000)?.unwrap_or(10);
    let clients = fields.integer("clients", 1..=90)?.unwrap_or(4);
    let seconds = fields.integer("seconds", 1..=7 * 24 * 3600)?.unwrap_or(30);
    let script = fields.choice("script", &SCRIPTS)?.unwrap_or(SCRIPTS[0].1);
    let synchronous = fields.boolean("synchronous-commit")?.unwrap_or(true);
    fields.finish()?;
    let scale = Bytes(asked).scaled(context.scale, Bytes(1)).0;
    Ok(Box::new(Postgresql {
        scale,
        scaled_from: (scale != asked).then_some(asked),
        clients,
        length: Duration::from_secs(seconds),
        script,
        synchronous,
    }))
}

impl Postgresql {
    fn settings(&self) -> Vec<String> {
        let on = if self.synchronous { "on" } else { "off" };
        vec![format!("synchronous_commit={on}")]
    }

    fn pgbench(&self, cluster: &Cluster) -> Invocation {
        cluster.program("pgbench").args(["-h", HERE, "-p", server::PORT, "-U", server::ROLE])
    }

    fn fill(&self, cluster: &Cluster, executor: &Executor) -> Result<(), WorkloadError> {
        let fill = self
            .pgbench(cluster)
            .args(["-i", "-q", "-s", &self.scale.to_string(), server::DATABASE])
            .save_as("pgbench-fill");
        executor.check(&fill)?;
        Ok(())
    }

    fn measured(
        &self,
        cluster: &Cluster,
        log: &PrivateDirectory,
        seed: u64,
        executor: &Executor,
    ) -> Result<(StepOutcome, u64), WorkloadError> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let run = self
            .pgbench(cluster)
            // Without a vacuum first: the tables are new.
            .args(["-n", "-M", "prepared", "-b", self.script.name])
            .args(["-c", &self.clients.to_string()])
            .args(["-j", &self.clients.min(processors).to_string()])
            .args(["-T", &self.length.as_secs().to_string()])
            .arg(format!("--random-seed={}", seed >> 1))
            .arg("-l")
            .arg(format!("--log-prefix={}", log.path_for_programs().join("log").display()))
            .arg(server::DATABASE)
            .inherits(log.handle())
            .save_as("pgbench");
        let finished = executor.check(&run)?;
        let output_of = output::output_of(&finished.text())?;
        let histogram = output::latencies(log.path())?;
        if histogram.count() != output_of.processed {
            let (reported, logged) = (output_of.processed, histogram.count());
            let problem = OutputProblem::Transactions { reported, logged };
            return Err(WorkloadError::output("pgbench", problem));
        }
        let elapsed = (output_of.processed as f64 / output_of.per_second * 1e9) as u64;
        let figure = Figure {
            operation: OperationKind::Transaction,
            ..figure(self.script.direction, 0, output_of.processed, elapsed, histogram)
        };
        Ok((StepOutcome::of(&finished, vec![figure]), output_of.failed))
    }
}

impl Workload for Postgresql {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        let mut all = Programs::missing();
        if programs::is_root() {
            all.push(("setpriv", "util-linux"));
        }
        all
    }

    fn cost(&self) -> Cost {
        let tables = SCALE_UNIT.saturating_mul(self.scale);
        let seconds = self.length.as_secs();
        // They are written to the log as well.
        let filled = CLUSTER + tables.saturating_mul(2).min(tables + MOST_LOG);
        let log_of = |rate: Bytes| match self.script.direction {
            Direction::Read => Bytes::ZERO,
            _ => rate.saturating_mul(seconds).min(MOST_LOG),
        };
        // On modelled drives, which are what content matters for, commits are slow.
        let (log, likely) = (log_of(LOG_PER_SECOND), log_of(Bytes::mib(8)));
        Cost {
            space: filled + log,
            content: filled + likely,
            prewrite: filled,
            // As fast as a hard disk writes small pieces that are safe.
            random_write: Bytes::kib(16).saturating_mul(100 * seconds).min(log),
            calls: CLUSTER_CALLS
                + PAGE_CALLS * (tables.0 / PAGE)
                + TRANSACTION_CALLS * TRANSACTIONS_PER_SECOND * seconds,
            // Starting and stopping the server twice.
            fixed_seconds: seconds as f64 + 6.0,
            at_most_seconds: Some(seconds as f64 + 10.0),
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![server::DIRECTORY.to_owned()]
    }

    fn profile(&self, _: &str) -> Option<StepProfile> {
        let writes = self.script.direction == Direction::Write;
        let durability = match self.synchronous {
            // Linux's default of `wal_sync_method`.
            true => Durability::EachWrite(SyncCall::Fdatasync),
            false => Durability::Nothing,
        };
        Some(StepProfile {
            direct: Some(false),
            durability: writes.then_some(durability),
            files: Some(FileSet { files: 1, bytes: SCALE_UNIT.saturating_mul(self.scale).0 }),
            time_in: Some(if writes { TimeIn::Writes } else { TimeIn::Reads }),
            jobs: u32::try_from(self.clients).ok(),
            depth: Some(1),
            task: Some(if writes { Task::Commit } else { Task::LookUp }),
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let cluster = Cluster::make(context.directory, context.executor)?;
        let server = Server::start(&cluster, &self.settings(), context.executor)?;
        self.fill(&cluster, context.executor)?;
        server.stop(context.executor)?;
        sync_tree(context.directory)?;
        if let Some(asked) = self.scaled_from {
            context.note(
                "postgresql",
                format!("pgbench's scale scaled from {asked} to {}", self.scale),
            );
        }
        context.note(
            "postgresql",
            format!(
                "PostgreSQL's own settings, but for connections by a socket only{}; pgbench's \
                 script {}, {} clients, prepared statements; a checkpoint comes every 5 minutes \
                 or each GB of log, so a short run has none",
                if self.synchronous { "" } else { " and synchronous_commit off" },
                self.script.name,
                self.clients
            ),
        );
        if let Some(user) = &cluster.user {
            context.note(
                "postgresql",
                format!("the server ran as the user {}, since PostgreSQL refuses root", user.name),
            );
        }
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let cluster = Cluster::at(context.directory)?;
        let seed = context.seed;
        // The log of transactions must not lie on the file system that is measured. A
        // guest's raw outputs may lie on the host, where it cannot change owners.
        let raw = context.executor.raw_directory().filter(|_| context.executor.guest().is_none());
        let log = cluster.private_directory(raw)?;
        // The server has files open; what it reads when it starts is warm.
        context.empty_caches()?;
        let server = Server::start(&cluster, &self.settings(), context.executor)?;
        let mut failed = 0;
        context.step("pgbench", |executor| {
            let (outcome, not_done) = self.measured(&cluster, &log, seed, executor)?;
            failed = not_done;
            Ok(outcome)
        })?;
        server.stop(context.executor)?;
        if failed > 0 {
            context.note("postgresql", format!("{failed} transactions failed and are not counted"));
        }
        Ok(())
    }
}

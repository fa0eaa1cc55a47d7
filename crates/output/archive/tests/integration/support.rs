//! Runs to add, and a server to add them to.

use std::path::{Path, PathBuf};
use std::process::Command;

use disklab_cell::{Levels, SeedSharing, order};
use disklab_options::{BenchKind, RunSettings};
use disklab_sample::{Direction, DriveState, Environment, Figure, Sample, Step};
use disklab_store::{Run, RunInfo};

/// A study of two cells.
const STUDY: &str = r#"
id = "nightly"
title = "Every night"
repeats = 3
[[drives]]
model = "wd40efrx-68wt0n0"
name = "disk"
count = 1
size = "1 GB"
[layouts]
single = { drives = 1 }
[file-systems]
ext4 = "ext4"
xfs = "xfs"
[[workloads]]
id = "write-1m"
dd = { direction = "write", bs = "1M", count = 4 }
"#;

/// One night's run.
pub struct Night {
    pub day: u32,
    pub bytes_per_second: f64,
    pub kernel: &'static str,
    /// How many of its six cells are done.
    pub done: usize,
}

impl Night {
    pub fn info(&self) -> RunInfo {
        let day = self.day;
        RunInfo {
            disklab: "0.2.0".into(),
            study: "nightly".into(),
            title: "Every night".into(),
            study_file: "nightly.toml".into(),
            study_text: STUDY.into(),
            bench: BenchKind::Lab.into(),
            bench_about: "modelled".into(),
            options: RunSettings::default(),
            scale: 1.0,
            repeats: 3,
            seed: 1,
            created: format!("2026-03-{day:02}T02:00:00Z").parse().expect("time"),
            stacks: Vec::new(),
            left_out: Vec::new(),
            reference: None,
            machines: Default::default(),
            environment: Environment::default(),
        }
    }

    /// Makes the run in `directory`, or continues it.
    pub fn run(&self, directory: &Path) -> PathBuf {
        let levels = ["single/ext4", "single/xfs"].map(|stack| Levels::new(stack, "write-1m"));
        let cells = order(&levels, 3, 1, SeedSharing::Shared);
        let mut run = match Run::resume(directory) {
            Ok(run) => run,
            Err(_) => Run::create(directory, &self.info(), &cells).expect("create"),
        };
        let ended = run.cells().expect("cells").iter().filter(|r| r.ended.is_some()).count();
        for cell in &cells[ended..self.done] {
            run.begin_cell(cell).expect("begin");
            // Repeats differ a little, stacks more.
            let noise = 1.0 + 0.001 * f64::from(cell.block);
            let factor = if cell.levels.stack.ends_with("xfs") { 2.0 } else { 1.0 };
            let rate = self.bytes_per_second * noise * factor;
            run.record(cell, &self.sample(rate), 1.0).expect("record");
        }
        directory.to_owned()
    }

    fn sample(&self, rate: f64) -> Sample {
        let figure = Figure {
            direction: Direction::Write,
            bytes: 4 << 20,
            operations: Some(4),
            elapsed_ns: 1_000_000_000,
            bytes_per_second: Some(rate),
            operations_per_second: None,
            latency: None,
            missed: None,
            operation: disklab_sample::OperationKind::Io,
            commit: None,
        };
        let drive = DriveState { drive: "disk".into(), ..DriveState::default() };
        Sample {
            steps: vec![Step { name: "write-1m".into(), figures: vec![figure], ..Step::default() }],
            environment: Environment {
                kernel: self.kernel.into(),
                drives: vec![drive],
                ..Environment::default()
            },
            ..Sample::default()
        }
    }
}

/// A server of PostgreSQL's own, with its data in a directory of the test; `None` if it is not
/// installed.
pub struct Server {
    programs: PathBuf,
    data: tempfile::TempDir,
}

impl Server {
    pub fn start() -> Option<Self> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let Some(programs) = versions.map(|v| v.path().join("bin")).find(|bin| bin.is_dir()) else {
            println!("skipped: needs postgresql");
            return None;
        };
        let data = tempfile::tempdir().expect("temp");
        let server = Self { programs, data };
        let root = rustix::process::geteuid().is_root();
        if root {
            // It refuses to be started by root.
            let chown = Command::new("chown").arg("postgres").arg(server.data.path()).status();
            assert!(chown.expect("chown").success());
        }
        let path = server.data.path().to_str().expect("UTF-8").to_owned();
        let cluster = format!("{path}/data");
        server.call("initdb", &["-D", &cluster, "-U", "disklab", "-A", "trust", "--no-sync"]);
        let options = format!("-c listen_addresses= -k {path} -c fsync=off");
        let log = format!("{path}/log");
        server.call("pg_ctl", &["-D", &cluster, "-w", "-l", &log, "-o", &options, "start"]);
        Some(server)
    }

    pub fn url(&self) -> String {
        let path = self.data.path().to_str().expect("UTF-8").replace('/', "%2F");
        format!("postgres://disklab@{path}/postgres")
    }

    fn call(&self, program: &str, arguments: &[&str]) {
        let program = self.programs.join(program);
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        let output = command.args(arguments).current_dir("/").stdin(std::process::Stdio::null());
        // The server keeps what it is given open.
        let status = output.stdout(std::process::Stdio::null()).status().expect("starts");
        assert!(status.success(), "{arguments:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let cluster = self.data.path().join("data");
        let cluster = cluster.to_str().expect("UTF-8");
        self.call("pg_ctl", &["-D", cluster, "-m", "immediate", "stop"]);
    }
}

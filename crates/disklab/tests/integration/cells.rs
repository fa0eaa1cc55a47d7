//! Cells as plans: carried out one by one, in processes of their own, on another engine than
//! that of `disklab run`, and what a plan may not ask for.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use disklab_bench::{
    BenchError, CellError, CellExecutor, CellOutcome, CellWatcher, EndedCell, ReportedFailure,
};
use disklab_cell::{Cell, CellPlan};
use disklab_exec::{Interrupt, Interrupted};
use disklab_lab_kernel::KernelError;
use disklab_runner::{Caller, FoundStudy, KernelBuilder, Observer, PlannedRun, RunOptions};
use disklab_sample::{CellResult, Environment, Sample};
use disklab_store::Run;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::lab_support::kernel::kernel;
use crate::lab_support::run::{answer as disklab, disklab as program, said};

/// With what lies next to a study, a drive file and a job file, and a host.
const STUDY: &str = r#"
id = "apart"
title = "Apart"
repeats = 2
[lab]
memory = "512 MiB"
[lab.host]
cache = "writeback"
memory = "1 GiB"
[[drives]]
model = "./mine.toml"
count = 2
size = "10 TB"
[layouts]
single = { drives = 1 }
mirror = { layers = "md-raid1", drives = 2, host-cache = "none" }
[file-systems]
ext4 = "ext4[noatime]"
[[workloads]]
id = "dd"
dd = { direction = "write", bs = "4k", count = 8, flags = "dsync" }
[[workloads]]
id = "job"
fio = { job-file = "own.fio" }
"#;

const JOB: &str = "[one]\nioengine=psync\ndirect=1\nrw=randread\nbs=4k\nsize=8m\nio_size=256k\n";

fn study_in(home: &Path) {
    let model = disklab_drive::SHIPPED.iter().find(|(id, _)| *id == "hdn721010ale604");
    let (_, text) = model.expect("a shipped model");
    for (name, text) in [("apart.toml", STUDY), ("own.fio", JOB), ("mine.toml", text)] {
        std::fs::write(home.join(name), text).expect("a file");
    }
}

/// Another engine: each cell is a process of `disklab cell`, one at a time two of them. The
/// first is killed in the middle, and begun again.
struct Processes {
    /// What knows the machine.
    local: Box<dyn CellExecutor>,
    directory: TempDir,
    running: VecDeque<CellProcess>,
    kills: usize,
}

struct CellProcess {
    cell: Cell,
    child: Child,
    out: PathBuf,
    outputs: PathBuf,
}

impl Processes {
    fn start(&self, cell: &Cell) -> (Child, PathBuf) {
        let number = cell.number.to_string();
        let (plan, out) = (self.directory.path().join(&number), self.directory.path().join("out"));
        let out = out.join(number);
        let mut command = program(self.directory.path());
        command.arg("cell").arg(plan).arg("--out").arg(&out).stderr(Stdio::null());
        (command.spawn().expect("it starts"), out)
    }
}

impl CellExecutor for Processes {
    fn environment(&self) -> Environment {
        self.local.environment()
    }

    fn has_room(&self, _: &CellPlan) -> bool {
        self.running.len() < 2
    }

    fn submit(&mut self, plan: CellPlan, outputs: &Path) -> Result<(), BenchError> {
        let file = self.directory.path().join(plan.cell.number.to_string());
        std::fs::write(file, serde_json::to_string(&plan).expect("JSON")).expect("a plan");
        let (child, out) = self.start(&plan.cell);
        let outputs = outputs.canonicalize().expect("outputs");
        self.running.push_back(CellProcess { cell: plan.cell, child, out, outputs });
        Ok(())
    }

    fn next(&mut self, _: &mut dyn CellWatcher) -> Result<Option<EndedCell>, BenchError> {
        while let Some(mut one) = self.running.pop_front() {
            // It has begun, and is not done.
            if self.kills > 0 && one.out.join("raw").exists() {
                self.kills -= 1;
                one.child.kill().expect("killed");
            }
            match one.child.try_wait().expect("waited for") {
                None => {
                    std::thread::sleep(Duration::from_millis(20));
                    self.running.push_back(one);
                }
                Some(status) if status.signal().is_some() => {
                    assert!(!one.out.join("result.json").exists(), "it was not done");
                    let (child, _) = self.start(&one.cell);
                    self.running.push_back(CellProcess { child, ..one });
                }
                Some(_) => return Ok(Some(ended(one))),
            }
        }
        Ok(None)
    }

    fn finish(&mut self) {}
}

fn ended(one: CellProcess) -> EndedCell {
    let text = std::fs::read_to_string(one.out.join("result.json")).expect("a result");
    let result: CellResult = serde_json::from_str(&text).expect("JSON");
    for file in std::fs::read_dir(one.out.join("raw")).expect("outputs").flatten() {
        std::fs::copy(file.path(), one.outputs.join(file.file_name())).expect("copied");
    }
    let outcome = CellOutcome {
        result: result.outcome.map_err(|why| CellError::Guest(ReportedFailure(why))),
        trace: result.trace,
        seconds: result.seconds,
    };
    EndedCell { cell: one.cell, outcome }
}

struct NoObserver;

impl Observer for NoObserver {}

fn caller(state: &Path) -> Caller {
    // The kernel is named: none is built.
    let plain = |_: &_, _, _: &_| Err(KernelError::from(Interrupted));
    let zfs = |_: &_, _: &_, _: &_| Err(KernelError::from(Interrupted));
    let kernels = KernelBuilder { plain, zfs };
    Caller { interrupt: Interrupt::new(), state: state.to_owned(), kernels }
}

/// Cells in order with their samples, and the names of their raw outputs.
fn recorded(run: &Run) -> Vec<(Cell, Sample, Vec<String>)> {
    let mut all = Vec::new();
    let outputs = |cell: &Cell| {
        let directory = run.path().join(run.outputs(cell).expect("raw outputs"));
        let names = std::fs::read_dir(directory).expect("a directory").flatten();
        let mut names: Vec<_> =
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    run.for_each_sample(|record, sample| {
        all.push((record.cell.clone(), sample, outputs(&record.cell)));
    })
    .expect("samples");
    all
}

#[test]
fn cells_of_another_engine_make_the_same_run() {
    let Some(kernel) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    study_in(home.path());
    let whole = disklab(home.path(), &["run", "apart.toml", "--seed", "7", "--out", "whole"]);
    assert!(matches!(whole.status.code(), Some(0 | 1)), "{}", said(&whole));

    let text = std::fs::read_to_string(home.path().join("apart.toml")).expect("the study");
    let study = disklab_study::load("apart.toml", &text).expect("valid");
    let found = FoundStudy { study, directory: home.path().to_owned() };
    let mut options = RunOptions { seed: Some(7), ..RunOptions::default() };
    options.settings.kernel = Some(kernel.clone());
    let (out, caller) = (home.path().join("apart"), caller(home.path()));
    let planned = PlannedRun::new(found, &options, &out, &caller).expect("planned");
    let open = planned.check().and_then(|checked| checked.begin(&out, true)).expect("begun");
    let directory = tempfile::tempdir().expect("temp");
    let processes = |local| {
        let running = VecDeque::new();
        Box::new(Processes { local, directory, running, kills: 1 }) as Box<dyn CellExecutor>
    };
    let mut open = open.with_executor(processes);
    assert_eq!(open.carry_out(&mut NoObserver).expect("carried out"), 0);

    let whole = Run::open(&home.path().join("whole")).expect("a run");
    let (one, other) = (recorded(&whole), recorded(&open.run));
    assert_eq!((one.len(), other.len()), (8, 8));
    for ((cell, sample, outputs), (other_cell, other, other_outputs)) in one.iter().zip(&other) {
        assert_eq!(cell, other_cell);
        let json = |sample: &Sample| serde_json::to_string_pretty(sample).expect("JSON");
        let (one, other) = (json(sample), json(other));
        let differs = one.lines().zip(other.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{cell:?}");
        assert_eq!(outputs, other_outputs, "{cell:?}");
    }
    let environments = [&whole, &open.run].map(|run| run.info().expect("info").environment);
    assert_eq!(environments[0], environments[1]);
}

/// The plans of the study, as `disklab plan --cells` writes them.
fn plans(home: &Path) -> Vec<(PathBuf, Value)> {
    let directory = home.join("plans");
    let arguments = ["plan", "apart.toml", "--seed", "7", "--cells", "plans"];
    let output = disklab(home, &arguments);
    assert!(output.status.success(), "{}", said(&output));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).expect("plans").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    let plan = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a plan");
        (path.clone(), serde_json::from_str(&text).expect("JSON"))
    };
    files.iter().map(plan).collect()
}

#[test]
fn a_plan_is_carried_out_once_and_needs_no_study() {
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    study_in(home.path());
    let plans = plans(home.path());
    assert_eq!(plans.len(), 8);
    assert!(plans.iter().any(|(_, plan)| plan["files"]["own.fio"] == JOB), "the job is in it");
    let elsewhere = tempfile::tempdir().expect("temp");
    let plan = plans[0].0.to_str().expect("a path");
    let first = disklab(elsewhere.path(), &["cell", plan, "--out", "r"]);
    assert!(first.status.success(), "{}", said(&first));
    let result = elsewhere.path().join("r/result.json");
    let before = std::fs::read(&result).expect("a result");
    let second = disklab(elsewhere.path(), &["cell", plan, "--out", "r", "--json"]);
    let answer: Value = serde_json::from_slice(&second.stdout).expect("JSON");
    assert_eq!((answer["was_done"].as_bool(), second.status.code()), (Some(true), Some(0)));
    assert_eq!(std::fs::read(&result).expect("a result"), before);
    // Another plan's result stays as it is.
    let other = plans[1].0.to_str().expect("a path");
    let refused = disklab(elsewhere.path(), &["cell", other, "--out", "r"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert_eq!(std::fs::read(&result).expect("a result"), before);
}

/// Puts `value` where `path` leads to in a plan.
fn with(plan: &Value, path: &str, value: Value) -> String {
    let mut plan = plan.clone();
    *plan.pointer_mut(path).unwrap_or_else(|| panic!("no {path}")) = value;
    plan.to_string()
}

#[test]
fn a_strangers_plan_is_refused_before_anything_is_touched() {
    let home = tempfile::tempdir().expect("temp");
    study_in(home.path());
    let plans = plans(home.path());
    let is_mirrored_dd = |(_, plan): &&(PathBuf, Value)| {
        plan["making"]["drives"][1].is_object() && plan["workload"]["kind"] == "dd"
    };
    let plan = &plans.iter().find(is_mirrored_dd).expect("such a plan").1;
    let photos = home.path().join("photos");
    std::fs::create_dir(&photos).expect("a directory");
    std::fs::write(photos.join("one.jpg"), "mine").expect("a file");
    let there = photos.to_str().expect("a path");
    let serial = plan["making"]["drives"][0]["kind"]["model"]["serial"].clone();
    let directory = json!({ "directory": there });
    let unknown = json!({ "direction": "write", "bs": "4k", "count": 1, "rm": "/" });
    let texts = [
        ("not a plan", "{".to_owned()),
        ("format", with(plan, "/format", json!(99))),
        ("number", with(plan, "/cell/number", json!(u32::MAX))),
        ("cannot be shown", with(plan, "/cell/stack", json!("a\u{1b}[2J"))),
        ("scale", with(plan, "/scale", json!(1e300))),
        ("estimate", with(plan, "/estimate/clock_seconds", json!(-1.0))),
        ("unknown layer", with(plan, "/making/stack/0/name", json!("rm"))),
        ("layers", with(plan, "/making/stack/0/name", json!("md/../../x"))),
        ("unknown field", with(plan, "/workload/body", unknown)),
        ("unknown kind", with(plan, "/workload/kind", json!("sh"))),
        ("memory", with(plan, "/making/machine/lab/memory", json!(1_u64 << 60))),
        ("does not know the machine", with(plan, "/making/machine/lab/machine", json!("/etc"))),
        ("`host-cache`: expected", with(plan, "/making/machine/lab/host/cache", json!("none; rm"))),
        ("sizes", with(plan, "/making/drives/0/size", json!(1))),
        ("serial", with(plan, "/making/drives/0/kind/model/serial", json!("a b"))),
        ("same serial", with(plan, "/making/drives/1/kind/model/serial", serial)),
        (
            "same name",
            with(plan, "/making/drives/1/name", plan["making"]["drives"][0]["name"].clone()),
        ),
        ("same position", with(plan, "/making/drives/1/position", json!(0))),
        (
            "unknown drive",
            with(plan, "/making/drives/0/kind/model", json!({"model": "x", "serial": "y"})),
        ),
        ("another kind", with(plan, "/making/machine", directory.clone())),
    ];
    let own: Value = serde_json::from_str(&with(plan, "/making/machine", directory)).expect("JSON");
    let own = with(&own, "/making/drives", json!([]));
    let named = [("--on 'dir:", own)];
    for (expected, text) in texts.into_iter().chain(named) {
        let file = home.path().join("stranger.json");
        std::fs::write(&file, text).expect("a plan");
        let output = disklab(home.path(), &["cell", "stranger.json", "--out", "result"]);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{expected}: {said}");
        assert!(said.contains(expected), "{expected}: {said}");
        assert!(!home.path().join("result").exists(), "{expected}");
    }
    let left: Vec<_> = std::fs::read_dir(&photos).expect("photos").flatten().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn a_result_goes_nowhere_else() {
    use std::os::unix::fs::symlink;
    let Some(_) = kernel() else { return };
    let home = tempfile::tempdir().expect("temp");
    study_in(home.path());
    let plan = plans(home.path())[0].0.to_str().expect("a path").to_owned();
    let photos = home.path().join("photos");
    std::fs::create_dir(&photos).expect("a directory");
    std::fs::write(photos.join("one.jpg"), "mine").expect("a file");
    // A directory of the user's.
    let refused = disklab(home.path(), &["cell", &plan, "--out", "photos"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    // Links under the names that a cell uses, in a directory that an earlier one has claimed.
    let first = disklab(home.path(), &["cell", &plan, "--out", "out"]);
    assert!(first.status.success(), "{}", said(&first));
    let out = home.path().join("out");
    std::fs::remove_file(out.join("result.json")).expect("removed");
    std::fs::remove_dir_all(out.join("raw")).expect("removed");
    symlink(&photos, out.join("raw")).expect("a link");
    symlink(photos.join("one.jpg"), out.join("result.json.unfinished")).expect("a link");
    let second = disklab(home.path(), &["cell", &plan, "--out", "out"]);
    assert_ne!(second.status.code(), Some(0), "{}", said(&second));
    std::fs::remove_file(out.join("raw")).expect("the link");
    let third = disklab(home.path(), &["cell", &plan, "--out", "out"]);
    assert!(third.status.success(), "{}", said(&third));
    assert_eq!(std::fs::read_to_string(photos.join("one.jpg")).expect("there"), "mine");
    assert_eq!(std::fs::read_dir(&photos).expect("photos").count(), 1);
}

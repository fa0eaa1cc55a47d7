//! A run in a directory, from its options to its samples, and how it ends.

use std::path::Path;

use disklab_bench::{BenchError, CellProgress, Phase};
use disklab_cell::Cell;
use disklab_comparisons::Ahead;
use disklab_decision::Recommendation;
use disklab_exec::Interrupt;
use disklab_lab_kernel::KernelError;
use disklab_runner::{
    BenchKind, Caller, FoundStudy, KernelBuilder, Observer, PlannedRun, ResumeRequest, Resumed,
    RunEstimate, RunOptions, RunnerError, StopOptions, UpcomingCells, resume,
};
use disklab_store::CellState;
use disklab_study::{Study, load};

const STUDY: &str = r#"
id = "tiny"
title = "Tiny"
[[drives]]
model = "m"
size = "1 GB"
[stacks]
a = { layers = "ext4", drives = 1 }
[[workloads]]
id = "dd"
dd = { direction = "write", bs = "4k", count = 4 }
[[workloads]]
id = "more"
dd = { direction = "write", bs = "4k", count = 8 }
"#;

/// Notes what it is told; raises the interrupt when a cell of this number begins.
#[derive(Default)]
struct Notes {
    lines: Vec<String>,
    ended: Vec<(String, bool)>,
    stop: Option<(u32, Interrupt)>,
    recommended: usize,
}

impl Observer for Notes {
    fn note(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn cells_begin(&mut self, cells: &UpcomingCells<'_>) {
        assert!(cells.next.iter().all(|cell| cell.seconds > 0.0), "{cells:?}");
    }

    fn cell_begins(&mut self, cell: &Cell) {
        if let Some((_, interrupt)) = self.stop.as_ref().filter(|(at, _)| *at == cell.number) {
            interrupt.raise();
        }
    }

    fn phase(&mut self, _: &Cell, _: Phase) {}

    fn cell_stands(&mut self, _: &Cell, _: CellProgress) {}

    fn cell_ends(&mut self, cell: &Cell, _: f64, error: Option<&str>) {
        self.ended.push((cell.levels.workload.clone(), error.is_none()));
    }

    fn ahead(&mut self, _: &Ahead) {}

    fn recommends(&mut self, _: &Study, _: &[Recommendation]) {
        self.recommended += 1;
    }

    fn cells_end(&mut self) {}
}

pub fn caller(home: &Path) -> Caller {
    Caller {
        interrupt: Interrupt::new(),
        state: home.join("state"),
        kernels: KernelBuilder {
            plain: |_, _, _| Err(KernelError::Machine("none here".to_owned())),
            zfs: |_, _, _| Err(KernelError::Machine("none here".to_owned())),
        },
    }
}

fn study() -> FoundStudy {
    FoundStudy { study: load("tiny.toml", STUDY).expect("study"), directory: ".".into() }
}

fn options(home: &Path) -> RunOptions {
    let directory = home.join("measured");
    std::fs::create_dir_all(&directory).expect("directory");
    RunOptions {
        bench: Some(BenchKind::Dir(directory)),
        repeats: Some(2),
        seed: Some(7),
        ..RunOptions::default()
    }
}

fn resume_request(home: &Path) -> ResumeRequest {
    ResumeRequest {
        directory: home.join("run"),
        options: RunOptions::default(),
        stop: StopOptions::default(),
        study: None,
        retry_failed: false,
        yes: false,
    }
}

#[test]
fn run_is_planned_carried_out_and_resumed() {
    let home = tempfile::tempdir().expect("temp");
    let (directory, caller) = (home.path().join("run"), caller(home.path()));
    let planned = PlannedRun::new(study(), &options(home.path()), &directory, &caller);
    let checked = planned.and_then(PlannedRun::check).expect("checked");
    assert_eq!(checked.plan.cells.len(), 4);
    // Not what the study asks of stacks.
    let title = &checked.plan.campaign.study.title;
    assert!(title.starts_with("How fast is /") && title.ends_with("/measured?"), "{title}");
    assert!(RunEstimate::new(&checked.plan).total().seconds > 0.0);
    assert!(!directory.exists() && !home.path().join("run/run.sqlite").exists());
    let mut open = checked.begin(&directory, false).expect("begun");
    let stop = Some((2, caller.interrupt.clone()));
    let mut notes = Notes { stop, ..Notes::default() };
    let stopped = open.carry_out(&mut notes);
    assert!(matches!(stopped, Err(RunnerError::Interrupted)), "{stopped:?}");
    let waiting = open.run.cells().expect("cells");
    let waiting = waiting.iter().filter(|record| record.state == CellState::Waiting).count();
    assert_eq!(waiting, 2);
    assert_eq!((notes.ended.len(), notes.recommended), (2, 1));
    drop(open);

    let caller = self::caller(home.path());
    let mut notes = Notes::default();
    let resumed = resume(&resume_request(home.path()), &caller, &mut notes).expect("resumed");
    let Resumed::Open(mut open) = resumed else { panic!("two cells are left") };
    assert_eq!(notes.lines.last().map(String::as_str), Some("2 of 4 cells are left"));
    assert_eq!(open.carry_out(&mut notes).expect("carried out"), 0);
    let records = open.run.cells().expect("cells");
    assert!(records.iter().all(|record| record.state == CellState::Done), "{records:?}");
    drop(open);
    let again = resume(&resume_request(home.path()), &caller, &mut notes).expect("resumed");
    assert!(matches!(again, Resumed::Done(_)));
    let left = std::fs::read_dir(home.path().join("measured")).expect("directory").count();
    assert_eq!(left, 0);
}

#[test]
fn run_that_is_refused_creates_nothing() {
    let home = tempfile::tempdir().expect("temp");
    let (directory, caller) = (home.path().join("run"), caller(home.path()));
    let refused = |change: fn(&mut RunOptions)| {
        let mut options = options(home.path());
        change(&mut options);
        let planned = PlannedRun::new(study(), &options, &directory, &caller);
        let error =
            planned.and_then(PlannedRun::check).and_then(|run| run.begin(&directory, false));
        assert!(!directory.exists());
        error.err().expect("refused")
    };
    let error = refused(|options| options.at_once = Some(2));
    assert!(matches!(error, RunnerError::Options(_)), "{error}");
    let error = refused(|options| options.settings.only = vec!["ddd".to_owned()]);
    assert!(matches!(error, RunnerError::Selection(_)), "{error}");
    let error = refused(|options| options.bench = Some(BenchKind::Dir("/no/such".into())));
    assert!(matches!(error, RunnerError::Directory { .. }), "{error}");
    let error = refused(|options| options.scale = Some(1e3 * 1e3 * 1e3));
    assert!(matches!(error, RunnerError::Plan(_)), "{error}");
    let names = BenchKind::Disks(vec!["/dev/disk/by-id/no-such-drive".to_owned()]);
    let mut options = options(home.path());
    options.bench = Some(names);
    let error = PlannedRun::new(study(), &options, &directory, &caller).err().expect("refused");
    assert!(matches!(error, RunnerError::Prepare(BenchError::Refused(_))), "{error}");
}

/// A study that names job files: the run keeps them, and is resumed without them.
#[test]
fn files_that_a_study_names_are_kept_in_the_run() {
    let home = tempfile::tempdir().expect("temp");
    let path = |name: &str| home.path().join(name);
    std::fs::write(path("a.fio"), "[a]\nrw=write\ninclude c.inc\nsize=${SIZE}\n").expect("written");
    std::fs::write(path("c.inc"), "bs=8k\n").expect("written");
    let head = STUDY.split("[[workloads]]").next().expect("its head");
    let text = format!(
        "{head}[[workloads]]\nid = 'w'\n\
         fio = {{ job-file = 'a.fio', variables = {{ SIZE = '64k' }} }}\n"
    );
    std::fs::write(path("study.toml"), &text).expect("written");
    let found = || {
        let name = path("study.toml").display().to_string();
        FoundStudy { study: load(&name, &text).expect("study"), directory: home.path().to_owned() }
    };
    let (directory, caller) = (path("run"), caller(home.path()));
    let planned = PlannedRun::new(found(), &options(home.path()), &directory, &caller);
    let mut open = planned
        .and_then(PlannedRun::check)
        .and_then(|checked| checked.begin(&directory, false))
        .expect("begun");
    let stop = Some((1, caller.interrupt.clone()));
    let stopped = open.carry_out(&mut Notes { stop, ..Notes::default() });
    assert!(matches!(stopped, Err(RunnerError::Interrupted)), "{stopped:?}");
    let kept = open.run.info().expect("recorded").study_text;
    assert!(
        kept.starts_with(&text) && kept.contains("bs=8k") && kept.contains("[files]"),
        "{kept}"
    );
    drop(open);
    // What is there by then is not what the run began with.
    std::fs::remove_file(path("a.fio")).expect("removed");
    std::fs::write(path("c.inc"), "bs=4k\n").expect("written");
    let caller = self::caller(home.path());
    let mut request = resume_request(home.path());
    request.study = Some(("study.toml".to_owned(), found()));
    let mut notes = Notes::default();
    let Resumed::Open(mut open) = resume(&request, &caller, &mut notes).expect("resumed") else {
        panic!("a cell is left")
    };
    assert_eq!(open.carry_out(&mut notes).expect("carried out"), 0);
    let mut operations = Vec::new();
    let noted = open.run.for_each_sample(|_, sample| {
        operations.push(sample.steps[0].figures[0].operations);
    });
    noted.expect("read");
    assert_eq!(operations, [Some(8), Some(8)]);
}

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;

use disklab_exec::{Interrupt, find_program};
use proptest::prelude::*;

use super::*;
use crate::testing::{context, read, run_in};

/// Whether the test must be left out; says so.
fn lacks_postgresql() -> bool {
    let missing = Programs::missing().iter().any(|(program, _)| find_program(program).is_none())
        || (programs::is_root() && find_program("setpriv").is_none());
    if missing {
        eprintln!("skipped: needs postgresql");
    }
    missing
}

/// Whether no server has the cluster any more.
fn is_down(directory: &Path) -> bool {
    let cluster = directory.join("cluster");
    let socket = cluster.join(format!(".s.PGSQL.{}", server::PORT));
    UnixStream::connect(socket).is_err() && !processes_in(&cluster)
}

/// Whether a process works in this directory.
fn processes_in(directory: &Path) -> bool {
    let directory = directory.canonicalize().expect("directory");
    fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .any(|process| fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == directory))
}

#[test]
fn transactions_are_measured_and_the_server_is_gone() {
    if lacks_postgresql() {
        return;
    }
    let directory = tempfile::tempdir().expect("temp");
    let body = "scale = 2\nclients = 2\nseconds = 1";
    let workload = read("postgresql", body, 0.5).expect("valid");
    let ran = run_in(&*workload, directory.path(), None).expect("ran");
    let figure = &ran.steps[0].figures[0];
    assert_eq!((ran.steps[0].name.as_str(), figure.direction), ("pgbench", Direction::Write));
    let count = figure.latency.as_ref().map(|l| l.histogram.count());
    assert!(count.is_some_and(|n| n > 0) && count == figure.operations, "{count:?}");
    assert!(figure.operations_per_second.is_some_and(|r| r > 0.0));
    assert!(ran.notes.iter().any(|n| n.text.contains("scaled from 2 to 1")));
    assert!(is_down(directory.path()));
    let starts = ran.commands.iter().filter(|c| c.contains("/postgres ")).count();
    assert_eq!(starts, 2, "{:?}", ran.commands);
}

#[test]
fn the_log_of_transactions_is_not_kept() {
    if lacks_postgresql() {
        return;
    }
    let directory = tempfile::tempdir().expect("temp");
    let raw = directory.path().join("raw");
    let executor = Executor::new(Interrupt::new()).with_raw(&raw);
    let cell = directory.path().join("cell");
    fs::create_dir(&cell).expect("directory");
    let mut context = context(&executor, &cell, None);
    let body = "scale = 1\nseconds = 1\nclients = 1\nscript = 'select-only'";
    let workload = read("postgresql", body, 1.0).expect("valid");
    workload.prepare(&mut context).expect("prepared");
    workload.run(&mut context).expect("ran");
    assert_eq!(context.steps[0].figures[0].direction, Direction::Read);
    let names = || fs::read_dir(&raw).expect("raw").flatten().map(|e| e.file_name());
    assert!(names().any(|name| name == "pgbench.out"));
    assert!(!fs::read_dir(&raw).expect("raw").flatten().any(|e| e.path().is_dir()));
}

#[test]
fn a_server_is_stopped_after_an_error_and_a_stop_request() {
    if lacks_postgresql() {
        return;
    }
    let directory = tempfile::tempdir().expect("temp");
    let executor = Executor::new(Interrupt::new());
    let mut context = context(&executor, directory.path(), None);
    let workload =
        read("postgresql", "scale = 1\nseconds = 600\nscript = 'select-only'", 1.0).expect("valid");
    workload.prepare(&mut context).expect("prepared");
    let raiser = executor.interrupt.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1500));
        raiser.raise();
    });
    assert!(workload.run(&mut context).expect_err("stopped").is_interrupt());
    thread.join().expect("thread");
    assert!(is_down(directory.path()));

    let executor = Executor::new(Interrupt::new());
    let cluster = Cluster::at(directory.path()).expect("a user");
    let wrong = ["no_such_setting=on".to_owned()];
    let error = Server::start(&cluster, &wrong, &executor).expect_err("no such setting");
    assert!(error.to_string().contains("no_such_setting"), "{error}");
    assert!(is_down(directory.path()));
}

#[test]
fn wrong_fields_are_errors() {
    for (body, part) in [
        ("scale = 0", "from 1"),
        ("clients = 1000", "to 90"),
        ("seconds = '1m'", "an integer"),
        ("script = 'tpcb'", "'tpcb-like', 'simple-update'"),
        ("user = 'me'", "unknown field"),
    ] {
        let error = read("postgresql", body, 1.0).expect_err(body).to_string();
        assert!(error.contains(part), "{error}");
    }
}

proptest! {
    #[test]
    fn space_holds_what_is_written_before(scale in 1_u64..1 << 19, by in 1e-6_f64..4.0, seconds in 1_u64..600_000) {
        let body = format!("scale = {scale}\nseconds = {seconds}");
        let cost = read("postgresql", &body, by).expect("valid").cost();
        prop_assert!(cost.prewrite <= cost.space && cost.random_write <= cost.space);
        prop_assert!(cost.fixed_seconds > seconds as f64);
    }
}

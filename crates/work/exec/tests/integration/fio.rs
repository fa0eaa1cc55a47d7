//! fio's jobs lead sessions of their own; an interrupt or a time limit leaves none.

use std::path::Path;
use std::time::{Duration, Instant};

use disklab_exec::{ExecError, Executor, Interrupt, Invocation, find_program};

/// Processes that have this word on their command line.
fn processes_with(word: &str) -> Vec<String> {
    let directories = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = directories.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
        .filter(|pid| {
            let line = std::fs::read(Path::new("/proc").join(pid).join("cmdline"));
            line.is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
        })
        .collect()
}

/// Four jobs of ten minutes in this directory.
fn jobs(directory: &Path) -> Invocation {
    Invocation::new("fio").arg(format!("--directory={}", directory.display())).args([
        "--name=endless",
        "--rw=randread",
        "--size=64k",
        "--numjobs=4",
        "--time_based",
        "--runtime=600",
        "--rate_iops=50",
    ])
}

/// fio itself, a process that it starts for itself, and the four.
const ALL: usize = 5;

#[test]
fn no_job_of_fio_outlives_an_interrupt() {
    if find_program("fio").is_none() {
        eprintln!("skipped: needs fio");
        return;
    }
    let directory = tempfile::tempdir().expect("temp");
    let word = directory.path().display().to_string();
    let executor = Executor::new(Interrupt::new());
    let (raiser, wanted) = (executor.interrupt.clone(), word.clone());
    let thread = std::thread::spawn(move || {
        let began = Instant::now();
        let mut most = 0;
        while most < ALL && began.elapsed() < Duration::from_secs(60) {
            most = processes_with(&wanted).len();
            std::thread::sleep(Duration::from_millis(20));
        }
        raiser.raise();
        most
    });
    let error = executor.run(&jobs(directory.path())).expect_err("stopped");
    assert!(matches!(error, ExecError::Interrupted(_)), "{error}");
    assert!(thread.join().expect("thread") >= ALL, "fio has forked its jobs");
    assert_eq!(processes_with(&word), Vec::<String>::new());
}

#[test]
fn no_job_of_fio_outlives_a_time_limit() {
    if find_program("fio").is_none() {
        eprintln!("skipped: needs fio");
        return;
    }
    let directory = tempfile::tempdir().expect("temp");
    let word = directory.path().display().to_string();
    let executor = Executor::new(Interrupt::new());
    let limited = jobs(directory.path()).timeout(Duration::from_secs(3));
    let error = executor.run(&limited).expect_err("stopped");
    assert!(matches!(error, ExecError::TimedOut { .. }), "{error}");
    assert_eq!(processes_with(&word), Vec::<String>::new());
}

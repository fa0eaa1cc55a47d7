//! What happens when something goes wrong.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::jobs;
use disklab_engine::{EngineError, IoFailure, JobContext, run};

#[test]
fn bad_jobs_are_refused_before_anything_is_touched() {
    let directory = tempfile::tempdir().expect("temp");
    let context = JobContext::new(directory.path(), 1);
    for (text, part) in [
        (
            "[w]\nrw=write\nsize=1m\nnumjobs=4096\n[x]\nsize=1m\nnumjobs=4096\n[y]\nsize=1m\nnumjobs=4096",
            "10000 clones",
        ),
        ("[w]\nrw=write\nsize=1m\nbs=100\ndirect=1\n", "at least a sector"),
    ] {
        let error = run(&jobs(text), &context).expect_err(text);
        assert!(matches!(error, EngineError::Job(_)), "{error}");
        let error = error.to_string();
        assert!(error.contains(part) && error.starts_with("test.fio:"), "{error}");
    }
    assert_eq!(fs::read_dir(directory.path()).expect("directory").count(), 0);
}

#[test]
fn a_directory_that_is_missing_is_reported() {
    let error = run(&jobs("[w]\nrw=write\nsize=1m\n"), &JobContext::new("/nonexistent/x", 1));
    let error = error.expect_err("no directory").to_string();
    assert!(error.contains("/nonexistent/x/w.0.0: No such file or directory"), "{error}");
}

#[test]
fn figures_before_an_error_are_kept() {
    // /dev/full takes nothing, but reads: the writes of the second job fail.
    let directory = tempfile::tempdir().expect("temp");
    std::os::unix::fs::symlink("/dev/full", directory.path().join("full")).expect("link");
    for engine in ["psync", "io_uring\niodepth=4", "libaio\niodepth=4"] {
        let text = format!(
            "[global]\nioengine={engine}\nbs=4k\nsize=64k\ninvalidate=0\n[good]\nrw=write\n\
             filename=good\n[bad]\nrw=write\nfilename=full\nstonewall\n"
        );
        let report = run(&jobs(&text), &JobContext::new(directory.path(), 1)).expect("runs");
        assert_eq!((report.jobs[0].error.clone(), report.jobs[0].write.operations), (None, 16));
        let failure = report.jobs[1].error.clone().expect("full");
        // Linux AIO takes nothing for this device at all.
        let wanted = if engine.starts_with("libaio") { libc::EINVAL } else { libc::ENOSPC };
        assert_eq!(failure.errno(), wanted, "{failure}");
        let IoFailure::Io { request: "write", path, .. } = &failure else { panic!("{failure}") };
        assert!(path.ends_with("full"), "{failure}");
        // As in fio, this alone passes over EIO and EILSEQ.
        let text = format!("{text}continue_on_error=write\n");
        let report = run(&jobs(&text), &JobContext::new(directory.path(), 1)).expect("runs");
        assert_eq!(report.jobs[1].error.as_ref().map(IoFailure::errno), Some(wanted));
        let text = format!("{text}ignore_error=,ENOSPC:EINVAL\n");
        let report = run(&jobs(&text), &JobContext::new(directory.path(), 1)).expect("runs");
        assert_eq!((report.jobs[1].error.clone(), report.jobs[1].passed_over), (None, 16));
        assert_eq!(report.jobs[1].write.operations, 0);
    }
}

#[test]
fn a_file_that_ends_too_early_is_an_error() {
    let directory = tempfile::tempdir().expect("temp");
    fs::write(directory.path().join("f"), vec![1; 10_000]).expect("written");
    // Made when it is opened: so nobody lays it out, and it stays too short.
    for engine in ["psync", "io_uring\niodepth=2", "libaio"] {
        let text = format!(
            "[r]\nioengine={engine}\nrw=read\nbs=4k\nsize=64k\nfilename=f\ncreate_on_open=1\n"
        );
        let report = run(&jobs(&text), &JobContext::new(directory.path(), 1)).expect("runs");
        let failure = report.jobs[0].error.clone().expect("too short");
        assert_eq!(failure.errno(), libc::EIO);
        assert!(matches!(failure, IoFailure::TooShort { request: "read", .. }), "{failure}");
        assert!(report.jobs[0].read.operations <= 2);
    }
}

#[test]
fn a_job_whose_blocks_do_not_fit_ends_with_advice() {
    // The file's length is drawn: now and then it is shorter than a block.
    let text = "[r]\nrw=read\nbs=64k\nfilesize=8k-128k\ntime_based\nruntime=10ms\n";
    let errors = (0..12).filter_map(|seed| {
        let directory = tempfile::tempdir().expect("temp");
        let report = run(&jobs(text), &JobContext::new(directory.path(), seed)).expect("runs");
        report.jobs[0].error.clone()
    });
    let errors: Vec<IoFailure> = errors.collect();
    assert!(!errors.is_empty() && errors.len() < 12, "{errors:?}");
    assert!(errors.iter().all(|error| *error == IoFailure::NothingFits), "{errors:?}");
    assert!(errors[0].to_string().contains("larger than a block"), "{}", errors[0]);
}

#[test]
fn a_stop_request_is_honoured_soon() {
    for options in [
        "rate_iops=1",
        "thinktime=60s",
        "startdelay=60",
        "ioengine=io_uring\niodepth=8\nrate_iops=1",
        "ioengine=libaio\niodepth=8",
        "",
    ] {
        let directory = tempfile::tempdir().expect("temp");
        let context = JobContext::new(directory.path(), 1);
        let interrupt = context.interrupt.clone();
        let timer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            interrupt.raise();
        });
        let began = Instant::now();
        let text =
            format!("[r]\nrw=randread\nbs=4k\nsize=1m\ntime_based\nruntime=120\n{options}\n");
        let report = run(&jobs(&text), &context).expect("runs");
        timer.join().expect("timer");
        assert!(report.interrupted, "{options}");
        assert!(began.elapsed() < Duration::from_secs(30), "{options}");
        assert_eq!(report.jobs.len(), 1);
        assert_eq!(report.jobs[0].error, None);
        let error = run(&jobs(&text), &context).expect_err("at once");
        assert!(matches!(error, EngineError::Interrupted(_)));
    }
}

#[test]
fn progress_is_reported() {
    let directory = tempfile::tempdir().expect("temp");
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let context = JobContext {
        progress: Some(Arc::new(move |progress| {
            assert!(progress.clones == 2 && progress.ended <= 2 && progress.running <= 2);
            assert!(progress.read_bytes <= 2 * (64 << 10));
            counted.fetch_add(1, Ordering::Relaxed);
        })),
        ..JobContext::new(directory.path(), 1)
    };
    let text = "[r]\nrw=read\nbs=4k\nsize=64k\nnumjobs=2\nrate_iops=100\n";
    let report = run(&jobs(text), &context).expect("runs");
    assert_eq!(report.jobs.len(), 2);
    assert!(calls.load(Ordering::Relaxed) >= 2);
}

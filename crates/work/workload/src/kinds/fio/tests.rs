//! fio workloads as a whole, with the real fio where it is installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use disklab_exec::{Executor, Interrupt};
use disklab_sample::{Direction, OperationKind, Step};
use disklab_source::SourceError;
use disklab_units::Bytes;
use proptest::prelude::*;

use crate::data::{ByteStream, FileContent};
use crate::testing::{WorkOutcome, context, lacks, read, read_in, run_in};
use crate::{WorkContext, Workload};

fn job(text: &str, more: &str) -> String {
    format!("{more}\njob = '''\n{text}\n'''")
}

fn run(workload: &dyn Workload, directory: &Path) -> WorkOutcome {
    run_in(workload, directory, None).expect("runs")
}

fn bytes(step: &Step, direction: Direction) -> u64 {
    step.figures.iter().find(|f| f.direction == direction).map_or(0, |f| f.bytes)
}

/// Names and contents of the files in a directory.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(directory)
        .expect("directory")
        .map(|entry| {
            let entry = entry.expect("entry");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("file"))
        })
        .collect()
}

/// What disklab writes beforehand with the tests' seed.
fn written(sizes: &[u64]) -> Vec<Vec<u8>> {
    let directory = tempfile::tempdir().expect("temp");
    let path = directory.path().join("f");
    let mut stream = ByteStream::new(FileContent::Random, 42);
    sizes
        .iter()
        .map(|size| {
            stream.write_file(&path, Bytes(*size), false, &Interrupt::new()).expect("written");
            fs::read(&path).expect("read back")
        })
        .collect()
}

/// Both engines, or the native one where there is no fio.
fn engines() -> impl Iterator<Item = &'static str> {
    let fio = (!lacks("fio")).then_some("fio");
    std::iter::once("native").chain(fio)
}

fn read_by(engine: &str, body: &str, scale: f64) -> Result<Box<dyn Workload>, SourceError> {
    read("fio", &format!("engine = '{engine}'\n{body}"), scale)
}

#[test]
fn options_as_fields_make_one_job() {
    for engine in engines() {
        let directory = tempfile::tempdir().expect("temp");
        let body =
            "ioengine = 'psync'\nrw = 'read'\nbs = '64k'\nsize = '2M'\ngroup_reporting = true";
        let workload = read_by(engine, body, 1.0).expect("valid");
        let ran = run(&*workload, directory.path());
        assert_eq!(ran.steps.len(), 1);
        assert_eq!(ran.steps[0].name, "the-workload");
        let figure = &ran.steps[0].figures[0];
        assert_eq!((figure.bytes, figure.operations), (2 << 20, Some(32)));
        assert!(figure.bytes_per_second.is_some_and(|rate| rate > 0.0));
        let latency = figure.latency.as_ref().expect("latencies");
        assert_eq!(latency.histogram.count(), 32);
        assert!(latency.min_ns > 0 && latency.max_ns >= latency.min_ns);
        assert!(
            ran.notes.iter().any(|n| n.text.contains("total ones (fio's lat)")),
            "{:?}",
            ran.notes
        );
        // The file that fio read is the one written beforehand.
        let files = contents(directory.path());
        assert_eq!(files["the-workload.0.0"], written(&[2 << 20])[0]);
        let command = ran.commands.last().expect("fio");
        assert!(command.contains("--name=the-workload") && command.contains("seed="), "{command}");
    }
}

#[test]
fn stonewalled_sections_are_steps_and_share_their_file() {
    for engine in engines() {
        let directory = tempfile::tempdir().expect("temp");
        let text = "[global]\nfilename=test\nsize=1m\nbs=16k\n[seq-read]\nrw=read\n\
                [rand write]\nstonewall\nrw=randwrite\n[mix-a]\nstonewall\nrw=randrw\n\
                [mix-b]\nrw=read\n";
        let workload = read_by(engine, &job(text, ""), 1.0).expect("valid");
        assert_eq!(workload.cost().space, Bytes::mib(1));
        let ran = run(&*workload, directory.path());
        let names: Vec<_> = ran.steps.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["seq-read", "rand write", "mix-a+mix-b"]);
        assert_eq!(bytes(&ran.steps[0], Direction::Read), 1 << 20);
        assert_eq!(bytes(&ran.steps[1], Direction::Write), 1 << 20);
        let mix = &ran.steps[2];
        assert_eq!(bytes(mix, Direction::Read) + bytes(mix, Direction::Write), 2 << 20);
        assert_eq!(contents(directory.path()).keys().collect::<Vec<_>>(), ["test"]);
        // Each step has a seed of its own.
        let runs: Vec<_> = ran.commands.iter().filter(|c| !c.contains("--parse-only")).collect();
        let seeds: Vec<_> = runs
            .iter()
            .filter_map(|c| c.split_once("seed=").map(|(_, rest)| rest.split('\'').next()))
            .collect();
        assert_eq!(seeds.len(), 3);
        assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2], "{seeds:?}");
    }
}

#[test]
fn a_whole_job_is_one_step() {
    for engine in engines() {
        let directory = tempfile::tempdir().expect("temp");
        let text = "[global]\nsize=256k\n[a]\nrw=read\n[b]\nstonewall\nrw=read\n";
        let workload = read_by(engine, &job(text, "steps = 'whole'"), 1.0).expect("valid");
        let ran = run(&*workload, directory.path());
        assert_eq!(ran.steps.len(), 1);
        assert_eq!(ran.steps[0].name, "a+b");
        assert_eq!(bytes(&ran.steps[0], Direction::Read), 512 << 10);
        assert_eq!(ran.steps[0].figures.len(), 1);
    }
}

#[test]
fn jobs_of_a_section_are_one_figure() {
    for engine in engines() {
        for reporting in ["", "group_reporting\n"] {
            let directory = tempfile::tempdir().expect("temp");
            let text = format!("[many]\nrw=randread\nnumjobs=4\nsize=64k\nbs=4k\n{reporting}");
            let workload = read_by(engine, &job(&text, ""), 1.0).expect("valid");
            let ran = run(&*workload, directory.path());
            let figure = &ran.steps[0].figures[0];
            assert_eq!((figure.bytes, figure.operations), (256 << 10, Some(64)));
            assert_eq!(figure.latency.as_ref().map(|l| l.histogram.count()), Some(64));
            assert_eq!(contents(directory.path()).len(), 4);
        }
    }
}

/// fio lays out a file that is missing or too small; none may be touched.
#[test]
fn fio_finds_every_file_as_it_wants_it() {
    for engine in engines() {
        for (text, sizes) in [
            ("[a]\nsize=1m\nnrfiles=3", vec![349_525, 349_525, 349_525]),
            ("[a]\nsize=512k\noffset=256k", vec![768 << 10]),
            ("[a]\nfilename=f\nsize=256k\nnumjobs=3\noffset_increment=128k", vec![512 << 10]),
            ("[a]\nfilename=f\nfilesize=1m\nsize=256k", vec![1 << 20]),
            (
                "[a]\nsize=256k\nfilename_format=$jobname-$jobnum\nnumjobs=2",
                vec![256 << 10, 256 << 10],
            ),
            ("[a]\nsize=256k\nio_size=1m", vec![256 << 10]),
            ("[a]\nsize=256k\n[b]\nsize=128k\nname=c", vec![256 << 10, 128 << 10]),
        ] {
            let directory = tempfile::tempdir().expect("temp");
            let workload =
                read_by(engine, &job(&format!("[global]\nrw=randread\n{text}"), ""), 1.0);
            let ran = run(&*workload.expect("valid"), directory.path());
            assert!(bytes(&ran.steps[0], Direction::Read) > 0, "{text}");
            let found: Vec<_> = contents(directory.path()).into_values().collect();
            assert!(
                found == written(&sizes),
                "{text}: {:?}",
                found.iter().map(Vec::len).collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn nothing_is_written_beforehand_where_nothing_is_read() {
    for engine in engines() {
        let directory = tempfile::tempdir().expect("temp");
        let workload =
            read_by(engine, "rw = 'write'\nsize = '256k'\nend_fsync = 1", 1.0).expect("valid");
        assert_eq!(workload.cost().prewrite, Bytes::ZERO);
        let ran = run(&*workload, directory.path());
        assert_eq!(bytes(&ran.steps[0], Direction::Write), 256 << 10);
        assert!(!ran.commands.iter().any(|c| c.contains("urandom")), "{:?}", ran.commands);
        assert!(ran.notes.iter().any(|n| n.text.contains("refill_buffers")), "{:?}", ran.notes);
    }
}

#[test]
fn sizes_are_scaled_and_times_are_not() {
    for engine in engines() {
        let directory = tempfile::tempdir().expect("temp");
        // The published job of the ext4, XFS, Btrfs, ZFS comparison, but fewer jobs.
        let body = "rw = 'randwrite'\nbs = '16k'\nsize = '100m'\nnumjobs = 4\nruntime = 60\n\
                direct = 0\nioengine = 'libaio'\niodepth = 32\niodepth_batch = 32\n\
                group_reporting = 1\ninvalidate = 1";
        let workload = read_by(engine, body, 0.005).expect("valid");
        let start = if engine == "fio" { 0.5 } else { 0.0 };
        assert_eq!(workload.cost().at_most_seconds, Some(60.0 + start));
        let ran = run(&*workload, directory.path());
        assert_eq!(bytes(&ran.steps[0], Direction::Write), 4 * (512 << 10));
        let note = "sizes scaled: the-workload: size 100m → 512k";
        assert!(ran.notes.iter().any(|n| n.text == note), "{:?}", ran.notes);
        assert!(
            ran.commands.last().is_some_and(|c| c.contains("--runtime=60")),
            "{:?}",
            ran.commands
        );
    }
}

#[test]
fn a_seed_of_the_jobs_own_is_kept_and_reported() {
    for engine in engines() {
        let directory = tempfile::tempdir().expect("temp");
        let body = "rw = 'randread'\nsize = '64k'\nrandseed = 5";
        let ran = run(&*read_by(engine, body, 1.0).expect("valid"), directory.path());
        // fio takes the last one.
        let command = ran.commands.last().expect("fio");
        let last = command.rsplit("--randseed=").next().unwrap_or_default();
        assert!(last.starts_with('5'), "{command}");
        assert!(ran.notes.iter().any(|n| n.text.contains("seed of its own")), "{:?}", ran.notes);
    }
}

/// By what they leave: each run writes the first of its blocks elsewhere.
#[test]
fn repeats_go_to_other_places() {
    for engine in engines() {
        let first_places: std::collections::BTreeSet<Vec<usize>> = (0..4)
            .map(|seed| {
                let directory = tempfile::tempdir().expect("temp");
                let body = "rw = 'randwrite'\nbs = '4k'\nsize = '1m'\nnumber_ios = 8\n\
                            fallocate = 'none'";
                let workload = read_by(engine, body, 1.0).expect("valid");
                let executor = Executor::new(Interrupt::new());
                let mut context =
                    WorkContext { seed, ..context(&executor, directory.path(), None) };
                workload.prepare(&mut context).expect("prepared");
                workload.run(&mut context).expect("runs");
                let bytes = fs::read(directory.path().join("the-workload.0.0")).expect("file");
                let written = bytes.chunks(4096).enumerate();
                written.filter(|(_, b)| b.iter().any(|b| *b != 0)).map(|(n, _)| n).collect()
            })
            .collect();
        assert_eq!(first_places.len(), 4, "{engine}: {first_places:?}");
    }
}

#[test]
fn a_job_file_is_found_next_to_the_study() {
    let directory = tempfile::tempdir().expect("temp");
    fs::write(directory.path().join("x.fio"), "[a]\nsize=1m\n\nexec_prerun=reboot\n")
        .expect("file");
    let error = read_in("fio", "job-file = 'x.fio'", 1.0, directory.path()).expect_err("refused");
    assert_eq!((error.file.as_str(), error.line, error.column), ("x.fio", 4, 1));
    fs::write(directory.path().join("x.fio"), "[a]\nsize=1m\n").expect("file");
    let workload = read_in("fio", "job-file = 'x.fio'", 1.0, directory.path()).expect("valid");
    assert_eq!(workload.cost().sequential_read, Bytes::mib(1));
    let error = read_in("fio", "job-file = 'y.fio'", 1.0, directory.path()).expect_err("missing");
    assert!(error.to_string().contains("cannot read"), "{error}");
}

#[test]
fn a_failing_job_says_why() {
    if lacks("fio") {
        return;
    }
    let directory = tempfile::tempdir().expect("temp");
    // No operation takes less than a nanosecond: fio gives up.
    let body = "rw = 'read'\nsize = '64k'\nmax_latency = '1us'\nioengine = 'psync'\ndirect = 1";
    let workload = read_by("fio", body, 1.0).expect("valid");
    let error = run_in(&*workload, directory.path(), None).expect_err("fails").to_string();
    assert!(error.contains("fio") && error.contains("latency"), "{error}");
}

#[test]
fn groups_that_run_together_are_looked_at_apart() {
    for engine in engines() {
        let directory = tempfile::tempdir().expect("temp");
        let text = "[stream]\nrw=write\nbs=64k\nsize=1m\n\
                    [safe]\nnew_group\nrw=randwrite\nsize=64k\nfsync=1\n";
        let workload = read_by(engine, &job(text, ""), 1.0).expect("valid");
        let ran = run(&*workload, directory.path());
        let steps: Vec<_> =
            ran.steps.iter().map(|s| (s.name.as_str(), bytes(s, Direction::Write))).collect();
        let both = (1 << 20) + (64 << 10);
        assert_eq!(steps, [("stream+safe", both), ("stream", 1 << 20), ("safe", 64 << 10)]);
        let latencies = |n: usize| ran.steps[n].figures[0].latency.as_ref().expect("latencies");
        assert_eq!((latencies(1).histogram.count(), latencies(2).histogram.count()), (16, 16));
    }
}

#[test]
fn the_clock_of_a_synced_write_stops_after_its_sync() {
    for engine in engines() {
        let directory = tempfile::tempdir().expect("temp");
        let text = "[global]\nrw=write\nbs=4k\nsize=128k\n[each]\nstonewall\nfdatasync=1\n\
                    [some]\nstonewall\nfdatasync=8\n[dsync]\nstonewall\nsync=dsync";
        let ran = run(&*read_by(engine, &job(text, ""), 1.0).expect("valid"), directory.path());
        let of = |name: &str| {
            let step = ran.steps.iter().find(|s| s.name == name).expect(name);
            step.figures[0].clone()
        };
        let each = of("each");
        let (write, commit) = (each.latency.expect("writes"), each.commit.expect("commits"));
        // Behind the last write of a job, nothing asks for a sync.
        let counts = (write.histogram.count(), commit.histogram.count());
        assert!(counts.0 == 32 && (31..=32).contains(&counts.1), "{engine}: {counts:?}");
        assert!(commit.mean_ns > write.mean_ns && commit.max_ns >= write.max_ns, "{engine}");
        // All of them took no longer than the job.
        assert!(
            commit.mean_ns * counts.1 as f64 <= each.elapsed_ns as f64 * 1.01 + 2e6,
            "{engine}"
        );
        let texts = ran.notes.iter().any(|note| note.text.contains("where a sync follows"));
        assert!(texts, "{:?}", ran.notes);
        for other in ["some", "dsync"] {
            assert!(of(other).commit.is_none() && of(other).latency.is_some(), "{engine} {other}");
        }
    }
}

#[test]
fn a_step_lists_the_files_that_it_reads() {
    let directory = tempfile::tempdir().expect("temp");
    let text = "[global]\nbs=4k\nsize=2m\n[mix]\nrw=randrw\n[log]\nstonewall\nrw=randwrite\n\
                io_size=4k\nfilename=log";
    let ran = run(&*read("fio", &job(text, ""), 1.0).expect("valid"), directory.path());
    let read = ran.steps[0].files_read.expect("it reads");
    assert_eq!((read.files, read.bytes, read.data), (1, 2 << 20, 2 << 20));
    assert_eq!(ran.steps[1].files_read, None);
}

#[test]
fn the_native_engine_says_why_it_failed() {
    let directory = tempfile::tempdir().expect("temp");
    fs::create_dir(directory.path().join("f")).expect("directory");
    let workload = read("fio", "rw = 'write'\nsize = '64k'\nfilename = 'f'", 1.0).expect("valid");
    let error = run_in(&*workload, directory.path(), None).expect_err("a directory").to_string();
    assert!(error.contains("/f: Is a directory"), "{error}");
}

#[test]
fn options_only_of_fio_suggest_its_engine() {
    let error = read("fio", "size = '1m'\nmax_latency = '1us'", 1.0).expect_err("not native");
    assert_eq!(error.line, 2);
    assert!(error.to_string().contains("engine = \"fio\""), "{error}");
    assert!(read_by("fio", "size = '1m'\nmax_latency = '1us'", 1.0).is_ok());
    assert!(read("fio", "size = '1m'", 1.0).expect("native").programs().is_empty());
    assert_eq!(read_by("fio", "size = '1m'", 1.0).expect("fio").programs(), [("fio", "fio")]);
}

#[test]
fn the_native_engine_leaves_its_report_as_fio_would() {
    let (directory, raw) = (tempfile::tempdir().expect("temp"), tempfile::tempdir().expect("temp"));
    let executor = Executor::new(Interrupt::new()).with_raw(raw.path());
    let workload = read("fio", "rw = 'randrw'\nsize = '256k'", 1.0).expect("valid");
    let mut context = context(&executor, directory.path(), None);
    workload.prepare(&mut context).expect("prepared");
    workload.run(&mut context).expect("runs");
    let text = fs::read_to_string(raw.path().join("fio-1-the-workload.json")).expect("report");
    let report = super::output::parse(&text).expect("fio's JSON");
    let written: Vec<_> = report.jobs[0].done.iter().map(|d| (d.direction, d.bytes)).collect();
    let figures: Vec<_> = context.steps[0].figures.iter().map(|f| (f.direction, f.bytes)).collect();
    assert_eq!(written, figures);
}

#[test]
fn operations_on_names_move_no_bytes() {
    if lacks("fio") {
        return;
    }
    let directory = tempfile::tempdir().expect("temp");
    let body = "ioengine = 'filecreate'\nnrfiles = 20\nfilesize = '4k'\nopenfiles = 1";
    let workload = read_by("fio", body, 1.0).expect("valid");
    assert_eq!((workload.cost().seeks, workload.cost().prewrite), (20, Bytes::ZERO));
    let ran = run(&*workload, directory.path());
    let figure = &ran.steps[0].figures[0];
    assert_eq!((figure.bytes, figure.operations), (0, Some(20)));
    assert_eq!(figure.operation, OperationKind::File);
    assert!(figure.bytes_per_second.is_none() && figure.operations_per_second.is_some());
}

#[test]
fn wrong_jobs_are_errors_at_their_place() {
    for (body, line, part) in [
        ("size = '1m'\nexec_prerun = 'x'", 2, "runs a program"),
        ("size = '1m'\nprewrite = 'ones'", 2, "'random', 'zeros' or 'none'"),
        ("rw = 'read'", 1, "no `size`"),
        ("job = '''\n[a]\nsize=1m\nbs=1x\n'''", 4, "`bs`"),
        ("job = '''\n[a]\nsize=1m\n'''\nbs = '4k'", 5, "combined with a whole job"),
        ("job = ''", 1, "no section"),
        ("job = 'x'\njob-file = 'y'", 2, "not both"),
        ("job = '''\n[a]\nsize=1m\n'''\nsteps = 'some'", 5, "'sections' or 'whole'"),
        ("job = '''\n[a/b]\nsize=1m\n'''", 2, "file names"),
        ("job = '''\n[a]\nsize=1m\n[b]\nwait_for=a\nsize=1m\n'''\nsteps = 'sections'", 4, "whole"),
        ("size = ['1m', '2m']", 1, "found a list"),
        ("size = '64 MiB'", 1, "write '64M'"),
    ] {
        let error = read("fio", body, 1.0).expect_err(body);
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn costs_tell_sequential_from_random() {
    let cost = |body: &str| read("fio", body, 1.0).expect("valid").cost();
    let read_cost = cost("rw = 'randread'\nbs = '4k'\nsize = '64m'\nio_size = '4m'");
    assert_eq!((read_cost.seeks, read_cost.prewrite), (1024, Bytes::mib(64)));
    let mixed = cost("rw = 'randrw'\nbs = '4k'\nsize = '4m'\nrwmixread = 75");
    assert_eq!((mixed.seeks, mixed.random_write), (1024, Bytes::mib(1)));
    let synced = cost("rw = 'write'\nbs = '4k'\nsize = '4m'\nfsync = 8");
    assert_eq!((synced.seeks, synced.sequential_write), (128, Bytes::mib(4)));
    let timed = cost("rw = 'randread'\nsize = '1g'\nruntime = 60\nramp_time = 5\ntime_based = 1");
    assert_eq!((timed.seeks, timed.fixed_seconds, timed.at_most_seconds), (0, 65.0, Some(65.0)));
    assert_eq!(cost("rw = 'read'\nsize = '1g'").at_most_seconds, None);
}

#[test]
fn rewritten_data_are_counted_apart() {
    let cost = |more: &str| {
        let body = "rw = 'write'\nsize = '64m'\ntime_based = 1\nruntime = 60\n";
        read("fio", &format!("{body}{more}"), 1.0).expect(more).cost()
    };
    let fresh = cost("refill_buffers = 1\nrate = '50m'");
    assert_eq!((fresh.space, fresh.content), (Bytes::mib(64), Bytes::mib(64)));
    assert_eq!((fresh.rewritten, fresh.writes_until_its_end), (Bytes::mib(2936), false));
    assert_eq!((fresh.sequential_write, fresh.fixed_seconds), (Bytes::mib(3000), 60.0));
    let slow = cost("refill_buffers = 1\nrate = '1m'");
    assert_eq!((slow.rewritten, slow.sequential_write), (Bytes::ZERO, Bytes::mib(60)));
    // A store keeps buffers that repeat once.
    assert_eq!(cost("scramble_buffers = 0\nrate = '50m'").rewritten, Bytes::ZERO);
    assert_eq!(
        cost("rate = '50m'").rewritten,
        fresh.rewritten,
        "fio alters them unless told not to"
    );
    assert_eq!(cost("zero_buffers = 1\nrate = '50m'").rewritten, Bytes::ZERO);
    let unpaced = cost("refill_buffers = 1");
    assert_eq!((unpaced.rewritten, unpaced.writes_until_its_end), (Bytes::ZERO, true));
    let passes = "rw = 'write'\nsize = '64m'\nrefill_buffers = 1\nloops = 3";
    let passes = read("fio", passes, 1.0).expect("valid").cost();
    assert_eq!((passes.content, passes.rewritten), (Bytes::mib(64), Bytes::mib(128)));
}

#[test]
fn an_interrupt_stops_the_jobs() {
    for engine in engines() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let body = "rw = 'read'\nsize = '64k'\ntime_based = true\nruntime = 600";
        let workload = read_by(engine, body, 1.0).expect("valid");
        let mut context = context(&executor, directory.path(), None);
        workload.prepare(&mut context).expect("prepared");
        let raiser = executor.interrupt.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            raiser.raise();
        });
        let error = workload.run(&mut context).expect_err("stopped");
        assert!(error.is_interrupt(), "{error}");
        assert!(context.steps.is_empty());
        thread.join().expect("thread");
    }
}

proptest! {
    #[test]
    fn space_holds_what_is_written_beforehand(
        rw in "read|write|randread|randrw|rw",
        bs in "512|4k|64k|1M", size in 1_u64..1 << 40, jobs in 1_u64..50, files in 1_u64..20,
        shared in any::<bool>(), overwrite in any::<bool>(), scale in 1e-9_f64..2.0,
    ) {
        let shared = if shared { "filename = 'f'" } else { "" };
        let body = format!(
            "rw = '{rw}'\nbs = '{bs}'\nsize = {size}\nnumjobs = {jobs}\nnrfiles = {files}\n\
             overwrite = {overwrite}\n{shared}"
        );
        let cost = read("fio", &body, scale).expect("valid").cost();
        prop_assert!(cost.space >= cost.prewrite);
        prop_assert_eq!(cost.prewrite.0 > 0, rw != "write" || overwrite);
        prop_assert!(cost.sequential_read + cost.sequential_write + cost.random_write > Bytes::ZERO
            || cost.seeks > 0);
    }

    #[test]
    fn no_field_panics(
        key in "size|bs|rw|numjobs|nrfiles|offset|filesize|runtime|io_size|[a-z_]{1,12}",
        value in "[0-9a-zA-Z%.,:/$-]{0,20}", scale in 1e-9_f64..10.0,
    ) {
        let _ = read("fio", &format!("loops = 3\n{key} = '{value}'"), scale).map(|w| w.cost());
        let _ = read("fio", &format!("size = '1m'\n{key} = '{value}'"), scale).map(|w| w.cost());
    }

    #[test]
    fn no_mutation_of_a_job_panics(
        at in any::<prop::sample::Index>(), to in any::<char>(), cut in any::<bool>(),
        scale in 1e-9_f64..10.0,
    ) {
        let mut text: Vec<char> = "[global]\nsize=1g\nbs=4k,64k\nruntime=60\n[a b]\nrw=randrw:4\n\
            numjobs=4\nnrfiles=2\noffset_increment=1m\n[c]\nstonewall\nbssplit=4k/50:8k/50\n\
            filename=x ; all\n[d]\nname=e\nwait_for=c\nfsync=8\n".chars().collect();
        let at = at.index(text.len());
        if cut {
            text.remove(at);
        } else {
            text[at] = to;
        }
        let text: String = text.into_iter().collect();
        let body = format!("job = {:?}", text.replace(|c: char| c.is_control() && c != '\n', "?"));
        if let Ok(workload) = read("fio", &body, scale) {
            let cost = workload.cost();
            prop_assert!(cost.space >= cost.prewrite);
        }
    }
}

/// A fio file that was written for a mount point of its own runs below the measured directory.
#[test]
fn directory_of_a_job_lies_below_the_measured_one() {
    for engine in ["native", "fio"] {
        if engine == "fio" && lacks("fio") {
            continue;
        }
        for (directory, below) in
            [("/mnt/data", "mnt/data/f"), ("sub//deep/", "sub/deep/f"), ("./", "f"), ("/", "f")]
        {
            for rw in ["write", "randread"] {
                let temp = tempfile::tempdir().expect("temp");
                let body = format!(
                    "engine = '{engine}'\nrw = '{rw}'\nsize = '64k'\nfilename = 'f'\n\
                     directory = '{directory}'\n"
                );
                let workload = read("fio", &body, 1.0).expect("a workload");
                run_in(workload.as_ref(), temp.path(), None).expect("run");
                let length = std::fs::metadata(temp.path().join(below)).map(|m| m.len()).ok();
                assert_eq!(length, Some(65536), "{engine} {directory} {rw}");
                assert!(!workload.names().is_empty());
            }
        }
    }
}

#[test]
fn directory_of_a_job_leads_nowhere_else() {
    for directory in ["..", "a/../..", "/a/..", "a:b", "a\\b", "$HOME", "~/../x"] {
        let body = format!("rw = 'read'\nsize = '64k'\ndirectory = '{directory}'\n");
        assert!(read("fio", &body, 1.0).is_err(), "{directory}");
    }
    let directory = tempfile::tempdir().expect("temp");
    let (measured, precious) =
        (directory.path().join("measured"), directory.path().join("precious"));
    std::fs::create_dir_all(&precious).expect("directory");
    std::fs::create_dir_all(&measured).expect("directory");
    std::os::unix::fs::symlink(&precious, measured.join("d")).expect("linked");
    let body = "rw = 'write'\nsize = '64k'\ndirectory = '/d/e'\n";
    let workload = read("fio", body, 1.0).expect("a workload");
    let error = run_in(workload.as_ref(), &measured, None).expect_err("refused").to_string();
    assert!(error.contains("not a directory of its own"), "{error}");
    assert_eq!(std::fs::read_dir(&precious).expect("read").count(), 0);
}

/// The attack of 21.26 through a study: a name in the measured directory that leads to
/// what is not the study's.
#[test]
fn a_link_in_the_measured_directory_is_followed_by_no_engine() {
    for engine in ["native", "fio"] {
        if engine == "fio" && lacks("fio") {
            continue;
        }
        for rw in ["write", "read"] {
            let temp = tempfile::tempdir().expect("temp");
            let directory = temp.path().join("measured");
            std::fs::create_dir(&directory).expect("directory");
            let precious = temp.path().join("precious");
            std::fs::write(&precious, "data").expect("written");
            std::os::unix::fs::symlink(&precious, directory.join("f")).expect("linked");
            let body = format!("engine = '{engine}'\nrw = '{rw}'\nsize = '64k'\nfilename = 'f'\n");
            let workload = read("fio", &body, 1.0).expect("a workload");
            let error = run_in(workload.as_ref(), &directory, None).expect_err("refused");
            let text = error.to_string();
            assert!(text.contains("f is not touched: it is a link or a device"), "{text}");
            assert_eq!(std::fs::read(&precious).expect("read"), b"data", "{engine} {rw}");
        }
    }
}

/// A collection of job files, as people have them: in a study, it takes its variables from there.
#[test]
fn a_collection_takes_its_values_from_the_study() {
    let directory = tempfile::tempdir().expect("temp");
    let file =
        |name: &str, text: &str| fs::write(directory.path().join(name), text).expect("written");
    fs::create_dir(directory.path().join("jobs")).expect("made");
    file("jobs/a.fio", "[a]\nrw=write\ninclude ../common.inc\nsize=${SIZE}\nnumjobs=$ncpus\n");
    file("common.inc", "bs=8k\n");
    let body = "job-file = 'jobs/a.fio'\nvariables = { SIZE = '64k', ncpus = 2 }";
    let workload = read_in("fio", body, 1.0, directory.path()).expect("valid");
    assert_eq!(workload.cost().sequential_write, Bytes::kib(128));
    let text = "job = '''\n[a]\ninclude common.inc\nsize=${SIZE}\n'''\n";
    let valid = format!("{text}variables = {{ SIZE = '64k' }}");
    assert!(read_in("fio", &valid, 1.0, directory.path()).is_ok());
    // Nothing of this machine's: what a stranger's study asks for would be kept in the run.
    for (name, line) in [("PATH", "${PATH}"), ("ncpus", "$ncpus"), ("HOME", "${HOME}")] {
        let body = format!("job = '''\n[a]\nsize=1m\ndescription={line}\n'''");
        let error = read("fio", &body, 1.0).expect_err(name);
        assert_eq!(error.line, 4, "{error}");
        let advice = format!("variables = {{ {name} = ");
        assert!(error.message.contains(&advice) && !error.message.contains('/'), "{error}");
    }
    file("secret.toml", "password=hunter2\n");
    let place = directory.path().join("jobs");
    for name in ["../secret.toml", "/etc/passwd", "/proc/self/environ", "/dev/stdin"] {
        let body = format!("job = '''\n[a]\nsize=1m\ninclude {name}\n'''");
        let error = read_in("fio", &body, 1.0, &place).expect_err(name).to_string();
        assert!(error.contains("cannot include") && !error.contains("hunter2"), "{error}");
    }
    let error = read("fio", "job = '''\n[a]\nsize=1m\nbuffer_pattern='/etc/hostname'\n'''", 1.0);
    let error = error.expect_err("a file");
    assert!(error.message.contains("write its bytes as 0x"), "{error}");
}

#[test]
fn directories_in_names_lie_below_the_measured_one() {
    for engine in engines() {
        for (names, expected) in [
            ("filename = 'one/f:/two/g'", vec!["one/f", "two/g"]),
            (
                "nrfiles = 2\nfilename_format = '$jobname.$jobnum/$filenum'",
                vec!["the-workload.0/0", "the-workload.0/1"],
            ),
        ] {
            let directory = tempfile::tempdir().expect("temp");
            let body = format!("rw = 'write'\nsize = '64k'\n{names}");
            let workload = read_by(engine, &body, 1.0).expect("valid");
            run_in(workload.as_ref(), directory.path(), None).expect("run");
            for name in expected {
                assert!(directory.path().join(name).is_file(), "{engine}: {name}");
                let first = name.split('/').next().expect("a directory").to_owned();
                assert!(workload.names().contains(&first), "{:?}", workload.names());
            }
        }
    }
    for names in ["/dev/sda", "../f", "a/../../f", "a:/dev/nvme0n1"] {
        let body = format!("rw = 'write'\nsize = '64k'\nfilename = '{names}'");
        assert!(read("fio", &body, 1.0).is_err(), "{names}");
    }
}

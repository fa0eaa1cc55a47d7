//! What fio's own examples do that need neither an engine of their own nor a device, each in
//! a tiny job. docs/validation/parity.md lists the examples; each name here is one of them.

use disklab_engine::{EngineReport, IoFailure, JobContext, JobReport, RequestKind, log_paths, run};
use disklab_jobfile::Job;

use crate::common::{jobs, run_text, run_traced};

/// fio's examples (those of version 3.42) by name, and a job with the same options.
const EXAMPLES: &[(&str, &str)] = &[
    ("1mbs_clients", "[global]\nsize=64k\nrate=8m\n[a]\nrw=write\n[b]\nrw=write\n"),
    ("aio-read", "[global]\nioengine=libaio\nrw=read\nbs=16k\nsize=64k\n[a]\niodepth=4\n"),
    ("backwards-read", "[a]\nbs=4k\nrw=read:-8k\nsize=64k\n"),
    (
        "basic-verify",
        "[a]\nrw=randwrite\nbs=4k\nioengine=libaio\niodepth=4\nverify=crc32c\nsize=64k\n",
    ),
    (
        "butterfly",
        "[global]\nfilename=f\nbs=4k\nsize=64k\n[a]\nrw=read\nflow=2\n[b]\nrw=read:-8k\nflow=2\n",
    ),
    (
        "cross-stripe-verify",
        "[global]\nbs=4k\nrw=write:12k\nverify=crc32c\nfilename=f\nverify_backlog=1\nsize=128k\n\
         offset_increment=128k\nio_size=64k\noffset=4k\ngroup_reporting\nverify_dump=1\nloops=2\n\
         [a]\nnumjobs=2\n",
    ),
    (
        "dedupe-global",
        "[a]\nrw=write\nsize=64k\ndedupe_percentage=50\ndedupe_global=1\n\
                       dedupe_mode=working_set\ndedupe_working_set_percentage=50\nnumjobs=2\n",
    ),
    (
        "exitwhat",
        // The slow job leaves the fast one time for its first I/O on a busy machine.
        "[global]\nfilename=f\nfilesize=64k\nexitall=1\n[slow]\nrw=read\nnumber_ios=4\nrate_iops=8\n\
         exit_what=stonewall\n[fast]\nrw=randrw\nioengine=libaio\nrate=300,300\n\
         [last]\nstonewall\nrw=write\nnumber_ios=4\nexit_what=all\n[never]\nstonewall\nrw=read\n",
    ),
    ("fio-rand-RW", "[a]\nrw=randrw\nrwmixread=60\nrwmixwrite=40\nbs=4k\nsize=64k\nnumjobs=2\n"),
    (
        "fixed-rate-submission",
        "[a]\nsize=64k\nrw=read\nioengine=libaio\niodepth=4\n\
                               io_submit_mode=offload\nrate_iops=1000\n",
    ),
    (
        "flow",
        "[global]\nnorandommap\nioengine=libaio\niodepth=4\nsize=64k\nfilename=f\n\
              flow_sleep=100\n[a]\nrw=write\nflow=1\n[b]\nrw=randread\nflow=8\n",
    ),
    (
        "fsx",
        "[a]\nioengine=libaio\niodepth=1\nrw=randrw\nsize=64k\nbs=4k\nnorandommap\n\
             rwmixwrite=50\nrwmixread=50\n",
    ),
    (
        "iometer-file-access-server",
        "[a]\nbssplit=512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10\n\
                                    rw=randrw\nrwmixread=80\nsize=256k\niodepth=4\nioengine=libaio\n",
    ),
    (
        "jesd219",
        "[a]\nioengine=libaio\nrw=randrw\nnorandommap\nrandrepeat=0\nrwmixread=40\n\
         rwmixwrite=60\niodepth=8\nnumjobs=2\n\
         bssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3\n\
         blockalign=4k\nrandom_distribution=zoned:50/5:30/15:20/80\nsize=1m\ngroup_reporting\n",
    ),
    (
        // At the end of a window that decides the depth, counting begins anew, as with fio: the window is
        // the example's, so that a machine that stalls for a millisecond does not end it.
        "latency-profile",
        "[a]\nbs=4k\nrw=randread\nrandom_generator=lfsr\nioengine=libaio\n\
                         iodepth=8\nsize=64k\nlatency_target=5s\nlatency_window=5s\n\
                         latency_percentile=99.9\n",
    ),
    ("null", "[a]\nioengine=null\nsize=100m\nrw=randread\nnorandommap\nbs=64k\ngtod_reduce=1\n"),
    (
        "numa",
        "[global]\nioengine=libaio\nrw=randread\nbs=4k\niodepth=4\nsize=64k\n\
              [a]\nnuma_cpu_nodes=0\nnuma_mem_policy=bind:0\n",
    ),
    (
        "poisson-rate-submission",
        "[a]\nsize=64k\nrw=randread\nioengine=libaio\niodepth=4\n\
                                 io_submit_mode=offload\nrate_iops=2000\nrate_process=poisson\n",
    ),
    (
        "rand-zones",
        "[a]\nsize=256k\nbs=4k\nrw=randread\nnorandommap\n\
                    random_distribution=zoned:50/5:30/15:20/\n",
    ),
    (
        "ssd-steadystate",
        "[global]\nioengine=libaio\ngroup_reporting\nfilename=f\nsize=64k\n\
                         [fill]\nrw=write\niodepth=4\nbs=16k\n[steady]\nstonewall\nrw=randwrite\n\
                         bs=4k\nnumjobs=2\nwrite_bw_log=steady\n",
    ),
    (
        "ssd-test",
        "[global]\nbs=4k\nioengine=libaio\niodepth=4\nsize=64k\nfilename=f\n[a]\nrw=read\n\
                  stonewall\n[b]\nrw=randwrite\nstonewall\n",
    ),
    (
        "steadystate",
        "[global]\nthreads=1\ngroup_reporting\nsize=64k\n[a]\nfilename=/dev/null\n\
                     rw=write\nnumjobs=2\nss=iops:10%\nss_dur=30s\nss_ramp=10s\n\
                     [b]\nnew_group\nstonewall\nfilename=/dev/zero\nrw=randread\n\
                     ss=bw_slope:1%\nss_dur=10s\n",
    ),
    (
        "tiobench-example",
        "[global]\ndirect=0\nsize=64k\nbs=4k\ntimeout=5\nnumjobs=2\n\
                          [a]\nrw=write\n[b]\nstonewall\nrw=randread\n",
    ),
    (
        "waitfor",
        "[global]\nthreads=1\ngroup_reporting\nfilename=f\nfilesize=64k\n[a]\nrw=write\n\
                 numjobs=2\n[b]\nnew_group\nwait_for=a\nrw=randread\nnumjobs=2\n",
    ),
    (
        "zipf",
        "[a]\nioengine=null\nrw=randread\nnorandommap\nsize=1280k\nbs=4k\n\
              random_distribution=zipf:0.5\n",
    ),
];

#[test]
fn fios_example_jobs_run() {
    for (name, text) in EXAMPLES {
        let (directory, report) = run_text(text);
        for job in &report.jobs {
            assert_eq!(job.error, None, "{name}");
            assert!(operations(job) > 0, "{name}: {}", job.name);
        }
        let logs = std::fs::read_dir(directory.path()).expect("a directory").flatten();
        let logs = logs.filter(|entry| entry.file_name().to_string_lossy().contains("log"));
        assert_eq!(logs.count(), 0, "{name}: the engine itself writes no log");
    }
}

#[test]
fn examples_are_listed_in_the_documentation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/validation/parity.md");
    let text = std::fs::read_to_string(path).expect("docs/validation/parity.md");
    for (name, _) in EXAMPLES {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}

fn operations(job: &JobReport) -> u64 {
    job.read.operations + job.write.operations
}

/// The jobs that were run, by name.
fn names(report: &EngineReport) -> Vec<&str> {
    report.jobs.iter().map(|job| job.name.as_str()).collect()
}

#[test]
fn a_flow_shares_out_the_ios() {
    for engine in ["psync", "libaio\niodepth=4"] {
        let directory = tempfile::tempdir().expect("temp");
        let text = format!(
            "[global]\nioengine={engine}\nbs=4k\nnorandommap\nrw=randread\nsize=4m\n\
             [a]\nflow=1\n[b]\nio_size=3200k\nflow=8\n"
        );
        let (_, issued) = run_traced(&jobs(&text), directory.path());
        let last = issued.iter().rposition(|one| one.job == 1).expect("it runs");
        let (a, b) = (issued[..=last].iter().filter(|one| one.job == 0).count(), last + 1);
        assert_eq!(b - a, 800);
        assert!((95..=105).contains(&a), "{engine}: {a}");
    }
}

#[test]
fn a_job_end_stops_what_exit_what_selects() {
    let text = |exit: &str| {
        format!(
            "[global]\nsize=64k\nbs=4k\nrw=read\n\
             [short]\nexitall\nexit_what={exit}\n\
             [long]\nnew_group\ntime_based\nruntime=2\nrate_iops=100\n\
             [friend]\nnew_group\ntime_based\nruntime=2\nrate_iops=100\n[next]\nstonewall\n"
        )
    };
    let ended = |exit: &str| {
        let (_directory, report) = run_text(&text(exit));
        let early = report.jobs.iter().filter(|job| job.elapsed_ns < 1_900_000_000).count();
        (names(&report).len(), early)
    };
    // The short job and the next one are early anyway.
    assert_eq!(ended("group"), (4, 2));
    assert_eq!(ended("stonewall"), (4, 4));
    assert_eq!(ended("all"), (3, 3));
}

#[test]
fn offload_keeps_the_depth_of_synchronous_engines() {
    for engine in ["psync", "libaio"] {
        let text = format!(
            "[a]\nioengine={engine}\nio_submit_mode=offload\niodepth=8\nrw=randrw\nbs=4k\n\
             size=1m\nverify=crc32c\nfsync=16\n"
        );
        let directory = tempfile::tempdir().expect("temp");
        let (report, issued) = run_traced(&jobs(&text), directory.path());
        let job = &report.jobs[0];
        assert_eq!((job.error.clone(), job.engine), (None, engine));
        assert_eq!(issued.iter().filter(|i| i.request.kind.moves_data()).count(), 256);
        assert!(issued.iter().any(|i| i.request.kind == RequestKind::Sync));
        assert!(job.depths[3] > 0, "5 to 8 in flight: {:?}", job.depths);
        assert!(job.verified.0 > 0 && job.verified.1 == 0);
    }
}

#[test]
fn null_touches_nothing() {
    for depth in [1, 4] {
        let (directory, report) = run_text(&format!(
            "[a]\nioengine=null\niodepth={depth}\nrw=randrw\nbs=4k\nsize=1m\nfilename=/dev/sda\n\
             unlink=1\nfsync=8\n"
        ));
        let job = &report.jobs[0];
        assert_eq!((job.error.clone(), job.engine, operations(job)), (None, "null", 256));
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
    }
}

#[test]
fn files_that_exist_need_no_size() {
    let directory = tempfile::tempdir().expect("temp");
    std::fs::write(directory.path().join("f"), vec![1; 10 << 12]).expect("written");
    std::fs::write(directory.path().join("g"), vec![1; 6 << 12]).expect("written");
    let context = JobContext::new(directory.path(), 1);
    let report = |text: &str| run(&jobs(text), &context);
    let all = report("[a]\nfilename=f:g\nrw=randread\nnumjobs=2\n").expect("runs");
    assert_eq!(all.jobs.iter().map(operations).collect::<Vec<_>>(), [16, 16]);
    let part = report("[a]\nfilename=f\nrw=read\noffset=8k\nloops=2\n").expect("runs");
    assert_eq!(operations(&part.jobs[0]), 16);
    // What the job before it makes is there, too.
    let two = report("[a]\nfilename=h\nrw=write\nsize=16k\n[b]\nfilename=h\nstonewall\nrw=read\n");
    assert_eq!(operations(&two.expect("runs").jobs[1]), 4);
    for (name, part) in [("none", "give `size`"), ("/dev/zero", "not a file or drive")] {
        let error = report(&format!("[a]\nfilename={name}\nrw=read\n")).expect_err(name);
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_latency_target_ends_at_the_depth_that_was_found() {
    for (engine, depth) in [("psync", 1), ("libaio", 16), ("io_uring", 16)] {
        let (_directory, report) = run_text(&format!(
            "[a]\nioengine={engine}\niodepth={depth}\nrw=randread\nbs=4k\nsize=1m\ntime_based\n\
             runtime=60\nlatency_target=10s\nlatency_window=2000\n"
        ));
        let job = &report.jobs[0];
        assert_eq!((job.error.clone(), job.depth), (None, depth), "{engine}");
        assert!(report.elapsed_ns < 30_000_000_000, "it ends by itself");
        let json = report.to_fio_json();
        assert_eq!(json["jobs"][0]["latency_target"], 10_000_000_000_u64);
    }
    let (_directory, report) =
        run_text("[a]\nrw=randread\nbs=4k\nsize=1m\nlatency_target=1ms\nrate_iops=1000\n");
    let error = report.jobs[0].error.clone();
    assert!(
        error.is_none_or(|failure| matches!(failure, IoFailure::LatencyTarget(_))),
        "an I/O alone was late"
    );
}

#[test]
fn a_steady_job_ends_before_its_time() {
    let (_directory, report) = run_text(
        "[a]\nrw=read\nbs=4k\nsize=64k\ntime_based\nruntime=60\nrate_iops=200\nss=iops:50%\n\
         ss_dur=2\n",
    );
    assert!(report.elapsed_ns < 40_000_000_000, "{}", report.elapsed_ns);
    let steadiness = report.jobs[0].steadiness.expect("judged");
    assert!(steadiness.attained && steadiness.criterion < 50.0);
    let steady = &report.to_fio_json()["jobs"][0]["steadystate"];
    assert_eq!((&steady["ss"], &steady["attained"]), (&"iops:50.000000%".into(), &1.into()));
}

#[test]
fn logs_are_called_as_fios() {
    let text = "[a]\nsize=64k\nwrite_bw_log\nwrite_lat_log=x/y\nnumjobs=2\n\
                [b]\nsize=64k\nwrite_iops_log=z\nper_job_logs=0\n";
    let all: Vec<Job> = jobs(text);
    let paths = |job: &Job, number: usize| {
        let paths = log_paths(&job.name, &job.reporting.logs, number);
        paths.iter().map(|(_, path)| path.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&all[0], 1), ["a_bw.2.log", "x/y_lat.2.log"]);
    assert_eq!(paths(&all[1], 2), ["z_iops.log"]);
    let (_directory, report) = run_text(text);
    let logs = report.wanted_logs();
    assert_eq!(logs.len(), 5);
    assert!(logs.iter().all(|(_, text)| text.lines().count() > 0), "{logs:?}");
}

//! How runs begin, wait and end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{
    context, directory, measure, read, read_with, row, run_in, script, sizes, strict,
};
use disklab_exec::Interrupt;
use disklab_filebench::{
    EarlyStop, FilebenchError, FilebenchSession, Options, RunProgress, SessionContext, run,
};
use disklab_wml::{Overrides, PERSONALITIES, Personality};

const SET: &str =
    "define fileset name=s,path=/x,entries=10,size=4k,dirwidth=5,dirgamma=0,prealloc=100";
const STAT: &str = "flowop statfile name=stat,filesetname=s";

fn threads(mode: &str, more: &str, flowops: &str) -> String {
    format!(
        "set mode quit {mode}\n{SET}\n{more}\n\
         define process name=p {{ thread name=t,instances=3 {{ {flowops} }} }}\nrun 60\n"
    )
}

#[test]
fn a_run_lasts_as_long_as_it_should() {
    let directory = directory();
    let personality = read_with(&threads("timeout", "", STAT), &[], Some(0.3));
    let report = run(&personality, &context(directory.path()), &Options::default()).expect("runs");
    let measured = &report.runs[0];
    assert_eq!(measured.elapsed_ns, 300_000_000);
    assert_eq!(measured.threads, 3);
    assert!(measured.summary.operations > 0 && measured.operations_per_second() > 0.0);
    assert_eq!(measured.summary.operations, measured.summary.histogram.count());
}

#[test]
fn a_warm_up_is_not_counted() {
    let directory = directory();
    // The one create is done at once; the deletes of nothing end it afterwards.
    let text = "define fileset name=s,path=/x,entries=1,dirwidth=5\n\
        define process name=p { thread name=t { \
        flowop createfile name=make,filesetname=s,fd=1 flowop delay name=wait,value=1000 } }\nrun 60";
    let options = Options { warm_up: Duration::from_millis(200), ..Options::default() };
    let personality = read_with(text, &[], Some(0.1));
    let report = run(&personality, &context(directory.path()), &options).expect("runs");
    assert_eq!(row(&report.runs[0], "make").0, 0);
    assert_eq!((report.runs[0].warm_up_ns, report.runs[0].elapsed_ns), (200_000_000, 100_000_000));
    assert_eq!(sizes(directory.path()).len(), 1);
}

#[test]
fn counts_and_bytes_end_a_run() {
    for (flowop, at_least, per_iteration) in [
        ("flowop finishoncount name=end,value=30", 30, 1),
        ("flowop finishoncount name=end,value=30,target=stat", 30, 1),
    ] {
        for options in [Options::default(), strict()] {
            let directory = directory();
            let text = script(SET, &format!("{STAT} {flowop}"));
            let measured = measure(directory.path(), &text, &options);
            assert_eq!(row(&measured, "stat").0, at_least * per_iteration, "{flowop}");
        }
    }
    let directory = directory();
    let text = script(
        SET,
        "flowop openfile name=o,filesetname=s,fd=1 \
        flowop read name=r,fd=1,iosize=4k flowop closefile name=c,fd=1 \
        flowop finishonbytes name=end,value=40k",
    );
    // More than 40 KiB: eleven reads.
    assert_eq!(row(&measure(directory.path(), &text, &Options::default()), "r").0, 11);
}

#[test]
fn in_alldone_each_thread_ends_by_itself() {
    let directory = directory();
    let flowops = "flowop deletefile name=delete,filesetname=s";
    let report = run_in(directory.path(), &threads("alldone", "", flowops), &Options::default());
    assert_eq!(row(&report.expect("runs").runs[0], "delete").0, 10);
    assert_eq!(sizes(directory.path()).len(), 0);
}

#[test]
fn an_early_stop_is_an_error_that_keeps_what_was_measured() {
    let directory = directory();
    let flowops = "flowop deletefile name=delete,filesetname=s";
    let error = run_in(directory.path(), &threads("timeout", "", flowops), &Options::default())
        .expect_err("no files are left");
    let FilebenchError::Early { report, reason } = error else { panic!("{error}") };
    let EarlyStop::NoFile { flowop, what, set } = &*reason else { panic!("{reason}") };
    assert_eq!((&**flowop, &**what, &**set), ("delete", "existing file", "s"));
    assert_eq!(reason.to_string(), "flowop 'delete' found no existing file in 's'");
    // What the other threads were just doing is not counted.
    assert!((8..=10).contains(&row(&report.runs[0], "delete").0));
    assert!(report.runs[0].elapsed_ns > 0);
}

#[test]
fn flowops_that_cannot_be_done_show_their_place() {
    for (flowops, part) in [
        ("flowop closefile name=c,fd=3", "closes slot 3"),
        ("flowop fsync name=c,fd=3", "syncs slot 3"),
        (
            "flowop openfile name=o,filesetname=s,fd=1 flowop openfile name=p,filesetname=s,fd=1",
            "'p' opens slot 1",
        ),
    ] {
        let directory = directory();
        let text = script(SET, flowops);
        let Ok(personality) = std::panic::catch_unwind(|| read(&text)) else {
            // The parser found it first: as well.
            continue;
        };
        let error =
            run(&personality, &context(directory.path()), &Options::default()).expect_err(part);
        let FilebenchError::Early { reason, .. } = error else { panic!("{error}") };
        let EarlyStop::Impossible { at, .. } = *reason else { panic!("{reason}") };
        assert!(at.message.contains(part), "{at}");
        assert_eq!((&*at.file, at.line), ("test.f", 3));
    }
}

#[test]
fn limits_let_through_what_events_there_are() {
    // In 0.5 s there are 50 events, at most 51 with the one at the end.
    for (limit, options, most) in [
        ("flowop eventlimit name=l", Options::default(), 51 + 3),
        ("flowop opslimit name=l", Options::default(), 51 + 3),
        ("flowop iopslimit name=l,target=read", Options::default(), 51 + 3),
    ] {
        let directory = directory();
        let flowops = format!("flowop read name=read,filesetname=s,iosize=4k {limit}");
        let text = threads("timeout", "eventgen rate=100", &flowops);
        let text = if limit.contains("opslimit name") {
            text.replace("instances=3", "instances=1")
        } else {
            text
        };
        let personality = read_with(&text, &[], Some(0.5));
        let report = run(&personality, &context(directory.path()), &options).expect("runs");
        let (reads, _) = row(&report.runs[0], "read");
        assert!((1..=most).contains(&reads), "{limit}: {reads}");
    }
}

#[test]
fn bandwidth_is_limited_in_mebibytes() {
    let directory = directory();
    let set = "define file name=f,path=/x,size=64k,prealloc\neventgen rate=10";
    let text = format!(
        "{set}\ndefine process name=p {{ thread name=t {{ \
         flowop read name=r,filename=f,iosize=64k flowop bwlimit name=l }} }}\nrun 60"
    );
    let personality = read_with(&text, &[], Some(0.5));
    let report = run(&personality, &context(directory.path()), &Options::default()).expect("runs");
    // 10 MiB/s for half a second, in pieces of a MiB.
    let (_, bytes) = row(&report.runs[0], "r");
    assert!(bytes > 0 && bytes <= 6 << 20, "{bytes}");
}

#[test]
fn threads_wake_and_count_on_one_another() {
    let directory = directory();
    let text = format!(
        "set mode quit firstdone\n{SET}\n\
         define process name=a {{ thread name=t {{ flowop block name=wait flowop statfile name=stat,filesetname=s \
         flowop sempost name=post,value=1,target=sem,blocking flowop wakeup name=back,target=done }} }}\n\
         define process name=b {{ thread name=t {{ flowop wakeup name=go,target=wait \
         flowop semblock name=sem,value=1,highwater=1 flowop block name=done \
         flowop finishoncount name=end,value=5,target=sem }} }}\nrun 60"
    );
    let measured = measure(directory.path(), &text, &Options::default());
    assert_eq!((row(&measured, "stat").0, row(&measured, "sem").0), (5, 5));
}

#[test]
fn the_same_seed_does_the_same() {
    let text = script(
        "set $size=randvar(type=gamma,mean=20k)\n\
         define fileset name=s,path=/x,entries=50,size=$size,dirwidth=4,prealloc=60",
        "flowop createfile name=c,filesetname=s,fd=1 flowop writewholefile name=w,fd=1 \
         flowop appendfilerand name=a,fd=1,iosize=8k flowop closefile name=cc,fd=1 \
         flowop deletefile name=d,filesetname=s \
         flowop finishoncount name=end,value=40,target=c",
    );
    let once = |seed, options: &Options| {
        let directory = directory();
        let place = SessionContext { seed, ..context(directory.path()) };
        let report = run(&read(&text), &place, options).expect("runs");
        let rows: Vec<_> =
            report.runs[0].rows.iter().map(|r| (r.counted.operations, r.counted.bytes)).collect();
        (rows, sizes(directory.path()))
    };
    let compat = Options { compat_rng: true, strict: true, ..Options::default() };
    assert_eq!(once(1, &Options::default()), once(1, &Options::default()));
    assert_ne!(once(1, &Options::default()), once(2, &Options::default()));
    assert_eq!(once(1, &compat), once(2, &compat));
}

#[test]
fn the_user_can_stop_it() {
    let interrupt = Interrupt::new();
    let directory = directory();
    let place = SessionContext { interrupt: interrupt.clone(), ..context(directory.path()) };
    let text = threads("timeout", "", "flowop delay name=d,value=1000");
    let result = std::thread::scope(|scope| {
        let handle = scope.spawn(|| run(&read(&text), &place, &Options::default()));
        while sizes(directory.path()).len() < 10 {
            std::thread::sleep(Duration::from_millis(5));
        }
        interrupt.raise();
        handle.join().expect("ends")
    });
    assert!(result.expect_err("stopped").is_interrupt());
}

#[test]
fn wrong_places_are_reported_and_nothing_is_overwritten() {
    let text = script(SET, STAT);
    let error = run_in(std::path::Path::new("/no/such/place"), &text, &Options::default());
    assert!(error.expect_err("missing").to_string().contains("/no/such/place"));
    let directory = directory();
    std::fs::create_dir(directory.path().join("s")).expect("directory");
    std::fs::write(directory.path().join("s/mine"), "precious").expect("file");
    let error = run_in(directory.path(), &text, &Options::default()).expect_err("exists");
    assert!(error.to_string().contains("exists already"), "{error}");
    assert_eq!(std::fs::read(directory.path().join("s/mine")).expect("kept"), b"precious");
}

#[test]
fn a_tree_is_reused_and_removed() {
    let directory = directory();
    let text =
        script(&format!("{SET},reuse"), &format!("{STAT} flowop finishoncount name=e,value=1"));
    measure(directory.path(), &text, &Options::default());
    let file = directory.path().join("s/00000001/00000001");
    std::fs::write(&file, vec![1; 9000]).expect("longer");
    std::fs::write(directory.path().join("s/00000001/00000002"), "short").expect("shorter");
    let personality = Arc::new(read(&text));
    let mut session =
        FilebenchSession::new(personality, context(directory.path()), Options::default())
            .expect("drawn");
    assert_eq!(session.extent(), (10, 40 << 10));
    session.prepare().expect("made");
    assert!(sizes(directory.path()).values().all(|size| *size == 4096));
    assert_eq!(std::fs::read(&file).expect("kept"), vec![1; 4096]);
    session.measure().expect("runs");
    session.remove().expect("removed");
    assert_eq!(std::fs::read_dir(directory.path()).expect("directory").count(), 0);
}

/// The attack of 21.26 through a personality: a file of a tree that is to be reused leads
/// out of it, to a device for instance.
#[test]
fn a_link_in_a_reused_tree_is_not_followed() {
    for trust in ["reuse", "trusttree"] {
        let directory = directory();
        let once = "flowop finishoncount name=e,value=1";
        let write = "flowop writewholefile name=w,filesetname=s,iosize=4k \
                     flowop finishoncount name=e,value=10";
        let made = script(&format!("{SET},reuse"), &format!("{STAT} {once}"));
        measure(directory.path(), &made, &Options::default());
        let precious = directory.path().join("precious");
        std::fs::write(&precious, "data").expect("written");
        for serial in 1..=5 {
            let file = directory.path().join(format!("s/00000001/{serial:08}"));
            std::fs::remove_file(&file).expect("there");
            std::os::unix::fs::symlink(&precious, &file).expect("linked");
        }
        let text = script(&format!("{SET},{trust}"), write);
        let error = run_in(directory.path(), &text, &Options::default()).expect_err("refused");
        assert!(error.to_string().contains("symbolic links"), "{trust}: {error}");
        assert_eq!(std::fs::read(&precious).expect("read"), b"data", "{trust}");
    }
}

#[test]
fn programs_are_not_started_and_that_is_noted() {
    let directory = directory();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let text = format!(
        "{SET}\nset mode quit firstdone\ncreate files\nsystem \"touch {0}/hacked\"\n\
         system \"sync; echo 3 > /proc/sys/vm/drop_caches\"\necho \"hello\"\n\
         define process name=p {{ thread name=t {{ {STAT} flowop print name=say,value=7 \
         flowop finishoncount name=e,value=1 }} }}\nrun 60",
        directory.path().display()
    );
    let sink = Arc::clone(&lines);
    let progress = RunProgress::new(move |line| sink.lock().expect("lines").push(line.to_owned()));
    let place = SessionContext { progress, ..context(directory.path()) };
    let report = run(&read(&text), &place, &Options::default()).expect("runs");
    assert!(!directory.path().join("hacked").exists());
    assert_eq!(report.notes.len(), 2, "{:?}", report.notes);
    let lines = lines.lock().expect("lines");
    assert!(lines.iter().any(|l| l == "hello") && lines.iter().any(|l| l == "say: 7"), "{lines:?}");
}

#[test]
fn every_shipped_personality_runs() {
    let mut done = Vec::new();
    for built_in in PERSONALITIES {
        let directory = directory();
        let first = Personality::read(&built_in.source(), &Overrides::default()).expect("valid");
        let small = [
            ("nfiles", "600"),
            ("filesize", "1m"),
            ("nthreads", "4"),
            ("usermode", "100"),
            ("nshadows", "5"),
            ("meanfilesize", "16k"),
        ];
        let known = |name: &str| first.variables.iter().any(|v| v.name == name);
        let variables = small
            .iter()
            .filter(|(name, _)| known(name))
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let mut overrides = Overrides { variables, run_time: None };
        // On a busy machine a thread may have to wait for long until it has its turn.
        let tries = [100, 1000, 10_000].map(Duration::from_millis);
        for (options, time) in
            [Options::default(), strict()].into_iter().flat_map(|o| tries.map(|t| (o.clone(), t)))
        {
            if done.contains(&(built_in.name, options.strict)) {
                continue;
            }
            overrides.run_time = Some(time);
            let personality = Personality::read(&built_in.source(), &overrides)
                .unwrap_or_else(|error| panic!("{}: {error}", built_in.name));
            let inner = directory.path().join(if options.strict { "strict" } else { "default" });
            std::fs::create_dir(&inner).expect("directory");
            let operations = match run(&personality, &context(&inner), &options) {
                Ok(report) => report.runs[0].summary.operations,
                // As Filebench itself, which runs out of files.
                Err(FilebenchError::Early { report, reason }) if options.strict => {
                    assert!(
                        matches!(*reason, EarlyStop::NoFile { .. }),
                        "{}: {reason}",
                        built_in.name
                    );
                    report.runs[0].summary.operations
                }
                Err(error) => panic!("{}: {error}", built_in.name),
            };
            if operations > 0 {
                done.push((built_in.name, options.strict));
            }
            std::fs::remove_dir_all(&inner).expect("removed");
        }
    }
    assert_eq!(done.len(), 2 * PERSONALITIES.len(), "{done:?}");
}

#[test]
fn threads_that_share_a_file_wait_for_it() {
    for options in [Options::default(), strict()] {
        let directory = directory();
        let text = "define file name=f,path=/x,size=64k,prealloc\n\
            define process name=p { thread name=t,instances=8 { \
            flowop openfile name=o,filename=f,fd=1 flowop closefile name=c,fd=1 } }\nrun 60";
        let personality = read_with(text, &[], Some(0.2));
        run(&personality, &context(directory.path()), &options).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn files_that_cannot_fit_are_refused_before_any_is_made() {
    let directory = directory();
    let text = "define fileset name=s,path=/x,entries=1000,size=1000g,dirwidth=20,prealloc=50\n\
        define process name=p { thread name=t { flowop statfile name=o,filesetname=s } }\nrun 1";
    let error = run_in(directory.path(), text, &Options::default()).expect_err("no room");
    assert!(error.to_string().contains("make fewer or smaller ones"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).expect("directory").count(), 0);
}

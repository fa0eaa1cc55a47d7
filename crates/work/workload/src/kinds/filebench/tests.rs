use std::fs;

use disklab_sample::Direction;

use crate::testing::{read, read_in, run_in};

const SMALL: &str = "personality = 'fileserver'\nruntime = '0.3 s'\n\
    variables = { nfiles = 300, nthreads = 3, meanfilesize = '8k' }";

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("temp")
}

#[test]
fn a_file_server_runs_and_has_figures() {
    let workload = read("filebench", SMALL, 1.0).expect("valid");
    let directory = directory();
    let ran = run_in(&*workload, directory.path(), None).expect("runs");
    assert_eq!(ran.steps.len(), 1);
    assert_eq!(ran.steps[0].name, "fileserver");
    let figure = &ran.steps[0].figures[0];
    assert_eq!(figure.direction, Direction::Mixed);
    assert_eq!(figure.elapsed_ns, 300_000_000);
    let operations = figure.operations.expect("counted");
    assert!(operations > 0 && figure.bytes > 0);
    assert_eq!(figure.latency.as_ref().expect("measured").histogram.count(), operations);
    assert!(ran.notes.is_empty(), "{:?}", ran.notes);
}

#[test]
fn each_flowop_can_have_figures_of_its_own() {
    let workload = read("filebench", &format!("{SMALL}\nflowops = true"), 1.0).expect("valid");
    let directory = directory();
    let ran = run_in(&*workload, directory.path(), None).expect("runs");
    let sum: u64 = ran.steps[1..].iter().filter_map(|step| step.figures[0].operations).sum();
    assert_eq!(Some(sum), ran.steps[0].figures[0].operations);
    assert!(ran.steps.iter().any(|step| step.name == "readfile1"));
}

#[test]
fn scaling_takes_files_away_and_keeps_their_size() {
    let workload = read("filebench", SMALL, 0.5).expect("valid");
    let full = read("filebench", SMALL, 1.0).expect("valid");
    let (half, full) = (workload.cost(), full.cost());
    assert_eq!(half.prewrite.0 * 2, full.prewrite.0);
    assert_eq!(full.prewrite.0, 300 * 8192 / 100 * 80);
    assert_eq!((half.fixed_seconds, full.fixed_seconds), (0.3, 0.3));
    let directory = directory();
    let ran = run_in(&*workload, directory.path(), None).expect("runs");
    assert!(ran.notes[0].text.contains("nfiles: 300 to 150"), "{:?}", ran.notes);
    let single =
        "personality = 'singlestreamread'\nruntime = '0.1 s'\nvariables = { filesize = '1m' }";
    let cost = read("filebench", single, 0.25).expect("valid").cost();
    assert_eq!(cost.prewrite.0, 256 << 10);
}

#[test]
fn a_run_that_ends_early_fails_with_its_reason() {
    let body = "text = 'define fileset name=s,path=/x,entries=3,prealloc=100,dirwidth=5 \
        define process name=p { thread name=t { flowop deletefile name=d,filesetname=s } } run 60'";
    let workload = read("filebench", body, 1.0).expect("valid");
    let directory = directory();
    let error =
        run_in(&*workload, directory.path(), None).expect_err("nothing is left").to_string();
    assert!(error.contains("stopped early") && error.contains("'d' found no existing"), "{error}");
}

#[test]
fn scripts_lie_next_to_the_study() {
    let directory = directory();
    let script = "set $n=5\ndefine fileset name=s,path=/x,entries=$n,prealloc=100,dirwidth=9\n\
        define process name=p { thread name=t { flowop statfile name=d,filesetname=s } }\nrun 7\n";
    fs::write(directory.path().join("own.f"), script).expect("script");
    let body = "file = 'own.f'\nvariables = { n = 9 }\nwarm-up = '3 s'";
    let workload = read_in("filebench", body, 1.0, directory.path()).expect("valid");
    assert_eq!(workload.cost().fixed_seconds, 10.0);
}

#[test]
fn its_fields_are_checked() {
    for (body, part) in [
        ("", "personality"),
        ("personality = 'fileservr'", "did you mean 'fileserver'"),
        ("personality = 'varmail'\nvariables = { '$n' = 1 }", "without the $"),
        ("personality = 'varmail'\nvariables = { nfile = 1 }", "nfile"),
        ("personality = 'varmail'\nrun = 60", "unknown field 'run'"),
        ("personality = 'varmail'\ntext = 'run 5'", "one of"),
        ("text = 'define nonsense'", "text:1:"),
        ("file = 'missing.f'", "cannot read"),
        ("personality = 'varmail'\ncontent = 'ones'", "content"),
    ] {
        let error = read("filebench", body, 1.0).expect_err(body).to_string();
        assert!(error.contains(part), "{error}");
    }
}

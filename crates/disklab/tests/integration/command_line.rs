//! The program as its users meet it: what it lists, what it refuses.

use std::path::Path;

use crate::command_support::disklab;
use predicates::prelude::*;
use predicates::str::contains;

const TINY: &str = r#"
id = "tiny"
title = "Tiny"
[[drives]]
model = "m"
size = "1 GB"
[layouts]
single = { drives = 1 }
[file-systems]
ext4 = "ext4"
[[workloads]]
id = "dd"
dd = { direction = "write", bs = "4k", count = 4 }
"#;

#[test]
fn usage_error_ends_with_2_and_touches_nothing() {
    let temp = tempfile::tempdir().expect("temp");
    let study = temp.path().join("tiny.toml");
    std::fs::write(&study, TINY).expect("write");
    let wrong = TINY.replace("\"ext4\"", "\"ext5\"");
    let wrong_path = temp.path().join("wrong.toml");
    std::fs::write(&wrong_path, wrong).expect("write");
    let huge = TINY.replace("bs = \"4k\", count = 4", "bs = \"1G\", count = 4000000");
    std::fs::write(temp.path().join("huge.toml"), huge).expect("write");
    let misspelt = TINY.replace("\"ext4\"", "\"xfs[noatim]\"");
    std::fs::write(temp.path().join("misspelt.toml"), misspelt).expect("write");
    let numbers: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    let many = TINY.replace("id = \"dd\"", "id = \"dd-{a}-{b}\"")
        + &format!("matrix = {{ a = [{0}], b = [{0}] }}\n", numbers.join(","));
    std::fs::write(temp.path().join("many.toml"), many).expect("write");
    std::fs::write(temp.path().join("binary.toml"), [0xff, 0xfe, 0]).expect("write");
    let cases: &[(&[&str], &str)] = &[
        (&["run"], "which study?"),
        (&["run", "no-such-study"], "expected a file, or one of first-look"),
        (&["run", "wrong.toml"], "wrong.toml:10:8: "),
        (&["run", "binary.toml"], "not UTF-8"),
        (&["run", "."], "cannot read the study"),
        (&["plan", "/dev/zero"], "'/dev/zero': it is a character device, not a regular file"),
        (&["fio", "/dev/zero"], "cannot read the job file /dev/zero: it is a character device"),
        (&["import", "/dev/zero", "--to", "x"], "cannot read /dev/zero: it is a character device"),
        (&["drive", "/dev/zero"], "'/dev/zero': it is a character device"),
        (&["run", "tiny.toml", "--on", "floppy"], "expected lab, loop, dir:PATH or disks:"),
        (&["run", "tiny.toml", "--on", "dir:/no/such/place"], "/no/such/place"),
        (&["run", "tiny.toml", "--on", "dir:tiny.toml"], "it is not a directory"),
        (&["run", "tiny.toml", "--on", "disks:/dev/sda"], "/dev/sda"),
        (&["run", "tiny.toml", "--on", "dir:.", "--only", "nothing"], "matches no cell"),
        (&["plan", "tiny.toml", "--on", "dir:.", "--only", "nothing"], "matches no cell"),
        (&["run", "huge.toml", "--on", "dir:."], "make the files smaller with --scale"),
        (&["run", "tiny.toml", "--repeats", "0"], "--repeats"),
        (&["run", "tiny.toml", "--scale", "1/0"], "--scale"),
        (&["plan", "tiny.toml", "--scale", "-1"], "expected a factor from above 0"),
        (&["plan", "tiny.toml", "--scale", "-1/16"], "expected a factor from above 0"),
        (&["plan", "tiny.toml", "--repeats", "-3"], "-3 is not in 1..=1000"),
        (&["plan", "tiny.toml", "--seed", "-1"], "expected an integer from 0 to"),
        (&["merge", "nowhere", "nor-here", "--out", "new"], "nowhere"),
        (
            &["plan", "misspelt.toml", "--on", "loop"],
            "no mount option 'noatim' (did you mean 'noatime'?)",
        ),
        (
            &["plan", "many.toml", "--on", "loop", "--repeats", "1000"],
            "a run has at most 1000000 cells",
        ),
        (&["filebench", "fileserver", "--run", "0"], "a run of 0 seconds measures nothing"),
        (&["filebench", "fileserver", "--set", "nthreads=0"], "no thread runs"),
        (&["run", "--resume"], "--out"),
        (&["run", "--resume", "--out", "nowhere"], "not a run directory"),
        (&["report", "nowhere"], "not a run directory"),
        (&["report", "nowhere", "--verbose"], "--verbose is for --format text"),
        (&["plan", "tiny.toml", "--drive-size", "big"], "is not a size"),
        (&["plan", "nas", "--processor", "atom-d2701"], "did you mean 'atom-d2700'"),
        (&["plan", "nas", "--processor", "./no.toml"], "cannot read the processor file"),
        (&["lab", "shell", "--scsi-timeout", "0s"], "expected whole seconds, up to a day"),
        (&["list", "potatoes"], "potatoes"),
        (&["plan", "first-look", "--quick"], "'first-look' has no quick form"),
        (&["run", "tiny.toml", "--quick"], "'tiny' has no quick form"),
        (&["plan", "nas", "--quick", "--scale", "1/2"], "cannot be used with"),
        (&["frobnicate"], "frobnicate"),
    ];
    let before = listing(temp.path());
    for (args, expected) in cases {
        disklab(temp.path())
            .args(*args)
            .assert()
            .code(2)
            .stderr(contains(*expected))
            .stderr(contains("panicked").not());
    }
    assert_eq!(listing(temp.path()), before, "something was made");
}

/// Names below a directory, without what disklab keeps its own books in.
fn listing(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .expect("directory")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "disklab")
        .collect();
    names.sort();
    names
}

#[test]
fn a_plan_costs_nothing_and_says_what_a_run_would() {
    let temp = tempfile::tempdir().expect("temp");
    std::fs::write(temp.path().join("tiny.toml"), TINY).expect("write");
    let out = disklab(temp.path())
        .args(["plan", "tiny.toml", "--on", "dir:.", "--seed", "5", "--order", "--json"])
        .assert()
        .success();
    let plan: serde_json::Value = serde_json::from_slice(&out.get_output().stdout).expect("JSON");
    assert_eq!(plan["cells"], 3);
    assert_eq!(plan["seed"], 5);
    assert_eq!(plan["order"].as_array().map(Vec::len), Some(3));
    assert!(plan["predicted_seconds"].as_f64().is_some_and(|s| s > 0.0));
    assert_eq!(listing(temp.path()), ["tiny.toml"]);
}

#[test]
fn plan_survives_closed_stderr() {
    let temp = tempfile::tempdir().expect("temp");
    let (reader, writer) = std::io::pipe().expect("pipe");
    drop(reader);
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("disklab"));
    command.args(["plan", "no-such-study"]).current_dir(temp.path()).stderr(writer);
    let status = command.stdin(std::process::Stdio::null()).status().expect("it starts");
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_plan_names_workloads_that_no_question_asks_about() {
    let temp = tempfile::tempdir().expect("temp");
    let study = |questions: &str| {
        let text = format!(
            "id = \"s\"\ntitle = \"S\"\n[[drives]]\nmodel = \"m\"\nsize = \"1 TB\"\n[stacks]\n\
             a = {{ layers = \"ext4\", drives = 1 }}\n\
             [[workloads]]\nid = \"asked\"\nfio = {{ rw = \"write\", size = \"1M\" }}\n\
             [[workloads]]\nid = \"other\"\nfio = {{ rw = \"write\", size = \"1M\" }}\n{questions}"
        );
        std::fs::write(temp.path().join("s.toml"), text).expect("study");
        disklab(temp.path()).args(["plan", "s.toml", "--on", "dir:."]).assert().code(0)
    };
    study("[[questions]]\nask = \"?\"\nworkloads = \"asked\"\n")
        .stdout(contains("no question asks about other: the report shows"));
    study("[[questions]]\nask = \"?\"\nworkloads = \"*\"\n")
        .stdout(contains("no question asks").not());
    study("").stdout(contains("no question asks").not());
}

#[test]
fn a_plan_names_workloads_that_do_too_little_for_an_answer() {
    let temp = tempfile::tempdir().expect("temp");
    let plan = |scale: &str| {
        let arguments = ["plan", "first-look", "--on", "dir:.", "--scale", scale];
        disklab(temp.path()).args(arguments).assert().code(0)
    };
    plan("1/1024")
        .stdout(contains("too little").and(contains("read-1m: 1 MiB of at least 32 MiB")));
    plan("1").stdout(contains("too little").not());
}

#[test]
fn a_plan_reports_a_missing_kernel() {
    let temp = tempfile::tempdir().expect("temp");
    let cache = temp.path().join("nothing here");
    let plan = |study: &str| {
        let mut command = disklab(temp.path());
        command.args(["plan", study]).env("XDG_CACHE_HOME", &cache);
        command.env_remove("DISKLAB_LAB_KERNEL").assert().success()
    };
    let there = cache.join("disklab/kernel").display().to_string();
    plan("first-look")
        .stdout(contains("one with ext4 xfs btrfs is not there yet: the run builds it first, once"))
        .stdout(contains(there));
    plan("nas").stdout(contains("one with ZFS is not there yet"));
    let mut doctor = disklab(temp.path());
    doctor.arg("doctor").env("XDG_CACHE_HOME", &cache).env_remove("DISKLAB_LAB_KERNEL");
    doctor.assert().success().stdout(contains("lab kernel"));
}

#[test]
fn lists_are_for_people_and_programs() {
    let temp = tempfile::tempdir().expect("temp");
    for (what, word) in [
        ("studies", "synology-2018"),
        ("stacks", "md-raid5"),
        ("workloads", "fio"),
        ("workloads", "shipped (streams)"),
        ("drives", ""),
        ("processors", "Intel Atom D2700"),
        ("processors", "crc32: 275 MB/s"),
    ] {
        disklab(temp.path()).args(["list", what]).assert().success().stdout(contains(word));
        let out = disklab(temp.path()).args(["list", what, "--json"]).assert().success();
        let rows: serde_json::Value =
            serde_json::from_slice(&out.get_output().stdout).expect("JSON");
        assert!(rows.is_array());
    }
}

/// What bash would offer for the last of these words.
fn offered(dir: &Path, words: &[&str]) -> Vec<String> {
    let mut shell = disklab(dir);
    shell.env("DISKLAB_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    shell.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let out = shell.args(["--", "disklab"]).args(words).assert().success();
    String::from_utf8_lossy(&out.get_output().stdout).lines().map(str::to_owned).collect()
}

#[test]
fn completions_know_commands_options_studies_drives_and_files() {
    let temp = tempfile::tempdir().expect("temp");
    std::fs::write(temp.path().join("my.toml"), TINY).expect("write");
    for (words, expected) in [
        (&["d"][..], &["doctor", "drive"][..]),
        (&["run", "--retry"], &["--retry-failed"]),
        (&["plan", "na"], &["nas", "nas-life"]),
        (&["run", "smr"], &["smr-2015"]),
        (&["run", "m"], &["my.toml"]),
        (&["drive", "hgst"], &["hgst-10tb"]),
        (&["plan", "nas", "--processor", "atom"], &["atom-d2700"]),
        (&["list", "au"], &["audits"]),
        (&["fio", "--out"], &["--output", "--output-format"]),
        (&["fio", "--output-format", "js"], &["json", "json+"]),
    ] {
        let offered = offered(temp.path(), words);
        for word in expected {
            assert!(offered.iter().any(|o| o.trim() == *word), "{words:?}: {offered:?}");
        }
    }
    for shell in ["bash", "zsh", "fish"] {
        disklab(temp.path())
            .args(["completions", shell])
            .assert()
            .success()
            .stdout(contains("DISKLAB_COMPLETE").and(contains("disklab")));
    }
    disklab(temp.path()).args(["completions", "csh"]).assert().code(2).stderr(contains("bash"));
}

#[test]
fn man_pages_know_options() {
    let temp = tempfile::tempdir().expect("temp");
    disklab(temp.path()).args(["man", "."]).assert().success();
    let page = std::fs::read_to_string(temp.path().join("disklab-run.1")).expect("man page");
    assert!(page.contains("resume"), "{page}");
}

#[test]
fn a_study_that_lacks_programs_ends_with_what_to_install() {
    let temp = tempfile::tempdir().expect("temp");
    disklab(temp.path())
        .args(["plan", "nas"])
        .env("PATH", temp.path())
        .assert()
        .code(2)
        .stderr(contains("to run them: apt-get install ").and(contains(" coreutils")));
}

#[test]
fn options_that_the_bench_would_ignore_are_refused() {
    let temp = tempfile::tempdir().expect("temp");
    for (options, wanted) in [
        (&["--drive-size", "1G"][..], "--drive-size applies only to --on loop"),
        (&["--drive-size", "1G", "--on", "dir:."], "--drive-size applies only to --on loop"),
        (&["--memory", "2G", "--on", "dir:."], "--memory applies only to the lab"),
        (&["--at-once", "2", "--on", "loop"], "--at-once applies only to the lab"),
        (&["--cell-limit", "2h", "--on", "loop"], "--cell-limit applies only to the lab"),
        (&["--erase", "ABC"], "--erase applies only to --on disks:"),
    ] {
        let mut plan = disklab(temp.path());
        plan.args(["plan", "first-look"]).args(options).assert().code(2).stderr(contains(wanted));
    }
}

#[test]
fn a_pattern_may_be_a_stack_or_a_workload() {
    let temp = tempfile::tempdir().expect("temp");
    let cells = |pattern: &str| {
        let mut plan = disklab(temp.path());
        plan.args(["plan", "first-look", "--json", "--repeats", "1", "--only", pattern]);
        let out = plan.assert().success();
        let plan: serde_json::Value =
            serde_json::from_slice(&out.get_output().stdout).expect("JSON");
        plan["cells"].as_u64().expect("a number")
    };
    assert_eq!(cells("single/ext4"), cells("single/ext4:*"));
    assert_eq!(cells("single/ext4"), 6);
    assert_eq!(cells("*:randread-4k"), cells("randread-4k"));
    // The space of stacks that nobody asked for is not told.
    let mut plan = disklab(temp.path());
    plan.args(["plan", "first-look", "--without", "single/*"]);
    let said = plan.assert().success();
    let said = String::from_utf8_lossy(&said.get_output().stdout);
    assert!(said.contains("btrfs-raid1") && !said.contains("single/ext4"), "{said}");
}

#[test]
fn doctor_names_what_is_missing_and_its_package() {
    let temp = tempfile::tempdir().expect("temp");
    let out = disklab(temp.path()).args(["doctor", "--json"]).assert().success();
    let answer: serde_json::Value = serde_json::from_slice(&out.get_output().stdout).expect("JSON");
    let needs = answer["needs"].as_array().expect("a list");
    let fio = needs.iter().find(|n| n["name"] == "fio").expect("fio is asked for");
    assert!(fio["here"].is_boolean());
    assert_eq!(fio["remedy"], "apt-get install fio");
}

#[test]
fn plan_of_nas_follows_the_studys_goal_and_form() {
    let temp = tempfile::tempdir().expect("temp");
    let plan = |words: &[&str]| {
        let mut plan = disklab(temp.path());
        plan.args(["plan", "nas", "--json", "--only", "single/*", "--seed", "1"]).args(words);
        let out = plan.assert().success();
        let json: serde_json::Value =
            serde_json::from_slice(&out.get_output().stdout).expect("JSON");
        json
    };
    let whole = plan(&[]);
    assert_eq!((&whole["goal_from_study"], &whole["quick"]), (&true.into(), &false.into()));
    assert_eq!(whole["campaign"]["first_look_blocks"], 3);
    // Said otherwise, or with nothing to compare, it is as the user says.
    let fixed = plan(&["--repeats", "6"]);
    assert_eq!((&fixed["goal_from_study"], &fixed["repeats"]), (&false.into(), &6.into()));
    assert!(fixed["campaign"].is_null());
    let ranked = plan(&["--goal", "rank"]);
    assert_eq!(ranked["goal_from_study"], false);
    let alone = plan(&["--without", "single/xfs", "--without", "single/btrfs"]);
    assert_eq!((&alone["goal_from_study"], &alone["repeats"]), (&false.into(), &6.into()));
    let quick = plan(&["--quick"]);
    assert_eq!(quick["quick"], true);
    let seconds = |plan: &serde_json::Value| plan["predicted_seconds"].as_f64().expect("seconds");
    assert!(seconds(&quick) < 0.8 * seconds(&whole), "{} {}", seconds(&quick), seconds(&whole));
    let mut words = disklab(temp.path());
    words.args(["plan", "nas", "--only", "single/*"]);
    let said = words.assert().success().stdout(contains("the study's own goal; --repeats 6 runs"));
    said.stdout(contains("all may be decided at the first look, after 3 blocks"));
}

#[test]
fn a_plan_says_whose_work_is_charged() {
    let temp = tempfile::tempdir().expect("temp");
    let said = |words: &[&str]| {
        let output = disklab(temp.path()).args(["plan", "nas"]).args(words).output();
        String::from_utf8_lossy(&output.expect("it runs").stdout).into_owned()
    };
    assert!(said(&[]).contains("CPU time is free"), "{}", said(&[]));
    let charged = said(&["--processor", "atom-d2700"]);
    assert!(
        charged.contains("charged as on Intel Atom D2700, 2.13 GHz (2 processors)"),
        "{charged}"
    );
}

#[test]
fn log_filter_that_is_invalid_is_a_usage_error() {
    let temp = tempfile::tempdir().expect("temp");
    let run = |filter: &str| {
        let mut command = disklab(temp.path());
        command.args(["list", "studies"]).env("DISKLAB_LOG", filter).assert()
    };
    run("disklab=loud").code(2).stderr(contains("invalid DISKLAB_LOG 'disklab=loud': expected"));
    assert!(listing(temp.path()).is_empty(), "something was made");
    run("trace").success();
}

/// Tests and the program that they start are built in one profile.
const VERSION: &str = if cfg!(debug_assertions) {
    concat!(env!("CARGO_PKG_VERSION"), " (quick build)")
} else {
    env!("CARGO_PKG_VERSION")
};

#[test]
fn record_and_version_say_how_disklab_was_built() {
    let temp = tempfile::tempdir().expect("temp");
    let version = format!("disklab {VERSION}\n");
    disklab(temp.path()).arg("--version").assert().success().stdout(version);
    std::fs::write(temp.path().join("tiny.toml"), TINY).expect("write");
    std::fs::create_dir(temp.path().join("dir")).expect("dir");
    let mut run = disklab(temp.path());
    run.args(["run", "tiny.toml", "--on", "dir:dir", "--repeats", "1", "--out", "run"]);
    // As short as this, it may have severe findings.
    run.assert().code(predicate::in_iter([0, 1]));
    let run = disklab_store::Run::open(&temp.path().join("run")).expect("a run");
    assert_eq!(run.info().expect("its description").disklab, VERSION);
}

use disklab_source::SourceError;
use proptest::prelude::*;

use crate::policy::{Policy, Runner};
use crate::section::{JobOption, Section};
use crate::testing::{place, read};
use crate::text::sections;

fn read_sections(text: &str, runner: Runner) -> Result<Vec<Section>, SourceError> {
    let locate = place(text);
    sections(text, &locate(0..0), &locate, Policy { runner, ..Policy::default() })
}

fn shown(section: &Section) -> Vec<String> {
    section.settings().iter().map(JobOption::argument).collect()
}

#[test]
fn globals_hold_for_the_sections_below_them() {
    let text = "; a comment\n[global]\nbs=4k ; trailing\nrw = read\n\n[one]\nsize=1m\n\
                # another\n[global]\nbs=8k\n[two words]\n\tsize=2m\n  stonewall  \n";
    let sections = read_sections(text, Runner::Native).expect("valid");
    assert_eq!(sections.len(), 2);
    assert_eq!(sections[0].name(), "one");
    assert_eq!(shown(&sections[0]), ["--bs=4k", "--rw=read", "--size=1m"]);
    assert_eq!(sections[1].name(), "two words");
    assert_eq!(
        shown(&sections[1]),
        ["--bs=4k", "--rw=read", "--bs=8k", "--size=2m", "--stonewall=1"]
    );
    assert_eq!(sections[1].get("bs"), Some("8k"));
    assert!(sections[1].flag("stonewall") && !sections[0].flag("stonewall"));
    assert!(sections[1].settings()[0].is_global() && !sections[1].settings()[3].is_global());
}

#[test]
fn endless_jobs_are_refused() {
    let error = read_sections(&"[a]\n".repeat(300), Runner::Native).expect_err("too many");
    assert_eq!((error.line, error.message.as_str()), (201, "more than 200 sections"));
    let text = format!("[a]\n{}", "bs=4k\n".repeat(6000));
    let error = read_sections(&text, Runner::Native).expect_err("too many");
    assert_eq!((error.line, error.message.as_str()), (5002, "more than 5000 options"));
    let text = format!("[global]\n{}{}", "bs=4k\n".repeat(1000), "[a]\nsize=1m\n".repeat(100));
    let error = read_sections(&text, Runner::Native).expect_err("too many");
    assert_eq!(error.line, 1102, "{error}");
    assert!(error.message.contains("50000 global options"), "{error}");
}

#[test]
fn errors_show_the_place() {
    for (text, line, column, part) in [
        ("bs=4k", 1, 1, "before the first section"),
        ("[a]\n  exec_prerun=rm -rf /\n", 2, 3, "runs a program"),
        ("[a]\nsize=1m\n[b\n", 3, 1, "[NAME]"),
        ("[a]\ninclude other.fio\n", 2, 1, "include"),
        ("[a]\nwhat is this\n", 2, 1, "no option"),
        ("[]\n", 1, 1, "[NAME]"),
        ("[global]\nbs=4k\n", 1, 1, "no section"),
        ("\n\n[a]\nblok_size=3\n", 4, 1, "no option 'blok_size'"),
        ("[a]\n=4k\n", 2, 1, "no option ''"),
        ("[a]\nsize = ${SIZE}\n", 2, 8, "has a '$'"),
        ("[a]\nbs=4k\u{1b}k\n", 2, 4, "control characters"),
    ] {
        let error = read(text, Policy::default()).expect_err(text);
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!((error.line, error.column), (line, column), "{error}");
    }
    let long = format!("[{}]", "x".repeat(300));
    let error = read(&long, Policy::default()).expect_err("long");
    assert!(error.message.contains("longer than the 255 bytes"), "{error}");
}

#[test]
fn the_option_name_renames_the_job_and_not_its_files() {
    let sections =
        read_sections("[a]\nname=b\nsize=1m\nhipri=1\nkb_base=1000\nioengine=sync", Runner::Fio);
    let section = sections.expect("valid").remove(0);
    assert_eq!((section.name(), section.header()), ("b", "a"));
    // The engine goes first; another `--name` would begin another job.
    let expected = [
        "--name=b",
        "--ioengine=sync",
        "--kb_base=1000",
        "--size=1m",
        "--hipri=1",
        "--filename_format=a.$jobnum.$filenum",
    ];
    assert_eq!(section.arguments(), expected);
    let jobs = read("[a]\nname=b\nsize=1m\n", Policy::default()).expect("valid");
    assert_eq!((jobs[0].name.as_str(), jobs[0].files.of(1, 0)[0].name.as_str()), ("b", "a.1.0"));
}

#[test]
fn a_global_name_leaves_the_jobs_their_own() {
    let text = "[global]\nname=g\nsize=1m\n[a]\n[b]\nname=c\nfilename_format=$jobname\n";
    let jobs = read(text, Policy::default()).expect("valid");
    let shown: Vec<(&str, String)> =
        jobs.iter().map(|job| (job.name.as_str(), job.files.of(0, 0)[0].name.clone())).collect();
    assert_eq!(shown, [("a", "a.0.0".to_owned()), ("c", "b".to_owned())]);
}

#[test]
fn sizes_are_scaled_to_whole_blocks() {
    let scaled = |options: &str, factor: f64| {
        let text = format!("[s]\n{options}");
        let mut section = read_sections(&text, Runner::Native).expect("valid").remove(0);
        let changes = section.scale(factor).expect("scaled");
        (changes, section)
    };
    let text = "bs=64k\nsize=1g\nio_limit=100m\noffset=0\nruntime=60\nnumber_ios=1000";
    let (changes, section) = scaled(text, 0.001);
    assert_eq!(changes, ["size 1g → 1m", "io_limit 100m → 128k", "number_ios 1000 → 1"]);
    let expected = [
        "--bs=64k",
        "--size=1m",
        "--io_limit=128k",
        "--offset=0",
        "--runtime=60",
        "--number_ios=1",
    ];
    assert_eq!(shown(&section), expected);
    let (_, section) = scaled("bs=4k\nsize=1m\nnrfiles=100", 1e-9);
    assert_eq!(section.get("size"), Some("400k"));
    let (_, section) = scaled("bs=4k\nsize=1m\nfilename=a:b:c", 1e-9);
    assert_eq!(section.get("size"), Some("12k"));
    let text = "[s]\nsize=1g\nrandom_distribution=zoned_abs:100/1m";
    let mut section = read_sections(text, Runner::Native).expect("valid").remove(0);
    let error = section.scale(0.5).expect_err("zones in bytes");
    assert!(error.line == 3 && error.message.contains("take `zoned`"), "{error}");
    let (changes, _) = scaled("bs=4k\nfilesize=64k-1m\nsize=10m", 0.1);
    assert_eq!(changes, ["filesize 64k-1m → 8k-104k", "size 10m → 1m"]);
    let (_, section) = scaled("kb_base=1000\nbs=1k\nsize=1m", 0.5);
    assert_eq!(section.get("size"), Some("500000"));
}

/// Jobs as people write them: in a text of their own, or as a table of options.
#[test]
fn the_studies_jobs_are_understood() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../studies");
    let (mut texts, mut tables) = (0, 0);
    for entry in std::fs::read_dir(directory).expect("studies") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("text");
        for block in text.split("job = \"\"\"\n").skip(1) {
            texts += 1;
            let block = block.split("\"\"\"").next().expect("text");
            if let Err(error) = read(block, Policy::default()) {
                panic!("{block}\n{error}");
            }
        }
        for line in text.lines().filter_map(|line| line.strip_prefix("fio = { ")) {
            tables += 1;
            // What a study fills in, and what it reads itself.
            let options = line.trim_end_matches(" }").replace("{rw}", "rw").replace("{bs}", "4k");
            let options: Vec<&str> =
                options.split(", ").filter(|o| !o.starts_with("prewrite")).collect();
            let job = format!("[table]\n{}\n", options.join("\n").replace('"', ""));
            if let Err(error) = read(&job, Policy::default()) {
                panic!("{job}\n{error}");
            }
        }
    }
    assert!(texts > 0 && tables > 0);
}

proptest! {
    #[test]
    fn no_text_panics(text in "(\\PC|\\[|\\]|=|\n|;|#| ){0,200}") {
        if let Err(error) = read(&text, Policy::default()) {
            prop_assert!(error.line >= 1 && error.line <= text.split('\n').count());
            prop_assert!(error.column >= 1);
        }
    }

    #[test]
    fn no_job_like_text_panics(
        lines in prop::collection::vec(
            "\\[(global|a|é)?\\]?|(size|bs|rw|iodepth|filesize|rate|verify|nrfiles|numjobs)?[ =]{0,2}[0-9kK%:,/-]{0,20}",
            0..20,
        ),
        factor in 1e-12_f64..1e12,
    ) {
        let text = lines.join("\n");
        if let Err(error) = read(&text, Policy::default()) {
            prop_assert!(error.line <= lines.len().max(1));
        }
        for section in &mut read_sections(&text, Runner::Fio).unwrap_or_default() {
            let _ = section.scale(factor);
            let _ = crate::jobs(std::slice::from_ref(section));
        }
    }
}

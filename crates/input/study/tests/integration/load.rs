//! The format, driven from outside as users write it.

use disklab_study::{ChartKind, load, matches};
use proptest::prelude::*;

const SMALL: &str = r#"
id = "small"
title = "Small"
repeats = 2
baseline = "raid1/ext4"

[[drives]]
model = "m"
name = "d"
count = 3
size = "1 TB"

[layouts]
single = { drives = 1 }
raid1 = { layers = "partition/md-raid1", drives = ["d-1", "d-3"] }
raid5 = "md-raid5[chunk=64K]"

[file-systems]
ext4 = "ext4"
[file-systems.btrfs]
layers = "btrfs"
options = { "" = "nodatasum", "csum" = "", "csum,compress" = "compress=zlib" }

[stacks."btrfs-raid1(both)"]
layers = "btrfs-raid1"
drives = ["d-1", "d-2"]
write-cache = "off"

[[workloads]]
id = "dd-{bs}"
each = [{ bs = "4k", count = 64 }, { bs = "1M", count = 8 }]
matrix = { flags = ["dsync"] }
dd = { bs = "{bs}", count = "{count}", flags = "{flags}" }

[[workloads]]
id = "cp"
caches = "keep"
copy = { size = "1 GB" }

[[exclude]]
stacks = "raid5/*"
workloads = "cp"
because = "it would take too long"

[[questions]]
ask = "How?"
workloads = ["dd-*"]
over = "bs"
"#;

#[test]
fn names_that_become_paths_are_one_component() {
    for (from, to, line) in [
        ("name = \"d\"", "name = \"../../../escape/precious\"", 9),
        ("name = \"d\"", "name = \"/etc/passwd\"", 9),
        ("name = \"d\"", "name = \"..\"", 9),
        ("name = \"d\"", "name = \"a\\u0000b\"", 9),
        ("id = \"small\"", "id = \"../small\"", 2),
        ("id = \"cp\"", "id = \"..\"", 36),
        ("single =", "\"../single\" =", 14),
        ("single =", "\"a//single\" =", 14),
        ("ext4 = \"ext4\"", "\"..\" = \"ext4\"", 19),
    ] {
        assert!(SMALL.contains(from), "{from}");
        let error = load("small.toml", &SMALL.replacen(from, to, 1)).expect_err(to);
        assert_eq!(error.line, line, "{error}");
    }
    // A model may be a file: its path is not the drive's name.
    let path = SMALL.replace("model = \"m\"\nname = \"d\"", "model = \"../models/d.toml\"");
    let study = load("small.toml", &path).expect("valid");
    assert_eq!(study.drives[0].name, "d-1");
    assert_eq!(study.drives[0].model, "../models/d.toml");
}

#[test]
fn the_matrix_is_expanded() {
    let study = load("small.toml", SMALL).expect("valid");
    let ids: Vec<_> = study.stacks.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "single/ext4",
            "single/btrfs",
            "single/btrfs[csum]",
            "single/btrfs[csum,compress]",
            "raid1/ext4",
            "raid1/btrfs",
            "raid1/btrfs[csum]",
            "raid1/btrfs[csum,compress]",
            "raid5/ext4",
            "raid5/btrfs",
            "raid5/btrfs[csum]",
            "raid5/btrfs[csum,compress]",
            "btrfs-raid1(both)",
        ]
    );
    let raid1 = &study.stacks[7];
    let layers: Vec<_> = raid1.layers.iter().map(ToString::to_string).collect();
    assert_eq!(layers, ["partition", "md-raid1", "btrfs[compress=zlib]"]);
    assert_eq!(raid1.drives, [0, 2]);
    assert_eq!(study.stacks[8].layers[0].option("chunk"), Some("64K"));
    assert_eq!(study.stacks[12].write_cache, Some(false));
    let workloads: Vec<_> = study.workloads.iter().map(|w| w.id.as_str()).collect();
    assert_eq!(workloads, ["dd-4k", "dd-1M", "cp"]);
    assert_eq!(study.workloads[1].parameters["count"], "8");
    assert_eq!(study.excluded, [(8, 2), (9, 2), (10, 2), (11, 2)]);
    assert_eq!(study.questions[0].chart, ChartKind::LinesOver("bs".to_owned()));
    assert_eq!(study.digest.len(), 64);
}

/// (what is changed, into what, what the error must say, on which line)
const MISTAKES: &[(&str, &str, &str, usize)] = &[
    ("repeats = 2", "repeats = 0", "expected an integer from 1 to 1000, found '0'", 4),
    (
        "repeats = 2",
        "repeat = 2",
        "unknown field 'repeat' in the study (did you mean 'repeats'?)",
        4,
    ),
    ("baseline = \"raid1/ext4\"", "baseline = \"raid1/ext3\"", "did you mean 'raid1/ext4'?", 5),
    ("size = \"1 TB\"", "size = \"1 furlong\"", "is not a size", 11),
    ("size = \"1 TB\"", "size = \"1 TB", "not valid TOML", 11),
    (
        "[layouts]",
        "[[drives]]\nmodel = \"m\"\nname = \"d\"\nsize = \"1 TB\"\n[layouts]",
        "there is a drive 'd' already",
        13,
    ),
    ("drives = 1 }", "drives = 4 }", "expected 1 to 3, the study's drives", 14),
    ("\"d-1\", \"d-3\"]", "\"d-1\", \"d-9\"]", "unknown drive 'd-9'", 15),
    ("md-raid5[chunk=64K]", "md-raid5[chunk=64K", "brackets or quotes do not match", 16),
    ("md-raid5[chunk=64K]", "md-raid5//", "invalid layer name", 16),
    ("id = \"dd-{bs}\"", "id = \"dd\"", "there are two workloads called 'dd'", 30),
    ("id = \"dd-{bs}\"", "id = \"dd-{size}\"", "unknown parameter '{size}'; known: {bs}", 30),
    ("id = \"cp\"", "id = \"../cp\"", "invalid id", 36),
    ("caches = \"keep\"", "caches = \"kept\"", "expected 'cold', 'drop' or 'keep', found", 37),
    ("copy = {", "cache = 1\ncopy = {", "exactly one program", 39),
    ("workloads = \"cp\"", "workloads = \"mv\"", "this exclusion matches nothing", 40),
    (
        "over = \"bs\"",
        "over = \"bs\"\nchart = \"bars\"",
        "expected 'bars', 'lines' or 'distribution'",
        49,
    ),
    ("workloads = [\"dd-*\"]", "workloads = [\"da-*\"]", "'da-*' matches no workload", 47),
];

#[test]
fn mistakes_are_named_with_their_place() {
    for (old, new, expected, line) in MISTAKES {
        assert!(SMALL.contains(old), "{old}");
        let error = load("small.toml", &SMALL.replacen(old, new, 1)).expect_err(new);
        let text = error.to_string();
        assert!(text.contains(expected), "{new}:\n{text}");
        assert_eq!(error.line, *line, "{new}:\n{text}");
        assert!(text.starts_with(&format!("small.toml:{line}:")), "{text}");
    }
}

#[test]
fn an_error_shows_the_line() {
    let text = SMALL.replacen("repeats = 2", "repeats = \"often\"", 1);
    let shown = load("small.toml", &text).expect_err("wrong").to_string();
    insta::assert_snapshot!(shown, @r#"
    small.toml:4:11: `repeats`: expected an integer from 1 to 1000, found 'often'
     4 | repeats = "often"
       |           ^^^^^^^
    "#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Cutting, doubling and overwriting pieces of a valid study never panics,
    /// and an error always names a line of the text.
    #[test]
    fn mangled_studies_never_panic(
        cuts in proptest::collection::vec((0_usize..2000, 0_usize..40, "[\\PC\n]{0,12}"), 1..4)
    ) {
        let mut text: Vec<char> = SMALL.chars().collect();
        for (at, length, with) in cuts {
            let at = at % text.len().max(1);
            let end = (at + length).min(text.len());
            text.splice(at..end, with.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(error) = load("x", &text) {
            prop_assert!(error.line <= text.matches('\n').count() + 1);
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn any_text_is_a_study_or_an_error(text in "\\PC{0,200}") {
        let _ = load("x", &text);
    }

    #[test]
    fn a_pattern_of_the_text_itself_matches(text in "[a-z/\\[\\],=]{0,20}") {
        prop_assert!(matches(&text, &text));
        let wider = format!("*{text}*");
        prop_assert!(matches(&wider, &text));
    }
}

#[test]
fn the_documented_example_is_a_study() {
    let page = include_str!("../../../../../docs/guide/studies.md");
    let (_, rest) = page.split_once("```toml\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let study = load("docs/guide/studies.md", example).expect("valid");
    assert_eq!(study.stacks.len(), 9, "as the page says");
    assert_eq!(study.workloads.len(), 3);
}

const WITH_SHIPPED: &str = r#"
id = "shipped"
title = "Shipped"
[stacks]
dir = "ext4"
[[drives]]
model = "m"
size = "1 TB"
[[workloads]]
use = "small-files"
[[workloads]]
use = "small-files"
id = "few-{n}"
title = "few"
caches = "keep"
matrix = { n = [3, 5] }
with = { files = "{n}", reflink = "auto" }
"#;

#[test]
fn shipped_workloads_are_used_and_changed() {
    let study = load("s.toml", WITH_SHIPPED).expect("valid");
    let ids: Vec<_> = study.workloads.iter().map(|w| w.id.as_str()).collect();
    assert_eq!(ids, ["small-files", "few-3", "few-5"]);
    let [as_it_is, few, _] = study.workloads.as_slice() else { panic!("three") };
    assert_eq!((as_it_is.kind.as_str(), few.kind.as_str()), ("copy", "copy"));
    assert_ne!(as_it_is.title, "small-files");
    assert_eq!(few.title, "few");
    let files = |w: &disklab_study::WorkloadSpec| -> String {
        let entries = w.body.entries().expect("table");
        let found = |name: &str| entries.iter().find(|(key, _)| key.name == name);
        let text = |name| found(name).map_or_else(String::new, |(_, n)| n.as_text().expect("text"));
        format!("{} {}", text("files"), text("reflink"))
    };
    assert_eq!((files(as_it_is).as_str(), files(few).as_str()), ("20000 ", "3 auto"));
}

#[test]
fn wrong_uses_are_errors() {
    for (from, to, part) in [
        ("use = \"small-files\"\n[[", "use = \"smal-files\"\n[[", "did you mean 'small-files'"),
        ("use = \"small-files\"\n[[", "use = \"small-files\"\ndd = {}\n[[", "'copy' and 'dd'"),
        ("use = \"small-files\"\n[[", "id = 'a'\ncopy = {}\nwith = {}\n[[", "'copy' and 'with'"),
        ("with = { files = \"{n}\", reflink = \"auto\" }", "with = 3", "expected a table"),
    ] {
        let text = WITH_SHIPPED.replacen(from, to, 1);
        assert_ne!(text, WITH_SHIPPED);
        let error = load("s.toml", &text).expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    }
}

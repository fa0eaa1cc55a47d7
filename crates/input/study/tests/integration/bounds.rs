//! Studies that are too large are refused within seconds, and the largest are laid out so.

use disklab_cell::{Levels, SeedSharing, order};
use disklab_exec::thread_cpu_seconds;
use disklab_source::SourceError;
use disklab_study::{Study, load};
use proptest::prelude::*;

/// A study of these stacks and workloads.
fn study(stacks: &str, workloads: &str) -> Result<Study, SourceError> {
    load(
        "x.toml",
        &format!(
            "id = \"x\"\ntitle = \"x\"\n[[drives]]\nmodel = \"m\"\nsize = \"1 GiB\"\n{stacks}\n{workloads}\n"
        ),
    )
}

const ONE_STACK: &str = "[stacks]\next4 = \"ext4\"";
const ONE_WORKLOAD: &str = "[[workloads]]\nid = \"w\"\ndd = { bs = \"4k\" }";

/// `n` lines `name0 = text`, `name1 = text`, …
fn lines(name: &str, text: &str, n: usize) -> String {
    (0..n).map(|i| format!("{name}{i} = {text}\n")).collect()
}

/// The numbers below `n` as a list.
fn numbers(n: usize) -> String {
    let all: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    format!("[{}]", all.join(","))
}

/// Each is small as a text, and would be millions of things.
fn too_large() -> Vec<(&'static str, String, String)> {
    let square = |n: usize| {
        let list = numbers(n);
        format!(
            "[[workloads]]\nid = \"w-{{a}}-{{b}}\"\ndd = {{ bs = \"4k\" }}\n\
             matrix = {{ a = {list}, b = {list} }}\n"
        )
    };
    let layouts = format!(
        "[layouts]\n{}[file-systems]\n{}",
        lines("l", "''", 3_200),
        lines("f", "'ext4'", 3_200)
    );
    let parts = vec!["a"; 1_000_000].join("/");
    let amplified = format!(
        "[[workloads]]\nid = \"w-{{n}}\"\ndd = {{ bs = \"{}\" }}\n\
         matrix = {{ a = [\"{}\"], n = {} }}\n",
        "{a}".repeat(10_000),
        "x".repeat(100_000),
        numbers(1_000)
    );
    let second = square(100).replace("w-", "v-");
    vec![
        ("stacks", layouts, ONE_WORKLOAD.to_owned()),
        ("combinations", ONE_STACK.to_owned(), square(3_200)),
        ("workloads", ONE_STACK.to_owned(), format!("{}{second}", square(100))),
        ("pairs", format!("[stacks]\n{}", lines("s", "'ext4'", 1_000)), square(100)),
        ("rows", ONE_STACK.to_owned(), {
            let rows = vec!["{ a = 1 }"; 20_000].join(",");
            format!("[[workloads]]\nid = \"w\"\ndd = {{ bs = \"4k\" }}\neach = [{rows}]")
        }),
        (
            "bytes",
            format!("[layouts]\na = \"{parts}\"\n[file-systems]\nb = 'ext4'"),
            ONE_WORKLOAD.to_owned(),
        ),
        ("larger than", ONE_STACK.to_owned(), amplified),
        ("exclusions", ONE_STACK.to_owned(), {
            let one = "[[exclude]]\nstacks = [\"*\"]\n";
            format!("{ONE_WORKLOAD}\n{}", one.repeat(2_000))
        }),
        ("questions", ONE_STACK.to_owned(), {
            let one = "[[questions]]\nask = \"?\"\nworkloads = [\"*\"]\n";
            format!("{ONE_WORKLOAD}\n{}", one.repeat(2_000))
        }),
        (
            "drives",
            {
                let one = |n| {
                    format!(
                        "[[drives]]\nmodel = \"m\"\nname = \"n{n}\"\ncount = 64\nsize = \"1 GiB\"\n"
                    )
                };
                (0..40).map(one).collect()
            },
            format!("{ONE_STACK}\n{ONE_WORKLOAD}"),
        ),
    ]
}

#[test]
fn too_large_studies_are_refused_within_seconds() {
    for (said, stacks, workloads) in too_large() {
        let before = thread_cpu_seconds();
        let error = study(&stacks, &workloads).expect_err(said).to_string();
        assert!(error.contains(said), "{said}: {}", &error[..error.len().min(300)]);
        assert!(thread_cpu_seconds() - before < 20.0, "{said}");
    }
}

#[test]
fn the_largest_studies_are_laid_out_within_seconds() {
    let list = numbers(100);
    let workloads = format!(
        "[[workloads]]\nid = \"w-{{a}}-{{b}}\"\ndd = {{ bs = \"4k\" }}\n\
         matrix = {{ a = {list}, b = {list} }}\n[[exclude]]\nstacks = [\"s0\"]\nworkloads = [\"w-0-*\"]\n"
    );
    let before = thread_cpu_seconds();
    let study =
        study(&format!("[stacks]\n{}", lines("s", "'ext4'", 10)), &workloads).expect("a study");
    assert_eq!((study.stacks.len(), study.workloads.len()), (10, 10_000));
    assert_eq!(study.workload_index("w-99-99"), Some(9_999));
    assert_eq!(study.workload_index("w-99"), None);
    assert!(study.is_excluded(0, 99) && !study.is_excluded(0, 100) && !study.is_excluded(1, 0));
    let levels: Vec<Levels> = study
        .stacks
        .iter()
        .flat_map(|s| study.workloads.iter().map(|w| Levels::new(&s.id, &w.id)))
        .collect();
    assert_eq!(order(&levels, 2, 1, SeedSharing::Shared).len(), 200_000);
    assert!(thread_cpu_seconds() - before < 60.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is multiplied with what: an answer within seconds.
    #[test]
    fn no_product_takes_long(a in 0_usize..3_000, b in 0_usize..300, text in 0_usize..200, s in 1_usize..40) {
        let workloads = format!(
            "[[workloads]]\nid = \"w-{{a}}-{{b}}\"\ndd = {{ bs = \"{}\" }}\n\
             matrix = {{ a = {}, b = {} }}\n",
            "{a}x".repeat(text), numbers(a), numbers(b)
        );
        let before = thread_cpu_seconds();
        if let Ok(study) = study(&format!("[stacks]\n{}", lines("s", "'ext4'", s)), &workloads) {
            prop_assert!(study.stacks.len() * study.workloads.len() <= 100_000);
        }
        prop_assert!(thread_cpu_seconds() - before < 20.0);
    }
}

#[test]
fn the_size_of_a_known_model_need_not_be_written() {
    let text = |drive: &str| {
        format!("id = \"x\"\ntitle = \"x\"\n[[drives]]\n{drive}\n{ONE_STACK}\n{ONE_WORKLOAD}\n")
    };
    let sizes = |drive: &str| load("x.toml", &text(drive)).map(|s| s.drives[0].size.0);
    assert_eq!(sizes("model = \"HGST-10TB\""), Ok(10_000_831_348_736));
    assert_eq!(sizes("model = \"hgst-10tb\"\nsize = \"1 GiB\""), Ok(1 << 30));
    let error = sizes("model = \"./mine.toml\"").expect_err("unknown").to_string();
    assert!(error.starts_with("x.toml:3:1: a drive needs a field 'size'"), "{error}");
}

#[test]
fn titles_and_names_with_hidden_characters_are_refused() {
    for (field, said) in
        [("title", "`title`"), ("ask", "`ask`"), ("name", "`name`"), ("model", "`model`")]
    {
        for hidden in ["\\u001b]0;x\\u0007", "\\u202e", "a\\nb", "\\u009b2J", "\\u200b"] {
            let line = |name: &str| {
                if name == field {
                    format!("{name} = \"{hidden}\"\n")
                } else {
                    format!("{name} = \"x\"\n")
                }
            };
            let text = format!(
                "id = \"x\"\n{}[[drives]]\n{}{}size = \"1 GiB\"\n{ONE_STACK}\n[[questions]]\n{}\
                 workloads = [\"*\"]\n{ONE_WORKLOAD}\n",
                line("title"),
                line("model"),
                line("name"),
                line("ask")
            );
            let error = load("x.toml", &text).expect_err(field).to_string();
            assert!(error.contains(said) && error.contains("not visible"), "{error}");
        }
    }
}

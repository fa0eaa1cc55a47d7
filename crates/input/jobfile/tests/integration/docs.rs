//! The tables of docs/generated/job-options.md are those of the options, from which jobs
//! are read. `UPDATE=1` writes them anew.

use std::path::Path;

const UPDATE: &str = "UPDATE=1 cargo test -p disklab-jobfile --test integration docs";

#[test]
fn the_documentation_has_every_option() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/generated/job-options.md");
    let intro = "The options of fio's job files that disklab's own engine has, and those that it \
        refuses ([workloads](../reference/workloads.md)). Defaults are in parentheses. If the last \
        column is empty, the option means what it means in fio 3.33. `disklab fio --list-options` \
        says the same.";
    let tables = format!("{}{}", disklab_jobfile::markdown(), disklab_jobfile::unsupported());
    let tables = tables.replace("\n### ", "\n## ").replacen("### ", "## ", 1);
    let wanted = format!(
        "<!-- Written by `{UPDATE}`. -->\n\n# Options of jobs\n\n{intro}\n\n{}\n",
        tables.trim_end()
    );
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, wanted).expect("written");
        return;
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == wanted, "docs/generated/job-options.md is not up to date: {UPDATE}");
}

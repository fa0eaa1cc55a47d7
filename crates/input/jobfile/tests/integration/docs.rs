//! The tables of docs/reference/workloads.md are those of the options, from which jobs
//! are read. `UPDATE=1` writes them anew.

use std::path::Path;

const BEGIN: &str = "<!-- The options: written by `UPDATE=1 cargo test -p disklab-jobfile --test integration docs`. -->\n";
const END: &str = "<!-- The end of the options. -->\n";

#[test]
fn the_documentation_has_every_option() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/workloads.md");
    let text = std::fs::read_to_string(&path).expect("docs/reference/workloads.md");
    let (before, rest) = text.split_once(BEGIN).expect("the mark where the options begin");
    let (_, after) = rest.split_once(END).expect("the mark where they end");
    let tables = format!("{}{}", disklab_jobfile::markdown(), disklab_jobfile::unsupported());
    let wanted = format!("{before}{BEGIN}\n{tables}{END}{after}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, wanted).expect("written");
    } else {
        assert!(
            text == wanted,
            "docs/reference/workloads.md is not up to date: UPDATE=1 cargo test -p disklab-jobfile --test integration docs"
        );
    }
}

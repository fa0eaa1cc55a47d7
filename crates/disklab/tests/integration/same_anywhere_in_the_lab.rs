//! Where a run is made does not count, also where each page of memory does.

use crate::lab_support::kernel::kernel;
use crate::lab_support::run::samples;

/// Files that do not fit the guest's memory: when they are written depends on each page.
const STUDY: &str = r#"
id = "sensitive"
title = "Sensitive to each page"
repeats = 1
[lab]
memory = "192 MiB"
[[drives]]
model = "hgst-10tb"
size = "10 TB"
[stacks]
"single/ext4" = "partition/ext4"
[[workloads]]
id = "fileserver"
filebench = { personality = "fileserver", variables = { meanfilesize = 131072, nfiles = 2000, nthreads = 16 }, runtime = "10s" }
"#;

#[test]
fn the_length_of_a_path_does_not_count() {
    let Some(_) = kernel() else { return };
    let (one, two) = (tempfile::tempdir().expect("temp"), tempfile::tempdir().expect("temp"));
    let deep = two.path().join("a directory, with a longer path/".repeat(5));
    std::fs::create_dir_all(&deep).expect("directory");
    let first = samples(one.path(), STUDY, &["--seed", "1", "--scratch", "s"]);
    let long = "scratch-with-a-longer-name".repeat(4);
    let second = samples(&deep, STUDY, &["--seed", "1", "--scratch", &long]);
    let json = |samples: &[(String, disklab_sample::Sample)]| {
        serde_json::to_string(&samples[0].1).expect("json")
    };
    assert_eq!(json(&first), json(&second));
}

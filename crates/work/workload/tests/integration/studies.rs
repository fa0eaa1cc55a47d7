//! The shipped studies' workloads are understood, at any scale.

use std::path::Path;

use disklab_workload::{Context, read_workload};

#[test]
fn every_shipped_study_has_workloads_that_are_understood() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../studies");
    let mut studies = 0;
    for entry in std::fs::read_dir(&directory).expect("the studies' directory") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        studies += 1;
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).expect("study");
        let study = disklab_study::load(&name, &text).unwrap_or_else(|e| panic!("{e}"));
        for spec in &study.workloads {
            for scale in [1.0, 0.001] {
                let context = Context::new(scale, directory.clone());
                let workload =
                    read_workload(&spec.plan(), &context).unwrap_or_else(|e| panic!("{e}"));
                let cost = workload.cost();
                assert!(cost.space >= cost.prewrite, "{name}: {}", spec.id);
                assert!(cost.fixed_seconds.is_finite(), "{name}: {}", spec.id);
            }
        }
    }
    assert!(studies > 0);
}

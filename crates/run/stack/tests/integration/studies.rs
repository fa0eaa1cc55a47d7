//! The stacks of all shipped studies are valid and fit their drives.

use disklab_stack::Stack;
use disklab_units::Bytes;

#[test]
fn stacks_of_shipped_studies_can_be_made() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../studies");
    let mut stacks = 0;
    for entry in std::fs::read_dir(directory).expect("studies").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let study = disklab_study::load(&path.display().to_string(), &text)
            .unwrap_or_else(|e| panic!("{e}"));
        for spec in &study.stacks {
            let stack = Stack::parse(spec).unwrap_or_else(|e| panic!("{e}"));
            let drives: Vec<Bytes> = spec.drives.iter().map(|d| study.drives[*d].size).collect();
            let volume = stack
                .shape(&drives)
                .unwrap_or_else(|e| panic!("{}: {}: {e}", path.display(), spec.id));
            let total: Bytes = drives.iter().copied().sum();
            assert!(volume.size > Bytes::ZERO && volume.size <= total, "{}: {volume:?}", spec.id);
            stacks += 1;
        }
    }
    assert!(stacks > 0, "there are studies in {directory}");
}

//! The directory of one cell that is carried out somewhere else.

use std::os::unix::fs::symlink;
use std::path::Path;

use disklab_sample::{CellResult, Environment};
use disklab_store::{CellDirectory, StoreError};

use crate::support::{cells, sample};

fn result(bytes: u64) -> CellResult {
    CellResult {
        format: CellResult::FORMAT,
        cell: cells()[0].clone(),
        plan: "digest".to_owned(),
        disklab: "0.1.0".to_owned(),
        environment: Environment::default(),
        outcome: Ok(sample(bytes)),
        trace: Vec::new(),
        seconds: 1.5,
    }
}

fn names(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).expect("read").flatten();
    let mut names: Vec<_> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_result_is_there_when_all_of_it_is() {
    let temp = tempfile::tempdir().expect("temp");
    let path = temp.path().join("cell");
    assert_eq!(CellDirectory::result(&path).expect("nothing yet"), None);
    let claimed = CellDirectory::claim(&path).expect("claim");
    let error = CellDirectory::claim(&path).expect_err("somebody carries it out");
    assert!(matches!(error, StoreError::BeingWritten(_)), "{error}");
    let outputs = claimed.outputs().expect("outputs");
    std::fs::write(outputs.join("fio.out"), "of an attempt").expect("write");
    assert_eq!(CellDirectory::result(&path).expect("not yet"), None);
    drop(claimed);

    // Cut off, and carried out again: of the first attempt nothing is left.
    let claimed = CellDirectory::claim(&path).expect("again");
    assert_eq!(names(&claimed.outputs().expect("outputs")), [""; 0]);
    claimed.keep(&result(7)).expect("keep");
    assert_eq!(CellDirectory::result(&path).expect("read"), Some(result(7)));
    drop(claimed);
    assert_eq!(names(&path), [".disklab-directory", "raw", "result.json"]);
    std::fs::write(path.join("result.json"), "{}").expect("write");
    let error = CellDirectory::result(&path).expect_err("no result");
    assert!(matches!(error, StoreError::BadResult { .. }), "{error}");
}

#[test]
fn links_in_place_of_what_it_writes_lead_nowhere() {
    let temp = tempfile::tempdir().expect("temp");
    let [path, user] = ["cell", "user"].map(|name| temp.path().join(name));
    std::fs::create_dir(&user).expect("make");
    std::fs::write(user.join("letter"), "the user's").expect("write");
    let claimed = CellDirectory::claim(&path).expect("claim");
    symlink(user.join("letter"), path.join("result.json.unfinished")).expect("link");
    symlink(user.join("letter"), path.join("result.json")).expect("link");
    claimed.keep(&result(7)).expect("keep");
    assert_eq!(CellDirectory::result(&path).expect("read"), Some(result(7)));
    symlink(&user, path.join("raw")).expect("link");
    let error = claimed.outputs().expect_err("a link");
    assert!(matches!(error, StoreError::Unexpected { .. }), "{error}");
    assert!(error.to_string().contains(&*path.join("raw").to_string_lossy()), "{error}");
    assert_eq!(std::fs::read_to_string(user.join("letter")).expect("read"), "the user's");
}

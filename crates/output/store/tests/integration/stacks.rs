//! Planned stacks: typed here, layers in a study's notation in the run.

use disklab_cell::{DriveRange, LossTree, PlannedInput, PlannedLayer};
use disklab_store::{PlannedStack, Run, RunInfo, StoreError};
use proptest::prelude::*;
use rusqlite::Connection;

use crate::support::{cells, info};

/// A layer as a study can have it: no value that was read has both kinds of quotes.
fn layer() -> impl Strategy<Value = PlannedLayer> {
    let value = prop_oneof!["[a-z0-9,=/^ \\[\\]-]{0,10}", "[a-z',/ ]{0,8}", "[a-z\",/ ]{0,8}"];
    let option = ("[a-z][a-z0-9-]{0,6}", prop::option::of(value));
    let options = prop::collection::vec(option, 0..3);
    let input = ("[a-z]{1,8}", 1_u32..9, 0_u32..4).prop_map(|(name, first, more)| PlannedInput {
        name,
        drives: DriveRange { first, last: first + more },
        layers: Vec::new(),
    });
    let inputs = prop::collection::vec(input, 0..3);
    ("[a-z][a-z0-9-]{0,8}", options, inputs).prop_map(|(name, options, inputs)| PlannedLayer {
        name,
        options,
        inputs,
    })
}

fn stored(info: &RunInfo) -> RunInfo {
    let temp = tempfile::tempdir().expect("temp");
    Run::create(temp.path(), info, &cells()).expect("create");
    Run::open(temp.path()).expect("open").info().expect("info")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn planned_stacks_are_read_back(
        layers in prop::collection::vec(layer(), 0..4), capacity: u64, tolerates in 0_u32..4,
        copies: bool, is_known: bool,
    ) {
        let pair = || LossTree::parts(1, 7, vec![LossTree::Drive(0), LossTree::Drive(1)]);
        let loss = is_known.then(pair);
        let (id, drives) = ("raid5/ext4".to_owned(), vec!["a-1".to_owned(), "a-2".to_owned()]);
        let stacks = vec![PlannedStack { id, layers, drives, capacity, tolerates, loss, copies }];
        let info = RunInfo { stacks, ..info() };
        prop_assert_eq!(stored(&info), info);
    }
}

#[test]
fn layers_that_cannot_be_read_are_refused_in_one_sentence() {
    let temp = tempfile::tempdir().expect("temp");
    let layers = PlannedLayer::parse_notation("md-raid5[chunk=64K]/ext4").expect("layers");
    let (id, drives) = ("raid5/ext4".to_owned(), Vec::new());
    let stacks = vec![PlannedStack {
        id,
        layers,
        drives,
        capacity: 1,
        tolerates: 1,
        loss: None,
        copies: false,
    }];
    Run::create(temp.path(), &RunInfo { stacks, ..info() }, &cells()).expect("create");
    let connection = Connection::open(temp.path().join("run.sqlite")).expect("open");
    let statement = "UPDATE run SET info = replace(info, 'md-raid5[chunk=64K]', 'md-raid5[chunk')";
    assert_eq!(connection.execute(statement, []).expect("update"), 1);
    drop(connection);
    let error = Run::open(temp.path()).expect("open").info().expect_err("open bracket");
    assert!(matches!(error, StoreError::OtherVersion { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("the layers of its stack 'raid5/ext4' cannot be read"), "{said}");
}

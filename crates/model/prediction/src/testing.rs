//! Stacks for tests.

use disklab_cell::PlannedLayer;
use disklab_stack::{Stack, Volume};
use disklab_units::Bytes;

/// What these layers become on so many drives of 10 TB.
pub(crate) fn volume(layers: &str, drives: usize) -> Volume {
    let layers = PlannedLayer::parse_notation(layers).expect("layers");
    let stack = Stack::of_plan(&layers).expect("stack");
    stack.shape(&vec![Bytes(10_000_000_000_000); drives]).expect("shape")
}

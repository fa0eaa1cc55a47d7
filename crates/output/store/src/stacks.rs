//! Planned stacks as a run keeps them: layers in a study's notation, as people read them.

use disklab_cell::{LossTree, PlannedLayer};
use disklab_study::PlannedStack;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct StackRow {
    id: String,
    layers: String,
    drives: Vec<String>,
    capacity: u64,
    tolerates: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loss: Option<LossTree>,
    /// Runs of older versions do not say it.
    #[serde(default)]
    copies: bool,
}

pub(crate) fn serialize<S: Serializer>(
    stacks: &[PlannedStack],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(stacks.iter().map(|stack| StackRow {
        id: stack.id.clone(),
        layers: PlannedLayer::notation(&stack.layers),
        drives: stack.drives.clone(),
        capacity: stack.capacity,
        tolerates: stack.tolerates,
        loss: stack.loss.clone(),
        copies: stack.copies,
    }))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<PlannedStack>, D::Error> {
    Vec::<StackRow>::deserialize(deserializer)?.into_iter().map(planned).collect()
}

fn planned<E: Error>(row: StackRow) -> Result<PlannedStack, E> {
    let StackRow { id, layers, drives, capacity, tolerates, loss, copies } = row;
    let layers = PlannedLayer::parse_notation(&layers).map_err(|why| {
        let why = why.message;
        E::custom(format!("the layers of its stack '{id}' cannot be read: {why}"))
    })?;
    Ok(PlannedStack { id, layers, drives, capacity, tolerates, loss, copies })
}

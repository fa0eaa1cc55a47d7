//! The layers: one file each, and one line in the table.

use crate::LayerKind;

/// All kinds of layers, in the order of `disklab list stacks`.
pub static LAYERS: &[LayerKind] = &[];

/// The kind with this name.
pub fn find_layer(name: &str) -> Option<&'static LayerKind> {
    LAYERS.iter().find(|kind| kind.name == name)
}

//! What tests share.

use std::sync::Arc;

use disklab_cell::parse_layers;
use disklab_config::{Node, Value};
use disklab_source::{Location, Source, SourceError};
use disklab_study::StackSpec;

use crate::{Layer, find_layer};

/// A stack on this many drives, as a study would have it.
pub(crate) fn spec(text: &str, drives: usize) -> Result<StackSpec, SourceError> {
    let source = Arc::new(Source { name: "test.toml".to_owned(), text: text.to_owned() });
    let place = Location { source, span: 0..text.len() };
    let node = Node { value: Value::Text(text.to_owned()), place: place.clone() };
    let layers = parse_layers(&node)?;
    Ok(StackSpec {
        id: "test".to_owned(),
        layout: "test".to_owned(),
        file_system: String::new(),
        layers,
        drives: (0..drives).collect(),
        write_cache: None,
        host_cache: None,
        place,
    })
}

/// The first layer of a text.
pub(crate) fn layer(text: &str) -> Result<Box<dyn Layer>, SourceError> {
    let spec = spec(text, 1)?;
    let layer = &spec.layers[0];
    (find_layer(&layer.name).unwrap().parse)(layer)
}

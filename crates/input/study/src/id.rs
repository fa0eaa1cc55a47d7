//! Ids.

use disklab_config::Node;
use disklab_source::{FileName, SourceError};

/// An id, which becomes part of file names.
pub(crate) fn check_id(node: &Node) -> Result<FileName, SourceError> {
    let id = node.as_text()?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.=+".contains(c);
    if id.len() <= 100
        && id.chars().all(fits)
        && !id.starts_with('.')
        && let Ok(id) = FileName::new(&id)
    {
        return Ok(id);
    }
    Err(node.error(format!(
        "invalid id '{id}': expected letters, digits and any of - _ . = +, such as 'dd-write-4k'"
    )))
}

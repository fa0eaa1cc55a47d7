//! The variables that a study sets for a job file or a script.

use disklab_config::Node;
use disklab_source::SourceError;

/// The variables that the study sets.
pub(crate) fn variables(node: Option<&Node>) -> Result<Vec<(String, String)>, SourceError> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let mut variables = Vec::new();
    for (key, value) in node.entries()? {
        if !key.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(key.place.error(format!(
                "invalid variable name '{}': expected letters, digits and _, without the $",
                key.name
            )));
        }
        variables.push((key.name.clone(), value.as_text()?));
    }
    Ok(variables)
}

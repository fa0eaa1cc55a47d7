//! What a sensitivity analysis moves.

use serde::{Deserialize, Serialize};

/// Which parameters of drive models a sensitivity analysis moves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MovedParameters {
    /// Only those of these drive models, if any are named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<String>,
    /// Only those that match one of these patterns, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// How many drives are drawn; `None` for one parameter at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<u32>,
}

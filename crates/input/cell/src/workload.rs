//! The work of a cell.

use disklab_config::Node;
use serde::{Deserialize, Serialize};

/// What a cell runs on its stack. What kinds and fields exist is the workload crate's knowledge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadPlan {
    /// Its id in the study, such as `dd-write-4k`.
    pub id: String,
    /// The program: `fio`, `dd`, …
    pub kind: String,
    /// The kind's own fields.
    pub body: Node,
    /// When the page cache is emptied.
    pub caches: Caches,
    /// What happens besides the work, and when: a list of tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Node>,
}

/// When what the machine holds of the drives in memory is emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Caches {
    /// Before each step, so that nothing of the file system is left: it is unmounted and
    /// mounted again where the bench can do that.
    #[default]
    Cold,
    /// Before each step by `drop_caches`, as scripts do it, once.
    Drop,
    /// Never.
    Keep,
}

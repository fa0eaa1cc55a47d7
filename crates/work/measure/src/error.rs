//! What can go wrong in measuring.

use disklab_exec::ExecError;

/// Why something could not be measured or set.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A program failed.
    #[error(transparent)]
    Program(#[from] ExecError),
    /// The drive cannot do it, or did not.
    #[error("the write cache of {device} cannot be set: {reason}")]
    WriteCache {
        /// The device node.
        device: String,
        /// Why, and what to do.
        reason: String,
    },
}

//! Why a published row has no measured figure.

/// Why a published row has no measured figure. Its text is the row's note in reports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoFigure {
    /// The mapping (`published/mapping.toml`) lacks a rule for the row.
    #[error("no rule of the mapping names a figure for it")]
    NoRule,
    /// The mapping says why nothing can be measured for it.
    #[error("{0}")]
    Rule(String),
    /// The published unit is not one of what is measured.
    #[error("'{0}' is not a unit of this measurement")]
    Unit(String),
    /// The run's study lacks the stack.
    #[error("the run's study has no stack '{0}'")]
    NoStack(String),
    /// The bench could not run it.
    #[error("left out: {0}")]
    LeftOut(String),
    /// Its cell failed; the first line of the error.
    #[error("failed: {0}")]
    Failed(String),
    /// The run was asked for other cells.
    #[error("not among the cells of this run")]
    NoCell,
    /// The run is not done.
    #[error("has not run yet")]
    Waiting,
    /// The cell has samples, and they lack the step.
    #[error("the samples have no figure '{0}'")]
    NoStep(String),
    /// The samples have the step, and it lacks the figure.
    #[error("there is no usable value among the samples")]
    NoValue,
    /// The row compares with a stack that has no figure.
    #[error("{stack}, its baseline: {why}")]
    Baseline {
        /// The baseline's id.
        stack: String,
        /// Why it has none.
        #[source]
        why: Box<NoFigure>,
    },
}

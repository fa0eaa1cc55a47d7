//! What audits find.

/// Something that makes a sample or a comparison suspect.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The audit's name, such as `zeros-compressed`.
    pub audit: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, in a sentence with the evidence.
    pub text: String,
    /// What to do about it.
    pub advice: String,
    /// The groups concerned, by index; all where empty.
    pub groups: Vec<usize>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The figure does not mean what it seems to mean.
    Severe,
    /// Take care.
    Warning,
    /// Good to know.
    Note,
}

//! What an audit is, and what it finds.

use crate::Severity;
use crate::evidence::Evidence;

/// One kind of doubt.
#[derive(Debug)]
pub struct Audit {
    /// Its name in reports, such as `zeros-compressed`.
    pub name: &'static str,
    /// The most severe finding it can make.
    pub severity: Severity,
    /// What it detects, in one line.
    pub detects: &'static str,
    /// What of a sample it looks at.
    pub evidence: &'static str,
    /// What to do about it, in one line.
    pub remedy: &'static str,
    /// How a test makes it find something.
    pub reproducer: Reproducer,
    pub(crate) check: fn(&Evidence<'_>) -> Vec<Detection>,
}

/// How a test makes an audit find something. Each has unit tests besides, with a near
/// miss that it does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reproducer {
    /// A run in the lab, in which this mistake is made on purpose.
    Lab(&'static str),
    /// A run in a directory of this machine, in which this mistake is made on purpose.
    Directory(&'static str),
    /// A run on loop devices, in which this mistake is made on purpose.
    Loop(&'static str),
    /// Figures of other programs, imported, in which this mistake was made.
    Import(&'static str),
    /// Samples made up, and where sysfs or a program reports it, such a tree or output
    /// made up: it takes a machine that a test does not have.
    MadeUp,
}

impl Reproducer {
    /// In a few words.
    pub fn words(self) -> String {
        match self {
            Self::Lab(what) => format!("a run in the lab: {what}"),
            Self::Directory(what) => format!("a run in a directory: {what}"),
            Self::Loop(what) => format!("a run on loop devices: {what}"),
            Self::Import(what) => format!("an import: {what}"),
            Self::MadeUp => "made-up samples".to_owned(),
        }
    }
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Detection {
    pub severity: Severity,
    pub text: String,
    pub advice: String,
    pub groups: Vec<usize>,
}

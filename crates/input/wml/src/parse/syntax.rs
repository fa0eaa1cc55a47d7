//! The syntax tree of a script: what is written, nothing checked yet.

use super::lex::{Piece, Spanned};
use crate::Quit;

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Int(u64),
    Bool(bool),
    /// A bare word or a text in quotes.
    Text(Vec<Piece>),
    Variable(String),
}

pub(crate) type SpannedExpression = Spanned<Expression>;

/// `key`, `key=value`, or `randtable={{…}}`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AttributeSyntax {
    pub key: Spanned<String>,
    pub value: Option<SpannedExpression>,
    pub table: Vec<[SpannedExpression; 3]>,
}

/// `$name` or `$name=value` among attributes: a composite's local variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Local {
    pub name: Spanned<String>,
    pub value: Option<SpannedExpression>,
}

/// What follows a command's words.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Attributes {
    pub list: Vec<AttributeSyntax>,
    pub locals: Vec<Local>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FlowopSyntax {
    pub kind: Spanned<String>,
    pub attributes: Attributes,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ThreadSyntax {
    pub word: std::ops::Range<usize>,
    pub attributes: Attributes,
    pub flowops: Vec<FlowopSyntax>,
}

/// The right side of a `set`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SetValue {
    Plain(SpannedExpression),
    /// `$a * 2`.
    Calculated(SpannedExpression, Spanned<char>, SpannedExpression),
    Random(Attributes),
    Custom(Attributes),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entity {
    Files,
    Processes,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement {
    Set(Spanned<String>, SetValue),
    SetParameter(Spanned<String>, Spanned<String>, SpannedExpression),
    SetQuit(Quit),
    DefineFiles {
        single: bool,
        attributes: Attributes,
    },
    DefineProcess {
        attributes: Attributes,
        threads: Vec<ThreadSyntax>,
    },
    DefineComposite {
        attributes: Attributes,
        flowops: Vec<FlowopSyntax>,
    },
    DefineRandom(Attributes),
    DefinePosset(Attributes),
    EventRate(Attributes),
    Create(Entity),
    Shutdown(Entity),
    Run(Option<SpannedExpression>),
    /// Period, whether negative, time.
    PeriodicRun(Option<Spanned<(u64, bool)>>, Option<SpannedExpression>),
    Warmup(SpannedExpression),
    Sleep(SpannedExpression),
    Echo(Vec<Piece>),
    System(Vec<Piece>),
    Foreach(Spanned<String>, Vec<SpannedExpression>, Vec<Spanned<Statement>>),
    Load(Spanned<String>),
    LatencyHistogram,
    StatsClear,
    StatsSnap,
    List(bool),
    /// Ends the script.
    Quit,
    /// Accepted, without effect; why, if the reader should know.
    Nothing(Option<&'static str>),
}

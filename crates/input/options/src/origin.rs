//! Where a run's figures come from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{BenchKind, UnknownBench};

/// Where a run's figures come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RunOrigin {
    /// disklab measured them on this bench.
    Bench(BenchKind),
    /// Another program measured them.
    Import,
}

/// The word for an import, in place of a bench.
const IMPORT: &str = "import";

impl RunOrigin {
    /// Whether drives and time are modelled.
    pub fn is_lab(&self) -> bool {
        *self == Self::Bench(BenchKind::Lab)
    }
}

impl From<BenchKind> for RunOrigin {
    fn from(bench: BenchKind) -> Self {
        Self::Bench(bench)
    }
}

impl FromStr for RunOrigin {
    type Err = UnknownBench;

    fn from_str(text: &str) -> Result<Self, UnknownBench> {
        if text == IMPORT { Ok(Self::Import) } else { text.parse().map(Self::Bench) }
    }
}

impl fmt::Display for RunOrigin {
    /// As it is read again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bench(bench) => bench.fmt(f),
            Self::Import => f.write_str(IMPORT),
        }
    }
}

impl TryFrom<String> for RunOrigin {
    type Error = UnknownBench;

    fn try_from(text: String) -> Result<Self, UnknownBench> {
        text.parse()
    }
}

impl From<RunOrigin> for String {
    fn from(origin: RunOrigin) -> Self {
        origin.to_string()
    }
}

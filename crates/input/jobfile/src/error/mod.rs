//! Why a job file's options and values are refused: a variant for each failure, by subject.
//!
//! A reader of values does not know where its value is; [`Section`](crate::Section) adds that.

mod choice;
mod list;
mod name;
mod number;
mod option;
mod pattern;

pub(crate) use choice::ChoiceError;
pub(crate) use list::{ListError, NumberSet};
pub(crate) use name::{NameError, NameFault};
pub(crate) use number::NumberError;
pub(crate) use option::OptionError;
pub(crate) use pattern::PatternError;

/// Why the value of an option is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ValueError {
    /// It is not the number that was expected.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// It is none of the values that the option has.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A list in it is wrong.
    #[error(transparent)]
    List(#[from] ListError),
    /// It is not the name of a file.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It is not a pattern of bytes.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

//! Texts that people write (studies, fio jobs, Filebench personalities), and
//! errors that show the line and the column.
//!
//! Pure, and below every crate that reads such a text, so that all of them tell
//! what is wrong in the same way.

mod bytes;
mod error;
mod file_name;
mod place;
mod printable;
mod spreadsheet;
mod words;

pub use error::SourceError;
pub use file_name::{FileName, FileNameError};
pub use place::{Location, Source};
pub use printable::{is_hidden, printable, printable_json};
pub use spreadsheet::{csv_cell, text_of_csv_cell};
pub use words::{did_you_mean, one_of, shortened};

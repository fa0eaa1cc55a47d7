//! Rows of comma-separated values, with the place of each.

use std::sync::Arc;

use disklab_source::{Location, Source, SourceError};

/// A row and its place.
pub(super) struct CsvRow {
    fields: Vec<String>,
    pub place: Location,
}

impl CsvRow {
    /// A field, trimmed; none where it is empty or not there.
    pub fn field(&self, index: usize) -> Option<&str> {
        self.fields.get(index).map(|f| f.trim()).filter(|f| !f.is_empty())
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field's number, 0 or above; none where it is empty.
    ///
    /// # Errors
    /// [`SourceError`] at the cell if it is not a number.
    pub fn number(&self, index: usize, name: &str) -> Result<Option<f64>, SourceError> {
        let Some(text) = self.field(index) else { return Ok(None) };
        crate::text::decimal(text).map(Some).ok_or_else(|| {
            self.place.error(format!(
                "field {} ({name}): expected a number from 0, found '{text}'",
                index + 1
            ))
        })
    }
}

/// All rows that are not empty. A row is a line; a quoted field may hold commas.
///
/// # Errors
/// [`SourceError`] at the first line that is not a row of CSV.
pub(super) fn rows(source: &Arc<Source>) -> Result<Vec<CsvRow>, SourceError> {
    let mut rows = Vec::new();
    for line in crate::text::lines(source).iter().filter(|l| !l.text.trim().is_empty()) {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(line.text.trim().as_bytes());
        let record = reader.records().next();
        let record = record.and_then(Result::ok).ok_or_else(|| line.error("not a row of CSV"))?;
        let fields = record.iter().map(str::to_owned).collect();
        rows.push(CsvRow { fields, place: line.place() });
    }
    Ok(rows)
}

//! Why parameters are impossible, and what all kinds of drives check alike.

use disklab_units::{Bytes, BytesPerSecond, show_nanoseconds};

use crate::sectors::SectorFormat;

/// A field of a drive file: its table, empty for the root, and its name.
pub(crate) type NamedField = (&'static str, &'static str);

/// Why parameters are impossible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field that the message is about, as drive files name it, with its table.
    pub field: (&'static str, &'static str),
    /// What is wrong and what was expected.
    pub message: String,
}

impl Fault {
    /// What is wrong with a field.
    pub(crate) fn new(field: NamedField, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }
}

/// A whole number within a range.
pub(crate) fn number(field: NamedField, value: u64, low: u64, high: u64) -> Result<(), Fault> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Fault::new(field, format!("`{}`: expected from {low} to {high}, found {value}", field.1)))
}

/// A fraction from 0 to `high`; no number is none.
pub(crate) fn share(field: NamedField, value: f64, high: f64) -> Result<(), Fault> {
    if (0.0..=high).contains(&value) {
        return Ok(());
    }
    Err(Fault::new(field, format!("`{}`: expected from 0 to {high}, found {value}", field.1)))
}

/// A time within a range, ns.
pub(crate) fn time(field: NamedField, value: u64, low: u64, high: u64) -> Result<(), Fault> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let (low, high, value) = (bound(low), bound(high), show_nanoseconds(value as f64));
    let message = format!("`{}`: expected a time from {low} to {high}, found {value}", field.1);
    Err(Fault::new(field, message))
}

/// A bound, as people write it: in the largest unit of which it is a whole number.
fn bound(time: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")];
    let unit = units.into_iter().find(|(unit, _)| time.is_multiple_of(*unit) && time > 0);
    let (unit, word) = unit.unwrap_or((1, "ns"));
    format!("{} {word}", time / unit)
}

/// A rate from 1 MB/s to `high`, B/s.
pub(crate) fn rate(field: NamedField, value: f64, high: f64) -> Result<(), Fault> {
    if (1e6..=high).contains(&value) {
        return Ok(());
    }
    let (high, value) = (Bytes(high as u64).si(), BytesPerSecond(value).si());
    let message = format!("`{}`: expected a rate from 1 MB/s to {high}/s, found {value}", field.1);
    Err(Fault::new(field, message))
}

/// A size within a range that is a multiple of a unit, bytes.
pub(crate) fn bytes(
    field: NamedField,
    value: u64,
    low: u64,
    high: u64,
    unit: u64,
) -> Result<(), Fault> {
    if (low..=high).contains(&value) && value.is_multiple_of(unit) {
        return Ok(());
    }
    let mut shown = [low, high, value].map(|size| Bytes(size).iec());
    if shown[..2].contains(&shown[2]) {
        // Rounded, they look as if they would do.
        shown = [low, high, value].map(|size| format!("{size} B"));
    }
    let [low, high, value] = shown;
    Err(Fault::new(
        field,
        format!(
            "`{}`: expected a multiple of {unit} B from {low} to {high}, found {value}",
            field.1
        ),
    ))
}

/// What the host sees of a drive: no more than there is, in whole sectors.
pub(crate) fn visible(visible: u64, capacity: u64, sectors: SectorFormat) -> Result<(), Fault> {
    let field = ("", "capacity");
    if visible == 0 || visible > capacity {
        let (has, shows) = (Bytes(capacity).si(), Bytes(visible).si());
        return Err(Fault::new(field, format!("the drive has {has}; it cannot show {shows}")));
    }
    let logical = sectors.logical();
    if !visible.is_multiple_of(logical) {
        return Err(Fault::new(
            field,
            format!("a size must be a multiple of the drive's sectors of {logical} B"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_just_outside_of_its_range_is_reported_exactly() {
        let said = |value| bytes(("cache", "size"), value, 271_000_000, 1 << 40, 512).unwrap_err();
        let said = |value| said(value).message;
        let coarse = said(100 << 20);
        assert!(coarse.contains("from 258 MiB to 1 TiB, found 100 MiB"), "{coarse}");
        let exact = said(258 << 20);
        assert!(
            exact.contains("from 271000000 B to 1099511627776 B, found 270532608 B"),
            "{exact}"
        );
    }
}

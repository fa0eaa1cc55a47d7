//! Between what uncertain values may lie, read and checked.

use disklab_config::{Key, Node, Setting, Value};
use disklab_source::SourceError;
use disklab_units::Bytes;

use super::plausible::Plausible;
use super::setting::{apply, value};
use crate::values::{parse_rate, parse_time};

/// Reads the table `plausible`: the field exists, its value lies within the range, and
/// the drive is possible at either end.
pub(super) fn read(root: &Node, table: &Node) -> Result<Vec<Plausible>, SourceError> {
    table.entries()?.iter().map(|(key, range)| one(root, key, range)).collect()
}

fn one(root: &Node, key: &Key, range: &Node) -> Result<Plausible, SourceError> {
    let field = &key.name;
    let Value::List(ends) = &range.value else {
        return Err(range.error(expected(field)));
    };
    let [low, high] = ends.as_slice() else {
        return Err(range.error(expected(field)));
    };
    let own = value(root, field).ok_or_else(|| {
        key.place.error(format!(
            "this file gives no `{field}`; expected a field with its table, such as \
             \"seek.average\""
        ))
    })?;
    let (kind, middle) = quantity(own)
        .ok_or_else(|| key.place.error(format!("`{field}` is not a quantity and has no range")))?;
    let mut numbers = [0.0; 2];
    for (number, end) in numbers.iter_mut().zip([low, high]) {
        let (own_kind, own) = quantity(end).ok_or_else(|| end.error(expected(field)))?;
        if own_kind != kind {
            return Err(end.error(format!("this is another quantity than `{field}` has")));
        }
        *number = own;
    }
    let [first, last] = numbers;
    if first >= last {
        return Err(range.error("expected the lower end first, and a higher one after it"));
    }
    if !(first..=last).contains(&middle) {
        return Err(range.error(format!(
            "`{field}` is {}, which does not lie from {} to {}",
            own.words(),
            low.words(),
            high.words()
        )));
    }
    for end in [low, high] {
        let setting =
            Setting { field: field.clone(), place: key.place.clone(), value: end.clone() };
        let mut changed = root.clone();
        apply(root, &mut changed, &setting)?;
        super::read::read(&changed).map_err(|error| {
            end.error(format!("the drive cannot be with {}: {}", setting.words(), error.message))
        })?;
    }
    Ok(Plausible { field: field.clone(), value: own.words(), low: low.words(), high: high.words() })
}

fn expected(field: &str) -> String {
    format!("`{field}`: expected two ends of a range, such as [\"10 ms\", \"14 ms\"]")
}

/// What quantities of a drive file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Number,
    Time,
    Rate,
    Size,
}

fn quantity(node: &Node) -> Option<(Quantity, f64)> {
    let found = match &node.value {
        Value::Integer(n) => (Quantity::Number, *n as f64),
        Value::Float(n) => (Quantity::Number, *n),
        Value::Text(text) => {
            if let Ok(time) = parse_time(node, "") {
                (Quantity::Time, time as f64)
            } else if let Some(rate) = parse_rate(text) {
                (Quantity::Rate, rate)
            } else {
                (Quantity::Size, text.parse::<Bytes>().ok()?.0 as f64)
            }
        }
        _ => return None,
    };
    found.1.is_finite().then_some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Kind, SHIPPED, load, shipped};

    /// The first drive with this table of ranges alone.
    fn with(ranges: &str) -> Result<Vec<super::Plausible>, String> {
        let own = SHIPPED[0].1.split("[plausible]").next().unwrap_or_default();
        let text = format!("{own}\n[plausible]\n{ranges}\n");
        load("d.toml", &text).map(|file| file.plausible).map_err(|e| e.to_string())
    }

    #[test]
    fn ranges_are_read_and_held_to_the_file() {
        let ranges = with("\"seek.average\" = [\"7.8 ms\", \"8.2 ms\"]").unwrap();
        assert_eq!(ranges[0].field, "seek.average");
        assert_eq!(ranges[0].ends().collect::<Vec<_>>(), ["7.8 ms", "8.2 ms"]);
        let one = with("\"interface.ncq-quality\" = [0.5, 0.75]").unwrap();
        assert_eq!(one[0].ends().collect::<Vec<_>>(), ["0.5"]);
        for (range, expected) in [
            ("\"seek.averag\" = [\"7 ms\", \"9 ms\"]", "gives no `seek.averag`"),
            ("average = [\"7 ms\", \"9 ms\"]", "gives no `average`"),
            ("\"seek.average\" = \"7 ms\"", "two ends"),
            ("\"seek.average\" = [\"7 ms\"]", "two ends"),
            ("\"seek.average\" = [\"7 ms\", \"8 ms\", \"9 ms\"]", "two ends"),
            ("\"seek.average\" = [\"7 MiB\", \"9 ms\"]", "another quantity"),
            ("\"seek.average\" = [\"9 ms\", \"7 ms\"]", "the lower end first"),
            ("\"seek.average\" = [\"8.1 ms\", \"8.2 ms\"]", "does not lie from 8.1 ms"),
            ("\"seek.average\" = [\"7.8 ms\", \"14 ms\"]", "cannot be with seek.average = 14 ms"),
            ("\"kind\" = [\"hdd\", \"ssd\"]", "not a quantity"),
            ("\"cache.write-cache\" = [0, 1]", "not a quantity"),
        ] {
            let error = with(range).unwrap_err();
            assert!(error.contains(expected), "{range}: {error}");
            assert!(error.starts_with("d.toml:"), "{error}");
        }
    }

    /// What a study's claims may depend on has to be asked about.
    #[test]
    fn drives_give_ranges_for_what_is_assumed() {
        for (id, text) in SHIPPED {
            let file = shipped(id).unwrap();
            let mut table = String::new();
            for line in text.lines() {
                if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                    table = format!("{name}.");
                }
                let Some((field, rest)) = line.split_once(" = ") else { continue };
                let field = format!("{table}{field}");
                let is_assumed = rest.contains("# assumed") || rest.contains("# fitted");
                let is_known = file.plausible.iter().any(|p| p.field == field);
                // Lists, words and yes or no have no range; what a sector or a cell is has none.
                let has_none = [
                    "sectors",
                    "flash.cell-bits",
                    "persistent-cache.commit-times",
                    "interface.transport",
                ];
                let a_standard = field == "interface.link" && !matches!(file.kind, Kind::Ssd(_));
                let a_choice = rest.starts_with("true") || rest.starts_with("false");
                if is_assumed && !a_standard && !a_choice && !has_none.contains(&field.as_str()) {
                    assert!(is_known, "{id}: {field} is assumed, and has no plausible range");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn no_range_panics(field in "[a-z.-]{1,20}|(cache|seek)\\.(size|full|average)", range in "\\[.{0,20}\\]|\\PC{0,9}") {
            if let Err(error) = with(&format!("\"{field}\" = {range}")) {
                prop_assert!(error.starts_with("d.toml:"), "{}", error);
            }
        }
    }
}

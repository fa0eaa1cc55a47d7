//! `disklab lab bench --against`: this lab compared with another program's.

use disklab_exec::{Executor, Interrupt};
use disklab_speed::{AgainstOptions, Compared, against};
use disklab_units::significant;
use serde_json::json;

use crate::exit::{DONE, Failure};
use crate::printing::{aligned, print, print_json};

/// Measures both programs in turn, and shows both and their ratio.
pub(super) fn compare(
    options: &AgainstOptions,
    interrupt: &Interrupt,
    as_json: bool,
) -> Result<u8, Failure> {
    let executor = Executor::new(interrupt.clone());
    let compared = against(options, &executor, &mut |what| eprintln!("{what}"));
    if interrupt.is_raised() {
        return Err(Failure::interrupted("interrupted; nothing is left"));
    }
    let compared = compared?;
    if as_json {
        let figures: Vec<_> = compared
            .iter()
            .map(|figure| {
                json!({
                    "key": figure.key,
                    "name": figure.name,
                    "unit": figure.unit,
                    "this": figure.this,
                    "against": figure.other,
                    "ratio": figure.ratio(),
                })
            })
            .collect();
        print_json(&json!({ "core": options.core, "figures": figures }))?;
    } else {
        print(&table(&compared))?;
    }
    Ok(DONE)
}

/// Names, both medians, and the first by the second.
fn table(compared: &[Compared]) -> String {
    let number = |value: f64| significant(value, 3);
    let heading = ["", "this", "against", "ratio"].map(str::to_owned);
    let rows = compared.iter().filter_map(|figure| {
        let (this, other) = figure.medians()?;
        let ratio = figure.ratio().map(|ratio| format!("{ratio:.2}"));
        let this = format!("{} {}", number(this), figure.unit);
        let other = format!("{} {}", number(other), figure.unit);
        Some([
            figure.name.clone(),
            this.trim_end().to_owned(),
            other.trim_end().to_owned(),
            ratio.unwrap_or_default(),
        ])
    });
    aligned(&std::iter::once(heading).chain(rows).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_shows_both_programs_and_their_ratio() {
        let figure = Compared {
            key: "read".to_owned(),
            name: "random read".to_owned(),
            unit: "RT".to_owned(),
            this: vec![3.0, 4.0, 3.5],
            other: vec![7.0, 6.0],
        };
        let text = table(&[figure]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("this") && lines[0].ends_with("ratio"), "{text}");
        assert!(lines[1].starts_with("random read  3.50 RT  6.50 RT"), "{text}");
        assert!(lines[1].ends_with("0.54"), "{text}");
    }
}

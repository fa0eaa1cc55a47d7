//! The table of all stacks by all purposes: how far each is from the best, and from the one that is
//! taken in its class.

use super::cards::{Card, Deciding, elements, is_space, tolerates, untagged};
use super::samples::{Samples, mean, number};

/// What is wrong in it.
pub fn refuted(page: &str, cards: &[Card], samples: &Samples) -> Vec<String> {
    let mut wrong = Vec::new();
    for table in elements(page, "<table class=\"matrix sortable\">", "</table>") {
        let (head, body) = table.split_once("</thead>").unwrap_or_default();
        // 'stack', 'usable' and the purposes.
        let columns = elements(head, "<th", "</th>").skip(2);
        let purposes: Vec<String> = columns
            .map(|column| untagged(&format!("<th{column}")).trim_end_matches('*').to_owned())
            .collect();
        let rows: Vec<Row> = body.split("<tr><th scope=\"row\"").skip(1).map(Row::read).collect();
        for row in &rows {
            let id = samples.stack(&row.label);
            let capacity = id.and_then(|id| samples.planned(&id, "capacity"));
            if !capacity.is_some_and(|capacity| is_space(&row.usable, capacity)) {
                wrong.push(format!("{} does not store {}", row.label, row.usable));
            }
            if row.cells.len() != purposes.len() {
                wrong.push(format!("{} has {} purposes", row.label, row.cells.len()));
            }
        }
        for (n, purpose) in purposes.iter().enumerate() {
            let own: Vec<&Card> = cards.iter().filter(|card| card.purpose == *purpose).collect();
            let column =
                rows.iter().filter_map(|row| Some((row.label.as_str(), row.cells.get(n)?)));
            let column: Vec<(&str, &Cell)> = column.collect();
            let found = column_refuted(&column, &own, samples);
            wrong.extend(found.into_iter().map(|why| format!("the table's {purpose}: {why}")));
        }
    }
    wrong
}

struct Row {
    label: String,
    usable: String,
    cells: Vec<Cell>,
}

struct Cell {
    /// 'best', '≈ best', '0.82' or '–'.
    word: String,
    /// 'behind: 0.52 [0.50, 0.55] of the one taken; 6 repeats of read-1m'.
    tip: String,
}

impl Row {
    fn read(text: &str) -> Self {
        let (label, rest) = text.split_once("</th>").unwrap_or_default();
        let mut all = elements(rest, "<td", "</td>").map(|cell| format!("<td{cell}"));
        let usable = all.next().map(|cell| untagged(&cell)).unwrap_or_default();
        let cells = all.map(|cell| Cell {
            word: untagged(&cell),
            tip: elements(&cell, "data-tip=\"", "\"").next().unwrap_or_default().to_owned(),
        });
        Self { label: untagged(&format!("<th{label}")), usable, cells: cells.collect() }
    }
}

/// What is wrong in a purpose's column.
fn column_refuted(column: &[(&str, &Cell)], cards: &[&Card], samples: &Samples) -> Vec<String> {
    let mut wrong = Vec::new();
    for (label, cell) in column {
        let is_taken = cards.iter().any(|card| card.take == *label);
        if cell.tip.starts_with("taken") != is_taken {
            wrong.push(format!("{label} is '{}', and taken: {is_taken}", cell.tip));
        }
    }
    // Where it was chosen by all figures together, no card says by which.
    let Some(card) = cards.iter().find(|card| !card.values.is_empty()) else { return wrong };
    let Some(id) = samples.stack(&card.take) else { return wrong };
    let of = |deciding: &Deciding<'_>, label: &str| -> Option<f64> {
        let other = samples.stack(label)?;
        let all = deciding.iter().map(|(m, measure)| mean(&samples.ratios(m, measure, &other)));
        mean(&all.collect::<Option<Vec<f64>>>()?)
    };
    let refuted = |deciding: &Deciding<'_>| -> Vec<String> {
        let ratios: Vec<(&str, &Cell, f64)> = column
            .iter()
            .filter_map(|(label, cell)| Some((*label, *cell, of(deciding, label)?)))
            .collect();
        let best = ratios.iter().map(|(_, _, ratio)| *ratio).fold(0.0, f64::max);
        let mut wrong = Vec::new();
        for (label, cell, ratio) in ratios {
            let share = ratio / best;
            let holds = match cell.word.as_str() {
                "best" | "≈ best" => share > 0.96,
                "<0.01" => share < 0.006,
                word => number(word).is_none_or(|(said, rounding)| is_near(share, said, rounding)),
            };
            if !holds {
                wrong.push(format!("{label} is {share:.3} of the best, not {}", cell.word));
            }
            let class = samples.stack(label).and_then(|id| samples.planned(&id, "tolerates"));
            let taken = cards.iter().find(|card| tolerates(&card.class) == class);
            let next_to_it = taken.and_then(|taken| Some(ratio / of(deciding, &taken.take)?));
            wrong.extend(tip_refuted(label, &cell.tip, next_to_it));
        }
        wrong
    };
    let candidates = card.deciding(samples, &id);
    wrong.extend(candidates.iter().map(refuted).min_by_key(Vec::len).into_iter().flatten());
    wrong
}

/// Why 'behind in what decides: 0.52 [0.50, 0.55] of the one taken' is not how this stack stands
/// in its class. All that counts has no figure of its own.
fn tip_refuted(label: &str, tip: &str, next_to_it: Option<f64>) -> Option<String> {
    let (rank, rest) = tip.split_once(": ")?;
    let (distance, _) = rest.split_once(" of the one taken")?;
    let (said, ends) = distance.split_once(" [").unwrap_or((distance, ""));
    let (said, rounding) = number(said)?;
    let ends: Vec<f64> = ends.trim_end_matches(']').split(", ").flat_map(str::parse).collect();
    let (rank, in_what_decides) = match rank.split_once(" in what decides") {
        Some((rank, _)) => (rank, true),
        None => (rank.trim_end_matches(" by all that counts"), false),
    };
    let holds = (!in_what_decides || next_to_it.is_some_and(|t| is_near(t, said, rounding)))
        && ends.windows(2).all(|ends| ends[0] <= said && said <= ends[1])
        && match rank {
            "behind" => said < 1.0,
            "as good" => (0.9..=1.1).contains(&said),
            "not better" => ends.last().is_some_and(|high| *high <= 1.055),
            _ => rank == "inconclusive",
        };
    (!holds).then(|| format!("{label} is not '{tip}'"))
}

fn is_near(truth: f64, said: f64, rounding: f64) -> bool {
    (truth - said).abs() <= rounding + 0.03 * said
}

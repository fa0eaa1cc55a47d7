//! The page of an analysis, in Markdown.

use std::fmt::Write as _;

use disklab_published::{
    JudgedRow, MovedRow, NO_EFFECT, Parameter, RowKind, RowStatus, Sensitivity,
};
use disklab_units::{count, significant};

use super::conditions::SensitivityConditions;

/// A figure, to three digits.
pub(super) fn figure(value: f64) -> String {
    significant(value, 3)
}

/// `+12 %`, or `× 3.4` where it is far.
fn change(row: &MovedRow) -> String {
    let share = row.change();
    if !share.is_finite() || share.abs() >= 1.0 {
        return format!("× {}", figure(row.moved / row.shipped));
    }
    let percent = share * 100.0;
    if percent.abs() < 0.05 { "same".to_owned() } else { format!("{percent:+.1} %") }
}

/// What the run was about, in code, in which nothing is markup but the backtick, and
/// the bar in tables.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", text.replace(['`', '|', '\n'], " "))
}

/// What a row claims, and its published value.
pub(super) fn claim(judged: &JudgedRow) -> String {
    let row = &judged.row;
    let value = row.value.unwrap_or_default();
    match row.kind {
        RowKind::Value => format!("{} {}", figure(value), judged.read_unit),
        RowKind::Ratio => format!("{}×", figure(value)),
        RowKind::Order if value > 0.0 => "above".to_owned(),
        RowKind::Order if value < 0.0 => "below".to_owned(),
        RowKind::Order => "equal".to_owned(),
    }
}

pub(super) fn status(status: RowStatus) -> &'static str {
    match status {
        RowStatus::Reproduced => "reproduced",
        RowStatus::NotReproduced => "not reproduced",
        RowStatus::NotRun => "not run",
        RowStatus::NothingPublished => "nothing published",
    }
}

/// What becomes of a claim, in words.
fn becomes(row: &MovedRow) -> String {
    let stands = if row.was == row.is {
        format!("still {}", status(row.is))
    } else {
        format!("{} → {}", status(row.was), status(row.is))
    };
    if row.reverses { format!("**reverses**; {stands}") } else { stands }
}

/// `st3500418as seek.full`.
fn name(parameter: &Parameter) -> String {
    format!("{} {}", parameter.drive, parameter.field)
}

/// The analysis in sentences.
pub fn summary(found: &Sensitivity, failed: usize) -> String {
    let changed: std::collections::BTreeSet<&str> =
        found.parameters.iter().flat_map(Parameter::changed).map(|(_, r)| r.row.as_str()).collect();
    let turned: std::collections::BTreeSet<&str> = found
        .parameters
        .iter()
        .flat_map(Parameter::changed)
        .filter(|(_, row)| row.reverses)
        .map(|(_, r)| r.row.as_str())
        .collect();
    let with = found.parameters.iter().filter(|p| p.has_effect()).count();
    let mut text = format!(
        "• {} of {} claims reverse, and {} more are reproduced at one value and not at another.\n\
         • {with} of {} uncertain parameters move any figure by more than {} %.\n",
        turned.len(),
        found.rows.len(),
        changed.len() - turned.len(),
        found.parameters.len(),
        NO_EFFECT * 100.0,
    );
    if failed > 0 {
        let _ =
            writeln!(text, "! {} failed; what depends on them is left out", count(failed, "cell"));
    }
    text
}

/// The page.
pub fn text(found: &Sensitivity, conditions: &SensitivityConditions) -> String {
    let mut md = format!("# Sensitivity of the claims of {}\n\n", code(&found.study));
    let _ = write!(
        md,
        "The study's cells ran in the lab with the drive models as shipped, and once more with \
         each uncertain parameter at each end of its plausible range, one at a time; everything else, the \
         seeds included, was the same. {} Repeats: {}.\n\n",
        conditions.about(),
        conditions.repeats
    );
    md.push_str(&summary(found, conditions.failed).replace("• ", "- ").replace("! ", "- "));
    md.push_str("\n## Claims that change\n\n");
    changes(&mut md, found, conditions);
    md.push_str("## Parameters, by their effect\n\n");
    parameters(&mut md, found);
    md.push_str("## Claims, and how far they move\n\n");
    claims(&mut md, found, conditions);
    md
}

pub(super) fn table(md: &mut String, head: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(md, "| {} |", head.join(" | "));
    let _ = writeln!(md, "|{}", "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(md, "| {} |", row.join(" | "));
    }
    md.push('\n');
}

fn changes(md: &mut String, found: &Sensitivity, conditions: &SensitivityConditions) {
    let mut rows = Vec::new();
    for parameter in &found.parameters {
        for (end, row) in parameter.changed() {
            let judged = found.rows.iter().find(|j| j.row.id == row.row);
            rows.push(vec![
                code(&row.row),
                judged.map(claim).unwrap_or_default(),
                code(&name(parameter)),
                format!("{} → {}", parameter.own, end.value),
                figure(row.shipped),
                figure(row.moved),
                becomes(row),
            ]);
        }
    }
    if rows.is_empty() {
        md.push_str("None, whichever parameter is moved.\n\n");
        return;
    }
    let head = [
        "claim",
        conditions.column(),
        "parameter",
        "moved",
        "measured as shipped",
        "measured there",
        "the claim",
    ];
    table(md, &head, &rows);
}

fn parameters(md: &mut String, found: &Sensitivity) {
    let rows: Vec<Vec<String>> = found
        .parameters
        .iter()
        .filter(|p| p.has_effect())
        .map(|parameter| {
            let ends: Vec<String> = parameter
                .ends
                .iter()
                .map(|end| {
                    let most = end.most().map_or_else(
                        || "nothing measured".to_owned(),
                        |row| format!("{} ({})", change(row), code(&row.row)),
                    );
                    format!("{}: {most}", end.value)
                })
                .collect();
            vec![
                code(&name(parameter)),
                parameter.own.clone(),
                ends.join("<br>"),
                parameter.changed().count().to_string(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let head = ["parameter", "as shipped", "at its ends, the most", "claims changed"];
        table(md, &head, &rows);
    }
    let without: Vec<String> =
        found.parameters.iter().filter(|p| !p.has_effect()).map(|p| code(&name(p))).collect();
    if !without.is_empty() {
        let _ = write!(
            md,
            "No figure moves by more than {} % with: {}.\n\n",
            NO_EFFECT * 100.0,
            without.join(", ")
        );
    }
}

/// Each claim with its lowest and its highest figure, and what makes them.
fn claims(md: &mut String, found: &Sensitivity, conditions: &SensitivityConditions) {
    let mut rows = Vec::new();
    for judged in &found.rows {
        let Some(measured) = judged.measured else { continue };
        let mut seen: Vec<(f64, String)> = vec![(measured.centre, "as shipped".to_owned())];
        let mut is_changed = false;
        for parameter in &found.parameters {
            for end in &parameter.ends {
                for row in end.rows.iter().filter(|row| row.row == judged.row.id) {
                    seen.push((row.moved, code(&format!("{} = {}", name(parameter), end.value))));
                    is_changed |= row.is_changed();
                }
            }
        }
        // The first of equals: 'as shipped' comes before all.
        let mut ends = [&seen[0], &seen[0]];
        for one in &seen {
            if one.0 < ends[0].0 {
                ends[0] = one;
            }
            if one.0 > ends[1].0 {
                ends[1] = one;
            }
        }
        let shown = |end: &(f64, String)| format!("{} ({})", figure(end.0), end.1);
        rows.push(vec![
            code(&judged.row.id),
            claim(judged),
            format!("{} ({})", figure(measured.centre), status(judged.status)),
            shown(ends[0]),
            shown(ends[1]),
            if is_changed { "changes" } else { "stays" }.to_owned(),
        ]);
    }
    let head = ["claim", conditions.column(), "measured as shipped", "lowest", "highest", ""];
    table(md, &head, &rows);
}

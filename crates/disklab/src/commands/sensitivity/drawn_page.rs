//! The page of an analysis in which all parameters are moved at once, in Markdown.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use disklab_cell::Levels;
use disklab_published::{DrawnDrives, DrawnRow, may_fail};
use disklab_units::count;

use super::conditions::SensitivityConditions;
use super::page::{claim, code, figure, status, table};

/// What stands before [`command`].
pub const WHICH: &str = "To find out which parameter it is, move one at a time:";

/// The analysis in sentences.
pub fn summary(found: &DrawnDrives, failed: usize) -> String {
    let changed: Vec<&DrawnRow> = found.rows.iter().filter(|row| row.is_changed()).collect();
    let reversed = changed.iter().filter(|row| row.turned > 0).count();
    let held = found.rows.len() - changed.len();
    let n = found.n;
    let mut text = format!(
        "• Same direction and status as with the shipped drives, with all {n} drives that were \
         drawn: {held} of {}.\n",
        count(found.rows.len(), "claim"),
    );
    let _ = writeln!(
        text,
        "• Reversed with at least one: {reversed}. Reproduced with some and not with others: {} more.",
        changed.len() - reversed,
    );
    if held > 0 {
        let share = 100.0 * may_fail(n);
        let _ = writeln!(
            text,
            "• A claim that is the same with all {n} changes with fewer than {share:.0} % of all such \
             drives, 95 % sure."
        );
    }
    if failed > 0 {
        let cells = count(failed, "cell");
        let _ = writeln!(text, "! {cells} failed; what depends on them is left out");
    }
    text
}

/// The page. `parameters` were moved; `cells` are those of the claims that change.
pub fn text(
    found: &DrawnDrives,
    parameters: usize,
    conditions: &SensitivityConditions,
    cells: &BTreeSet<Levels>,
) -> String {
    let mut md = format!(
        "# Sensitivity of the claims of {}, all parameters at once\n\n",
        code(&found.study)
    );
    let _ = write!(
        md,
        "The study's cells ran in the lab with the drive models as shipped, and with {} \
         in place of each, whose {} are each at one of the ends of their plausible ranges, drawn \
         with seed {}; everything else, the seeds included, was the same. `plan.json` has their values. {} \
         Repeats: {}.\n\n",
        count(found.n, "other"),
        count(parameters, "uncertain parameter"),
        conditions.seed,
        conditions.about(),
        conditions.repeats,
    );
    md.push_str(&summary(found, conditions.failed).replace("• ", "- ").replace("! ", "- "));
    md.push_str("\n## Claims that change\n\n");
    if cells.is_empty() {
        md.push_str("None, with any of these drives.\n\n");
    } else {
        claims(&mut md, found, conditions, true);
        let _ = write!(md, "{WHICH}\n\n    {}\n\n", command(&conditions.study, cells));
    }
    md.push_str("## Claims that do not\n\n");
    claims(&mut md, found, conditions, false);
    md
}

/// How to ask which parameter it is, about these cells alone.
pub fn command(study: &str, cells: &BTreeSet<Levels>) -> String {
    let names = cells.iter().map(|l| format!("{}:{}", l.stack, l.workload));
    let words = names.map(|name| format!(" --only {}", shell_words::quote(&name)));
    format!("disklab sensitivity {}{}", shell_words::quote(study), words.collect::<String>())
}

/// Those claims that change, or those that do not.
fn claims(md: &mut String, found: &DrawnDrives, conditions: &SensitivityConditions, change: bool) {
    let chosen = found.rows.iter().filter(|row| row.is_changed() == change);
    let rows: Vec<Vec<String>> = chosen
        .map(|row| {
            let measured = row.shipped.measured.map(|measured| measured.centre).unwrap_or_default();
            let lowest = row.figures.iter().copied().fold(f64::INFINITY, f64::min);
            let highest = row.figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let n = row.figures.len();
            let reverses = match row.turned {
                0 => "no".to_owned(),
                turned => format!("**with {turned} of {n}**"),
            };
            vec![
                code(&row.shipped.row.id),
                claim(&row.shipped),
                format!("{} ({})", figure(measured), status(row.shipped.status)),
                figure(lowest),
                figure(highest),
                format!("{} of {n}", row.reproduced),
                reverses,
            ]
        })
        .collect();
    if rows.is_empty() {
        md.push_str("None.\n\n");
        return;
    }
    let head = [
        "claim",
        conditions.column(),
        "measured as shipped",
        "lowest",
        "highest",
        "reproduced with",
        "reverses",
    ];
    table(md, &head, &rows);
}

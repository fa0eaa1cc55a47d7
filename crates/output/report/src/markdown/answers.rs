//! What to take for which purpose, and one table of all stacks.

use std::fmt::Write as _;

use disklab_decision::Recommendation;
use disklab_units::count;

use super::{MarkdownTable, escape};
use crate::first_screen::{FirstScreen, Pick, StackLine, per_cent_of_best, space};

/// Rows that a post has room for.
const ROWS: usize = 24;

/// The answers, one table for each number of drives that may fail.
pub(crate) fn write(md: &mut String, screen: &FirstScreen<'_>) {
    let first = screen.first_class();
    let mut classes = screen.classes.clone();
    classes.sort_by_key(|class| (Some(*class) != first, *class));
    for class in classes {
        let heads = ["for", "take", "usable", "by", "how sure"].map(str::to_owned);
        let rows = screen.picks(class).iter().map(|pick| row(screen, pick)).collect();
        let _ = writeln!(md, "**{}**\n", escape(&Recommendation::may_fail(class)));
        MarkdownTable { head: heads.to_vec(), rows }.write(md);
        let below = screen.trades(class).into_iter().chain(screen.passes(class));
        let trades: Vec<String> = below.map(|t| format!("{t}.")).collect();
        super::list(md, &trades);
    }
}

fn row(screen: &FirstScreen<'_>, pick: &Pick<'_>) -> Vec<String> {
    let decision = pick.decision;
    let mut take = format!("**{}**", escape(screen.label(&decision.take)));
    match decision.as_good.as_slice() {
        [] => {}
        [one] => take.push_str(&format!(" or {}", escape(screen.label(one)))),
        more => take.push_str(&format!(" or {} others", more.len())),
    }
    let mut by = decision.values().unwrap_or_else(|| "all its figures".to_owned());
    if let Some(next) = decision.next.as_ref().filter(|_| decision.as_good.is_empty()) {
        let times = next.times().unwrap_or_else(|| "as much as".to_owned());
        by.push_str(&format!(", {times} {}", screen.label(&next.stack)));
        if next.is_taken_for_the_rest() {
            by.push_str(", and better in the rest");
        }
    }
    vec![
        escape(pick.recommendation.purpose.short),
        take,
        space(screen.stack(&decision.take).and_then(|stack| stack.usable)),
        escape(&by),
        escape(pick.how_sure.split([':', '.']).next().unwrap_or_default()),
    ]
}

/// All stacks: what decides for each purpose, in per cent of the best.
pub(crate) fn table(md: &mut String, screen: &FirstScreen<'_>) {
    let shown: Vec<&Recommendation> =
        screen.recommendations.iter().filter(|r| !r.scores.is_empty()).collect();
    let mut head = vec!["stack".to_owned(), "usable".to_owned(), "drives that may fail".to_owned()];
    head.extend(shown.iter().map(|r| {
        format!("{}{}", escape(r.purpose.short), if r.why_not.is_some() { "\\*" } else { "" })
    }));
    let mut stacks: Vec<&StackLine> = screen.stacks.iter().collect();
    stacks.sort_by(|a, b| b.speed.unwrap_or(-1.0).total_cmp(&a.speed.unwrap_or(-1.0)));
    let row = |stack: &&StackLine| {
        let share = |r: &&Recommendation| {
            let score = r.scores.iter().find(|score| score.stack == stack.id);
            score.map_or_else(|| "–".to_owned(), |score| per_cent_of_best(score.share))
        };
        let own = [
            escape(&stack.label),
            space(stack.usable),
            escape(&Recommendation::drives_that_may_fail(stack.survives)),
        ];
        own.into_iter().chain(shown.iter().map(share)).collect()
    };
    let rows = stacks.iter().take(ROWS).map(row).collect();
    md.push_str("**What decides, in % of the best stack**\n\n");
    MarkdownTable { head, rows }.write(md);
    if stacks.len() > ROWS {
        let _ = writeln!(md, "And {}.\n", count(stacks.len() - ROWS, "slower stack"));
    }
    if shown.iter().any(|r| r.why_not.is_some()) {
        md.push_str("\\* From a part of what this purpose asks for.\n\n");
    }
}

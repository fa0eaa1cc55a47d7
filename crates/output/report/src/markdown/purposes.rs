//! Which stack for which purpose.

use std::fmt::Write as _;

use disklab_verdict::{Advice, Recommendation, recommend};

use super::escape;
use crate::Report;
use crate::html::parts;

/// Sentences of a kind that a post has room for.
const LISTED: usize = 2;

/// The section; nothing where a run has only one stack or no purpose is measured.
pub(crate) fn write(md: &mut String, report: &Report) {
    let all = recommend(&report.study, &report.info, &report.analysis);
    let judged: Vec<&Recommendation> = all.iter().filter(|r| !r.classes.is_empty()).collect();
    if report.study.stacks.len() < 2 || judged.is_empty() {
        return;
    }
    md.push_str("## Which one for what?\n\n");
    let (why, judged) = one_refusal(judged);
    if let Some((why, purposes)) = why {
        let _ = writeln!(md, "- No recommendation for {}: {}.", escape(&purposes), escape(&why));
    }
    for recommendation in judged {
        let _ = writeln!(md, "- **{}**", escape(recommendation.purpose.title));
        for class in &recommendation.classes {
            let advice = escape(&class.advice.text());
            let advice = match class.advice {
                Advice::None(_) => advice,
                _ => format!("**{advice}**"),
            };
            let survives = escape(&Recommendation::survives(class.survives));
            let _ = writeln!(md, "  - {survives}: {advice}.");
            for (what, sentences) in parts(class) {
                let listed: Vec<String> =
                    sentences.iter().take(LISTED).map(|s| escape(s)).collect();
                let _ = writeln!(md, "    - {what}: {}", listed.join(" "));
            }
        }
    }
    if let Some(sentence) = Recommendation::how_to_decide(&all, &report.info) {
        let _ = writeln!(md, "- {}", escape(&sentence));
    }
    let others: Vec<&str> =
        all.iter().filter(|r| r.classes.is_empty()).map(|r| r.purpose.word).collect();
    if !others.is_empty() {
        let _ = writeln!(
            md,
            "- No recommendation, because the run has too few usable figures: {}",
            escape(&others.join(", "))
        );
    }
    md.push('\n');
}

/// Where nothing is recommended for any purpose, and for the same reason, that reason and the
/// purposes, to be said once; and what is left to be told one by one.
fn one_refusal(judged: Vec<&Recommendation>) -> (Option<(String, String)>, Vec<&Recommendation>) {
    let classes: Vec<&Advice> =
        judged.iter().flat_map(|r| &r.classes).map(|class| &class.advice).collect();
    match classes.split_first() {
        Some((Advice::None(why), others @ [_, ..]))
            if others.iter().all(|advice| matches!(advice, Advice::None(w) if w == why)) =>
        {
            let purposes: Vec<&str> = judged.iter().map(|r| r.purpose.word).collect();
            (Some((why.text(), purposes.join(", "))), Vec::new())
        }
        _ => (None, judged),
    }
}

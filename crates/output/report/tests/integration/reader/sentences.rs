//! The sentences of a page: figures, 'N times as fast', 'the fastest of'.

use super::cards::{elements, untagged};
use super::samples::{Measured, Samples, mean, number};

/// What is wrong in them.
pub fn refuted(page: &str, samples: &Samples) -> Vec<String> {
    let lists = ["<ul class=\"summary\">", "<ul class=\"sentences\">"];
    let mut wrong = Vec::new();
    for list in lists.into_iter().flat_map(|list| elements(page, list, "</ul>")) {
        let mut work = String::new();
        for sentence in elements(list, "<li>", "</li>").map(untagged) {
            let mut body = sentence.as_str();
            // 'For 1 MiB reads (dd-1M), the lowest of 45 figures is …'.
            if let Some((about, ends)) = sentence.split_once(" figures is ") {
                let work = match about.split_once("), ") {
                    Some((noun, _)) => noun.rsplit('(').next(),
                    None => about.split('\'').nth(1),
                };
                let why = span(ends, work.unwrap_or_default(), samples);
                wrong.extend(why.map(|why| format!("'{sentence}': {why}")));
                continue;
            }
            // 'For 1 MiB reads (dd-1M), all 5 figures are 100 MB/s.'
            if let Some((about, figure)) = sentence.split_once(" figures are ") {
                let work = about.split(['(', ')', '\'']).nth(1).unwrap_or_default();
                let of_work = samples.measured.iter().filter(|m| m.is_of(work));
                let figure = bare(figure);
                let unlike = of_work
                    .map(|m| &m.stack)
                    .find(|id| !samples.printed(id, figure).iter().any(|(m, _)| m.is_of(work)));
                wrong.extend(unlike.map(|id| format!("'{sentence}': {id} has another")));
                continue;
            }
            // 'For 4 KiB random reads (randread-4k), single/ext4 …', "For 'read-1m', …".
            if let Some(about) = sentence.strip_prefix("For ") {
                let at = |id: &str| about.find(&format!(", {id} "));
                let Some(at) = samples.stacks().filter_map(at).min() else { continue };
                let (noun, rest) = about.split_at(at);
                work = noun.trim_end_matches(')').rsplit('(').next().unwrap_or_default().to_owned();
                work = work.trim_matches('\'').to_owned();
                body = &rest[2..];
            }
            wrong.extend(claim(body, &work, samples).map(|why| format!("'{sentence}': {why}")));
        }
    }
    wrong
}

/// What is wrong in why a stack is taken: 'In reading large files ('read-1m') it is 1.57 times
/// [1.56, 1.58] as good as raid10/ext4: 221 MB/s [220, 221] against 140 MB/s [140, 141].'
pub fn reasons_refuted(page: &str, samples: &Samples) -> Vec<String> {
    let mut wrong = Vec::new();
    let (_, purposes) = page.split_once("id=\"purposes\"").unwrap_or_default();
    // Each answer, up to the next one.
    for answer in purposes.split("<p>Stacks ").skip(1) {
        let Some(take) = elements(answer, "<strong>", "</strong>").next() else { continue };
        let lists = elements(answer, "<summary>Why</summary><ul>", "</ul>");
        let reasons = lists.flat_map(|list| elements(list, "<li>", "</li>")).map(untagged);
        wrong.extend(reasons.filter_map(|reason| {
            let (_, rest) = reason.split_once(") it is ")?;
            let (relation, figures) = rest.split_once(": ")?;
            let (own, others) = figures.split_once(" against ")?;
            let why = reason_refuted(take, relation, bare(own), bare(others), samples)?;
            Some(format!("'{reason}': {why}"))
        }));
    }
    wrong
}

/// '221 MB/s' of '221 MB/s [220, 221].'
fn bare(figure: &str) -> &str {
    let end = [" [", " ("].into_iter().filter_map(|rest| figure.find(rest)).min();
    figure[..end.unwrap_or(figure.len())].trim_end_matches('.')
}

/// Why one stack's figure is not so much better than another's.
fn reason_refuted(
    take: &str,
    relation: &str,
    own: &str,
    others: &str,
    samples: &Samples,
) -> Option<String> {
    let Some(id) = samples.stack(take) else { return Some(format!("there is no stack '{take}'")) };
    let other = relation.rsplit(' ').next().and_then(|label| samples.stack(label));
    let Some(other) = other else { return Some(format!("'{relation}' names no stack")) };
    let theirs = samples.printed(&other, others);
    // Two figures may be printed alike: what one of them bears out holds.
    let all = samples.printed(&id, own).into_iter().filter_map(|(m, measure)| {
        let same = |t: &&(&Measured, &str)| {
            t.1 == measure && (&t.0.workload, &t.0.step) == (&m.workload, &m.step)
        };
        theirs.iter().find(same)?;
        Some(relates(relation, m, measure, samples))
    });
    let why: Vec<Option<String>> = all.collect();
    if why.is_empty() {
        return Some(format!("{id} has no {own} where {other} has {others}"));
    }
    why.into_iter().min().flatten()
}

/// Why 'a's 171 MB/s, the highest b's 880 MB/s.' are not the ends of this work's figures.
fn span(ends: &str, work: &str, samples: &Samples) -> Option<String> {
    let of_work = |m: &Measured| m.workload == work || format!("{}:{}", m.workload, m.step) == work;
    for (end, is_lowest) in ends.split(", the highest ").zip([true, false]) {
        let (stack, figure) = end.split_once("'s ")?;
        let figure = bare(figure);
        let Some(id) = samples.stack(stack) else {
            return Some(format!("there is no stack '{stack}'"));
        };
        let printed = samples.printed(&id, figure);
        let Some((own, measure)) = printed.into_iter().find(|(m, _)| of_work(m)) else {
            return Some(format!("{id} has no {figure} in {work}"));
        };
        let less_is_lower = if matches!(measure, "throughput" | "operations") { 1.0 } else { -1.0 };
        let others = samples.stacks().filter(|other| **other != *id);
        // How much better the other is; the lowest of times is the best.
        let is_beyond = |other: &&str| {
            let better = mean(&samples.ratios(own, measure, other)).map_or(0.0, f64::ln);
            if is_lowest { better * less_is_lower < -0.01 } else { better * less_is_lower > 0.01 }
        };
        if let Some(other) = others.into_iter().find(is_beyond) {
            return Some(format!("{other} is beyond {id}"));
        }
    }
    None
}

/// Why a sentence that begins with a stack does not hold.
fn claim(sentence: &str, work: &str, samples: &Samples) -> Option<String> {
    const VERBS: [&str; 5] =
        [" reaches ", " takes ", " has a ", " is the fastest of ", " leads with "];
    let (stack, rest) = VERBS.iter().find_map(|verb| sentence.split_once(verb))?;
    if stack.contains(' ') {
        return None;
    }
    let id = samples.stack(stack);
    let Some(id) = id else { return Some(format!("there is no stack '{stack}'")) };
    // '380 MB/s [362, 410], 1.8 times [1.6, 1.9] as fast as single/ext4.'
    let figure = rest.split(" [").next().unwrap_or_default();
    let words: Vec<&str> = figure.split_whitespace().collect();
    let figure = words.iter().rev().take(2).rev().copied().collect::<Vec<_>>().join(" ");
    let of_work = |m: &Measured| m.workload == work || format!("{}:{}", m.workload, m.step) == work;
    let printed = samples.printed(&id, &figure);
    let Some((measured, measure)) = printed.into_iter().find(|(m, _)| of_work(m)) else {
        let known = samples.measured.iter().any(of_work);
        return known.then(|| format!("{id} has no {figure} in {work}"));
    };
    if sentence.contains(" is the fastest of ") {
        let others = samples.measured.iter().map(|m| m.stack.as_str()).filter(|s| *s != id);
        let faster = others.filter(|s| mean(&samples.ratios(measured, measure, s)) > Some(1.0));
        if let Some(faster) = faster.into_iter().next() {
            return Some(format!("{faster} is faster"));
        }
    }
    let (_, relation) = rest.split_once("], ")?;
    relates(relation, measured, measure, samples)
}

/// Why '1.8 times [1.6, 1.9] as fast as single/ext4' or '5 % [3, 8] slower than it' is wrong.
fn relates(
    relation: &str,
    measured: &Measured,
    measure: &str,
    samples: &Samples,
) -> Option<String> {
    let ends = ["as fast as ", "as many as ", "as good as ", "than "];
    let (said, other) = ends.iter().find_map(|end| relation.split_once(end))?;
    let other = other.split([',', ' ', '(']).next()?.trim_end_matches('.');
    let Some(other) = samples.stack(other) else {
        return Some(format!("there is no stack '{other}'"));
    };
    // How many times as good as the other.
    let ratio = 1.0 / mean(&samples.ratios(measured, measure, &other))?;
    let more_is_better = matches!(measure, "throughput" | "operations");
    let (digits, rounding) = number(said.split_whitespace().find(|w| number(w).is_some())?)?;
    let holds = if said.contains("times") || said.contains("factor") {
        (ratio - digits).abs() <= rounding + 0.03 * digits
    } else {
        let is_better = said.contains("better");
        let share =
            if more_is_better || is_better { ratio - 1.0 } else { 1.0 / ratio - 1.0 } * 100.0;
        let more = is_better || ["faster", "more", "longer"].iter().any(|word| said.contains(word));
        let signed = if more { digits } else { -digits };
        (share - signed).abs() <= rounding + 1.0 + 0.1 * digits
    };
    (!holds).then(|| format!("it is {ratio:.3} times as good as {other}"))
}

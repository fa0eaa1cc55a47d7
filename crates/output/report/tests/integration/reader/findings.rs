//! The findings: which figures of which stacks they name, and the numbers that they give of these.

use serde_json::Value;

use super::Medium;
use super::cards::{elements, untagged};
use super::samples::{Measured, Samples, number};

/// What a share is of, of one figure of one stack.
type Quantity = fn(&Measured) -> Option<f64>;

/// The words that follow a share, and of what it is one. More of it is in `quantity`'s own words.
const SHARES: [(&str, Quantity); 5] = [
    ("of the bytes that the workload read", |m| moved(m, "drive_read_bytes")),
    ("of the bytes that the workload wrote", |m| moved(m, "drive_write_bytes")),
    ("of the bytes had reached the drives when the clock stopped", |m| {
        moved(m, "drive_write_bytes")
    }),
    ("of what the drives read came from one drive", from_one_drive),
    ("of the reads from their own memory", from_memory),
];

/// What is wrong in the findings of a text: in their numbers, or since the JSON has no such one.
pub fn refuted(medium: Medium, text: &str, samples: &Samples) -> Vec<String> {
    let found = match medium {
        Medium::Page => page(text),
        Medium::Post => post(text),
        Medium::Terminal => terminal(text),
    };
    let mut wrong = Vec::new();
    for finding in found {
        if !is_known(&finding, samples) {
            wrong.push(format!("the JSON has no finding '{finding}'"));
        }
        let why = named(&finding, samples).and_then(|named| {
            counted(&finding, samples)?;
            shared(&finding, &named)?;
            amplified(&finding, &named)?;
            outlying(&finding, samples)
        });
        wrong.extend(why.err().map(|why| format!("'{finding}': {why}")));
    }
    wrong
}

/// Whether it is a finding of the JSON, or several of them, one after the other.
fn is_known(finding: &str, samples: &Samples) -> bool {
    let mut rest = finding;
    while !rest.is_empty() {
        let known = samples.findings().map(one_line);
        let next = known.filter_map(|known| Some(rest.strip_prefix(&known)?.trim_start())).next();
        let Some(next) = next else { return false };
        rest = next;
    }
    true
}

fn page(html: &str) -> Vec<String> {
    let (begin, end) = ("<span class=\"audit\">", "</p>");
    let all = elements(html, begin, end).filter_map(|finding| finding.split_once("</h3><p>"));
    all.map(|(_, text)| one_line(&untagged(text))).collect()
}

fn post(text: &str) -> Vec<String> {
    let all = text.lines().filter_map(|line| line.strip_prefix("- *")?.split_once("*: "));
    all.map(|(_, text)| {
        let text = text.rsplit_once(" → ").map_or(text, |(text, _)| text);
        one_line(&text.replace('\\', ""))
    })
    .collect()
}

fn terminal(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        // '  8 more severe findings.'
        let is_count = line.ends_with(" severe findings.") || line.ends_with(" severe finding.");
        if let Some(begin) = line.strip_prefix("! ") {
            all.push(begin.to_owned());
        } else if let (true, Some(more), Some(last)) =
            (is_open && !is_count, line.strip_prefix("  "), all.last_mut())
        {
            *last += &format!(" {}", more.trim());
        }
        is_open = line.starts_with("! ") || (is_open && line.starts_with("  "));
    }
    all
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Figures of one kind, as a finding names them: 'dd-4k with raid1/ext4, raid5/xfs and 3 more'.
struct FigureList<'a> {
    /// Where the list begins and ends in the text.
    at: (usize, usize),
    /// What has that name on the named stacks, then on all others.
    own: Vec<&'a Measured>,
    others: Vec<&'a Measured>,
    /// How many more there are.
    more: usize,
}

impl FigureList<'_> {
    /// Whether a range is that of a quantity of these figures.
    fn has(&self, (low, high): (PrintedNumber, PrintedNumber), quantity: Quantity) -> bool {
        let own: Vec<f64> = self.own.iter().filter_map(|m| quantity(m)).collect();
        let others: Vec<f64> = self.others.iter().filter_map(|m| quantity(m)).collect();
        let is_within = own.iter().all(|v| low.is_at_most(*v) && high.is_at_least(*v));
        let is_end = |end: PrintedNumber, all: &[f64]| all.iter().any(|v| end.is(*v));
        let ends = [low, high].into_iter().all(|end| {
            is_end(end, &own) || end.is_bound || (self.more > 0 && is_end(end, &others))
        });
        !own.is_empty() && is_within && ends
    }
}

/// All lists of figures in a text; an error if a stack has no such figure.
fn named<'a>(text: &str, samples: &'a Samples) -> Result<Vec<FigureList<'a>>, String> {
    let mut all = Vec::new();
    for (at, _) in text.match_indices(" with ") {
        let of_work: Vec<&Measured> =
            samples.measured.iter().filter(|m| m.ends(&text[..at])).collect();
        let mut rest = &text[at + " with ".len()..];
        let (mut stacks, mut more): (Vec<&str>, usize) = (Vec::new(), 0);
        loop {
            let longest =
                samples.stacks().filter(|id| rest.starts_with(id)).max_by_key(|id| id.len());
            let Some(stack) = longest else { break };
            if stacks.contains(&stack) {
                return Err(format!("{stack} is named twice"));
            }
            stacks.push(stack);
            rest = &rest[stack.len()..];
            let next = rest.strip_prefix(", ").or_else(|| rest.strip_prefix(" and "));
            let Some(next) = next else { break };
            if let Some((n, behind)) = next.split_once(" more").filter(|_| rest.starts_with(" and"))
                && let Ok(n) = n.parse()
            {
                (more, rest) = (n, behind);
                break;
            }
            if !samples.stacks().any(|id| next.starts_with(id)) {
                break;
            }
            rest = next;
        }
        // Of work that has no figure at all, as in failed cells, nothing is known.
        if of_work.is_empty() || stacks.is_empty() {
            continue;
        }
        let is_own = |m: &&&Measured| stacks.contains(&m.stack.as_str());
        let own: Vec<&Measured> = of_work.iter().filter(is_own).copied().collect();
        let others: Vec<&Measured> = of_work.iter().filter(|m| !is_own(m)).copied().collect();
        let is_failure = text.contains(" failed: ");
        if let Some(stack) =
            stacks.iter().find(|s| !is_failure && !own.iter().any(|m| m.stack == **s))
        {
            return Err(format!("{stack} has no such figure"));
        }
        let mut left: Vec<&str> = others.iter().map(|m| m.stack.as_str()).collect();
        left.dedup();
        // Of cells, each repeat counts.
        if more > left.len() && !is_failure && !text.contains(" cells (") {
            return Err(format!("there are no {more} more"));
        }
        all.push(FigureList { at: (at, text.len() - rest.len()), own, others, more });
    }
    Ok(all)
}

/// A number as it is printed, '3.5', or a bound, '<0.1'.
#[derive(Clone, Copy)]
struct PrintedNumber {
    value: f64,
    rounding: f64,
    is_bound: bool,
}

impl PrintedNumber {
    fn of(text: &str, scale: f64) -> Option<Self> {
        let (digits, is_bound) = match text.strip_prefix(['<', '>']) {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        let (value, rounding) = number(digits)?;
        // Two digits are shown of what is less than ten.
        Some(Self { value: value * scale, rounding: rounding * scale * 1.01, is_bound })
    }

    fn is(self, value: f64) -> bool {
        (self.value - value).abs() <= self.rounding
    }

    fn is_at_most(self, value: f64) -> bool {
        self.is_bound || self.value - self.rounding <= value
    }

    fn is_at_least(self, value: f64) -> bool {
        self.value + self.rounding >= value
    }
}

/// The last range in a text: '3.5 % to 14 %', '97 %', '44 to 413'.
fn range(text: &str) -> Option<(PrintedNumber, PrintedNumber)> {
    let scale = if text.ends_with('%') { 0.01 } else { 1.0 };
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "%").collect();
    let said = |back: usize| PrintedNumber::of(words.get(words.len().checked_sub(back)?)?, scale);
    let high = said(1)?;
    let is_range = words.len() > 2 && words[words.len() - 2] == "to";
    Some((if is_range { said(3)? } else { high }, high))
}

/// Whether shares are those of the figures that are named before them.
fn shared(text: &str, named: &[FigureList<'_>]) -> Result<(), String> {
    for (words, quantity) in SHARES {
        let Some(at) = text.find(words) else { continue };
        let Some(said) = range(text[..at].trim_end()) else { continue };
        let Some(of) = named.iter().rfind(|named| named.at.1 <= at) else { continue };
        if !of.has(said, quantity) {
            let own: Vec<Option<f64>> = of.own.iter().map(|m| quantity(m)).collect();
            return Err(format!("it is {own:?} {words}"));
        }
    }
    Ok(())
}

/// Whether '44 to 413 for dd-4k with raid1/ext4' is what the drives wrote.
fn amplified(text: &str, named: &[FigureList<'_>]) -> Result<(), String> {
    if !text.starts_with("The drives wrote over 3 bytes per byte") {
        return Ok(());
    }
    for of in named {
        let before = &text[..of.at.0];
        let Some((before, _)) = before.rsplit_once(" for ") else { continue };
        let Some(said) = range(before) else { continue };
        // What is large has all its digits, of which two are meant.
        let two =
            |s: PrintedNumber| PrintedNumber { rounding: s.rounding.max(s.value * 0.005), ..s };
        if !of.has((two(said.0), two(said.1)), |m| moved(m, "drive_write_bytes")) {
            let own: Vec<_> = of.own.iter().map(|m| moved(m, "drive_write_bytes")).collect();
            return Err(format!("it is {own:?} for {}", of.own[0].workload));
        }
    }
    Ok(())
}

/// Whether counts of cells and figures are those of the run.
fn counted(text: &str, samples: &Samples) -> Result<(), String> {
    let holds = |said: &str, true_one: usize| match said.parse::<usize>() {
        Ok(n) if n != true_one => Err(format!("it is {true_one}, not {n}")),
        _ => Ok(()),
    };
    let before = |words: &str| text.split_once(words).and_then(|(b, _)| b.rsplit(' ').next());
    let (done, failed, waiting) =
        (samples.cells("done"), samples.cells("failed"), samples.cells("waiting"));
    if let Some((all, rest)) = text.split_once(" cells ").filter(|(_, r)| r.contains("not run")) {
        let (n, all) = all.split_once(" of ").unwrap_or((rest, all));
        holds(n, waiting)?;
        holds(all, done + failed + waiting)?;
    }
    for words in [" cell failed: ", " cells failed: "] {
        before(words).map_or(Ok(()), |n| holds(n, failed))?;
    }
    if let Some((_, rest)) = text.split_once("was in use in ") {
        let count = rest.split(' ').find(|word| word.parse::<usize>().is_ok() && *word != "1");
        let all = rest.split_once(" of ").and_then(|(_, all)| all.split(' ').next());
        all.filter(|_| !rest.starts_with("all")).or(count).map_or(Ok(()), |n| holds(n, done))?;
    }
    let repeats = |n: usize| samples.measured.iter().filter(|m| m.observations.len() == n).count();
    for (words, n) in [("measured once", 1), ("measured twice", 2)] {
        let every = text.starts_with("Every figure was ") && text.contains(words);
        if every && repeats(n) != samples.measured.len() {
            return Err(format!("{} figures were {words}", repeats(n)));
        }
        for verb in [" was ", " were "] {
            let count = before(&format!("{verb}{words}")).filter(|_| !every);
            count.map_or(Ok(()), |count| holds(count, repeats(n)))?;
        }
    }
    Ok(())
}

/// Whether 'at worst 1.5 times the median, dd-4k with raid6/ext4 in block 4' and 'at worst, 6 of 8
/// are 1.42 times the others, …' are so.
fn outlying(text: &str, samples: &Samples) -> Result<(), String> {
    let worst = text.split_once("at worst ").and_then(|(_, r)| r.split_once(" times the median, "));
    let modes =
        text.split_once("at worst, ").and_then(|(_, r)| r.split_once(" times the others, "));
    let Some((said, of)) = worst.or(modes) else { return Ok(()) };
    let own: Vec<&Measured> = samples.measured.iter().filter(|m| m.is_named(of)).collect();
    let times = said.rsplit(' ').next().and_then(|times| PrintedNumber::of(times, 1.0));
    let Some(times) = times.filter(|_| !own.is_empty()) else {
        return Err(format!("there is no '{of}'"));
    };
    let high = said.split(' ').next().and_then(|n| n.parse::<usize>().ok());
    let block = of.rsplit(' ').next().and_then(|n| n.trim_end_matches('.').parse::<u64>().ok());
    let holds = own.iter().flat_map(|m| m.all_values()).any(|values| {
        let mut sorted: Vec<f64> = values.values().map(|v| v.ln()).collect();
        sorted.sort_by(f64::total_cmp);
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
        let n = sorted.len();
        let truth = match (worst, high, block) {
            (Some(_), _, Some(block)) => values
                .get(&(block - 1))
                .map(|value| value.ln() - (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0),
            (None, Some(high), _) if high < n => {
                let (low, high) = sorted.split_at(n - high);
                Some(mean(high) - mean(low))
            }
            _ => None,
        };
        truth.is_some_and(|truth| times.is(truth.exp()))
    });
    if holds { Ok(()) } else { Err(format!("{of} is not {said} times that")) }
}

/// What the drives moved for each byte asked for.
fn moved(m: &Measured, what: &str) -> Option<f64> {
    let sum =
        |key: &str| m.observations.iter().map(|o| o[key].as_f64().unwrap_or(0.0)).sum::<f64>();
    let is_counted = m.observations.iter().all(|o| drives(o).next().is_some());
    (is_counted && sum("bytes") > 0.0).then(|| sum(what) / sum("bytes"))
}

fn drives(observation: &Value) -> impl Iterator<Item = &Value> {
    observation["drives"].as_array().into_iter().flatten()
}

/// The least share of what was read that one drive delivered.
fn from_one_drive(m: &Measured) -> Option<f64> {
    let share = |o: &Value| {
        let most = drives(o).filter_map(|d| d["read_bytes"].as_f64()).reduce(f64::max)?;
        Some(most / o["drive_read_bytes"].as_f64()?)
    };
    m.observations.iter().filter_map(share).reduce(f64::min)
}

/// The median share of reads that the drives answered from their memory.
fn from_memory(m: &Measured) -> Option<f64> {
    let shares =
        m.observations.iter().filter_map(|o| o["drive_memory_reads"]["share_of_reads"].as_f64());
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    let n = shares.len();
    (n > 0).then(|| (shares[(n - 1) / 2] + shares[n / 2]) / 2.0)
}

//! The answers: which stack to take for what, as page, post and terminal show it.

use super::samples::{Measured, Samples, mean, number};

/// Where a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Medium {
    Page,
    Post,
    Terminal,
}

/// An answer as it is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Card {
    /// 'One drive may fail'.
    pub class: String,
    /// 'Films and photos'.
    pub purpose: String,
    pub take: String,
    pub usable: String,
    /// '380 MB/s'; empty where it was chosen by all figures together.
    pub values: Vec<String>,
    /// How many times as good it is as which other.
    pub next: Option<(String, String)>,
    pub as_good: Vec<String>,
    /// What more space costs: stack, space, cost.
    pub trade: Option<[String; 3]>,
    pub sure: String,
    /// Of how many workloads its figure is the mean; 0 if it is one figure.
    pub mean_of: u32,
}

/// The figures that decide together, each with its measure.
pub type Deciding<'a> = Vec<(&'a Measured, &'static str)>;

/// No stack of the class may be better than the one that is taken by more than this.
const BEATEN: f64 = 1.10;
/// So many standard errors beyond it, in five repeats or more, are significant in any correction.
const ERRORS: f64 = 12.0;

/// Whether such ratios are significantly beyond [`BEATEN`].
fn are_beyond(ratios: &[f64]) -> bool {
    let beyond: Vec<f64> = ratios.iter().map(|r| (r / BEATEN).ln()).collect();
    let n = beyond.len() as f64;
    let mean = beyond.iter().sum::<f64>() / n;
    let variance = beyond.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (n - 1.0);
    beyond.len() >= 5 && mean > ERRORS * (variance / n).sqrt()
}

impl Medium {
    /// All answers, as this medium has them.
    pub fn cards(self, text: &str) -> Vec<Card> {
        match self {
            Self::Page => page(text),
            Self::Post => post(text),
            Self::Terminal => terminal(text),
        }
    }
}

impl Card {
    /// What is wrong in it.
    pub fn refuted(&self, samples: &Samples) -> Vec<String> {
        let at = format!("{}, {}: ", self.class, self.purpose);
        let Some(id) = samples.stack(&self.take) else {
            return vec![format!("{at}there is no stack '{}'", self.take)];
        };
        let mut wrong = Vec::new();
        if tolerates(&self.class) != samples.planned(&id, "tolerates") {
            wrong.push(format!("{id} does not survive that"));
        }
        if !is_space(&self.usable, samples.planned(&id, "capacity").unwrap_or(0.0)) {
            wrong.push(format!("{id} does not store {}", self.usable));
        }
        wrong.extend(self.values.iter().filter_map(|value| {
            let unknown = self.found(samples, &id, value).is_empty();
            unknown.then(|| format!("no figure of {id} is {value}"))
        }));
        if !self.values.is_empty() && wrong.is_empty() {
            let deciding = self.deciding(samples, &id);
            let all = deciding.iter().map(|figures| self.refuted_by(samples, &id, figures));
            wrong.extend(all.min_by_key(Vec::len).into_iter().flatten());
        }
        wrong.into_iter().map(|w| format!("{at}{w}")).collect()
    }

    /// The figures by which a stack was chosen. Two may be printed alike, and a card does not
    /// always name its own: what one choice of them bears out holds.
    pub fn deciding<'a>(&self, samples: &'a Samples, id: &str) -> Vec<Deciding<'a>> {
        let mut deciding: Vec<Deciding<'a>> = vec![Vec::new()];
        for value in &self.values {
            let found = self.found(samples, id, value);
            let with = |one: &Deciding<'a>| {
                found.iter().map(|f| [&one[..], f].concat()).collect::<Vec<_>>()
            };
            deciding = deciding.iter().flat_map(with).collect();
        }
        deciding
    }

    /// The figures, or those of a mean, that are printed so.
    fn found<'a>(&self, samples: &'a Samples, id: &str, value: &str) -> Vec<Deciding<'a>> {
        match self.mean_of {
            0 => samples.printed(id, value).into_iter().map(|figure| vec![figure]).collect(),
            count => samples.averaged(id, value, count),
        }
    }

    fn refuted_by(
        &self,
        samples: &Samples,
        id: &str,
        deciding: &[(&Measured, &str)],
    ) -> Vec<String> {
        let against = |other: &str| -> Option<(f64, bool)> {
            let all: Vec<Vec<f64>> =
                deciding.iter().map(|(m, measure)| samples.ratios(m, measure, other)).collect();
            let means: Option<Vec<f64>> = all.iter().map(|ratios| mean(ratios)).collect();
            let beaten = all.iter().all(|ratios| are_beyond(ratios));
            Some((mean(&means?)?, beaten))
        };
        let mut wrong = Vec::new();
        for other in samples.class(id) {
            if against(&other).is_some_and(|(_, beaten)| beaten) {
                wrong.push(format!("{other} beats {id} significantly by over 10 %"));
            }
        }
        if let Some((times, label)) = &self.next {
            let other = samples.stack(label);
            let said = number(times.trim_end_matches(['×', 'x']));
            match other.and_then(|other| against(&other)).zip(said) {
                None => wrong.push(format!("{times} {label} cannot be told")),
                Some(((ratio, _), (said, rounding))) => {
                    if (1.0 / ratio - said).abs() > rounding + 0.03 * said {
                        wrong.push(format!("{times} {label} is {:.3} times", 1.0 / ratio));
                    }
                    if self.sure == "Sure" && ratio > BEATEN {
                        wrong.push(format!("not sure: {label} is better"));
                    }
                }
            }
        }
        for label in &self.as_good {
            let other = samples.stack(label).and_then(|other| against(&other));
            if other.is_none_or(|(ratio, _)| !(1.0 / BEATEN..=BEATEN).contains(&ratio)) {
                wrong.push(format!("{label} is not as good"));
            }
        }
        wrong.extend(self.trade.iter().filter_map(|trade| {
            let [label, space, cost] = trade;
            let other = samples.stack(label);
            let ratio = other.as_deref().and_then(against).map(|(ratio, _)| ratio);
            let more = samples.planned(&other?, "capacity")? - samples.planned(id, "capacity")?;
            let holds = is_space(space, more) && ratio.is_some_and(|r| is_cost(cost, r));
            (!holds).then(|| format!("the trade {trade:?} is {more} bytes and {ratio:?} times"))
        }));
        wrong
    }
}

/// Whether '11 % less' is what such a ratio costs.
fn is_cost(cost: &str, ratio: f64) -> bool {
    let cost = cost.trim_end_matches(" (inconclusive)");
    let percent = (ratio - 1.0) * 100.0;
    match cost.split_once(" % ") {
        None if cost == "as good" => (1.0 / BEATEN..=BEATEN).contains(&ratio),
        Some((">99", "less")) => ratio < 0.01,
        Some((n, "less")) => n.parse::<f64>().is_ok_and(|n| (percent + n).abs() < 3.0),
        Some((n, "more")) => n.parse::<f64>().is_ok_and(|n| (percent - n).abs() < 3.0),
        _ => match cost.strip_suffix(" times as much").map(str::parse::<f64>) {
            Some(times) => times.is_ok_and(|times| (ratio - times).abs() < 0.5 + 0.03 * times),
            None => cost == "the same speed" && percent.abs() < 3.0,
        },
    }
}

/// How many drives may fail in a class.
pub fn tolerates(class: &str) -> Option<f64> {
    match class.split(' ').next() {
        Some("No") => Some(0.0),
        Some("One") => Some(1.0),
        Some("Two") => Some(2.0),
        Some(n) => n.parse().ok(),
        None => None,
    }
}

/// Whether '19.8 TB' is so many bytes, as far as its digits say.
pub fn is_space(text: &str, bytes: f64) -> bool {
    const SIZES: [(&str, f64); 5] =
        [("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let Some((digits, unit)) = text.split_once(' ') else { return false };
    let Some((value, rounding)) = number(digits) else { return false };
    let size = SIZES.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size);
    size.is_some_and(|size| (value * size - bytes).abs() <= rounding * size * 1.01)
}

/// Text without its tags and entities.
pub fn untagged(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The insides of all elements that begin so.
pub fn elements<'a>(html: &'a str, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    html.split(begin).skip(1).filter_map(move |rest| Some(rest.split_once(end)?.0))
}

fn page(html: &str) -> Vec<Card> {
    let mut cards = Vec::new();
    let (_, first) = html.split_once("id=\"answers\"").unwrap_or_default();
    let (first, _) = first.split_once("<div class=\"two\"").unwrap_or((first, ""));
    for class in first.split("<h3 class=\"class\">").skip(1) {
        let (name, rest) = class.split_once("</h3>").unwrap_or_default();
        for card in rest.split("<div class=\"answer\">").skip(1) {
            let part = |begin, end| elements(card, begin, end).next().map(untagged);
            let mut read = Card {
                class: name.to_owned(),
                purpose: part("<h3 class=\"for\">", "</h3>").unwrap_or_default(),
                take: part("<p class=\"take\">", "</p>").unwrap_or_default(),
                usable: part("<strong>", "</strong>").unwrap_or_default(),
                sure: part("<p class=\"sure\">", "</p>").unwrap_or_default(),
                ..Card::default()
            };
            read.sure = read.sure.split([':', '.']).next().unwrap_or_default().to_owned();
            for text in elements(card, "<p>", "</p>").map(untagged) {
                read.paragraph(&text);
            }
            cards.push(read);
        }
    }
    cards
}

impl Card {
    /// A paragraph of a card: its figures, what is as good, or the trade.
    fn paragraph(&mut self, text: &str) {
        if let Some(all) = text.strip_prefix("As good: ") {
            self.as_good = all.split(", ").map(str::to_owned).collect();
        } else if let Some((label, rest)) = text.split_once(": ") {
            let joints = [" more space for ", " more space with ", " more space, and is "];
            let parts = joints.iter().find_map(|joint| rest.split_once(joint));
            self.trade = parts.map(|(space, cost)| [label, space, cost].map(str::to_owned));
        } else if !text.ends_with("usable") {
            let (by, next) = text.split_once(", ").unwrap_or((text, ""));
            let values = by.split(" and ").filter_map(|part| Some(part.split_once(" in ")?.0));
            self.values = values.map(str::to_owned).collect();
            let mean = by.split_once("(the mean of ").and_then(|(_, rest)| rest.split(' ').next());
            self.mean_of = mean.and_then(|count| count.parse().ok()).unwrap_or(0);
            self.next = next_best(next);
        }
    }

    /// '380 MB/s and 3 IOPS, 1.89× Btrfs RAID 1': figures, and how they stand to the next.
    fn by(&mut self, text: &str) {
        let (values, rest) = text.split_once(", ").unwrap_or((text, ""));
        if values.starts_with(|c: char| c.is_ascii_digit()) {
            self.values = values.split(" and ").map(str::to_owned).collect();
        }
        self.next = next_best(rest);
    }
}

/// '0.93× RAID 5 · XFS, the next, and better in the rest'.
fn next_best(text: &str) -> Option<(String, String)> {
    let text = text.trim_end_matches(", and better in the rest").trim_end_matches(", the next");
    text.split_once("× ").map(|(times, label)| (times.to_owned(), label.to_owned()))
}

fn post(text: &str) -> Vec<Card> {
    let mut cards: Vec<Card> = Vec::new();
    let mut class = String::new();
    for line in text.lines() {
        let line = line.replace('\\', "");
        if let Some(head) = line.strip_prefix("**").and_then(|l| l.strip_suffix("**")) {
            class = if head.contains("may fail") { head.to_owned() } else { String::new() };
        }
        let columns: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [purpose, take, usable, by, sure] = columns[..] else { continue };
        if class.is_empty() || purpose == "for" || purpose.starts_with('-') {
            continue;
        }
        let (take, as_good) = take.trim_start_matches("**").split_once("**").unwrap_or((take, ""));
        let mut card = Card {
            class: class.clone(),
            purpose: purpose.to_owned(),
            take: take.to_owned(),
            usable: usable.to_owned(),
            sure: sure.to_owned(),
            ..Card::default()
        };
        let one = as_good.trim().strip_prefix("or ").filter(|one| !one.ends_with("others"));
        card.as_good = one.map(str::to_owned).into_iter().collect();
        card.by(by);
        cards.push(card);
    }
    cards
}

fn terminal(text: &str) -> Vec<Card> {
    let mut cards = Vec::new();
    let mut head: Option<(String, usize, usize)> = None;
    let slice = |line: &[char], from: usize, to: usize| -> String {
        let to = to.min(line.len());
        line[from.min(to)..to].iter().collect::<String>().trim().to_owned()
    };
    for line in text.lines() {
        let at = |word: &str| line.find(word).map(|at| line[..at].chars().count());
        if let (true, Some(take), Some(usable)) =
            (line.contains("may fail"), at(" take "), at("usable  speed"))
        {
            let class = line.split("  ").next().unwrap_or_default().to_owned();
            head = Some((class, take + 1, usable + "usable".len()));
            continue;
        }
        let Some((class, take, usable)) = head.clone() else { continue };
        // What more space costs is further in.
        if !line.starts_with("  ") || line.starts_with("    ") {
            head = head.filter(|_| line.starts_with("    "));
            continue;
        }
        let line: Vec<char> = line.chars().collect();
        let purpose = slice(&line, 0, take);
        let mut card = Card {
            class,
            purpose: purpose.split(" (").next().unwrap_or_default().to_owned(),
            take: slice(&line, take, usable - 8),
            usable: slice(&line, usable - 8, usable),
            ..Card::default()
        };
        card.by(&slice(&line, usable, line.len()));
        card.next = None;
        cards.push(card);
    }
    cards
}

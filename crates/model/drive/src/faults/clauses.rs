//! The clauses of a fault, read.

use disklab_units::{parse_duration, parse_share_within};

use super::area::{Area, When};
use super::effect::Effect;
use crate::Nanos;

/// The clauses that any fault takes: when it begins, and where it is.
pub const FAULT_CLAUSES: [(&str, &str); 4] = [
    ("at TIME", "begins so long after the work began, such as 'at 30 s'"),
    ("after N requests", "begins when the drive has been given so many requests of the work"),
    ("within A % to B %", "affects only requests in this share of the surface"),
    ("on sectors LIST", "affects only requests to these sectors of 512 B, such as '8, 16-24'"),
];

/// A kind of fault: one line of the table.
#[derive(Debug)]
pub struct FaultKind {
    /// Its word, such as `dies`.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Its own clauses, and what they mean.
    pub clauses: &'static [(&'static str, &'static str)],
    /// What they make of it.
    pub(super) read: fn(&mut Clauses<'_>) -> Result<Box<dyn Effect>, InvalidFault>,
}

/// A fault that is none, or that the drive cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidFault(String);

impl std::error::Error for InvalidFault {}

impl std::fmt::Display for InvalidFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl InvalidFault {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Clauses that are not read yet, and the drive that they are for.
pub(super) struct Clauses<'a> {
    left: Vec<(&'a str, &'a str)>,
    /// Where it is.
    pub place: Area,
    /// The drive's sectors of 512 B.
    pub sectors: u64,
    /// Those of a physical sector.
    pub physical: u64,
    pub seed: u64,
}

impl<'a> Clauses<'a> {
    pub fn take(&mut self, word: &str) -> Option<&'a str> {
        let at = self.left.iter().position(|(known, _)| *known == word)?;
        Some(self.left.remove(at).1)
    }

    /// A time that is not zero.
    pub fn time(&mut self, word: &str) -> Result<Option<Nanos>, InvalidFault> {
        let Some(value) = self.take(word) else { return Ok(None) };
        match time(word, value)? {
            Nanos(0) => {
                Err(InvalidFault::new(format!("'{word} {value}': a time of 0 has no effect")))
            }
            time => Ok(Some(time)),
        }
    }

    /// The same, which the kind needs.
    pub fn need_time(&mut self, word: &str) -> Result<Nanos, InvalidFault> {
        let missing =
            || InvalidFault::new(format!("expected '{word} TIME', such as '{word} 10 s'"));
        self.time(word)?.ok_or_else(missing)
    }

    /// `3 sectors` and `1 sector`: how many, at least 1.
    pub fn count(&mut self, unit: &str) -> Result<Option<u64>, InvalidFault> {
        let Some(value) = self.take("") else { return Ok(None) };
        let wrong = || InvalidFault::new(format!("expected such as '3 {unit}s', found '{value}'"));
        let (number, word) = value.split_once(' ').ok_or_else(wrong)?;
        let is_unit = word.strip_suffix('s').unwrap_or(word) == unit;
        let count = number.parse().ok().filter(|count| *count > 0 && is_unit);
        count.map(Some).ok_or_else(wrong)
    }

    /// `1 bit in 1e15`: after how many, on average, it comes once.
    pub fn rate(&mut self, unit: &str) -> Result<Option<f64>, InvalidFault> {
        let prefix = format!("1 {unit} in ");
        let Some(value) = self.left.iter().find(|(word, _)| word.is_empty()) else {
            return Ok(None);
        };
        let Some(mean) = value.1.strip_prefix(&prefix) else { return Ok(None) };
        self.take("");
        let mean = mean.replace("10^", "1e").parse::<f64>().ok();
        let mean = mean.filter(|mean| (1.0..=1e30).contains(mean));
        let wrong = || InvalidFault::new(format!("expected such as '{prefix}1e15'"));
        mean.map(Some).ok_or_else(wrong)
    }

    /// Those of a fault on a drive of so many sectors, so many of which are a physical one; with
    /// when and where it is.
    ///
    /// # Errors
    /// [`InvalidFault`] if it is never or nowhere.
    pub fn new(
        clauses: &'a [(String, String)],
        (sectors, physical): (u64, u64),
        seed: u64,
    ) -> Result<(Self, When), InvalidFault> {
        let left = clauses.iter().map(|(word, value)| (word.as_str(), value.as_str())).collect();
        let mut clauses = Self { left, place: Area::default(), sectors, physical, seed };
        let when = clauses.when()?;
        clauses.place = clauses.read_place()?;
        Ok((clauses, when))
    }

    /// What is not read: the clause, as it is typed.
    pub fn rest(&self) -> Option<String> {
        let (word, value) = self.left.first()?;
        Some(format!("{word} {value}").trim().to_owned())
    }

    fn when(&mut self) -> Result<When, InvalidFault> {
        let wrong = |value| {
            let expected = "expected 'after N requests', such as 'after 1000 requests'";
            InvalidFault::new(format!("{expected}, found 'after {value}'"))
        };
        match (self.take("at"), self.take("after")) {
            (Some(_), Some(_)) => {
                Err(InvalidFault::new("give 'at TIME' or 'after N requests', not both"))
            }
            (Some(value), None) => Ok(When::At(time("at", value)?)),
            (None, Some(value)) => {
                let (number, unit) = value.split_once(' ').ok_or_else(|| wrong(value))?;
                let number = number.parse().ok();
                let number = number.filter(|_| ["request", "requests"].contains(&unit));
                number.map(When::After).ok_or_else(|| wrong(value))
            }
            (None, None) => Ok(When::At(Nanos(0))),
        }
    }

    fn read_place(&mut self) -> Result<Area, InvalidFault> {
        match (self.take("within"), self.take("on")) {
            (Some(_), Some(_)) => {
                Err(InvalidFault::new("give 'within A % to B %' or 'on sectors LIST', not both"))
            }
            (Some(value), None) => within(value, self.sectors),
            (None, Some(value)) => sectors(value, self.sectors),
            (None, None) => Ok(Area::default()),
        }
    }
}

fn time(word: &str, value: &str) -> Result<Nanos, InvalidFault> {
    let wrong = |why: String| InvalidFault::new(format!("'{word} {value}': {why}"));
    // Without a unit it could be anything.
    if value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(wrong("expected a time with its unit, such as '30 s'".to_owned()));
    }
    let time = parse_duration(value).map_err(|e| wrong(e.to_string()))?;
    u64::try_from(time.as_nanos()).map(Nanos).map_err(|_| wrong("it is too long".to_owned()))
}

/// `40 % to 60 %`.
fn within(value: &str, sectors: u64) -> Result<Area, InvalidFault> {
    let wrong = |why: &dyn std::fmt::Display| {
        InvalidFault::new(format!("expected 'within A % to B %', found 'within {value}': {why}"))
    };
    let (from, to) = value.split_once(" to ").ok_or_else(|| wrong(&"there is no 'to'"))?;
    let share = |text| parse_share_within(text, 0.0..=1.0).map_err(|e| wrong(&e));
    // Below the drive's sectors, which are fewer than 2^54.
    let sector = |share: f64| (share * sectors as f64) as u64;
    let (from, to) = (sector(share(from)?), sector(share(to)?).min(sectors));
    if from >= to {
        return Err(wrong(&"it has no sectors"));
    }
    Ok(Area(vec![(from, to)]))
}

/// `sectors 8, 16-24`.
fn sectors(value: &str, sectors: u64) -> Result<Area, InvalidFault> {
    let wrong = |why: String| {
        InvalidFault::new(format!("expected 'on sectors 8, 16-24', found 'on {value}': {why}"))
    };
    let list = value.strip_prefix("sectors ").or_else(|| value.strip_prefix("sector "));
    let list = list.ok_or_else(|| wrong("the word 'sectors' is missing".to_owned()))?;
    let mut ranges = Vec::new();
    for part in list.split([' ', ',']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            let number = text.parse::<u64>().ok().filter(|_| !text.starts_with('+'));
            number.ok_or_else(|| wrong(format!("'{text}' is not a sector")))
        };
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(wrong(format!("'{part}' ends before it begins")));
        }
        if last >= sectors {
            return Err(wrong(format!("the last sector of the drive is {}", sectors - 1)));
        }
        ranges.push((first, last + 1));
    }
    if ranges.is_empty() {
        return Err(wrong("there is none".to_owned()));
    }
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let joins = next.0 <= last.1;
        last.1 = if joins { last.1.max(next.1) } else { last.1 };
        joins
    });
    Ok(Area(ranges))
}

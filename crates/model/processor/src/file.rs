//! Processor files.

use std::sync::Arc;

use disklab_config::{Fields, Node};
use disklab_source::{FileName, Source, SourceError};
use disklab_units::Bytes;

use crate::cost::{COSTS, ChargeCost, CostUnit, PARAMETERS};

/// A piece of work that takes longer is none of a processor.
const LONGEST_NS: f64 = 1e9;
/// Rates in B/s, between which whole nanoseconds per KiB tell one from another.
const RATES: std::ops::RangeInclusive<f64> = 1e6..=1e12;

/// What CPU time costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    /// Short name, by which studies call it, such as `atom-d2700`.
    pub id: String,
    /// Its name in the trade.
    pub name: String,
    /// What a reader of its figures must know; empty where there is nothing.
    pub note: String,
    /// What kernel threads and interrupts do is charged by this part of it: as many
    /// processors do it in parallel with the programs. From 1.
    pub processors: u64,
    /// What is charged, of [`COSTS`], in ns: for each piece or for each KiB. What is
    /// not here is free.
    pub costs: Vec<(ChargeCost, u64)>,
}

/// Reads a processor file. `name` is the file's name as the user gave it.
///
/// # Errors
/// Where the text is no TOML, a field is unknown, or a figure cannot be that of a
/// processor; the error shows the place and what was expected.
pub fn load(name: &str, text: &str) -> Result<Processor, SourceError> {
    let source = Arc::new(Source { name: name.to_owned(), text: text.to_owned() });
    from_node(&Node::parse(&source)?)
}

/// Reads a processor from a table, such as `[processor]` of a study.
///
/// # Errors
/// As for [`load`].
pub fn from_node(node: &Node) -> Result<Processor, SourceError> {
    let mut fields = Fields::new(node, "the processor")?;
    let id_node = fields.require("id")?;
    let id = id_node.as_text()?;
    FileName::new(&id).map_err(|why| {
        id_node.error(format!("`id`: invalid name '{}': {why}", id.escape_debug()))
    })?;
    let name = fields.text("name")?.unwrap_or_else(|| id.clone());
    let note = fields.text("note")?.unwrap_or_default().trim().to_owned();
    let processors = fields.integer("processors", 1..=1024)?.unwrap_or(1);
    let mut costs = Vec::new();
    for (table, unit) in [("each", CostUnit::Each), ("rates", CostUnit::Rate)] {
        let Some(node) = fields.take(table) else { continue };
        let mut fields = Fields::new(node, &format!("'{table}'"))?;
        for cost in COSTS.iter().filter(|cost| cost.unit == unit) {
            let Some(node) = fields.take(cost.word) else { continue };
            let ns = match unit {
                CostUnit::Each => time(node, cost.word)?,
                CostUnit::Rate => per_kib(node, cost.word)?,
            };
            costs.push((*cost, ns));
        }
        fields.finish()?;
    }
    fields.finish()?;
    Ok(Processor { id, name, note, processors, costs })
}

impl Processor {
    /// Words for the command line of the lab's kernel: none where all is free.
    pub fn kernel_arguments(&self) -> Vec<String> {
        let mut words: Vec<String> = self
            .costs
            .iter()
            .filter(|(_, ns)| *ns > 0)
            .map(|(cost, ns)| format!("{PARAMETERS}{}={ns}", cost.parameter))
            .collect();
        if !words.is_empty() {
            words.push(format!("{PARAMETERS}processors={}", self.processors));
        }
        words
    }

    /// What it is, for a sentence: `Intel Atom D2700, 2.13 GHz (2 processors)`.
    pub fn about(&self) -> String {
        match self.processors {
            1 => self.name.clone(),
            more => format!("{} ({more} processors)", self.name),
        }
    }
}

/// A time such as '1.5 us', in ns.
fn time(node: &Node, word: &str) -> Result<u64, SourceError> {
    let text = node.as_text()?;
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let factor = match unit.trim() {
        "ns" => Some(1.0),
        "µs" | "μs" | "us" => Some(1e3),
        "ms" => Some(1e6),
        _ => None,
    };
    let ns = factor.and_then(|factor| Some(number.parse::<f64>().ok()? * factor));
    ns.filter(|ns| (0.0..=LONGEST_NS).contains(ns)).map(|ns| ns.round() as u64).ok_or_else(|| {
        node.error(format!(
            "`{word}`: expected a time from 0 ns to 1 s such as '1.5 us', found '{text}'"
        ))
    })
}

/// A rate such as '850 MB/s', in ns for each KiB.
fn per_kib(node: &Node, word: &str) -> Result<u64, SourceError> {
    let text = node.as_text()?;
    let rate = text.trim().strip_suffix("/s").and_then(|size| size.trim().parse::<Bytes>().ok());
    rate.map(|bytes| bytes.0 as f64)
        .filter(|rate| RATES.contains(rate))
        .map(|rate| (1024e9 / rate).round() as u64)
        .ok_or_else(|| {
            node.error(format!(
                "`{word}`: expected a rate from 1 MB/s to 1 TB/s such as '850 MB/s', found '{text}'"
            ))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "id = 'slow'\nprocessors = 2\n[each]\nsystem-call = '1.5 us'\n\
                        bio = '9 us'\n[rates]\ncrc32 = '1024 MB/s'\nxor = '1 TB/s'\n";

    #[test]
    fn costs_become_words_for_the_kernel() {
        let slow = load("slow.toml", TEXT).unwrap();
        let words = slow.kernel_arguments();
        let expected =
            ["charge.syscall=1500", "charge.bio=9000", "charge.crc32=1000", "charge.xor=1"];
        assert_eq!(words[..4], expected);
        assert_eq!(words[4..], ["charge.processors=2"]);
        assert_eq!((slow.name.as_str(), slow.note.as_str()), ("slow", ""));
    }

    #[test]
    fn free_processor_has_no_kernel_arguments() {
        let free =
            load("free.toml", "id = 'free'\nprocessors = 4\n[each]\nbio = '0 ns'\n").unwrap();
        assert_eq!(free.kernel_arguments(), Vec::<String>::new());
        assert_eq!(free.costs.len(), 1);
    }

    #[test]
    fn invalid_costs_are_refused_with_their_location() {
        for (from, to, expected) in [
            ("'1.5 us'", "'1.5'", "such as '1.5 us'"),
            ("'1.5 us'", "'-1 us'", "from 0 ns to 1 s"),
            ("'1.5 us'", "'2000 ms'", "from 0 ns to 1 s"),
            ("'1024 MB/s'", "'1024 MB'", "such as '850 MB/s'"),
            ("'1024 MB/s'", "'0 MB/s'", "from 1 MB/s"),
            ("'1 TB/s'", "'2 TB/s'", "to 1 TB/s"),
            ("crc32", "crc23", "did you mean 'crc32'"),
            ("bio =", "xor =", "xor"),
            ("processors = 2", "processors = 0", "from 1 to 1024"),
            ("id =", "ids =", "id"),
        ] {
            assert!(TEXT.contains(from), "{from}");
            let text = TEXT.replacen(from, to, 1);
            let error = load("slow.toml", &text).unwrap_err().to_string();
            assert!(error.contains(expected), "{from}: {error}");
            assert!(error.starts_with("slow.toml:"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn hostile_text_is_refused_or_read(text in "\\PC*", number in "[0-9.eE+-]{0,8}", unit in "\\PC{0,4}") {
            let _ = load("x.toml", &text);
            for field in ["[each]\nbio", "[rates]\ncrc32"] {
                let text = format!("id = 'x'\n{field} = '''{number} {unit}'''\n");
                if let Ok(processor) = load("x.toml", &text) {
                    for (_, ns) in processor.costs {
                        prop_assert!(ns <= 1_024_000_000);
                    }
                }
            }
        }

        #[test]
        fn a_rate_is_kept_within_half_a_nanosecond_for_each_kib(rate in 1_000_000_u64..20_000_000_000) {
            let text = format!("id = 'x'\n[rates]\ncopy = '{rate} B/s'\n");
            let processor = load("x.toml", &text).unwrap();
            let exact = 1024e9 / rate as f64;
            prop_assert!((processor.costs[0].1 as f64 - exact).abs() <= 0.5);
        }
    }
}

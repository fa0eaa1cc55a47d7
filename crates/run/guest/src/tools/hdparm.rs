//! `hdparm` for modelled drives: what it would ask or tell the drive by ATA commands. What it
//! does by reading (`-t`) or asks the kernel for (`-g`, `-r`) is the real program's.

use std::io::Write;

use disklab_drive::Transport;

use super::real::{ToolError, become_real, drive_of, feed_real, set_write_cache};
use crate::drives::identify::{for_hdparm, identify};
use crate::drives::{DriveFacts, FIRMWARE};

/// `EINVAL`: hdparm ends with the error of its last command.
const FAILED: u8 = 22;

/// Options in which the drive takes no part.
const REAL: &str = "tTarfgzvVhqnR";
const REAL_LONG: [&str; 8] = [
    "--direct",
    "--offset",
    "--fibmap",
    "--fallocate",
    "--verbose",
    "--Istdin",
    "--Iraw",
    "--prefer-ata12",
];

/// Options that no modelled drive knows, and why.
const REFUSED: [(&str, &str); 4] = [
    ("BSyYZsJM", "the model has no power states and no acoustic management"),
    ("A", "its look-ahead is part of the model: change [cache] in a copy of its drive file"),
    ("N", "its size is part of the model: give --drives MODEL:COUNT:SIZE"),
    ("", "the model knows no such ATA command, only reads, writes, flushes and discards"),
];

/// What is asked of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Query {
    /// `-W`, `-W0`, `-W1`.
    WriteCache(Option<bool>),
    /// `-I`.
    Identify,
    /// `-i`.
    Identity,
    /// `-C`.
    PowerState,
    /// `-F`.
    Flush,
}

/// A command line, read as hdparm reads it.
#[derive(Debug, Default, PartialEq)]
struct Parsed {
    queries: Vec<Query>,
    /// Options for the real program.
    rest: Vec<String>,
    paths: Vec<String>,
    refused: Option<String>,
}

pub fn hdparm(words: &[String], drives: &[DriveFacts]) -> u8 {
    let parsed = parse(words);
    let targets: Option<Vec<(&String, &DriveFacts)>> =
        parsed.paths.iter().map(|path| Some((path, drive_of(path, drives)?))).collect();
    let targets = targets.filter(|targets| !targets.is_empty());
    let Some(targets) = targets.filter(|_| !parsed.queries.is_empty() || parsed.refused.is_some())
    else {
        return become_real("hdparm", words);
    };
    if let Some(option) = &parsed.refused {
        let letter = option.trim_start_matches('-');
        let why = REFUSED.iter().find(|(letters, _)| {
            letters.is_empty() || (!option.starts_with("--") && letters.contains(letter))
        });
        let why = why.map_or("", |(_, why)| *why);
        eprintln!("disklab: hdparm {option} does nothing in the lab: {why}");
        return FAILED;
    }
    let mut code = 0;
    for (path, drive) in targets {
        println!("\n{path}:");
        for query in &parsed.queries {
            if let Err(error) = answer(*query, drive) {
                eprintln!("disklab: {error}");
                code = FAILED;
            }
        }
    }
    let _ = std::io::stdout().flush();
    if parsed.rest.is_empty() || code != 0 {
        return code;
    }
    become_real("hdparm", &[parsed.rest, parsed.paths].concat())
}

fn answer(query: Query, drive: &DriveFacts) -> Result<(), ToolError> {
    if drive.transport != Transport::Sata && query != Query::Flush {
        return Err(ToolError::NoAta {
            node: drive.node.clone(),
            bus: bus(drive.transport),
            switch: drive.cache_switch().display().to_string(),
        });
    }
    match query {
        Query::Flush => set_write_cache(drive, drive.write_cache()).map_err(ToolError::Flush),
        Query::PowerState => {
            println!(" drive state is:  active/idle");
            Ok(())
        }
        Query::Identity => {
            let model = drive.model_field(40);
            println!("\n Model={model}, FwRev={FIRMWARE}, SerialNo={}", drive.serial);
            Ok(())
        }
        Query::Identify => {
            let answer = for_hdparm(&identify(drive, drive.write_cache()));
            feed_real("hdparm", &["--Istdin"], &answer).map(drop)
        }
        Query::WriteCache(set) => {
            if let Some(on) = set {
                let number = u8::from(on);
                println!(" setting drive write-caching to {number} ({})", on_off(on));
                set_write_cache(drive, on).map_err(ToolError::Cache)?;
            }
            let on = drive.write_cache();
            println!(" write-caching = {:2} ({})", u8::from(on), on_off(on));
            Ok(())
        }
    }
}

fn bus(transport: Transport) -> &'static str {
    match transport {
        Transport::Sata => "SATA",
        Transport::Sas => "SAS",
        Transport::Nvme => "NVMe",
    }
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Reads options as hdparm does: several letters in one word, a number behind its letter or in
/// the next word.
fn parse(words: &[String]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if word.starts_with("--") {
            if !REAL_LONG.contains(&word.as_str()) {
                parsed.refused.get_or_insert(word.clone());
            }
            parsed.rest.push(word.clone());
            if word == "--offset" {
                parsed.rest.extend(words.next().cloned());
            }
            continue;
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            parsed.paths.push(word.clone());
            continue;
        };
        let mut letters = letters.chars().peekable();
        while let Some(letter) = letters.next() {
            let mut number = String::new();
            while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                number.push(digit);
            }
            let takes_number = "WarBSAMN".contains(letter);
            if takes_number && number.is_empty() && letters.peek().is_none() {
                let is_number = |next: &&String| next.bytes().all(|byte| byte.is_ascii_digit());
                number = words.next_if(is_number).cloned().unwrap_or_default();
            }
            parsed.take(letter, &number);
        }
    }
    parsed
}

impl Parsed {
    fn take(&mut self, letter: char, number: &str) {
        match letter {
            'W' => {
                let set = (!number.is_empty()).then(|| !number.trim_start_matches('0').is_empty());
                self.queries.push(Query::WriteCache(set));
            }
            'I' => self.queries.push(Query::Identify),
            'i' => self.queries.push(Query::Identity),
            'C' => self.queries.push(Query::PowerState),
            'F' => self.queries.push(Query::Flush),
            letter if REAL.contains(letter) => self.rest.push(format!("-{letter}{number}")),
            letter => {
                self.refused.get_or_insert(format!("-{letter}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(line: &str) -> Parsed {
        parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_as_hdparm_reads_them() {
        let off = Query::WriteCache(Some(false));
        for line in ["-W0 /dev/vda", "-W 0 /dev/vda", "/dev/vda -W0"] {
            let parsed = of(line);
            assert_eq!((parsed.queries, parsed.paths), (vec![off], vec!["/dev/vda".to_owned()]));
        }
        assert_eq!(of("-W /dev/vda").queries, [Query::WriteCache(None)]);
        let both = of("-tW1I -T --direct --offset 500 /dev/vda");
        assert_eq!(both.queries, [Query::WriteCache(Some(true)), Query::Identify]);
        assert_eq!(both.rest, ["-t", "-T", "--direct", "--offset", "500"]);
        assert_eq!(of("-a256 /dev/vda").rest, ["-a256"]);
        assert_eq!(
            of("-S 242 /dev/vda"),
            Parsed {
                paths: vec!["/dev/vda".to_owned()],
                refused: Some("-S".to_owned()),
                ..Parsed::default()
            }
        );
        let long = of("--security-erase NULL /dev/vda");
        assert_eq!(long.refused.as_deref(), Some("--security-erase"));
    }

    proptest! {
        #[test]
        fn no_command_line_panics(words in prop::collection::vec("-{0,2}[A-Za-z0-9é]{0,4}", 0..6)) {
            let parsed = parse(&words);
            prop_assert!(parsed.paths.len() <= words.len());
        }
    }
}

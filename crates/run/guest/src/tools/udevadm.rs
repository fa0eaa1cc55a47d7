//! `udevadm settle`, `trigger` and `wait`: links and database are brought up to date at once. The
//! guest's first program does so at every event of the kernel, so that there is nothing else to
//! wait for. The real `wait` waits for udevd's word, which never comes: no udevd runs here.

use std::path::Path;
use std::time::{Duration, Instant};

use super::become_real;
use crate::drives::DriveFacts;
use crate::drives::database::DeviceDatabase;

/// How often `wait` looks.
const LOOKS: Duration = Duration::from_millis(10);

pub fn udevadm(words: &[String], drives: &[DriveFacts]) -> u8 {
    let command = words.iter().position(|word| !word.starts_with('-'));
    let wait = match command.map(|place| words[place].as_str()) {
        Some("settle" | "trigger") => None,
        Some("wait") => match Wait::from_words(&words[command.unwrap_or_default() + 1..]) {
            Some(wait) => Some(wait),
            None => return become_real("udevadm", words),
        },
        _ => return become_real("udevadm", words),
    };
    if let Err(error) = DeviceDatabase::default().refresh(drives) {
        eprintln!("disklab: cannot write the links below /dev/disk/by-id: {error}");
        return 1;
    }
    wait.map_or(0, |wait| wait.until_done())
}

/// What `udevadm wait` waits for.
#[derive(Debug, PartialEq, Eq)]
struct Wait<'a> {
    paths: Vec<&'a str>,
    removed: bool,
    timeout: Option<Duration>,
}

impl<'a> Wait<'a> {
    /// `None` for what only the real program answers: help, errors, and other units of time.
    fn from_words(words: &'a [String]) -> Option<Self> {
        let mut wait = Self { paths: Vec::new(), removed: false, timeout: None };
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "--removed" => wait.removed = true,
                // A node that is there is all that there is to initialize.
                "--settle" | "--initialized=yes" | "--initialized=no" => {}
                "-t" | "--timeout" => wait.timeout = Some(seconds(words.next()?)?),
                _ if word.starts_with("--timeout=") => {
                    wait.timeout = Some(seconds(word.strip_prefix("--timeout=")?)?);
                }
                _ if word.starts_with("/dev/") => wait.paths.push(word),
                _ => return None,
            }
        }
        (!wait.paths.is_empty()).then_some(wait)
    }

    fn until_done(&self) -> u8 {
        let began = Instant::now();
        while !self.paths.iter().all(|path| Path::new(path).exists() != self.removed) {
            if self.timeout.is_some_and(|timeout| began.elapsed() >= timeout) {
                eprintln!("Timed out for waiting devices being initialized.");
                return 1;
            }
            std::thread::sleep(LOOKS);
        }
        0
    }
}

fn seconds(text: &str) -> Option<Duration> {
    text.strip_suffix('s').unwrap_or(text).parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn wait_takes_what_it_can_wait_for() {
        let line = words("--removed --settle -t 3 /dev/mapper/a --timeout=5s /dev/b");
        let wait = Wait::from_words(&line);
        let expected = Wait {
            paths: vec!["/dev/mapper/a", "/dev/b"],
            removed: true,
            timeout: Some(Duration::from_secs(5)),
        };
        assert_eq!(wait, Some(expected));
    }

    #[test]
    fn all_else_is_the_real_programs() {
        let lines = [
            "",
            "--help",
            "/sys/block/vda",
            "-t",
            "-t x /dev/a",
            "-t -1 /dev/a",
            "--timeout= /dev/a",
            "--timeout=99999999999999999999 /dev/a",
            "--removed",
        ];
        for line in lines {
            assert_eq!(Wait::from_words(&words(line)), None, "{line}");
        }
    }

    #[test]
    fn an_end_to_waiting_is_kept() {
        let line = words("-t 0 /dev/disklab-none");
        assert_eq!(Wait::from_words(&line).map(|wait| wait.until_done()), Some(1));
        let line = words("--removed /dev/disklab-none");
        assert_eq!(Wait::from_words(&line).map(|wait| wait.until_done()), Some(0));
        let line = words("/dev/null");
        assert_eq!(Wait::from_words(&line).map(|wait| wait.until_done()), Some(0));
    }
}

//! `udevadm settle`, `trigger` and `wait`: links and database are brought up to date at once. The
//! guest's first program does so at every event of the kernel, so that there is nothing else to
//! wait for. The real `wait` waits for udevd's word, which never comes: no udevd runs here.

use std::path::Path;
use std::time::{Duration, Instant};

use super::real::become_real;
use crate::drives::DriveFacts;
use crate::drives::database::DeviceDatabase;

/// How often `wait` looks.
const LOOKS: Duration = Duration::from_millis(10);

pub fn udevadm(words: &[String], drives: &[DriveFacts]) -> u8 {
    let mut arguments = words.iter().map(String::as_str).skip_while(|word| word.starts_with('-'));
    let wait = match arguments.next() {
        Some("settle" | "trigger") => Some(Wait::default()),
        Some("wait") => Wait::from_words(arguments),
        _ => None,
    };
    let Some(wait) = wait else { return become_real("udevadm", words) };
    if let Err(error) = DeviceDatabase::default().refresh(drives) {
        eprintln!("disklab: cannot write the links below /dev/disk/by-id: {error}");
        return 1;
    }
    wait.until_done()
}

/// What `udevadm wait` waits for; nothing by default.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wait<'a> {
    paths: Vec<&'a str>,
    removed: bool,
    timeout: Option<Duration>,
}

impl<'a> Wait<'a> {
    /// `None` for what only the real program answers: help, errors, and other units of time.
    fn from_words(mut words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut wait = Self::default();
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

    fn read(line: &str) -> Option<Wait<'_>> {
        Wait::from_words(line.split_whitespace())
    }

    #[test]
    fn wait_takes_what_it_can_wait_for() {
        let wait = read("--removed --settle -t 3 /dev/mapper/a --timeout=5s /dev/b");
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
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn an_end_to_waiting_is_kept() {
        assert_eq!(read("-t 0 /dev/disklab-none").map(|wait| wait.until_done()), Some(1));
        assert_eq!(read("--removed /dev/disklab-none").map(|wait| wait.until_done()), Some(0));
        assert_eq!(read("/dev/null").map(|wait| wait.until_done()), Some(0));
    }
}

//! `udevadm settle` and `trigger`: links and database are brought up to date at once. The guest's
//! first program does so at every event of the kernel, so that there is nothing else to wait for.

use super::become_real;
use crate::drives::DriveFacts;
use crate::drives::database::DeviceDatabase;

pub fn udevadm(words: &[String], drives: &[DriveFacts]) -> u8 {
    match words.iter().find(|word| !word.starts_with('-')).map(String::as_str) {
        Some("settle" | "trigger") => match DeviceDatabase::default().refresh(drives) {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("disklab: cannot write the links below /dev/disk/by-id: {error}");
                1
            }
        },
        _ => become_real("udevadm", words),
    }
}

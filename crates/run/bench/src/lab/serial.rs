//! Serial numbers of modelled drives.

use std::collections::BTreeMap;

/// So much of a serial number is the model's name: with a sign and three digits these
/// are the 20 characters that a virtio disk's serial number has (virtio 1.2, 5.2.6.1).
const NAME_CHARS: usize = 16;

/// Serial numbers for drives, one after another: `HDN721010ALE604-01` is the first
/// drive of a model.
#[derive(Debug, Default)]
pub struct SerialNumbers(BTreeMap<String, usize>);

impl SerialNumbers {
    /// The next one for a drive of the model `id`. All are different.
    pub fn next(&mut self, id: &str) -> String {
        let name: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
        let name: String = name.to_uppercase().chars().take(NAME_CHARS).collect();
        let name = if name.is_empty() { "DRIVE".to_owned() } else { name };
        let number = self.0.entry(name.clone()).or_default();
        *number += 1;
        format!("{name}-{number:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_differ_and_fit() {
        let mut numbers = SerialNumbers::default();
        let mut next = |id| numbers.next(id);
        assert_eq!(next("hdn721010ale604"), "HDN721010ALE604-01");
        assert_eq!(next("wd40efrx-68n32n0"), "WD40EFRX68N32N0-01");
        assert_eq!(next("hdn721010ale604"), "HDN721010ALE604-02");
        // Of the same letters, as far as they fit.
        assert_eq!(next("my-very-own-drive-of-2025"), "MYVERYOWNDRIVEOF-01");
        assert_eq!(next("my-very-own-drive-of-2026"), "MYVERYOWNDRIVEOF-02");
        assert_eq!(next("ÄÖÜ"), "DRIVE-01");
        let all: Vec<String> = (0..999).map(|_| next("a name of sixteen letters")).collect();
        assert!(all.iter().all(|serial| serial.len() <= 20 && serial.is_ascii()));
    }
}

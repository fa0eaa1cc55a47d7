//! A Btrfs in use: all is scrubbed.

use disklab_exec::Invocation;

use crate::{Form, LayerInUse, StackError};

/// Its exit code if there are errors that it could not fix (btrfs-scrub(8)).
const UNCORRECTABLE: i32 = 3;

/// Of what it prints, with the words of a sentence.
const COUNTED: [(&str, &str); 4] = [
    ("read_errors", "read errors"),
    ("csum_errors", "checksum errors"),
    ("corrected_errors", "corrected"),
    ("uncorrectable_errors", "not correctable"),
];

/// Scrubs the file system, and waits for it.
pub(super) fn scrub(at: &LayerInUse<'_>) -> Result<String, StackError> {
    let Form::Directory(directory) = at.form else {
        return Err(at.cannot(disklab_cell::Care::Scrub));
    };
    let scrub = Invocation::new("btrfs").args(["scrub", "start", "-B", "-R"]).arg(directory);
    let done = at.executor.run(&scrub);
    let done = done.map_err(|source| StackError::Program { layer: at.layer.to_owned(), source })?;
    let text = done.text();
    if done.code != UNCORRECTABLE {
        let failed = |source| StackError::Program { layer: at.layer.to_owned(), source };
        done.success().map_err(failed)?;
    }
    Ok(format!("{}: {}", at.layer, counted(&text)))
}

/// The counts of all devices, in words.
fn counted(text: &str) -> String {
    let count = |name: &str| -> u64 {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix(name));
        lines.filter_map(|rest| rest.strip_prefix(':')?.trim().parse::<u64>().ok()).sum()
    };
    let counts = COUNTED.map(|(name, words)| format!("{} {words}", count(name)));
    counts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_summed() {
        let text = "\tread_errors: 0\n\tcsum_errors: 3\n\tcorrected_errors: 3\n\tcsum_errors: 2\n";
        let expected = "0 read errors, 5 checksum errors, 3 corrected, 0 not correctable";
        assert_eq!(counted(text), expected);
    }
}

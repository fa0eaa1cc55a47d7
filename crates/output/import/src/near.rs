//! Outputs that are not read, though their programs, or others that do the same, are.

/// What lines of a text begin with, blanks aside, and what it then is, with what to do instead.
const KNOWN: [(&[&str], &str); 7] = [
    (
        &["sysbench "],
        "it is a test of sysbench's that does not measure files; 'sysbench fileio' does",
    ),
    (
        &["<Results>", "<TimeSpan>"],
        "it is DiskSpd's XML (-Rxml); its text is read (-Rtext, or no -R)",
    ),
    (&["OPERATION RESULT TYPE"], "it is elbencho's text; what --csvfile writes is read"),
    (
        &["Excel output is below"],
        "it is IOzone's report for Excel (-R); the table above it is read",
    ),
    (
        &["Executed in "],
        "it is the time of fish; that of bash, zsh or GNU time is read (bash -c 'time COMMAND')",
    ),
    (
        &["--- ", "min/avg/max/mdev = "],
        "it is of ioping, which is not read; fio measures the same (--rw=randread --iodepth=1)",
    ),
    (
        &["{", "\"identifier\": \"pts/"],
        "it is the JSON of the Phoronix Test Suite; its composite.xml is read",
    ),
];

/// What a text is that looks like no format, and how to get one that does; nothing where
/// that is not known either.
pub(crate) fn near(text: &str) -> Option<&'static str> {
    let lines = || text.split(['\n', '\r']).map(words);
    let has = |front: &&str| lines().any(|line| line.starts_with(front.trim_end()));
    let known = KNOWN.iter().find(|(fronts, _)| fronts.iter().all(has));
    let known = known.map(|(_, what)| *what);
    known.or_else(|| {
        let cut = "it is dd's without its last line, which has the bytes and the time; dd prints it \
                   unless status=noxfer or status=none forbids that";
        let has_rate = lines().any(|line| line.ends_with("B/s"));
        (!has_rate && lines().any(|line| is_count(&line))).then_some(cut)
    })
}

/// A line with single blanks.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// dd's `1000+0 records in`, in any language.
fn is_count(line: &str) -> bool {
    let Some((count, rest)) = line.split_once(' ') else { return false };
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    count.split_once('+').is_some_and(|(a, b)| is_number(a) && is_number(b))
        && rest.split(' ').count() <= 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::detect;

    #[test]
    fn what_is_not_read_is_called_by_its_name() {
        for (text, name) in [
            ("sysbench 1.0.20\n\nPrime numbers limit: 10000\n", "sysbench"),
            ("<Results>\n  <TimeSpan>\n", "DiskSpd"),
            (
                "OPERATION  RESULT TYPE    FIRST DONE  LAST DONE\n=====\nWRITE  IOPS : 2 2\n",
                "elbencho",
            ),
            (
                "Excel output is below:\n\n\"Writer report\"\n   \"4\"  \"8\"\n\"64\"  12 34\n",
                "IOzone",
            ),
            ("\n____\nExecuted in   83.45 secs    fish  external\n   usr time 1 secs\n", "fish"),
            (
                "4 KiB <<< . (ext4 /dev/sda1): request=1 time=1 ms\n--- . ioping statistics ---\n\
                 min/avg/max/mdev = 1 us / 2 us / 3 us / 1 us\n",
                "ioping",
            ),
            ("{\n  \"identifier\": \"pts/fio-1.15.0\"\n}", "Phoronix"),
            ("1000+0 records in\n1000+0 records out\n", "dd's without its last line"),
            ("1000+0 Datens\u{e4}tze ein\r\n1000+0 Datens\u{e4}tze aus\r\n", "dd's without"),
        ] {
            assert!(detect(text).is_none(), "{text}");
            let said = near(text);
            assert!(said.is_some_and(|said| said.contains(name)), "{text}: {said:?}");
        }
        for text in [
            "",
            "hello\n",
            "1+1\n{}\n",
            "--- a\n+++ b\n",
            "1+0 records in\n1 bytes copied, 0 s, Infinity B/s\n",
        ] {
            assert_eq!(near(text), None, "{text}");
        }
    }
}

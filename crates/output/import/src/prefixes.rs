//! What a log, a quotation or a terminal puts in front of each line: a time, a level, a name.

/// Lines from which the front is found out.
const SAMPLE: usize = 2_000;

/// Most parts of a front.
const LONGEST: usize = 80;

/// Of ten lines, so many have the front.
const MOST: usize = 9;

/// Words that differ from line to line and stand for the same.
const LEVELS: [&str; 13] = [
    "info", "inf", "warn", "warning", "error", "err", "debug", "notice", "trace", "fatal",
    "stdout", "stderr", "out",
];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A part of a line's front: what is alike in all lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrontPart<'a> {
    Digits,
    Blanks,
    Level,
    Month,
    Day,
    Word(&'a str),
    Sign(char),
}

/// The part with which a text begins, and its length.
fn part(text: &str) -> Option<(FrontPart<'_>, usize)> {
    let first = text.chars().next()?;
    let run = |fits: fn(char) -> bool| text.find(|c: char| !fits(c)).unwrap_or(text.len());
    if first.is_ascii_digit() {
        return Some((FrontPart::Digits, run(|c| c.is_ascii_digit())));
    }
    if first == ' ' || first == '\t' {
        return Some((FrontPart::Blanks, run(|c| c == ' ' || c == '\t')));
    }
    if !first.is_alphabetic() {
        return Some((FrontPart::Sign(first), first.len_utf8()));
    }
    let length = run(char::is_alphabetic);
    let word = &text[..length];
    let known = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    let part = if known(&LEVELS) {
        FrontPart::Level
    } else if known(&MONTHS) {
        FrontPart::Month
    } else if known(&DAYS) {
        FrontPart::Day
    } else {
        FrontPart::Word(word)
    };
    Some((part, length))
}

/// The text without the front that nearly all its lines have, and an example of that; none if
/// there is nothing, or nothing but blanks in front of lines that are read with them.
pub(crate) fn without_front(text: &str) -> Option<(String, String)> {
    let front = front(text)?;
    let mut bare = String::with_capacity(text.len());
    let mut example = None;
    for line in text.split_inclusive(['\n', '\r']) {
        let length = length(line, &front).unwrap_or(0);
        if length > 0 && example.is_none() {
            example = Some(line[..length].to_owned());
        }
        bare.push_str(&line[length..]);
    }
    Some((bare, example?))
}

/// What nearly all lines begin with, and how many blanks its end has at least.
fn front(text: &str) -> Option<(Vec<FrontPart<'_>>, usize)> {
    let lines = text.split(['\n', '\r']).filter(|line| !line.trim().is_empty());
    let mut rests: Vec<&str> = lines.take(SAMPLE).collect();
    let all = rests.len();
    let (mut front, mut blanks) = (Vec::new(), Vec::new());
    while front.len() < LONGEST {
        // A line that ends here has nothing behind the front.
        rests.retain(|rest| !rest.trim().is_empty());
        let Some((most, _)) = rests.first().and_then(|rest| usual(&rests, rest)) else { break };
        if rests.len() < 2 || rests.len() * 2 < all {
            break;
        }
        let with: Vec<(&str, usize)> = rests
            .iter()
            .filter_map(|rest| part(rest).filter(|(p, _)| *p == most).map(|(_, n)| (*rest, n)))
            .collect();
        if with.len() * 10 < rests.len() * MOST {
            break;
        }
        blanks.push(with.iter().map(|(_, length)| *length).min().unwrap_or(0));
        rests = with.into_iter().map(|(rest, length)| &rest[length..]).collect();
        front.push(most);
    }
    // It ends where a word of the output cannot be cut.
    let ends = |part: &FrontPart<'_>| {
        matches!(part, FrontPart::Blanks | FrontPart::Sign('|' | '>' | ']' | ':'))
    };
    let end = front.iter().rposition(ends)?;
    front.truncate(end + 1);
    Some((front, blanks[end]))
}

/// The part that most of some lines begin with: that of the first, or of the second.
fn usual<'a>(rests: &[&'a str], first: &'a str) -> Option<(FrontPart<'a>, usize)> {
    let begins = |with: FrontPart<'_>| {
        rests.iter().filter(|rest| part(rest).is_some_and(|(p, _)| p == with)).count()
    };
    let second = rests.get(rests.len() / 2).copied().unwrap_or(first);
    [first, second].into_iter().filter_map(part).max_by_key(|(part, _)| begins(*part))
}

/// How many bytes of a line are its front; none if it has another.
fn length(line: &str, (front, blanks): &(Vec<FrontPart<'_>>, usize)) -> Option<usize> {
    let mut at = 0;
    for (number, expected) in front.iter().enumerate() {
        let rest = line[at..].trim_end_matches(['\n', '\r']);
        let is_last = number + 1 == front.len();
        let Some((found, length)) = part(rest) else {
            // Blanks at the end of a line are often cut off.
            return (is_last && *expected == FrontPart::Blanks).then_some(at);
        };
        if found != *expected {
            return None;
        }
        // What is more is the output's own.
        let own = is_last && found == FrontPart::Blanks;
        at += if own { length.min(*blanks) } else { length };
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// JSON as fio has it, with lines that are indented.
    const TEXT: &str = "{\n \"fio version\": \"fio-3.33\",\n \"jobs\": [\n  {\"a\": 1}\n ]\n}\n";

    #[test]
    fn fronts_of_logs_are_left_out() {
        for front in [
            "12:00:0N INFO | ",
            "2024-01-31T12:00:0N.123456Z stdout F ",
            "Jan 31 12:00:0N nas fio[N12]: ",
            "[   1N.345678] ",
            "fio_1  | ",
            "> ",
            "N: ",
            "results/fio.json:",
            "2024-01-31 12:00:0N,N99 - bench - LEVEL - ",
        ] {
            let lines: Vec<String> = TEXT
                .lines()
                .enumerate()
                .map(|(n, line)| {
                    let level = if n % 2 == 0 { "INFO" } else { "WARNING" };
                    let front = front.replace('N', &n.to_string()).replace("LEVEL", level);
                    format!("{front}{line}\n")
                })
                .collect();
            let (bare, example) = without_front(&lines.concat()).expect(front);
            assert_eq!(bare, TEXT, "{front}");
            assert_eq!(example, front.replace('N', "0").replace("LEVEL", "INFO"));
        }
        // A line of the log's own, and one of which the end was cut off.
        let lines = TEXT.repeat(3).replace('\n', "\n12:00:01 | ");
        let text = format!("the log begins\n12:00:01 | {lines}\n12:00:01 |\n");
        let (bare, _) = without_front(&text).expect("a front");
        assert!(bare.starts_with(&format!("the log begins\n{TEXT}")), "{bare}");
    }

    #[test]
    fn what_programs_print_has_no_front() {
        for text in [
            "1000+0 records in\n1000+0 records out\n1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 MB/s\n",
            "\nreal\t0m9.500s\nuser\t0m0.250s\nsys\t0m1.500s\n",
            "1.97,1.97,nas\n1.97,1.97,other\n",
            "one line\n",
            "",
        ] {
            assert_eq!(without_front(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(\\PC|\n|\r|\t| |[0-9:|>]|INFO){0,120}") {
            if let Some((bare, example)) = without_front(&text) {
                prop_assert!(bare.len() < text.len() && !example.is_empty());
            }
        }
    }
}

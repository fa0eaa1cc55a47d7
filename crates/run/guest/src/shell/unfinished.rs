//! What is still at work when a session ends: the guest is stopped then, as by `halt -f`.

use std::fs;

/// A sentence for each array of md that is not done.
pub fn unfinished() -> Vec<String> {
    arrays_at_work(&fs::read_to_string("/proc/mdstat").unwrap_or_default())
}

/// Reads `/proc/mdstat` (`md_seq_show` and `status_resync` in drivers/md/md.c): an array's line
/// begins with its name, and those below it are indented.
fn arrays_at_work(mdstat: &str) -> Vec<String> {
    const WORDS: [&str; 4] = ["resync", "recovery", "reshape", "check"];
    let mut array = "";
    let mut found = Vec::new();
    for line in mdstat.lines() {
        if let Some((name, _)) = line.split_once(" : ") {
            array = name;
        }
        let done = line.split_whitespace().find(|word| word.ends_with('%'));
        let word = line
            .split(|c: char| !c.is_ascii_alphabetic())
            .find(|word| WORDS.contains(word) && line.starts_with(' '));
        match (word, done) {
            (Some(word), Some(done)) => {
                found.push(format!("{array} was stopped at {done} of its {word}"));
            }
            (Some(word), None) if line.contains(&format!("{word}=")) => {
                found.push(format!("{array} was stopped before its {word}"));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arrays_that_are_not_done_are_named() {
        let mdstat = "Personalities : [raid1] [raid6] [raid5] [raid4]\n\
            md1 : active raid1 vde[1] vdd[0]\n      1046528 blocks super 1.2 [2/2] [UU]\n\
            \u{20}     \tresync=DELAYED\n\n\
            md0 : active raid5 vdc[3] vdb[1] vda[0]\n      19532609536 blocks level 5 [3/2] [UU_]\n\
            \u{20}     [>....]  recovery =  0.5% (39/97) finish=1282.4min speed=126866K/sec\n\
            \u{20}     bitmap: 73/73 pages [292KB], 65536KB chunk\n\n\
            md2 : active raid1 vdf[1] vdg[0]\n      1046528 blocks super 1.2 [2/2] [UU]\n\n\
            unused devices: <none>\n";
        assert_eq!(
            arrays_at_work(mdstat),
            ["md1 was stopped before its resync", "md0 was stopped at 0.5% of its recovery"]
        );
        assert!(arrays_at_work("").is_empty());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[ -~\n]{0,200}|( {6}.{0,5}(resync|check) ?=.{0,9}\n){0,3}") {
            let _ = arrays_at_work(&text);
        }
    }
}

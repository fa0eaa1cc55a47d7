//! Which lines of a build's log say why it failed.

/// As many lines are shown.
const LINES: usize = 15;
/// Of them, what comes before the first word of a failure.
const BEFORE: usize = 2;

/// The lines around the first failure: the compiler's or linker's, else that of `make`. Other jobs
/// finish after it, and their lines end the log. Where no line says so, the last ones.
pub(super) fn lines_of_failure(log: &str) -> String {
    let lines: Vec<&str> = log.trim_end_matches('\n').split('\n').collect();
    let find = |is_failure: fn(&str) -> bool| lines.iter().position(|line| is_failure(line));
    let first = find(|line| {
        [": error:", ": fatal error:", "undefined reference to"].iter().any(|s| line.contains(s))
    });
    let first = first.or_else(|| find(|line| line.starts_with("make") && line.contains(": *** ")));
    let from = match first {
        Some(line) => line.saturating_sub(BEFORE),
        None => lines.len().saturating_sub(LINES),
    };
    lines[from..].iter().take(LINES).copied().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log(failure: &str) -> String {
        let objects = |from: usize| (from..from + 50).map(|n| format!("  CC      {n}.o\n"));
        objects(0).chain([format!("{failure}\n")]).chain(objects(50)).collect()
    }

    #[test]
    fn the_compilers_error_is_shown_and_not_what_other_jobs_did_afterwards() {
        let shown = lines_of_failure(&log("a.c:3:1: error: no such thing"));
        assert!(
            shown.starts_with("  CC      48.o\n  CC      49.o\na.c:3:1: error: no such thing\n")
        );
        assert_eq!(shown.lines().count(), LINES);
        let make = "make[5]: *** No rule to make target 'b.o'.  Stop.";
        assert!(lines_of_failure(&log(make)).contains(make));
        assert!(lines_of_failure(&log("ld: undefined reference to `c'")).contains("`c'"));
        // The cause goes before what make says of it, wherever it is.
        let both = log(make) + "d.h:1: fatal error: missing\n";
        assert!(lines_of_failure(&both).ends_with("fatal error: missing"));
        assert!(lines_of_failure(&log("")).ends_with("  CC      99.o"));
    }

    proptest! {
        #[test]
        fn the_shown_lines_of_a_log_are_limited(text in "(.*\n){0,40}.*") {
            let shown = lines_of_failure(&text);
            prop_assert!(shown.split('\n').count() <= LINES);
            let all: Vec<&str> = text.split('\n').collect();
            prop_assert!(shown.split('\n').all(|line| all.contains(&line)));
        }
    }
}

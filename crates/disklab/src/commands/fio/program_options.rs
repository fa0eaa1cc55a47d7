//! Options of the program fio, which are not options of jobs.

use crate::exit::Failure;

/// What `disklab fio` makes of an option of the program fio.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It changes only fio's own report, or how fio itself works.
    Report,
    /// It is `disklab fio`'s own, too.
    Shared,
    /// `disklab fio` does not have it, but what is said, if anything.
    Lacking(&'static str),
}

use Meaning::{Lacking, Report, Shared};

/// fio's own (fio(1), 3.33, 'COMMAND LINE OPTIONS'): its name, whether a value belongs to it, and
/// what it means here.
const OPTIONS: [(&str, bool, Meaning); 37] = [
    ("alloc-size", true, Report),
    ("append-terse", false, Report),
    ("aux-path", true, Report),
    ("bandwidth-log", false, Report),
    ("client", true, Lacking("")),
    ("cmdhelp", true, Lacking("--list-options names the options of jobs")),
    ("cpuclock-test", false, Lacking("")),
    ("crctest", true, Lacking("")),
    ("daemonize", true, Lacking("")),
    ("debug", true, Report),
    ("enghelp", true, Lacking("--list-options names the options of jobs")),
    ("eta", true, Report),
    ("eta-interval", true, Report),
    ("eta-newline", true, Report),
    ("help", false, Lacking("`disklab fio --help`")),
    ("idle-prof", true, Report),
    ("inflate-log", true, Lacking("")),
    ("max-jobs", true, Report),
    ("memcpytest", true, Lacking("")),
    ("merge-blktrace-only", false, Lacking("")),
    ("minimal", false, Report),
    ("output", true, Shared),
    ("output-format", true, Shared),
    ("parse-only", false, Shared),
    ("readonly", false, Shared),
    ("remote-config", true, Lacking("")),
    ("section", true, Shared),
    ("server", true, Lacking("")),
    ("showcmd", false, Lacking("")),
    ("status-interval", true, Report),
    ("terse-version", true, Report),
    ("trigger", true, Lacking("")),
    ("trigger-file", true, Lacking("")),
    ("trigger-remote", true, Lacking("")),
    ("trigger-timeout", true, Lacking("")),
    ("version", false, Lacking("`disklab --version`")),
    ("warnings-fatal", false, Report),
];

/// What one of them means, and whether a value belongs to it.
pub fn meaning(name: &str) -> Option<(bool, Meaning)> {
    let found = OPTIONS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, takes_value, meaning)| (*takes_value, *meaning))
}

/// All of their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|(name, ..)| *name)
}

/// That an option of the program fio is not one of `disklab fio`, and what there is `instead`.
pub fn refused(name: &str, instead: &str) -> Failure {
    let instead = if instead.is_empty() { String::new() } else { format!(": {instead}") };
    Failure::usage_error(format!(
        "'--{name}' is an option of the program fio that `disklab fio` does not have{instead}"
    ))
}

/// What is said once of the options that change only fio's own report; `None` if there are none.
pub fn note(given: &[String]) -> Option<String> {
    let names: Vec<String> = given.iter().map(|name| format!("--{name}")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}: no effect, as disklab's report is its own; --output-format=json has all figures",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::exit::USAGE_ERROR;

    #[test]
    fn each_option_of_the_program_is_known() {
        let Ok(help) = Command::new("fio").arg("--help").output() else {
            eprintln!("skipped: needs fio");
            return;
        };
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        let of_line = |line: &str| -> Option<(String, bool)> {
            let name = line.trim_start().strip_prefix("--")?;
            let end = name.find(|c: char| c != '-' && !c.is_ascii_alphanumeric());
            let end = end.unwrap_or(name.len());
            Some((name[..end].to_owned(), name[end..].starts_with('=')))
        };
        let options: Vec<(String, bool)> = help.lines().filter_map(of_line).collect();
        assert!(options.len() > 25, "{help}");
        for (name, takes_value) in options {
            let (known, _) = meaning(&name).unwrap_or_else(|| panic!("{name}"));
            // Its help does not say so of `output`.
            assert!(known == takes_value || name == "output", "{name}");
        }
    }

    #[test]
    fn refusals_and_notes_name_the_option_and_what_there_is_instead() {
        let Some((true, Lacking(instead))) = meaning("cmdhelp") else { panic!("lacking") };
        let error = refused("cmdhelp", instead);
        assert_eq!(error.code, USAGE_ERROR);
        let text = error.to_string();
        assert!(text.contains("'--cmdhelp' is an option of the program fio"), "{text}");
        assert!(text.ends_with("--list-options names the options of jobs"), "{text}");
        assert!(meaning("bs").is_none() && note(&[]).is_none());
        let text = note(&["minimal".to_owned(), "eta-newline".to_owned()]).expect("a note");
        assert!(text.starts_with("--minimal, --eta-newline: no effect"), "{text}");
    }
}

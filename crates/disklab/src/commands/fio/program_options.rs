//! Options of the program fio, which are not options of jobs.

use crate::exit::Failure;

/// fio's own (fio(1), 3.33, 'COMMAND LINE OPTIONS') that `disklab fio` lacks, and what it has
/// instead.
const LACKING: [(&str, &str); 29] = [
    ("alloc-size", ""),
    ("append-terse", "--output-format=json has all figures"),
    ("aux-path", ""),
    ("bandwidth-log", "--logs=DIR writes logs of each job"),
    ("client", ""),
    ("cmdhelp", "--list-options names the options of jobs"),
    ("cpuclock-test", ""),
    ("crctest", ""),
    ("daemonize", ""),
    ("debug", ""),
    ("enghelp", "--list-options names the options of jobs"),
    ("eta-interval", ""),
    ("eta-newline", ""),
    ("idle-prof", ""),
    ("inflate-log", ""),
    ("max-jobs", ""),
    ("merge-blktrace-only", ""),
    ("minimal", "--output-format=json has all figures"),
    ("readonly", "a job without writes changes no device, but makes a file that is missing"),
    ("remote-config", ""),
    ("server", ""),
    ("showcmd", ""),
    ("status-interval", ""),
    ("terse-version", "--output-format=json has all figures"),
    ("trigger", ""),
    ("trigger-file", ""),
    ("trigger-remote", ""),
    ("trigger-timeout", ""),
    ("warnings-fatal", ""),
];

/// Refuses an option that belongs to the program fio.
///
/// # Errors
/// A usage error that names the option, and what there is instead of it.
pub fn refuse(name: &str) -> Result<(), Failure> {
    let Some((_, instead)) = LACKING.iter().find(|(lacking, _)| *lacking == name) else {
        return Ok(());
    };
    let instead = if instead.is_empty() { String::new() } else { format!(": {instead}") };
    Err(Failure::usage_error(format!(
        "'--{name}' is an option of the program fio that `disklab fio` does not have{instead}"
    )))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::exit::USAGE_ERROR;

    /// Those that `disklab fio` has too, or passes over.
    const SHARED: [&str; 7] =
        ["eta", "help", "output", "output-format", "parse-only", "section", "version"];

    #[test]
    fn each_option_of_the_program_is_known() {
        let Ok(help) = Command::new("fio").arg("--help").output() else {
            eprintln!("skipped: needs fio");
            return;
        };
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        let of_line = |line: &str| -> Option<String> {
            let name = line.trim_start().strip_prefix("--")?;
            let end = name.find(|c: char| c != '-' && !c.is_ascii_alphanumeric());
            Some(name[..end.unwrap_or(name.len())].to_owned())
        };
        let names: Vec<String> = help.lines().filter_map(of_line).collect();
        assert!(names.len() > 25, "{help}");
        for name in names {
            assert!(SHARED.contains(&name.as_str()) || refuse(&name).is_err(), "{name}");
        }
    }

    #[test]
    fn refusals_name_the_program_and_what_there_is_instead() {
        let error = refuse("minimal").expect_err("the program's");
        assert_eq!(error.code, USAGE_ERROR);
        let text = error.to_string();
        assert!(text.contains("'--minimal' is an option of the program fio"), "{text}");
        assert!(text.ends_with("--output-format=json has all figures"), "{text}");
        assert!(refuse("bs").is_ok() && refuse("minimall").is_ok());
    }
}

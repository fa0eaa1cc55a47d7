//! fio's command line: job files, or options.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, Args, Command, FromArgMatches};
use disklab_exec::{LARGEST_TEXT, read_input};
use disklab_jobfile::{OptionSpec, native_options};
use disklab_source::Source;

use super::program_options;
use crate::cli::{FioFormat, FioOwnArgs};
use crate::exit::Failure;

/// What the words of the command line ask for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FioWords {
    /// Job files.
    pub files: Vec<PathBuf>,
    /// The text of a job file that says what the options say, one a line.
    pub text: String,
    /// Options that are disklab's own.
    pub own: FioOwnArgs,
    /// `--json`.
    pub json: bool,
}

impl FioWords {
    /// Understands the words. `own` are options that were given before them; they may stand
    /// among fio's, too.
    ///
    /// # Errors
    /// Where one is neither a file nor an option, or files and options are mixed.
    pub fn read(own: &FioOwnArgs, words: &[String]) -> Result<Self, Failure> {
        let command = own_command();
        let mut all = Self::default();
        let mut flags: Vec<String> = Vec::new();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix("--") else {
                if word.starts_with('-') {
                    return Err(Failure::usage_error(format!(
                        "'{word}' is not an option: fio's start with two dashes"
                    )));
                }
                all.files.push(PathBuf::from(word));
                continue;
            };
            let (name, mut value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let known = command.get_arguments().find(|arg| arg.get_long() == Some(name));
            let alone = known.map_or_else(|| stands_alone(name), |arg| !takes_value(arg));
            // As in fio, `--bs 4k` is `--bs=4k`; an option that stands alone is on.
            if value.is_none() && !alone {
                value = words.next_if(|next| !next.starts_with("--")).cloned();
            }
            match (known, name) {
                (Some(_), _) => flags.push(joined(name, value.as_deref())),
                (None, "json") => all.json = true,
                // fio's own way to say how its progress is shown.
                (None, "eta") => {}
                (None, _) => {
                    program_options::refuse(name)?;
                    all.add(name, value.as_deref());
                }
            }
        }
        all.own = own.clone().and(parse_own(command, &flags)?);
        if !all.files.is_empty() && !all.text.is_empty() {
            return Err(Failure::usage_error(
                "a job file and options of a job: give either; put the options into the file",
            ));
        }
        Ok(all)
    }

    /// Whether the report is JSON, and whether it has all bins.
    pub fn json(&self) -> Option<bool> {
        match self.own.output_format {
            Some(FioFormat::JsonPlus) => Some(true),
            Some(FioFormat::Json) => Some(false),
            Some(FioFormat::Normal) => None,
            None => self.json.then_some(false),
        }
    }

    /// An option of a job, as a line of a job file.
    fn add(&mut self, name: &str, value: Option<&str>) {
        let line = match (name, value) {
            ("name", Some(value)) => format!("[{value}]"),
            (_, Some(value)) => format!("{name}={value}"),
            (_, None) => name.to_owned(),
        };
        if self.text.is_empty() && name != "name" {
            self.text.push_str("[global]\n");
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// The texts to read jobs from.
    ///
    /// # Errors
    /// A usage error that names the first file that cannot be read.
    pub fn sources(&self) -> Result<Vec<Arc<Source>>, Failure> {
        if self.files.is_empty() {
            let source = Source { name: "command line".to_owned(), text: self.text.clone() };
            return Ok(vec![Arc::new(source)]);
        }
        let read = |path: &PathBuf| {
            let bytes = read_input(path, LARGEST_TEXT).map_err(|e| {
                Failure::usage_error(format!("cannot read the job file {}: {e}", path.display()))
            })?;
            let source = Source::from_bytes(path.display().to_string(), bytes);
            source.map(Arc::new).map_err(Failure::usage_error)
        };
        self.files.iter().map(read).collect()
    }
}

/// disklab's own options, as the command line declares them.
fn own_command() -> Command {
    FioOwnArgs::augment_args(Command::new("fio").no_binary_name(true).disable_help_flag(true))
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// As one word; without a value as clap refuses it, where it wants one.
fn joined(name: &str, value: Option<&str>) -> String {
    value.map_or_else(|| format!("--{name}"), |value| format!("--{name}={value}"))
}

/// # Errors
/// A usage error with what clap says of the first option that is wrong.
fn parse_own(command: Command, words: &[String]) -> Result<FioOwnArgs, Failure> {
    let matches = command.try_get_matches_from(words);
    matches.and_then(|matches| FioOwnArgs::from_arg_matches(&matches)).map_err(|error| {
        let text = error.to_string();
        Failure::usage_error(text.trim_start_matches("error: ").trim_end())
    })
}

/// Whether an option of a job may stand without a value, so that what follows need not be one.
fn stands_alone(name: &str) -> bool {
    let of_jobs = |o: &OptionSpec| o.bare && (o.name == name || o.aliases.contains(&name));
    name == "json" || native_options().any(of_jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<FioWords, Failure> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        FioWords::read(&FioOwnArgs::default(), &words)
    }

    #[test]
    fn options_become_a_job_file() {
        let words = read(
            "--bs 4k --size=1m --name=a --rw=read --stonewall --name b --group_reporting \
             --rw=write --seed=7 --output-format=json --dir /x",
        )
        .expect("valid");
        assert_eq!(
            words.text,
            "[global]\nbs=4k\nsize=1m\n[a]\nrw=read\nstonewall\n[b]\ngroup_reporting\nrw=write\n"
        );
        assert_eq!((words.own.seed, words.json()), (Some(7), Some(false)));
        let with_bins = read("--output-format=json+").expect("valid");
        assert_eq!(with_bins.json(), Some(true));
        assert_eq!(words.own.dir, Some(PathBuf::from("/x")));
        assert!(words.files.is_empty());
    }

    #[test]
    fn own_options_may_stand_before_and_among_fios() {
        let own = FioOwnArgs { seed: Some(1), yes: true, ..FioOwnArgs::default() };
        let words = ["--name=a", "--seed", "2", "--erase=K"].map(str::to_owned);
        let all = FioWords::read(&own, &words).expect("valid");
        assert_eq!((all.own.seed, all.own.yes, all.text.as_str()), (Some(2), true, "[a]\n"));
        assert_eq!(all.own.erase, ["K"]);
    }

    #[test]
    fn consents_are_read() {
        let words = read("a.fio --erase=K1 --yes --erase K2").expect("valid");
        let own = words.own;
        assert_eq!((own.erase, own.yes), (vec!["K1".to_owned(), "K2".to_owned()], true));
        assert!(!read("a.fio").expect("valid").own.yes);
    }

    #[test]
    fn files_stand_alone() {
        let words = read("a.fio b.fio --output=o.json --section=x").expect("valid");
        assert_eq!(words.files, [PathBuf::from("a.fio"), PathBuf::from("b.fio")]);
        assert_eq!((words.own.section, words.text.as_str()), (vec!["x".to_owned()], ""));
    }

    #[test]
    fn wrong_words_are_errors() {
        for (line, part) in [
            ("a.fio --name=x", "give either"),
            ("-n x", "two dashes"),
            ("--seed=x", "invalid value 'x' for '--seed <SEED>'"),
            ("--output-format=terse", "[possible values: normal, json, json+]"),
            ("--dir", "a value is required for '--dir <DIR>'"),
            ("--logs=", "a value is required for '--logs <DIR>'"),
            ("--erase", "a value is required for '--erase <SERIAL>'"),
        ] {
            let error = read(line).expect_err(line);
            assert_eq!(error.code, crate::exit::USAGE_ERROR);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

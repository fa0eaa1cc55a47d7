//! fio's command line: options of jobs, job files, and options of fio itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Arg, Args, Command, FromArgMatches};
use disklab_exec::{LARGEST_TEXT, read_input};
use disklab_jobfile::{option_names, stands_alone, with_contents};
use disklab_source::Source;

use super::program_options::{self, Meaning};
use super::surroundings::UserSurroundings;
use crate::cli::{FioFormat, FioOwnArgs};
use crate::exit::Failure;

/// What the words of the command line ask for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FioWords {
    /// Job files.
    pub files: Vec<PathBuf>,
    /// What options of jobs say, as lines of a job file without comments.
    pub text: String,
    /// Options that are disklab's own.
    pub own: FioOwnArgs,
    /// `--json`.
    pub json: bool,
    /// Options that change only fio's own report, each once.
    pub passed_over: Vec<String>,
}

impl FioWords {
    /// Understands the words, as fio does (getopt_long_only(3)): an option begins with one dash or
    /// two, may be shortened as far as it stays the only one, and has its value behind a '=' or in
    /// the next word. `own` are options that were given before them; they may stand among fio's,
    /// too.
    ///
    /// # Errors
    /// If one is neither a file nor an option.
    pub fn read(own: &FioOwnArgs, words: &[String]) -> Result<Self, Failure> {
        let command = own_command();
        let mut all = Self::default();
        let mut flags: Vec<String> = Vec::new();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                all.files.extend(words.by_ref().map(PathBuf::from));
                break;
            }
            let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
            let Some(option) = option.filter(|option| !option.is_empty()) else {
                all.files.push(PathBuf::from(word));
                continue;
            };
            let (name, mut value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let own = |name: &str| command.get_arguments().find(|arg| arg.get_long() == Some(name));
            let name = if own(name).is_some() { name } else { whole_name(name)? };
            let meaning = program_options::meaning(name);
            let alone = match (own(name), meaning) {
                (Some(arg), _) => !takes_value(arg),
                (None, Some((takes_value, _))) => !takes_value,
                (None, None) => name == "json" || stands_alone(name),
            };
            // As in fio, `--bs 4k` is `--bs=4k`; an option that stands alone is on.
            if value.is_none() && !alone {
                value = words.next_if(|next| !next.starts_with("--")).cloned();
            }
            match (own(name), meaning) {
                (Some(_), _) => flags.push(joined(name, value.as_deref())),
                // How fio shows its progress is nothing of its report.
                (None, Some(_)) if name == "eta" => {}
                (None, Some((_, Meaning::Report))) => all.pass_over(name),
                (None, Some((_, Meaning::Lacking(instead)))) => {
                    return Err(program_options::refused(name, instead));
                }
                (None, None) if name == "json" => all.json = true,
                (None, _) => all.add(name, value.as_deref())?,
            }
        }
        all.own = own.clone().and(parse_own(command, &flags)?);
        Ok(all)
    }

    fn pass_over(&mut self, name: &str) {
        if self.passed_over.iter().all(|known| known != name) {
            self.passed_over.push(name.to_owned());
        }
    }

    /// The forms of the report, each once: as in fio, what programs read comes first.
    pub fn formats(&self) -> Vec<FioFormat> {
        let mut formats = self.own.output_format.clone();
        if formats.is_empty() {
            formats.push(if self.json { FioFormat::Json } else { FioFormat::Normal });
        }
        if formats.contains(&FioFormat::JsonPlus) {
            formats.retain(|format| *format != FioFormat::Json);
        }
        // The table takes the place of what is not written here.
        for format in &mut formats {
            if *format == FioFormat::Terse {
                *format = FioFormat::Normal;
            }
        }
        formats.sort_unstable();
        formats.dedup();
        formats
    }

    /// An option of a job, as a line of a job file.
    fn add(&mut self, name: &str, value: Option<&str>) -> Result<(), Failure> {
        if value.is_some_and(|value| value.contains(['\n', '\r'])) {
            return Err(Failure::usage_error(format!("--{name}: its value has a line break")));
        }
        let line = match (name, value) {
            ("name", Some(value)) => format!("[{value}]"),
            (_, Some(value)) => format!("{name}={value}"),
            (_, None) => name.to_owned(),
        };
        // Of what a line of a job file may refer to, fio's command line has only these.
        let line = with_contents(line, &UserSurroundings)
            .map_err(|why| Failure::usage_error(format!("--{name}: {why}")))?;
        if self.text.is_empty() && name != "name" {
            self.text.push_str("[global]\n");
        }
        self.text.push_str(&line);
        self.text.push('\n');
        Ok(())
    }

    /// What options of jobs say.
    pub fn command_line(&self) -> Arc<Source> {
        Arc::new(Source { name: "command line".to_owned(), text: self.text.clone() })
    }
}

/// The text of a job file; `-` is standard input.
///
/// # Errors
/// A usage error if it cannot be read.
pub fn job_file(path: &Path) -> Result<Arc<Source>, Failure> {
    let real = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
    let bytes = read_input(real, LARGEST_TEXT).map_err(|e| {
        Failure::usage_error(format!("cannot read the job file {}: {e}", path.display()))
    })?;
    let source = Source::from_bytes(path.display().to_string(), bytes);
    source.map(Arc::new).map_err(Failure::usage_error)
}

/// The option that a word means: itself, or the only one of fio's that begins with it.
///
/// # Errors
/// A usage error that names all of them, if there are several.
fn whole_name(word: &str) -> Result<&str, Failure> {
    let known = || option_names().chain(program_options::names());
    if known().any(|name| name == word) {
        return Ok(word);
    }
    let mut longer: Vec<&str> = known().filter(|name| name.starts_with(word)).collect();
    longer.sort_unstable();
    longer.dedup();
    match longer.as_slice() {
        [] => Ok(word),
        [only] => Ok(only),
        several => {
            Err(Failure::usage_error(format!("'--{word}' could be --{}", several.join(" or --"))))
        }
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
        assert_eq!((words.own.seed, words.formats()), (Some(7), vec![FioFormat::Json]));
        assert_eq!(words.own.dir, Some(PathBuf::from("/x")));
        assert!(words.files.is_empty() && words.passed_over.is_empty());
    }

    #[test]
    fn one_dash_and_shortened_names_are_fios() {
        let words = read("-name=t -rw=randread -bs 4k -group --thread -direct=1").expect("valid");
        assert_eq!(words.text, "[t]\nrw=randread\nbs=4k\ngroup_reporting\nthread\ndirect=1\n");
        let words = read("-output=o.txt --hipri a.fio --sect=x -- -b.fio").expect("valid");
        assert_eq!(words.files, [PathBuf::from("a.fio"), PathBuf::from("-b.fio")]);
        assert_eq!(words.own.output, Some(PathBuf::from("o.txt")));
        assert_eq!(words.own.section, ["x"]);
        assert_eq!(read("-").expect("standard input").files, [PathBuf::from("-")]);
    }

    #[test]
    fn a_pattern_is_what_a_file_holds() {
        let directory = tempfile::tempdir().expect("temp");
        let file = directory.path().join("bytes");
        std::fs::write(&file, [0, 0xff, b'a']).expect("writes");
        let name = file.display();
        let words = read(&format!("--name=a --buffer_pattern=\"x\"'{name}'-7 --size=4k"));
        assert_eq!(words.expect("valid").text, "[a]\nbuffer_pattern=\"x\"0x00ff61-7\nsize=4k\n");
        assert!(read(&format!("--name=a --verify_pattern='{name}.missing'")).is_err());
        // As in fio, a command line has no variables.
        assert_eq!(read("--name=a --bs=${X}").expect("words").text, "[a]\nbs=${X}\n");
    }

    #[test]
    fn what_changes_only_fios_report_is_passed_over() {
        let words = read(
            "--minimal --eta-newline=1 --eta always --status-interval 5 -alloc-size=4096 --name=a \
             --eta-newline 3 --size=1m",
        );
        let words = words.expect("valid");
        assert_eq!(words.text, "[a]\nsize=1m\n");
        assert_eq!(words.passed_over, ["minimal", "eta-newline", "status-interval", "alloc-size"]);
    }

    #[test]
    fn several_forms_of_the_report_may_be_given() {
        for (given, expected) in [
            ("json,normal", vec![FioFormat::Json, FioFormat::Normal]),
            ("normal,terse", vec![FioFormat::Normal]),
            ("terse", vec![FioFormat::Normal]),
            ("normal,json+,json", vec![FioFormat::JsonPlus, FioFormat::Normal]),
        ] {
            let words = read(&format!("--output-format={given} a.fio")).expect(given);
            assert_eq!(words.formats(), expected, "{given}");
        }
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
            ("--io x", "could be --io_limit or --io_size or"),
            ("--cmdhelp=bs", "--list-options"),
            ("--seed=x", "invalid value 'x' for '--seed <SEED>'"),
            ("--output-format=xml", "[possible values: json, json+, normal, terse]"),
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

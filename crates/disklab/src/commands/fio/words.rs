//! fio's command line: job files, or options.

use std::path::PathBuf;
use std::sync::Arc;

use disklab_jobfile::{OptionSpec, native_options};
use disklab_source::Source;

use crate::exit::Failure;

/// What the words of the command line ask for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Job files.
    pub files: Vec<PathBuf>,
    /// The text of a job file that says what the options say, one a line.
    pub text: String,
    /// `--dir`.
    pub folder: Option<PathBuf>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--output`.
    pub output: Option<PathBuf>,
    /// `--output-format=json`.
    pub json: bool,
    /// `--output-format=json+`: with all bins of the histograms.
    pub bins: bool,
    /// `--logs`: the folder for logs of throughput, I/Os and latency over time.
    pub logs: Option<PathBuf>,
    /// `--section`: only these.
    pub sections: Vec<String>,
    /// `--erase`: serial numbers of drives that may be written to although they carry data.
    pub erase: Vec<String>,
    /// `--yes`: what is on the drives may be lost.
    pub yes: bool,
    /// `--parse-only`.
    pub parse_only: bool,
    /// `--list-options`.
    pub list_options: bool,
}

impl Words {
    /// Understands the words.
    ///
    /// # Errors
    /// Where one is neither a file nor an option, or files and options are mixed.
    pub fn read(words: &[String]) -> Result<Self, Failure> {
        let mut all = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix("--") else {
                if word.starts_with('-') {
                    return Err(Failure::usage_error(format!(
                        "'{word}' is no option; fio's begin with two dashes"
                    )));
                }
                all.files.push(PathBuf::from(word));
                continue;
            };
            let (name, mut value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            // As in fio, `--bs 4k` is `--bs=4k`; an option that stands alone is on.
            if value.is_none() && !stands_alone(name) {
                value = words.next_if(|next| !next.starts_with("--")).cloned();
            }
            if !all.own(name, value.as_deref())? {
                all.add(name, value.as_deref());
            }
        }
        if !all.files.is_empty() && !all.text.is_empty() {
            return Err(Failure::usage_error(
                "a job file and options of a job: give either; put the options into the file",
            ));
        }
        Ok(all)
    }

    /// An option of disklab's, or one of fio's that is not a job's.
    fn own(&mut self, name: &str, value: Option<&str>) -> Result<bool, Failure> {
        let wanted = |what: &str| {
            let found = value.map_or_else(String::new, |v| format!(", found '{v}'"));
            Failure::usage_error(format!("--{name}: expected {what}{found}"))
        };
        let filled = || value.filter(|v| !v.is_empty());
        match name {
            "dir" => self.folder = Some(filled().ok_or_else(|| wanted("a folder"))?.into()),
            "logs" => self.logs = Some(filled().ok_or_else(|| wanted("a folder"))?.into()),
            "output" => self.output = Some(filled().ok_or_else(|| wanted("a file"))?.into()),
            "section" => {
                self.sections.push(filled().ok_or_else(|| wanted("a section's name"))?.to_owned());
            }
            "erase" => {
                self.erase.push(filled().ok_or_else(|| wanted("a serial number"))?.to_owned());
            }
            "seed" => {
                let seed = value.and_then(|v| v.parse().ok());
                self.seed = Some(seed.ok_or_else(|| wanted("a whole number"))?);
            }
            "output-format" => {
                self.json = match value {
                    Some(format @ ("json" | "json+")) => {
                        self.bins = format == "json+";
                        true
                    }
                    Some("normal") => false,
                    _ => return Err(wanted("'normal', 'json' or 'json+'")),
                };
            }
            "json" => self.json = true,
            "yes" => self.yes = true,
            "parse-only" => self.parse_only = true,
            "list-options" => self.list_options = true,
            // fio's own way to say how its progress is shown.
            "eta" => {}
            _ => return Ok(false),
        }
        Ok(true)
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
    /// Where a file cannot be read.
    pub fn sources(&self) -> Result<Vec<Arc<Source>>, Failure> {
        if self.files.is_empty() {
            let source = Source { name: "command line".to_owned(), text: self.text.clone() };
            return Ok(vec![Arc::new(source)]);
        }
        let read = |path: &PathBuf| {
            let bytes = std::fs::read(path).map_err(|e| {
                Failure::usage_error(format!("cannot read the job file {}: {e}", path.display()))
            })?;
            let source = Source::from_bytes(path.display().to_string(), bytes);
            source.map(Arc::new).map_err(Failure::usage_error)
        };
        self.files.iter().map(read).collect()
    }
}

/// Whether an option may stand without a value, so that what follows need not be one.
fn stands_alone(name: &str) -> bool {
    let of_jobs = |o: &OptionSpec| o.bare && (o.name == name || o.aliases.contains(&name));
    ["json", "list-options", "parse-only", "yes"].contains(&name) || native_options().any(of_jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Words, Failure> {
        Words::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
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
        assert_eq!((words.seed, words.json, words.bins), (Some(7), true, false));
        let with_bins = read("--output-format=json+").expect("valid");
        assert!(with_bins.json && with_bins.bins);
        assert_eq!(words.folder, Some(PathBuf::from("/x")));
        assert!(words.files.is_empty());
    }

    #[test]
    fn consents_are_read() {
        let words = read("a.fio --erase=K1 --yes --erase K2").expect("valid");
        assert_eq!((words.erase, words.yes), (vec!["K1".to_owned(), "K2".to_owned()], true));
        assert!(!read("a.fio").expect("valid").yes);
    }

    #[test]
    fn files_stand_alone() {
        let words = read("a.fio b.fio --output=o.json --section=x").expect("valid");
        assert_eq!(words.files, [PathBuf::from("a.fio"), PathBuf::from("b.fio")]);
        assert_eq!((words.sections, words.text.as_str()), (vec!["x".to_owned()], ""));
    }

    #[test]
    fn wrong_words_are_errors() {
        for (line, part) in [
            ("a.fio --name=x", "give either"),
            ("-n x", "two dashes"),
            ("--seed=x", "a whole number, found 'x'"),
            ("--output-format=terse", "'normal', 'json' or 'json+'"),
            ("--dir", "a folder"),
            ("--logs=", "a folder"),
            ("--erase", "a serial number"),
        ] {
            let error = read(line).expect_err(line);
            assert_eq!(error.code, crate::exit::USAGE_ERROR);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

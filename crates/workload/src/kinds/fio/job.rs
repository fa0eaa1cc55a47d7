//! A section of a fio job: its options, and how they are scaled.

use disklab_study::{Place, StudyError};
use disklab_units::Bytes;

use super::options::{Class, check_engine, classify};
use super::value::{KbBase, count, largest, size};

/// fio's default block size.
const DEFAULT_BLOCK: Bytes = Bytes::kib(4);

/// One option, as written.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    /// The name under which it is looked up.
    key: &'static str,
    class: Class,
    /// The name as written, which may be an alias that old versions know.
    written: String,
    /// Its value; an option without one is switched on.
    value: Option<String>,
    place: Place,
}

impl Setting {
    /// An option of a job.
    ///
    /// # Errors
    /// Where it or its value is not allowed.
    pub fn new(written: &str, value: Option<String>, place: &Place) -> Result<Self, StudyError> {
        let (key, class) = classify(written, place)?;
        if let Some(value) = &value {
            check_value(key, value, place)?;
        }
        let (written, place) = (written.to_owned(), place.clone());
        Ok(Self { key, class, written, value, place })
    }

    /// As fio's command line has it. An option without a value would swallow the
    /// argument behind it, so all have one.
    pub fn argument(&self) -> String {
        format!("--{}={}", self.written, self.value.as_deref().unwrap_or("1"))
    }

    fn text(&self) -> &str {
        self.value.as_deref().unwrap_or("1")
    }
}

/// Values that reach outside of the directory, or depend on the machine.
fn check_value(key: &str, value: &str, place: &Place) -> Result<(), StudyError> {
    if value.chars().any(char::is_control) {
        return Err(place.error(format!("the value of `{key}` has control characters")));
    }
    match key {
        "description" => return Ok(()),
        "ioengine" => return check_engine(value, place),
        "filename" => check_file_name("filename", value, place)?,
        "filename_format" => {
            let fixed = ["$jobname", "$jobnum", "$filenum"]
                .iter()
                .fold(value.to_owned(), |text, keyword| text.replace(keyword, "0"));
            check_file_name("filename_format", &fixed, place)?;
            return if fixed.contains('$') {
                Err(place.error("`filename_format`: only $jobname, $jobnum and $filenum are known"))
            } else {
                Ok(())
            };
        }
        "name" => check_job_name(value, place)?,
        _ => {}
    }
    if value.contains('$') {
        return Err(place.error(format!(
            "`{key}` has a '$': fio would fill in a variable or a property of the machine, and \
             the study would not say what was run; write the value"
        )));
    }
    Ok(())
}

/// A file name that stays in the directory and means one file to fio.
fn check_file_name(key: &str, name: &str, place: &Place) -> Result<(), StudyError> {
    let why = if name.contains('/') {
        "it names a folder, and disklab runs fio in the directory that the study measures"
    } else if name.contains(':') || name.contains('\\') {
        "fio takes ':' for the end of a name and '\\' for an escape; give one plain name"
    } else if matches!(name, "" | "." | ".." | "-") {
        "it is no file's name"
    } else {
        return Ok(());
    };
    Err(place.error(format!("`{key}={name}` is not allowed here: {why}")))
}

/// A section's name becomes part of file names.
pub(super) fn check_job_name(name: &str, place: &Place) -> Result<(), StudyError> {
    if name.is_empty() || name.contains(['/', '\\', '$']) || name.chars().any(char::is_control) {
        return Err(place.error(
            "fio makes file names from a job's name: it cannot be empty, nor have '/', '\\', '$' \
             or control characters",
        ));
    }
    Ok(())
}

/// One job of a job file, with everything that holds for it.
#[derive(Debug, Clone)]
pub(super) struct Section {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub place: Place,
    /// Its options, in order; of several with one name the last holds.
    pub settings: Vec<Setting>,
}

impl Section {
    /// The value of an option, by the name that [`classify`] gives it; `1` where
    /// it is only switched on.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.setting(key).map(Setting::text)
    }

    /// Whether an option without a value, such as `stonewall`, is on.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value != "0")
    }

    fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().rev().find(|s| s.key == key)
    }

    /// Reads the value of an option.
    ///
    /// # Errors
    /// Where `read` says that it is wrong.
    pub fn read<T>(
        &self,
        key: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, StudyError> {
        self.setting(key)
            .map(|s| read(s.text()).map_err(|why| s.place.error(format!("`{}`: {why}", s.written))))
            .transpose()
    }

    /// A size; see [`size`].
    ///
    /// # Errors
    /// Where it is none.
    pub fn bytes(&self, key: &str) -> Result<Option<Bytes>, StudyError> {
        let base = self.kb_base()?;
        self.read(key, |text| size(text, base))
    }

    /// A whole number of at least `least`.
    ///
    /// # Errors
    /// Where it is none.
    pub fn count(&self, key: &str, least: u64) -> Result<Option<u64>, StudyError> {
        self.read(key, |text| count(text, least))
    }

    /// The largest block that it reads or writes.
    ///
    /// # Errors
    /// Where no size is given.
    pub fn block(&self) -> Result<Bytes, StudyError> {
        let base = self.kb_base()?;
        let mut block = None;
        for key in ["bs", "bsrange", "bssplit"] {
            block = block.max(self.read(key, |text| largest(text, base))?);
        }
        Ok(block.unwrap_or(DEFAULT_BLOCK))
    }

    fn kb_base(&self) -> Result<KbBase, StudyError> {
        let base = self.read("kb_base", |text| match text.trim() {
            "1024" => Ok(KbBase::Compatible),
            "1000" => Ok(KbBase::Standard),
            other => Err(format!("expected 1024 or 1000, found '{other}'")),
        })?;
        Ok(base.unwrap_or_default())
    }

    /// Takes the option `name`, which overrides the section's header, off the
    /// list: on fio's command line it would begin another job.
    pub fn adopt_name(&mut self) {
        if let Some(name) = self.get("name") {
            self.name = name.to_owned();
        }
        self.settings.retain(|s| s.key != "name");
    }

    /// Multiplies sizes and counts by `factor`, and returns what changed, such
    /// as `size 1g → 10m`. Sizes stay multiples of the block, and at least one
    /// block for each file.
    ///
    /// # Errors
    /// Where one is not understood.
    pub fn scale(&mut self, factor: f64) -> Result<Vec<String>, StudyError> {
        let block = self.block()?;
        let base = self.kb_base()?;
        let files = self.count("nrfiles", 1)?.unwrap_or(1);
        let mut changes = Vec::new();
        for setting in &mut self.settings {
            let text = setting.text();
            let wrong = |why: String| setting.place.error(format!("`{}`: {why}", setting.written));
            let scaled = match setting.class {
                Class::Plain => continue,
                Class::Count => Bytes(count(text, 1).map_err(wrong)?).scaled(factor, Bytes(1)),
                Class::Size => match size(text, base).map_err(wrong)? {
                    // Zero means 'from the start', or 'as large as the file'.
                    Bytes(0) => continue,
                    bytes if setting.key == "size" => {
                        bytes.scaled(factor, block.saturating_mul(files))
                    }
                    bytes => bytes.scaled(factor, block),
                },
            };
            // A plain number means the same with every kb_base.
            let short = match (setting.class, base) {
                (Class::Size, KbBase::Compatible) => scaled.short(),
                _ => scaled.0.to_string(),
            };
            let change = format!("{} {text} → {short}", setting.written);
            if !changes.contains(&change) {
                changes.push(change);
            }
            setting.value = Some(short);
        }
        Ok(changes)
    }

    /// The options as fio's command line has them. Those of an I/O engine are
    /// known to it only behind `--ioengine`, which therefore goes first.
    pub fn arguments(&self) -> Vec<String> {
        let (engine, others): (Vec<_>, Vec<_>) =
            self.settings.iter().partition(|s| s.key == "ioengine");
        let engine = engine.last().map(|s| s.argument());
        std::iter::once(format!("--name={}", self.name))
            .chain(engine)
            .chain(others.iter().map(|s| s.argument()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disklab_study::Source;

    use super::*;

    fn place() -> Place {
        let source = Arc::new(Source { name: "t".to_owned(), text: "x".to_owned() });
        Place { source, span: 0..1 }
    }

    fn section(settings: &[(&str, &str)]) -> Section {
        let place = place();
        let settings = settings
            .iter()
            .map(|(k, v)| Setting::new(k, Some((*v).to_owned()), &place).expect("allowed"))
            .collect();
        Section { name: "s".to_owned(), place, settings }
    }

    #[test]
    fn what_reaches_outside_is_refused() {
        for (name, value, part) in [
            ("filename", "/dev/sda", "names a folder"),
            ("filename", "../x", "names a folder"),
            ("filename", "a:b", "one plain name"),
            ("filename", "..", "no file's name"),
            ("filename", "-", "no file's name"),
            ("filename_format", "x/$jobname", "names a folder"),
            ("filename_format", "$clientuid.f", "only $jobname"),
            ("size", "${SIZE}", "write the value"),
            ("numjobs", "$ncpus", "write the value"),
            ("bs", "4k\n--client", "control characters"),
            ("ioengine", "external:/tmp/x.so", "not allowed"),
            ("name", "../x", "file names"),
        ] {
            let error = Setting::new(name, Some(value.to_owned()), &place()).expect_err(value);
            assert!(error.to_string().contains(part), "{error}");
        }
        assert!(Setting::new("description", Some("costs 5 $".to_owned()), &place()).is_ok());
        assert!(
            Setting::new("filename_format", Some("$jobname.$filenum".to_owned()), &place()).is_ok()
        );
    }

    #[test]
    fn sizes_are_scaled_to_whole_blocks() {
        let mut job = section(&[
            ("bs", "64k"),
            ("size", "1g"),
            ("io_limit", "100m"),
            ("offset", "0"),
            ("runtime", "60"),
            ("number_ios", "1000"),
        ]);
        let changes = job.scale(0.001).expect("scaled");
        assert_eq!(changes, ["size 1g → 1m", "io_limit 100m → 128k", "number_ios 1000 → 1"]);
        assert_eq!(
            job.arguments(),
            [
                "--name=s",
                "--bs=64k",
                "--size=1m",
                "--io_limit=128k",
                "--offset=0",
                "--runtime=60",
                "--number_ios=1",
            ]
        );
        let mut job = section(&[("bs", "4k"), ("size", "1m"), ("nrfiles", "100")]);
        job.scale(1e-9).expect("scaled");
        assert_eq!(job.bytes("size").expect("size"), Some(Bytes(409_600)));
    }

    #[test]
    fn the_engine_goes_first_and_the_last_value_holds() {
        let job = section(&[
            ("hipri", "1"),
            ("bs", "4k"),
            ("ioengine", "sync"),
            ("ioengine", "pvsync2"),
            ("bs", "8k"),
        ]);
        assert_eq!(job.arguments()[..2], ["--name=s", "--ioengine=pvsync2"]);
        assert_eq!(job.block().expect("block"), Bytes::kib(8));
    }
}

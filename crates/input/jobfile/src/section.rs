//! A section of a job file: its options, and how they are scaled.

use disklab_source::{Location, SourceError};
use disklab_units::Bytes;

use crate::draft::Draft;
use crate::error::{NumberError, OptionError};
use crate::given::OptionValue;
use crate::job::{DEFAULT_FORMAT, Distribution, ZoneSize};
use crate::names::{directory_below, names_below};
use crate::options::{KnownOption, Scaled, look_up};
use crate::policy::Policy;
use crate::value::{KbBase, shown, size};

/// fio's own words for properties of the machine (fio_keywords in options.c).
pub(crate) const KEYWORDS: [&str; 3] = ["$pagesize", "$mb_memory", "$ncpus"];

/// One option, as written.
#[derive(Debug, Clone)]
pub struct JobOption {
    known: KnownOption,
    /// The name as written, which may be an alias that old versions know.
    written: String,
    /// Its value; an option without one is switched on.
    value: Option<String>,
    place: Location,
    value_place: Location,
    global: bool,
}

impl JobOption {
    /// An option of a job: its name, its value where it has one, where both
    /// stand, and whether it is in a `[global]` section. Its value is read
    /// later, by [`check::jobs`](crate::check::jobs).
    ///
    /// # Errors
    /// Where it is not allowed, or its value depends on the machine.
    pub fn new(
        written: &str,
        value: Option<String>,
        place: &Location,
        value_place: &Location,
        global: bool,
        policy: Policy,
    ) -> Result<Self, SourceError> {
        let known = look_up(written, value.as_deref().unwrap_or("1"), policy)
            .map_err(|why| place.error(why.to_string()))?;
        if value.is_none()
            && let KnownOption::Native(spec) = known
            && !spec.bare
        {
            return Err(place.error(format!("`{written}` needs a value: {written}={}", spec.value)));
        }
        if let Some(value) = &value {
            check_value(known.name(), value).map_err(|why| value_place.error(why.to_string()))?;
        }
        let below = |text: String| match known.name() {
            "directory" => directory_below(&text),
            "filename" | "filename_format" => names_below(&text),
            _ => Ok(text),
        };
        let value = match value {
            Some(text) if !policy.is_plain() => {
                Some(below(text).map_err(|why| value_place.error(why.to_string()))?)
            }
            value => value,
        };
        let (written, place, value_place) =
            (written.to_owned(), place.clone(), value_place.clone());
        Ok(Self { known, written, value, place, value_place, global })
    }

    /// The name under which it is looked up: that of fio's HOWTO, not an alias.
    pub fn name(&self) -> &'static str {
        self.known.name()
    }

    /// The name as written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Its value; `1` where it stands alone.
    pub fn value(&self) -> &str {
        self.value.as_deref().unwrap_or("1")
    }

    /// Where it stands.
    pub const fn place(&self) -> &Location {
        &self.place
    }

    /// Where its value stands.
    pub const fn value_place(&self) -> &Location {
        &self.value_place
    }

    /// Whether it came from a `[global]` section.
    pub const fn is_global(&self) -> bool {
        self.global
    }

    /// As fio's command line has it. An option without a value would swallow the
    /// argument behind it, so all have one.
    pub fn argument(&self) -> String {
        format!("--{}={}", self.written, self.value())
    }

    const fn scaled(&self) -> Scaled {
        match self.known {
            KnownOption::Native(spec) => spec.scaled,
            KnownOption::Fio(_) | KnownOption::Idle(_) => Scaled::No,
        }
    }

    /// Why it has no effect, where its writer would expect one.
    pub(crate) fn idle(&self) -> Option<&'static str> {
        match self.known {
            KnownOption::Idle(option) => option.note(self.value()),
            _ => None,
        }
    }
}

/// Values that refer to something which nobody fills in here.
fn check_value(name: &str, value: &str) -> Result<(), OptionError> {
    if value.chars().any(char::is_control) {
        return Err(OptionError::ControlCharacters { name: name.to_owned() });
    }
    // Any other '$' is itself.
    let refers = value.contains("${") || KEYWORDS.iter().any(|word| value.contains(word));
    if refers && name != "description" {
        return Err(OptionError::Variable { name: name.to_owned() });
    }
    Ok(())
}

/// One job of a job file, with everything that holds for it, as written.
#[derive(Debug, Clone)]
pub struct Section {
    /// What stands between the brackets: fio makes file names from it.
    header: String,
    place: Location,
    settings: Vec<JobOption>,
    policy: Policy,
}

impl Section {
    /// A section called `name` with these settings, in order; of several with
    /// one name the last wins.
    pub fn new(header: String, place: Location, settings: Vec<JobOption>, policy: Policy) -> Self {
        Self { header, place, settings, policy }
    }

    /// Its header, from which file names are made.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The name under which it is reported: its header, or its own option `name`. As in fio
    /// (`get_new_job` in init.c), one from a `[global]` section has no effect.
    pub fn name(&self) -> &str {
        let own = self.settings.iter().rev().find(|s| s.name() == "name" && !s.is_global());
        own.map_or(&self.header, JobOption::value)
    }

    /// What holds for it.
    pub(crate) const fn policy(&self) -> Policy {
        self.policy
    }

    /// Where it begins.
    pub const fn place(&self) -> &Location {
        &self.place
    }

    /// Its options in order, global ones first.
    pub fn settings(&self) -> &[JobOption] {
        &self.settings
    }

    /// Adds an option.
    pub fn push(&mut self, setting: JobOption) {
        self.settings.push(setting);
    }

    /// The setting that holds for the option `name`, not an alias.
    pub fn setting(&self, name: &str) -> Option<&JobOption> {
        self.settings.iter().rev().find(|s| s.name() == name)
    }

    /// The value of an option; `1` where it stands alone.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.setting(name).map(JobOption::value)
    }

    /// Whether an option such as `stonewall` is on.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value != "0")
    }

    /// Where the value of one of these options stands, the first that was
    /// given; else the section.
    pub(crate) fn at(&self, names: &[&str]) -> &Location {
        names.iter().find_map(|n| self.setting(n)).map_or(&self.place, JobOption::value_place)
    }

    fn kb_base(&self) -> KbBase {
        // A wrong value is reported when it is read.
        match self.get("kb_base") {
            Some("1000") => KbBase::Standard,
            _ => KbBase::Compatible,
        }
    }

    /// What every option says.
    pub(crate) fn draft(&self) -> Result<Draft, SourceError> {
        let base = self.kb_base();
        let mut draft = Draft::default();
        for setting in &self.settings {
            let KnownOption::Native(spec) = setting.known else { continue };
            let given = OptionValue { text: setting.value().trim(), base, policy: self.policy };
            if given.text.is_empty() && spec.name != "description" {
                return Err(setting
                    .value_place
                    .error(format!("`{}` needs a value: {}", setting.written, spec.value)));
            }
            (spec.read)(&mut draft, &given).map_err(|why| {
                setting.value_place.error(format!("`{}`: {why}", setting.written))
            })?;
        }
        Ok(draft)
    }

    /// Multiplies sizes and counts by `factor`, and returns what changed, such
    /// as `size 1g → 10m`. Sizes stay multiples of the largest block, and at
    /// least one block for each file.
    ///
    /// # Errors
    /// Where an option is not understood, or cannot be scaled: zones in bytes.
    pub fn scale(&mut self, factor: f64) -> Result<Vec<String>, SourceError> {
        let draft = self.draft()?;
        let block = Bytes(draft.blocks().max());
        let names = draft.file_names.as_ref().map(|names| names.len() as u64);
        let files = names.or(draft.file_count).unwrap_or(1);
        let absolute = |d: &Distribution| {
            let zoned = if let Distribution::Zoned(zones) = d { zones.as_slice() } else { &[] };
            zoned.iter().any(|zone| matches!(zone.size, ZoneSize::Bytes(_)))
        };
        if absolute(&draft.distribution.read) || absolute(&draft.distribution.write) {
            return Err(self.at(&["random_distribution"]).error(
                "zones of so many bytes do not fit files of another size: take `zoned`, whose \
                 zones are percentages, or do not scale this job",
            ));
        }
        let base = self.kb_base();
        let mut changes = Vec::new();
        for setting in &mut self.settings {
            let kind = setting.scaled();
            let least = if setting.name() == "size" { block.saturating_mul(files) } else { block };
            let wrong = |why: NumberError| {
                setting.value_place.error(format!("`{}`: {why}", setting.written))
            };
            let short = |bytes: Bytes| match base {
                KbBase::Compatible => bytes.short(),
                // A plain number means the same with every kb_base.
                KbBase::Standard => bytes.0.to_string(),
            };
            let one = |text: &str| -> Result<String, NumberError> {
                let bytes = Bytes(size(text, base)?);
                Ok(match (kind, bytes) {
                    // Zero means 'from the start', or 'as large as the file'.
                    (_, Bytes(0)) => text.to_owned(),
                    (Scaled::Count, count) => count.scaled(factor, Bytes(1)).0.to_string(),
                    (_, bytes) => short(bytes.scaled(factor, least)),
                })
            };
            let text = setting.value();
            let scaled = match (kind, text.split_once(['-', ':'])) {
                (Scaled::No, _) => continue,
                (_, Some((from, to))) => {
                    format!("{}-{}", one(from).map_err(wrong)?, one(to).map_err(wrong)?)
                }
                (_, None) => one(text).map_err(wrong)?,
            };
            if scaled == text {
                continue;
            }
            let change = format!("{} {} → {scaled}", setting.written, shown(text));
            if !changes.contains(&change) {
                changes.push(change);
            }
            setting.value = Some(scaled);
        }
        Ok(changes)
    }

    /// The options as fio's command line has them. Those of an I/O engine are
    /// known to it only behind `--ioengine`, and `kb_base` holds only for what
    /// follows it there (in a job file, for all), so these go first; so does
    /// `directory`, which `filename` takes as it is by then. There `--name` also
    /// names the files, so the names of a renamed job's files are spelt out.
    pub fn arguments(&self) -> Vec<String> {
        let first = ["ioengine", "kb_base", "directory"];
        let ahead = first.iter().filter_map(|name| self.setting(name));
        let others =
            self.settings.iter().filter(|s| s.name() != "name" && !first.contains(&s.name()));
        let renamed = self.name() != self.header && self.setting("filename").is_none();
        let format = renamed.then(|| {
            let format = self.get("filename_format").unwrap_or(DEFAULT_FORMAT);
            format!("--filename_format={}", format.replace("$jobname", &self.header))
        });
        let others = others.filter(|s| !(renamed && s.name() == "filename_format"));
        // What asks for nothing is what another fio may not know.
        let others = others.filter(|s| !matches!(s.known, KnownOption::Idle(_)));
        std::iter::once(format!("--name={}", self.name()))
            .chain(ahead.chain(others).map(JobOption::argument))
            .chain(format)
            .collect()
    }
}

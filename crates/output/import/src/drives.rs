//! The drives that figures were measured on, if the user names them.

use disklab_drive::{DriveFile, Kind, by_name};
use disklab_sample::DriveState;
use disklab_study::Study;

use crate::ImportError;

/// What a drive of no known model is called, and whether it rotates.
const KINDS: [(&str, &str, bool); 2] = [
    ("hdd", "a hard disk, of which no more is known", true),
    ("ssd", "an SSD, of which no more is known", false),
];

/// Arrays have fewer.
const MOST: usize = 256;

/// The drives that figures were measured on: at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedDrives {
    /// As it was told, such as `hdd:4`.
    pub text: String,
    states: Vec<DriveState>,
}

impl ImportedDrives {
    /// Reads `KIND[:N],…`, where a kind is `hdd`, `ssd` or a drive model, such as
    /// `hdd:4` or `hgst-10tb:2`.
    ///
    /// # Errors
    /// Where a kind is not known, or there are none or more than 256 of it.
    pub fn parse(text: &str) -> Result<Self, ImportError> {
        let mut states = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (name, count) = part.split_once(':').unwrap_or((part, "1"));
            let count = count.trim().parse().ok().filter(|n| (1..=MOST).contains(n));
            let count = count
                .ok_or_else(|| ImportError::DriveCount { part: part.to_owned(), most: MOST })?;
            let one = kind(name.trim()).ok_or_else(|| ImportError::DriveKind {
                name: name.to_owned(),
                kinds: KINDS.iter().map(|(name, ..)| *name).collect(),
                models: disklab_drive::SHIPPED.iter().map(|(id, _)| *id).collect(),
            })?;
            states.extend(std::iter::repeat_n(one, count));
        }
        Ok(Self { text: text.to_owned(), states: numbered(states) })
    }

    /// The drives, as samples carry them.
    pub(crate) fn states(&self) -> Vec<DriveState> {
        self.states.clone()
    }
}

/// The drives of a study's stack; those whose model is not known make it none.
pub(crate) fn of_stack(study: &Study, stack: &str) -> Vec<DriveState> {
    let Some(index) = study.stack_index(stack) else { return Vec::new() };
    let specs = study.stacks[index].drives.iter().map(|at| study.drives.get(*at));
    let states: Option<Vec<DriveState>> = specs.map(|spec| kind(&spec?.model)).collect();
    numbered(states.unwrap_or_default())
}

fn kind(name: &str) -> Option<DriveState> {
    let lower = name.to_lowercase();
    let plain =
        KINDS.iter().find(|(kind, ..)| *kind == lower).map(|(_, model, rotates)| DriveState {
            model: Some((*model).to_owned()),
            rotational: Some(*rotates),
            ..DriveState::default()
        });
    plain.or_else(|| by_name(name).map(|file| state(&file)))
}

fn state(file: &DriveFile) -> DriveState {
    let link = match &file.kind {
        Kind::Hdd(disk) => Some(disk.link_rate),
        Kind::Ssd(drive) => Some(drive.interface.link_rate),
        Kind::Smr(_) => None,
    };
    DriveState {
        model: Some(file.name.clone()),
        rotational: Some(!matches!(file.kind, Kind::Ssd(_))),
        link_bytes_per_second: link,
        ..DriveState::default()
    }
}

/// With a name each, by which they are told apart.
fn numbered(states: Vec<DriveState>) -> Vec<DriveState> {
    let named = states
        .into_iter()
        .enumerate()
        .map(|(at, state)| DriveState { drive: format!("drive-{}", at + 1), ..state });
    named.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn kinds_and_models_are_read() {
        let drives = ImportedDrives::parse("hdd:3, nvme").expect("valid").states();
        assert_eq!(drives.len(), 4);
        assert_eq!((drives[0].rotational, drives[3].rotational), (Some(true), Some(false)));
        assert_eq!(drives[3].model.as_deref(), Some("Samsung 970 PRO 512 GB"));
        assert_eq!(drives[1].drive, "drive-2");
        let links = ["870-evo", "hdd"].map(|name| kind(name).expect("known").link_bytes_per_second);
        assert_eq!(links, [Some(550e6), None], "what SATA carries of 6 Gb/s, and nothing known");
    }

    #[test]
    fn invalid_drives_are_refused_with_a_hint() {
        for (text, expected) in [
            ("", "unknown kind of drive ''"),
            ("hd", "(did you mean 'hdd'?)"),
            ("hdd:0", "'hdd:0': expected 1 to 256 drives"),
            ("hdd:many", "expected 1 to 256 drives"),
            ("hdd:4,", "unknown kind of drive ''"),
        ] {
            let error = ImportedDrives::parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\PC|hdd|:|,|[0-9]){0,20}") {
            if let Ok(drives) = ImportedDrives::parse(&text) {
                prop_assert!(!drives.states().is_empty());
            }
        }
    }
}

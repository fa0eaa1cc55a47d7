//! The studies that come with disklab, and those in files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use disklab_exec::{LARGEST_TEXT, read_input};
use disklab_source::SourceError;
use disklab_study::{Study, load};

/// The shipped studies: one line each.
pub const SHIPPED_STUDIES: &[(&str, &str)] = &[
    ("first-look", include_str!("../../../../studies/first-look.toml")),
    ("nas", include_str!("../../../../studies/nas.toml")),
    ("share", include_str!("../../../../studies/share.toml")),
    ("rot", include_str!("../../../../studies/rot.toml")),
    ("bad-sectors", include_str!("../../../../studies/bad-sectors.toml")),
    ("nas-life", include_str!("../../../../studies/nas-life.toml")),
    ("synology-2018", include_str!("../../../../studies/synology-2018.toml")),
    ("xpenology-2023", include_str!("../../../../studies/xpenology-2023.toml")),
    ("btrfs-raid1", include_str!("../../../../studies/btrfs-raid1.toml")),
    ("qiita-2014", include_str!("../../../../studies/qiita-2014.toml")),
    ("smr-2015", include_str!("../../../../studies/smr-2015.toml")),
];

/// A study, and the directory its own files are looked for in.
#[derive(Debug, Clone)]
pub struct FoundStudy {
    /// Read and checked.
    pub study: Study,
    /// Where files that the study names are looked for.
    pub directory: PathBuf,
}

/// Whether a study of this file name is a shipped one.
pub fn is_shipped(file: &str) -> bool {
    SHIPPED_STUDIES.iter().any(|(id, _)| file == file_name(id))
}

/// Whether a name is that of a study that exists: a shipped one, or a file.
pub fn is_study(name: &str) -> bool {
    SHIPPED_STUDIES.iter().any(|(id, _)| *id == name) || Path::new(name).is_file()
}

fn file_name(id: &str) -> String {
    format!("studies/{id}.toml")
}

/// Why a name leads to no study.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// It is neither a shipped study nor a file that can be read.
    #[error("cannot read the study '{name}': {source}; expected a file, or one of {}", known())]
    Unreadable {
        /// What was given in place of a study.
        name: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is too large to be one.
    #[error("'{name}' is not a study, which has at most {LARGEST_TEXT} bytes")]
    TooLarge {
        /// The file.
        name: String,
    },
    /// The file is not text.
    #[error("'{name}' is not a study: it is not UTF-8 text")]
    NotText {
        /// The file.
        name: String,
    },
    /// The study is wrong.
    #[error(transparent)]
    Invalid(#[from] SourceError),
}

fn known() -> String {
    SHIPPED_STUDIES.iter().map(|(id, _)| *id).collect::<Vec<_>>().join(", ")
}

/// Finds a study: a shipped one by its id, any other by its file.
///
/// # Errors
/// [`StudyError`] if there is none, or it is wrong.
pub fn find_study(name: &str) -> Result<FoundStudy, StudyError> {
    if let Some((id, text)) = SHIPPED_STUDIES.iter().find(|(id, _)| *id == name) {
        let study = load(&file_name(id), text)?;
        return Ok(FoundStudy { study, directory: PathBuf::from(".") });
    }
    let path = Path::new(name);
    let bytes = read_input(path, LARGEST_TEXT).map_err(|source| match source.kind() {
        ErrorKind::FileTooLarge => StudyError::TooLarge { name: name.to_owned() },
        _ => StudyError::Unreadable { name: name.to_owned(), source },
    })?;
    let text =
        String::from_utf8(bytes).map_err(|_| StudyError::NotText { name: name.to_owned() })?;
    let study = load(name, &text)?;
    let directory = path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    Ok(FoundStudy { study, directory })
}

/// A study's own files lie next to it. A shipped study has none, and its file's name is
/// no path of this machine.
pub(crate) fn study_directory(file: &str) -> PathBuf {
    if is_shipped(file) && !Path::new(file).exists() {
        return PathBuf::from(".");
    }
    Path::new(file).parent().map_or_else(|| PathBuf::from("."), Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::too_little::too_little;

    #[test]
    fn every_shipped_study_is_understood_and_named_after_its_file() {
        for (id, _) in SHIPPED_STUDIES {
            let found = find_study(id).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(found.study.id, *id);
            let context = disklab_workload::Context::new(1.0, found.directory);
            disklab_bench::LoadedStudy::new(found.study, &context)
                .unwrap_or_else(|e| panic!("{e}"));
        }
    }

    /// A drive's memory by the data sheet of the Deskstar NAS 10 TB, which both studies have.
    const DRIVE_MEMORY: u64 = 256 << 20;

    /// What of a study rests on too little work for an answer.
    fn below_floors(study: Study, scale: f64) -> Vec<String> {
        let context = disklab_workload::Context::new(scale, ".");
        let campaign =
            disklab_bench::LoadedStudy::new(study, &context).unwrap_or_else(|e| panic!("{e}"));
        let mut found = Vec::new();
        for (spec, workload) in campaign.study.workloads.iter().zip(&campaign.workloads) {
            for (step, below) in too_little(&spec.id, workload.as_ref(), Some(DRIVE_MEMORY)) {
                found.push(format!("{} {step}: {below}", spec.id));
            }
        }
        found
    }

    fn study(id: &str) -> Study {
        find_study(id).unwrap_or_else(|e| panic!("{e}")).study
    }

    #[test]
    fn sizes_of_quick_studies_lie_above_the_floors() {
        let none: [&str; 0] = [];
        assert_eq!(below_floors(study("first-look"), 1.0), none);
        assert_eq!(below_floors(study("nas"), 1.0), none);
        let quick = study("nas").into_quick_form().expect("it has one");
        assert_eq!(below_floors(quick, 1.0), none);
        // The scale by which ext4 was 11 times as fast as XFS.
        let scaled = below_floors(study("nas"), 1.0 / 64.0).join("; ");
        for workload in ["small-files cp: 63 files", "vm-image read: 32 MiB of files"] {
            assert!(scaled.contains(workload), "{scaled}");
        }
    }

    #[test]
    fn nas_overwrites_only_prewritten_data() {
        // ZFS stores a record that was never written, but for one page, in a fraction of its
        // size, and rewrites a full one as a whole.
        for study in [study("nas"), study("nas").into_quick_form().expect("it has one")] {
            let context = disklab_workload::Context::new(1.0, ".");
            let campaign =
                disklab_bench::LoadedStudy::new(study, &context).unwrap_or_else(|e| panic!("{e}"));
            let costs = campaign.workloads.iter().map(|workload| workload.cost());
            let random: Vec<_> = costs.filter(|cost| cost.random_write.0 > 0).collect();
            assert_eq!(random.len(), 3, "vm-image, sqlite and postgresql");
            let images: Vec<_> = random.iter().filter(|cost| cost.prewrite == cost.space).collect();
            assert_eq!(images.len(), 1, "vm-image: {random:?}");
        }
    }

    #[test]
    fn every_quick_form_is_understood() {
        let quick: Vec<&str> = SHIPPED_STUDIES
            .iter()
            .map(|(id, _)| *id)
            .filter(|id| study(id).has_quick_form())
            .collect();
        assert_eq!(quick, ["nas"]);
        for id in quick {
            let found = find_study(id).unwrap_or_else(|e| panic!("{e}"));
            let study = found.study.into_quick_form().expect("it has one");
            let context = disklab_workload::Context::new(1.0, found.directory);
            disklab_bench::LoadedStudy::new(study, &context).unwrap_or_else(|e| panic!("{e}"));
        }
    }

    #[test]
    fn every_study_of_the_directory_is_shipped() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../studies");
        let mut files: Vec<_> = std::fs::read_dir(directory)
            .expect("studies/")
            .flatten()
            .filter_map(|e| e.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        let mut shipped: Vec<_> = SHIPPED_STUDIES.iter().map(|(id, _)| (*id).to_owned()).collect();
        shipped.sort();
        assert_eq!(files, shipped);
    }
}

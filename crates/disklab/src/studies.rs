//! The studies that come with disklab, and those in files.

use std::path::{Path, PathBuf};

use disklab_study::{Study, load};

use crate::exit::Failure;

/// The shipped studies: one line each.
pub const SHIPPED: &[(&str, &str)] = &[
    ("first-look", include_str!("../../../studies/first-look.toml")),
    ("nas", include_str!("../../../studies/nas.toml")),
    ("nas-life", include_str!("../../../studies/nas-life.toml")),
    ("synology-2018", include_str!("../../../studies/synology-2018.toml")),
    ("xpenology-2023", include_str!("../../../studies/xpenology-2023.toml")),
    ("btrfs-raid1", include_str!("../../../studies/btrfs-raid1.toml")),
    ("qiita-2014", include_str!("../../../studies/qiita-2014.toml")),
    ("smr-2015", include_str!("../../../studies/smr-2015.toml")),
];

/// A study larger than this is none.
const LARGEST: u64 = 4 << 20;

/// A study, and the folder its own files are looked for in.
pub struct Found {
    pub study: Study,
    pub folder: PathBuf,
}

/// Whether a study of this file name is a shipped one.
pub fn is_shipped(file: &str) -> bool {
    SHIPPED.iter().any(|(id, _)| file == file_name(id))
}

/// Whether a name is that of a study that exists: a shipped one, or a file.
pub fn is_study(name: &str) -> bool {
    SHIPPED.iter().any(|(id, _)| *id == name) || Path::new(name).is_file()
}

fn file_name(id: &str) -> String {
    format!("studies/{id}.toml")
}

/// Finds a study: a shipped one by its id, any other by its file.
pub fn find(name: &str) -> Result<Found, Failure> {
    if let Some((id, text)) = SHIPPED.iter().find(|(id, _)| *id == name) {
        let study = load(&file_name(id), text).map_err(Failure::usage_error)?;
        return Ok(Found { study, folder: PathBuf::from(".") });
    }
    let path = Path::new(name);
    let cannot = |e: std::io::Error| {
        let known: Vec<_> = SHIPPED.iter().map(|(id, _)| *id).collect();
        Failure::usage_error(format!(
            "cannot read the study '{name}': {e}; expected a file, or one of {}",
            known.join(", ")
        ))
    };
    let length = path.metadata().map_err(cannot)?.len();
    if length > LARGEST {
        return Err(Failure::usage_error(format!(
            "'{name}' is no study: it has {length} bytes, and a study has at most {LARGEST}"
        )));
    }
    let bytes = std::fs::read(path).map_err(cannot)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage_error(format!("'{name}' is no study: it is not UTF-8 text")))?;
    let study = load(name, &text).map_err(Failure::usage_error)?;
    let folder = path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    Ok(Found { study, folder })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_study_is_understood_and_named_after_its_file() {
        for (id, _) in SHIPPED {
            let found = find(id).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(found.study.id, *id);
            let context = disklab_workload::Context { scale: 1.0, folder: found.folder };
            disklab_bench::Campaign::new(found.study, &context).unwrap_or_else(|e| panic!("{e}"));
        }
    }

    #[test]
    fn every_study_of_the_folder_is_shipped() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .expect("studies/")
            .flatten()
            .filter_map(|e| e.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        let mut shipped: Vec<_> = SHIPPED.iter().map(|(id, _)| (*id).to_owned()).collect();
        shipped.sort();
        assert_eq!(files, shipped);
    }
}

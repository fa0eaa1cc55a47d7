//! The drives of a session: `--drives MODEL:COUNT:SIZE`.

use std::path::Path;

use crate::exit::exit_codes;
use disklab_bench::{ModelError, SerialNumbers, find_model};
use disklab_drive::{DriveFile, SizeError};
use disklab_study::{DriveRequest, DriveRequestError};
use disklab_units::Bytes;

/// virtio_blk's minor numbers and the greeting end somewhere.
const MOST_DRIVES: usize = 26;

#[derive(Debug, Clone, PartialEq)]
pub struct SessionDrive {
    /// What it is.
    pub model: DriveFile,
    /// Its serial number.
    pub serial: String,
}

impl SessionDrive {
    /// The name that udev would give it.
    pub fn link(&self) -> String {
        format!("/dev/disk/by-id/virtio-{}", self.serial)
    }
}

/// The drives that the user asked for, in his order.
///
/// # Errors
/// [`SessionDrivesError`] if a model is not known, or a count or size is not one.
pub fn drives(asked: &[String]) -> Result<Vec<SessionDrive>, SessionDrivesError> {
    let mut all = Vec::new();
    let mut serials = SerialNumbers::default();
    for text in asked {
        let models = parse(text)
            .map_err(|problem| SessionDrivesError::Value { text: text.clone(), problem })?;
        for (model, count) in models {
            if all.len() + count > MOST_DRIVES {
                return Err(SessionDrivesError::TooMany);
            }
            for _ in 0..count {
                all.push(SessionDrive { model: model.clone(), serial: serials.next(&model.id) });
            }
        }
    }
    Ok(all)
}

/// `hgst-10tb`, `hgst-10tb:4`, `hgst-10tb:4:500GB`, `./my.toml:2`, or several with commas.
fn parse(text: &str) -> Result<Vec<(DriveFile, usize)>, DriveValueProblem> {
    DriveRequest::parse_all(text, MOST_DRIVES as u64)?.iter().map(found).collect()
}

fn found(request: &DriveRequest) -> Result<(DriveFile, usize), DriveValueProblem> {
    let file = find_model(&request.model, Path::new(""))?;
    let count = request.count as usize;
    let Some(size) = request.size else { return Ok((file, count)) };
    let (_, sector) = file.sector_sizes();
    Ok((file.limited_to(size.round_down(Bytes(sector)).0)?, count))
}

/// Why a session has no drives.
#[derive(Debug, thiserror::Error)]
pub enum SessionDrivesError {
    /// There are more than a guest has names for.
    #[error("--drives: more than {MOST_DRIVES} drives")]
    TooMany,
    /// A value of the option is wrong.
    #[error("--drives {text}: {problem}")]
    Value {
        /// The value.
        text: String,
        /// What is wrong with it.
        #[source]
        problem: DriveValueProblem,
    },
}

exit_codes! { SessionDrivesError => USAGE_ERROR, }

/// What is wrong with a value of `--drives`.
#[derive(Debug, thiserror::Error)]
pub enum DriveValueProblem {
    /// It is not of the form.
    #[error(transparent)]
    Form(#[from] DriveRequestError),
    /// The model is not known, or its file is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model does not come in this size.
    #[error(transparent)]
    Unavailable(#[from] SizeError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use disklab_drive::SHIPPED;
    use std::collections::BTreeSet;

    fn of(asked: &[&str]) -> Result<Vec<SessionDrive>, SessionDrivesError> {
        drives(&asked.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn models_counts_and_sizes_are_understood() {
        let all = of(&["hgst-10tb:4,st3500418as", "HDN721010ALE604:2:500GB"]).expect("drives");
        assert_eq!(all.len(), 7);
        assert_eq!(all[0].model.id, "hdn721010ale604");
        assert_eq!(all[0].model.capacity(), 10_000_831_348_736);
        assert_eq!(all[6].model.capacity(), 500_000_000_000 / 4096 * 4096);
        let serials: BTreeSet<&str> = all.iter().map(|d| d.serial.as_str()).collect();
        assert_eq!(serials.len(), 7, "{serials:?}");
        assert!(serials.iter().all(|s| s.len() <= 20), "{serials:?}");
        assert_eq!(all[0].link(), "/dev/disk/by-id/virtio-HDN721010ALE604-01");
    }

    #[test]
    fn invalid_drive_arguments_are_reported() {
        for (text, expected) in [
            ("hgst-10tv", "did you mean 'hgst-10tb'"),
            ("floppy", "`disklab list drives` names all"),
            ("", "expected MODEL, MODEL:COUNT"),
            ("hgst-10tb:0", "invalid count '0': expected 1 to 26"),
            ("hgst-10tb:x", "invalid count 'x'"),
            ("hgst-10tb:27", "invalid count '27': expected 1 to 26"),
            ("hgst-10tb:2:big", "is not a size"),
            ("hgst-10tb:2:20TB", "cannot show 20 TB"),
            ("hgst-10tb:2:1TB:3", "expected MODEL, MODEL:COUNT"),
            ("./no/such.toml", "cannot read the drive file './no/such.toml'"),
            ("/dev/null.toml", "cannot read"),
        ] {
            let error = of(&[text]).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.starts_with("--drives "), "{error}");
        }
        let many = of(&["hgst-10tb:20", "hgst-10tb:20"]);
        assert!(matches!(many, Err(SessionDrivesError::TooMany)), "{many:?}");
    }

    #[test]
    fn a_drive_file_is_read() {
        let directory = tempfile::tempdir().expect("temp");
        let path = directory.path().join("mine.toml");
        let text = SHIPPED[0].1.replace("hdn721010ale604", "my-very-own-drive-of-2026");
        std::fs::write(&path, text).expect("written");
        let all = of(&[&format!("{}:2", path.display())]).expect("drives");
        assert_eq!(all[1].serial, "MYVERYOWNDRIVEOF-02");
    }
}

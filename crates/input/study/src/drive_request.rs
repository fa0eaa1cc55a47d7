//! Drives as a command line names them: `wd-red-pro-22tb:6`, `hgst-10tb:2,mg08-16tb:2`.

use std::fmt;
use std::str::FromStr;

use disklab_source::FileName;
use disklab_units::{Bytes, ParseBytesError};

use crate::DriveSpec;
use crate::drive_spec::name_of_model;
use crate::limits::{DRIVE_SIZES, MOST_DRIVES};
use crate::model_sizes::model_size;

/// So many drives of a model, perhaps smaller than it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveRequest {
    /// A model's id, another name of it, or a drive file.
    pub model: String,
    /// How many.
    pub count: u64,
    /// Their size, if it is not the model's.
    pub size: Option<Bytes>,
}

/// A text names no drives.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DriveRequestError {
    /// It has more parts, or no model.
    #[error("expected MODEL, MODEL:COUNT or MODEL:COUNT:SIZE, several of them with commas between")]
    Form,
    /// The count is not one.
    #[error("invalid count '{text}': expected 1 to {most}")]
    Count {
        /// As it was given.
        text: String,
        /// How many there may be.
        most: u64,
    },
    /// The size is not one.
    #[error(transparent)]
    Size(#[from] ParseBytesError),
}

impl DriveRequest {
    /// What a text with commas names, with at most so many drives of a model.
    ///
    /// # Errors
    /// [`DriveRequestError`] for the first that is wrong.
    pub fn parse_all(text: &str, most: u64) -> Result<Vec<Self>, DriveRequestError> {
        text.split(',').map(|one| Self::parse(one.trim(), most)).collect()
    }

    fn parse(text: &str, most: u64) -> Result<Self, DriveRequestError> {
        let mut parts = text.split(':');
        let model = parts.next().unwrap_or_default().trim().to_owned();
        let (count, size) = (parts.next(), parts.next());
        if parts.next().is_some() || model.is_empty() || model.chars().any(char::is_control) {
            return Err(DriveRequestError::Form);
        }
        let wrong = |text: &str| DriveRequestError::Count { text: text.to_owned(), most };
        let count = count.map_or(Ok(1), |count| {
            count.trim().parse().ok().filter(|n| (1..=most).contains(n)).ok_or_else(|| wrong(count))
        })?;
        Ok(Self { model, count, size: size.map(str::parse::<Bytes>).transpose()? })
    }

    /// Their size; none of a drive file's model whose size was not given.
    pub fn size(&self) -> Option<Bytes> {
        self.size.or_else(|| model_size(&self.model))
    }
}

impl fmt::Display for DriveRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.model, self.count)?;
        self.size.map_or(Ok(()), |size| write!(f, ":{}", size.short()))
    }
}

/// The drives of a run in place of its study's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriveRequests(pub Vec<DriveRequest>);

impl FromStr for DriveRequests {
    type Err = DriveRequestError;

    fn from_str(text: &str) -> Result<Self, DriveRequestError> {
        DriveRequest::parse_all(text, MOST_DRIVES).map(Self)
    }
}

impl fmt::Display for DriveRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&all.join(","))
    }
}

impl DriveRequests {
    /// `6 × wd-red-pro-22tb`, for a sentence.
    pub fn words(&self) -> String {
        let one = |request: &DriveRequest| {
            let size = request.size.map_or_else(String::new, |size| format!(" ({})", size.si()));
            format!("{} × {}{size}", request.count, request.model)
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// A study's title with them.
    pub(crate) fn title(&self, of_study: &str) -> String {
        format!("{of_study} ({})", self.words())
    }

    /// The drives, each with a name of its own.
    pub(crate) fn drives(&self) -> Result<Vec<DriveSpec>, String> {
        let mut drives: Vec<DriveSpec> = Vec::new();
        for request in &self.0 {
            let size = request.size().ok_or_else(|| {
                format!("--drives {request}: this model has no known size; give MODEL:COUNT:SIZE")
            })?;
            if !DRIVE_SIZES.contains(&size) {
                return Err(format!("--drives {request}: expected a size of 16 MiB to 100 TB"));
            }
            if drives.len() as u64 + request.count > MOST_DRIVES {
                return Err(format!("--drives: expected at most {MOST_DRIVES} drives"));
            }
            let base = name_of_model(&request.model);
            // The second time that a model is named its numbers continue.
            let first = 1 + drives.iter().filter(|d| d.model == request.model).count() as u64;
            for number in first..first + request.count {
                let name = FileName::new(&format!("{base}-{number}"))
                    .map_err(|why| format!("--drives {request}: {why}"))?;
                if drives.iter().any(|drive| drive.name == name) {
                    return Err(format!("--drives {request}: there is a drive '{name}' already"));
                }
                drives.push(DriveSpec {
                    name,
                    model: request.model.clone(),
                    size,
                    set: Vec::new(),
                });
            }
        }
        Ok(drives)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn drives_are_named_with_count_and_size() {
        let all: DriveRequests = "wd-red-pro-22tb:2, hgst-10tb:1:5TB".parse().expect("drives");
        assert_eq!(all.words(), "2 × wd-red-pro-22tb, 1 × hgst-10tb (5 TB)");
        let drives = all.drives().expect("sizes");
        let names: Vec<&str> = drives.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["wd-red-pro-22tb-1", "wd-red-pro-22tb-2", "hgst-10tb-1"]);
        assert_eq!(drives[0].size, Bytes(22_000_969_973_760));
        assert_eq!(drives[2].size, Bytes(5_000_000_000_000));
    }

    #[test]
    fn wrong_drives_are_refused() {
        for text in ["a:0", "a:x", "a:1025", "a:1:big", "a:1:1TB:2", "a:\u{1}", "b,a:-1"] {
            assert!(text.parse::<DriveRequests>().is_err(), "{text}");
        }
        for text in ["no-such-drive:2", "hgst-10tb:1000,hgst-10tb:1000", "hgst-10tb:1:1k"] {
            let all: DriveRequests = text.parse().expect("a form");
            assert!(all.drives().expect_err(text).starts_with("--drives"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered_and_read_back(text in "[a-z0-9:,. TB-]{0,24}|\\PC{0,12}") {
            if let Ok(all) = text.parse::<DriveRequests>() {
                prop_assert_eq!(all.to_string().parse::<DriveRequests>(), Ok(all.clone()));
                let _ = all.drives();
            }
        }
    }
}

//! The value of `--on`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a study runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum On {
    /// Modelled drives under a kernel in virtual time.
    Lab,
    /// Files of this machine as disks.
    Loop,
    /// A mounted directory.
    Dir(PathBuf),
    /// Real disks, by their stable names.
    Disks(Vec<String>),
}

impl FromStr for On {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "lab" => Ok(Self::Lab),
            None if text == "loop" => Ok(Self::Loop),
            Some(("dir", path)) if !path.is_empty() => Ok(Self::Dir(PathBuf::from(path))),
            Some(("disks", names)) if !names.is_empty() => {
                Ok(Self::Disks(names.split(',').map(|n| n.trim().to_owned()).collect()))
            }
            _ => Err("expected lab, loop, dir:PATH or disks:/dev/disk/by-id/…,…".to_owned()),
        }
    }
}

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lab => f.write_str("lab"),
            Self::Loop => f.write_str("loop"),
            Self::Dir(path) => write!(f, "dir:{}", path.display()),
            Self::Disks(names) => write!(f, "disks:{}", names.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::On;

    #[test]
    fn benches_are_read_and_shown() {
        for text in ["lab", "loop", "dir:/srv/x:y", "disks:/dev/disk/by-id/a,/dev/disk/by-id/b"] {
            assert_eq!(text.parse::<On>().expect(text).to_string(), text);
        }
        for text in ["", "dir", "dir:", "disks:", "lab:", "floppy:x"] {
            assert!(text.parse::<On>().is_err(), "{text}");
        }
    }
}

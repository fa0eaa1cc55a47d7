//! Which bench a study runs on.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a study runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum BenchKind {
    /// Modelled drives under a kernel in virtual time.
    #[default]
    Lab,
    /// Files of this machine as disks.
    Loop,
    /// A mounted directory.
    Dir(PathBuf),
    /// Real disks, by their stable names.
    Disks(Vec<String>),
}

/// A text names no bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected lab, loop, dir:PATH or disks:/dev/disk/by-id/…,…")]
pub struct UnknownBench;

impl FromStr for BenchKind {
    type Err = UnknownBench;

    fn from_str(text: &str) -> Result<Self, UnknownBench> {
        match text.split_once(':') {
            None if text == "lab" => Ok(Self::Lab),
            None if text == "loop" => Ok(Self::Loop),
            Some(("dir", path)) if !path.is_empty() => Ok(Self::Dir(PathBuf::from(path))),
            Some(("disks", names)) if !names.is_empty() => {
                Ok(Self::Disks(names.split(',').map(str::to_owned).collect()))
            }
            _ => Err(UnknownBench),
        }
    }
}

impl fmt::Display for BenchKind {
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
    use super::BenchKind;

    #[test]
    fn benches_are_read_and_shown() {
        let disks = "disks:/dev/disk/by-id/a,/dev/disk/by-id/b";
        // A space is part of a name: without it, that is another drive's.
        for text in ["lab", "loop", "dir:/srv/x:y", disks, "disks:/dev/x , /dev/y"] {
            assert_eq!(text.parse::<BenchKind>().expect(text).to_string(), text);
        }
        for text in ["", "dir", "dir:", "disks:", "lab:", "floppy:x"] {
            assert_eq!(text.parse::<BenchKind>(), Err(super::UnknownBench), "{text}");
        }
    }
}

//! The drives of a session: `--drives MODEL:COUNT:SIZE`.

use std::path::Path;

use disklab_bench::{SerialNumbers, find_model};
use disklab_drive::DriveFile;
use disklab_units::Bytes;

/// virtio_blk's minor numbers and the greeting end somewhere.
const MOST_DRIVES: usize = 26;

/// A drive of the session.
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
/// Where a model is not known, or a count or size is none.
pub fn drives(asked: &[String]) -> Result<Vec<SessionDrive>, String> {
    let mut all = Vec::new();
    let mut serials = SerialNumbers::default();
    for text in asked {
        let (model, count) = parse(text)?;
        if all.len() + count > MOST_DRIVES {
            return Err(format!("--drives: more than {MOST_DRIVES} drives"));
        }
        for _ in 0..count {
            all.push(SessionDrive { model: model.clone(), serial: serials.next(&model.id) });
        }
    }
    Ok(all)
}

/// `hgst-10tb`, `hgst-10tb:4`, `hgst-10tb:4:500GB`, `./my.toml:2`.
fn parse(text: &str) -> Result<(DriveFile, usize), String> {
    let wrong = |what: String| format!("--drives {text}: {what}");
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let (count, size) = (parts.next(), parts.next());
    if parts.next().is_some() {
        return Err(wrong("expected MODEL, MODEL:COUNT or MODEL:COUNT:SIZE".to_owned()));
    }
    let file = find_model(name, Path::new("")).map_err(|e| wrong(e.to_string()))?;
    let count = match count {
        None => 1,
        Some(count) => {
            let wrong = || wrong(format!("invalid count '{count}': expected 1 to {MOST_DRIVES}"));
            count.parse().ok().filter(|n| (1..=MOST_DRIVES).contains(n)).ok_or_else(wrong)?
        }
    };
    let Some(size) = size else { return Ok((file, count)) };
    let size: Bytes = size.parse().map_err(|e| wrong(format!("{e}")))?;
    let (_, sector) = file.sector_sizes();
    let file =
        file.limited_to(size.round_down(Bytes(sector)).0).map_err(|e| wrong(e.to_string()))?;
    Ok((file, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use disklab_drive::SHIPPED;
    use std::collections::BTreeSet;

    fn of(asked: &[&str]) -> Result<Vec<SessionDrive>, String> {
        drives(&asked.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn models_counts_and_sizes_are_understood() {
        let all = of(&["hgst-10tb:4", "st3500418as", "HDN721010ALE604:2:500GB"]).expect("drives");
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
    fn what_is_wrong_is_reported() {
        for (text, expected) in [
            ("hgst-10tv", "did you mean 'hgst-10tb'"),
            ("floppy", "`disklab list drives` names all"),
            ("", "unknown drive model"),
            ("hgst-10tb:0", "invalid count '0': expected 1 to 26"),
            ("hgst-10tb:x", "invalid count 'x'"),
            ("hgst-10tb:27", "invalid count '27': expected 1 to 26"),
            ("hgst-10tb:2:big", "is not a size"),
            ("hgst-10tb:2:20TB", "cannot show 20 TB"),
            ("hgst-10tb:2:1TB:3", "expected MODEL, MODEL:COUNT"),
            ("./no/such.toml", "cannot read the drive file './no/such.toml'"),
            ("/dev/null.toml", "cannot read"),
        ] {
            let error = of(&[text]).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.starts_with("--drives "), "{error}");
        }
        assert!(of(&["hgst-10tb:20", "hgst-10tb:20"]).expect_err("many").contains("more than 26"));
    }

    #[test]
    fn a_drive_file_is_read() {
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().join("mine.toml");
        let text = SHIPPED[0].1.replace("hdn721010ale604", "my-very-own-drive-of-2026");
        std::fs::write(&path, text).expect("written");
        let all = of(&[&format!("{}:2", path.display())]).expect("drives");
        assert_eq!(all[1].serial, "MYVERYOWNDRIVEOF-02");
    }
}

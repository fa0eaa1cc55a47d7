//! Signatures on a device or in a file, and whether they are ours.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use disklab_exec::{Executor, Invocation};
use serde::Deserialize;

use super::super::{Marks, Obstacle, TeardownContext};
use crate::StackError;
use crate::blkid::probe;

/// What `wipefs --no-act --json` prints.
#[derive(Debug, Default, Deserialize)]
struct Listing {
    #[serde(default)]
    signatures: Vec<BlkidSignature>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct BlkidSignature {
    /// Where it is, in hexadecimal.
    #[serde(default)]
    offset: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub uuid: Option<String>,
    pub label: Option<String>,
}

impl BlkidSignature {
    pub(super) fn obstacle(self, on: &Path) -> Obstacle {
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        Obstacle::Signature {
            on: on.to_owned(),
            kind: self.kind,
            uuid: some(self.uuid),
            label: some(self.label),
        }
    }

    /// Of a file system or a member of something.
    pub(super) fn new(kind: String, uuid: Option<String>, label: Option<String>) -> Self {
        Self { kind, uuid, label, ..Self::default() }
    }

    /// Whether it is one of disklab's, apart from partition tables.
    pub(super) fn is_own(&self, on: &Path, marks: &Marks) -> bool {
        match self.kind.as_str() {
            "DM_integrity" => marks.has_integrity_on(on),
            _ => {
                self.uuid.as_deref().is_some_and(|uuid| marks.has(uuid))
                    || self.label.as_deref().is_some_and(|label| marks.has_word_of(label))
            }
        }
    }
}

/// The signatures on `path`. A protective MBR is none: it says that there is a GPT,
/// which is listed itself.
///
/// # Errors
/// [`StackError`] if wipefs cannot be run: the caller leaves the device alone then.
pub(super) fn signatures(
    path: &Path,
    executor: &Executor,
) -> Result<Vec<BlkidSignature>, StackError> {
    let list = Invocation::new("wipefs").args(["--no-act", "--json"]).arg(path).uninterruptible();
    let text = executor.check(&list).map_err(failed)?.text();
    // It prints nothing if there is none.
    let listing = if text.trim().is_empty() {
        Listing::default()
    } else {
        serde_json::from_str(&text).map_err(|source| StackError::OutputJson {
            command: format!("wipefs --no-act --json {}", path.display()),
            source,
        })?
    };
    let mut found = listing.signatures;
    found.retain(|signature| signature.kind != "PMBR");
    // wipefs tells no UUID of a partition table.
    for table in &mut found {
        match table.kind.as_str() {
            "gpt" => table.uuid = disk_guid(path, &table.offset),
            "dos" => table.uuid = probe(path, "PTUUID", executor)?,
            _ => {}
        }
    }
    Ok(found)
}

/// Whether a GPT with this GUID, or what is left of one, is on `path`.
///
/// # Errors
/// [`StackError`] if wipefs cannot be run: the caller leaves the device alone then.
pub(crate) fn has_gpt(path: &Path, guid: &str, executor: &Executor) -> Result<bool, StackError> {
    let is_it = |uuid: &str| uuid.eq_ignore_ascii_case(guid);
    let found = signatures(path, executor)?;
    Ok(found.iter().any(|s| s.kind == "gpt" && s.uuid.as_deref().is_some_and(is_it)))
}

/// The GUID in the GPT header at `offset`: blkid tells none of a table of which a
/// program that was killed wrote or wiped only some. UEFI specification 2.10, table
/// 5-5: 16 bytes at 56, of which the first three fields are little-endian.
fn disk_guid(path: &Path, offset: &str) -> Option<String> {
    let offset = u64::from_str_radix(offset.strip_prefix("0x")?, 16).ok()?;
    let mut header = [0; 72];
    File::open(path).ok()?.read_exact_at(&mut header, offset).ok()?;
    let mut guid: [u8; 16] = header.strip_prefix(b"EFI PART")?.get(48..64)?.try_into().ok()?;
    guid[..4].reverse();
    guid[4..6].reverse();
    guid[6..8].reverse();
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let fields = [&guid[..4], &guid[4..6], &guid[6..8], &guid[8..10], &guid[10..]];
    Some(fields.map(hex).join("-"))
}

/// Whether a signature on `path` is ours.
///
/// # Errors
/// [`StackError`] if wipefs cannot be run: the caller leaves the device alone then.
pub(crate) fn has_own(
    path: &Path,
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<bool, StackError> {
    Ok(signatures(path, context.executor)?.iter().any(|signature| signature.is_own(path, marks)))
}

/// The signatures on `path` that are not ours.
///
/// # Errors
/// [`StackError`] if wipefs or blkid cannot be run: the caller leaves the device alone then.
pub(super) fn others(
    path: &Path,
    marks: &Marks,
    executor: &Executor,
) -> Result<Vec<Obstacle>, StackError> {
    let mut found = Vec::new();
    for signature in signatures(path, executor)? {
        if !signature.is_own(path, marks) {
            let obstacle = signature.obstacle(path);
            // Some are there twice, such as a GPT and its copy.
            if !found.contains(&obstacle) {
                found.push(obstacle);
            }
        }
    }
    Ok(found)
}

pub(super) fn failed(source: disklab_exec::ExecError) -> StackError {
    StackError::Program { layer: "inspection of a leftover".to_owned(), source }
}

#[cfg(test)]
mod tests {
    use disklab_exec::find_program;

    use super::*;

    #[test]
    fn half_a_table_is_still_known_by_its_guid() {
        const GUID: &str = "01234567-89ab-4cde-8f01-23456789abcd";
        let Some(missing) = ["sfdisk", "wipefs"].into_iter().find(|p| find_program(p).is_none())
        else {
            return check_half_a_table(GUID);
        };
        eprintln!("skipped: needs {missing}");
    }

    fn check_half_a_table(guid: &str) {
        let directory = tempfile::tempdir().expect("temp");
        let path = directory.path().join("image");
        File::create(&path).and_then(|f| f.set_len(8 << 20)).expect("image");
        let executor = Executor::default();
        let sfdisk = Invocation::new("sfdisk")
            .arg("--quiet")
            .arg(&path)
            .stdin(format!("label: gpt\nlabel-id: {guid}\n,\n"));
        executor.check(&sfdisk).expect("made");
        let mut marks = Marks::default();
        marks.add(guid);
        for offset in ["0x1fe", "0x200"] {
            assert!(has_gpt(&path, guid, &executor).expect("listed"));
            assert_eq!(others(&path, &marks, &executor).expect("listed"), []);
            assert_eq!(others(&path, &Marks::default(), &executor).expect("listed").len(), 1);
            let wipe = Invocation::new("wipefs").args(["--force", "--offset", offset]).arg(&path);
            executor.check(&wipe).expect("wiped");
        }
        assert!(has_gpt(&path, guid, &executor).expect("its copy"));
    }
}

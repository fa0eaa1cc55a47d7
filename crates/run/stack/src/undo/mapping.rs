//! Closing what device-mapper maps onto one device: LUKS and dm-integrity.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, fs};

use disklab_exec::Invocation;
use serde::{Deserialize, Serialize};

use super::{DeviceMapping, Marks, Obstacle, Teardown, TeardownContext, any_is_built_on, inspect};
use crate::StackError;
use crate::blkid::probe;
use crate::udev::{dmsetup, is_block_device, kernel_name};

/// How long a mapping may stay busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// Close a LUKS mapping and remove the header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseCrypt(pub DeviceMapping);

impl CloseCrypt {
    /// As cryptsetup's `dm_prepare_uuid` builds it.
    fn dm_uuid(&self) -> String {
        let digits: String = self.0.uuid.chars().filter(|c| *c != '-').collect();
        format!("CRYPT-LUKS2-{digits}-{}", self.0.name)
    }
}

impl Teardown for CloseCrypt {
    /// Closes a LUKS mapping and removes the header.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let mapping = &self.0;
        let mut done = close(&mapping.name, &self.dm_uuid(), context)?;
        done |= close_temporary(mapping, context)?;
        if !is_block_device(&mapping.device) {
            return Ok(done);
        }
        let header =
            Invocation::new("cryptsetup").arg("luksUUID").arg(&mapping.device).uninterruptible();
        // It fails where there is no header.
        let found = context.executor.run(&header).map_err(|e| failed("crypt", e))?;
        if found.code == 0 && found.text().trim() == mapping.uuid {
            wipe("crypt", &mapping.device, "crypto_LUKS", context)?;
            done = true;
        }
        Ok(done)
    }

    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        obstacles(&self.0, marks, context)
    }

    fn close(&self, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
        close(&self.0.name, &self.dm_uuid(), context).map(|_| ())
    }

    fn marks(&self) -> Vec<String> {
        self.0.marks()
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.0.device]
    }

    fn contains(&self, others: &[&Path]) -> bool {
        any_is_built_on(others, &self.paths())
    }
}

impl fmt::Display for CloseCrypt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Close a dm-integrity mapping and remove the superblock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseIntegrity(pub DeviceMapping);

impl CloseIntegrity {
    fn dm_uuid(&self) -> String {
        format!("CRYPT-INTEGRITY-{}", self.0.name)
    }
}

impl Teardown for CloseIntegrity {
    /// Closes a dm-integrity mapping and removes the superblock. That has no UUID; so it is
    /// removed only while the device's name means what it meant.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let mapping = &self.0;
        let mut done = close(&mapping.name, &self.dm_uuid(), context)?;
        if !mapping.is_same_device() {
            return Ok(done);
        }
        done |= close_temporary(mapping, context)?;
        if is_held(&mapping.device) {
            // By something of another name, which is not ours.
            return Ok(done);
        }
        if probe(&mapping.device, "TYPE", context.executor)?.as_deref() == Some("DM_integrity") {
            wipe("integrity", &mapping.device, "DM_integrity", context)?;
            done = true;
        }
        Ok(done)
    }

    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        obstacles(&self.0, marks, context)
    }

    fn close(&self, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
        close(&self.0.name, &self.dm_uuid(), context).map(|_| ())
    }

    fn marks(&self) -> Vec<String> {
        self.0.marks()
    }

    fn integrity(&self) -> Option<&DeviceMapping> {
        Some(&self.0)
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.0.device]
    }

    fn contains(&self, others: &[&Path]) -> bool {
        any_is_built_on(others, &self.paths())
    }
}

impl fmt::Display for CloseIntegrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is not ours on the mapping, while it is open. The content of one that is
/// closed can be read by nobody who does not have our key or table.
fn obstacles(
    mapping: &DeviceMapping,
    marks: &Marks,
    context: &TeardownContext<'_>,
) -> Result<Vec<Obstacle>, StackError> {
    let node = Path::new("/dev/mapper").join(&mapping.name);
    // A table that is not loaded yet has no node, and no content.
    if is_block_device(&node) { inspect::device(&node, marks, context) } else { Ok(Vec::new()) }
}

/// Closes what the programs mapped for themselves while they formatted, and were
/// killed.
fn close_temporary(
    mapping: &DeviceMapping,
    context: &mut TeardownContext<'_>,
) -> Result<bool, StackError> {
    let mut done = false;
    if mapping.is_same_device() {
        for (name, dm_uuid) in mappings_on(&mapping.device) {
            if name.starts_with("temporary-cryptsetup-") {
                done |= close(&name, &dm_uuid, context)?;
            }
        }
    }
    Ok(done)
}

/// Closes the mapping that has both this name and this UUID. By dmsetup, as
/// cryptsetup and integritysetup refuse to close what has no table yet.
fn close(name: &str, dm_uuid: &str, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
    let began = Instant::now();
    let mut done = false;
    while all_mappings().contains(&(name.to_owned(), dm_uuid.to_owned())) {
        done = true;
        let remove = dmsetup("remove").arg(name).uninterruptible();
        if let Err(source) = context.executor.check(&remove) {
            if began.elapsed() > PATIENCE {
                return Err(failed("device-mapper", source));
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    Ok(done)
}

fn wipe(
    layer: &str,
    device: &Path,
    signature: &str,
    context: &mut TeardownContext<'_>,
) -> Result<(), StackError> {
    let wipefs = Invocation::new("wipefs")
        .args(["--all", "--types", signature])
        .arg(device)
        .uninterruptible();
    context.executor.check(&wipefs).map(|_| ()).map_err(|e| failed(layer, e))
}

fn failed(layer: &str, source: disklab_exec::ExecError) -> StackError {
    StackError::Program { layer: layer.to_owned(), source }
}

/// Name and UUID of each mapping, as in `/sys/block/dm-*/dm`.
fn all_mappings() -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir("/sys/block") else { return Vec::new() };
    entries.flatten().filter_map(|entry| mapping_at(&entry.path())).collect()
}

/// Those that are built on `device`.
fn mappings_on(device: &Path) -> Vec<(String, String)> {
    holders(device).iter().filter_map(|holder| mapping_at(holder)).collect()
}

/// Whether anything is built on `device`.
fn is_held(device: &Path) -> bool {
    !holders(device).is_empty()
}

fn holders(device: &Path) -> Vec<PathBuf> {
    let dir = kernel_name(device).map(|name| format!("/sys/class/block/{name}/holders"));
    let Some(Ok(entries)) = dir.map(fs::read_dir) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

fn mapping_at(dir: &Path) -> Option<(String, String)> {
    let read = |name: &str| fs::read_to_string(dir.join("dm").join(name)).ok();
    Some((read("name")?.trim().to_owned(), read("uuid")?.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_known_by_what_cryptsetup_calls_it() {
        let uuid = "0e9c0e5a-6f1d-4f5c-9d0c-2d7a3b1c4e5f";
        let mapping = DeviceMapping::new("disklab-1", Path::new("/dev/none"), uuid);
        // As `dmsetup info` shows one of LUKS 2.
        let shown = "CRYPT-LUKS2-0e9c0e5a6f1d4f5c9d0c2d7a3b1c4e5f-disklab-1";
        assert_eq!(CloseCrypt(mapping).dm_uuid(), shown);
    }
}

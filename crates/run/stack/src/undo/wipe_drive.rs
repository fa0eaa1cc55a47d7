//! Wiping what is left of a file system from a drive.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, io};

use disklab_exec::Invocation;
use disklab_measure::{BlockDevice, SystemRoot, identity};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Marks, Obstacle, Teardown, TeardownContext, any_is_built_on, inspect};
use crate::StackError;

/// How long a drive may stay busy: udev may be having a look at it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Wipe what is left of a file system from a drive, if nothing else is on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WipeDrive {
    /// Its device node.
    pub device: PathBuf,
    /// Its serial number, where it tells one.
    pub serial: Option<String>,
    /// What the file system is recognised by: its UUID, or a part of its label
    /// that is unique.
    pub mark: String,
}

impl Teardown for WipeDrive {
    /// Wipes the file system with this mark from the drive with this serial number,
    /// whatever that is called by now; after a restart `device` may be another one.
    /// Where the drive told no serial number, its name must still lead to it.
    fn tear_down(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        let Self { device, serial, mark } = self;
        let mut done = false;
        for drive in drives(device, serial.as_deref()) {
            done |= wipe_one(&drive, mark, context)?;
        }
        Ok(done)
    }

    /// What is not ours on the drives, if the file system with this mark still is on one.
    fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        let Self { device, serial, mark } = self;
        let mut only = Marks::default();
        only.add(mark);
        let mut found = Vec::new();
        for drive in drives(device, serial.as_deref()) {
            // A drive that cannot be read is not wiped either.
            if inspect::has_own(&drive, &only, context).unwrap_or(false) {
                found.extend(inspect::device(&drive, marks, context)?);
            }
        }
        Ok(found)
    }

    fn marks(&self) -> Vec<String> {
        vec![self.mark.clone()]
    }

    fn paths(&self) -> Vec<&Path> {
        vec![&self.device]
    }

    fn contains(&self, others: &[&Path]) -> bool {
        any_is_built_on(others, &self.paths())
    }
}

impl fmt::Display for WipeDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file system on {}", self.device.display())
    }
}

/// The drives with this serial number.
fn drives(device: &Path, serial: Option<&str>) -> Vec<PathBuf> {
    let all = BlockDevice::all(&SystemRoot::here());
    let drives = all.iter().filter(|drive| {
        let same = identity(drive).serial.as_deref() == serial;
        drive.is_physical() && same && (serial.is_some() || drive.node() == device)
    });
    drives.map(BlockDevice::node).collect()
}

/// Wipes a device if all that is on it bears this mark. It is held meanwhile, so that
/// nobody puts anything else there between the look and the write.
fn wipe_one(device: &Path, mark: &str, context: &TeardownContext<'_>) -> Result<bool, StackError> {
    let list = Invocation::new("wipefs").args(["--no-act", "--json"]).arg(device);
    // On a device that cannot be read nothing is known to be ours.
    let own = || {
        let listed = context.executor.run(&list.clone().uninterruptible());
        listed.is_ok_and(|done| done.code == 0 && all_bear(&done.text(), mark))
    };
    if !own() {
        return Ok(false);
    }
    let held = hold(device, PATIENCE).map_err(|e| StackError::io("cannot wipe", device, e))?;
    if !own() {
        return Ok(false);
    }
    // Without --force it wants the device for itself.
    let wipe = Invocation::new("wipefs").args(["--all", "--force"]).arg(device).uninterruptible();
    let wiped = context.executor.check(&wipe);
    drop(held);
    wiped.map(|_| true).map_err(|source| StackError::Program { layer: "wipefs".to_owned(), source })
}

/// Opens the device for itself alone, once nobody else has it, if that is within `patience`.
fn hold(device: &Path, patience: Duration) -> io::Result<File> {
    let began = Instant::now();
    loop {
        match inspect::open_alone(device) {
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy && began.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(100));
            }
            done => return done,
        }
    }
}

/// Whether `wipefs --no-act --json` lists signatures, and each has this UUID, or a
/// label of which this is a word. A partition table has neither.
fn all_bear(text: &str, mark: &str) -> bool {
    let Ok(all) = serde_json::from_str::<Value>(text) else { return false };
    let Some(list) = all.get("signatures").and_then(Value::as_array) else { return false };
    let bears = |signature: &Value| {
        let text = |key: &str| signature.get(key).and_then(Value::as_str).unwrap_or_default();
        text("uuid").eq_ignore_ascii_case(mark)
            || text("label").split_whitespace().any(|word| word == mark)
    };
    !mark.is_empty() && !list.is_empty() && list.iter().all(bears)
}

#[cfg(test)]
mod tests {
    use disklab_exec::{Executor, find_program};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const OWN: &str = "0f3ee17e-5d9a-4c0e-9a51-6b8f0b1f2a33";
    const THEIRS: &str = "1f3ee17e-5d9a-4c0e-9a51-6b8f0b1f2a33";

    fn list(signatures: &[(&str, Option<&str>, Option<&str>)]) -> String {
        let list: Vec<Value> = signatures
            .iter()
            .map(|(kind, uuid, label)| json!({"type": kind, "uuid": uuid, "label": label}))
            .collect();
        json!({ "signatures": list }).to_string()
    }

    #[test]
    fn only_marked_signatures_are_own() {
        let upper = OWN.to_uppercase();
        let label = format!("disklab12x0 {OWN}");
        let ext4 = ("ext4", Some(upper.as_str()), Some("disklab12x0"));
        assert!(all_bear(&list(&[ext4]), OWN));
        let nilfs2 = ("nilfs2", Some(THEIRS), Some(label.as_str()));
        assert!(all_bear(&list(&[nilfs2, nilfs2]), OWN));
        for other in [
            list(&[]),
            list(&[("ext4", Some(THEIRS), Some("disklab12x0"))]),
            list(&[("ext4", Some(THEIRS), Some(&label[..40]))]),
            list(&[ext4, ("xfs", Some(THEIRS), None)]),
            list(&[ext4, ("gpt", None, None)]),
            String::new(),
            "wipefs: error".to_owned(),
            "[]".to_owned(),
        ] {
            assert!(!all_bear(&other, OWN), "{other}");
        }
        assert!(!all_bear(&list(&[("gpt", None, None)]), ""));
    }

    proptest! {
        #[test]
        fn hostile_output_is_never_own(text in "\\PC{0,80}", kinds in prop::collection::vec("[a-z]{1,3}", 0..4)) {
            prop_assert!(!all_bear(&text, OWN));
            let others: Vec<_> = kinds.iter().map(|kind| (kind.as_str(), None, None)).collect();
            prop_assert!(!all_bear(&list(&others), OWN));
        }
    }

    /// A device over a file, for as long as this lives.
    struct LoopDevice {
        _directory: tempfile::TempDir,
        node: String,
    }

    impl LoopDevice {
        fn new(executor: &Executor) -> Option<Self> {
            let missing = ["losetup", "wipefs", "mkfs.ext4", "mkfs.xfs", "blkid"]
                .into_iter()
                .find(|program| find_program(program).is_none());
            if let Some(program) = missing {
                eprintln!("skipped: needs {program}");
                return None;
            }
            let directory = tempfile::tempdir().expect("temp");
            let file = directory.path().join("drive");
            std::fs::File::create(&file).and_then(|f| f.set_len(512 << 20)).expect("sparse file");
            let attach = Invocation::new("losetup").args(["--find", "--show"]).arg(&file);
            let Ok(done) = executor.check(&attach) else {
                eprintln!("skipped: needs root and loop devices");
                return None;
            };
            Some(Self { _directory: directory, node: done.text().trim().to_owned() })
        }
    }

    impl Drop for LoopDevice {
        fn drop(&mut self) {
            let detach = Invocation::new("losetup").arg("--detach").arg(&self.node);
            let _ = Executor::default().run(&detach);
        }
    }

    #[test]
    fn what_is_not_there_is_not_waited_for() {
        let directory = tempfile::tempdir().expect("temp");
        let error = hold(&directory.path().join("none"), Duration::MAX).expect_err("not there");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_device_that_is_held_is_waited_for() {
        let Some(drive) = LoopDevice::new(&Executor::default()) else { return };
        let device = Path::new(&drive.node);
        let first = hold(device, Duration::ZERO).expect("nobody has it");
        let error = hold(device, Duration::ZERO).expect_err("it is held");
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        let freed = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(first);
        });
        assert!(hold(device, Duration::MAX).is_ok());
        freed.join().expect("freed");
    }

    #[test]
    fn own_signatures_are_wiped_and_later_ones_stay() {
        let executor = Executor::default();
        let Some(drive) = LoopDevice::new(&executor) else { return };
        let (device, mut context) = (Path::new(&drive.node), TeardownContext::by_force(&executor));
        let ext4 = |uuid: &str| {
            let mkfs = Invocation::new("mkfs.ext4").args(["-F", "-q", "-U", uuid]).arg(device);
            executor.check(&mkfs).expect("made");
        };
        let kinds = || {
            let list = Invocation::new("wipefs").args(["--no-act", "--output", "TYPE"]).arg(device);
            let text = executor.check(&list).expect("listed").text();
            text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(!wipe_one(device, OWN, &context).expect("nothing to do"));
        ext4(OWN);
        assert_eq!(kinds(), ["ext4"]);
        assert!(wipe_one(device, OWN, &context).expect("wiped"));
        assert!(kinds().is_empty());

        ext4(THEIRS);
        assert!(!wipe_one(device, OWN, &context).expect("left alone"));
        assert_eq!(kinds(), ["ext4"]);
        let xfs = Invocation::new("mkfs.xfs").args(["-f", "-q", "-m", &format!("uuid={OWN}")]);
        executor.check(&xfs.arg(device)).expect("made");
        assert!(wipe_one(device, OWN, &context).expect("wiped"));
        assert!(kinds().is_empty());

        // A loop device is no drive, and this machine has none with that number.
        ext4(OWN);
        for serial in [None, Some("no such number".to_owned())] {
            let undo = WipeDrive { device: device.to_owned(), serial, mark: OWN.to_owned() };
            assert!(!undo.tear_down(&mut context).expect("left alone"));
        }
        assert_eq!(kinds(), ["ext4"]);
    }
}

//! Evidence for audits: what held around a cell's workload and may have set its
//! figures instead of the drives. One kind of evidence is one file.

mod arrays;
mod background;
mod beneath;
mod clock;
mod drives;
mod inode_tables;
mod limits;
mod link;
mod memory;
mod pools;
mod power;
mod space;

use std::path::Path;

use disklab_exec::Executor;
use disklab_sample::Conditions;

use crate::{NamedDevice, SystemRoot};

pub use drives::DriveTraits;
pub use space::file_data;

use clock::ClockMark;

/// What must be read before a workload, to be told from what is read after it.
#[derive(Debug)]
pub struct ConditionsWatch {
    root: SystemRoot,
    conditions: Conditions,
    clock: ClockMark,
    memory: Option<memory::MemoryCounts>,
    throttled: Option<u64>,
    arc: Option<pools::ArcCounts>,
}

impl ConditionsWatch {
    /// Reads what is available before the workload prepares its files. `traits` are
    /// what a bench knows of its drives, by their names; of others, drives are asked
    /// through `executor`, where one is given.
    pub fn start(
        root: &SystemRoot,
        executor: Option<&Executor>,
        directory: Option<&Path>,
        watched: &[NamedDevice],
        traits: &[(String, DriveTraits)],
    ) -> Self {
        let conditions = Conditions {
            kernel: Some(rustix::system::uname().release().to_string_lossy().into_owned()),
            aes: power::has_aes(root),
            limits: limits::limits(root),
            background: background::background(root, directory),
            beneath: directory.map(|d| beneath::beneath(root, d)).unwrap_or_default(),
            space: directory.and_then(space::before),
            drives: drives::conditions(root, executor, watched, traits),
            ..Conditions::default()
        };
        Self {
            root: root.clone(),
            conditions,
            clock: ClockMark::now(),
            memory: memory::MemoryCounts::read(root),
            throttled: power::throttled(root),
            arc: pools::ArcCounts::read(root),
        }
    }

    /// Reads what is available when the workload has ended and its files are still
    /// there. ZFS is asked through `executor`.
    pub fn finish(
        mut self,
        executor: &Executor,
        directory: Option<&Path>,
        watched: &[NamedDevice],
    ) -> Conditions {
        let root = &self.root;
        let found = &mut self.conditions;
        found.clock = Some(self.clock.until_now(root));
        found.memory = self.memory.and_then(|before| before.until_now(root));
        found.power = power::power(root, self.throttled);
        for running in background::background(root, directory) {
            if !found.background.contains(&running) {
                found.background.push(running);
            }
        }
        found.arrays = arrays::arrays(root, watched);
        if let (Some(space), Some(directory)) = (&mut found.space, directory) {
            space::close(space, directory);
        }
        found.zfs = root.value("/sys/module/zfs/version");
        found.pools = pools::pools(root, executor);
        found.arc = self.arc.and_then(|before| before.until_now(root));
        self.conditions
    }
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;

    use super::*;

    #[test]
    fn this_machine_has_conditions_and_they_can_be_read_back() {
        let directory = tempfile::tempdir().expect("temp");
        let root = SystemRoot::here();
        let watch = ConditionsWatch::start(&root, None, Some(directory.path()), &[], &[]);
        std::fs::write(directory.path().join("file"), vec![7; 10_000]).expect("file");
        let executor = Executor::new(Interrupt::new());
        let found = watch.finish(&executor, Some(directory.path()), &[]);
        assert!(found.kernel.as_deref().is_some_and(|release| !release.is_empty()));
        let data = found.space.expect("space").files.expect("files");
        assert_eq!((data.files, data.bytes), (1, 10_000));
        let text = serde_json::to_string(&found).expect("json");
        assert_eq!(serde_json::from_str::<Conditions>(&text).expect("back"), found);
    }

    #[test]
    fn conditions_of_older_runs_are_absent() {
        let old: Conditions = serde_json::from_str("{}").expect("nothing");
        assert_eq!(old, Conditions::default());
        assert_eq!(serde_json::to_string(&old).expect("json"), "{}");
    }
}

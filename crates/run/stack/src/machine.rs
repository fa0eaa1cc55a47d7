//! What layers need, and whether this machine has it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use disklab_cell::LayerSpec;
use disklab_exec::{Executor, Invocation, find_program};
use disklab_source::{Location, Source};

use crate::{LAYERS, Need};

mod configured;
mod kernel;

use configured::Configured;
use kernel::Kernel;

/// All needs of all kinds of layers, each once, sorted: for `disklab doctor`.
pub fn known_needs() -> Vec<Need> {
    let source = Arc::new(Source { name: "disklab".to_owned(), text: String::new() });
    let place = Location { source, span: 0..0 };
    let mut needs: Vec<Need> = LAYERS
        .iter()
        .filter_map(|kind| {
            let name = kind.name.to_owned();
            (kind.parse)(&LayerSpec {
                name,
                options: Vec::new(),
                inputs: Vec::new(),
                place: place.clone(),
            })
            .ok()
        })
        .flat_map(|layer| layer.needs())
        .chain([Need::Root])
        .collect();
    needs.sort();
    needs.dedup();
    needs
}

/// What this machine can do, as far as it was asked. Answers are remembered.
#[derive(Debug)]
pub struct Machine {
    kernel: Kernel,
    is_root: bool,
    /// Where programs are looked for below another root; as usual where absent.
    root: Option<PathBuf>,
    /// The configuration of the kernel that counts instead of the running one.
    configured: Option<Configured>,
    answers: Mutex<BTreeMap<Need, bool>>,
}

impl Default for Machine {
    fn default() -> Self {
        Self::here()
    }
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let is_root = rustix::process::geteuid().is_root();
        Self {
            kernel: Kernel::at(Path::new("/")),
            is_root,
            root: None,
            configured: None,
            answers: Mutex::default(),
        }
    }

    /// A machine with this one's programs and `more` of them, root's rights, and a
    /// kernel without modules of which only the configuration is known
    /// (`CONFIG_EXT4_FS=y`, a line for each option): the lab's guest.
    pub fn configured(configuration: &str, more: &[&'static str]) -> Self {
        Self {
            is_root: true,
            configured: Some(Configured::new(configuration, more)),
            ..Self::here()
        }
    }

    /// A machine whose `/proc`, `/sys`, `/dev`, `/lib/modules` and `/usr` lie
    /// below `root`, for tests. Nothing is run.
    pub fn at(root: &Path, is_root: bool) -> Self {
        Self {
            kernel: Kernel::at(root),
            is_root,
            root: Some(root.to_owned()),
            configured: None,
            answers: Mutex::default(),
        }
    }

    /// Whether a need is fulfilled. A kernel module that is not loaded counts where
    /// the running kernel has it, as mounting or assembling loads it.
    pub fn has(&self, need: &Need) -> bool {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answers.get(need) {
            return *answer;
        }
        let answer = self.probe(need);
        answers.insert(need.clone(), answer);
        answer
    }

    /// Those of `needs` that are not met, in their order.
    pub fn missing(&self, needs: &[Need]) -> Vec<Need> {
        needs.iter().filter(|need| !self.has(need)).cloned().collect()
    }

    fn probe(&self, need: &Need) -> bool {
        if let Some(answer) = self.configured.as_ref().and_then(|kernel| kernel.has(need)) {
            return answer;
        }
        match need {
            Need::Program { name, .. } => self.has_program(name),
            Need::FileSystem(name) => self.kernel.has_file_system(name),
            Need::Md(personality) => self.kernel.has_md(personality),
            Need::DeviceMapper(target) => {
                self.kernel.has_device_mapper(target, || self.targets_in_use())
            }
            Need::Zfs => self.kernel.has_file_system("zfs"),
            Need::Loop => self.kernel.has_loop(),
            Need::Root => self.is_root,
        }
    }

    fn has_program(&self, name: &str) -> bool {
        match &self.root {
            None => find_program(name).is_some(),
            Some(root) => ["usr/bin", "usr/sbin", "bin", "sbin"].iter().any(|directory| {
                find_program(&root.join(directory).join(name).to_string_lossy()).is_some()
            }),
        }
    }

    /// What `dmsetup targets` says: nothing else shows targets that are built
    /// into the kernel.
    fn targets_in_use(&self) -> String {
        if self.root.is_some() || !self.is_root {
            return String::new();
        }
        let targets = Invocation::new("dmsetup").arg("targets");
        Executor::default().check(&targets).map(|done| done.text()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;

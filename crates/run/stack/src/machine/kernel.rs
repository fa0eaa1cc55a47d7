//! What the running kernel has, built in, loaded, or as a module.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The running kernel, seen through `/proc`, `/sys` and `/lib/modules`.
#[derive(Debug)]
pub(super) struct Kernel {
    root: PathBuf,
}

impl Kernel {
    /// The kernel whose files lie below `root`.
    pub(super) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Whether a file system is known, or its module exists (mount(2) loads it).
    pub(super) fn has_file_system(&self, name: &str) -> bool {
        let registered = self.text("proc/filesystems");
        registered.lines().any(|line| line.split_whitespace().next_back() == Some(name))
            || self.has_module(name)
    }

    /// Whether an md personality, such as `raid5`, is registered or its module
    /// exists.
    pub(super) fn has_md(&self, personality: &str) -> bool {
        // drivers/md: raid456 has three personalities; linear's module was
        // called md-linear when it came back in Linux 6.14.
        let modules: &[&str] = match personality {
            "raid4" | "raid5" | "raid6" => &["raid456"],
            "linear" => &["linear", "md-linear"],
            other => &[other],
        };
        let mdstat = self.text("proc/mdstat");
        if let Some(line) = mdstat.lines().find(|line| line.starts_with("Personalities"))
            && line.contains(&format!("[{personality}]"))
        {
            return true;
        }
        (!mdstat.is_empty() || self.has_module("md-mod"))
            && modules.iter().any(|name| self.has_module(name))
    }

    /// Whether a device-mapper target, such as `crypt`, is there. `in_use` gives
    /// the output of `dmsetup targets`, and is asked only where nothing else
    /// tells.
    pub(super) fn has_device_mapper(&self, target: &str, in_use: impl Fn() -> String) -> bool {
        let registered = |file: &str| {
            self.text(file)
                .lines()
                .any(|l| l.split_whitespace().next_back() == Some("device-mapper"))
        };
        if !registered("proc/misc") && !registered("proc/devices") && !self.has_module("dm-mod") {
            return false;
        }
        // These are part of dm-mod itself (drivers/md/Makefile).
        if matches!(target, "linear" | "striped" | "error") {
            return true;
        }
        let module = format!("dm-{target}");
        let loaded = format!("sys/module/{}", module.replace('-', "_"));
        self.root.join(loaded).exists()
            || self.has_module(&module)
            || in_use().lines().any(|line| line.split_whitespace().next() == Some(target))
    }

    /// Whether loop devices can be made.
    pub(super) fn has_loop(&self) -> bool {
        self.root.join("dev/loop-control").exists() || self.has_module("loop")
    }

    /// Whether the running kernel has a module of this name, as a file or built
    /// in (modules.dep(5), modules.builtin).
    fn has_module(&self, name: &str) -> bool {
        let release = self.text("proc/sys/kernel/osrelease");
        let release = release.trim();
        if release.is_empty() || release.contains('/') {
            return false;
        }
        let wanted = name.replace('-', "_");
        ["modules.dep", "modules.builtin"].iter().any(|file| {
            self.text(&format!("lib/modules/{release}/{file}")).lines().any(|line| {
                let path = line.split(':').next().unwrap_or_default();
                let file = path.rsplit('/').next().unwrap_or_default();
                // ext4.ko, ext4.ko.xz, ext4.ko.zst
                file.split_once(".ko").is_some_and(|(stem, _)| stem.replace('-', "_") == wanted)
            })
        })
    }

    /// A file as text; empty where it cannot be read.
    fn text(&self, path: &str) -> String {
        read_to_string(self.root.join(path)).unwrap_or_default()
    }
}

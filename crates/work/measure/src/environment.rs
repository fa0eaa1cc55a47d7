//! The surroundings of a run and of a cell.

use std::path::Path;

use disklab_exec::Executor;

use crate::drive_state::drive_state_with_smart;
use crate::facts::{facts, io_pressure, load_average};
use crate::mounts::{mount_of, mounts};
use crate::processors::ProcessorTime;
use crate::tools::tool_versions;
use crate::{NamedDevice, SystemRoot, drive_state, host};
use disklab_sample::{Environment, MountState};

/// The surroundings of a run: kernel, distribution, processor, memory,
/// hypervisor, versions of all known programs, settings of the kernel.
pub fn environment(executor: &Executor) -> Environment {
    environment_in(&SystemRoot::here(), executor)
}

/// The same, of a tree that may be made up (except for `uname` and the programs).
pub fn environment_in(root: &SystemRoot, executor: &Executor) -> Environment {
    let stat = root.text("/proc/stat").and_then(|text| ProcessorTime::parse(&text));
    Environment {
        kernel: kernel(),
        distribution: host::distribution(root),
        processor: host::processor(root),
        processors: stat.map_or(0, |stat| stat.processors),
        memory_bytes: host::memory_bytes(root),
        virtual_machine: host::hypervisor(root),
        tools: tool_versions(executor),
        extra: facts(root),
        ..Environment::default()
    }
}

/// The surroundings of a cell, as its workload starts: the mounts of
/// `directory`, the state of the drives (with what SMART says, where `executor`
/// is given: it takes a second per drive), the load. What is the same for the
/// whole run stays empty. [`close_cell_environment`] completes it.
pub fn cell_environment(
    root: &SystemRoot,
    executor: Option<&Executor>,
    directory: Option<&Path>,
    drives: &[NamedDevice],
) -> Environment {
    let state = |drive| match executor {
        Some(executor) => drive_state_with_smart(root, executor, drive),
        None => drive_state(root, drive),
    };
    let mut environment = Environment {
        mounts: directory.map(|directory| mounts_of(root, directory)).unwrap_or_default(),
        drives: drives.iter().map(state).collect(),
        load: load_average(root).map(|load| (load, load)),
        ..Environment::default()
    };
    let pressure = io_pressure(root);
    environment.extra.extend(pressure.map(|text| ("pressure.io.before".to_owned(), text)));
    environment
}

/// Adds to a cell's surroundings what is known only when its workload has ended:
/// the load and the I/O pressure then.
pub fn close_cell_environment(root: &SystemRoot, environment: &mut Environment) {
    if let (Some((_, after)), Some(load)) = (&mut environment.load, load_average(root)) {
        *after = load;
    }
    let pressure = io_pressure(root);
    environment.extra.extend(pressure.map(|text| ("pressure.io.after".to_owned(), text)));
}

/// The mount that holds `directory` and those below it, as the kernel reports
/// them with all options.
pub fn mounts_of(root: &SystemRoot, directory: &Path) -> Vec<MountState> {
    let real = root.path(directory).canonicalize();
    let directory = real.map_or_else(|_| directory.to_owned(), |real| root.inside(&real));
    let mounts = mounts(root);
    let holder = mount_of(&mounts, &directory);
    let below = mounts.iter().filter(|mount| {
        mount.mount_point != directory && mount.mount_point.starts_with(&directory)
    });
    holder.into_iter().chain(below).map(crate::Mount::state).collect()
}

/// As `uname -srvm` prints it.
fn kernel() -> String {
    let uname = rustix::system::uname();
    let parts = [uname.sysname(), uname.release(), uname.version(), uname.machine()];
    parts.map(|part| part.to_string_lossy().into_owned()).join(" ")
}

#[cfg(test)]
mod tests {
    use disklab_exec::Interrupt;

    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn this_machine_is_described() {
        let environment = environment(&Executor::new(Interrupt::new()));
        assert!(environment.kernel.starts_with("Linux "), "{}", environment.kernel);
        assert!(environment.processors > 0 && environment.memory_bytes > 0);
        assert!(environment.tools.iter().any(|tool| tool.name == "dd"));
        assert!(environment.extra.contains_key("vm.dirty_ratio"));
    }

    #[test]
    fn a_cell_knows_its_mounts_drives_and_load() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.drive("sda", (8, 0), "A").mount((8, 0), "/dev/sda", "/mnt/x", "xfs");
        tree.mount((8, 16), "/dev/sdb", "/mnt/x/below", "ext4").mount(
            (8, 32),
            "/dev/sdc",
            "/mnt/xy",
            "ext4",
        );
        tree.file("/proc/loadavg", "0.50 0 0 1/2 3\n");
        tree.file("/proc/pressure/io", "some avg10=1.00\n");
        let root = tree.root();
        let drives = [NamedDevice { name: "d1".to_owned(), device: "/dev/sda".into() }];
        let mut cell = cell_environment(&root, None, Some(Path::new("/mnt/x")), &drives);
        assert_eq!(
            cell.mounts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["/dev/sda /mnt/x xfs rw,relatime", "/dev/sdb /mnt/x/below ext4 rw,relatime"]
        );
        assert_eq!(cell.drives[0].serial.as_deref(), Some("A"));
        tree.file("/proc/loadavg", "2.25 0 0 1/2 3\n");
        close_cell_environment(&root, &mut cell);
        assert_eq!(cell.load, Some((0.5, 2.25)));
        assert_eq!(cell.extra["pressure.io.after"], "some avg10=1.00");
    }
}

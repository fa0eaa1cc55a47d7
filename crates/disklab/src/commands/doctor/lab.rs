//! What the lab needs and has.

use std::path::Path;

use disklab_exec::Executor;
use disklab_lab::{ConfinementSupport, MappingLimit};
use disklab_lab_kernel::{self as kernel, KernelError, LinuxSource, LinuxVersion, Parts};
use disklab_units::Bytes;

use super::sections::DoctorRow;
use crate::commands::lab::build::build_time;

/// Where a guest's memory lies.
const MEMORY: &str = "/dev/shm";
/// The memory of a guest where the user says nothing.
const GUEST_MEMORY: Bytes = Bytes::gib(1);
/// The memory of the largest guests with ZFS in studies that come with disklab.
const ZFS_MEMORY: Bytes = Bytes::gib(8);

/// What there is of the lab, and the Debian packages that its kernel's build lacks.
pub fn lab() -> (Vec<DoctorRow>, Vec<&'static str>) {
    let cache = kernel::cache_directory();
    let built = kernel::find(&cache, Parts::NONE);
    let source = LinuxSource::Debian(LinuxVersion::default());
    let can_build =
        kernel::check_cache(&cache).and_then(|()| kernel::check(&source, &Executor::default()));
    let (remedy, packages) = match can_build {
        Ok(()) => (
            format!(
                "`disklab lab build` or the first run in the lab builds it, once, in {} at most; \
                 it is kept in {}",
                build_time(Parts::ALL),
                cache.display()
            ),
            Vec::new(),
        ),
        // Then there is none to find, and nothing else matters.
        Err(error @ KernelError::Machine(_)) => {
            return (vec![DoctorRow::new("lab kernel", false, error.to_string())], Vec::new());
        }
        Err(error) => (error.to_string(), packages(&error)),
    };
    // What the build lacks matters only where there is no kernel.
    let packages = if built.is_some() { Vec::new() } else { packages };
    let with_zfs = kernel::find_zfs(&cache);
    let mut rows = vec![
        DoctorRow::new(named("lab kernel", built.as_deref()), built.is_some(), remedy),
        DoctorRow::new(
            named("lab kernel with ZFS", with_zfs.as_ref().map(|z| z.kernel.as_path())),
            with_zfs.is_some(),
            "disklab lab build --zfs; studies with ZFS do it by themselves",
        ),
        memory(),
    ];
    rows.extend(MappingLimit::of_this_system().map(mappings));
    rows.extend(confinement(ConfinementSupport::of_this_system()));
    (rows, packages)
}

/// What the lab's kernel with ZFS takes beyond memory.
fn mappings(limit: MappingLimit) -> DoctorRow {
    let remedy = limit.remedy(ZFS_MEMORY);
    DoctorRow::new(
        "mappings of memory for ZFS in the lab",
        remedy.is_none(),
        remedy.unwrap_or_default(),
    )
}

/// What keeps a guest from harming this machine.
fn confinement(support: ConfinementSupport) -> [DoctorRow; 2] {
    let missing = support.missing().join("; ");
    [
        DoctorRow::new("Landlock", support.landlock.is_some(), missing.clone()),
        DoctorRow::new(
            "seccomp with notifications",
            support.filter && support.supervision,
            missing,
        ),
    ]
}

fn named(what: &str, path: Option<&Path>) -> String {
    path.map_or_else(|| what.to_owned(), |path| format!("{what} ({})", path.display()))
}

fn packages(error: &KernelError) -> Vec<&'static str> {
    match error {
        KernelError::Tools { packages, .. } => packages.clone(),
        KernelError::NoSource { package, .. } => vec![package],
        _ => Vec::new(),
    }
}

fn memory() -> DoctorRow {
    let free = rustix::fs::statvfs(MEMORY).map_or(0, |s| s.f_bavail.saturating_mul(s.f_frsize));
    DoctorRow::new(
        format!("{MEMORY} with {} for a lab's guest", GUEST_MEMORY.iec()),
        free >= GUEST_MEMORY.0,
        format!(
            "{} are free there; a guest's memory is then a file in its run's directory, which is slow",
            Bytes(free).iec()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_lab_has_a_line() {
        let (rows, packages) = lab();
        for part in
            ["lab kernel", "lab kernel with ZFS", "Landlock", "/dev/shm with 1 GiB", "mappings"]
        {
            let row = rows
                .iter()
                .find(|row| row.name.starts_with(part))
                .unwrap_or_else(|| panic!("no line for {part}"));
            assert!(row.here || !row.remedy.is_empty(), "{part}");
        }
        assert!(!rows[0].here || packages.is_empty(), "a kernel that is there needs no build");
    }

    #[test]
    fn missing_tools_name_all_their_packages() {
        let tools = KernelError::Tools { what: vec!["bc"], packages: vec!["bc", "flex"] };
        assert_eq!(packages(&tools), ["bc", "flex"]);
        assert!(packages(&KernelError::Machine("arm".to_owned())).is_empty());
    }
}

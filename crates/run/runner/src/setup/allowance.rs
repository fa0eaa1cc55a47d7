//! What of a machine this process may have: a batch system, a container or a service may have
//! given it less than there is.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use disklab_units::Bytes;

/// The memory that this process may use: this machine's, or the least that one of its control
/// groups allows.
pub fn usable_memory() -> Bytes {
    let machine = machine_memory();
    memory_limit(Path::new("/")).map_or(machine, |limit| limit.min(machine))
}

/// This machine's memory.
pub(super) fn machine_memory() -> Bytes {
    let info = rustix::system::sysinfo();
    Bytes((info.totalram as u64).saturating_mul(u64::from(info.mem_unit)))
}

/// How many threads of this process can compute at a time: its processors, or what a quota of
/// its control groups amounts to.
pub(super) fn usable_processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The least limit of the control groups that this process is in, of either version
/// (`Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/memory.rst`). In a container the path of
/// its group may begin outside of what it sees: then the groups above it that are there count.
fn memory_limit(root: &Path) -> Option<Bytes> {
    let groups = read_to_string(root.join("proc/self/cgroup")).ok()?;
    let cgroups = root.join("sys/fs/cgroup");
    let limits = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let path = path.trim_start_matches('/');
        if controllers.is_empty() {
            let unified = cgroups.join("unified");
            let top = if unified.is_dir() { unified } else { cgroups.clone() };
            return least(&top, path, "memory.max");
        }
        let is_memory = controllers.split(',').any(|controller| controller == "memory");
        is_memory.then(|| least(&cgroups.join("memory"), path, "memory.limit_in_bytes"))?
    });
    limits.min()
}

/// The least value of a file in a group and all above it.
fn least(top: &Path, path: &str, file: &str) -> Option<Bytes> {
    let group: PathBuf = top.join(path);
    let groups = group.ancestors().take_while(|group| group.starts_with(top));
    // "max" is no limit.
    groups
        .filter_map(|group| read_to_string(group.join(file)).ok()?.trim().parse().ok())
        .map(Bytes)
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(groups: &str, files: &[(&str, &str)]) -> Option<Bytes> {
        let root = tempfile::tempdir().expect("temp");
        let at = |name: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            path
        };
        std::fs::write(at("proc/self/cgroup"), groups).expect("written");
        for (name, text) in files {
            std::fs::write(at(&format!("sys/fs/cgroup/{name}")), text).expect("written");
        }
        memory_limit(root.path())
    }

    #[test]
    fn the_least_limit_of_all_groups_counts() {
        let slurm = "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n";
        let job = "system.slice/slurmstepd.scope/job_7/memory.max";
        let task = "system.slice/slurmstepd.scope/job_7/step_0/user/task_0/memory.max";
        assert_eq!(limit(slurm, &[(job, "2147483648\n"), (task, "max\n")]), Some(Bytes::gib(2)));
        // A container with groups of its own, and one that sees the path of those of the host.
        assert_eq!(limit("0::/\n", &[("memory.max", "1073741824\n")]), Some(Bytes::gib(1)));
        let docker = "12:cpu,cpuacct:/docker/x\n5:memory:/docker/x\n0::/docker/x\n";
        let old = [("memory/memory.limit_in_bytes", "4294967296\n"), ("unified/x", "")];
        assert_eq!(limit(docker, &old), Some(Bytes::gib(4)));
        assert_eq!(limit("0::/user.slice\n", &[("user.slice/memory.max", "max\n")]), None);
        assert_eq!(limit("rubbish\n1\n::\n", &[]), None);
    }
}

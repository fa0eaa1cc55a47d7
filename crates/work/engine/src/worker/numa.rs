//! On which NUMA nodes a clone runs, and its memory lies: `numa_cpu_nodes`,
//! `numa_mem_policy`.

use std::path::Path;

use disklab_jobfile::{JobProcess, MemoryPolicy};

/// Where the kernel describes its nodes (Documentation/ABI/stable/sysfs-devices-node).
const NODES: &str = "/sys/devices/system/node";

/// The kernel's own limit (MAX_NUMNODES with CONFIG_NODES_SHIFT=10).
const MOST_NODES: usize = 1024;

/// MPOL_… of linux/mempolicy.h.
const DEFAULT: libc::c_int = 0;
const PREFERRED: libc::c_int = 1;
const BIND: libc::c_int = 2;
const INTERLEAVE: libc::c_int = 3;
const LOCAL: libc::c_int = 4;

/// Applies what the job says to the calling thread. What the system does not offer is
/// said in the notes.
pub(super) fn settle(process: &JobProcess, notes: &mut Vec<String>) {
    if let Some(nodes) = &process.numa_nodes
        && let Err(why) = run_on_nodes(nodes)
    {
        notes.push(format!("numa_cpu_nodes was not granted: {why}"));
    }
    if let Some(policy) = &process.memory_policy
        && let Err(why) = place_memory(policy)
    {
        notes.push(format!("numa_mem_policy was not granted: {why}"));
    }
}

/// Why the kernel did not grant what a job asks of NUMA.
#[derive(Debug, thiserror::Error)]
enum NumaError {
    /// A node by its number.
    #[error("this machine has no NUMA node {0}")]
    NoNode(usize),
    /// One of the nodes of the policy.
    #[error("this machine has no such NUMA node")]
    NoSuchNode,
    /// A kernel built without it.
    #[error("this kernel has no NUMA support")]
    NoSupport,
    /// Anything else.
    #[error("{}", crate::error::words(.0))]
    System(#[source] std::io::Error),
}

impl NumaError {
    /// The last system call's.
    fn last() -> Self {
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINVAL) => Self::NoSuchNode,
            Some(libc::ENOSYS) => Self::NoSupport,
            _ => Self::System(error),
        }
    }
}

/// Has the calling thread run on these processors. Says whether it does.
pub(super) fn run_on(set: &libc::cpu_set_t) -> bool {
    let size = std::mem::size_of::<libc::cpu_set_t>();
    // SAFETY: the set is the caller's; 0 is the calling thread.
    unsafe { libc::sched_setaffinity(0, size, std::ptr::from_ref(set)) == 0 }
}

fn run_on_nodes(nodes: &[u32]) -> Result<(), NumaError> {
    // SAFETY: a set of processors is plain bits, for which zero is a value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for node in nodes {
        let list = std::fs::read_to_string(Path::new(NODES).join(format!("node{node}/cpulist")));
        let list = list.map_err(|_| NumaError::NoNode(*node as usize))?;
        for processor in numbers(&list).filter(|n| *n < libc::CPU_SETSIZE as usize) {
            // SAFETY: the number lies inside of the set.
            unsafe { libc::CPU_SET(processor, &mut set) };
        }
    }
    if run_on(&set) { Ok(()) } else { Err(NumaError::last()) }
}

/// The numbers of a list such as `0-3,8`.
fn numbers(list: &str) -> impl Iterator<Item = usize> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        from.trim().parse().ok().zip(to.trim().parse().ok())
    };
    list.split(',').filter_map(range).flat_map(|(from, to): (usize, usize)| from..=to)
}

fn place_memory(policy: &MemoryPolicy) -> Result<(), NumaError> {
    let online = || std::fs::read_to_string(Path::new(NODES).join("online")).unwrap_or_default();
    let (mode, nodes): (_, Vec<usize>) = match policy {
        MemoryPolicy::Default => (DEFAULT, Vec::new()),
        MemoryPolicy::Local => (LOCAL, Vec::new()),
        MemoryPolicy::Prefer(node) => (PREFERRED, vec![*node as usize]),
        MemoryPolicy::Bind(nodes) => (BIND, nodes.iter().map(|n| *n as usize).collect()),
        MemoryPolicy::Interleave(nodes) if nodes.is_empty() => {
            (INTERLEAVE, numbers(&online()).collect())
        }
        MemoryPolicy::Interleave(nodes) => {
            (INTERLEAVE, nodes.iter().map(|n| *n as usize).collect())
        }
    };
    let bits = libc::c_ulong::BITS as usize;
    let mut mask = [0 as libc::c_ulong; MOST_NODES / libc::c_ulong::BITS as usize];
    for node in &nodes {
        match mask.get_mut(node / bits) {
            Some(word) => *word |= 1 << (node % bits),
            None => return Err(NumaError::NoNode(*node)),
        }
    }
    let (at, length) = match nodes.is_empty() {
        true => (std::ptr::null(), 0),
        // The kernel takes one bit fewer than it is told (get_nodes in mm/mempolicy.c).
        false => (mask.as_ptr(), MOST_NODES + 1),
    };
    // SAFETY: the mask is of this function and has `MOST_NODES` bits; the last one that is
    // announced is not read.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, at, length) };
    if result == 0 { Ok(()) } else { Err(NumaError::last()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::job;

    fn notes(options: &'static str) -> Vec<String> {
        let job = job(&format!("size=1m\n{options}"));
        let thread = std::thread::spawn(move || {
            let mut notes = Vec::new();
            settle(&job.process, &mut notes);
            notes
        });
        thread.join().expect("no panic")
    }

    #[test]
    fn nodes_are_used_where_there_are_any_and_missing_ones_are_reported() {
        assert_eq!(numbers("0-2,5\n").collect::<Vec<_>>(), [0, 1, 2, 5]);
        let missing = notes("numa_cpu_nodes=1000\nnuma_mem_policy=bind:1000");
        assert_eq!(missing.len(), 2, "{missing:?}");
        assert!(missing[0].contains("numa_cpu_nodes") && missing[0].contains("no NUMA node 1000"));
        assert!(missing[1].contains("numa_mem_policy was not granted"), "{missing:?}");
        if !Path::new(NODES).join("node0/cpulist").exists() {
            eprintln!("skipped: needs a kernel with NUMA nodes");
            return;
        }
        for policy in ["prefer:0", "bind:0", "interleave:0", "interleave", "local", "default"] {
            let options = format!("numa_cpu_nodes=0\nnuma_mem_policy={policy}");
            assert_eq!(notes(options.leak()), Vec::<String>::new(), "{policy}");
        }
    }
}

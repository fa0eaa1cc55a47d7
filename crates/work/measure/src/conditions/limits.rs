//! Limits that a container or a service manager puts on disklab itself, through its
//! control group (kernel: Documentation/admin-guide/cgroup-v2.rst).

use std::path::{Path, PathBuf};

use crate::SystemRoot;
use crate::host::memory_bytes;

/// Files that limit something. Each says `max` where it does not.
const FILES: [&str; 4] = ["io.max", "cpu.max", "memory.max", "memory.high"];

/// The limits of this process's control group and of all above it, such as
/// `cpu.max 50000 100000`.
pub(super) fn limits(root: &SystemRoot) -> Vec<String> {
    let Some(own) = own_group(&root.text("/proc/self/cgroup").unwrap_or_default()) else {
        return Vec::new();
    };
    let memory = memory_bytes(root);
    let mut found = Vec::new();
    for group in own.ancestors() {
        for name in FILES {
            let place = Path::new("/sys/fs/cgroup").join(group.strip_prefix("/").unwrap_or(group));
            let text = root.value(place.join(name)).unwrap_or_default();
            let lines =
                text.lines().map(str::trim).filter(|line| limits_something(name, line, memory));
            found.extend(lines.map(|line| format!("{name} {line}")));
        }
    }
    found
}

/// The path of the group in version 2 of control groups.
fn own_group(text: &str) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?.trim();
    // A path out of a namespace begins with `/..`.
    (path.starts_with('/') && !path.split('/').any(|part| part == "..")).then(|| path.into())
}

fn limits_something(file: &str, line: &str, memory: u64) -> bool {
    match file {
        // `8:0 rbps=max wbps=1048576 riops=max wiops=max`
        "io.max" => line.split_ascii_whitespace().skip(1).any(|word| {
            word.split_once('=').is_some_and(|(_, value)| value.parse::<u64>().is_ok())
        }),
        // More than there is does not limit.
        "memory.max" | "memory.high" => {
            line.parse::<u64>().is_ok_and(|limit| memory == 0 || limit < memory)
        }
        _ => !line.is_empty() && !line.starts_with("max"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;

    #[test]
    fn limits_are_found_in_the_group_and_above_it() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        assert!(limits(&tree.root()).is_empty());
        tree.file("/proc/meminfo", "MemTotal: 1000 kB\n");
        tree.file("/proc/self/cgroup", "0::/box/inner\n");
        for (file, text) in [
            ("box/inner/io.max", "8:0 rbps=max wbps=max riops=max wiops=max\n"),
            ("box/inner/cpu.max", "max 100000\n"),
            ("box/inner/memory.max", "max\n"),
            ("box/memory.max", "1024001\n"),
        ] {
            tree.file(&format!("/sys/fs/cgroup/{file}"), text);
        }
        assert!(limits(&tree.root()).is_empty());
        tree.file("/sys/fs/cgroup/box/inner/io.max", "8:0 rbps=max wbps=1048576 riops=max\n");
        tree.file("/sys/fs/cgroup/box/cpu.max", "50000 100000\n");
        tree.file("/sys/fs/cgroup/box/memory.max", "512000\n");
        assert_eq!(
            limits(&tree.root()),
            [
                "io.max 8:0 rbps=max wbps=1048576 riops=max",
                "cpu.max 50000 100000",
                "memory.max 512000"
            ]
        );
    }

    #[test]
    fn groups_of_version_1_and_outside_of_the_namespace_are_left_alone() {
        assert_eq!(own_group("4:cpu:/x\n"), None);
        assert_eq!(own_group("0::/../other\n"), None);
        assert_eq!(own_group("4:cpu:/x\n0::/\n"), Some(PathBuf::from("/")));
    }

    proptest! {
        #[test]
        fn hostile_lines_do_no_harm(line in "\\PC{0,40}") {
            for file in FILES {
                let _ = limits_something(file, &line, 1 << 30);
            }
            let _ = own_group(&line);
        }
    }
}

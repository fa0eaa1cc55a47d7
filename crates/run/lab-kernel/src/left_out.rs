//! Patches that a source which the user named does not take, and what does not hold without.

use std::path::Path;

use super::cache_files::RECIPE;
use super::fingerprint;
use super::linux::LinuxVersion;
use super::patches::Patch;

/// What the line of a file `recipe` with the patches that were left out begins with.
const WITHOUT: &str = "without ";

/// A patch that a kernel was built without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOutPatch {
    /// Its file below `kernel/patches`.
    pub name: &'static str,
    /// What does not hold.
    pub effect: &'static str,
}

/// The patches that disklab built this kernel without; none if it did not build it.
pub fn left_out(kernel: &Path) -> Vec<LeftOutPatch> {
    let text =
        kernel.parent().and_then(|directory| fingerprint::read_recipe(&directory.join(RECIPE)));
    let text = text.unwrap_or_default();
    let names = text.lines().find_map(|line| line.strip_prefix(WITHOUT)).unwrap_or_default();
    let names: Vec<&str> = names.split(' ').collect();
    let all = LinuxVersion::ALL.into_iter().flat_map(LinuxVersion::patches);
    all.filter(|patch| names.contains(&patch.name))
        .map(|patch| LeftOutPatch { name: patch.name, effect: effect_without(patch.name) })
        .collect()
}

/// The line of a recipe that [`left_out`] reads; nothing if none was.
pub(super) fn line(patches: &[Patch]) -> String {
    let names: Vec<&str> = patches.iter().map(|patch| patch.name).collect();
    if names.is_empty() { String::new() } else { format!("{WITHOUT}{}\n", names.join(" ")) }
}

fn effect_without(name: &str) -> &'static str {
    let name = name.trim_end_matches(".patch");
    match name {
        "registers" => {
            "before Linux 6.13, guests do not start on processors with AMX (Xeon from 2023 on)"
        }
        "7.3/registers" => "guests have less memory on processors with AMX, and other figures",
        _ => match name.rsplit('/').next().unwrap_or(name) {
            "entropy" | "children" => "random numbers differ, and a seed repeats nothing",
            "clock" => "programs that wait by reading the clock take much longer",
            "processor" => "CPU time is free: processors are not modelled",
            "way" | "spinning" => "what waits in a loop, waits for ever",
            "numbers" => "figures of Btrfs depend on other parts of the kernel",
            "tags" => "with more threads than a queue has tags, some threads wait for ever",
            "kept" => "free memory differs between builds, and figures by up to 16 %",
            "queues" => {
                "a disk's depth and rotation come too late, and SSDs are throttled as hard disks"
            }
            "hz" => "a tick is 10 ms, not 4, as are the timeouts that are counted in ticks",
            "looks" => {
                "a look at the clock costs 256 ns, and no drive makes over 560,000 requests a second"
            }
            "shelves" => "a stack has 53 drives at most",
            "depth" => "disks have no queue_depth to set",
            "flushes" => "programs that sync an NVMe drive share flushes, as on one processor",
            "checksums" => {
                "Btrfs leaves buffered writes to workers, as without a crc32c instruction"
            }
            "timeouts" => "the kernel waits for SCSI drives for ever",
            "signs" => "memory's multi-generational LRU may not compile",
            "getcpu" => "the guest's memory differs from that of other builds",
            // What only saves time: `kernel/README.md`.
            _ => "the lab takes longer",
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_patch_that_is_not_for_speed_alone_has_an_effect_of_its_own() {
        let mut of_effects: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for patch in LinuxVersion::ALL.into_iter().flat_map(LinuxVersion::patches) {
            of_effects.entry(effect_without(patch.name)).or_default().push(patch.name);
        }
        let slower = ["devices", "speed", "memory", "stops", "kicks", "vdso", "faults"];
        for name in &of_effects["the lab takes longer"] {
            assert!(slower.iter().any(|known| name.contains(known)), "{name}: what does it do?");
        }
        assert_eq!(of_effects.len(), 20);
    }

    #[test]
    fn patches_that_were_left_out_are_read_back() {
        let directory = tempfile::tempdir().expect("temp");
        let kernel = directory.path().join("linux");
        let write = |line: &str| {
            let text = format!("configuration 12\nparts ext4\nsource s\ncompiler c\n{line}");
            std::fs::write(directory.path().join(RECIPE), text).expect("written");
        };
        assert_eq!(left_out(&kernel), []);
        write("");
        assert_eq!(left_out(&kernel), []);
        let patches = LinuxVersion::V7_3.patches();
        write(&line(patches));
        let names: Vec<&str> = left_out(&kernel).iter().map(|patch| patch.name).collect();
        assert_eq!(names, patches.iter().map(|patch| patch.name).collect::<Vec<_>>());
        write(&line(&LinuxVersion::V6_12.patches()[..1]));
        assert_eq!(left_out(&kernel).len(), 1);
        write("without registers.patch nonsense\n");
        assert!(left_out(&kernel)[0].effect.contains("AMX"));
    }
}

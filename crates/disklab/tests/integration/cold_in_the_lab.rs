//! Cold caches in the lab: what is read after them comes from the drives.

use std::collections::BTreeMap;

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::samples;
use disklab_sample::{Sample, Step};

/// A directory that is made and listed, on each file system, with caches as they are asked for.
fn study(stacks: &str) -> String {
    let workload = |caches: &str| {
        format!(
            "[[workloads]]\nid = \"{caches}\"\ncaches = \"{caches}\"\n\
             directory = {{ entries = 2000 }}\n"
        )
    };
    let workloads = ["cold", "drop", "keep"].map(workload).concat();
    format!(
        "id = \"cold\"\ntitle = \"Is cold cold?\"\nrepeats = 1\n[[drives]]\nname = \"d\"\n\
         model = \"hdn721010ale604\"\nsize = \"10 TB\"\ncount = 2\n[stacks]\n{stacks}\n{workloads}"
    )
}

/// Bytes that the drives delivered while the directory was listed.
fn listed(sample: &Sample) -> u64 {
    let is_list = |step: &&Step| step.name == "list";
    let list = sample.steps.iter().find(is_list).expect("it was listed");
    list.drives.iter().map(|drive| drive.read_bytes).sum()
}

fn notes(sample: &Sample) -> String {
    let of_caches = sample.notes.iter().filter(|note| note.about == "caches");
    of_caches.map(|note| note.text.as_str()).collect::<Vec<_>>().join("; ")
}

/// A file is read from the page cache, which is dropped in the middle, and the time is exact.
#[test]
fn caches_are_dropped_at_their_time() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mkfs.ext4"]) {
        return;
    }
    let home = tempfile::tempdir().expect("temp");
    let workload = |id: &str, events: &str| {
        format!(
            "[[workloads]]\nid = \"{id}\"\ncaches = \"keep\"\n{events}fio = {{ rw = \"randread\", \
             bs = \"4k\", size = \"256k\", time_based = 1, \
             runtime = \"3s\", thinktime = \"10ms\", invalidate = 0 }}\n"
        )
    };
    let text = study("s = { layers = \"ext4\", drives = 1 }");
    let (head, _) = text.split_once("[[workloads]]").expect("workloads");
    let event = "events = [{ do = \"drop-caches\", at = \"1 s\" }]\n";
    let text = [head, &workload("kept", ""), &workload("dropped", event)].concat();
    let samples: BTreeMap<String, Sample> =
        samples(home.path(), &text, &["--seed", "1"]).into_iter().collect();
    let read = |id: &str| samples[id].steps[0].drives[0].read_bytes;
    let (kept, dropped) = (read("kept"), read("dropped"));
    assert!(dropped > 200_000 && kept == 0, "{dropped} bytes, {kept} if nothing is dropped");
    let [event] = &samples["dropped"].steps[0].events[..] else { panic!("one event") };
    assert_eq!((event.what.as_str(), event.at_ns / 1_000_000), ("drop-caches", 1000));
    assert!(samples["kept"].steps[0].events.is_empty());
}

#[test]
fn a_cold_directory_is_listed_from_the_drives() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mkfs.btrfs", "mkfs.ext4", "mkfs.xfs"]) {
        return;
    }
    for (layers, drives) in [("ext4", 1), ("xfs", 1), ("btrfs", 1), ("btrfs-raid1", 2)] {
        let home = tempfile::tempdir().expect("temp");
        let text = study(&format!("s = {{ layers = \"{layers}\", drives = {drives} }}"));
        let samples: BTreeMap<String, Sample> =
            samples(home.path(), &text, &["--seed", "1"]).into_iter().collect();
        let of = |caches: &str| (listed(&samples[caches]), notes(&samples[caches]));
        let (cold, said) = of("cold");
        assert!(said.contains("unmounted and mounted again"), "{layers}: {said}");
        // 2000 names of some 20 bytes.
        assert!(cold > 40_000, "{layers}: {cold} bytes");
        let (dropped, said) = of("drop");
        assert!(said.contains("dropped before each step, once"), "{layers}: {said}");
        assert!(dropped <= cold, "{layers}: {dropped} bytes, {cold} when cold");
        let (kept, said) = of("keep");
        assert_eq!((kept, said.as_str()), (0, ""), "{layers}");
    }
}

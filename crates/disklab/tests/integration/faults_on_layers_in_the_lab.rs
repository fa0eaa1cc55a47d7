//! Every fault on a drive below every layer with redundancy: what a file that lies there comes to. And a
//! rebuild that is killed in its middle.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use disklab_sample::{KeptData, Sample, Step};
use disklab_store::{Run, RunInfo};

use crate::lab_support::cluster::family;
use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use crate::lab_support::run::{answer, disklab, said};
use crate::parts_in_the_lab::{contents, ends};

/// A stack by its name: its layers, how many drives, and whether it knows what is right.
const STACKS: [(&str, &str, u32, bool); 8] = [
    ("raid1", "md-raid1[resync=skip]/ext4", 2, false),
    ("raid5", "md-raid5[resync=skip]/ext4", 3, false),
    ("raid6", "md-raid6[resync=skip]/ext4", 4, false),
    ("raid10", "md-raid10[resync=skip]/ext4", 4, false),
    ("shr", "shr[resync=skip]/ext4", 3, false),
    ("integrity", "integrity/md-raid1[resync=skip]/ext4", 2, true),
    ("btrfs-raid1", "btrfs-raid1", 2, true),
    ("btrfs-raid10", "btrfs-raid10", 4, true),
];

/// A fault of the first drive, and whether the drive keeps it for itself.
const FAULTS: [(&str, &str, bool); 7] = [
    ("dies", "dies at 30 s", false),
    ("comes-back", "away for 60 s at 30 s", false),
    ("unreadable", "unreadable 64 sectors at 30 s", false),
    ("slow", "slow by 10 at 30 s", false),
    ("rots", "rots 64 bytes at 30 s", true),
    ("loses", "loses 1 write in 4", true),
    ("misdirects", "misdirects 1 write in 4", true),
];

/// The file is read while those that stop the drive do.
fn study() -> String {
    let mut text = "id = 's'\ntitle = 's'\nrepeats = 1\n[lab]\nmemory = '512 MiB'\n[[drives]]\n\
                    name = 'd'\nmodel = 'hgst-10tb'\nsize = '400 MB'\ncount = 4\n[[workloads]]\n\
                    id = 'w'\ncaches = 'drop'\nread-back = { size = '16 MiB', wait = '60 s' }\n"
        .to_owned();
    for (fault, does, _) in FAULTS {
        text.push_str(&format!("[[faults]]\nid = '{fault}'\ndoes = 'drive 1: {does}'\n"));
    }
    let faults = FAULTS.map(|(fault, ..)| format!("'{fault}'")).join(", ");
    text.push_str(&format!("[axes]\nfault = [{faults}]\n[stacks]\n"));
    for (name, layers, drives, _) in STACKS {
        text.push_str(&format!("{name} = {{ layers = '{layers}', drives = {drives} }}\n"));
    }
    text
}

fn step<'a>(sample: &'a Sample, name: &str) -> &'a Step {
    sample.steps.iter().find(|step| step.name == name).expect(name)
}

fn note<'a>(sample: &'a Sample, about: &str) -> &'a str {
    let note = sample.notes.iter().find(|note| note.about == about);
    &note.expect(about).text
}

#[test]
fn data_stay_right_or_rot_where_nobody_has_sums() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4", "lvm", "mkfs.btrfs", "btrfs", "integritysetup"]) {
        return;
    }
    let home = tempfile::tempdir().expect("temp");
    fs::write(home.path().join("s.toml"), study()).expect("written");
    let output = answer(home.path(), &["run", "s.toml", "--seed", "1", "--out", "run"]);
    assert_eq!(output.status.code(), Some(1), "rot is severe: {}", said(&output));
    let mut samples: BTreeMap<(String, String), Sample> = BTreeMap::new();
    let run = Run::open(&home.path().join("run")).expect("a run");
    run.for_each_sample(|record, sample| {
        let levels = &record.cell.levels;
        samples.insert((levels.stack.clone(), levels.further["fault"].clone()), sample);
    })
    .expect("samples");
    assert_eq!(samples.len(), STACKS.len() * FAULTS.len(), "no cell failed");
    for (stack, _, _, has_sums) in STACKS {
        for (fault, _, is_silent) in FAULTS {
            let what = format!("{stack}, {fault}");
            let sample = &samples[&(stack.to_owned(), fault.to_owned())];
            let happened = note(sample, "faults");
            assert!(happened.contains(" of the work, on "), "{what}: {happened}");
            let rots = is_silent && !has_sums;
            for name in ["read", "read-again"] {
                let kept = step(sample, name).kept.expect("counted");
                let KeptData { right, wrong, unreadable, .. } = kept;
                assert_eq!((right + wrong, unreadable), (4096, 0), "{what}: {kept:?}");
                assert_eq!(wrong > 0, rots, "{what}: {kept:?}");
            }
            // md sees that members differ, and takes what cannot be read for that: a sum of dm-integrity is
            // wrong there. Other sums were used when it was read.
            let scrub = note(sample, "scrub");
            if scrub.contains(" sectors differ") {
                let may_differ = rots || has_sums || fault == "unreadable";
                assert!(may_differ || scrub.contains(" 0 sectors differ"), "{what}: {scrub}");
                assert!(!rots || !scrub.contains(" 0 sectors differ"), "{what}: {scrub}");
            } else if is_silent {
                assert!(scrub.contains(" 0 not correctable"), "{what}: {scrub}");
            }
        }
        let took = |fault: &str, name: &str| {
            step(&samples[&(stack.to_owned(), fault.to_owned())], name).elapsed_ns
        };
        let soonest = FAULTS.map(|(fault, ..)| took(fault, "read-again")).into_iter().min();
        let slow = took("slow", "read");
        assert!(soonest.is_some_and(|soonest| slow * 2 > soonest * 3), "{stack}: {slow} ns");
        assert!(took("unreadable", "read") > 7_000_000_000, "{stack}: it tries for seven seconds");
    }
    nothing_left(&home.path().join("run"));
}

/// Nothing but what a run has.
fn nothing_left(run: &Path) {
    let own = [".disklab-directory", "lock", "raw", "report.html", "report.md", "run.sqlite"];
    for entry in fs::read_dir(run).expect("a run").flatten() {
        assert!(own.iter().any(|name| entry.file_name() == *name), "{entry:?}");
    }
}

/// Whether a cell that is carried out in this directory is being measured: its guest says in which phase it is.
fn is_measuring(directory: &Path) -> bool {
    fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return is_measuring(&path);
        }
        let phases =
            if entry.file_name() == "phases" { fs::read_to_string(path) } else { return false };
        phases.is_ok_and(|phases| phases.contains("measure"))
    })
}

#[test]
fn a_rebuild_that_was_killed_is_resumed_and_leaves_nothing() {
    let Some(_) = kernel() else { return };
    if !has_programs(&["mdadm", "mkfs.ext4"]) {
        return;
    }
    let home = tempfile::tempdir().expect("temp");
    let home = home.path();
    let study = "id = 's'\ntitle = 's'\n[lab]\nmemory = '512 MiB'\n[[drives]]\nname = 'd'\n\
                 model = 'hgst-10tb'\nsize = 3000000512\ncount = 3\n\
                 set = { capacity = 3000000512 }\n[stacks]\n\
                 raid5 = { layers = 'md-raid5[resync=skip]/ext4', drives = 3 }\n[[workloads]]\n\
                 id = 'w'\nfio = { rw = 'read', bs = '1M', size = '1M' }\n";
    fs::write(home.join("s.toml"), study).expect("written");
    let rebuild = ["rebuild", "s.toml", "--seed", "1", "--repeats", "2", "--out"];
    ends(home, &[&rebuild[..], &["whole"]].concat(), 0);
    let mut killed = disklab(home)
        .args([&rebuild[..], &["run"]].concat())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    while !is_measuring(&home.join("run")) {
        assert_eq!(killed.try_wait().expect("waited for"), None, "it ended before");
        std::thread::sleep(Duration::from_millis(5));
    }
    let all = family(killed.id());
    assert!(all.len() > 1, "a guest runs");
    killed.kill().expect("killed");
    killed.wait().expect("waited for");
    while all.iter().any(|process| process.processors().is_some()) {
        std::thread::sleep(Duration::from_millis(5));
    }
    ends(home, &["run", "--resume", "--out", "run"], 0);
    let (whole, run) = (contents(&home.join("whole")), contents(&home.join("run")));
    assert_eq!(whole.0, RunInfo { created: whole.0.created, ..run.0 });
    assert_eq!((whole.1.len(), &whole.1), (2, &run.1));
    assert!(whole.2 == run.2, "{:?}", whole.2.keys());
    nothing_left(&home.join("run"));
}

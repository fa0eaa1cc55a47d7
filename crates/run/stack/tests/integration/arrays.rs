//! md, LVM, SHR, LUKS and dm-integrity in a real kernel, on unequal drives, with
//! a file system on each: they hold what their shape says, survive what it
//! promises, and leave nothing behind.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::support::{LOOPS, LoopFixture, can, output, stack};
use disklab_stack::{LayerContext, Ledger, Machine, Recovery, Stack, recover};
use disklab_units::Bytes;

/// Drives of these sizes in MiB.
fn fixture(mib: &[u64]) -> LoopFixture {
    let mut fixture = LoopFixture::new(0, Bytes::ZERO);
    for (index, mib) in mib.iter().enumerate() {
        let drive = fixture.attach(&format!("drive{index}"), Bytes::mib(*mib));
        fixture.drives.push(drive);
    }
    fixture
}

/// Whether this machine has what a stack needs.
fn can_make(stack: &Stack) -> bool {
    let mut needs = stack.needs();
    needs.extend(LOOPS);
    if Machine::here().missing(&needs).is_empty() {
        return true;
    }
    eprint!("{}: ", stack.describe());
    can(&needs)
}

/// `sda1` for `/dev/sda1`, `dm-0` for `/dev/mapper/x`: by number, as without
/// udev the latter is a node and no link.
fn name(device: &Path) -> String {
    let number = fs::metadata(device).expect("device").rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let entry = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).expect("sysfs");
    entry.file_name().expect("name").to_string_lossy().into_owned()
}

fn sys(path: &str) -> String {
    fs::read_to_string(format!("/sys/class/block/{path}")).unwrap_or_default().trim().to_owned()
}

fn size(device: &Path) -> Bytes {
    Bytes(sys(&format!("{}/size", name(device))).parse::<u64>().expect("size") * 512)
}

/// The arrays, mappings and partitions on these drives, all the way up.
fn on_top(drives: &[PathBuf]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut below: Vec<String> = drives.iter().map(|drive| name(drive)).collect();
    while let Some(device) = below.pop() {
        let directory = Path::new("/sys/class/block").join(&device);
        let holders = fs::read_dir(directory.join("holders")).into_iter().flatten().flatten();
        let parts = fs::read_dir(&directory).into_iter().flatten().flatten();
        let parts = parts.filter(|entry| entry.path().join("partition").exists());
        for entry in holders.chain(parts) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !found.contains(&name) {
                found.push(name.clone());
                below.push(name);
            }
        }
    }
    found.sort();
    found
}

/// No array, no mapping, no partition and no signature is left.
fn assert_bare(fixture: &LoopFixture, stack: &str) {
    assert_eq!(on_top(&fixture.drives), Vec::<String>::new(), "{stack}");
    for drive in &fixture.drives {
        let left = output("wipefs", &["--noheadings", &drive.display().to_string()]);
        assert_eq!(left, "", "{stack}: {}", drive.display());
    }
    let nodes = fs::read_dir("/dev/md").into_iter().flatten().flatten();
    let tag = format!("disklab-t{}x", std::process::id());
    for entry in nodes {
        let name = entry.file_name().to_string_lossy().into_owned();
        let alive = entry.path().exists();
        assert!(alive || !name.starts_with(&tag), "{stack}: {name} leads nowhere");
    }
}

fn pattern() -> Vec<u8> {
    (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn write_file(directory: &Path) {
    fs::write(directory.join("file"), pattern()).expect("write");
    output("sync", &["-f", &directory.join("file").display().to_string()]);
    fs::write("/proc/sys/vm/drop_caches", "3").expect("drop caches");
}

fn assert_file_is_whole(directory: &Path, stack: &str) {
    assert!(fs::read(directory.join("file")).expect("read") == pattern(), "{stack}: changed");
}

/// Makes a stack that ends in ext4, checks it, and tears it down. The device
/// below ext4 may be smaller than its shape by 1 %, where metadata is estimated.
fn up_and_down(text: &str, mib: &[u64]) -> Option<Vec<(String, String)>> {
    let whole = stack(&format!("{text}/ext4"), mib.len());
    if !can_make(&whole) {
        return None;
    }
    let mut fixture = fixture(mib);
    let mark = fixture.ledger.mark();
    let made = fixture.make(&whole).unwrap_or_else(|e| panic!("{text}: {e}"));
    let device = made.device.clone().expect("one device");
    let sizes: Vec<Bytes> = mib.iter().map(|mib| Bytes::mib(*mib)).collect();
    let bare = stack(&format!("{text}/ext4"), mib.len()).shape(&sizes).expect("shape");
    let held = size(&device);
    let promised = bare.size.0 as f64;
    // ext4 takes its share of the shape's size; the device is never smaller.
    assert!(held.0 as f64 >= promised * 0.99, "{text}: {held} of {}", bare.size);
    assert!(held.0 as f64 <= promised * 1.35, "{text}: {held} of {}", bare.size);
    write_file(&made.directory);
    assert_file_is_whole(&made.directory, text);
    fail_drives(&fixture.drives, bare.tolerates(), text);
    fs::write("/proc/sys/vm/drop_caches", "3").expect("drop caches");
    assert_file_is_whole(&made.directory, text);
    fixture.tear_down_to(mark);
    assert_bare(&fixture, text);
    Some(fixture.notes.clone())
}

/// Has md lose the last `count` drives, with all partitions that they have.
fn fail_drives(drives: &[PathBuf], count: u32, stack: &str) {
    for drive in drives.iter().rev().take(count as usize) {
        let mut members = vec![name(drive)];
        members.extend(on_top(std::slice::from_ref(drive)));
        let mut failed = 0;
        for array in on_top(std::slice::from_ref(drive)) {
            for member in &members {
                let state = format!("/sys/class/block/{array}/md/dev-{member}/state");
                if Path::new(&state).exists() {
                    fs::write(&state, "faulty").unwrap_or_else(|e| panic!("{stack} {state}: {e}"));
                    failed += 1;
                }
            }
        }
        assert!(failed > 0, "{stack}: {} is in no array", drive.display());
    }
}

#[test]
fn md_levels() {
    for (text, mib) in [
        ("md-linear", vec![64, 96, 128]),
        ("md-raid0[chunk=64K]", vec![64, 96, 128]),
        ("md-raid1[bitmap=internal]", vec![64, 80, 64]),
        ("md-raid4[chunk=128K]", vec![64, 64, 64]),
        ("md-raid5[chunk=64K,layout=left-asymmetric]", vec![64, 64, 64, 80]),
        ("md-raid6[stripe-cache=1024]", vec![64, 64, 64, 64]),
        ("md-raid10", vec![64, 64, 64, 64]),
        ("md-raid10[layout=far2,chunk=64K]", vec![64, 64, 64]),
        ("md-raid10[layout=offset3]", vec![64, 64, 64]),
    ] {
        let Some(notes) = up_and_down(text, &mib) else { continue };
        let resynced = notes.iter().any(|(_, note)| note.contains("resynced before"));
        let redundant = !text.starts_with("md-linear") && !text.starts_with("md-raid0");
        assert_eq!(resynced, redundant, "{text}: {notes:?}");
        if text.contains("stripe-cache") {
            let said = notes.iter().any(|(_, note)| note.contains("stripe cache of 1024 pages"));
            assert!(said, "{notes:?}");
        }
    }
}

#[test]
fn other_file_systems_on_md() {
    for (text, mib) in [
        ("md-raid5/xfs", vec![200, 200, 200]),
        ("md-raid1/btrfs", vec![200, 200]),
        ("md-raid0/f2fs", vec![100, 100]),
        ("md-raid6[resync=skip]/nilfs2", vec![150; 4]),
    ] {
        let stack = stack(text, mib.len());
        if !can_make(&stack) {
            continue;
        }
        let mut fixture = fixture(&mib);
        let mark = fixture.ledger.mark();
        let made = fixture.make(&stack).unwrap_or_else(|e| panic!("{text}: {e}"));
        write_file(&made.directory);
        assert_file_is_whole(&made.directory, text);
        fixture.tear_down_to(mark);
        assert_bare(&fixture, text);
    }
}

#[test]
fn lvm_linear_and_striped() {
    up_and_down("lvm", &[64, 96, 128]);
    up_and_down("lvm[size=100M]", &[64, 128]);
    up_and_down("lvm[stripes=2,stripe-size=128K]", &[64, 96, 128]);
    up_and_down("lvm[stripes=3]", &[64, 128, 192, 256]);
    up_and_down("partition/lvm", &[64, 64]);
    up_and_down("md-raid5/lvm", &[64, 64, 64]);
}

#[test]
fn shr_on_unequal_drives() {
    for (text, mib, arrays) in [
        ("shr", vec![64, 128, 192, 192], vec!["raid1", "raid5", "raid5"]),
        ("shr[chunk=128K,resync=skip]", vec![100, 300], vec!["raid1"]),
        ("shr", vec![100, 110, 100], vec!["raid5"]),
        ("shr2", vec![192, 64, 128, 128, 192, 192], vec!["raid6", "raid6"]),
    ] {
        let whole = stack(&format!("{text}/ext4"), mib.len());
        if !can_make(&whole) {
            continue;
        }
        let mut fixture = fixture(&mib);
        fixture.make(&whole).unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut levels: Vec<String> = on_top(&fixture.drives)
            .iter()
            .map(|device| sys(&format!("{device}/md/level")))
            .filter(|level| !level.is_empty())
            .collect();
        levels.sort();
        assert_eq!(levels, arrays, "{text} on {mib:?}");
        drop(fixture);
        up_and_down(text, &mib);
    }
}

#[test]
fn luks() {
    up_and_down("crypt", &[96]);
    up_and_down("crypt[cipher=aes-xts-plain64,key-size=256,sector-size=4K]", &[96]);
    up_and_down("crypt[discard,no-workqueue]/md-raid1", &[64, 64]);
    let notes = up_and_down("md-raid5/crypt", &[64, 64, 64]);
    assert!(notes.is_none_or(|notes| !notes.is_empty()));
}

#[test]
fn integrity_of_each_algorithm_and_mode() {
    for text in [
        "integrity",
        "integrity[algorithm=xxhash64,mode=bitmap]",
        "integrity[algorithm=sha256,mode=direct]",
        "integrity[sector-size=4K]",
    ] {
        up_and_down(text, &[80]);
    }
    up_and_down("integrity/md-raid1", &[64, 64]);
}

#[test]
fn zero_drives_need_no_resync_but_decrypted_ones_do() {
    for (text, said) in [
        ("md-raid6/ext4", "the drives read as zeros"),
        ("crypt/md-raid5/ext4", "resynced before the first use"),
        ("md-raid10[resync=wait]/ext4", "resynced before the first use"),
    ] {
        let stack = stack(text, 4);
        if !can_make(&stack) {
            continue;
        }
        let mut fixture = fixture(&[64; 4]);
        let directory = fixture.path();
        let tag = format!("z{}", std::process::id());
        let mut context =
            LayerContext::new(&fixture.executor, &mut fixture.ledger, &directory, &tag, 1);
        context.drives_are_zero = true;
        context.below.reads_zeros = true;
        let made =
            stack.make(&fixture.drives, &mut context).unwrap_or_else(|e| panic!("{text}: {e}"));
        let notes = context.notes;
        assert!(notes.iter().any(|(_, note)| note.contains(said)), "{text}: {notes:?}");
        write_file(&made.directory);
        let array = on_top(&fixture.drives)
            .into_iter()
            .find(|device| !sys(&format!("{device}/md/sync_action")).is_empty())
            .expect("array");
        // The kernel itself finds copies and parity right.
        fs::write(format!("/sys/block/{array}/md/sync_action"), "check").expect("check");
        while sys(&format!("{array}/md/sync_action")) != "idle" {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        assert_eq!(sys(&format!("{array}/md/mismatch_cnt")), "0", "{text}");
    }
}

#[test]
fn leftovers_of_a_dead_owner_are_torn_down() {
    for text in ["shr/crypt/ext4", "integrity/md-raid1/lvm/ext4"] {
        let stack = stack(text, 2);
        if !can_make(&stack) {
            continue;
        }
        let elsewhere = tempfile::tempdir().expect("directory");
        let mut fixture = fixture(&[80, 80]);
        fixture.make(&stack).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(on_top(&fixture.drives).len() >= 3, "{text}");
        // As if its process had died: the lock goes, the entries stay.
        drop(std::mem::replace(
            &mut fixture.ledger,
            Ledger::open(elsewhere.path()).expect("ledger"),
        ));
        let Recovery { done, errors, .. } = recover(&fixture.state, &fixture.executor);
        assert!(errors.is_empty(), "{text}: {errors:?}");
        assert!(done.len() >= 3, "{text}: {done:?}");
        assert_eq!(on_top(&fixture.drives), Vec::<String>::new(), "{text}");
        assert_eq!(fixture.leftovers(), Vec::<String>::new(), "{text}");
    }
}

//! The `disks` bench, proven: disklab as a user starts it, in the lab's guests, on
//! modelled drives that are block devices with model and serial number. Every
//! refusal here was seen with the real kernel and the real programs.

use std::path::Path;

use crate::lab_support::{Guest, Transcript, boot};
use disklab_exec::find_program;
use disklab_store::{CellState, Run, RunInfo};

const STUDY: (&str, &str) = ("study.toml", include_str!("lab_support/study.toml"));
const KINDS: (&str, &str) = ("kinds.toml", include_str!("lab_support/kinds.toml"));
const ONE: (&str, &str) = ("one.toml", include_str!("lab_support/one.toml"));
const LARGE: (&str, &str) = ("large.toml", include_str!("lab_support/large.toml"));
const LONG: (&str, &str) = ("long.toml", include_str!("lab_support/long.toml"));

/// What happened in the guest of a theme, booted once for all its tests.
fn once(name: &str, script: &str, drives_mib: &[u64]) -> Option<Transcript> {
    Transcript::shared(name, script, &[STUDY, ONE, LARGE, LONG], drives_mib)
}

fn refusals() -> Option<Transcript> {
    let script = include_str!("lab_support/refusals.sh");
    once("refusals", script, &[128, 128, 128, 128, 512])
}

fn changes() -> Option<Transcript> {
    once("changes", include_str!("lab_support/changes.sh"), &[128, 128, 128, 192])
}

fn kills() -> Option<Transcript> {
    once("kills", include_str!("lab_support/kills.sh"), &[128, 128, 128, 128])
}

/// What is known of a finished run once its directory is gone.
struct Finished {
    info: RunInfo,
    states: Vec<CellState>,
    /// Model and serial number of each drive of each sample.
    drives: Vec<(String, String)>,
    report: String,
}

fn finished(directory: &Path) -> Finished {
    let run = Run::open(directory).expect("a run");
    let mut drives = Vec::new();
    run.for_each_sample(|_, sample| {
        let named = sample.environment.drives.iter();
        drives.extend(
            named.map(|d| {
                (d.model.clone().unwrap_or_default(), d.serial.clone().unwrap_or_default())
            }),
        );
    })
    .expect("samples");
    Finished {
        info: run.info().expect("its description"),
        states: run.cells().expect("cells").into_iter().map(|record| record.state).collect(),
        drives,
        report: std::fs::read_to_string(directory.join("report.html")).expect("a report"),
    }
}

#[test]
fn a_study_runs_on_disks_from_beginning_to_end() {
    let script = include_str!("lab_support/end_to_end.sh");
    let look = |directory: &Path| {
        let text = |name: &str| std::fs::read_to_string(directory.join(name)).expect("written");
        let left = ["ext4", "xfs", "f2fs", "nilfs2", "btrfs"]
            .map(|kind| (kind, text(&format!("cases/kind-{kind}/left"))));
        (
            text("drives"),
            finished(&directory.join("scsi")),
            finished(&directory.join("virtio")),
            left,
        )
    };
    let guest = boot(script, &[STUDY, KINDS], &[192, 192, 192, 512, 192, 192], look);
    let Some((guest, (listed, scsi, virtio, left))) = guest else { return };
    let Guest { report, transcript: guest, .. } = guest;
    let serials = ["K1AAAAAA", "K1BBBBBB", "K1 CC CC"];
    let by_id = "/dev/disk/by-id/scsi-SLAB_HDN721010ALE604_K1AAAAAA";
    for word in serials.into_iter().chain([by_id, "/dev/sda", "LAB HDN721010ALE604", "VIRT0006"]) {
        assert!(listed.contains(word), "no {word} in {listed}");
    }
    for name in ["scsi", "virtio"] {
        let case = guest.case(name);
        // Once measured and small, it may have severe findings.
        assert!(matches!(case.code, 0 | 1), "{name}: {}", case.stderr);
        assert!(case.stderr.contains("WILL BE ERASED"), "{}", case.stderr);
        assert!(!case.stderr.contains("FAILED"), "{}", case.stderr);
        case.left_nothing(name);
    }
    let plan: serde_json::Value = serde_json::from_str(&guest.case("plan").stdout).expect("JSON");
    assert!(plan["space_bytes"].as_u64().is_some_and(|bytes| bytes > 64 << 10), "{plan}");
    assert_eq!((&plan["space_in"], plan["free_bytes"].as_u64()), (&"the drives".into(), None));
    let said = &guest.case("virtio").stderr;
    assert_eq!(said.matches("WILL BE ERASED: ").count(), 1, "{said}");
    assert!(said.contains("WILL BE ERASED: /dev/disk/by-id/virtio-VIRT0004 "), "{said}");
    assert!(said.contains("not touched: /dev/disk/by-id/virtio-VIRT0006 "), "{said}");
    guest.case("virtio").left_alone("virtio", &["vde", "vdf"]);
    jobs_obey_the_same_rules(&guest);
    assert_eq!(scsi.states, [CellState::Done; 6]);
    assert_eq!(virtio.states, [CellState::Done; 2]);
    for (kind, left) in left {
        if find_program(&format!("mkfs.{kind}")).is_none() {
            eprintln!("skipped: needs mkfs.{kind}");
            continue;
        }
        let said = guest.said(&format!("kind-{kind}"), DONE);
        assert!(!said.contains("FAILED"), "{kind}: {said}");
        assert_eq!(left, "", "left on the drive by {kind}");
    }
    // Two cells on one drive, two on two, two on three.
    assert_eq!(scsi.drives.len(), 12);
    for serial in serials {
        assert!(scsi.info.bench_about.contains(serial), "{}", scsi.info.bench_about);
        assert!(scsi.report.contains(serial), "the report has no {serial}");
        let found = ("LAB HDN721010ALE604".to_owned(), serial.to_owned());
        assert!(scsi.drives.contains(&found), "{:?}", scsi.drives);
    }
    assert!(scsi.report.contains("HDN721010ALE604"));
    assert!(virtio.report.contains("VIRT0004"));
    // What was measured was measured on the drives.
    for (disk, report) in report.disks.iter().enumerate() {
        let writes = report.as_ref().expect("touched").drive.writes;
        // `--only` leaves the last virtio disk out.
        // The fifth is written to by jobs alone.
        assert_eq!(writes > 10, disk < 5, "{disk}: {writes}");
    }
}

/// `disklab fio` on drives (21.26).
fn jobs_obey_the_same_rules(guest: &Transcript) {
    for (case, words) in [
        ("fio-kernel-name", &["may mean another drive", "by-id/virtio-VIRT0005"][..]),
        ("fio-unasked", &["WILL BE WRITTEN TO", "blank", "pass --yes to continue"]),
        ("fio-not-blank", &["it is not blank: data without a signature at byte 0"]),
        ("fio-signed", &["it is not empty: ext4 on vde ('photos')", "--erase VIRT0005"]),
        ("fio-mounted", &["vde is mounted at /mnt/a; unmount it first"]),
    ] {
        guest.refused(case, words);
    }
    for case in ["fio-blank", "fio-named", "fio-held", "fio-erases", "fio-reads"] {
        guest.said(case, &[0]);
    }
    guest.case("fio-reads").left_alone("fio-reads", &["vde"]);
    assert!(!guest.console.contains("mkfs got a drive"), "{}", guest.console);
}

#[test]
fn drives_in_use_are_refused() {
    let Some(guest) = refusals() else { return };
    let held = "stop that first";
    for (case, words) in [
        ("mounted", &["sda is mounted at /mnt/a; unmount it first"][..]),
        ("mounted-erase", &["sda is mounted at /mnt/a"]),
        ("mounted-read-only", &["sda is mounted at /mnt/a"]),
        ("partition-mounted", &["sda1 is mounted at /mnt/a"]),
        ("root-drive", &["the root file system of this machine is on it (sda)"]),
        ("md-member", &["sdb is in use by md0", held]),
        ("dm-table", &["sda is in use by dm-0 (held)", held]),
        ("lvm-active", &["(group-volume)", held]),
        ("crypt-open", &["sda is in use by dm-0 (plain)", held]),
        ("loop-device", &["sda is in use by loop0 (/dev/sda)", held]),
        ("btrfs-first", &["sda is mounted at", "sda belongs to the mounted Btrfs"]),
        ("btrfs-second", &["sdb belongs to the mounted Btrfs"]),
        ("swap", &["/dev/sda is swap space in use; `swapoff` it first"]),
        ("open-by-a-process", &["process cat (", "has sda open; end it first"]),
        ("other-namespace", &["the kernel has it in use:"]),
        ("unmounted-lazily", &["the kernel has it in use:"]),
        ("behind-a-target", &["virtio-VIRT0001", "the kernel has it in use:"]),
        ("read-only", &["the kernel says that it is read-only"]),
        ("other-path-in-use", &["sda, which is in use", "another path to the same drive"]),
    ] {
        guest.refused(case, words);
    }
}

#[test]
fn drives_with_data_are_refused() {
    let Some(guest) = refusals() else { return };
    for (case, found) in [
        ("signed-ext4", "ext4 on sda ('photos')"),
        ("signed-btrfs", "btrfs on sdb"),
        ("signed-swap", "swap on sda"),
        ("signed-dos", "dos on sda, ext4 on sda1"),
        ("signed-gpt", "gpt on sda"),
        ("signed-lvm", "LVM2_member on sda"),
        ("signed-md", "linux_raid_member on sdb"),
        ("signed-luks1", "crypto_LUKS on sda"),
        ("signed-luks2", "crypto_LUKS on sda"),
        ("signed-zfs", "zfs_member on sda"),
        ("partition-without-table", "partition on sda1"),
    ] {
        let serial = if found.ends_with("sdb") { "K1BBBBB2" } else { "K1AAAAA1" };
        let erase = format!("allow it to be erased with --erase {serial}");
        guest.refused(case, &["it is not empty:", found, &erase]);
    }
    guest.refused("signed-xfs", &["xfs on vde", "--erase VIRT0005"]);
    guest.refused("signed-zfs", &["a ZFS pool may need the drive"]);
    for case in ["unsigned", "unsigned-serial-in-part"] {
        let words = ["it is not blank: data without a signature at byte", "--erase K1AAAAA1"];
        guest.refused(case, &words);
    }
    guest.refused("plan-of-a-signed-drive", &["it is not empty: ext4 on sda"]);
}

#[test]
fn only_the_exact_serial_number_allows_erasing() {
    let Some(guest) = refusals() else { return };
    for case in ["wrong-serial", "serial-in-part", "serial-of-the-other", "one-of-two-signed"] {
        guest.refused(case, &["K1AAAAA1 is not touched: it is not empty: ext4 on sda"]);
    }
    let words = ["--erase K1AAAAA1 does not tell which drive is meant: sda, sd"];
    guest.refused("serial-not-unique", &words);
}

#[test]
fn unstable_drive_names_are_refused() {
    let Some(guest) = refusals() else { return };
    let stable = ": /dev/disk/by-id/scsi-SLAB_HDN721010ALE604_K1AAAAA1";
    let unstable = "its name may mean another drive after the next start";
    for (case, words) in [
        ("kernel-name", &["/dev/sda is not touched", unstable, stable][..]),
        ("bare-name", &[unstable, stable]),
        ("link-to-a-stable-name", &[unstable, stable]),
        ("by-path", &[unstable, stable]),
        ("detour", &[unstable, stable]),
        ("empty-name", &[unstable]),
        ("partition-named", &["it is a partition of sda; disklab takes whole drives only", stable]),
        ("missing", &["there is no such name"]),
        ("dangling", &["it points to ../../sdz, which does not exist"]),
        ("a-file", &["it leads to /etc/passwd, which is not a block device"]),
        ("a-character-device", &["it leads to /dev/zero, which is not a block device"]),
        ("a-loop-device", &["it is loop0, which is not a drive of its own"]),
        ("an-array", &["it is md0, which is not a drive of its own"]),
        ("twice", &["it is the same drive as", "name each drive once"]),
        ("two-names", &["wwn-0x", "it is the same drive as", "name each drive once"]),
        ("two-paths-again", &["scsi-second", "it is the same drive as /dev/disk/by-id/scsi-first"]),
    ] {
        guest.refused(case, words);
    }
}

#[test]
fn runs_that_cannot_be_done_are_refused() {
    let Some(guest) = refusals() else { return };
    guest.refused("too-few", &["needs 3 drives; this bench has 2"]);
    guest.refused("too-small", &["needs 4 GiB and the stack has", "--scale"]);
    guest.refused("not-root", &["the bench 'disks:", "needs root; `disklab doctor` says more"]);
    let other =
        "leave out what it has no use for: /dev/disk/by-id/scsi-SLAB_HDN721010ALE604_K1BBBBB2";
    guest.refused("too-many", &["the study 'one' has 1 drive, and --on names 3", other]);
    guest.refused("no-consent", &["WILL BE ERASED", "would be erased; pass --yes to continue"]);
    let plan = guest.case("plan");
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    let said = format!("{}{}", plan.stdout, plan.stderr);
    assert!(said.contains("WILL BE ERASED") && said.contains("serial number K1AAAAA1"), "{said}");
    assert!(said.contains("for the largest cell, on the drives, which are large enough"), "{said}");
    plan.touched_nothing("plan");
}

#[test]
fn no_refused_run_left_a_trace() {
    let Some(guest) = refusals() else { return };
    assert!(!guest.console.contains("made a run"), "{}", guest.console);
}

/// A small run may well have severe findings: exit code 1.
const DONE: &[i32] = &[0, 1];

#[test]
fn a_drive_that_changes_before_the_first_write_is_noticed() {
    let Some(guest) = changes() else { return };
    let changed = "the drive changed between plan and run:";
    for (case, words) in [
        ("another-serial", &[changed, "the serial number was K1AAAAA1 and is K9OTHER9"][..]),
        ("another-size", &[changed, "the size was 134217728 bytes", "and is 201326592 bytes"]),
        ("replugged", &[changed, "it was unplugged or attached anew"]),
        ("link-turned", &[changed, "its name leads to sdb now"]),
        ("unplugged", &[changed, "it is gone: unplugged, or failed"]),
        ("formatted", &["it is not empty: ext4 on sda"]),
        ("mounted-meanwhile", &["sda is mounted at /mnt/a; unmount it first"]),
    ] {
        let said = guest.said(case, &[1]);
        for word in words.iter().chain(&["Type 'erase' to continue", "FAILED", "1 cell failed"]) {
            assert!(said.contains(word), "{case}: no '{word}' in: {said}");
        }
        guest.case(case).touched_nothing(case);
        guest.case(case).left_nothing(case);
    }
}

#[test]
fn the_question_is_asked_and_the_answer_counts() {
    let Some(guest) = changes() else { return };
    guest.refused("said-no", &["Everything on these drives will be lost", "nothing was touched"]);
    let said = guest.said("said-yes", DONE);
    assert!(!said.contains("FAILED") && said.contains("Report:"), "{said}");
    guest.case("said-yes").left_alone("said-yes", &["vdb"]);
    guest.case("said-yes").left_nothing("said-yes");
}

#[test]
fn a_run_continues_only_on_the_same_drive() {
    let Some(guest) = changes() else { return };
    let words = ["cannot be resumed here", "K1AAAAA1", "K9OTHER9"];
    guest.refused("resumed-on-another", &words);
    guest.refused("resumed-unasked", &["it is not empty: ext4 on sda ('photos')"]);
    let said = guest.said("resumed", DONE);
    assert!(said.contains("2 of 2 cells are left") && !said.contains("FAILED"), "{said}");
    guest.case("resumed").left_alone("resumed", &["vdb", "vdc"]);
    guest.case("resumed").left_nothing("resumed");
}

#[test]
fn a_drive_that_vanishes_while_it_is_measured_fails_its_cells_and_no_other_drive_is_written() {
    let Some(guest) = changes() else { return };
    let said = guest.said("vanished-alone", &[1]);
    for word in ["Input/output error", "[2/2] single/ext4", "the drive changed", "2 cells failed"] {
        let all = format!("{said} {}", guest.case("vanished-alone").stdout);
        assert!(all.contains(word), "no '{word}' in: {all}");
    }
    guest.case("vanished-alone").left_alone("vanished-alone", &["vdb", "vdc"]);
    guest.case("vanished-alone").left_nothing("vanished-alone");
    // The array continues, and dd with it; what it measured is not worth having.
    let said = guest.said("vanished-of-an-array", &[1]);
    for word in ["lost a member", "while it was measured", "it is gone: unplugged, or failed"] {
        assert!(said.contains(word), "no '{word}' in: {said}");
    }
    guest.case("vanished-of-an-array").left_alone("vanished-of-an-array", &["vdd"]);
    guest.case("vanished-of-an-array").left_nothing("vanished-of-an-array");
}

#[test]
fn ctrl_c_takes_everything_down() {
    let Some(guest) = kills() else { return };
    for case in ["ctrl-c-single", "ctrl-c-md"] {
        let said = guest.said(case, &[130]);
        let hint = "Continue with: disklab run --resume --out /run/work/run --erase K1AAAAA1";
        assert!(said.contains(hint), "{said}");
        assert_eq!(said.ends_with("--erase K3CCCCC3"), case == "ctrl-c-md", "{said}");
        let unasked = case.replace("ctrl-c", "unasked");
        guest.refused(&unasked, &["K1AAAAA1 is not touched: it is not blank"]);
        let during = &guest.case(case).leftovers_during;
        assert!(during.contains(" /run/work/run/disklab"), "{case}: {during}");
        assert_eq!(during.contains("active raid5"), case == "ctrl-c-md", "{during}");
        guest.case(case).left_nothing(case);
        let said = guest.said(&case.replace("ctrl-c", "resumed-as-hinted"), DONE);
        assert!(said.contains("2 of 2 cells are left") && !said.contains("FAILED"), "{said}");
        assert!(said.contains("WILL BE ERASED"), "{said}");
    }
}

#[test]
fn leftovers_of_a_killed_run_are_torn_down_at_the_next_start() {
    let Some(guest) = kills() else { return };
    assert!(!guest.console.contains("left dd running"), "{}", guest.console);
    for layout in ["single", "md"] {
        let killed = format!("killed-{layout}");
        guest.said(&killed, &[137]);
        let during = &guest.case(&killed).leftovers_during;
        assert!(during.contains(" /run/work/run/disklab"), "{during}");
        assert_eq!(guest.case(&killed).leftovers_after(), during, "{killed}");
        let after = format!("after-{layout}");
        let said = guest.said(&after, DONE);
        assert!(
            said.contains("left by a killed run: tore down the mount at /run/work/run/"),
            "{said}"
        );
        assert_eq!(said.contains("the md array on"), layout == "md", "{said}");
        assert_eq!(said.contains("the file system on /dev/sda"), layout == "single", "{said}");
        assert_eq!(guest.case(&after).leftovers_after(), "", "{said}");
        let said = guest.said(&format!("resumed-{layout}"), DONE);
        assert!(said.contains("2 of 2 cells are left") && !said.contains("FAILED"), "{said}");
    }
}

#[test]
fn leftovers_of_a_killed_run_are_left_alone_on_another_drive() {
    let Some(guest) = kills() else { return };
    assert!(!guest.console.contains("the other drive is"), "{}", guest.console);
    let said = guest.said("swapped", DONE);
    assert!(said.contains("left by a killed run:"), "{said}");
    guest.case("swapped").left_alone("swapped", &["vdd"]);
    assert_eq!(guest.case("swapped").leftovers_after(), "");
    let said = guest.said("moved", DONE);
    assert!(said.contains("tore down the file system on /dev/sd"), "{said}");
    assert!(said.contains("2 of 2 cells are left") && !said.contains("FAILED"), "{said}");
    guest.case("moved").left_alone("moved", &["vdd"]);
}

// What the user made on the partition, array, volume group, pool or mapping of a killed run, what the
// user added to it, and what is on a drive that was taken out of it: the script looks that it is there.
#[test]
fn a_file_system_of_the_users_on_layers_of_a_killed_run_stays() {
    /// Its UUID, as in the script.
    const THEIRS: &str = "11111111-2222-4333-8444-555555555555";
    const LAYOUTS: [&str; 6] = ["partition", "md", "lvm", "thin", "crypt", "integrity"];
    let script = include_str!("lab_support/leftovers.sh");
    let study = ("leftovers.toml", include_str!("lab_support/leftovers.toml"));
    let Some((guest, ())) = boot(script, &[study], &[128, 128, 128, 128], |_| ()) else { return };
    let guest = guest.transcript;
    for wrong in ["not the user's", "still on the drives"] {
        assert!(!guest.console.contains(wrong), "{}", guest.console);
    }
    for layout in LAYOUTS {
        guest.said(&format!("killed-{layout}"), &[137]);
        let left = guest.case(&format!("left-{layout}"));
        assert_eq!(left.code, 0, "{layout}: {}", left.stderr);
        for word in [THEIRS, "--discard", "--keep"] {
            assert!(left.stdout.contains(word), "{layout}: no '{word}' in {}", left.stdout);
        }
        let discarded = guest.case(&format!("discarded-{layout}"));
        assert_eq!(discarded.code, 0, "{layout}: {}", discarded.stderr);
        assert_eq!(discarded.leftovers_after(), "", "{layout}");
    }
    for (layout, theirs) in [("thin", "/theirs"), ("lvm", "the physical volume"), ("md", "/dev/sd")]
    {
        guest.said(&format!("added-killed-{layout}"), &[137]);
        let left = guest.case(&format!("added-{layout}"));
        for word in [theirs, "--discard", "--keep"] {
            assert!(left.stdout.contains(word), "{layout}: no '{word}' in {}", left.stdout);
        }
        let discarded = guest.case(&format!("added-discarded-{layout}"));
        assert_eq!(discarded.leftovers_after(), "", "{layout}: {}", discarded.stderr);
    }
    assert!(!guest.console.contains("is gone"), "{}", guest.console);
    guest.said("killed-suspended", &[137]);
    let said = guest.said("suspended", &[0]);
    assert_eq!(guest.case("suspended").leftovers_after(), "", "{said}");
    guest.said("given-killed", &[137]);
    let given = guest.case("given");
    assert!(given.stdout.contains("tore down the md array on /dev/sda"), "{}", given.stdout);
    assert_eq!(given.leftovers_after(), "", "{}", given.stdout);
    guest.said("waiting-killed", &[137]);
    let waiting = guest.case("waiting");
    assert!(waiting.stdout.contains("tore down the md array on /dev/sda"), "{}", waiting.stdout);
    for layout in LAYOUTS {
        guest.said(&format!("taken-killed-{layout}"), &[137]);
        let taken = guest.case(&format!("taken-{layout}"));
        assert_eq!(taken.leftovers_after(), "", "{layout}: {}", taken.stdout);
    }
}

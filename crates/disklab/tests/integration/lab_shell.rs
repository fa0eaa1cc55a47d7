//! `disklab lab shell`, as scripts use it.

use std::path::Path;
use std::time::Duration;

use crate::lab_support::has_programs;
use crate::lab_support::kernel::kernel;
use predicates::prelude::*;
use predicates::str::{contains, is_match};

/// A shell in a directory of its own, which holds what it leaves behind too.
fn shell(place: &Path, kernel: &Path) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::cargo_bin("disklab").expect("the program is built");
    command.args(["lab", "shell", "--kernel"]).arg(kernel).env("XDG_CACHE_HOME", place);
    command.args(["--memory", "512MiB"]).current_dir(place).timeout(Duration::from_secs(300));
    command
}

/// Nothing of a session may stay.
pub fn assert_clean(place: &Path) {
    let directory = place.join("disklab");
    let left: Vec<_> = std::fs::read_dir(&directory)
        .map(|entries| entries.flatten().map(|e| e.file_name()).collect())
        .unwrap_or_default();
    assert!(left.is_empty(), "{left:?} stayed in {}", directory.display());
}

#[test]
fn a_command_runs_among_modelled_drives() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    std::fs::write(place.path().join("mine"), "my own\n").expect("written");
    let script = "echo told >&2
        lsblk -dnbro NAME,SIZE
        readlink /dev/disk/by-id/*
        a=$(date +%s); sleep 3600; echo slept $(($(date +%s) - a))
        cat mine; echo more >> mine && echo changed
        exit 7";
    shell(place.path(), &kernel)
        .args(["--drives", "hgst-10tb:2", "--drives", "st3500418as:1:100GB", "-c", script])
        .assert()
        .code(7)
        .stdout(contains("vda 10000831348736\nvdb 10000831348736\nvdc 100000000000\n"))
        .stdout(contains("../../vda\n../../vdb\n../../vdc\nslept 3600\nmy own\n"))
        .stdout(contains("changed").not())
        .stderr(contains("told\n"))
        .stderr(is_match("disklab: 1 h 00 min of virtual time in .* m?s\n").expect("pattern"));
    assert_clean(place.path());
    assert_eq!(std::fs::read_to_string(place.path().join("mine")).expect("mine"), "my own\n");
}

#[test]
fn guests_have_a_program_of_their_own_or_disklab_where_it_is_missing() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    // What is asked of drives is answered by the program, too.
    let script = "basename $(readlink /proc/1/exe); hdparm -W /dev/vda | tail -n 1";
    let answer = " write-caching =  1 (on)\n";
    let options = ["--drives", "hgst-10tb", "-c", script];
    let started = shell(place.path(), &kernel).args(options).assert().success();
    started.stdout(contains(format!("disklab-guest\n{answer}")));

    let alone = place.path().join("bin");
    std::fs::create_dir(&alone).expect("a directory");
    let program = alone.join("disklab");
    std::fs::copy(env!("CARGO_BIN_EXE_disklab"), &program).expect("copied");
    // Of another build, as after an update of one of the two.
    let other = alone.join("disklab-guest");
    std::fs::write(&other, "#!/bin/sh\necho of another build\n").expect("written");
    let may_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&other, may_run).expect("permissions");
    let mut command = assert_cmd::Command::new(&program);
    command.args(["lab", "shell", "--kernel"]).arg(&kernel).args(["--memory", "512MiB"]);
    command.env("XDG_CACHE_HOME", place.path()).current_dir(place.path());
    let started = command.args(options).timeout(Duration::from_secs(300)).assert().success();
    started.stdout(contains(format!("disklab\n{answer}")));
}

#[test]
fn cpu_time_is_charged_if_asked_for() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    let script = "cat /sys/module/charge/parameters/bio
        a=$(date +%s%N); dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none
        b=$(date +%s%N); echo took $((b - a))";
    let output = |words: &[&str]| {
        let mut command = shell(place.path(), &kernel);
        command.args(["--drives", "st3500418as", "-c", script]).args(words);
        let output = command.assert().success();
        String::from_utf8_lossy(&output.get_output().stdout).into_owned()
    };
    let took = |text: &str| -> u64 {
        let took = text.lines().find_map(|line| line.strip_prefix("took "));
        took.and_then(|ns| ns.parse().ok()).unwrap_or_else(|| panic!("{text}"))
    };
    let free = output(&[]);
    assert!(free.starts_with("0\n"), "{free}");
    let charged = output(&["--processor", "atom-d2700"]);
    assert!(charged.starts_with("1500\n"), "{charged}");
    // A microsecond for each of 40,000 system calls.
    assert!(took(&charged) > took(&free) + 40_000_000, "{free} {charged}");
    shell(place.path(), &kernel)
        .args(["--processor", "atom-d2701", "-c", "true"])
        .assert()
        .code(2)
        .stderr(contains("did you mean 'atom-d2700'"));
}

#[test]
fn the_same_script_says_the_same_and_takes_the_same_time() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    let script = place.path().join("script");
    let text = "mkfs.ext4 -q /dev/vda && mount /dev/vda /mnt && seq 200000 > /mnt/f
        dd if=/dev/vda of=/dev/null bs=1M count=50 iflag=direct 2>&1
        sync; date +%s%N; blkid -o value -s UUID /dev/vda";
    std::fs::write(&script, text).expect("written");
    let run = || {
        let mut command = shell(place.path(), &kernel);
        command.args(["--drives", "st3500418as", "--seed", "5", "--script"]).arg(&script);
        let output = command.assert().success();
        String::from_utf8_lossy(&output.get_output().stdout).into_owned()
    };
    let first = run();
    assert!(first.contains("50+0 records out"), "{first}");
    assert_eq!(run(), first);
    // Long output comes too; but who prints it waits for this machine's reader.
    let output = shell(place.path(), &kernel).args(["-c", "seq 200000"]).assert().success();
    let said = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(said.lines().eq((1..=200_000).map(|n| n.to_string())), "all output came");
}

#[test]
fn only_named_directories_can_be_written() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    let open = place.path().join("open to all");
    std::fs::create_dir(&open).expect("made");
    let script = format!(
        "echo hello > '{0}/open to all/there'; touch '{0}/elsewhere'; touch /usr/elsewhere
         echo x >> /etc/mdadm.conf && echo etc is ours",
        place.path().display()
    );
    shell(place.path(), &kernel)
        .args(["--drives", "st3500418as", "--writable"])
        .arg(&open)
        .args(["-c", &script])
        .assert()
        .success()
        .stdout("etc is ours\n");
    assert_eq!(std::fs::read_to_string(open.join("there")).expect("there"), "hello\n");
    assert!(!place.path().join("elsewhere").exists());
    assert!(!Path::new("/usr/elsewhere").exists());
}

/// Not even where it may write: a program that runs as its owner is a gift to others.
#[test]
fn a_guest_changes_no_modes_owners_and_times() {
    use std::os::unix::fs::MetadataExt;
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    let [open, other] = ["open", "other"].map(|name| place.path().join(name));
    for directory in [&open, &other] {
        std::fs::create_dir(directory).expect("made");
        std::fs::write(directory.join("file"), "x").expect("written");
    }
    let state = |directory: &Path| {
        let m = std::fs::metadata(directory.join("file")).expect("there");
        (m.mode(), m.uid(), m.mtime(), m.ctime(), m.ctime_nsec())
    };
    let before = [state(&open), state(&other)];
    let script = format!(
        "mount -t hostfs -o '{0}/other' none /mnt
         for file in '{0}/open/file' /mnt/file; do
            chmod 4755 $file 2>/dev/null || echo no mode
            chown 1:1 $file 2>/dev/null || echo no owner
            touch -d 2001-01-01 $file 2>/dev/null || echo no times
         done",
        place.path().display()
    );
    shell(place.path(), &kernel)
        .args(["--drives", "st3500418as", "--writable"])
        .arg(&open)
        .args(["-c", &script])
        .assert()
        .success()
        .stdout("no mode\nno owner\nno times\n".repeat(2));
    assert_eq!([state(&open), state(&other)], before);
}

#[test]
fn arrays_volumes_and_encryption_work_by_hand() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["mdadm", "lvm", "cryptsetup", "mkfs.btrfs"]) {
        return;
    }
    let place = tempfile::tempdir().expect("temp");
    let script = "set -e
        mdadm -q --create /dev/md/home --level 5 --raid-devices 3 --assume-clean /dev/vd[abc]
        mkfs.btrfs -q /dev/md/home; mount /dev/md/home /mnt; echo x > /mnt/x; umount /mnt
        mdadm -q --stop /dev/md/home; wipefs -aq /dev/vd[abc]
        vgcreate -q vg /dev/vda /dev/vdb; lvcreate -q -L 1G -i 2 -n lv vg
        mkfs.ext4 -q /dev/vg/lv; vgremove -q -y vg
        printf secret | cryptsetup luksFormat -q /dev/vdc -
        printf secret | cryptsetup open --key-file - /dev/vdc crypt
        mkfs.ext4 -q /dev/mapper/crypt; mount /dev/mapper/crypt /mnt
        echo all done";
    shell(place.path(), &kernel)
        .args(["--drives", "hgst-10tb:3:200GB", "-c", script])
        .assert()
        .success()
        .stdout(predicates::str::ends_with("all done\n"));
}

/// What udev's rules make: links of drives and partitions that come and go, also of a name with
/// what no name may hold.
/// md would rebuild for a day, and without its drives fail for ever.
#[test]
fn a_session_ends_while_md_rebuilds_and_says_so() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["mdadm"]) {
        return;
    }
    let place = tempfile::tempdir().expect("temp");
    let script = "mdadm --create /dev/md0 -l5 -n3 --run --quiet /dev/vda /dev/vdb /dev/vdc
        sleep 0.3; echo kept > open/note; exit 3";
    let open = place.path().join("open");
    std::fs::create_dir(&open).expect("made");
    shell(place.path(), &kernel)
        .args(["--drives", "hgst-10tb:3", "--writable"])
        .arg(&open)
        .args(["-c", script])
        .assert()
        .code(3)
        .stderr(
            is_match("disklab: md0 was stopped at 0.0% of its recovery\r?\n").expect("pattern"),
        );
    assert_eq!(std::fs::read_to_string(open.join("note")).expect("note"), "kept\n");
}

#[test]
fn a_session_says_that_the_labs_own_limit_was_reached() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["fio"]) {
        return;
    }
    let place = tempfile::tempdir().expect("temp");
    let busy = "fio --name=n --ioengine=null --size=1G --time_based --runtime=1 > /dev/null";
    for (script, is_said) in [(busy, true), ("sleep 10", false)] {
        let done = shell(place.path(), &kernel).args(["-c", script]).assert().success();
        let said = contains("the lab's processor, which is free, was busy");
        assert_eq!(said.eval(&String::from_utf8_lossy(&done.get_output().stderr)), is_said);
    }
}

#[test]
fn drives_have_names_as_on_a_machine() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    let text = disklab_drive::SHIPPED[0].1;
    let odd = text
        .replace("\"HGST HDN721010ALE604\"", "\"../ODD 'drive' $(reboot)\"")
        .replace("hdn721010ale604", "odd");
    std::fs::write(place.path().join("odd.toml"), odd).expect("written");
    let script = "cd /dev/disk/by-id; ls
        echo start=1MiB | sfdisk -q -X gpt /dev/vda; udevadm settle && readlink *-part*
        grep -c . /run/udev/data/b253:1
        sfdisk -q --delete /dev/vda; sleep 1; ls | grep -c part
        printf 'start=1MiB,size=1MiB\\nstart=2MiB' | sfdisk -q -X gpt vir*980*; sleep 1
        ls | grep nvme; ls /run/udev";
    let models = ["hgst-10tb", "samsung-980-1tb", "st9300603ss", "./odd.toml"];
    let drives = models.iter().flat_map(|model| ["--drives", *model]);
    shell(place.path(), &kernel).args(drives).args(["-c", script]).assert().success().stdout(
        "ata-.._ODD__drive____reboot__ODD-01
ata-HGST_HDN721010ALE604_HDN721010ALE604-01
nvme-Samsung_SSD_980_1TB_SAMSUNG9801TB-01
scsi-SST9300603SS_ST9300603SS-01
virtio-HDN721010ALE604-01
virtio-ODD-01
virtio-SAMSUNG9801TB-01
virtio-ST9300603SS-01
../../vda1
../../vda1
16
0
nvme-Samsung_SSD_980_1TB_SAMSUNG9801TB-01
nvme-Samsung_SSD_980_1TB_SAMSUNG9801TB-01-part1
nvme-Samsung_SSD_980_1TB_SAMSUNG9801TB-01-part2
data
",
    );
}

/// Both open for writing what is mounted, or will be.
#[test]
fn images_are_mounted_and_mounted_drives_grow() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    let script = "cd /run; truncate -s 8M image; mkfs.ext4 -q -F image; mkdir /mnt/image
        mount -o loop image /mnt/image && echo mounted; umount /mnt/image
        mkfs.ext4 -q /dev/vda 10M; mount /dev/vda /mnt/image
        resize2fs /dev/vda 20M >resized 2>&1 && echo grown || cat resized";
    shell(place.path(), &kernel)
        .args(["--drives", "hgst-10tb:1:1GB", "-c", script])
        .assert()
        .success()
        .stdout("mounted\ngrown\n");
}

/// The real `udevadm wait` waits for udevd, which is not there: xfstests' dm-flakey would hang.
#[test]
fn udevadm_wait_waits_for_nodes() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("directory");
    let script = "udevadm wait /dev/vda && echo there
        udevadm wait -t 2 /dev/none 2>&1 || date +%S
        (sleep 3; ln -s vda /dev/late) & udevadm wait --settle /dev/late && date +%S
        (sleep 4; rm /dev/late) & udevadm wait --removed /dev/late && date +%S";
    shell(place.path(), &kernel).args(["-c", script]).assert().success().stdout(
        "there
Timed out for waiting devices being initialized.
02
05
09
",
    );
}

#[test]
fn lsblk_shows_the_modelled_drives() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    let columns = "lsblk -dPo NAME,MODEL,SERIAL,ROTA,SIZE";
    shell(place.path(), &kernel)
        .args(["--drives", "wd40efrx-68n32n0", "--drives", "samsung-980-1tb", "-c", columns])
        .assert()
        .success()
        .stdout(
            "NAME=\"vda\" MODEL=\"WDC WD40EFRX-68N32N0\" SERIAL=\"WD40EFRX68N32N0-01\" \
             ROTA=\"1\" SIZE=\"3.6T\"\n\
             NAME=\"vdb\" MODEL=\"Samsung SSD 980 1TB\" SERIAL=\"SAMSUNG9801TB-01\" \
             ROTA=\"0\" SIZE=\"931.5G\"\n",
        );
}

/// By what it does to synchronous writes: without the cache, each waits for the platters.
#[test]
fn hdparm_switches_the_drives_own_write_cache() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["hdparm"]) {
        return;
    }
    let place = tempfile::tempdir().expect("temp");
    let script = "write() {
            a=$(date +%s%N)
            dd if=/dev/zero of=/dev/vda bs=4k count=20 seek=$1 oflag=direct status=none
            echo took $(($(date +%s%N) - a))
        }
        write 1000; hdparm -W0 /dev/disk/by-id/ata-*; write 2000; hdparm -W /dev/vda
        cat /sys/block/vda/queue/write_cache; hdparm -W 1 /dev/vda; write 3000
        hdparm -I /dev/vda; hdparm -S 242 /dev/vda; hdparm -I /dev/vdb; echo code $?";
    let output = shell(place.path(), &kernel)
        .args(["--drives", "hgst-10tb", "--drives", "samsung-980-1tb", "-c", script])
        .assert()
        .success()
        .stdout(contains(":\n setting drive write-caching to 0 (off)\n write-caching =  0 (off)\n"))
        .stdout(contains("\n/dev/vda:\n write-caching =  0 (off)\nwrite through\n"))
        .stdout(contains(" setting drive write-caching to 1 (on)\n write-caching =  1 (on)\n"))
        .stdout(contains("Model Number:       HGST HDN721010ALE604"))
        .stdout(contains("Firmware Revision:  disklab"))
        .stdout(contains("Nominal Media Rotation Rate: 7200"))
        .stdout(contains("\t   *\tWrite cache\n").and(contains("code 22\n")))
        .stderr(contains("hdparm -S does nothing in the lab: the model has no power states"))
        .stderr(contains(
            "hdparm asks by ATA, and /dev/vdb is a NVMe drive: `smartctl -i /dev/vdb` tells",
        ));
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let took = text.lines().filter_map(|line| line.strip_prefix("took "));
    let took: Vec<u64> = took.map(|ns| ns.parse().expect("a number")).collect();
    // 20 writes one after another wait for at least 19 revolutions of 8.3 ms.
    assert!(took.len() == 3 && took[1] > 19 * 8_300_000, "{took:?}");
    assert!(took[0] * 5 < took[1] && took[2] * 5 < took[1], "{took:?}");
}

#[test]
fn smartctl_shows_the_modelled_drives() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["smartctl"]) {
        return;
    }
    let place = tempfile::tempdir().expect("temp");
    let script = "smartctl --scan; for d in a b c; do smartctl -i /dev/vd$d; done
        smartctl -s wcache,off /dev/vda; smartctl -g wcache /dev/vda; smartctl -j -i /dev/vda
        smartctl -A /dev/vdb; echo code $?; smartctl -i /dev/vdx; echo code $?";
    let models = ["hgst-10tb", "samsung-980-1tb", "st9300603ss"];
    shell(place.path(), &kernel)
        .args(models.iter().flat_map(|model| ["--drives", *model]))
        .args(["-c", script])
        .assert()
        .success()
        .stdout(contains("/dev/vdb -d nvme # /dev/vdb, NVMe device\n"))
        .stdout(contains("Device Model:     HGST HDN721010ALE604\n"))
        .stdout(contains("Serial Number:    HDN721010ALE604-01\nFirmware Version: disklab\n"))
        .stdout(contains("User Capacity:    10,000,831,348,736 bytes [10.0 TB]\n"))
        .stdout(contains("Rotation Rate:    7200 rpm\n").and(contains("10000 rpm")))
        .stdout(contains("Model Number:                       Samsung SSD 980 1TB\n"))
        .stdout(contains("Write cache disabled\n"))
        .stdout(contains("Write cache is:   Disabled\n"))
        .stdout(contains("\"serial_number\": \"HDN721010ALE604-01\""))
        .stdout(contains("code 4\n").and(contains("code 1\n")))
        .stderr(contains("the modelled drive keeps no SMART data"));
}

#[test]
fn programs_called_by_their_path_are_the_labs_too() {
    let Some(kernel) = kernel() else { return };
    if !has_programs(&["fio", "hdparm"]) {
        return;
    }
    let place = tempfile::tempdir().expect("temp");
    let script = "for f in fio $(PATH=${PATH#*:} command -v fio); do
            $f --name=a --filename=/dev/vda --rw=randread --bs=4k --direct=1 --size=1t \
                --number_ios=100 --norandommap --output-format=terse | cut -d';' -f40 | cut -d. -f1
        done
        $(PATH=${PATH#*:} command -v hdparm) -W0 /dev/vda >&2; cat /sys/block/vda/queue/write_cache
        fio --version >&2";
    let output = shell(place.path(), &kernel)
        .args(["--drives", "hgst-10tb", "-c", script])
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let [by_name, by_path, cache] = lines[..] else { panic!("{text}") };
    // Within 1 TB of a drive with 7200 revolutions a minute: half a revolution and a seek, in µs.
    for latency in [by_name, by_path] {
        let latency: u64 = latency.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!((4_167..12_000).contains(&latency), "{text}");
    }
    assert_eq!(cache, "write through", "{text}");
}

#[test]
fn programs_that_can_do_nothing_say_why() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("temp");
    let script = "nvme list; echo code $?; lsscsi; zpool status; sudo -u nobody id; sudo
        sudo -n echo run; sudo A=b sh -c 'echo $A-$(id -u)'; sudo -- false || echo failed";
    shell(place.path(), &kernel)
        .args(["--drives", "hgst-10tb", "-c", script])
        .assert()
        .success()
        .stdout("code 1\nrun\nb-0\nfailed\n")
        .stderr(contains("disklab: nvme sends NVMe commands, and the lab's disks are virtio"))
        .stderr(contains("disklab: lsscsi sends SCSI commands"))
        .stderr(contains("disklab: zpool needs a kernel with ZFS: leave and call `disklab lab"))
        .stderr(contains("call the command without sudo").count(2));
}

/// On whole drives, by their links, as a NAS's owner types it.
#[test]
fn a_pool_is_made_on_whole_drives() {
    let Some(zfs) = disklab_lab_kernel::find_zfs(&disklab_lab_kernel::cache_directory()) else {
        eprintln!("skipped: needs the lab's ZFS kernel (disklab lab build --zfs)");
        return;
    };
    let place = tempfile::tempdir().expect("temp");
    let script = "set -e; a=$(date +%s)
        zpool create -m /mnt/p tank raidz1 /dev/disk/by-id/ata-* && echo hello > /mnt/p/file
        zpool status -P tank | grep -c by-id/ata-HGST_HDN721010ALE604_HDN721010ALE604-0.-part1
        zpool destroy tank; zpool create -f -m /mnt/q other mirror vda vdb
        zpool list -Ho health other; zpool destroy other
        zpool create third vda; echo hello > /mnt/third/file; zpool destroy third
        [ $(($(date +%s) - a)) -lt 60 ] && echo without waiting";
    shell(place.path(), &zfs.kernel)
        .args(["--zfs", "--drives", "hgst-10tb:3", "-c", script])
        .assert()
        .success()
        .stdout("3\nONLINE\nwithout waiting\n");
}

#[test]
fn usage_error_ends_with_2() {
    let place = tempfile::tempdir().expect("temp");
    for (arguments, expected) in [
        (vec!["--drives", "hgst-10tv", "-c", "true"], "did you mean 'hgst-10tb'"),
        (vec!["--drives", "hgst-10tb:0", "-c", "true"], "invalid count"),
        (vec!["--memory", "1MiB", "-c", "true"], "a guest takes from 128 MiB"),
        (vec!["--script", "/no/such/script"], "cannot read the script '/no/such/script'"),
        (vec!["--writable", "/no/such/directory", "-c", "true"], "--writable /no/such/directory"),
        (vec!["--writable", "/", "-c", "true"], "name one within"),
        (
            vec!["--kernel", "/no/such/kernel", "-c", "true"],
            "--kernel '/no/such/kernel': No such file",
        ),
        (vec!["-c", "true", "--script", "x"], "cannot be used with"),
        (vec![], "a prompt needs a terminal"),
    ] {
        assert_cmd::Command::cargo_bin("disklab")
            .expect("the program is built")
            .args(["lab", "shell"])
            .args(&arguments)
            .env("XDG_CACHE_HOME", place.path())
            .env("DISKLAB_LAB_KERNEL", "/no/such/kernel")
            .assert()
            .code(2)
            .stderr(contains(expected));
    }
    assert_clean(place.path());
}

//! Real kernels, in virtual time.

use std::path::Path;
use std::time::Duration;

use crate::support::{kernel, run, steady};
use disklab_drive::Nanos;
use disklab_lab::{ContentLimits, DiskOptions, Lab, LabError, LabOptions};

#[test]
fn a_guest_prints_and_powers_off() {
    let Some(kernel) = kernel() else { return };
    let outcome = run(kernel, "echo said=hello", Vec::new(), |_| {});
    outcome.report();
    assert_eq!(outcome.word("said"), "hello");
}

#[test]
fn an_hour_of_sleep_takes_no_time() {
    let Some(kernel) = kernel() else { return };
    let script = "a=$(date +%s); sleep 3600; b=$(date +%s); echo slept=$((b - a)) year=$(date +%Y)";
    let outcome = run(kernel, script, Vec::new(), |_| {});
    let report = outcome.report();
    assert_eq!(outcome.word("slept"), "3600");
    assert_eq!(outcome.word("year"), "2026");
    assert!(report.real_time.as_secs() < 60, "{:?}", report.real_time);
}

/// While a program computes, time is frozen: no tick would ever come to let the
/// other shell run. The first shell makes no system call at all in its loop, and is
/// ended by the other.
#[test]
fn a_program_that_busy_waits_does_not_wait_for_ever() {
    let Some(kernel) = kernel() else { return };
    let script = "
        a=$(date +%s%N)
        (while :; do :; done) & waiting=$!
        (sleep 0.2; kill $waiting) &
        wait $waiting
        echo ended=$? took=$(($(date +%s%N) - a))";
    let outcome = run(kernel, script, Vec::new(), |_| {});
    outcome.report();
    assert_eq!(outcome.word("ended"), "143");
    let took = outcome.number("took") / 1e9;
    assert!((0.2..1.0).contains(&took), "{took}");
}

/// The scheduler has twice the depth to sort among (`blk_mq_init_sched` in
/// block/blk-mq-sched.c).
#[test]
fn the_kernel_keeps_what_a_drive_does_not_take() {
    let Some(kernel) = kernel() else { return };
    let script = "echo requests=$(cat /sys/block/vda/queue/nr_requests)";
    let requests = |depth| {
        let disk = |disk| DiskOptions { queue_depth: depth, ..disk };
        let disks = steady(1, 64, 1_000_000).into_iter().map(disk).collect();
        run(kernel.clone(), script, disks, |_| {}).number("requests")
    };
    assert_eq!(requests(None), 256.0);
    assert_eq!(requests(Some(32)), 64.0);
}

#[test]
fn a_disk_keeps_what_file_systems_write() {
    let Some(kernel) = kernel() else { return };
    let script = "
        echo sectors=$(cat /sys/block/vda/size) serial=$(cat /sys/block/vda/serial)
        dd if=/dev/urandom of=/tmp/data bs=1M count=8 2>/dev/null
        for fs in ext4 xfs btrfs; do
            mkfs.$fs -q /dev/vda >/dev/null 2>&1 || mkfs.$fs -f -q /dev/vda || mkfs.$fs -F -q /dev/vda
            mount -t $fs /dev/vda /mnt || echo $fs does not mount
            cp /tmp/data /mnt/data; umount /mnt; mount -t $fs /dev/vda /mnt
            cmp /tmp/data /mnt/data && echo $fs=same
            umount /mnt
        done";
    let outcome = run(kernel, script, steady(1, 1024, 0), |_| {});
    let report = outcome.report();
    for fs in ["ext4", "xfs", "btrfs"] {
        assert_eq!(outcome.word(fs), "same");
    }
    assert_eq!((outcome.word("sectors"), outcome.word("serial")), ("2097152", "LAB00000"));
    let disk = report.disks[0].as_ref().unwrap();
    assert!(disk.requests > 100, "{}", disk.requests);
}

#[test]
fn reads_take_the_drives_time() {
    let Some(kernel) = kernel() else { return };
    let script = "
        a=$(date +%s%N); dd if=/dev/vda of=/dev/null bs=4k count=1000 iflag=direct 2>/dev/null
        b=$(date +%s%N); echo took=$((b - a))";
    let outcome = run(kernel, script, steady(1, 100, 5_000_000), |_| {});
    outcome.report();
    // A thousand reads of 5 ms; starting dd and reading the clock cost little.
    let took = outcome.number("took") / 1e9;
    assert!((5.0..5.01).contains(&took), "{took}");
}

#[test]
fn a_modelled_hard_disk_rotates_while_it_is_read() {
    let Some(kernel) = kernel() else { return };
    let model = disklab_drive::shipped("hdn721010ale604").unwrap().limited_to(64 << 30).unwrap();
    let script = "
        a=$(date +%s%N)
        for n in 1 2 3 4 5 6 7 8 9 10; do
            dd if=/dev/vda of=/dev/null bs=4k count=1 skip=$((n * 1600000)) iflag=direct 2>/dev/null
        done
        echo took=$(($(date +%s%N) - a)) sectors=$(cat /sys/block/vda/size)
        mkfs.ext4 -q /dev/vda && mount /dev/vda /mnt && echo mounted=yes
        dd if=/dev/zero of=/mnt/f bs=4k count=16 oflag=dsync 2>/dev/null
        echo cache=$(tr ' ' _ < /sys/block/vda/queue/write_cache)
        echo 'write through' > /sys/block/vda/cache_type
        echo then=$(tr ' ' _ < /sys/block/vda/queue/write_cache)";
    let disk = DiskOptions::of(&model, 1, "K1234567");
    let outcome = run(kernel, script, vec![disk], |_| {});
    let report = outcome.report();
    // Ten seeks, each with a part of a revolution of 8.3 ms.
    let each = outcome.number("took") / 10.0;
    assert!((1e6..30e6).contains(&each), "{each}");
    assert_eq!(outcome.number("sectors") * 512.0, model.capacity() as f64);
    assert_eq!(outcome.word("mounted"), "yes");
    assert_eq!((outcome.word("cache"), outcome.word("then")), ("write_back", "write_through"));
    let drive = report.disks[0].as_ref().unwrap().drive;
    assert!(drive.flushes > 0 && drive.refused == 0, "{drive:?}");
}

#[test]
fn md_raid5_over_four_disks() {
    let Some(kernel) = kernel() else { return };
    let script = "
        mdadm --create /dev/md0 --level=5 --raid-devices=4 --assume-clean --run \
            /dev/vda /dev/vdb /dev/vdc /dev/vdd 2>&1
        mkfs.ext4 -q -E nodiscard /dev/md0; mount /dev/md0 /mnt
        dd if=/dev/urandom of=/tmp/data bs=1M count=4 2>/dev/null
        a=$(date +%s%N)
        cp /tmp/data /mnt/data; sync
        echo took=$(($(date +%s%N) - a))
        umount /mnt
        mdadm /dev/md0 --fail /dev/vdb 2>&1; echo 3 > /proc/sys/vm/drop_caches
        mount /dev/md0 /mnt; cmp /tmp/data /mnt/data && echo degraded=same
        umount /mnt; mdadm --stop /dev/md0 2>&1";
    let outcome = run(kernel, script, steady(4, 256, 1_000_000), |_| {});
    let report = outcome.report();
    assert_eq!(outcome.word("degraded"), "same");
    // 4 MiB and their parity on four disks, in requests of 1280 KiB at most.
    assert!(outcome.number("took") > 2e6, "{}", outcome.console);
    for disk in &report.disks {
        assert!(disk.as_ref().unwrap().requests > 10, "{report:?}");
    }
}

#[test]
fn only_the_named_directories_can_be_written() {
    let Some(kernel) = kernel() else { return };
    let victim = tempfile::tempdir().unwrap();
    let named = tempfile::tempdir().unwrap();
    std::fs::write(victim.path().join("old"), "content").unwrap();
    let (place, open) = (victim.path().display(), named.path().display());
    let script = format!(
        "
        umount /tmp
        touch {place}/new || echo touch=refused
        mount -t hostfs -o {place} none /mnt
        touch /mnt/new || echo again=refused
        echo x > /mnt/old || echo overwrite=refused
        rm -f /mnt/old || echo remove=refused
        mv /mnt/old /mnt/other || echo rename=refused
        mount -o remount,rw /
        mkdir {place}/made || echo mkdir=refused
        umount /mnt; mount -t hostfs -o {open} none /mnt
        echo hello > /mnt/said && echo named=written"
    );
    let outcome = run(kernel, &script, Vec::new(), |o| o.writable.push(named.path().into()));
    outcome.report();
    assert_eq!(outcome.word("touch"), "refused", "the root is read-only");
    assert_eq!(outcome.word("named"), "written");
    let old = std::fs::read_to_string(victim.path().join("old")).unwrap();
    assert_eq!(std::fs::read_to_string(named.path().join("said")).unwrap(), "hello\n");
    if !outcome.console.contains("again=refused") {
        eprintln!("skipped: needs Landlock in this machine's kernel");
        return;
    }
    for word in ["overwrite", "remove", "rename", "mkdir"] {
        assert_eq!(outcome.word(word), "refused");
    }
    assert_eq!(old, "content");
    assert_eq!(std::fs::read_dir(victim.path()).unwrap().count(), 1);
}

/// What a kernel says whose mappings the system limits, and what it does then.
#[test]
fn a_guest_without_mappings_has_a_remedy() {
    let Some(kernel) = kernel() else { return };
    let words = "UML ran out of memory on the host side!";
    let script = format!("echo '{words}' > /dev/kmsg; echo c > /proc/sysrq-trigger");
    let outcome = run(kernel, &script, Vec::new(), |_| {});
    match outcome.report {
        Err(error @ LabError::NoMapping { .. }) => {
            let text = error.to_string();
            assert!(text.contains("--retry-failed") && text.contains(words), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_panic_is_reported_with_its_console() {
    let Some(kernel) = kernel() else { return };
    let outcome = run(kernel, "echo c > /proc/sysrq-trigger", Vec::new(), |_| {});
    match outcome.report {
        Err(LabError::Panic { console }) => assert!(console.contains("panic"), "{console}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_guest_that_is_out_of_memory_says_how_much_it_has() {
    let Some(kernel) = kernel() else { return };
    let fill = "mount -t tmpfs -o size=10g none /mnt; cat /dev/zero > /mnt/zeros; echo survived";
    let outcome = run(kernel, fill, Vec::new(), |_| {});
    match outcome.report {
        Err(error @ LabError::GuestMemory { .. }) => {
            let text = error.to_string();
            assert!(text.contains("has 256 MiB: give it more with --memory"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    assert!(!outcome.console.contains("survived"));
}

#[test]
fn a_first_program_that_cannot_run_is_reported() {
    let Some(kernel) = kernel() else { return };
    let outcome = run(kernel, "", Vec::new(), |o| o.init = "/etc/passwd".into());
    match outcome.report {
        Err(LabError::Panic { console }) => assert!(console.contains("init"), "{console}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_guest_that_never_ends_is_stopped() {
    let Some(kernel) = kernel() else { return };
    let day = run(kernel.clone(), "sleep 100d", steady(1, 64, 0), |o| {
        o.virtual_limit = Some(Nanos(86_400_000_000_000));
    });
    assert!(matches!(day.report, Err(LabError::TimedOut { clock: "virtual", .. })));
    let busy = run(kernel, "while :; do :; done", Vec::new(), |o| {
        o.real_limit = Some(Duration::from_secs(2));
    });
    assert!(matches!(busy.report, Err(LabError::TimedOut { clock: "real", .. })));
}

#[test]
fn running_out_of_space_ends_the_lab() {
    let Some(kernel) = kernel() else { return };
    let script = "dd if=/dev/urandom of=/dev/vda bs=1M oflag=direct; echo survived=yes";
    let outcome = run(kernel, script, steady(1, 64, 1000), |o| {
        o.content = ContentLimits { memory_bytes: 64 << 20, ..ContentLimits::with_disk(8 << 20) };
    });
    let error = outcome.report.unwrap_err();
    assert!(matches!(error, LabError::Full { limit_bytes: 8_388_608, .. }), "{error}");
    assert!(!outcome.console.contains("survived"));
}

#[test]
fn nothing_is_left_running() {
    let Some(kernel) = kernel() else { return };
    let directory = tempfile::tempdir().unwrap();
    let lab = Lab::start(LabOptions::new(kernel, directory.path(), "/bin/sh")).unwrap();
    let running = |is_own: &dyn Fn(&Path) -> bool| {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| std::fs::read_link(entry.path().join("cwd")).ok())
            .find(|cwd| is_own(cwd))
    };
    let until = |what: &dyn Fn() -> bool| {
        let began = std::time::Instant::now();
        while !what() {
            assert!(began.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    // The kernel's process goes to its working directory a moment after it was started, and
    // the guest's processes end a moment after the kernel was killed.
    let is_own =
        |cwd: &Path| std::fs::read_link(cwd.join("lab")).is_ok_and(|lab| lab == directory.path());
    until(&|| running(&is_own).is_some());
    let working = running(&is_own).unwrap();
    drop(lab);
    // The directory is gone by now, which the system tells behind its name.
    let name = working.to_str().unwrap();
    until(&|| running(&|cwd| cwd.to_string_lossy().starts_with(name)).is_none());
    assert!(!working.exists());
    assert!(!directory.path().join("calendar").exists());
}

#[test]
fn other_sectors_are_as_asked_for() {
    let Some(kernel) = kernel() else { return };
    let mut disks = steady(2, 64, 0);
    disks[0].logical_bytes = 4096;
    disks[1].physical_bytes = 512;
    disks[1].discard_bytes = Some(4096);
    let script = "
        for d in vda vdb; do
            echo $d=$(cat /sys/block/$d/queue/logical_block_size),$(cat \
                /sys/block/$d/queue/physical_block_size)
        done
        dd if=/dev/urandom of=/dev/vdb bs=1M count=8 oflag=direct 2>/dev/null
        blkdiscard /dev/vdb && echo discarded=yes
        cmp -n 8388608 /dev/vdb /dev/zero && echo zeros=yes
        echo cache=$(cat /sys/block/vda/queue/write_cache | tr ' ' _)";
    let outcome = run(kernel, script, disks, |_| {});
    outcome.report();
    assert_eq!(outcome.word("vda"), "4096,4096");
    assert_eq!(outcome.word("vdb"), "512,512");
    assert_eq!(outcome.word("discarded"), "yes");
    assert_eq!(outcome.word("zeros"), "yes");
    assert_eq!(outcome.word("cache"), "write_through");
}

#[test]
fn the_same_run_twice_is_the_same_to_the_last_nanosecond() {
    let Some(kernel) = kernel() else { return };
    let model = disklab_drive::shipped("wd40efrx-68n32n0").unwrap().limited_to(16 << 30).unwrap();
    let script = "
        for fs in ext4 btrfs; do
            mkfs.$fs -q /dev/vda >/dev/null 2>&1 || mkfs.$fs -f -q /dev/vda
            mount -t $fs /dev/vda /mnt; date +%s.%N
            cp -r /usr/share/doc/bash /mnt/; sync; umount /mnt; date +%s.%N
        done
        head -c 16 /dev/urandom | od -x; cat /proc/sys/kernel/random/boot_id";
    let once = || run(kernel.clone(), script, vec![DiskOptions::of(&model, 7, "TWICE")], |_| {});
    let (one, two) = (once(), once());
    if one.console.contains("entropy=1") {
        eprintln!("skipped: needs a kernel with kernel/patches/entropy.patch");
        return;
    }
    assert_eq!(one.report().virtual_time, two.report().virtual_time);
    assert_eq!(from_the_kernel_on(&one.console), from_the_kernel_on(&two.console));
}

/// The console from the kernel's first line on: before it, the program that is
/// the kernel tells what it finds on the host, the name of its directory included.
fn from_the_kernel_on(console: &str) -> &str {
    let start = console.find("Linux version").expect("the kernel tells its version");
    &console[start..]
}

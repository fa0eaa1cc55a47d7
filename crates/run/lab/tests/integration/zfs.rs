//! ZFS in the lab: the layers of stacks, with the real kernel part and the real
//! programs, on modelled drives.
//!
//! The guest runs this very program: [`in_the_guest`] is the test that does
//! something only there.

// A test that fails here says so, as tests do.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::support::stacks::{StackKernel, boot, boot_with_self, parse, zfs};
use crate::support::{Outcome, steady};
use disklab_exec::{Executor, Interrupt, Invocation};
use disklab_stack::{
    LayerContext, Ledger, LeftoverDecision, Machine, Made, Stack, StackError, decide, needs_words,
    recover,
};
use disklab_units::Bytes;

/// Tells [`in_the_guest`] where it is, and which stacks to make, parted by spaces.
const STACKS: &str = "DISKLAB_TEST_STACKS";
/// Size of each drive, in MiB.
const DRIVE_MIB: u64 = 4 << 10;

/// Boots a guest in which `script` can have a test of this module run, on four drives as fast as an
/// SSD without queues: `self zfs::TEST`.
fn boot_on_four(zfs: StackKernel, script: &str) -> Outcome {
    boot_with_self(zfs, script, steady(4, DRIVE_MIB, 100_000), |_| {})
}

/// Boots a guest that makes these stacks.
fn stacks(zfs: StackKernel, stacks: &[&str]) -> Outcome {
    boot_on_four(zfs, &format!("export {STACKS}='{}'; self zfs::in_the_guest", stacks.join(" ")))
}

/// What a program says.
fn said(program: &str, args: &[&str]) -> String {
    Executor::default().check(&Invocation::new(program).args(args)).unwrap().text()
}

/// Makes a stack on the four drives; and what its layers say of themselves.
fn make(
    stack: &Stack,
    ledger: &mut Ledger,
    executor: &Executor,
) -> Result<(Made, Vec<(String, String)>), StackError> {
    let directory = Path::new("/run/site");
    std::fs::create_dir_all(directory).unwrap();
    let drives = ["/dev/vda", "/dev/vdb", "/dev/vdc", "/dev/vdd"].map(PathBuf::from);
    let mut context = LayerContext::new(executor, ledger, directory, "t", 7);
    let made = stack.make(&drives, &mut context)?;
    Ok((made, context.notes))
}

/// Makes each stack twice, as cells follow each other, writes into it, compares the
/// room with what was promised, and says what the layers and `zpool` say.
#[test]
fn in_the_guest() {
    let Some(stacks) = std::env::var_os(STACKS) else {
        eprintln!("skipped: it is part of the tests that boot a guest");
        return;
    };
    let executor = Executor::new(Interrupt::new());
    for text in stacks.to_str().unwrap().split(' ') {
        let stack = parse(text, 4);
        let missing = Machine::here().missing(&stack.needs());
        assert!(missing.is_empty(), "{}", needs_words(&missing));
        for _ in 0..2 {
            let mut ledger = Ledger::open(Path::new("/run/state")).unwrap();
            let (made, notes) =
                make(&stack, &mut ledger, &executor).unwrap_or_else(|e| panic!("{text}: {e}"));
            for (layer, note) in &notes {
                println!("{layer}: {note}");
            }
            let mut file = std::fs::File::create(made.directory.join("file")).unwrap();
            file.write_all(&vec![7; 3 << 20]).unwrap();
            file.sync_all().unwrap();
            drop(file);
            println!("{}", said("zpool", &["status"]));
            let place = made.directory.display().to_string();
            let room = said("df", &["-B1", "--output=avail", &place]);
            let room: f64 = room.lines().last().unwrap().trim().parse().unwrap();
            let promised = stack.shape(&[Bytes::mib(DRIVE_MIB); 4]).unwrap().size;
            println!("{text}: room for {room}, {promised} promised");
            // Without its own overhead, of ext4 on a volume some per cent.
            assert!((0.9..1.1).contains(&(room / promised.0 as f64)), "{text}");
            let errors = ledger.tear_down_to(0, &executor);
            assert!(errors.is_empty(), "{text}: {errors:?}");
            assert_eq!(said("zpool", &["list", "-H"]), "", "{text}");
        }
        println!("{text}=made");
    }
}

#[test]
fn pools_are_made_used_and_torn_down() {
    let Some(zfs) = zfs() else { return };
    let all = [
        "zfs",
        "zfs-mirror",
        "zfs-mirror[width=2,compression=off]",
        "zfs-raidz1[recordsize=1M,zstd,atime=off]",
        "zfs-raidz2",
        "zfs-raidz3[ashift=12]",
        "zfs-draid1[data=2,spares=1]",
        "zfs[ashift=9]",
        "zfs-mirror[ashift=9]",
    ];
    let outcome = stacks(zfs, &all);
    outcome.report();
    for text in all {
        assert_eq!(outcome.word(text), "made");
    }
    for (kind, count) in [("mirror-0", 6), ("mirror-1", 2), ("raidz1-0", 2), ("raidz3-0", 2)] {
        assert_eq!(outcome.console.matches(kind).count(), count, "{}", outcome.console);
    }
    for note in [
        "ashift=12, recordsize=128K, compression=off",
        "ashift=12, recordsize=1M, compression=zstd, checksum=on, atime=off",
        "zfs-raidz3: ashift=12, recordsize=128K",
        "zfs-draid1: ashift=12, recordsize=128K",
        // A single drive is a top-level vdev, whose sectors are what was asked for.
        "zfs: ashift=9, recordsize=128K",
        "zfs-mirror: ashift=9 was asked for and ZFS took 12",
    ] {
        assert!(outcome.console.contains(note), "{note}\n{}", outcome.console);
    }
}

#[test]
fn a_volume_carries_a_file_system() {
    let Some(zfs) = zfs() else { return };
    let all = ["zfs-raidz1/zvol[volblocksize=64K]/ext4", "zfs-mirror/zvol/xfs"];
    let outcome = stacks(zfs, &all);
    outcome.report();
    for text in all {
        assert_eq!(outcome.word(text), "made");
    }
}

#[test]
fn the_same_guest_twice_is_the_same() {
    let Some(zfs) = zfs() else { return };
    // What the guest says, from the kernel's first line on: before it stands the
    // name of a directory.
    let once = || {
        let script = "
            zpool create -o cachefile=none -m /mnt/p p raidz1 /dev/vda1 /dev/vdb1 /dev/vdc1
            cp -r /usr/share/doc/zlib* /mnt/p 2>/dev/null; sync
            dd if=/dev/urandom of=/mnt/p/data bs=128k count=64 conv=fsync 2>/dev/null
            zpool get -H -o name,value guid,load_guid p; zdb -l /dev/vda1; zpool list -v p
            cksum /mnt/p/data; zpool iostat -v p; cat /proc/uptime; date +%s.%N
            zpool destroy p; date +%s.%N";
        let script = format!(
            "for d in a b c; do echo start=1MiB | sfdisk -q -X gpt /dev/vd$d; done{script}"
        );
        let outcome = boot(zfs.clone(), &script, steady(3, 512, 3_000_000), |_| {});
        let report = outcome.report();
        let from = outcome.console.find("Linux version").unwrap_or_default();
        let disks: Vec<u64> =
            report.disks.iter().map(|d| d.as_ref().map_or(0, |d| d.requests)).collect();
        (report.virtual_time, disks, outcome.console[from..].to_owned())
    };
    let first = once();
    assert!(first.2.contains("hostid"), "{}", first.2);
    assert_eq!(once(), first);
}

#[test]
fn an_idle_pool_lets_time_pass() {
    let Some(zfs) = zfs() else { return };
    let script = "echo start=1MiB | sfdisk -q -X gpt /dev/vda
        zpool create -o cachefile=none -m /mnt/p p /dev/vda1
        a=$(date +%s); sleep 3600; b=$(date +%s); echo slept=$((b - a))
        zpool destroy p";
    let outcome = boot(zfs, script, steady(1, 512, 3_000_000), |_| {});
    let report = outcome.report();
    assert_eq!(outcome.word("slept"), "3600");
    // Nothing was written, so there is hardly a transaction group to sync.
    let requests = report.disks[0].as_ref().map_or(0, |disk| disk.requests);
    assert!(requests < 2000, "{requests}");
    println!("{requests} requests, {:?}", report.real_time);
}

/// What [`a_leftover_in_the_guest`] does: `make STACK`, `recover` or `discard`.
const STEP: &str = "DISKLAB_TEST_STEP";

#[test]
fn a_leftover_in_the_guest() {
    let Ok(step) = std::env::var(STEP) else {
        eprintln!("skipped: it is part of the tests that boot a guest");
        return;
    };
    let (state, executor) = (Path::new("/run/state"), Executor::new(Interrupt::new()));
    if let Some(text) = step.strip_prefix("make ") {
        let mut ledger = Ledger::open(state).unwrap();
        make(&parse(text, 4), &mut ledger, &executor).unwrap();
        // As by SIGKILL: nothing is torn down.
        std::process::exit(0);
    }
    let found = recover(state, &executor);
    for left in &found.left {
        println!("LEFT {left}");
    }
    if step == "discard" {
        let id = &found.left.first().expect("left").id;
        let decided = decide(state, id, LeftoverDecision::Discard, &executor).unwrap();
        assert!(decided.errors.is_empty(), "{:?}", decided.errors);
    } else {
        assert!(found.errors.is_empty(), "{:?}", found.errors);
    }
}

/// After a kill, what a run made goes; a data set or a snapshot of the user's in its pool stays, with
/// the pool, until the user says otherwise.
#[test]
fn what_a_user_put_into_a_leftover_pool_stays() {
    let Some(zfs) = zfs() else { return };
    let script = format!(
        "pools() {{ zpool list -H -o name | tr '\n' ' '; }}
        n=0
        for stack in zfs-raidz1 'zfs-mirror[dataset,encryption=on]'; do
            n=$((n + 1))
            {STEP}=\"make $stack\" self zfs::a_leftover_in_the_guest
            pool=$(pools); pool=${{pool%% }}
            {STEP}=recover self zfs::a_leftover_in_the_guest
            echo clean.$n=$(zpool list -H | wc -l)
            {STEP}=\"make $stack\" self zfs::a_leftover_in_the_guest
            pool=$(pools); pool=${{pool%% }}
            if [ $n = 1 ]; then
                zfs create -o mountpoint=/run/theirs $pool/theirs; echo theirs > /run/theirs/precious
            else
                zfs snapshot $pool/data@theirs
            fi
            {STEP}=recover self zfs::a_leftover_in_the_guest | sed 's/^/said.'$n' /'
            echo stays.$n=$(zfs list -H -t all -o name -r $pool | grep -c theirs)
            [ $n = 2 ] || echo precious=$(cat /run/theirs/precious)
            {STEP}=discard self zfs::a_leftover_in_the_guest
            echo discarded.$n=$(zpool list -H | wc -l)
        done"
    );
    let outcome = boot_on_four(zfs, &script);
    outcome.report();
    for n in [1, 2] {
        assert_eq!(outcome.word(&format!("clean.{n}")), "0", "{}", outcome.console);
        assert_eq!(outcome.word(&format!("stays.{n}")), "1", "{}", outcome.console);
        assert_eq!(outcome.word(&format!("discarded.{n}")), "0", "{}", outcome.console);
    }
    assert_eq!(outcome.word("precious"), "theirs");
    for named in ["LEFT disklab does not remove the ZFS pool", "/theirs is mounted", "data@theirs"]
    {
        assert!(outcome.console.contains(named), "{named}: {}", outcome.console);
    }
}

/// Of a log, a cache, a journal and spares nothing stays after a kill, either.
#[test]
fn drives_of_inputs_are_bare_after_a_kill() {
    let Some(zfs) = zfs() else { return };
    let stacks = [
        "zfs-raidz1{log=4}",
        "zfs-mirror{log=3,cache=4}",
        "md-raid5{journal=4}/ext4",
        "md-raid1{spare=3-4}/ext4",
    ];
    let script = format!(
        "there() {{ (zpool list -H; grep ^md /proc/mdstat; blkid -p /dev/vd[abcd]) | wc -l; }}
        n=0
        for stack in '{}'; do
            {STEP}=\"make $stack\" self zfs::a_leftover_in_the_guest
            echo made.$n=$(there)
            {STEP}=recover self zfs::a_leftover_in_the_guest
            echo left.$n=$(there)
            n=$((n + 1))
        done",
        stacks.join("' '")
    );
    let outcome = boot_on_four(zfs, &script);
    outcome.report();
    for (n, text) in stacks.iter().enumerate() {
        // The pool or array, and each drive.
        assert_eq!(outcome.word(&format!("made.{n}")), "5", "{text}: {}", outcome.console);
        assert_eq!(outcome.word(&format!("left.{n}")), "0", "{text}: {}", outcome.console);
    }
}

/// What `plan` says of an input's loss is what happens: data are there, and a pool is written to
/// without its log, an array without its journal is not.
#[test]
fn the_loss_of_an_input_loses_no_data() {
    let Some(zfs) = zfs() else { return };
    let script = format!(
        "lose() {{
            {STEP}=\"make $2\" self zfs::a_leftover_in_the_guest
            d=$(grep -E '^(/dev/md|disklab)' /proc/mounts | cut -d ' ' -f 2)
            head -c 3000000 /dev/urandom > $d/file; sync; before=$(cksum < $d/file)
            $3
            echo 3 > /proc/sys/vm/drop_caches
            [ \"$(cksum < $d/file)\" = \"$before\" ] && echo $1.kept=yes
            (echo new > $d/new && sync $d/new) 2> /dev/null && echo $1.written=yes || echo $1.written=no
            {STEP}=discard self zfs::a_leftover_in_the_guest
        }}
        lose pool 'zfs-raidz1{{log=4}}' 'eval zpool offline -f $(zpool list -H -o name) vdd1'
        lose array 'md-raid5{{journal=4}}/ext4' 'mdadm /dev/md127 --fail /dev/vdd'"
    );
    let outcome = boot_on_four(zfs, &script);
    outcome.report();
    for (stack, written) in [("pool", "yes"), ("array", "no")] {
        assert_eq!(outcome.word(&format!("{stack}.kept")), "yes", "{}", outcome.console);
        assert_eq!(outcome.word(&format!("{stack}.written")), written, "{}", outcome.console);
    }
}

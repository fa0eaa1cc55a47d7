//! What drives hold after their power failed at an instant.

use disklab_drive::{Nanos, shipped};
use disklab_exec::find_program;
use disklab_lab::DiskOptions;

use crate::support::{Outcome, kernel, run};

const SECOND: u64 = 1_000_000_000;
/// When the guest begins to write, and when its power fails.
const BEGINS: u64 = 20;
const CUT: Nanos = Nanos(21 * SECOND);
/// Blocks of 4 KiB that it writes, without a flush, all over this many.
const WRITES: usize = 2001;
const BLOCKS: u64 = 1 << 18;

/// Waits until the guest's clock says so.
const UNTIL: &str = "wait_until() {
    while read up rest < /proc/uptime && [ ${up%%.*} -lt $1 ]; do sleep 0.05; done
}
";

fn disk(model: &str, write_cache: bool) -> DiskOptions {
    let model = shipped(model).expect("a model");
    let mut disk = DiskOptions::of(&model, 1, "LAB00000");
    disk.drive.set_write_cache(Nanos(0), write_cache);
    disk
}

/// Has random blocks written to a drive whose power fails meanwhile; the writes that the guest
/// knows to be done, and the blocks that are there.
fn cut(model: &str, write_cache: bool) -> Option<(u64, u64)> {
    let kernel = kernel()?;
    if find_program("fio").is_none() {
        eprintln!("skipped: needs fio");
        return None;
    }
    let script = format!(
        "{UNTIL} wait_until {BEGINS}
        fio --name=w --filename=/dev/vda --rw=randwrite --bs=4k --size=1G --number_ios={WRITES} \
            --direct=1 --buffer_pattern=0x5a --allow_mounted_write=1 >/dev/null 2>&1
        sleep 100; echo not=reached"
    );
    let mut outcome =
        run(kernel, &script, vec![disk(model, write_cache)], |o| o.power_cut = Some(CUT));
    let report = outcome.report();
    assert_eq!(report.virtual_time, CUT, "{}", outcome.console);
    assert!(!outcome.console.contains("not=reached"));
    let writes = report.disks[0].as_ref().expect("touched").drive.writes;
    Some((writes, written(&mut outcome)))
}

fn written(outcome: &mut Outcome) -> u64 {
    let content = outcome.kept.as_ref().expect("kept").content();
    let mut data = [0; 4096];
    let mut holds = |block: u64| {
        content.read(0, block * 8, &mut data).expect("read");
        let is_new = data == [0x5a; 4096];
        assert!(is_new || data == [0; 4096], "block {block} is neither old nor new");
        is_new
    };
    (0..BLOCKS).filter(|block| holds(*block)).count() as u64
}

#[test]
fn a_write_cache_loses_what_was_not_written_out() {
    let Some((writes, there)) = cut("hdn721010ale604", true) else { return };
    assert!(there > 20 && there < writes, "{there} of {writes}");
}

#[test]
fn without_a_write_cache_all_that_is_done_is_there() {
    let Some((writes, there)) = cut("hdn721010ale604", false) else { return };
    assert!(writes > 20 && writes < WRITES as u64, "{writes}");
    assert_eq!(there, writes);
}

#[test]
fn a_solid_state_drive_keeps_its_buffer_only_if_it_is_protected() {
    let Some((writes, there)) = cut("samsung-pm983-960gb", true) else { return };
    assert_eq!((writes, there), (WRITES as u64, WRITES as u64));
    let Some((writes, there)) = cut("samsung-870evo-1tb", true) else { return };
    assert_eq!(writes, WRITES as u64);
    assert!(there < writes, "a page that is not full waits for a flush");
}

/// Two guests begin with the disk that a third one left, and feel nothing of each other. What the
/// drive remembers is there, too: the sectors that were written last are read from its memory.
#[test]
fn guests_begin_with_a_kept_disk_each_for_itself() {
    let Some(kernel) = kernel() else { return };
    let drives = || vec![disk("hdn721010ale604", true)];
    let write =
        "head -c 65536 /dev/zero | tr '\\0' 'a' | dd of=/dev/vda bs=64k oflag=direct 2>/dev/null";
    let first = run(kernel.clone(), write, drives(), |_| {});
    first.report();
    let script = "
        echo a=$(dd if=/dev/vda bs=64k count=1 iflag=direct 2>/dev/null | tr -d 'a' | wc -c)
        head -c 65536 /dev/zero | tr '\\0' 'b' | dd of=/dev/vda bs=64k oflag=direct 2>/dev/null
        echo b=$(dd if=/dev/vda bs=64k count=1 iflag=direct 2>/dev/null | tr -d 'b' | wc -c)";
    let next = || {
        let kept = first.kept.as_ref().expect("kept");
        run(kernel.clone(), script, drives(), |o| kept.begin(o).expect("a file for its writes"))
    };
    let (one, other) = (next(), next());
    let misses = |guest: &Outcome| {
        let drive = guest.report().disks[0].as_ref().expect("touched").drive;
        (drive.writes, drive.reads - drive.read_hits)
    };
    let (written, missed) = misses(&first);
    for guest in [&one, &other] {
        assert_eq!((guest.word("a"), guest.word("b")), ("0", "0"), "{}", guest.console);
        assert_eq!(misses(guest), (written + 1, missed), "{}", guest.console);
    }
    assert_eq!(one.report().virtual_time, other.report().virtual_time);
    assert_eq!(one.console, other.console);
}

/// What was synced is there, and the journal makes the rest whole, on the next machine.
#[test]
fn a_file_system_is_whole_again_after_a_power_cut() {
    let Some(kernel) = kernel() else { return };
    let programs = ["mkfs.ext4", "e2fsck"];
    if let Some(missing) = programs.into_iter().find(|program| find_program(program).is_none()) {
        eprintln!("skipped: needs {missing}");
        return;
    }
    let script = format!(
        "{UNTIL}
        mkfs.ext4 -q -F -E lazy_itable_init=0 /dev/vda 1G && mount /dev/vda /mnt
        yes synced | head -c 3000000 > /mnt/synced; sync
        wait_until {BEGINS}
        for i in $(seq 300); do yes $i | head -c 20000 > /mnt/late.$i; done
        sleep 100"
    );
    let drives = || vec![disk("hdn721010ale604", true)];
    let first = run(kernel.clone(), &script, drives(), |o| o.power_cut = Some(CUT));
    first.report();
    let script = "
        mount /dev/vda /mnt && yes synced | head -c 3000000 | cmp - /mnt/synced
        echo same=$?
        umount /mnt; e2fsck -f -n /dev/vda >/tmp/said 2>&1
        echo sound=$?; cat /tmp/said";
    let second = run(kernel, script, drives(), |o| first.leave(o));
    second.report();
    assert_eq!(second.word("same"), "0", "{}", second.console);
    assert_eq!(second.word("sound"), "0", "{}", second.console);
}

//! Requests that a drive does not carry out.

use disklab_drive::{Completion, Drive, Durable, Nanos, Operation, Request, Statistics, Status};
use disklab_lab::{DiskOptions, Steady};

use crate::support::{kernel, run, steady};

/// Sectors that cannot be read until they are written.
#[derive(Clone)]
struct Unreadable {
    drive: Steady,
    sectors: Vec<u64>,
    failing: Vec<u64>,
}

impl Drive for Unreadable {
    fn submit(&mut self, now: Nanos, request: Request) {
        let Request { id, operation, sector, sectors } = request;
        let is_met = |bad: &u64| (sector..sector + sectors).contains(bad);
        match operation {
            Operation::Read if self.sectors.iter().any(is_met) => self.failing.push(id),
            Operation::Write => self.sectors.retain(|bad| !is_met(bad)),
            _ => {}
        }
        self.drive.submit(now, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.drive.next_event()
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        let before = completions.len();
        self.drive.advance(now, completions);
        for completion in &mut completions[before..] {
            if let Some(at) = self.failing.iter().position(|id| *id == completion.id) {
                self.failing.swap_remove(at);
                completion.status = Status::Failed;
            }
        }
    }

    fn watch_durability(&mut self) {
        self.drive.watch_durability();
    }

    fn take_durable(&mut self, durable: &mut Vec<Durable>) {
        self.drive.take_durable(durable);
    }

    fn snapshot(&self) -> Box<dyn Drive> {
        Box::new(self.clone())
    }

    fn statistics(&self) -> Statistics {
        self.drive.statistics()
    }

    fn sectors(&self) -> u64 {
        self.drive.sectors()
    }

    fn write_cache(&self) -> bool {
        false
    }

    fn set_write_cache(&mut self, _now: Nanos, _on: bool) {}
}

/// Two disks of 64 MiB; some sectors of the first, in its second MiB, cannot be read.
fn disks() -> Vec<DiskOptions> {
    let sectors = vec![(1 << 11) + 8, (1 << 11) + 100];
    let drive = Unreadable { drive: Steady::new(64 << 11, 1000), sectors, failing: Vec::new() };
    let mut disks = steady(2, 64, 1000);
    disks[0].drive = Box::new(drive);
    disks
}

#[test]
fn a_sector_that_cannot_be_read_is_an_error_to_its_reader_only() {
    let Some(kernel) = kernel() else { return };
    let script = "
        for at in 0 1 2; do
            dd if=/dev/vda of=/tmp/$at bs=1M count=1 skip=$at iflag=direct 2>/tmp/said
            echo read.$at=$?
            grep -q 'Input/output error' /tmp/said && echo error.$at=yes || echo error.$at=no
        done
        dd if=/dev/zero of=/dev/vda bs=4k count=256 seek=256 oflag=direct conv=notrunc 2>/dev/null
        dd if=/dev/vda of=/dev/null bs=1M count=1 skip=1 iflag=direct 2>/dev/null
        echo mended=$?";
    let outcome = run(kernel, script, disks(), |_| {});
    outcome.report();
    for (at, (code, error)) in [("0", "no"), ("1", "yes"), ("0", "no")].into_iter().enumerate() {
        assert_eq!(outcome.word(&format!("read.{at}")), code, "{at}: {}", outcome.console);
        assert_eq!(outcome.word(&format!("error.{at}")), error, "{at}: {}", outcome.console);
    }
    assert_eq!(outcome.word("mended"), "0", "a write mends it");
}

#[test]
fn a_mirror_reads_the_other_drive_and_fixes_the_sector() {
    let Some(kernel) = kernel() else { return };
    if disklab_exec::find_program("mdadm").is_none() {
        eprintln!("skipped: needs mdadm");
        return;
    }
    let script = "
        mdadm --create /dev/md0 --run --assume-clean --level=1 --raid-devices=2 --metadata=1.0 \
            /dev/vda --write-mostly /dev/vdb 2>/dev/null
        dd if=/dev/md0 of=/dev/null bs=1M iflag=direct 2>/dev/null
        echo through-md=$?
        sleep 1
        mdadm --detail /dev/md0 | sed -n 's/.*Active Devices : /active=/p'
        echo corrected=$(cat /sys/block/md0/md/dev-vda/errors)
        mdadm --stop /dev/md0 2>/dev/null
        dd if=/dev/vda of=/dev/null bs=1M iflag=direct 2>/dev/null
        echo alone=$?";
    let outcome = run(kernel, script, disks(), |_| {});
    outcome.report();
    assert_eq!(outcome.word("through-md"), "0", "{}", outcome.console);
    assert_eq!(outcome.word("active"), "2", "one bad sector does not kick a drive out");
    assert!(outcome.number("corrected") > 0.0, "{}", outcome.console);
    assert_eq!(outcome.word("alone"), "0", "md has written the sectors again");
}

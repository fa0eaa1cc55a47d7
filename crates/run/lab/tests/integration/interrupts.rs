//! Interrupts that come while the guest reads the clock.

use crate::support::{kernel, run, steady};

/// A program that waits by reading the clock lets time go by in steps of up to 16 µs,
/// with interrupts held back; a drive that answers after 50 ns calls within a step,
/// whose end has not come then (`kernel/patches/devices.patch`).
#[test]
fn a_drive_may_call_within_a_step_of_the_clock() {
    let Some(kernel) = kernel() else { return };
    let script = "
        for reader in 1 2 3 4; do
            dd if=/dev/vda of=/dev/null bs=4k count=2000 iflag=direct 2>/dev/null &
        done
        # clock_gettime(CLOCK_MONOTONIC, ...), which is system call 228.
        perl -e '$t = \"\\0\" x 16;
            do { syscall(228, 1, $t); ($s) = unpack(\"q\", $t); $until //= $s + 2 } while $s < $until'
        wait && echo read=all";
    let outcome = run(kernel, script, steady(1, 64, 50), |_| {});
    let report = outcome.report();
    assert_eq!(outcome.word("read"), "all");
    let disk = report.disks[0].as_ref().unwrap();
    assert!(disk.requests > 8000, "{}", disk.requests);
}

/// The serial number is answered at the time of its kick, whatever the drive does: the guest
/// does not run on after that kick, though a tick is due before the drive could have done
/// anything (`kernel/patches/kicks.patch`).
#[test]
fn a_serial_number_is_answered_before_the_next_tick() {
    let Some(kernel) = kernel() else { return };
    // Ticks come each 10 ms; so near to one as the steps of the clock allow.
    let script = "
        perl -e '$t = \"\\0\" x 16;
            for $n (0 .. 49) {
                do { syscall(228, 1, $t); ($s, $ns) = unpack(\"qq\", $t) }
                    while $ns % 10_000_000 < 9_980_000 + 390 * $n;
                open(F, \"</sys/block/vda/serial\") or die; $read += <F> eq \"LAB00000\"; close F;
            }
            print \"serials=$read\\n\"'";
    let outcome = run(kernel, script, steady(1, 64, 1_000_000), |_| {});
    outcome.report();
    assert_eq!(outcome.word("serials"), "50");
}

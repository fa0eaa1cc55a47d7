//! Conditions under which cells ran, a row each: in which cells something held, or between which
//! stacks something differed.

use std::collections::BTreeSet;

use disklab_cell::{DATA, LayerSpec};
use disklab_sample::DriveState;
use disklab_study::StackSpec;
use disklab_units::{Bytes, count, list, per_cent};

use crate::Severity;
use crate::audit::{Audit, Reproducer};
use crate::audits::support::{in_cells, joined, unlike};
use crate::evidence::{CellFacts, Evidence};
use like_drives::unlike_on_like_drives;

mod like_drives;
#[cfg(test)]
mod tests;

pub(super) const TOOL_FAILED: Audit = Audit {
    name: "tool-failed",
    severity: Severity::Severe,
    detects: "figures of a program that ended with an error",
    evidence: "the exit status of each program in the trace",
    remedy: "find the error in the raw output, remove its cause, and measure again",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        let failed = |cell: &CellFacts| held(!cell.failed_programs.is_empty());
        in_cells(evidence, Severity::Severe, failed, |cells| {
            let names = cells.each(|cell| cell.failed_programs.iter().map(String::as_str));
            let text = format!(
                "A program of the workload ended with an error in {} ({}): its figures are of work \
                 that was not done, or only in part.",
                cells.words(),
                list(names, 4)
            );
            (text, "Its output among the raw files says why; remove the cause and measure again.")
        })
    },
};

pub(super) const DEGRADED_ARRAY: Audit = Audit {
    name: "degraded-array",
    severity: Severity::Severe,
    detects: "an array, Btrfs or pool that lacks a member",
    evidence: "md's degraded, Btrfs's devinfo, the state of ZFS pools, after the workload",
    remedy: "replace the member, let it resync, and measure again",
    reproducer: Reproducer::Directory("Btrfs RAID1 of which one device is gone (as root)"),
    check: |evidence| {
        // Work that fails a drive is about just that.
        let degraded = |cell: &CellFacts| held(!cell.is_rebuild && degraded(cell).is_some());
        in_cells(evidence, Severity::Severe, degraded, |cells| {
            let text = format!(
                "In {}: {}. A degraded array reconstructs what it reads from the other members, and \
                 writes less than a whole one: its figures are those of a failure.",
                cells.words(),
                self::degraded(cells.worst().0).unwrap_or_default()
            );
            (text, "Replace the missing member, wait for the resync, and measure again.")
        })
    },
};

/// Name and state of the first array that lacks a member.
fn degraded(cell: &CellFacts) -> Option<String> {
    let conditions = cell.conditions();
    let array = conditions.arrays.iter().find(|array| array.missing > 0).map(|array| {
        let level = array.level.as_deref().map(|level| format!(" ({level})")).unwrap_or_default();
        format!("{}{level} lacks {} of its members", array.name, array.missing)
    });
    let pool = conditions.pools.iter().find_map(|pool| {
        let state = pool.state.as_deref().filter(|state| *state != "ONLINE")?;
        Some(format!("the pool {} is {state}", pool.name))
    });
    array.or(pool)
}

pub(super) const SWAPPING: Audit = Audit {
    name: "swapping",
    severity: Severity::Warning,
    detects: "swapping, or processes killed because memory ran out, while a cell ran",
    evidence: "pswpin, pswpout and oom_kill of /proc/vmstat around the cell",
    remedy: "end other programs, or use smaller files or fewer jobs",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        in_cells(evidence, Severity::Warning, swapped, |cells| {
            let memory = cells.cells.iter().filter_map(|(cell, _)| cell.conditions().memory);
            let killed = match memory.map(|memory| memory.killed).sum::<u64>() {
                0 => String::new(),
                1 => ", and the kernel killed a process because memory ran out".to_owned(),
                n => format!(", and the kernel killed {n} processes because memory ran out"),
            };
            let text = format!(
                "The machine swapped in {}: at most {} in one{killed}. Swapping competes with the \
                 workload for disks and for the page cache.",
                cells.words(),
                Bytes(cells.worst().1 as u64).si()
            );
            (text, "End other programs, or use smaller files, fewer jobs or more memory.")
        })
    },
};

/// A page or two come back from swap on any machine that has been up for long.
const MUCH_SWAPPED: u64 = 16 << 20;

/// Bytes swapped, if it matters.
fn swapped(cell: &CellFacts) -> Option<f64> {
    let memory = cell.conditions().memory?;
    let moved = memory.swapped_in.saturating_add(memory.swapped_out);
    (moved > MUCH_SWAPPED || memory.killed > 0).then_some(moved as f64)
}

pub(super) const HOST_NEARLY_FULL: Audit = Audit {
    name: "host-nearly-full",
    severity: Severity::Warning,
    detects: "sparse files for drives on a file system that has hardly room left",
    evidence: "free and all bytes of the file system behind loop devices",
    remedy: "make room, or put the files on another disk (--scratch)",
    reproducer: Reproducer::Loop("files on a file system with little room left (as root)"),
    check: |evidence| {
        let full = |cell: &CellFacts| Some(fullest_host(cell)?.0);
        in_cells(evidence, Severity::Warning, full, |cells| {
            let (worst, full) = cells.worst();
            let text = format!(
                "The file system with the files that stand for the drives was {} full in {}, with \
                 {} left: it allocates slowly and in pieces, and the files, which grow as they are \
                 written, may find no room.",
                per_cent(full),
                cells.words(),
                Bytes(fullest_host(worst).map_or(0, |(_, free)| free)).si()
            );
            (text, "Make room, or put the files on another disk with --scratch.")
        })
    },
};

/// File systems fragment and allocate slowly beyond this.
const FULL: f64 = 0.9;

/// How full the file system behind a cell's drives was, and its free bytes.
fn fullest_host(cell: &CellFacts) -> Option<(f64, u64)> {
    let rooms = cell.conditions().drives.iter().filter_map(|drive| drive.room);
    let full =
        rooms.filter(|(_, all)| *all > 0).map(|(free, all)| (1.0 - free as f64 / all as f64, free));
    full.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(full, _)| *full > FULL)
}

pub(super) const SNAPSHOT_PRESENT: Audit = Audit {
    name: "snapshot-present",
    severity: Severity::Warning,
    detects: "a volume of which an LVM snapshot exists, whose first writes copy the old data",
    evidence: "the names that LVM gives to devices beneath the directory",
    remedy: "remove the snapshot, unless its cost is the question",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        let has = |cell: &CellFacts| held(lies_on(cell, "snapshot"));
        in_cells(evidence, Severity::Warning, has, |cells| {
            let text = format!(
                "The volume of {} has an LVM snapshot: each first write to a chunk reads and \
                 writes the old data too.",
                cells.words()
            );
            (text, "Remove the snapshot (lvs shows it), unless its cost is the question.")
        })
    },
};

pub(super) const THROTTLED: Audit = Audit {
    name: "throttled",
    severity: Severity::Warning,
    detects: "processors that were throttled because of heat while a cell ran",
    evidence: "thermal_throttle/core_throttle_count of all processors around the cell",
    remedy: "cool the machine, and measure again",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        let throttled = |cell: &CellFacts| {
            cell.conditions().power.throttled.filter(|times| *times > 0).map(|times| times as f64)
        };
        in_cells(evidence, Severity::Warning, throttled, |cells| {
            let text = format!(
                "Processors were throttled because of heat in {}: {} in the worst. \
                 Checksums, parity, compression and encryption were slower than they need be.",
                cells.words(),
                count(cells.worst().1 as usize, "time")
            );
            (text, "Cool the machine (dust, fans, the power limit), and measure again.")
        })
    },
};

pub(super) const ON_BATTERY: Audit = Audit {
    name: "on-battery",
    severity: Severity::Warning,
    detects: "a machine that ran on its battery, where processors, links and drives save power",
    evidence: "power supplies in sysfs when the cell ended",
    remedy: "plug it in",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        let on = |cell: &CellFacts| held(cell.conditions().power.on_battery.unwrap_or(false));
        in_cells(evidence, Severity::Warning, on, |cells| {
            let text = format!(
                "The machine ran on its battery in {}: processors, links and drives save power \
                 then, and are slower to wake.",
                cells.words()
            );
            (text, "Plug the machine in, and measure again.")
        })
    },
};

pub(super) const SLOW_ENCRYPTION: Audit = Audit {
    name: "slow-encryption",
    severity: Severity::Warning,
    detects: "encryption on a processor without instructions for AES",
    evidence: "dm-crypt beneath the directory, or a crypt layer, and the flags in /proc/cpuinfo",
    remedy: "read the figures as this processor's; Adiantum is made for such ones",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        let slow = |cell: &CellFacts| {
            let layer = |stack: &StackSpec| stack.layers.iter().any(|l| l.name == "crypt");
            let encrypted = stack(evidence, cell).is_some_and(layer) || lies_on(cell, "encryption");
            // A modelled processor has what its file says.
            held(encrypted && cell.conditions().aes == Some(false) && !evidence.is_lab())
        };
        in_cells(evidence, Severity::Warning, slow, |cells| {
            let text = format!(
                "The drives of {} are encrypted, and the processor has no instructions for AES: it \
                 encrypts some ten to a hundred MB/s per core, less than a disk's stream.",
                cells.words()
            );
            let advice = "Read these figures as this processor's. With such a one, Adiantum \
                          (cryptsetup --cipher xchacha20,aes-adiantum-plain64) is several times as \
                          fast.";
            (text, advice)
        })
    },
};

pub(super) const CONTROL_GROUP_LIMITS: Audit = Audit {
    name: "control-group-limits",
    severity: Severity::Warning,
    detects: "limits on I/O, processors or memory that a container or service puts on disklab",
    evidence: "io.max, cpu.max, memory.max and memory.high of its control group and those above",
    remedy: "run it outside of the container, or without the limits",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        let limited = |cell: &CellFacts| held(!cell.conditions().limits.is_empty());
        in_cells(evidence, Severity::Warning, limited, |cells| {
            let limits = cells.each(|cell| cell.conditions().limits.iter().map(String::as_str));
            let text = format!(
                "A control group limited disklab and its programs in {}: {}. The figures may be \
                 those of the limit.",
                cells.words(),
                list(limits, 4)
            );
            (text, "Run disklab outside of the container or service, or raise its limits.")
        })
    },
};

pub(super) const COARSE_CLOCK: Audit = Audit {
    name: "coarse-clock",
    severity: Severity::Warning,
    detects: "a clock that costs microseconds to read, or counts in milliseconds",
    evidence: "current_clocksource of the kernel",
    remedy: "find out why the kernel gave up its fast clock (dmesg), and boot with it",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        let slow = |cell: &CellFacts| held(slow_clock(cell).is_some());
        in_cells(evidence, Severity::Warning, slow, |cells| {
            let text = format!(
                "The kernel's clock was {} in {}: each reading costs a microsecond or more, or it \
                 counts in milliseconds, so latencies of fast drives are wrong.",
                list(cells.each(slow_clock), 3),
                cells.words()
            );
            let advice = "The kernel's messages say why it gave up its fast clock (tsc, mostly); a \
                          BIOS update or clocksource=tsc may help.";
            (text, advice)
        })
    },
};

/// Clocks that the kernel falls back to where it finds its fast one unstable: the first
/// two take about 1 µs over a bus (kernel: drivers/char/hpet.c, drivers/clocksource/
/// acpi_pm.c), the others count ticks (kernel/time/jiffies.c) or a timer of 1981
/// (arch/x86/kernel/i8253.c).
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

fn slow_clock(cell: &CellFacts) -> Option<&str> {
    let source = cell.conditions().clock.as_ref()?.source.as_deref()?;
    SLOW_CLOCKS.contains(&source).then_some(source)
}

pub(super) const CLOCK_STEPPED: Audit = Audit {
    name: "clock-stepped",
    severity: Severity::Warning,
    detects: "a wall clock that was set while a cell ran, or a machine that slept",
    evidence: "CLOCK_REALTIME, CLOCK_MONOTONIC and CLOCK_BOOTTIME around the cell",
    remedy: "synchronise the clock before a run, and inhibit sleep",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        in_cells(evidence, Severity::Warning, stepped, |cells| {
            let (worst, most) = cells.worst();
            let clock = worst.conditions().clock.as_ref();
            let slept = clock.is_some_and(|clock| clock.slept_ms as f64 == most);
            let text = format!(
                "{} {:.1} s in {}. Programs that time themselves by the wall clock gave wrong \
                 figures there.",
                if slept { "The machine slept for" } else { "The wall clock was set by" },
                most / 1e3,
                cells.words()
            );
            let advice = "Synchronise the clock (NTP) before a run, inhibit sleep \
                          (systemd-inhibit), and repeat these cells.";
            (text, advice)
        })
    },
};

/// NTP slews by 500 parts in a million at most (kernel: include/linux/timex.h,
/// MAXFREQ); adjtime(3) as much again.
const SLEWING: f64 = 0.001;
/// Less is no step that matters: a tenth of a second.
const STEP_MS: f64 = 100.0;

/// Milliseconds by which clocks went apart more than they may.
fn stepped(cell: &CellFacts) -> Option<f64> {
    let clock = cell.conditions().clock.as_ref()?;
    let off = clock.stepped_ms.unsigned_abs().max(clock.slept_ms.unsigned_abs()) as f64;
    let allowed = STEP_MS + SLEWING * clock.elapsed_ms.max(0) as f64;
    (off > allowed).then_some(off)
}

pub(super) const DRIVES_DIFFER: Audit = Audit {
    name: "drives-differ",
    severity: Severity::Warning,
    detects: "stacks on drives of different models, firmware or size, unless the study gives them such",
    evidence: "model, firmware and size of each drive",
    remedy: "compare stacks on the same drives",
    reproducer: Reproducer::Lab("two stacks on drives of two sizes"),
    check: |evidence| {
        let words = [
            "The drives are",
            "Their own differences look like those of the stacks, and the slowest drive of an \
             array sets its pace.",
            "Compare stacks on the same drives, or on drives of one model and firmware.",
        ];
        unlike_on_like_drives(evidence, Severity::Warning, words, |cell| {
            let models: BTreeSet<String> = data_drives(evidence, cell).map(model).collect();
            joined(models.iter().map(String::as_str))
        })
    },
};

/// Model, firmware and size of a drive.
fn model(drive: &DriveState) -> String {
    let size = Some(drive.size_bytes).filter(|size| *size > 0).map(|size| Bytes(size).si());
    let words = [drive.model.clone(), drive.firmware.clone(), size.map(|size| size.to_string())];
    let words = words.into_iter().flatten().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

pub(super) const KERNELS_DIFFER: Audit = Audit {
    name: "kernels-differ",
    severity: Severity::Warning,
    detects: "cells of one run on different kernels or versions of programs, as after an update and --resume",
    evidence: "the kernel's release in each cell, and versions of programs where a cell has its own",
    remedy: "run all cells anew on one kernel",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        let words = [
            "Kernel and programs were",
            "File systems, schedulers and programs change from release to release.",
            "Run all cells on one kernel; to learn what an update changes, make two runs and \
             compare them (disklab compare A B).",
        ];
        unlike(evidence, Severity::Warning, words, |cell| {
            let release = cell.conditions().kernel.as_ref();
            let kernel = release.map(|release| format!("kernel {release}"));
            let tools = cell.environment.tools.iter().map(|tool| tool.version.clone());
            let all: Vec<String> = kernel.into_iter().chain(tools).collect();
            (!all.is_empty()).then(|| all.join(", "))
        })
    },
};

pub(super) const SCHEDULERS_DIFFER: Audit = Audit {
    name: "schedulers-differ",
    severity: Severity::Warning,
    detects: "I/O schedulers that differ between stacks, unless the study sets them",
    evidence: "queue/scheduler of each drive as the workload started",
    remedy: "choose the same for all drives",
    reproducer: Reproducer::MadeUp,
    check: |evidence| {
        let words = [
            "The drives' I/O schedulers were",
            "Mixed loads on disks depend on the scheduler.",
            "Choose the same for all, by /sys/block/…/queue/scheduler or a udev rule.",
        ];
        let sets = |layer: &LayerSpec| layer.name == "queue" && layer.option("scheduler").is_some();
        unlike_on_like_drives(evidence, Severity::Warning, words, |cell| {
            // If the study sets it, it is what is compared.
            if stack(evidence, cell).is_some_and(|stack| stack.layers.iter().any(sets)) {
                return None;
            }
            joined(data_drives(evidence, cell).filter_map(|drive| drive.scheduler.as_deref()))
        })
    },
};

pub(super) const WRITE_CACHES_DIFFER: Audit = Audit {
    name: "write-caches-differ",
    severity: Severity::Severe,
    detects: "write caches of drives that are on for one stack and off for another, unless the study sets them",
    evidence: "queue/write_cache of each drive as the workload started",
    remedy: "set write-cache in the study's layouts, the same for all",
    reproducer: Reproducer::Lab("a drive without its write cache among drives with it"),
    check: |evidence| {
        let words = [
            "The drives' write caches were",
            "Synchronous writes differ by a factor of ten and more between the two.",
            "Set write-cache for all stacks in the study, or switch it with hdparm -W before the \
             run.",
        ];
        unlike_on_like_drives(evidence, Severity::Severe, words, |cell| {
            // If the study sets it, it is what is compared.
            if stack(evidence, cell).is_some_and(|stack| stack.write_cache.is_some()) {
                return None;
            }
            joined(data_drives(evidence, cell).filter_map(|drive| drive.write_cache.as_deref()))
        })
    },
};

/// What a condition that only holds or not measures.
fn held(holds: bool) -> Option<f64> {
    holds.then_some(1.0)
}

fn lies_on(cell: &CellFacts, what: &str) -> bool {
    cell.conditions().beneath.iter().any(|beneath| beneath == what)
}

/// The drives that a cell's data are on: those of a log or a cache are others on purpose.
fn data_drives<'a>(
    evidence: &Evidence<'a>,
    cell: &'a CellFacts,
) -> impl Iterator<Item = &'a DriveState> {
    let stack = evidence.info.stacks.iter().find(|stack| stack.id == cell.levels.stack);
    let role = move |drive: &str| stack.map_or(DATA, |stack| stack.role_of(drive));
    cell.environment.drives.iter().filter(move |drive| role(&drive.drive) == DATA)
}

fn stack<'a>(evidence: &Evidence<'a>, cell: &CellFacts) -> Option<&'a StackSpec> {
    evidence.study.stacks.iter().find(|stack| stack.id == cell.levels.stack)
}

//! The processor, not the drives, set the pace.

use disklab_units::per_cents;

use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::{Detail, Evidence, Suspects};
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "cpu-bound",
    severity: Severity::Warning,
    detects: "steps in which the machine's processors, or one of them, were busy all the time",
    evidence: "CPU time of the machine and of the workload's programs, compared with the step's duration",
    remedy: "measure without other programs, with several jobs; read the figures as this machine's",
    reproducer: Reproducer::Directory("writes to memory by as many jobs as there are processors"),
    check,
};

/// Share of all CPUs' time from which the machine counts as busy.
const MACHINE: f64 = 0.9;
/// Processors that a program must keep busy to count as saturating one. More
/// than [`ONE_AT_MOST`] are several threads, none of which need be saturated.
const ONE: f64 = 0.95;
const ONE_AT_MOST: f64 = 1.05;
/// Shorter steps are not judged: the kernel counts CPU time in ticks of
/// 10 ms (USER_HZ, proc(5)).
const SHORTEST_SECONDS: f64 = 0.5;

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    // There it is another finding, `busy-waits`.
    if evidence.computes_in_no_time() {
        return Vec::new();
    }
    let busy = |index: usize, group: &Group| {
        // The memory is meant to keep a processor busy.
        (!group.profile().is_of_memory()).then(|| busy(&evidence.details[index], group)).flatten()
    };
    let machine = evidence.suspects(|index, group| {
        Some(busy(index, group)?.machine.min(1.0)).filter(|share| *share > MACHINE)
    });
    let program = evidence.suspects(|index, group| {
        let busy = busy(index, group)?;
        let one = (ONE..=ONE_AT_MOST).contains(&busy.program);
        (busy.machine <= MACHINE && one).then_some(busy.program.min(1.0))
    });
    let of_programs = |suspects: &Suspects<'_>| {
        let shares = suspects.found.iter().filter_map(|(index, group, _)| {
            let processors = evidence.details[*index].first()?.processors;
            Some(busy(*index, group)?.program / f64::from(processors.max(1)))
        });
        shares.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), share| {
            (low.min(share), high.max(share))
        })
    };
    let machine = machine.iter().map(|suspects| Detection {
        severity: Severity::Warning,
        text: format!(
            "{} with {}: all processors were {} busy, and the workload's own program took {} of \
             their time. The processors rather than the drives may have set these figures.",
            suspects.figure,
            suspects.stacks(),
            per_cents(suspects.range()),
            per_cents(of_programs(suspects))
        ),
        advice: "What the program did not take went to the kernel's own threads or to other \
                 programs. If others ran, measure again without them; if not, checksums, \
                 compression, parity or encryption took the time: read the figures as those of \
                 this machine."
            .to_owned(),
        groups: suspects.groups(),
    });
    let program = program.iter().map(|suspects| Detection {
        severity: Severity::Warning,
        text: format!(
            "{} with {}: the program, with the kernel on its behalf, used {} of one processor's \
             time. If it has a single thread, faster drives would not have been faster here.",
            suspects.figure,
            suspects.stacks(),
            per_cents(suspects.range())
        ),
        advice: "Read the figures as those of this processor; several jobs at once (numjobs in \
                 fio) show what the drives can do."
            .to_owned(),
        groups: suspects.groups(),
    });
    machine.chain(program).collect()
}

/// Shares of a step's time, over all observations of a group.
pub(super) struct Busy {
    /// Of all CPUs' time.
    pub machine: f64,
    /// Of one CPU's time.
    program: f64,
}

/// None where the steps are too short to tell.
pub(super) fn busy(details: &[Detail], group: &Group) -> Option<Busy> {
    let processors = f64::from(details.first()?.processors);
    let step: f64 = details.iter().map(|d| d.step_seconds).sum();
    if step < SHORTEST_SECONDS * details.len() as f64 {
        return None;
    }
    let machine: f64 = group.observations.iter().map(|o| o.cpu_seconds).sum();
    let program: f64 = details.iter().map(|d| d.program_seconds).sum();
    let machine = if processors > 0.0 { machine / step / processors } else { 0.0 };
    Some(Busy { machine, program: program / step })
}

#[cfg(test)]
mod tests {
    use disklab_sample::Direction;

    use crate::testing::{RunFixture, figure, on_drives, step};

    /// A step of one second on four processors.
    fn found(machine_ms: u64, program_ms: u64, step_ms: u64) -> Vec<String> {
        let mut fixture = RunFixture::new("");
        fixture.info.bench = "loop".parse().unwrap();
        let mut one =
            on_drives(step("s", vec![figure(Direction::Write, 1 << 20, 1.0)]), &[(0, 1 << 20)]);
        one.elapsed_ns = step_ms * 1_000_000;
        one.cpu.machine_busy_ns = machine_ms * 1_000_000;
        one.cpu.user_ns = program_ms * 400_000;
        one.cpu.system_ns = program_ms * 600_000;
        fixture.sample("single/ext4", "dd-4k", 0, vec![one]);
        fixture.findings("cpu-bound").into_iter().map(|f| f.text).collect()
    }

    #[test]
    fn a_busy_machine_and_a_busy_processor_are_reported() {
        let machine = found(3900, 100, 1000);
        assert_eq!(machine.len(), 1);
        assert!(
            machine[0].contains("were 98 % busy, and the workload's own program took 2.5 %"),
            "{}",
            machine[0]
        );
        let program = found(1100, 990, 1000);
        assert_eq!(program.len(), 1);
        assert!(program[0].contains("used 99 % of one processor"), "{}", program[0]);
    }

    #[test]
    fn idle_parallel_and_short_steps_are_clean() {
        assert!(found(2000, 500, 1000).is_empty());
        assert!(found(2000, 1800, 1000).is_empty());
        assert!(found(400, 100, 100).is_empty());
    }

    #[test]
    fn shares_are_those_of_the_whole_step() {
        let machine = found(7800, 200, 2000);
        let expected = "were 98 % busy, and the workload's own program took 2.5 %";
        assert!(machine[0].contains(expected), "{machine:?}");
        assert!(found(2200, 1980, 2000)[0].contains("used 99 % of one processor"));
        assert!(found(7000, 200, 2000).is_empty(), "88 % of four processors");
        assert!(found(2200, 990, 2000).is_empty(), "half of one");
        assert!(found(3900, 3900, 1000)[0].contains("program took 98 % of their time"));
    }
}

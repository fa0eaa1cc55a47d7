//! The processor, not the drives, set the pace.

use crate::audits::{Audit, Found};
use crate::evidence::{Detail, Evidence, Suspects};
use crate::words::per_cents;
use crate::{Group, Severity};

pub(super) const AUDIT: Audit = Audit {
    name: "cpu-bound",
    severity: Severity::Warning,
    detects: "steps in which the machine's processors, or one of them, were busy all the time",
    check,
};

/// Share of all processors' time from which the machine counts as busy.
const MACHINE: f64 = 0.9;
/// Processors that a program must keep busy to count as saturating one. More
/// than [`ONE_AT_MOST`] are several threads, none of which need be saturated.
const ONE: f64 = 0.95;
const ONE_AT_MOST: f64 = 1.05;
/// Shorter steps are not judged: the kernel counts processor time in ticks of
/// 10 ms (USER_HZ, proc(5)).
const SHORTEST_SECONDS: f64 = 0.5;

fn check(evidence: &Evidence<'_>) -> Vec<Found> {
    let busy = |index: usize, group: &Group| -> Option<(f64, f64)> {
        let details: &[Detail] = &evidence.details[index];
        let processors = f64::from(details.first()?.processors);
        let step: f64 = details.iter().map(|d| d.step_seconds).sum();
        if step < SHORTEST_SECONDS * details.len() as f64 {
            return None;
        }
        let machine: f64 = group.observations.iter().map(|o| o.cpu_seconds).sum();
        let program: f64 = details.iter().map(|d| d.program_seconds).sum();
        let of_machine = if processors > 0.0 { machine / step / processors } else { 0.0 };
        Some((of_machine, program / step))
    };
    let machine = evidence.suspects(|index, group| {
        busy(index, group).map(|(machine, _)| machine).filter(|share| *share > MACHINE)
    });
    let program = evidence.suspects(|index, group| {
        let (machine, program) = busy(index, group)?;
        (machine <= MACHINE && (ONE..=ONE_AT_MOST).contains(&program)).then_some(program)
    });
    let found = |suspects: &Suspects<'_>, what: String| Found {
        severity: Severity::Warning,
        text: format!(
            "{} with {}: {what}. Faster drives would not have been faster here.",
            suspects.figure,
            suspects.stacks()
        ),
        advice: "Read these figures as those of this processor; checksums, compression, parity \
                 and encryption cost it time."
            .to_owned(),
        groups: suspects.groups(),
    };
    let machine = machine.iter().map(|suspects| {
        found(suspects, format!("all processors were {} busy", per_cents(suspects.range())))
    });
    let program = program.iter().map(|suspects| {
        found(
            suspects,
            format!(
                "the program used as much time as one processor has ({})",
                per_cents(suspects.range())
            ),
        )
    });
    machine.chain(program).collect()
}

#[cfg(test)]
mod tests {
    use disklab_measure::Direction;

    use crate::testing::{Bed, figure, on_drives, step};

    /// A step of one second on four processors.
    fn found(machine_ms: u64, program_ms: u64, step_ms: u64) -> Vec<String> {
        let mut bed = Bed::new("");
        let mut one =
            on_drives(step("s", vec![figure(Direction::Write, 1 << 20, 1.0)]), &[(0, 1 << 20)]);
        one.elapsed_ns = step_ms * 1_000_000;
        one.cpu.machine_busy_ns = machine_ms * 1_000_000;
        one.cpu.user_ns = program_ms * 400_000;
        one.cpu.system_ns = program_ms * 600_000;
        bed.sample("single/ext4", "dd-4k", 0, vec![one]);
        bed.findings("cpu-bound").into_iter().map(|f| f.text).collect()
    }

    #[test]
    fn a_busy_machine_and_a_busy_processor_are_told() {
        let machine = found(3900, 100, 1000);
        assert_eq!(machine.len(), 1);
        assert!(machine[0].contains("all processors were 98 % busy"), "{}", machine[0]);
        let program = found(1100, 990, 1000);
        assert_eq!(program.len(), 1);
        assert!(program[0].contains("as one processor has (99 %)"), "{}", program[0]);
    }

    #[test]
    fn idle_parallel_and_short_steps_are_clean() {
        assert!(found(2000, 500, 1000).is_empty());
        assert!(found(2000, 1800, 1000).is_empty());
        assert!(found(400, 100, 100).is_empty());
    }
}

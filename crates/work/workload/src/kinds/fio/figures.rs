//! From the reports of single jobs to the figures of a step.

use disklab_sample::{Direction, Figure, Latency, LatencyHistogram, OperationKind};

use super::output::{DirectionOutput, LatencyKind};
use super::part::FioPart;
use super::steps::FioStep;
use crate::StepOutcome;

/// What a step gave, from what each of its sections did (in their order, one entry
/// for each job that was reported apart), and which latency it is. Where sections
/// have `new_group`, each group has figures of its own besides.
pub(super) fn summary(
    parts: &[FioPart],
    step: &FioStep,
    done: &[Vec<DirectionOutput>],
) -> (StepOutcome, Option<LatencyKind>) {
    let mut at = 0;
    let sections: Vec<usize> = step.sections().collect();
    let done: Vec<Vec<DirectionOutput>> = done
        .iter()
        .zip(&sections)
        .map(|(done, index)| done.iter().map(|one| committed(&parts[*index], one)).collect())
        .collect();
    let figures_of = |groups: &[Vec<usize>]| {
        let groups: Vec<Vec<&DirectionOutput>> = groups
            .iter()
            .map(|group| group.iter().filter_map(|n| done.get(*n)).flatten().collect())
            .collect();
        combine(&groups)
    };
    // The groups as positions in the step.
    let groups: Vec<Vec<usize>> = step
        .groups
        .iter()
        .map(|group| {
            at += group.len();
            (at - group.len()..at).collect()
        })
        .collect();
    let (mut figures, kind) = figures_of(&groups);
    if sections.iter().all(|index| parts[*index].work.only_names) {
        for figure in &mut figures {
            figure.bytes = 0;
            figure.bytes_per_second = None;
            figure.operation = OperationKind::File;
        }
    }
    let mut apart: Vec<Vec<usize>> = Vec::new();
    for position in groups.iter().flatten() {
        match apart.last_mut() {
            Some(group) if !parts[sections[*position]].job.groups.new_group => {
                group.push(*position)
            }
            _ => apart.push(vec![*position]),
        }
    }
    if apart.len() < 2 {
        apart.clear();
    }
    let parts = apart
        .into_iter()
        .map(|group| {
            let names: Vec<&str> =
                group.iter().map(|n| parts[sections[*n]].section.name()).collect();
            (names.join("+"), figures_of(&[group]).0)
        })
        .collect();
    (StepOutcome { figures, parts, ..StepOutcome::default() }, kind)
}

/// What a section did in one direction, with the clock that belongs to it: where a sync
/// follows each write, the time of the write alone says nothing of when it is durable.
fn committed(part: &FioPart, done: &DirectionOutput) -> DirectionOutput {
    let mut done = done.clone();
    if done.direction != Direction::Write || !part.work.commits_each {
        done.commit = None;
    } else if done.commit.is_none() {
        done.latency = None;
    }
    done
}

/// The figures of jobs that ran in groups: those of one group at the same time,
/// the groups one after another. One figure for each direction.
///
/// As in fio's own 'Run status group', the throughput of a group is its bytes
/// over the longest runtime of its jobs; groups add up in bytes and in time.
/// Also says which latency it is.
fn combine(groups: &[Vec<&DirectionOutput>]) -> (Vec<Figure>, Option<LatencyKind>) {
    let mut kinds = Vec::new();
    let figures = [Direction::Read, Direction::Write, Direction::Trim]
        .into_iter()
        .filter_map(|direction| {
            let of_direction = |group: &Vec<&'_ DirectionOutput>| -> Vec<DirectionOutput> {
                group.iter().filter(|d| d.direction == direction).map(|d| (*d).clone()).collect()
            };
            let groups: Vec<Vec<DirectionOutput>> =
                groups.iter().map(of_direction).filter(|g| !g.is_empty()).collect();
            let all: Vec<&DirectionOutput> = groups.iter().flatten().collect();
            if all.is_empty() {
                return None;
            }
            let bytes = all.iter().fold(0_u64, |sum, d| sum.saturating_add(d.bytes));
            let operations = all.iter().fold(0_u64, |sum, d| sum.saturating_add(d.operations));
            let longest =
                |g: &Vec<DirectionOutput>| g.iter().map(|d| d.runtime_ns).max().unwrap_or(0);
            let runtime_ns = groups.iter().map(longest).fold(0_u64, u64::saturating_add);
            let seconds = runtime_ns as f64 / 1e9;
            // A single job's rates are fio's own: its clock is finer than the
            // milliseconds that it shows.
            let rates = match all.as_slice() {
                [one] => (one.bytes_per_second, one.operations_per_second),
                _ if seconds > 0.0 => (bytes as f64 / seconds, operations as f64 / seconds),
                _ => (0.0, 0.0),
            };
            let latency = latency(&all);
            let commit: Option<Vec<&Latency>> = all.iter().map(|d| d.commit.as_ref()).collect();
            kinds.extend(latency.as_ref().map(|(kind, _)| *kind));
            let rate = |n: f64| (n > 0.0).then_some(n);
            Some(Figure {
                direction,
                bytes,
                operations: Some(operations),
                elapsed_ns: runtime_ns,
                bytes_per_second: rate(rates.0),
                operations_per_second: rate(rates.1),
                latency: latency.map(|(_, latency)| latency),
                missed: None,
                operation: OperationKind::Io,
                commit: commit.as_deref().and_then(together),
            })
        })
        .collect();
    (figures, kinds.into_iter().max())
}

/// The latencies of several jobs together, where all are of one kind.
fn latency(all: &[&DirectionOutput]) -> Option<(LatencyKind, Latency)> {
    let parts: Vec<&(LatencyKind, Latency)> =
        all.iter().map(|d| d.latency.as_ref()).collect::<Option<_>>()?;
    let (kind, _) = parts.first()?;
    if parts.iter().any(|(k, _)| k != kind) {
        return None;
    }
    let latencies: Vec<&Latency> = parts.iter().map(|(_, latency)| latency).collect();
    Some((*kind, together(&latencies)?))
}

/// Several distributions as one.
fn together(parts: &[&Latency]) -> Option<Latency> {
    if let [one] = parts {
        return Some((*one).clone());
    }
    parts.first()?;
    let mut histogram = LatencyHistogram::new();
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let (mut min_ns, mut max_ns) = (u64::MAX, 0);
    for part in parts {
        histogram.merge(&part.histogram);
        let n = part.histogram.count() as f64;
        count += n;
        sum += n * part.mean_ns;
        squares += n * (part.deviation_ns.powi(2) + part.mean_ns.powi(2));
        min_ns = min_ns.min(part.min_ns);
        max_ns = max_ns.max(part.max_ns);
    }
    let mean_ns = sum / count;
    let deviation_ns = (squares / count - mean_ns.powi(2)).max(0.0).sqrt();
    Some(Latency { min_ns, max_ns, mean_ns, deviation_ns, histogram })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(bytes: u64, runtime_ms: u64, latencies: &[u64]) -> DirectionOutput {
        let mut histogram = LatencyHistogram::new();
        latencies.iter().for_each(|ns| histogram.record(*ns, 1));
        DirectionOutput {
            direction: Direction::Read,
            bytes,
            operations: latencies.len() as u64,
            runtime_ns: runtime_ms * 1_000_000,
            bytes_per_second: 123.0,
            operations_per_second: 4.0,
            latency: Some((LatencyKind::Total, Latency::from_histogram(histogram))),
            commit: None,
        }
    }

    #[test]
    fn one_job_keeps_fios_rates() {
        let one = done(1000, 2, &[100, 200]);
        let (figures, kind) = combine(&[vec![&one]]);
        assert_eq!(figures[0].bytes_per_second, Some(123.0));
        assert_eq!((figures[0].elapsed_ns, kind), (2_000_000, Some(LatencyKind::Total)));
    }

    #[test]
    fn jobs_of_a_group_share_the_time_and_groups_add_up() {
        let (a, b, c) = (done(1000, 100, &[10, 20]), done(3000, 200, &[30]), done(500, 50, &[5]));
        let (figures, _) = combine(&[vec![&a, &b]]);
        assert_eq!(figures[0].bytes_per_second, Some(20_000.0));
        assert_eq!(figures[0].operations_per_second, Some(15.0));
        let (figures, _) = combine(&[vec![&a, &b], vec![&c]]);
        assert_eq!(figures[0].elapsed_ns, 250_000_000);
        assert_eq!(figures[0].bytes_per_second, Some(18_000.0));
        let latency = figures[0].latency.as_ref().expect("all have one");
        assert_eq!((latency.min_ns, latency.max_ns, latency.histogram.count()), (5, 30, 4));
        assert!((latency.mean_ns - 16.25).abs() < 0.01, "{}", latency.mean_ns);
        let exact = [10.0_f64, 20.0, 30.0, 5.0].map(|n| (n - 16.25).powi(2)).iter().sum::<f64>();
        assert!((latency.deviation_ns - (exact / 4.0).sqrt()).abs() < 0.01);
    }

    #[test]
    fn directions_stay_apart_and_latencies_of_two_kinds_too() {
        let read = done(1000, 100, &[10]);
        let mut other = done(1000, 100, &[10]);
        other.latency = other.latency.map(|(_, l)| (LatencyKind::Completion, l));
        let (figures, _) = combine(&[vec![&read, &other]]);
        assert!(figures[0].latency.is_none());
        other.direction = Direction::Write;
        let (figures, kind) = combine(&[vec![&read, &other]]);
        assert_eq!((figures.len(), kind), (2, Some(LatencyKind::Completion)));
        assert!(combine(&[vec![]]).0.is_empty());
    }
}

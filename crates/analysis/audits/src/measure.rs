//! Which measure a question looks at where the study does not say.

use disklab_sample::Direction;
use disklab_study::{ChartKind, Measure, Percentile};

use crate::Group;

/// Operations below this size in bytes are told in IOPS, those from it on in
/// bytes per second: the time of small ones goes into positioning and flushing,
/// that of large ones into the transfer.
const SMALL_OPERATION: f64 = 65536.0;

/// The measure that fits these groups best: elapsed time for copying and
/// removing files, deadlines missed where there are deadlines, a high percentile of latency for a chart of distributions,
/// IOPS where the median operation is small, otherwise throughput; along a line
/// always throughput, so that its points can be compared.
pub fn measure_of(groups: &[&Group], chart: &ChartKind) -> Measure {
    if *chart == ChartKind::Distribution {
        return Measure::Latency(Percentile::P99);
    }
    let files = |g: &Group| matches!(g.key.direction, Direction::Copy | Direction::Remove);
    let has = |m: Measure| groups.iter().any(|g| g.values(m).next().is_some());
    // Imported figures may be rates without times.
    if has(Measure::Elapsed) && groups.iter().all(|g| files(g)) {
        return Measure::Elapsed;
    }
    // Operations on files and directories of all kinds have no size.
    if has(Measure::Iops) && groups.iter().all(|g| g.key.direction == Direction::Mixed) {
        return Measure::Iops;
    }
    // A stream's throughput is its rate, as long as it keeps up.
    let keeps_time = |g: &Group| g.values(Measure::Missed).next().is_some();
    if has(Measure::Missed) && groups.iter().all(|g| keeps_time(g)) {
        return Measure::Missed;
    }
    let (throughput, iops) = (has(Measure::Throughput), has(Measure::Iops));
    let along_a_line = matches!(chart, ChartKind::LinesOver(_));
    match (throughput, iops) {
        (true, true) if !along_a_line && small(groups) => Measure::Iops,
        (true, _) => Measure::Throughput,
        (false, true) => Measure::Iops,
        (false, false) => Measure::Elapsed,
    }
}

/// Whether the median operation is small, in work that is counted in operations.
fn small(groups: &[&Group]) -> bool {
    let mut sizes: Vec<f64> = groups
        .iter()
        // Streams are told in bytes per second whatever the size of a request.
        .filter(|g| !g.profile().stream)
        .flat_map(|g| &g.observations)
        .filter_map(|o| Some(o.throughput? / o.iops?))
        .filter(|size| size.is_finite())
        .collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() / 2).is_some_and(|median| *median < SMALL_OPERATION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RunFixture, figure, step};

    fn chosen(
        workload: &str,
        direction: Direction,
        operations: Option<u64>,
        chart: &ChartKind,
    ) -> Measure {
        let mut fixture = RunFixture::new("");
        let mut one = figure(direction, 1 << 20, 1.0);
        one.operations = operations;
        fixture.sample("single/ext4", workload, 0, vec![step("s", vec![one])]);
        let analysis = fixture.audited();
        measure_of(&analysis.groups.iter().collect::<Vec<_>>(), chart)
    }

    #[test]
    fn the_measure_fits_the_work() {
        let over = ChartKind::LinesOver("bs".to_owned());
        for (workload, direction, operations, chart, expected) in [
            ("fio", Direction::Read, Some(256), &ChartKind::Bars, Measure::Iops),
            ("fio", Direction::Read, Some(16), &ChartKind::Bars, Measure::Throughput),
            ("fio", Direction::Read, Some(256), &over, Measure::Throughput),
            ("fio", Direction::Read, None, &ChartKind::Bars, Measure::Throughput),
            (
                "fio",
                Direction::Read,
                Some(256),
                &ChartKind::Distribution,
                Measure::Latency(Percentile::P99),
            ),
            ("dd-4k", Direction::Write, Some(256), &ChartKind::Bars, Measure::Throughput),
            ("copy", Direction::Copy, None, &ChartKind::Bars, Measure::Elapsed),
            ("copy", Direction::Remove, None, &ChartKind::Bars, Measure::Elapsed),
        ] {
            assert_eq!(chosen(workload, direction, operations, chart), expected, "{workload}");
        }
    }

    #[test]
    fn rates_without_times_are_rates() {
        for direction in [Direction::Copy, Direction::Remove, Direction::Mixed] {
            let mut fixture = RunFixture::new("");
            let mut one = figure(direction, 0, 0.0);
            one.bytes_per_second = Some(1e6);
            fixture.sample("single/ext4", "copy", 0, vec![step("s", vec![one])]);
            let analysis = fixture.audited();
            let groups: Vec<_> = analysis.groups.iter().collect();
            assert_eq!(measure_of(&groups, &ChartKind::Bars), Measure::Throughput);
        }
    }

    #[test]
    fn work_with_deadlines_is_measured_by_them() {
        let mut fixture = RunFixture::new("");
        for (stack, missed) in [("single/ext4", Some(0)), ("raid1/ext4", Some(3))] {
            let mut film = figure(Direction::Read, 1 << 20, 1.0);
            film.missed = missed;
            fixture.sample(stack, "fio", 0, vec![step("s", vec![film])]);
        }
        let measure = |fixture: &RunFixture| {
            let groups = fixture.audited().groups;
            measure_of(&groups.iter().collect::<Vec<_>>(), &ChartKind::Bars)
        };
        assert_eq!(measure(&fixture), Measure::Missed);
        let other = figure(Direction::Read, 1 << 20, 1.0);
        fixture.sample("single/btrfs", "fio", 0, vec![step("s", vec![other])]);
        assert_eq!(measure(&fixture), Measure::Throughput, "one has none");
        assert_eq!(measure(&RunFixture::new("")), Measure::Elapsed);
    }
}

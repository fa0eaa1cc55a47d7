//! Figures of a part of what was done.

use crate::common::run_text;
use disklab_engine::DirectionReport;
use disklab_sample::Direction;

#[test]
fn the_part_from_the_start_on_is_the_whole() {
    let (_directory, report) =
        run_text("[it]\nrw=randrw\nbs=4k\nsize=4m\nnumjobs=3\ngroup_reporting\nioengine=psync\n");
    let job = &report.jobs[0];
    for direction in [Direction::Read, Direction::Write] {
        let (whole, all) = (job.done(direction), job.since(0, direction));
        assert_eq!((all.operations, all.bytes), (whole.operations, whole.bytes));
        assert_eq!(all.runtime_ns, whole.runtime_ns);
        let at = |done: &DirectionReport, share| {
            done.total.as_ref().map_or(0, |latency| latency.histogram.quantile(share)) as f64
        };
        for share in [0.5, 0.99] {
            let ratio = at(&all, share) / at(whole, share);
            assert!((ratio - 1.0).abs() < 0.006, "{share} {ratio}");
        }
        assert_eq!(job.since(u64::MAX, direction), DirectionReport::default());
        // A later part has no more than is left.
        let mark = job.windows[0].mark(job.elapsed_ns / 2);
        let part = job.since(mark, direction);
        assert!(part.operations <= whole.operations && part.bytes == part.operations * 4096);
    }
}

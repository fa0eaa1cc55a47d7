//! `steadystate`: a job ends when the figures of its last seconds no longer change.

use std::collections::VecDeque;

use disklab_jobfile::{Job, SteadyFigure, SteadyRule};

use crate::control::{Controls, groups};

/// How often figures are taken: each second, as fio 3.33 does.
const INTERVAL_NS: u64 = 1_000_000_000;

/// How steady a job was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// What it was judged by.
    pub rule: SteadyRule,
    /// Whether it became steady.
    pub attained: bool,
    /// The slope or the largest deviation when it was last judged, in percent where the limit
    /// is; 0 before.
    pub criterion: f64,
}

/// The figures of the last seconds.
#[derive(Debug)]
struct Judge {
    figures: VecDeque<f64>,
    steadiness: SteadyState,
}

impl Judge {
    fn new(rule: SteadyRule) -> Self {
        let steadiness = SteadyState { rule, attained: false, criterion: 0.0 };
        Self { figures: VecDeque::new(), steadiness }
    }

    /// Takes the figure of another second. Says whether it is steady.
    fn add(&mut self, figure: f64) -> bool {
        let rule = self.steadiness.rule;
        self.figures.push_back(figure);
        if self.figures.len() > rule.seconds as usize {
            self.figures.pop_front();
        }
        if self.figures.len() < rule.seconds as usize {
            return false;
        }
        let n = self.figures.len() as f64;
        let mean = self.figures.iter().sum::<f64>() / n;
        let measure = if rule.slope {
            let middle = (n - 1.0) / 2.0;
            let at = || (0..self.figures.len()).map(|i| i as f64 - middle);
            let squares: f64 = at().map(|x| x * x).sum();
            let products: f64 = at().zip(&self.figures).map(|(x, y)| x * y).sum();
            // A single figure has no slope.
            if squares > 0.0 { products / squares } else { 0.0 }
        } else {
            self.figures.iter().map(|figure| (figure - mean).abs()).fold(0.0, f64::max)
        };
        let steadiness = &mut self.steadiness;
        steadiness.criterion = match rule.percent {
            true if mean > 0.0 => 100.0 * measure / mean,
            true => f64::INFINITY,
            false => measure,
        };
        steadiness.attained = steadiness.criterion.abs() < rule.limit;
        steadiness.attained
    }
}

/// Clones that are judged together: one, or all of a group that is reported as one.
#[derive(Debug)]
struct Watch {
    members: Vec<(usize, u32)>,
    began_ns: Option<u64>,
    taken_ns: u64,
    before: (u64, u64),
    judge: Judge,
}

/// All that are judged.
#[derive(Debug, Default)]
pub(crate) struct Watches(Vec<Watch>);

impl Watches {
    pub(crate) fn new(jobs: &[Job]) -> Self {
        let groups = groups(jobs);
        let mut watches: Vec<Watch> = Vec::new();
        for (index, job) in jobs.iter().enumerate() {
            let Some(rule) = job.timing.steady else { continue };
            for clone in 0..job.process.clones {
                let joins = |watch: &&mut Watch| {
                    let first = watch.members[0].0;
                    job.groups.group_reporting
                        && jobs[first].groups.group_reporting
                        && groups[first] == groups[index]
                };
                match watches.last_mut().filter(joins) {
                    Some(watch) => watch.members.push((index, clone)),
                    None => watches.push(Watch {
                        members: vec![(index, clone)],
                        began_ns: None,
                        taken_ns: 0,
                        before: (0, 0),
                        judge: Judge::new(rule),
                    }),
                }
            }
        }
        Self(watches)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These jobs have started.
    pub(crate) fn start(&mut self, started: &[usize], now_ns: u64) {
        for watch in &mut self.0 {
            if watch.members.iter().any(|(job, _)| started.contains(job)) {
                watch.began_ns.get_or_insert(now_ns);
                watch.taken_ns = now_ns;
            }
        }
    }

    /// Takes figures where a second has passed, and ends what has become steady.
    pub(crate) fn look(&mut self, controls: &Controls, now_ns: u64) {
        for watch in self.0.iter_mut().filter(|watch| !watch.judge.steadiness.attained) {
            let Some(began_ns) = watch.began_ns else { continue };
            let passed_ns = now_ns.saturating_sub(watch.taken_ns);
            if passed_ns < INTERVAL_NS {
                continue;
            }
            let done = watch.members.iter().map(|(job, clone)| controls.of(*job, *clone).done());
            let done = done.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
            // Counting begins again when `ramp_time` is over.
            let more =
                (done.0.saturating_sub(watch.before.0), done.1.saturating_sub(watch.before.1));
            (watch.taken_ns, watch.before) = (now_ns, done);
            let rule = watch.judge.steadiness.rule;
            let since_ns = u128::from(now_ns - began_ns);
            // The first second after the ramp still belongs to it (steadystate_check).
            let ramp_ns = rule.ramp.as_nanos() + u128::from(INTERVAL_NS);
            if !rule.ramp.is_zero() && since_ns < ramp_ns {
                continue;
            }
            let count = match rule.figure {
                SteadyFigure::Iops => more.0,
                SteadyFigure::Bandwidth => more.1,
            };
            if watch.judge.add(count as f64 * 1e9 / passed_ns as f64) {
                watch.members.iter().for_each(|(job, clone)| controls.stop_clone(*job, *clone));
            }
        }
    }

    /// How steady a clone was.
    pub(crate) fn of(&self, job: usize, clone: u32) -> Option<SteadyState> {
        let watch = self.0.iter().find(|watch| watch.members.contains(&(job, clone)))?;
        Some(watch.judge.steadiness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::jobs;

    /// After how many seconds it is steady.
    fn steady_after(rule: &str, figures: impl IntoIterator<Item = f64>) -> Option<usize> {
        let jobs = jobs(&format!("[a]\nsize=1m\nss_dur=4\nss={rule}\n"));
        let mut judge = Judge::new(jobs[0].timing.steady.expect("a rule"));
        figures.into_iter().position(|figure| judge.add(figure))
    }

    #[test]
    fn figures_are_judged_over_the_last_seconds() {
        let settling = [100.0, 300.0, 200.0, 200.0, 210.0, 190.0, 200.0];
        assert_eq!(steady_after("iops:10%", settling), Some(5));
        assert_eq!(steady_after("iops:4%", settling), None);
        assert_eq!(steady_after("iops:11", settling), Some(5));
        let growing = || (0..9).map(|second| 1000.0 + 10.0 * f64::from(second));
        assert_eq!(steady_after("bw_slope:0.5%", growing()), None);
        assert_eq!(steady_after("bw_slope:2%", growing()), Some(3));
        assert_eq!(steady_after("iops_slope:11", growing()), Some(3));
        assert_eq!(steady_after("iops:10%", [0.0; 9]), None, "nothing was done");
    }

    #[test]
    fn groups_are_judged_as_one_and_other_clones_apart() {
        let text = "[global]\nsize=1m\nss_dur=2\nss=iops:1%\nnumjobs=2\n";
        let members = |more: &str| {
            let watches = Watches::new(&jobs(&format!("{text}{more}[a]\n[b]\n[c]\nstonewall\n")));
            watches.0.iter().map(|watch| watch.members.len()).collect::<Vec<_>>()
        };
        assert_eq!(members(""), [1; 6]);
        assert_eq!(members("group_reporting\n"), [4, 2]);
    }
}

//! What the user sees during a run: bars on a terminal, plain lines anywhere
//! else.

use std::collections::{BTreeMap, HashMap};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use disklab_bench::{CellProgress, Phase};
use disklab_source::printable;
use disklab_store::{CellRecord, CellState};
use disklab_study::Cell;
use disklab_units::{show_duration, show_seconds};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Where there is no terminal, no more than one line in so long tells how far cells are.
const LINE_EVERY: Duration = Duration::from_secs(60);
/// How often what is on a terminal moves.
const TICK: Duration = Duration::from_millis(250);
/// So many cells have a line of their own on a terminal.
const MOST_LINES: usize = 8;
/// A cell has one if it runs longer: lines of short cells would flicker.
const LINE_AFTER: Duration = Duration::from_secs(5);
/// No time is predicted from less of a workload than this.
const ENOUGH: f64 = 0.05;

/// Progress of a run, with the time left: what was predicted, corrected by what
/// the cells so far really took.
pub struct Progress {
    bars: Option<Bars>,
    total: usize,
    done: usize,
    /// Predicted seconds of the cells still to come, by workload.
    waiting: HashMap<String, (usize, f64)>,
    /// Cells and seconds so far, by workload.
    seen: HashMap<String, (usize, f64)>,
    predicted_done: f64,
    taken: f64,
    /// How many cells run side by side.
    at_once: usize,
    /// The cells that run, by their numbers.
    running: BTreeMap<u32, Running>,
    /// When a line was written last.
    said: Instant,
    /// Before the time left: it is an upper bound where cells may turn out not to be needed.
    about: &'static str,
    /// No more than so many seconds from then on are left.
    limit: Option<(Instant, f64)>,
}

/// A cell that runs.
struct Running {
    name: String,
    workload: String,
    began: Instant,
    phase: Phase,
    /// When it entered that.
    since: Instant,
    progress: Option<CellProgress>,
    /// Its line on a terminal.
    bar: Option<ProgressBar>,
}

impl Running {
    /// What it does, how far it is, and what is left of the `expected` seconds.
    fn words(&self, expected: f64) -> String {
        let mut words = self.phase.words().to_owned();
        let share = self.progress.and_then(|progress| progress.share());
        let share = share.filter(|_| self.phase == Phase::Measure);
        if let Some(progress) = self.progress {
            match (share, progress.planned) {
                (Some(share), Some(planned)) => {
                    words.push_str(&format!(
                        ", {:.0} % of {}",
                        share * 100.0,
                        show_duration(planned)
                    ));
                }
                _ => {
                    let clock = Duration::from_secs(progress.clock.as_secs());
                    words.push_str(&format!(", {} of its own time so far", show_duration(clock)));
                }
            }
        }
        let left = match share {
            Some(share) if share >= ENOUGH => {
                self.since.elapsed().as_secs_f64() * (1.0 - share) / share
            }
            _ => expected - self.began.elapsed().as_secs_f64(),
        };
        if left > 1.0 {
            words.push_str(&format!(", about {} left", show_seconds(left)));
        }
        words
    }
}

struct Bars {
    multi: MultiProgress,
    run: ProgressBar,
    /// Which stack is ahead in the question that was measured last.
    ahead: ProgressBar,
    cell: ProgressStyle,
}

impl Progress {
    /// For a run with these cells to do, `at_once` side by side: workload and
    /// predicted seconds of each.
    pub fn new(cells: &[(String, f64)], at_once: usize) -> Self {
        let terminal = std::io::stderr().is_terminal()
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let bars = terminal.then(|| Bars::new(cells.len() as u64));
        let mut waiting: HashMap<String, (usize, f64)> = HashMap::new();
        for (workload, seconds) in cells {
            let entry = waiting.entry(workload.clone()).or_default();
            *entry = (entry.0 + 1, *seconds);
        }
        Self {
            bars,
            total: cells.len(),
            done: 0,
            waiting,
            seen: HashMap::new(),
            predicted_done: 0.0,
            taken: 0.0,
            at_once: at_once.max(1),
            running: BTreeMap::new(),
            said: Instant::now(),
            about: "about",
            limit: None,
        }
    }

    /// For a campaign that decides as it goes: these cells come next, and at most those
    /// `later`; what is `recorded` says how far it is and what its cells take.
    /// No more than the `limit`, in seconds from now, is left.
    pub fn of_block(
        next: &[(String, f64)],
        later: &[(String, f64)],
        recorded: &[CellRecord],
        at_once: usize,
        limit: Option<f64>,
    ) -> Self {
        let cells: Vec<_> = next.iter().chain(later).cloned().collect();
        let mut progress = Self::new(&cells, at_once);
        for record in recorded.iter().filter(|r| r.state != CellState::Waiting) {
            progress.done += 1;
            let Some(seconds) = record.seconds else { continue };
            let seen = progress.seen.entry(record.cell.workload.clone()).or_default();
            *seen = (seen.0 + 1, seen.1 + seconds);
        }
        progress.total += progress.done;
        progress.about = "at most about";
        progress.limit = limit.map(|seconds| (Instant::now(), seconds));
        if let Some(bars) = &progress.bars {
            bars.run.set_length(progress.total as u64);
            bars.run.set_position(progress.done as u64);
        }
        progress
    }

    pub fn begin(&mut self, cell: &Cell) {
        let now = Instant::now();
        let running = Running {
            name: format!("{} · {}", cell.stack, cell.workload),
            workload: cell.workload.clone(),
            began: now,
            phase: Phase::Make,
            since: now,
            progress: None,
            bar: None,
        };
        self.running.insert(cell.number, running);
    }

    /// A cell enters a phase.
    pub fn phase(&mut self, cell: &Cell, phase: Phase) {
        if let Some(running) = self.running.get_mut(&cell.number) {
            (running.phase, running.since) = (phase, Instant::now());
        }
        self.show(cell.number);
    }

    /// A cell is so far.
    pub fn stands(&mut self, cell: &Cell, progress: CellProgress) {
        if let Some(running) = self.running.get_mut(&cell.number) {
            running.progress = Some(progress);
        }
        self.show(cell.number);
        if self.bars.is_none() && self.said.elapsed() >= LINE_EVERY {
            self.say(&self.line());
        }
    }

    /// Shows the time left, and on lines of their own the cells that have run for a while.
    fn show(&mut self, number: u32) {
        let Some(bars) = &self.bars else { return };
        bars.run.set_message(self.left_words());
        let lines = self.running.values().filter(|running| running.bar.is_some()).count();
        let Some(running) = self.running.get(&number) else { return };
        let words = running.words(self.expected(&running.workload));
        let has_line = lines < MOST_LINES && running.began.elapsed() >= LINE_AFTER;
        let new = (running.bar.is_none() && has_line).then(|| bars.cell(running));
        if let Some(running) = self.running.get_mut(&number) {
            running.bar = running.bar.take().or(new);
            if let Some(bar) = &running.bar {
                bar.set_message(words);
            }
        }
    }

    /// How far the cells are that run.
    fn line(&self) -> String {
        let cells = self.running.values().map(|running| {
            format!("{}: {}", running.name, running.words(self.expected(&running.workload)))
        });
        format!("[{}/{}] {}", self.done, self.total, cells.collect::<Vec<_>>().join("; "))
    }

    fn say(&mut self, line: &str) {
        eprintln!("{line}");
        self.said = Instant::now();
    }

    pub fn end(&mut self, cell: &Cell, seconds: f64, error: Option<&str>) {
        self.done += 1;
        if let (Some(bars), Some(bar)) =
            (&self.bars, self.running.remove(&cell.number).and_then(|running| running.bar))
        {
            bar.finish_and_clear();
            bars.multi.remove(&bar);
        }
        self.taken += seconds;
        let seen = self.seen.entry(cell.workload.clone()).or_default();
        *seen = (seen.0 + 1, seen.1 + seconds);
        if let Some(waiting) = self.waiting.get_mut(&cell.workload) {
            waiting.0 = waiting.0.saturating_sub(1);
            self.predicted_done += waiting.1;
        }
        let failed = error.map_or_else(String::new, |e| format!(" FAILED: {e}"));
        let line = format!(
            "[{}/{}] {} · {}: {}{failed}",
            self.done,
            self.total,
            cell.stack,
            cell.workload,
            show_seconds(seconds),
        );
        match &self.bars {
            Some(bars) => {
                bars.run.set_position(self.done as u64);
                bars.run.set_message(self.left_words());
                if error.is_some() {
                    let _ = bars.multi.println(line);
                }
            }
            None if self.done == self.total => self.say(&line),
            None => self.say(&format!("{line}; {}", self.left_words())),
        }
    }

    /// Shows which stack is ahead. Without a terminal that is the report's to tell.
    pub fn ahead(&self, line: &str) {
        if let Some(bars) = &self.bars {
            bars.ahead.set_message(printable(line).into_owned());
        }
    }

    /// Removes the bars.
    pub fn finish(&self) {
        if let Some(bars) = &self.bars {
            for bar in self.running.values().filter_map(|running| running.bar.as_ref()) {
                bar.finish_and_clear();
            }
            bars.ahead.finish_and_clear();
            bars.run.finish_and_clear();
        }
    }

    fn expected(&self, workload: &str) -> f64 {
        if let Some((count, seconds)) = self.seen.get(workload) {
            return seconds / *count as f64;
        }
        let predicted = self.waiting.get(workload).map_or(0.0, |w| w.1);
        predicted * self.correction()
    }

    /// By how much cells take longer than predicted, so far.
    fn correction(&self) -> f64 {
        if self.predicted_done > 0.0 { self.taken / self.predicted_done } else { 1.0 }
    }

    /// `about 4 min 30 s left`.
    fn left_words(&self) -> String {
        left_words(self.about, self.seconds_left())
    }

    fn seconds_left(&self) -> f64 {
        let seconds: f64 = self
            .waiting
            .iter()
            .map(|(workload, (count, _))| self.expected(workload) * *count as f64)
            .sum();
        let mut seconds = seconds / self.at_once as f64;
        if let Some((since, limit)) = self.limit {
            seconds = seconds.min(limit - since.elapsed().as_secs_f64());
        }
        // A time that no `Duration` holds is none that was predicted.
        if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, 1e9) }
    }
}

impl Bars {
    fn new(total: u64) -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        crate::log::print_above(&multi);
        let style = |template: &str| {
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("█▉▊▋▌▍▎▏ ")
        };
        let colour = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let bar = if colour { "{bar:30.cyan}" } else { "{bar:30}" };
        let run = multi.add(ProgressBar::new(total));
        run.set_style(style(&format!("{bar} {{pos}}/{{len}} cells, {{elapsed}} so far, {{msg}}")));
        run.enable_steady_tick(TICK);
        let ahead = multi.add(ProgressBar::new_spinner());
        ahead.set_style(style("{wide_msg}"));
        Self { multi, run, ahead, cell: style("{spinner} {prefix}: {msg} ({elapsed})") }
    }

    /// A line for a cell.
    fn cell(&self, running: &Running) -> ProgressBar {
        let bar = ProgressBar::new_spinner().with_elapsed(running.began.elapsed());
        let bar = self.multi.add(bar);
        bar.set_style(self.cell.clone());
        bar.set_prefix(printable(&running.name).into_owned());
        bar.enable_steady_tick(TICK);
        bar
    }
}

/// `about 4 min 30 s left`: nobody can use milliseconds of a prediction.
pub fn left_words(about: &str, seconds: f64) -> String {
    if seconds < 1.0 {
        return "less than 1 s left".to_owned();
    }
    format!("{about} {} left", show_seconds(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(phase: Phase, progress: Option<CellProgress>) -> Running {
        let now = Instant::now();
        let began = now.checked_sub(Duration::from_secs(100)).unwrap_or(now);
        let since = now.checked_sub(Duration::from_secs(90)).unwrap_or(now);
        Running {
            name: "single/ext4 · fileserver".to_owned(),
            workload: "fileserver".to_owned(),
            began,
            phase,
            since,
            progress,
            bar: None,
        }
    }

    fn progress(clock: u64, measuring: Option<u64>, planned: Option<u64>) -> Option<CellProgress> {
        let [measuring, planned] = [measuring, planned].map(|time| time.map(Duration::from_secs));
        Some(CellProgress { clock: Duration::from_secs(clock), measuring, planned })
    }

    #[test]
    fn a_cell_reports_its_share_of_the_plan() {
        let hours = progress(10_000, Some(9_000), Some(36_000));
        // A quarter in 90 seconds.
        let words = running(Phase::Measure, hours).words(1000.0);
        assert_eq!(words, "measuring, 25 % of 10 h 00 min, about 4 min 30 s left");
        // Too little to predict from: what was predicted, less what is over.
        let words = running(Phase::Measure, progress(1_100, Some(360), Some(36_000))).words(400.0);
        assert!(words.starts_with("measuring, 1 % of 10 h 00 min, about "), "{words}");
    }

    #[test]
    fn without_a_plan_a_cell_reports_its_own_time() {
        let unplanned = progress(3_700, Some(3_600), None);
        let words = running(Phase::Measure, unplanned).words(0.0);
        assert_eq!(words, "measuring, 1 h 01 min of its own time so far");
        let words = running(Phase::Prepare, progress(60, None, Some(36_000))).words(0.0);
        assert_eq!(words, "writing the data, 1 min 00 s of its own time so far");
        assert_eq!(running(Phase::Make, None).words(0.0), "making the stack");
    }

    #[test]
    fn a_campaign_reports_the_most_time_left() {
        let cell =
            Cell { number: 0, block: 0, stack: "s".to_owned(), workload: "w".to_owned(), seed: 1 };
        let record = CellRecord {
            cell,
            state: CellState::Done,
            error: None,
            ended: None,
            seconds: Some(20.0),
        };
        let like = |n: usize| vec![("w".to_owned(), 10.0); n];
        let progress = Progress::of_block(&like(2), &like(4), &[record], 2, None);
        assert_eq!((progress.total, progress.done), (7, 1));
        // Six of 20 s, two at once.
        assert_eq!(progress.left_words(), "at most about 1 min 00 s left");
    }

    #[test]
    fn time_left_is_never_nanoseconds() {
        for seconds in [0.0, 0.4] {
            let progress = Progress::new(&[("w".to_owned(), seconds)], 1);
            assert_eq!(progress.left_words(), "less than 1 s left");
        }
        let progress = Progress::new(&[("w".to_owned(), 1.5)], 1);
        assert_eq!(progress.left_words(), "about 1.5 s left");
    }

    #[test]
    fn a_line_names_all_cells_that_run() {
        let mut progress = Progress::new(&[("w".to_owned(), 10.0)], 2);
        for number in [3, 1] {
            let cell = Cell {
                number,
                block: 0,
                stack: format!("stack-{number}"),
                workload: "w".to_owned(),
                seed: 1,
            };
            progress.begin(&cell);
            progress.phase(&cell, Phase::Measure);
        }
        let line = progress.line();
        assert!(line.starts_with("[0/1] stack-1 · w: measuring, about "), "{line}");
        assert!(line.contains("; stack-3 · w: measuring"), "{line}");
    }
}

//! What the user sees during a run: bars on a terminal, plain lines anywhere
//! else.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use disklab_bench::{CellProgress, Phase};
use disklab_cell::Cell;
use disklab_runner::UpcomingCells;
use disklab_source::printable;
use disklab_store::CellState;
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
/// What was predicted counts as much as so many cells that were timed.
const PRIOR_CELLS: f64 = 4.0;
/// Lines of a terminal that are not for the answers: the bar, who is ahead, and cells.
const OTHER_LINES: usize = MOST_LINES + 4;

/// Progress of a run, with the time until its next answers: what was predicted, corrected by
/// what the cells so far really took.
pub struct Progress {
    bars: Option<Bars>,
    /// All cells that the run has so far.
    total: usize,
    done: usize,
    /// Predicted seconds of the cells still to come, by workload.
    waiting: HashMap<String, (usize, f64)>,
    /// Cells and seconds so far, by workload.
    seen: HashMap<String, (usize, f64)>,
    predicted_done: f64,
    taken: f64,
    /// Seconds as predicted that are counted to those, so that the first cell alone says little
    /// of all others.
    prior: f64,
    /// How many cells run side by side.
    at_once: usize,
    /// The cells that run, by their numbers.
    running: BTreeMap<u32, Running>,
    /// What the cells to come lead to.
    until: Until,
    /// No more than so many seconds from then on are left.
    limit: Option<(Instant, f64)>,
    last: LastOutput,
}

/// What the cells that are known to come lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The end of the run.
    End,
    FirstLook,
    NextLook,
    /// Nothing but the end of the budget: after them come others.
    Budget,
}

/// What was shown last, also of the blocks before.
#[derive(Default)]
pub struct LastOutput {
    /// When a line was written last.
    said: Option<Instant>,
    /// Lines of the answers so far.
    answers: Vec<String>,
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
    line: ProgressStyle,
    /// The lines of the answers.
    answers: RefCell<Vec<ProgressBar>>,
}

impl Progress {
    /// For these cells, after what was shown `last`.
    pub fn new(cells: &UpcomingCells<'_>, last: LastOutput) -> Self {
        let campaign = cells.campaign.as_ref();
        let look = campaign.and_then(|campaign| campaign.look.as_ref());
        let mut waiting: HashMap<String, (usize, f64)> = HashMap::new();
        for cell in cells.next.iter().chain(look.map_or(&[][..], |look| look.then)) {
            let entry = waiting.entry(cell.workload.clone()).or_default();
            *entry = (entry.0 + 1, cell.seconds);
        }
        let (cells_left, seconds) =
            waiting.values().fold((0, 0.0), |(n, sum), w| (n + w.0, sum + w.1 * w.0 as f64));
        let prior = PRIOR_CELLS * seconds / cells_left.max(1) as f64;
        let until = match (campaign, look) {
            (None, _) => Until::End,
            (_, Some(look)) if look.is_first => Until::FirstLook,
            (_, Some(_)) => Until::NextLook,
            (Some(_), None) => Until::Budget,
        };
        let limit = campaign.and_then(|campaign| campaign.limit);
        let mut progress = Self {
            bars: None,
            total: cells.recorded.len(),
            done: 0,
            waiting,
            seen: HashMap::new(),
            predicted_done: 0.0,
            taken: 0.0,
            prior,
            at_once: cells.at_once.max(1),
            running: BTreeMap::new(),
            until,
            limit: limit.map(|seconds| (Instant::now(), seconds)),
            last,
        };
        for record in cells.recorded.iter().filter(|r| r.state != CellState::Waiting) {
            progress.done += 1;
            progress.count(&record.cell.levels.workload, record.seconds.unwrap_or_default());
        }
        progress
    }

    /// Counts what a cell of this workload took.
    fn count(&mut self, workload: &str, seconds: f64) {
        let Some((_, predicted)) = self.waiting.get(workload) else { return };
        self.predicted_done += predicted;
        self.taken += seconds;
        let seen = self.seen.entry(workload.to_owned()).or_default();
        *seen = (seen.0 + 1, seen.1 + seconds);
    }

    /// The same on standard error: with bars on a terminal, anywhere else with lines.
    pub fn shown(mut self) -> Self {
        let is_terminal = std::io::stderr().is_terminal()
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        if is_terminal {
            let bars = Bars::new(self.total, self.done);
            bars.run.set_message(self.left_words());
            bars.show_answers(&self.last.answers);
            self.bars = Some(bars);
        } else if self.is_time_for_a_line() {
            self.say(&format!("[{}/{}] {}", self.done, self.total, self.left_words()));
        }
        self
    }

    pub fn begin(&mut self, cell: &Cell) {
        let now = Instant::now();
        let running = Running {
            name: cell.levels.to_string(),
            workload: cell.levels.workload.clone(),
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
        if self.bars.is_none() && self.is_time_for_a_line() {
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
        let cells = cells.collect::<Vec<_>>().join("; ");
        format!("[{}/{}] {}; {cells}", self.done, self.total, self.left_words())
    }

    fn say(&mut self, line: &str) {
        eprintln!("{line}");
        self.last.said = Some(Instant::now());
    }

    fn is_time_for_a_line(&self) -> bool {
        self.last.said.is_none_or(|said| said.elapsed() >= LINE_EVERY)
    }

    pub fn end(&mut self, cell: &Cell, seconds: f64, error: Option<&str>) {
        self.done += 1;
        if let (Some(bars), Some(bar)) =
            (&self.bars, self.running.remove(&cell.number).and_then(|running| running.bar))
        {
            bar.finish_and_clear();
            bars.multi.remove(&bar);
        }
        self.count(&cell.levels.workload, seconds);
        if let Some(waiting) = self.waiting.get_mut(&cell.levels.workload) {
            waiting.0 = waiting.0.saturating_sub(1);
        }
        let failed = error.map_or_else(String::new, |e| format!(" FAILED: {e}"));
        let line = format!(
            "[{}/{}] {}: {}{failed}",
            self.done,
            self.total,
            cell.levels,
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
            None if error.is_some() || self.is_time_for_a_line() => {
                self.say(&format!("{line}; {}", self.left_words()));
            }
            None => {}
        }
    }

    /// Shows which stack is ahead. Without a terminal that is the report's to tell.
    pub fn ahead(&self, line: &str) {
        if let Some(bars) = &self.bars {
            bars.ahead.set_message(printable(line).into_owned());
        }
    }

    /// Shows what would be recommended now. Without a terminal, if that is something else than
    /// before.
    pub fn recommends(&mut self, answers: Vec<String>) {
        if answers == self.last.answers {
            return;
        }
        match &self.bars {
            Some(bars) => bars.show_answers(&answers),
            None => {
                let so_far = format!("[{}/{}] so far:", self.done, self.total);
                let lines = answers.iter().map(|line| format!("\n  {line}"));
                self.say(&(so_far + &lines.collect::<String>()));
            }
        }
        self.last.answers = answers;
    }

    /// Removes the bars.
    pub fn finish(self) -> LastOutput {
        if let Some(bars) = &self.bars {
            for bar in self.running.values().filter_map(|running| running.bar.as_ref()) {
                bar.finish_and_clear();
            }
            bars.show_answers(&[]);
            bars.ahead.finish_and_clear();
            bars.run.finish_and_clear();
        }
        self.last
    }

    fn expected(&self, workload: &str) -> f64 {
        let predicted = self.waiting.get(workload).map_or(0.0, |w| w.1) * self.correction();
        let (count, seconds) = self.seen.get(workload).copied().unwrap_or_default();
        (predicted + seconds) / (1 + count) as f64
    }

    /// By how much cells take longer than predicted, so far.
    fn correction(&self) -> f64 {
        let (taken, predicted) = (self.taken + self.prior, self.predicted_done + self.prior);
        if predicted > 0.0 { taken / predicted } else { 1.0 }
    }

    /// `first answers in about 4 min 30 s`.
    fn left_words(&self) -> String {
        let seconds = self.seconds_left();
        let limit = self.limit.map(|(since, limit)| limit - since.elapsed().as_secs_f64());
        match (self.until, limit) {
            (Until::End, _) => left_words(seconds),
            (Until::Budget, None) => "no look at the samples".to_owned(),
            (until, Some(limit)) if until == Until::Budget || limit < seconds => {
                format!("{} of the budget left", about(limit))
            }
            (Until::FirstLook, _) => format!("first answers in {}", about(seconds)),
            (Until::NextLook | Until::Budget, _) => format!("next look in {}", about(seconds)),
        }
    }

    /// Of the cells that are known to come.
    fn seconds_left(&self) -> f64 {
        let seconds: f64 = self
            .waiting
            .iter()
            .map(|(workload, (count, _))| self.expected(workload) * *count as f64)
            .sum();
        let seconds = seconds / self.at_once as f64;
        // A time that no `Duration` holds is none that was predicted.
        if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, 1e9) }
    }
}

impl Bars {
    fn new(total: usize, done: usize) -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        crate::log::print_above(&multi);
        let style = |template: &str| {
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("█▉▊▋▌▍▎▏ ")
        };
        let colour = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let bar = if colour { "{bar:30.cyan}" } else { "{bar:30}" };
        let run = multi.add(ProgressBar::new(total as u64).with_position(done as u64));
        run.set_style(style(&format!("{bar} {{pos}}/{{len}} cells, {{elapsed}} so far, {{msg}}")));
        run.enable_steady_tick(TICK);
        let ahead = multi.add(ProgressBar::new_spinner());
        let line = style("{wide_msg}");
        ahead.set_style(line.clone());
        let cell = style("{spinner} {prefix}: {msg} ({elapsed})");
        Self { multi, run, ahead, cell, line, answers: RefCell::default() }
    }

    /// Shows the answers below the bars, as many lines as the terminal has room for.
    fn show_answers(&self, lines: &[String]) {
        let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
        let rows = size.map_or(0, |size| usize::from(size.ws_row));
        let room = if rows == 0 { lines.len() } else { rows.saturating_sub(OTHER_LINES) };
        let shown = &lines[..lines.len().min(room)];
        let mut bars = self.answers.borrow_mut();
        while bars.len() > shown.len() {
            let Some(bar) = bars.pop() else { break };
            bar.finish_and_clear();
            self.multi.remove(&bar);
        }
        while bars.len() < shown.len() {
            let last = bars.last().unwrap_or(&self.ahead);
            let bar = self.multi.insert_after(last, ProgressBar::new_spinner());
            bar.set_style(self.line.clone());
            bars.push(bar);
        }
        for (bar, line) in bars.iter().zip(shown) {
            bar.set_message(printable(line).into_owned());
        }
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

/// `about 4 min 30 s`: nobody can use milliseconds of a prediction.
fn about(seconds: f64) -> String {
    if seconds < 1.0 {
        "less than 1 s".to_owned()
    } else {
        format!("about {}", show_seconds(seconds))
    }
}

/// `about 4 min 30 s left`.
pub fn left_words(seconds: f64) -> String {
    format!("{} left", about(seconds))
}

#[cfg(test)]
mod tests {
    use disklab_cell::Levels;

    use disklab_runner::{CampaignProgress, CellForecast, NextLook};
    use disklab_store::CellRecord;

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

    fn cell(number: u32) -> Cell {
        Cell { number, block: 0, levels: Levels::new(format!("stack-{number}"), "w"), seed: 1 }
    }

    fn records(done: u32, waiting: u32) -> Vec<CellRecord> {
        let record = |number| {
            let (state, seconds) = match number < done {
                true => (CellState::Done, Some(20.0)),
                false => (CellState::Waiting, None),
            };
            CellRecord { seconds, ..CellRecord::new(cell(number), state) }
        };
        (0..done + waiting).map(record).collect()
    }

    fn like(n: usize, seconds: f64) -> Vec<CellForecast> {
        vec![CellForecast { workload: "w".to_owned(), seconds }; n]
    }

    /// Of one done cell of 20 s and two to come, and perhaps of a campaign.
    fn left(at_once: usize, campaign: Option<CampaignProgress<'_>>) -> (String, usize, usize) {
        let (next, recorded) = (like(2, 10.0), records(1, 2));
        let cells = UpcomingCells { next: &next, at_once, recorded: &recorded, campaign };
        let progress = Progress::new(&cells, LastOutput::default());
        (progress.left_words(), progress.done, progress.total)
    }

    #[test]
    fn a_campaign_reports_the_time_to_the_next_look() {
        let then = like(4, 10.0);
        let look = |is_first| Some(NextLook { is_first, then: &then });
        let campaign = |look, limit| Some(CampaignProgress { look, limit });
        // Six, two at once, of 10 s as predicted, where one took 20 s: one in five, then one in
        // two. What a page of this moment counts, too: one of three.
        let first = left(2, campaign(look(true), None));
        assert_eq!(first, ("first answers in about 48.0 s".to_owned(), 1, 3));
        let next = left(2, campaign(look(false), Some(1e6)));
        assert_eq!(next.0, "next look in about 48.0 s");
        for look in [look(true), None] {
            let budget = left(2, campaign(look, Some(30.9)));
            assert!(budget.0.ends_with(" of the budget left"), "{budget:?}");
        }
        assert_eq!(left(1, None).0, "about 32.0 s left");
    }

    #[test]
    fn time_left_is_never_nanoseconds() {
        assert_eq!(left_words(0.0), "less than 1 s left");
        assert_eq!(left_words(0.4), "less than 1 s left");
        assert_eq!(left_words(1.5), "about 1.5 s left");
    }

    #[test]
    fn a_line_names_all_cells_that_run() {
        let (next, recorded) = (like(4, 10.0), records(0, 4));
        let cells = UpcomingCells { next: &next, at_once: 2, recorded: &recorded, campaign: None };
        let mut progress = Progress::new(&cells, LastOutput::default());
        for cell in [3, 1].map(cell) {
            progress.begin(&cell);
            progress.phase(&cell, Phase::Measure);
        }
        let line = progress.line();
        let expected = "[0/4] about 20.0 s left; stack-1 · w: measuring, about ";
        assert!(line.starts_with(expected), "{line}");
        assert!(line.contains("; stack-3 · w: measuring"), "{line}");
    }
}

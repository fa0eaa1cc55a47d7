//! What the user sees while a run goes on: two bars on a terminal, plain lines
//! anywhere else.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use disklab_bench::Phase;
use disklab_study::Cell;
use disklab_units::show_duration;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

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
    /// When the cells that run began, by their numbers.
    began: HashMap<u32, Instant>,
}

struct Bars {
    multi: MultiProgress,
    run: ProgressBar,
    cell: ProgressBar,
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
            began: HashMap::new(),
        }
    }

    /// A cell begins.
    pub fn begin(&mut self, cell: &Cell) {
        self.began.insert(cell.number, Instant::now());
        if let Some(bars) = &self.bars {
            bars.cell.reset();
            bars.cell.set_prefix(format!("{} · {}", cell.stack, cell.workload));
        }
    }

    /// A cell enters a phase.
    pub fn phase(&mut self, cell: &Cell, phase: Phase) {
        if let Some(bars) = &self.bars {
            let expected = self.expected(&cell.workload);
            let began = self.began.get(&cell.number);
            let left = expected - began.map_or(0.0, |began| began.elapsed().as_secs_f64());
            let left = if left > 1.0 {
                format!(", about {} left", show_duration(Duration::from_secs_f64(left)))
            } else {
                String::new()
            };
            bars.cell.set_prefix(format!("{} · {}", cell.stack, cell.workload));
            bars.cell.set_message(format!("{}{left}", phase.words()));
            bars.run.set_message(format!("{} left", self.left()));
        }
    }

    /// A cell has ended.
    pub fn end(&mut self, cell: &Cell, seconds: f64, error: Option<&str>) {
        self.done += 1;
        self.began.remove(&cell.number);
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
            show_duration(Duration::from_secs_f64(seconds)),
        );
        match &self.bars {
            Some(bars) => {
                bars.run.set_position(self.done as u64);
                bars.run.set_message(format!("{} left", self.left()));
                if error.is_some() {
                    let _ = bars.multi.println(line);
                }
            }
            None if self.done == self.total => eprintln!("{line}"),
            None => eprintln!("{line}; about {} left", self.left()),
        }
    }

    /// Removes the bars.
    pub fn finish(&self) {
        if let Some(bars) = &self.bars {
            bars.cell.finish_and_clear();
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

    fn left(&self) -> String {
        let seconds: f64 = self
            .waiting
            .iter()
            .map(|(workload, (count, _))| self.expected(workload) * *count as f64)
            .sum();
        let seconds = seconds / self.at_once as f64;
        show_duration(Duration::from_secs_f64(seconds.max(0.0)))
    }
}

impl Bars {
    fn new(total: u64) -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = |template: &str| {
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("█▉▊▋▌▍▎▏ ")
        };
        let colour = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let bar = if colour { "{bar:30.cyan}" } else { "{bar:30}" };
        let run = multi.add(ProgressBar::new(total));
        run.set_style(style(&format!("{bar} {{pos}}/{{len}} cells, {{elapsed}} so far, {{msg}}")));
        let cell = multi.add(ProgressBar::new_spinner());
        cell.set_style(style("{spinner} {prefix}: {msg} ({elapsed})"));
        for bar in [&run, &cell] {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Self { multi, run, cell }
    }
}

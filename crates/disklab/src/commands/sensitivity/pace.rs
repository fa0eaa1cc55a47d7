//! How far an analysis is.

use std::time::{Duration, Instant};

use disklab_units::{show_duration, show_seconds};

/// What is done and what is left, by the predicted times of the runs.
pub struct SensitivityPace {
    runs: usize,
    begun: usize,
    start: Instant,
    /// Predicted seconds of the runs that are left.
    left: f64,
    /// Of the runs that were carried out now: predicted seconds, and those that they took.
    carried_out: (f64, f64),
}

impl SensitivityPace {
    /// Of so many runs, which are predicted to take `seconds` together.
    pub fn new(runs: usize, seconds: f64) -> Self {
        Self { runs, begun: 0, start: Instant::now(), left: seconds, carried_out: (0.0, 0.0) }
    }

    /// The line for the run that begins.
    pub fn next(&mut self, words: &str) -> String {
        self.begun += 1;
        let left = show_seconds(self.seconds_left());
        let so_far = match self.begun {
            1 => String::new(),
            _ => format!("{} so far, ", show_duration(self.start.elapsed())),
        };
        format!("[{}/{}] {words} ({so_far}about {left} left)", self.begun, self.runs)
    }

    /// A run that was predicted to take `seconds` is over. One that was so before took nothing.
    pub fn done(&mut self, seconds: f64, took: Option<Duration>) {
        self.left -= seconds;
        if let Some(took) = took {
            self.carried_out.0 += seconds;
            self.carried_out.1 += took.as_secs_f64();
        }
    }

    /// By the prediction, and by how far off it was until now.
    fn seconds_left(&self) -> f64 {
        let (predicted, took) = self.carried_out;
        let factor = if predicted > 0.0 { took / predicted } else { 1.0 };
        (self.left * factor).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_measured_run_times() {
        let mut pace = SensitivityPace::new(4, 400.0);
        let line = pace.next("as shipped");
        assert_eq!(line, "[1/4] as shipped (about 6 min 40 s left)");
        assert_eq!(pace.seconds_left(), 400.0);
        // It was there before: that says nothing of this machine.
        pace.done(100.0, None);
        assert_eq!(pace.seconds_left(), 300.0);
        pace.done(100.0, Some(Duration::from_secs(50)));
        assert_eq!(pace.seconds_left(), 100.0);
        pace.done(100.0, Some(Duration::from_secs(250)));
        assert_eq!(pace.seconds_left(), 150.0);
        pace.done(100.0 + 1e-9, Some(Duration::from_secs(1)));
        assert_eq!(pace.seconds_left(), 0.0);
    }
}

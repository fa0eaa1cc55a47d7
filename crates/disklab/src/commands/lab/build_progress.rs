//! What the user sees while a kernel is built: a bar on a terminal, plain lines
//! anywhere else.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use disklab_lab_kernel::{BuildProgress, BuildStep};
use disklab_units::show_duration;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Parts of a bar.
const PARTS: u64 = 1000;
/// How often a line is written where there is no bar, in hundredths of the step.
const LINE_EVERY: u32 = 10;
/// No time is estimated before so much of a step is done: the first objects are
/// not like the others.
const ENOUGH: f64 = 0.04;

/// Progress of a kernel's build.
pub struct BuildBar {
    /// What is said before anything else.
    begins: String,
    bar: Option<ProgressBar>,
    step: Option<(BuildStep, Instant)>,
    /// Lines written for this step, where there is no bar.
    lines: u32,
}

impl BuildBar {
    /// Nothing is shown before the build begins, and then `begins` first.
    pub fn new(begins: String) -> Self {
        let terminal = std::io::stderr().is_terminal()
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self { begins, bar: terminal.then(bar), step: None, lines: 0 }
    }

    /// Whether there was anything to build, or to wait for.
    pub fn has_begun(&self) -> bool {
        self.step.is_some()
    }

    /// The build is so far.
    pub fn take(&mut self, now: BuildProgress) {
        let began = match self.step {
            Some((step, began)) if step == now.step => began,
            step => {
                if step.is_none() {
                    self.say(&self.begins);
                }
                self.step = Some((now.step, Instant::now()));
                self.lines = 0;
                Instant::now()
            }
        };
        let left = now.fraction.and_then(|fraction| left(began.elapsed(), fraction));
        match &self.bar {
            Some(bar) => {
                bar.enable_steady_tick(Duration::from_millis(250));
                let left = left.map(|l| format!(", about {} left", show_duration(l)));
                bar.set_message(format!("{}{}", now.step.words(), left.unwrap_or_default()));
                match now.fraction {
                    Some(fraction) => bar.set_position((fraction * PARTS as f64) as u64),
                    // What has no fraction comes before what has one, or after.
                    None if now.step == BuildStep::Link => bar.set_position(PARTS),
                    None => bar.set_position(0),
                }
            }
            None => {
                let percent = now.fraction.map_or(0, |f| (f * 100.0) as u32);
                if percent < self.lines * LINE_EVERY {
                    return;
                }
                self.lines = percent / LINE_EVERY + 1;
                eprintln!("{}", line(now, left));
            }
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let colour = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let template =
        if colour { "{bar:30.cyan} {msg} ({elapsed})" } else { "{bar:30} {msg} ({elapsed})" };
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("█▉▊▋▌▍▎▏ ");
    ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr()).with_style(style)
}

fn line(now: BuildProgress, left: Option<Duration>) -> String {
    let percent = match now.fraction {
        Some(fraction) if fraction > 0.0 => format!(": {:.0} %", fraction * 100.0),
        _ => String::new(),
    };
    let left = left.map(|l| format!(", about {} left", show_duration(l))).unwrap_or_default();
    format!("{}{percent}{left}", now.step.words())
}

/// How long a step still takes of which `fraction` took `so_far`; `None` if that is too early to
/// say, or less than a second.
fn left(so_far: Duration, fraction: f64) -> Option<Duration> {
    if !(ENOUGH..=1.0).contains(&fraction) {
        return None;
    }
    let seconds = so_far.as_secs_f64() * (1.0 - fraction) / fraction;
    // Whole seconds: it is an estimate.
    Some(Duration::from_secs(seconds as u64)).filter(|left| !left.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_estimated_once_it_can_be() {
        let minute = Duration::from_secs(60);
        assert_eq!(left(minute, 0.0), None);
        assert_eq!(left(minute, 0.01), None);
        assert_eq!(left(minute, f64::NAN), None);
        assert_eq!(left(minute, 0.25), Some(Duration::from_secs(180)));
        assert_eq!(left(minute, 0.99), None);
        assert_eq!(left(minute, 1.0), None);
    }

    #[test]
    fn lines_say_the_step_how_far_it_is_and_what_is_left() {
        let now = |step, fraction| BuildProgress { step, fraction };
        assert_eq!(line(now(BuildStep::Unpack, None), None), "unpacking the kernel's source");
        assert_eq!(line(now(BuildStep::Compile, Some(0.0)), None), "compiling the kernel");
        assert_eq!(
            line(now(BuildStep::Compile, Some(0.5)), Some(Duration::from_secs(90))),
            "compiling the kernel: 50 %, about 1 min 30 s left"
        );
    }
}

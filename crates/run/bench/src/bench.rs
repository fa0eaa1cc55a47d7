//! What a bench is, and the stages that lead to running cells on it.

use disklab_prediction::Medium;
use disklab_sample::Environment;

use crate::{BenchError, BenchNeeds, CellExecutor, LoadedStudy, Preflight};

/// What a bench is like, for plans and predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchProfile {
    /// As on the command line: `loop`, `dir:/srv/x`.
    pub name: String,
    /// One sentence on what it runs on.
    pub about: String,
    /// What its drives are like.
    pub medium: Medium,
    /// How many cells run side by side.
    pub at_once: usize,
    /// Whether drives and time are modelled.
    pub is_simulated: bool,
}

/// What every bench does before its cells run. The stages below call it in the only order
/// there is.
pub(crate) trait BenchSteps {
    fn profile(&self) -> BenchProfile;

    /// What of a campaign can run here, and what cannot and why. Touches nothing.
    fn preflight(&self, campaign: &LoadedStudy) -> Preflight;

    /// What the bench itself lacks.
    fn missing(&self) -> Vec<String> {
        Vec::new()
    }

    /// Looks at what cells would write to, without writing to it.
    fn check(&mut self, needs: &BenchNeeds) -> Result<(), BenchError> {
        let _ = needs;
        Ok(())
    }

    /// What was seen; one line each.
    fn warnings(&self, needs: &BenchNeeds) -> Vec<String> {
        let _ = needs;
        Vec::new()
    }

    /// Asks for the user's consent if the run destroys something; `yes` says that it was
    /// given.
    fn confirm(&self, yes: bool) -> Result<(), BenchError> {
        let _ = yes;
        Ok(())
    }

    /// Makes what cells need and every run may use again.
    fn prepare(self: Box<Self>, needs: &BenchNeeds) -> Result<Box<dyn CellExecutor>, BenchError>;
}

/// A place where studies run. Nothing of it was looked at yet.
///
/// Each stage consumes the one before, so that no cell runs on devices that nobody checked,
/// without consent, or without what it needs:
///
/// ```text
/// Bench --check--> CheckedBench --confirm--> ConfirmedBench --prepare--> CellExecutor
///                        \--prepare--> PreparedBench --confirm--> CellExecutor
/// ```
///
/// The lower way is for a run that is resumed: what the machine is now is known before the
/// user is asked for his drives.
pub struct Bench(Box<dyn BenchSteps>);

impl Bench {
    pub(crate) fn of(steps: impl BenchSteps + 'static) -> Self {
        Self(Box::new(steps))
    }

    /// What it is like.
    pub fn profile(&self) -> BenchProfile {
        self.0.profile()
    }

    /// What of a campaign can run here, and what cannot and why. Touches nothing.
    pub fn preflight(&self, campaign: &LoadedStudy) -> Preflight {
        self.0.preflight(campaign)
    }

    /// What the bench itself lacks; nothing if it can run.
    pub fn missing(&self) -> Vec<String> {
        self.0.missing()
    }

    /// Looks at what cells would write to, without writing to it.
    ///
    /// # Errors
    /// [`BenchError::Refused`] with all that speaks against it.
    pub fn check(mut self, needs: &BenchNeeds) -> Result<CheckedBench, BenchError> {
        self.0.check(needs)?;
        Ok(CheckedBench(self.0))
    }
}

/// A bench whose devices were looked at.
pub struct CheckedBench(Box<dyn BenchSteps>);

impl CheckedBench {
    /// What the user must know before cells run, such as which drives would be erased;
    /// one line each.
    pub fn warnings(&self, needs: &BenchNeeds) -> Vec<String> {
        self.0.warnings(needs)
    }

    /// Asks for the user's consent if the run destroys something; `yes` says that it was
    /// given.
    ///
    /// # Errors
    /// [`BenchError::ConsentNeeded`] and [`BenchError::ConsentRefused`].
    pub fn confirm(self, yes: bool) -> Result<ConfirmedBench, BenchError> {
        self.0.confirm(yes)?;
        Ok(ConfirmedBench(self.0))
    }

    /// Makes what cells need, such as the lab's kernel.
    ///
    /// # Errors
    /// Those of the kernel, if it cannot be built or is none.
    pub fn prepare(self, needs: &BenchNeeds) -> Result<PreparedBench, BenchError> {
        self.0.prepare(needs).map(PreparedBench)
    }
}

/// A bench that may be used, as the user agreed.
pub struct ConfirmedBench(Box<dyn BenchSteps>);

impl ConfirmedBench {
    /// Makes what cells need, such as the lab's kernel.
    ///
    /// # Errors
    /// As [`CheckedBench::prepare`].
    pub fn prepare(self, needs: &BenchNeeds) -> Result<Box<dyn CellExecutor>, BenchError> {
        self.0.prepare(needs)
    }
}

/// A bench that has what its cells need, and lacks the user's consent.
pub struct PreparedBench(Box<dyn CellExecutor>);

impl PreparedBench {
    /// The machine and its programs, as they are now.
    pub fn environment(&self) -> Environment {
        self.0.environment()
    }

    /// Asks for the user's consent, as [`CheckedBench::confirm`].
    ///
    /// # Errors
    /// As [`CheckedBench::confirm`].
    pub fn confirm(self, yes: bool) -> Result<Box<dyn CellExecutor>, BenchError> {
        self.0.confirm(yes)?;
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::path::Path;
    use std::rc::Rc;

    use disklab_cell::{CellPlan, MachinePlan};

    use super::*;
    use crate::{CellWatcher, EndedCell};

    /// A bench that only notes which step it is at; `refuses` names the one that fails.
    struct Noted {
        steps: Rc<RefCell<Vec<&'static str>>>,
        refuses: &'static str,
    }

    impl Noted {
        fn step(&self, name: &'static str) -> Result<(), BenchError> {
            self.steps.borrow_mut().push(name);
            if self.refuses == name { Err(BenchError::ConsentRefused) } else { Ok(()) }
        }
    }

    impl BenchSteps for Noted {
        fn profile(&self) -> BenchProfile {
            BenchProfile {
                name: "noted".to_owned(),
                about: String::new(),
                medium: Medium::LAB,
                at_once: 1,
                is_simulated: true,
            }
        }

        fn preflight(&self, _: &LoadedStudy) -> Preflight {
            Preflight::new(MachinePlan::Loop, Vec::new())
        }

        fn check(&mut self, _: &BenchNeeds) -> Result<(), BenchError> {
            self.step("check")
        }

        fn confirm(&self, _: bool) -> Result<(), BenchError> {
            self.step("confirm")
        }

        fn prepare(self: Box<Self>, _: &BenchNeeds) -> Result<Box<dyn CellExecutor>, BenchError> {
            self.step("prepare")?;
            Ok(self)
        }
    }

    impl CellExecutor for Noted {
        fn environment(&self) -> Environment {
            Environment::default()
        }

        fn confirm(&self, _: bool) -> Result<(), BenchError> {
            self.step("confirm")
        }

        fn has_room(&self, _: &CellPlan) -> bool {
            false
        }

        fn submit(&mut self, _: CellPlan, _: &Path) -> Result<(), BenchError> {
            self.step("submit")
        }

        fn next(&mut self, _: &mut dyn CellWatcher) -> Result<Option<EndedCell>, BenchError> {
            Ok(None)
        }

        fn finish(&mut self) {}
    }

    /// What a bench was asked for on each of the two ways, up to where it refused.
    fn steps(refuses: &'static str) -> [Vec<&'static str>; 2] {
        let needs = BenchNeeds::default();
        let way = |is_resumed: bool| {
            let steps = Rc::new(RefCell::new(Vec::new()));
            let bench = Bench::of(Noted { steps: Rc::clone(&steps), refuses });
            let ready = bench.check(&needs).and_then(|checked| {
                if is_resumed {
                    checked.prepare(&needs)?.confirm(false)
                } else {
                    checked.confirm(false)?.prepare(&needs)
                }
            });
            drop(ready);
            steps.take()
        };
        [way(false), way(true)]
    }

    #[test]
    fn refused_step_is_the_last() {
        let expected: [(&str, [&[&str]; 2]); 4] = [
            ("", [&["check", "confirm", "prepare"], &["check", "prepare", "confirm"]]),
            ("check", [&["check"], &["check"]]),
            ("confirm", [&["check", "confirm"], &["check", "prepare", "confirm"]]),
            ("prepare", [&["check", "confirm", "prepare"], &["check", "prepare"]]),
        ];
        for (refuses, ways) in expected {
            assert_eq!(steps(refuses), ways, "{refuses}");
        }
    }
}

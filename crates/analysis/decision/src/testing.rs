//! Runs made up for unit tests.

#[path = "../../audits/src/testing.rs"]
mod fixture;

use crate::{Analyser, Analysis};

pub(crate) use fixture::{DECIDING_WORK, RunFixture, figure, on_drives, step};

impl RunFixture {
    /// Works it out.
    pub fn analyse(&self) -> Analysis {
        self.analyser().finish()
    }

    /// All cells, before anything is worked out.
    pub fn analyser(&self) -> Analyser {
        let analyser = Analyser::new(self.study.clone(), self.info.clone());
        self.added(analyser, Analyser::add, Analyser::add_unfinished)
    }
}

//! Runs made up for unit tests.

#[path = "../../audits/src/testing.rs"]
mod fixture;

use crate::{Analyser, Analysis};

pub(crate) use fixture::{RunFixture, figure, on_drives, step};

impl RunFixture {
    /// Works it out.
    pub fn analyse(&self) -> Analysis {
        self.analyser().finish()
    }

    /// All cells, before anything is worked out.
    pub fn analyser(&self) -> Analyser {
        let mut analyser = Analyser::new(self.study.clone(), self.info.clone());
        for (record, sample) in &self.cells {
            match sample {
                Some(sample) => analyser.add(record, sample.clone()),
                None => analyser.add_unfinished(record),
            }
        }
        analyser
    }
}

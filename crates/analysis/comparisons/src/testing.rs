//! Runs made up for unit tests.

#[path = "../../audits/src/testing.rs"]
mod fixture;

use disklab_audits::Group;

use crate::{Answer, answers};

pub(crate) use fixture::{RunFixture, STUDY, figure, step};

/// What a run made up says.
pub(crate) struct AnsweredRun {
    pub groups: Vec<Group>,
    pub answers: Vec<Answer>,
}

impl RunFixture {
    /// Works it out.
    pub fn analyse(&self) -> AnsweredRun {
        let groups = self.audited().groups;
        AnsweredRun { answers: answers(&self.study, &self.info, &groups), groups }
    }
}

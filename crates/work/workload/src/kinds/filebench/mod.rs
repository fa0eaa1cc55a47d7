//! Filebench: a personality, such as a file server, run by disklab itself.

mod cost;
mod run;
mod script;
#[cfg(test)]
mod tests;
mod workload;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_filebench::{ContentKind, Options};
use disklab_sample::{ContentProfile, FileSet, StepProfile, TimeIn};
use disklab_source::SourceError;

use self::workload::Filebench;
use crate::variables::variables;
use crate::{Context, Cost, WorkContext, Workload, WorkloadError, WorkloadKind};

pub(super) const FILEBENCH: WorkloadKind = WorkloadKind {
    name: "filebench",
    summary: "a Filebench personality, such as fileserver, without Filebench",
    fields: &[
        ("personality", "a shipped one, such as 'fileserver' (`disklab filebench --list`)"),
        ("file", "or a script in Filebench's language WML, next to the study"),
        ("text", "or the script itself"),
        ("variables", "a table: what `set $name=value` sets, such as { nfiles = 100000 }"),
        ("runtime", "how long each run lasts, such as '10h' (default: as the script says)"),
        ("warm-up", "how long it runs before that without being measured (default 0)"),
        ("strict", "keep the flaws of Filebench 1.5 that decide figures (default false)"),
        ("content", "'pool' (default: does not compress, some pages alike), 'random', 'zeros'"),
        ("flowops", "each flowop's figures in addition to those of all [default: false]"),
    ],
    read,
};

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the filebench workload")?;
    let script = script::take(&mut fields, context)?;
    let variables = variables(fields.take("variables"))?;
    let runtime = fields.duration("runtime")?;
    let warm_up = fields.duration("warm-up")?.unwrap_or(Duration::ZERO);
    let strict = fields.boolean("strict")?.unwrap_or(false);
    let content = fields.choice("content", &ContentKind::WORDS)?;
    let flowops = fields.boolean("flowops")?.unwrap_or(false);
    fields.finish()?;
    let (personality, scaled) =
        script::personality(script, variables, runtime, context.scale, &spec.body)?;
    // Filebench writes zeros.
    let usual = if strict { ContentKind::Zeros } else { ContentKind::default() };
    let content = content.unwrap_or(usual);
    Ok(Box::new(Filebench {
        personality: Arc::new(personality),
        options: Options { strict, compat_rng: false, content, warm_up },
        flowops,
        scaled,
        session: Mutex::default(),
    }))
}

impl Workload for Filebench {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        cost::cost(&self.personality, &self.options)
    }

    fn names(&self) -> Vec<String> {
        self.personality.filesets.iter().map(|fileset| fileset.name.clone()).collect()
    }

    /// A personality mixes what it likes: nothing is claimed of its requests.
    fn profile(&self, _: &str) -> Option<StepProfile> {
        let (files, bytes) = cost::entries(&self.personality);
        Some(StepProfile {
            content: Some(match self.options.content {
                ContentKind::Zeros => ContentProfile::Zeros,
                ContentKind::Pool | ContentKind::Random => ContentProfile::Random,
            }),
            files: Some(FileSet { files: files as u64, bytes: bytes as u64 }),
            time_in: Some(TimeIn::Files),
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let session = run::prepare(self, context)?;
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut session = session.ok_or(WorkloadError::NotPrepared)?;
        run::run(self, &mut session, context)
    }
}

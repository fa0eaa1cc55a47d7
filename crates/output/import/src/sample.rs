//! From what an output tells to a sample.

use std::borrow::Cow;
use std::sync::Arc;

use disklab_sample::{Environment, Note, Sample, TraceEntry};

use crate::reading::set_elapsed;
use crate::{Reading, profile};

/// What was measured of a cell. Runs of one command that differ in their time alone share the
/// rest.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedSample {
    shared: Arc<Sample>,
    /// The time of a run among many, in nanoseconds.
    elapsed_ns: Option<u64>,
}

impl ImportedSample {
    pub(crate) fn new(shared: Arc<Sample>, elapsed_ns: Option<u64>) -> Self {
        Self { shared, elapsed_ns }
    }

    /// With its own time, if it is one of many runs that share the rest.
    pub fn sample(&self) -> Cow<'_, Sample> {
        let Some(elapsed_ns) = self.elapsed_ns else { return Cow::Borrowed(&self.shared) };
        let mut sample = Sample::clone(&self.shared);
        set_elapsed(&mut sample.steps, elapsed_ns);
        let seconds = elapsed_ns as f64 / 1e9;
        sample.trace.iter_mut().for_each(|entry| entry.elapsed_seconds = seconds);
        Cow::Owned(sample)
    }
}

/// The sample of a reading: what is reported, and what is not.
pub(crate) fn sample(mut reading: Reading, file: &str, format: &str) -> Sample {
    let profile_of = profile::of_work(&reading.work);
    for step in &mut reading.steps {
        step.profile = profile_of(&step.name);
    }
    drop(profile_of);
    let when = reading.surroundings.get("measured at");
    let when = when.map_or_else(String::new, |when| format!(", measured at {when}"));
    let origin = format!("imported from {file}, format {format}{when}");
    let untold = untold(&reading);
    let note = |about: &str, text: String| Note { about: about.to_owned(), text };
    let mut notes = vec![note("origin", origin)];
    notes.extend(reading.notes.into_iter().map(|text| note(format, text)));
    notes.push(note("not told by the source", untold));
    let elapsed_seconds =
        reading.steps.iter().map(|s| s.elapsed_ns).fold(0, u64::saturating_add) as f64 / 1e9;
    let trace = reading.command.map(|command| TraceEntry {
        at_seconds: 0.0,
        // What the shell made of it is not known: it stays one text where it is none.
        argv: shell_words::split(&command).unwrap_or_else(|_| vec![command]),
        cwd: None,
        status: "0".to_owned(),
        elapsed_seconds,
    });
    Sample {
        steps: reading.steps,
        environment: Environment {
            tools: reading.tools,
            extra: reading.surroundings,
            ..Environment::default()
        },
        notes,
        trace: trace.into_iter().collect(),
        ..Sample::default()
    }
}

/// What a reading does not tell, so that nothing was audited by it.
fn untold(reading: &Reading) -> String {
    let steps = &reading.steps;
    let mut untold = Vec::new();
    if steps.iter().all(|s| s.drives.is_empty()) {
        untold.push("what the drives really read and wrote (reads from memory and data that were compressed away would not be noticed)");
    }
    if steps.iter().all(|s| s.cpu.user_ns == 0 && s.cpu.system_ns == 0) {
        untold.push("CPU time");
    }
    untold.push("what else ran, the kernel, mount options, and the drives' state");
    format!("{}.", untold.join("; "))
}

//! A study whose layers and workloads are understood.

use disklab_source::SourceError;
use disklab_stack::Stack;
use disklab_study::Study;
use disklab_workload::{Context, Workload, read_workload};

/// A study together with its stacks and workloads, ready to be checked and run.
#[derive(Debug)]
pub struct Campaign {
    /// Where the indices below lead to.
    pub study: Study,
    /// Its stacks, by the same index.
    pub stacks: Vec<Stack>,
    /// Its workloads, by the same index.
    pub workloads: Vec<Box<dyn Workload>>,
    /// By how much sizes are scaled.
    pub scale: f64,
}

impl Campaign {
    /// Understands a study.
    ///
    /// # Errors
    /// Where a layer, a program or one of their options is unknown or wrong.
    pub fn new(study: Study, context: &Context) -> Result<Self, SourceError> {
        let parse =
            if study.named_drives.is_some() { Stack::parse_for_other_drives } else { Stack::parse };
        let stacks = study.stacks.iter().map(parse).collect::<Result<_, _>>()?;
        let files = context.files.or_kept(study.files.as_ref());
        let context = &Context { files, ..context.clone() };
        let workloads = study
            .workloads
            .iter()
            .map(|spec| read_workload(spec, context))
            .collect::<Result<_, _>>()?;
        Ok(Self { study, stacks, workloads, scale: context.scale })
    }
}

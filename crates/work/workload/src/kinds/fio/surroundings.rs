//! What a study's jobs may refer to: the variables that the study sets, and files of its own
//! directory. Neither this machine's environment nor its properties, so that a study that comes
//! from elsewhere learns nothing of them, and does the same everywhere.

use std::sync::Arc;

use disklab_jobfile::Surroundings;
use disklab_source::Source;

use crate::study_files::StudyFiles;

/// What a study's jobs may refer to.
pub(super) struct StudySurroundings<'a> {
    /// `variables` of the workload.
    pub variables: &'a [(String, String)],
    /// The study's files.
    pub files: &'a StudyFiles,
    /// The name of the text with the job, as its errors have it.
    pub root: &'a str,
    /// The file with the job; empty if the study has the text.
    pub job_file: &'a str,
}

impl StudySurroundings<'_> {
    fn set(&self, name: &str, shown: &str) -> Result<String, String> {
        let value = self.variables.iter().find(|(variable, _)| variable == name);
        value.map(|(_, value)| value.clone()).ok_or_else(|| {
            format!(
                "{shown} has no value: a study takes none from the environment, so that it does the \
                 same everywhere; set it in the workload: variables = {{ {name} = \"…\" }}"
            )
        })
    }
}

impl Surroundings for StudySurroundings<'_> {
    fn variable(&self, name: &str) -> Result<String, String> {
        self.set(name, &format!("${{{name}}}"))
    }

    fn machine(&self, name: &str) -> Result<String, String> {
        self.set(name, &format!("${name}"))
    }

    fn include(&self, name: &str, including: &Source) -> Result<Arc<Source>, String> {
        // What was included has the name by which the study knows it.
        let is_root = including.name == self.root;
        self.files.included(name, if is_root { self.job_file } else { &including.name })
    }

    fn content(&self, _: &str, _: usize) -> Result<Vec<u8>, String> {
        Err("a study's patterns take no file: write its bytes as 0x…".to_owned())
    }
}

//! Filebench: a personality, such as a file server. Known, but not yet run.

use std::time::Duration;

use disklab_study::{Fields, StudyError, WorkloadSpec};

use crate::{Context, Cost, WorkSite, Workload, WorkloadError, WorkloadKind};

pub(super) const FILEBENCH: WorkloadKind = WorkloadKind {
    name: "filebench",
    summary: "a Filebench personality, such as fileserver (comes with a later version)",
    fields: &[
        ("personality", "its name, such as 'fileserver'"),
        ("variables", "a table: what `set $name=value` sets, such as { nfiles = 100000 }"),
        ("runtime", "how long it runs, such as '10h'"),
    ],
    read,
};

#[derive(Debug)]
struct Filebench {
    runtime: Duration,
}

fn read(spec: &WorkloadSpec, _: &Context) -> Result<Box<dyn Workload>, StudyError> {
    let mut fields = Fields::new(&spec.body, "the filebench workload")?;
    let personality = fields.require("personality")?;
    let name = personality.as_text()?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(fits) {
        return Err(personality
            .error(format!("'{name}' is no personality; expected one such as 'fileserver'")));
    }
    if let Some(variables) = fields.take("variables") {
        for (key, value) in variables.entries()? {
            value.as_text()?;
            if !key.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(key.place.error(format!(
                    "'{}' is no variable's name; expected letters, digits and _, without the $",
                    key.name
                )));
            }
        }
    }
    // 60 s is what Filebench itself runs where a script says nothing.
    let runtime = fields.duration("runtime")?.unwrap_or(Duration::from_secs(60));
    fields.finish()?;
    Ok(Box::new(Filebench { runtime }))
}

impl Filebench {
    const NOT_YET: &'static str = "not yet: the filebench workload comes with a later version";
}

impl Workload for Filebench {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn not_yet(&self) -> Option<String> {
        Some(Self::NOT_YET.to_owned())
    }

    fn cost(&self) -> Cost {
        Cost { fixed_seconds: self.runtime.as_secs_f64(), ..Cost::default() }
    }

    fn prepare(&self, _: &mut WorkSite<'_>) -> Result<(), WorkloadError> {
        Err(WorkloadError::Other(Self::NOT_YET.to_owned()))
    }

    fn run(&self, _: &mut WorkSite<'_>) -> Result<(), WorkloadError> {
        Err(WorkloadError::Other(Self::NOT_YET.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read, run_in};

    #[test]
    fn it_is_carried_but_does_not_run() {
        let body = "personality = 'fileserver'\nruntime = '10h'\n\
                    variables = { nfiles = 100000, meanfilesize = 1310720 }";
        let workload = read("filebench", body, 1.0).expect("valid");
        let reason = workload.not_yet().expect("not yet");
        assert_eq!(reason, "not yet: the filebench workload comes with a later version");
        assert_eq!(workload.cost().fixed_seconds, 36000.0);
        let folder = tempfile::tempdir().expect("temp");
        let error = run_in(&*workload, folder.path(), None).expect_err("does not run");
        assert_eq!(error.to_string(), reason);
    }

    #[test]
    fn its_fields_are_checked_all_the_same() {
        for (body, part) in [
            ("", "personality"),
            ("personality = '../x y'", "no personality"),
            ("personality = 'varmail'\nvariables = { '$n' = 1 }", "without the $"),
            ("personality = 'varmail'\nrun = 60", "unknown field 'run'"),
        ] {
            let error = read("filebench", body, 1.0).expect_err(body).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}

//! What a study says of a workload, as far as audits need it.
//!
//! The fields are read as written: the workload crate's understanding of them
//! lies upstream of a run and is not needed to judge its samples.

use disklab_config::Node;
use disklab_study::WorkloadSpec;

/// What a study says of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Nature {
    /// Writes go around the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Writes are safe on the drives before the clock stops (`O_DSYNC`, `fsync`).
    pub synced: bool,
    /// What is written is zeros.
    pub zeros: bool,
}

/// A field of a table as text; nothing where it is absent or no plain value.
pub(crate) fn field(body: &Node, name: &str) -> Option<String> {
    let (_, node) = body.entries().ok()?.iter().find(|(key, _)| key.name == name)?;
    node.as_text().ok()
}

/// All of a field's texts, one for a plain value.
fn words(body: &Node, name: &str) -> Vec<String> {
    let Some((_, node)) =
        body.entries().ok().and_then(|e| e.iter().find(|(key, _)| key.name == name))
    else {
        return Vec::new();
    };
    let texts = node.items().iter().filter_map(|n| n.as_text().ok());
    texts.flat_map(|t| t.split([',', ' ']).map(str::to_owned).collect::<Vec<_>>()).collect()
}

impl Nature {
    /// Reads it from the fields of a workload, for one of its steps. Kinds that
    /// are not known here are taken for neither direct nor synced, so that no
    /// audit accuses them wrongly.
    pub fn of(spec: &WorkloadSpec, step: &str) -> Self {
        let body = &spec.body;
        match spec.kind.as_str() {
            "dd" => {
                let (flags, conv) = (words(body, "flags"), words(body, "conv"));
                let has = |list: &[String], names: &[&str]| {
                    list.iter().any(|word| names.contains(&word.as_str()))
                };
                Self {
                    direct: has(&flags, &["direct"]),
                    synced: has(&flags, &["dsync", "sync"]) || has(&conv, &["fsync", "fdatasync"]),
                    zeros: field(body, "source").is_none_or(|s| s == "zero"),
                }
            }
            "copy" => Self {
                direct: false,
                synced: field(body, "sync").is_some_and(|v| truthy(&v)),
                zeros: field(body, "content").is_some_and(|c| c == "zeros"),
            },
            "directory" | "photos" | "streams" => {
                Self { synced: field(body, "sync").is_none_or(|v| truthy(&v)), ..Self::default() }
            }
            "fio" => Self::of_fio(&|name| fio_option(body, step, name)),
            _ => Self::default(),
        }
    }

    fn of_fio(value: &dyn Fn(&str) -> Option<String>) -> Self {
        let on = |name: &str| value(name).is_some_and(|v| truthy(&v));
        Self {
            direct: on("direct") || value("buffered").is_some_and(|v| v == "0"),
            synced: ["sync", "fsync", "fdatasync", "end_fsync", "fsync_on_close"]
                .map(on)
                .contains(&true),
            zeros: on("zero_buffers")
                || value("buffer_compress_percentage").is_some_and(|v| v == "100")
                || value("buffer_pattern").is_some_and(|v| {
                    let digits = v.trim_start_matches("0x");
                    !digits.is_empty() && digits.chars().all(|c| c == '0')
                }),
        }
    }
}

/// fio's and TOML's ways to say yes; an option without a value is set.
fn truthy(value: &str) -> bool {
    !matches!(value, "0" | "false" | "none" | "no")
}

/// The value of a fio option in one step: a field of the study's, or what the
/// study's job file says for the step's sections. Nothing where it is absent or
/// differs from section to section.
pub(crate) fn fio_option(body: &Node, step: &str, name: &str) -> Option<String> {
    match field(body, "job") {
        Some(job) => job_option(&job, step, name),
        None => field(body, name),
    }
}

/// A step is named after its section, or after all of them as `a+b`. Where no
/// section has such a name, all are meant.
fn job_option(job: &str, step: &str, name: &str) -> Option<String> {
    let (mut global, mut in_global) = (None, true);
    let mut sections: Vec<(&str, Option<String>)> = Vec::new();
    for line in job.lines() {
        let line = line.split([';', '#']).next().unwrap_or_default().trim();
        if let Some(section) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            in_global = section.trim() == "global";
            if !in_global {
                // A later [global] changes only what follows it.
                sections.push((section.trim(), global.clone()));
            }
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "1"));
        if key.trim() == name {
            let value = Some(value.trim().to_owned());
            match sections.last_mut() {
                Some((_, of_section)) if !in_global => *of_section = value,
                _ => global = value,
            }
        }
    }
    let named = |section: &str| section == step || step.split('+').any(|part| part == section);
    let all = !sections.iter().any(|(section, _)| named(section));
    let mut values = sections.into_iter().filter(|(s, _)| all || named(s)).map(|(_, v)| v);
    let first = values.next()?;
    values.all(|value| value == first).then_some(first).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nature(workload: &str) -> Nature {
        let text = format!(
            "id = \"x\"\ntitle = \"x\"\n[stacks]\na = \"ext4\"\n[[workloads]]\nid = \"w\"\n{workload}\n"
        );
        Nature::of(&disklab_study::load("x", &text).expect(workload).workloads[0], "a")
    }

    #[test]
    fn fields_are_read_as_written() {
        for (workload, direct, synced, zeros) in [
            (r#"dd = { direction = "write", bs = "4k", flags = "dsync" }"#, false, true, true),
            (r#"dd = { flags = "direct,dsync", source = "random" }"#, true, true, false),
            (r#"dd = { conv = "fdatasync" }"#, false, true, true),
            (r#"copy = { size = "1G" }"#, false, false, false),
            (r#"copy = { size = "1G", sync = true, content = "zeros" }"#, false, true, true),
            (r#"fio = { rw = "write", direct = 1 }"#, true, false, false),
            (r#"fio = { rw = "write", direct = 0, fsync = 1 }"#, false, true, false),
            (r#"fio = { rw = "write", zero_buffers = true, end_fsync = 1 }"#, false, true, true),
            (r#"fio = { job = "[global]\ndirect=1\n[a]\nrw=write\n" }"#, true, false, false),
            (r#"fio = { job = "[a]\ndirect=1\n[b]\ndirect=0\n" }"#, true, false, false),
            (r#"fio = { job = "[x]\ndirect=1\n[b]\ndirect=0\n" }"#, false, false, false),
            (r#"fio = { job = "[b]\ndirect=1\nfsync=1\n[a]\nrw=write\n" }"#, false, false, false),
            (r#"fio = { job = "[a]\nzero_buffers\nfsync=8 ; often\n" }"#, false, true, true),
            (r#"hdparm = { direct = true }"#, false, false, false),
            (r#"photos = { photos = 3 }"#, false, true, false),
            (r#"streams = { sync = "none" }"#, false, false, false),
            (r#"directory = { sync = false }"#, false, false, false),
        ] {
            assert_eq!(nature(workload), Nature { direct, synced, zeros }, "{workload}");
        }
    }

    #[test]
    fn a_step_of_several_sections_has_what_they_share() {
        let job = "[global]\ndirect=1\nbs=4k\n[a]\n[b]\nbs=8k\n[global]\nbs=1M\n[c]\n";
        let value = |step, name| job_option(job, step, name);
        assert_eq!(value("a", "bs").as_deref(), Some("4k"));
        assert_eq!(value("b", "bs").as_deref(), Some("8k"));
        assert_eq!(value("c", "bs").as_deref(), Some("1M"));
        assert_eq!(value("a+b", "bs"), None);
        assert_eq!(value("a+b", "direct").as_deref(), Some("1"));
        assert_eq!(value("whole", "direct").as_deref(), Some("1"));
    }

    proptest! {
        #[test]
        fn any_job_text_is_read(
            job in "(\\PC|\n|\\[[a-c]\\]\n|[a-c]=[a-c]\n){0,60}", name in "[a-c]", step in "[a-c+]{0,3}"
        ) {
            if let Some(value) = job_option(&job, &step, &name) {
                prop_assert!(job.contains(&name) && (value == "1" || job.contains(&value)));
            }
        }
    }
}

//! What fio was told to do: a job file, from the options that it repeats.

use indexmap::IndexMap;

use super::report::{FioJob, FioReport};
use crate::json::Json;
use crate::reading::{ImportedWork, UNKNOWN_KIND, id_of, one_line};

/// Options that name places, outputs and surroundings, not work: they may differ from
/// stack to stack. Seeds differ between repeats, as they should: each draws its own offsets.
const NOT_WORK: [&str; 33] = [
    "name",
    "filename",
    "directory",
    "filename_format",
    "opendir",
    "description",
    "output",
    "output-format",
    "group_reporting",
    "per_job_logs",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "log_avg_msec",
    "log_hist_msec",
    "log_offset",
    "log_max_value",
    "log_unix_epoch",
    "disk_util",
    "ioscheduler",
    "cpus_allowed",
    "status_interval",
    "eta",
    "minimal",
    "lat_percentiles",
    "clat_percentiles",
    "percentile_list",
    "write_iolog",
    "unlink",
    "randseed",
    "randrepeat",
    "allrandrepeat",
];

/// The work of these jobs of a report, which are all of it, or a group of it.
pub(super) fn work(report: &FioReport, group: Option<u64>, jobs: &[&FioJob]) -> ImportedWork {
    let mut sections: IndexMap<&str, &FioJob> = IndexMap::new();
    for job in jobs {
        sections.entry(&job.name).or_insert(job);
    }
    let mut text = format!("[global]\n{}", report.global.concat());
    for (name, job) in &sections {
        text.push_str(&format!("[{name}]\n{}", job.options.concat()));
    }
    let has_options = !report.global.is_empty() || jobs.iter().any(|j| !j.options.is_empty());
    let joined = sections.keys().copied().collect::<Vec<_>>().join("+");
    let id = match sections.len() {
        0 => "fio".to_owned(),
        _ if joined.len() <= 60 => id_of(&joined),
        n => format!("fio-{n}-jobs"),
    };
    let names = sections.keys().copied().take(MOST_NAMES).collect::<Vec<_>>().join(", ");
    let (id, title) = match group {
        Some(group) => (format!("{id}-group-{group}"), format!("fio {names}, group {group}")),
        None => (id, format!("fio {names}")),
    };
    let mut fields = Vec::new();
    // Of what fio repeats only a part of, no job can be made.
    if !report.lists_options {
        fields.push(("program", "fio".to_owned()));
    }
    if has_options {
        fields.push(("job", text));
    }
    let kind = if report.lists_options { "fio" } else { UNKNOWN_KIND };
    ImportedWork { title: one_line(&title), id, kind, fields }
}

/// Names of jobs in a title.
const MOST_NAMES: usize = 20;

/// The options that are work, in the order of their names, so that the order of the
/// command line makes no difference.
pub(super) fn option_lines(options: Option<&Json>) -> Vec<String> {
    let entries = options.map_or(&[][..], Json::entries).iter();
    let mut lines: Vec<String> = entries
        .filter(|(name, _)| !NOT_WORK.contains(&name.as_str()))
        .map(|(name, value)| {
            let value = value.as_text().unwrap_or_default();
            let name = one_line(name).replace(['=', '[', ';', '#'], " ");
            if value.is_empty() {
                format!("{name}\n")
            } else {
                format!("{name}={}\n", one_line(&value))
            }
        })
        .collect();
    lines.sort();
    lines
}

/// A job's name as a section's: what a reader of job files takes for one.
pub(super) fn section_name(name: &str) -> String {
    let name = one_line(name);
    let plain: String = name.chars().map(|c| if "[]+:#;".contains(c) { '-' } else { c }).collect();
    if plain.trim().is_empty() { "fio".to_owned() } else { plain.trim().to_owned() }
}

//! What fio was told to do: a job file, from the options that it repeats.

use disklab_sample::Direction;

use crate::json::Json;
use crate::reading::{ImportedWork, id_of, one_line};

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

/// A job as named in a report, and its own options.
pub(super) struct JobSection<'a> {
    pub name: String,
    pub options: Option<&'a Json>,
}

pub(super) fn work(report: &Json, sections: &[JobSection<'_>]) -> ImportedWork {
    let mut job = String::new();
    let mut options = |title: &str, options: Option<&Json>| {
        let lines = lines(options);
        job.push_str(&format!("[{title}]\n{}", lines.concat()));
    };
    options("global", report.get("global options"));
    let mut names: Vec<&str> = Vec::new();
    for section in sections {
        if !names.contains(&section.name.as_str()) {
            names.push(&section.name);
            options(&section.name, section.options);
        }
    }
    let has_options = job.contains('=') || job.lines().any(|l| !l.starts_with('['));
    let joined = names.join("+");
    let id = match names.len() {
        0 => "fio".to_owned(),
        _ if joined.len() <= 60 => id_of(&joined),
        n => format!("fio-{n}-jobs"),
    };
    ImportedWork {
        title: one_line(&format!("fio {}", names.join(", "))),
        id,
        kind: "fio",
        fields: if has_options { vec![("job", job)] } else { Vec::new() },
    }
}

/// The options that are work, in the order of their names, so that the order of the
/// command line makes no difference.
fn lines(options: Option<&Json>) -> Vec<String> {
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
pub(super) fn section_name(job: &Json) -> String {
    let name = one_line(&job.text("jobname").unwrap_or_default());
    let plain: String = name.chars().map(|c| if "[]+:#;".contains(c) { '-' } else { c }).collect();
    if plain.trim().is_empty() { "fio".to_owned() } else { plain.trim().to_owned() }
}

/// The directions in which fio counts.
pub(super) const DIRECTIONS: [(&str, Direction); 3] =
    [("read", Direction::Read), ("write", Direction::Write), ("trim", Direction::Trim)];

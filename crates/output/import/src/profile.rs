//! What the steps of imported work do, as far as the output's options tell it.
//!
//! disklab's own workloads say it themselves; here there are only options as another
//! program repeats them, or as a published study has them.

use disklab_config::Node;
use disklab_sample::{
    ContentProfile, Durability, Order, Requests, StepProfile, SyncCall, Task, TimeIn,
};
use disklab_study::WorkloadSpec;
use disklab_units::Bytes;

use crate::fio_sections::FioSections;
use crate::reading::{ImportedWork, UNKNOWN_KIND};

/// A copy of fewer files is a stream.
const MANY_FILES: u64 = 100;
/// fio's block, where none is given (its HOWTO, `bs`), and dd's (dd(1)).
const FIO_BLOCK: &str = "4k";
const DD_BLOCK: &str = "512";

/// The fields of a workload, by name.
type Field<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What the steps of imported work do, by their names.
pub(crate) fn of_work<'a>(work: &'a ImportedWork) -> impl Fn(&str) -> Option<StepProfile> + 'a {
    let field = |name: &str| {
        work.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str())
    };
    // Once for all steps: a report may have thousands of jobs.
    let sections = field("job").map(FioSections::new);
    move |step| {
        profile(
            work.kind,
            step,
            &|name| field(name).map(str::to_owned),
            sections.as_ref(),
            &work.fields,
        )
    }
}

/// What a step of a workload of a published study does.
pub(crate) fn of_spec(spec: &WorkloadSpec, step: &str) -> Option<StepProfile> {
    let job = field(&spec.body, "job");
    let sections = job.as_deref().map(FioSections::new);
    profile(&spec.kind, step, &|name| field(&spec.body, name), sections.as_ref(), &[])
}

fn profile(
    kind: &str,
    step: &str,
    field: Field<'_>,
    sections: Option<&FioSections<'_>>,
    values: &[(&str, String)],
) -> Option<StepProfile> {
    let option = |name: &str| match sections {
        Some(sections) => sections.value(step, name),
        None => field(name),
    };
    match kind {
        "fio" => Some(of_fio(&option)),
        // A part of a job's options.
        UNKNOWN_KIND if sections.is_some() => Some(requests_of_fio(&option)),
        "dd" => Some(of_dd(field)),
        "hdparm" if step.starts_with("cached") => {
            Some(StepProfile { time_in: Some(TimeIn::Memory), stream: true, ..reader() })
        }
        "hdparm" => Some(StepProfile { stream: true, ..reader() }),
        "copy" => Some(of_copy(step, field)),
        "backup" if step == "restore" => Some(of_task(Task::Restore)),
        "backup" if step != "check" => Some(of_task(Task::Backup)),
        UNKNOWN_KIND => is_random(values).then(|| StepProfile {
            // Of sizes nothing is known.
            reads: Some(Requests { smallest: 0, largest: u64::MAX, order: Order::Random }),
            ..StepProfile::default()
        }),
        _ => None,
    }
}

fn reader() -> StepProfile {
    StepProfile {
        read_share: Some(1.0),
        time_in: Some(TimeIn::Reads),
        jobs: Some(1),
        depth: Some(1),
        ..StepProfile::default()
    }
}

fn of_task(task: Task) -> StepProfile {
    StepProfile { task: Some(task), ..StepProfile::default() }
}

/// Whether a program's own names for its work say that it reads at random, such as 'Random
/// Read', 'rndrd' or `random` = 1. A command may name anything.
fn is_random(values: &[(&str, String)]) -> bool {
    values.iter().any(|(name, value)| {
        let value = value.to_lowercase();
        match *name {
            "random" => value == "1",
            "command" => false,
            _ => value.contains("rand") || value.contains("rndrd"),
        }
    })
}

fn of_dd(field: Field<'_>) -> StepProfile {
    let words = |name: &str| -> Vec<String> {
        let text = field(name).unwrap_or_default();
        text.split([',', ' ']).map(str::to_owned).collect()
    };
    let (flags, conv) = (words("flags"), words("conv"));
    let has = |list: &[String], name: &str| list.iter().any(|word| word == name);
    let writes = field("direction").is_none_or(|direction| direction == "write");
    let durability = if has(&flags, "dsync") || has(&flags, "sync") {
        Durability::EachWrite(SyncCall::OSync)
    } else if has(&conv, "fsync") {
        Durability::AtEnd(SyncCall::Fsync)
    } else if has(&conv, "fdatasync") {
        Durability::AtEnd(SyncCall::Fdatasync)
    } else {
        Durability::Nothing
    };
    let size = field("bs").unwrap_or_else(|| DD_BLOCK.to_owned());
    let size = size.parse::<Bytes>().ok();
    let requests = size.map(|size| Requests::of_size(size.0, Order::Sequential));
    let zeros = field("source").is_none_or(|source| source == "zero");
    StepProfile {
        reads: requests.filter(|_| !writes),
        writes: requests.filter(|_| writes),
        read_share: Some(if writes { 0.0 } else { 1.0 }),
        direct: Some(has(&flags, "direct")),
        durability: writes.then_some(durability),
        content: (writes && zeros).then_some(ContentProfile::Zeros),
        time_in: Some(if writes { TimeIn::Writes } else { TimeIn::Reads }),
        jobs: Some(1),
        depth: Some(1),
        stream: true,
        ..StepProfile::default()
    }
}

fn of_copy(step: &str, field: Field<'_>) -> StepProfile {
    let files = field("files").and_then(|n| n.parse().ok()).unwrap_or(1_u64);
    let task = match step {
        "rm" => Task::Delete,
        _ if files >= MANY_FILES => Task::SmallFiles,
        _ => Task::LargeWrite,
    };
    let zeros = field("content").is_some_and(|content| content == "zeros");
    StepProfile {
        direct: Some(false),
        durability: Some(Durability::at_end(field("sync").is_some_and(|v| is_on(&v)))),
        content: zeros.then_some(ContentProfile::Zeros),
        ..of_task(task)
    }
}

fn of_fio(value: Field<'_>) -> StepProfile {
    let on = |name: &str| value(name).is_some_and(|v| is_on(&v));
    let many = value("nrfiles").is_some_and(|n| n.parse().is_ok_and(|n: u64| n > 1));
    let requests = requests_of_fio(value);
    StepProfile {
        direct: Some(on("direct") || value("buffered").is_some_and(|v| v == "0")),
        durability: Some(fio_durability(value)),
        content: zeros(value).then_some(ContentProfile::Zeros),
        time_in: if many { Some(TimeIn::Files) } else { requests.time_in },
        paced: ["rate", "rate_iops", "thinktime"]
            .iter()
            .any(|name| value(name).is_some_and(|v| v != "0")),
        ..requests
    }
}

/// What fio requests, which all that it prints repeats. If it says nothing of the direction or the
/// size, nothing is known of them.
fn requests_of_fio(value: Field<'_>) -> StepProfile {
    let number = |name: &str| value(name).map_or(Some(1), |v| v.parse::<u32>().ok());
    let rw = value("rw").or_else(|| value("readwrite")).unwrap_or_default();
    let rw = rw.split(':').next().unwrap_or_default();
    let order = if rw.starts_with("rand") { Order::Random } else { Order::Sequential };
    let mixed = matches!(rw, "rw" | "readwrite" | "randrw");
    let requests = sizes(value).map(|(smallest, largest)| Requests { smallest, largest, order });
    let reads = mixed || matches!(rw, "read" | "randread");
    let writes = mixed || matches!(rw, "write" | "randwrite");
    StepProfile {
        reads: requests.filter(|_| reads),
        writes: requests.filter(|_| writes),
        read_share: match (reads, writes) {
            (true, false) => Some(1.0),
            (false, true) => Some(0.0),
            _ => None,
        },
        time_in: match (reads, writes) {
            (true, false) => Some(TimeIn::Reads),
            (false, true) => Some(TimeIn::Writes),
            (true, true) => Some(TimeIn::Both),
            (false, false) => None,
        },
        jobs: number("numjobs"),
        depth: number("iodepth"),
        ..StepProfile::default()
    }
}

/// The smallest and the largest block. Sizes that differ by direction or by a table are no
/// single range; nobody reads them here.
fn sizes(value: Field<'_>) -> Option<(u64, u64)> {
    if value("bssplit").is_some() {
        return None;
    }
    let range = value("bsrange").or_else(|| value("blocksize_range"));
    let size = range.or_else(|| value("bs")).or_else(|| value("blocksize"));
    let size = size.unwrap_or_else(|| FIO_BLOCK.to_owned());
    let (low, high) = size.split_once('-').unwrap_or((&size, &size));
    let bytes = |text: &str| text.parse::<Bytes>().ok().map(|size| size.0);
    Some((bytes(low)?, bytes(high)?))
}

fn fio_durability(value: Field<'_>) -> Durability {
    let on = |name: &str| value(name).is_some_and(|v| is_on(&v));
    let every = |name: &str| value(name).and_then(|n| n.parse::<u64>().ok()).filter(|n| *n > 0);
    if on("sync") {
        return Durability::EachWrite(SyncCall::OSync);
    }
    for (name, by) in [("fsync", SyncCall::Fsync), ("fdatasync", SyncCall::Fdatasync)] {
        match every(name) {
            Some(1) => return Durability::EachWrite(by),
            Some(writes) => return Durability::Every { writes, by },
            None => {}
        }
    }
    match on("end_fsync") || on("fsync_on_close") {
        true => Durability::AtEnd(SyncCall::Fsync),
        false => Durability::Nothing,
    }
}

fn zeros(value: Field<'_>) -> bool {
    value("zero_buffers").is_some_and(|v| is_on(&v))
        || value("buffer_compress_percentage").is_some_and(|v| v == "100")
        || value("buffer_pattern").is_some_and(|v| {
            let digits = v.trim_start_matches("0x");
            !digits.is_empty() && digits.chars().all(|c| c == '0')
        })
}

/// fio's and TOML's ways to say yes; an option without a value is set.
fn is_on(value: &str) -> bool {
    !matches!(value, "0" | "false" | "none" | "no")
}

/// A field of a table as text; `None` if it is absent or no plain value.
fn field(body: &Node, name: &str) -> Option<String> {
    let (_, node) = body.entries().ok()?.iter().find(|(key, _)| key.name == name)?;
    node.as_text().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reported(workload: &str) -> StepProfile {
        let text = format!(
            "id = \"x\"\ntitle = \"x\"\n[stacks]\na = \"ext4\"\n[[workloads]]\nid = \"w\"\n{workload}\n"
        );
        let study = disklab_study::load("x", &text).expect(workload);
        of_spec(&study.workloads[0], "a").expect(workload)
    }

    #[test]
    fn fields_are_read_as_written() {
        for (workload, direct, durable, zeros) in [
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
        ] {
            let reported = reported(workload);
            let found = (reported.is_direct(), reported.is_durable(), reported.writes_zeros());
            assert_eq!(found, (direct, durable, zeros), "{workload}");
        }
    }

    #[test]
    fn requests_of_jobs_are_reported() {
        let random =
            reported(r#"fio = { rw = "randrw", bsrange = "4k-16k", iodepth = 8, rate = "1m" }"#);
        let range = Some(Requests { smallest: 4096, largest: 16384, order: Order::Random });
        assert_eq!((random.reads, random.writes, random.depth), (range, range, Some(8)));
        assert!(random.paced);
        let plain = reported(r#"fio = { rw = "read" }"#);
        assert_eq!(plain.reads, Some(Requests::of_size(4096, Order::Sequential)));
        assert_eq!((plain.writes, plain.read_share, plain.jobs), (None, Some(1.0), Some(1)));
    }

    #[test]
    fn names_tell_what_reads_at_random() {
        for (field, value, expected) in [
            ("pattern", "rand-read-4k-q32-t1", true),
            ("about", "Type: Random Read - Block Size: 4KB", true),
            ("mode", "rndrd", true),
            ("random", "1", true),
            ("random", "0", false),
            ("pattern", "seq-read-1m-q8-t1", false),
            ("command", "cp randfile x", false),
        ] {
            let work = ImportedWork::unknown("w", "w", vec![(field, value.to_owned())]);
            assert_eq!(of_work(&work)("s").is_some(), expected, "{field} = {value}");
        }
    }

    #[test]
    fn a_step_of_several_sections_has_what_they_share() {
        let job = "[global]\ndirect=1\nbs=4k\n[a]\n[b]\nbs=8k\n[global]\nbs=1M\n[c]\n";
        let value = |step: &str, name: &str| FioSections::new(job).value(step, name);
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
            if let Some(value) = FioSections::new(&job).value(&step, &name) {
                prop_assert!(job.contains(&name) && (value == "1" || job.contains(&value)));
            }
        }
    }
}

//! Flushes that fio sent and that its job did not ask for.

use disklab_source::SourceError;

use crate::json::Json;

/// So many are told as extra only: those at the end of files and jobs are few.
const FEW: u64 = 16;

/// What to know of a job with `fsync=N` that sent many more flushes than one after N
/// writes. Up to 3.37, fio looks whether a flush has *ended* before it sends another one
/// (axboe/fio, pull request 1754).
pub(super) fn extra(job: &Json, global: Option<&Json>) -> Result<Option<String>, SourceError> {
    let named = |options: Option<&Json>| options?.get("fsync")?.as_text();
    let every = named(job.get("job options")).or_else(|| named(global));
    let Some(every) = every.and_then(|text| text.parse::<u64>().ok()).filter(|n| *n > 0) else {
        return Ok(None);
    };
    let total = |key: &str| match job.get(key) {
        Some(part) => part.count("total_ios"),
        None => Ok(None),
    };
    let (Some(writes), Some(sent)) = (total("write")?, total("sync")?) else { return Ok(None) };
    let asked = writes / every;
    if sent <= asked.saturating_mul(3) / 2 || sent - asked <= FEW {
        return Ok(None);
    }
    Ok(Some(format!(
        "fio sent {sent} flushes where fsync={every} asks for {asked}: up to 3.37, it sends several in a row \
         with io_uring and posixaio where iodepth is above 1. The figures are those of all that it \
         sent."
    )))
}

#[cfg(test)]
mod tests {
    use super::super::JSON as FORMAT;
    use crate::formats::testing::one;

    /// A job's report, with its options and those of all jobs.
    fn notes(global: &str, options: &str, writes: u64, flushes: u64) -> Vec<String> {
        let text = format!(
            r#"{{ "fio version" : "fio-3.33", "global options" : {{ {global} }}, "jobs" : [ {{
            "jobname" : "w", "error" : 0, "job options" : {{ "rw" : "write" {options} }},
            "write" : {{ "io_bytes" : 4194304, "io_kbytes" : 4096, "bw_bytes" : 2097152, "bw" : 2048,
              "iops" : 512.0, "runtime" : 2000, "total_ios" : {writes} }},
            "sync" : {{ "total_ios" : {flushes} }} }} ] }}"#
        );
        one(&FORMAT, &text).notes
    }

    #[test]
    fn flushes_that_nobody_asked_for_are_reported() {
        // As fio 3.33 gave them for 1,024 writes by io_uring at depths of 16 and 1.
        let found = notes("", r#", "fsync" : "16""#, 1024, 1011);
        assert!(
            found[0].starts_with("fio sent 1011 flushes where fsync=16 asks for 64"),
            "{found:?}"
        );
        assert_eq!(notes(r#""fsync" : "16""#, "", 1024, 1011), found, "a global option");
        assert_eq!(notes("", r#", "fsync" : "16""#, 1024, 63), Vec::<String>::new());
        assert_eq!(notes("", r#", "fsync" : "1k""#, 1024, 8), Vec::<String>::new());
        assert_eq!(notes("", r#", "fsync" : "0""#, 1024, 1011), Vec::<String>::new());
        assert_eq!(notes("", "", 1024, 1011), Vec::<String>::new());
        assert_eq!(notes("", r#", "fsync" : "1024""#, 1024, 9), Vec::<String>::new(), "a few");
    }
}

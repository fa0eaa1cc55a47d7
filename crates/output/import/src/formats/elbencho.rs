//! elbencho's `--csvfile`: one row for each phase.
//!
//! Columns: `docs/csv-docs.md` and `Statistics.cpp` of elbencho 1.x to 3.1. Rates are
//! those of `[last]`, when the slowest thread had finished: of the whole work. MiB are
//! powers of 1024, latencies microseconds.

use std::sync::Arc;

use disklab_sample::{Direction, Tool};
use disklab_source::{Source, SourceError};
use disklab_units::Bytes;

use super::csv_rows::{CsvRow, rows};
use crate::format::ImportFormat;
use crate::reading::{ImportedWork, Reading, figure, id_of, moments, one_line, step};
use crate::text::span;

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "elbencho-csv",
    about: "elbencho: --csvfile",
    looks_like: |text| {
        let mut lines = text.lines();
        lines.any(|line| {
            line.contains("operation,time ms [first]") || line.contains("operation,IOPS [first]")
        })
    },
    read,
};

/// Phases that move data or files; what else elbencho does (syncing, dropping caches)
/// is no measurement.
const PHASES: [(&str, Direction); 9] = [
    ("READ", Direction::Read),
    ("WRITE", Direction::Write),
    ("RWMIX", Direction::Mixed),
    ("MKDIRS", Direction::Mixed),
    ("RMDIRS", Direction::Remove),
    ("RMFILES", Direction::Remove),
    ("DELFILES", Direction::Remove),
    ("STAT", Direction::Mixed),
    ("LISTOBJ", Direction::Mixed),
];

/// What tells one work from another, with the name of its field.
const WORK: [(&str, &str); 12] = [
    ("path type", "path-type"),
    ("paths", "paths"),
    ("hosts", "hosts"),
    ("threads", "threads"),
    ("dirs", "dirs"),
    ("files", "files"),
    ("file size", "size"),
    ("block size", "bs"),
    ("direct IO", "direct"),
    ("random", "random"),
    ("IO depth", "iodepth"),
    ("shared paths", "shared"),
];

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut columns: Option<Vec<String>> = None;
    let mut readings = Vec::new();
    for row in rows(source)? {
        let is_head = (0..row.len()).any(|i| row.field(i) == Some("operation"));
        if is_head {
            let names = (0..row.len()).map(|i| row.field(i).unwrap_or_default().to_owned());
            columns = Some(names.collect());
            continue;
        }
        let Some(columns) = &columns else {
            return Err(row.place.error(
                "this row has no head above it, so its columns have no names (elbencho's \
                 --nocsvlabels); put the head in front: `elbencho --csvfile` writes it into a new \
                 file",
            ));
        };
        if row.len() > columns.len() {
            return Err(row.place.error(format!(
                "this row has {} fields, and the head above it {}",
                row.len(),
                columns.len()
            )));
        }
        readings.extend(reading(&row, columns)?);
    }
    if readings.is_empty() {
        return Err(span(source, 0, 0).error(
            "there is no phase of elbencho here that moves data or files (READ, WRITE, MKDIRS, …)",
        ));
    }
    Ok(readings)
}

fn reading(row: &CsvRow, columns: &[String]) -> Result<Option<Reading>, SourceError> {
    let at = |name: &str| columns.iter().position(|c| c == name);
    let field = |name: &str| at(name).and_then(|index| row.field(index));
    let number = |name: &str| at(name).map_or(Ok(None), |index| row.number(index, name));
    let operation = field("operation").unwrap_or_default().to_owned();
    let Some((_, direction)) = PHASES.iter().find(|(name, _)| operation.starts_with(name)) else {
        return Ok(None);
    };
    let seconds = number("time ms [last]")?.unwrap_or(0.0) / 1000.0;
    let mut figure = figure(*direction, seconds);
    let iops = number("IOPS [last]")?;
    let entries = number("entries/s [last]")?;
    let data = number("MiB/s [last]")?.filter(|n| *n > 0.0);
    figure.bytes_per_second = data.map(|mib| mib * 1_048_576.0);
    figure.operations_per_second = iops.or(entries).filter(|n| *n > 0.0);
    figure.bytes = (number("MiB [last]")?.unwrap_or(0.0) * 1_048_576.0) as u64;
    if iops.is_none() {
        figure.operations = number("entries [last]")?.map(|n| n as u64);
        figure.operation = disklab_sample::OperationKind::File;
    }
    if figure.bytes_per_second.is_none() && figure.operations_per_second.is_none() {
        return Err(row.place.error(format!(
            "{operation} has neither 'IOPS [last]' nor 'entries/s [last]': nothing was measured \
             (elbencho shows 0 where a phase took less than a millisecond)"
        )));
    }
    let latency = if iops.is_some() { "IO" } else { "Ent" };
    let of = |part: &str| number(&format!("{latency} lat us [{part}]"));
    if let (Some(min), Some(mean), Some(max)) = (of("min")?, of("avg")?, of("max")?)
        && max > 0.0
    {
        figure.latency = Some(moments(min * 1e3, mean * 1e3, max * 1e3, 0.0));
    }
    let mut fields = vec![("program", "elbencho".to_owned()), ("operation", operation.clone())];
    for (column, name) in WORK {
        fields.extend(field(column).map(|value| (name, one_line(value))));
    }
    let random = if field("random") == Some("1") { "rand" } else { "" };
    let size = field("block size").and_then(|b| b.parse().ok()).map(|n| Bytes(n).short());
    let size = size.filter(|_| iops.is_some()).map_or_else(String::new, |size| format!("-{size}"));
    let id = id_of(&format!("elbencho-{random}{}{size}", operation.to_lowercase()));
    let mut reading = Reading::new(ImportedWork::unknown(&id, &id, fields), row.place.clone());
    reading.stack = field("label").map(one_line);
    reading.steps = vec![step(&operation.to_lowercase(), vec![figure])];
    reading.command = field("command").map(one_line);
    reading.tools = field("version")
        .map(|version| Tool { name: "elbencho".to_owned(), version: one_line(version) })
        .into_iter()
        .collect();
    if let Some(date) = field("ISO date") {
        reading.surroundings.insert("measured at".to_owned(), one_line(date));
    }
    reading.notes.push(
        "elbencho's figures are those of the whole work ('[last]'); its latencies are known by mean \
         and extremes only."
            .to_owned(),
    );
    Ok(Some(reading))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, readings};

    const HEAD: &str = "ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size,\
        direct IO,random,random aligned,IO depth,shared paths,truncate,operation,time ms [first],\
        time ms [last],entries/s [first],entries/s [last],IOPS [first],IOPS [last],MiB/s [first],\
        MiB/s [last],CPU% [first],CPU% [last],entries [first],entries [last],MiB [first],MiB [last],\
        Ent lat us [min],Ent lat us [avg],Ent lat us [max],IO lat us [min],IO lat us [avg],\
        IO lat us [max],version,command\n";

    #[test]
    fn each_phase_is_a_reading() {
        let text = format!(
            "{HEAD}2026-05-22T16:09:38,ext4,dir,1,1,8,1,4,268435456,1048576,1,0,,4,1,0,MKDIRS,2,5,\
             3277,1466,,,,,8,7,8,8,,,812,1068,1378,,,,3.1-1,\"elbencho -d, x\"\n\
             2026-05-22T16:09:38,ext4,dir,1,1,8,1,4,268435456,1048576,1,1,,4,1,0,WRITE,2134,2000,\
             11,11,3494,2941,3494,2941,10,9,25,32,7460,8192,290635,609112,867164,1661,9383,120903,\
             3.1-1,elbencho -w x\n\
             2026-05-22T16:09:38,ext4,dir,1,1,8,1,4,268435456,1048576,1,0,,4,1,0,SYNC,2,5,\
             ,,,,,,8,7,,,,,,,,,,,3.1-1,x\n"
        );
        let all = readings(&FORMAT, &text);
        assert_eq!(all.len(), 2);
        let made = &all[0].steps[0].figures[0];
        assert_eq!((made.operations, made.operations_per_second), (Some(8), Some(1466.0)));
        assert_eq!(made.latency.as_ref().map(|l| l.max_ns), Some(1_378_000));
        let write = &all[1].steps[0].figures[0];
        assert_eq!(all[1].work.id, "elbencho-randwrite-1m");
        assert_eq!((write.bytes, write.elapsed_ns), (8192 << 20, 2_000_000_000));
        assert_eq!(write.bytes_per_second, Some(2941.0 * 1_048_576.0));
        assert_eq!(all[1].stack.as_deref(), Some("ext4"));
        assert_eq!(all[0].command.as_deref(), Some("elbencho -d, x"));
    }

    #[test]
    fn rows_that_say_nothing_are_refused() {
        let row = |operation: &str, iops: &str| {
            format!("{HEAD}d,l,dir,1,1,8,1,4,1,1,1,0,,4,1,0,{operation},1,1,,,{iops},{iops}\n")
        };
        for (text, line, said) in [
            (row("WRITE", ""), 2, "nothing was measured"),
            (row("WRITE", "many"), 2, "field 23 (IOPS [last])"),
            (row("SYNC", ""), 1, "no phase of elbencho"),
            (format!("1,2,3\n{HEAD}"), 1, "no head above it"),
            (format!("a,operation\n{}", "x,".repeat(9)), 2, "has 10 fields, and the head"),
        ] {
            let error = fails(&FORMAT, &text);
            assert_eq!(error.line, line, "{error}");
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}

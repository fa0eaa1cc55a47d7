//! CSV after RFC 4180: one line per observation.

use std::fmt::Write as _;

use disklab_source::csv_cell;

use crate::Report;

/// The columns. Throughput is in bytes per second, times are in the unit of
/// their name; empty fields were not measured.
const HEADER: &str = "study,bench,stack,layout,file_system,workload,step,direction,block,\
                      throughput_bytes_per_second,operations_per_second,elapsed_seconds,p50_ns,p99_ns,p999_ns,\
                      bytes,drive_read_bytes,drive_write_bytes,missed,part,operation,\
                      drive_memory_read_share,drive_memory_read_bytes,axes";

/// All observations of a report.
pub(crate) fn text(report: &Report) -> String {
    let bench = report.info.bench.to_string();
    let mut csv = format!("{HEADER}\r\n");
    for group in &report.analysis.groups {
        let key = &group.key;
        let spec = report.study.stack_index(&key.levels.stack).map(|i| &report.study.stacks[i]);
        let head = [
            report.info.study.as_str(),
            &bench,
            &key.levels.stack,
            spec.map_or("", |s| &s.layout),
            spec.map_or("", |s| &s.file_system),
            &key.levels.workload,
            &key.step,
            key.direction.word(),
        ]
        .map(quote)
        .join(",");
        let axes = quote(&key.levels.further_words());
        for o in &group.observations {
            let [p50, p99, p999] =
                o.latency.map_or([None; 3], |l| [l.p50_ns, l.p99_ns, l.p999_ns].map(Some));
            let _ = write!(csv, "{head},{}", o.block);
            for value in
                [o.throughput, o.iops, Some(o.elapsed).filter(|s| *s > 0.0), p50, p99, p999]
            {
                let _ = write!(csv, ",{}", number(value));
            }
            let _ = write!(csv, ",{},{},{}", o.bytes, o.drive_read, o.drive_write);
            let missed = o.missed.map_or_else(String::new, |n| n.to_string());
            let _ = write!(csv, ",{missed},{},{}", key.part.word(), group.operation.plural());
            let share = number(o.memory_reads.map(|memory| memory.of_reads));
            let bytes = o.memory_reads.map_or_else(String::new, |m| m.bytes.to_string());
            let _ = write!(csv, ",{share},{bytes},{axes}\r\n");
        }
    }
    csv
}

/// The shortest text that reads back as the same number; empty where there is none.
fn number(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map_or_else(String::new, |v| v.to_string())
}

/// The field as a spreadsheet takes it for a text, in quotes where it needs them.
fn quote(field: &str) -> String {
    let field = &*csv_cell(field);
    if field.contains([',', '"', '\n', '\r']) || field.trim() != field {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use disklab_source::text_of_csv_cell;
    use proptest::prelude::*;

    use super::*;

    /// One line of RFC 4180, taken apart.
    fn fields(line: &str) -> Vec<String> {
        let mut fields = vec![String::new()];
        let (mut quoted, mut characters) = (false, line.chars().peekable());
        while let Some(c) = characters.next() {
            let last = fields.len() - 1;
            match c {
                '"' if quoted && characters.peek() == Some(&'"') => {
                    characters.next();
                    fields[last].push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                c => fields[last].push(c),
            }
        }
        fields
    }

    proptest! {
        #[test]
        fn fields_come_back(a in ".*", b in "[,\"\n\r =a]*") {
            let line = format!("{},{}", quote(&a), quote(&b));
            let found = fields(&line);
            let found: Vec<&str> = found.iter().map(|field| text_of_csv_cell(field)).collect();
            prop_assert_eq!(found, [&a, &b], "{}", line);
        }

        #[test]
        fn numbers_come_back(value: f64) {
            let text = number(Some(value));
            prop_assert_eq!(text.parse::<f64>().ok(), Some(value).filter(|v| v.is_finite()));
        }
    }
}

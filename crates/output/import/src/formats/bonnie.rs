//! bonnie++: its CSV, or the table where there is none.
//!
//! Columns: bonnie++(8) and what 1.03, 1.97 and 2.00 print. K are 2¹⁰ bytes. `+++++`
//! stands where a part was over too soon to tell.

use std::sync::Arc;

use disklab_source::{Source, SourceError};

use super::bonnie_line::{BonnieLine, PARTS, latency_ns, reading};
use super::bonnie_table::table;
use super::csv_rows::{CsvRow, rows};
use crate::format::ImportFormat;
use crate::reading::{Reading, one_line};
use crate::text::span;

pub(super) const FORMAT: ImportFormat = ImportFormat {
    name: "bonnie++",
    about: "bonnie++ 1.03 to 2.00: its CSV, or its table where there is none",
    looks_like: |text| {
        text.contains("------Sequential Output------") || text.lines().any(|l| layout(l).is_some())
    },
    read,
};

/// Where a CSV row has what.
struct Layout {
    version: Option<usize>,
    name: usize,
    concurrency: Option<usize>,
    size: usize,
    /// The first of twelve figures, each with its per cent of processor behind it: six
    /// of data, `files` more fields, six of files.
    first: usize,
    files: usize,
    /// The first of twelve latencies.
    latency: Option<usize>,
    least: usize,
}

/// The layout of a row, by its first field: the format's version, or the machine's
/// name before 1.9.
fn layout(line: &str) -> Option<Layout> {
    let count = line.split(',').count();
    let newer = |first: usize| Layout {
        version: Some(1),
        name: 2,
        concurrency: Some(3),
        size: 5,
        first,
        files: 5,
        latency: Some(first + 29),
        least: first + 12,
    };
    match line.trim().split(',').next()? {
        "1.98" | "2.00" if count >= 21 => Some(newer(9)),
        "1.96" | "1.97" if count >= 19 => Some(newer(7)),
        _ if count == 27 && has_size(line) && line.split(',').skip(2).all(is_figure) => {
            Some(Layout {
                version: None,
                name: 0,
                concurrency: None,
                size: 1,
                first: 2,
                files: 1,
                latency: None,
                least: 14,
            })
        }
        _ => None,
    }
}

/// Whether a row of 1.03 tells a size behind the machine's name: `2G`, `300M:64k`.
fn has_size(line: &str) -> bool {
    let size = line.split([',', ':']).nth(1).unwrap_or_default();
    let digits = size.trim_end_matches(['K', 'M', 'G']);
    digits.len() + 1 == size.len()
        && !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
}

/// What may follow the size in a row of 1.03.
fn is_figure(field: &str) -> bool {
    let number =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    field.trim().is_empty()
        || field.chars().all(|c| c == '+')
        || field.trim().trim_end_matches('\n').split([':', '/']).all(number)
}

fn read(source: &Arc<Source>) -> Result<Vec<Reading>, SourceError> {
    let mut readings = Vec::new();
    for row in rows(source)? {
        let text = &source.text[row.place.span.clone()];
        if let Some(layout) = layout(text) {
            readings.push(of_row(&row, &layout)?);
        }
    }
    if readings.is_empty() {
        readings = table(source)?;
    }
    if readings.is_empty() {
        return Err(span(source, 0, 0)
            .error("there is neither a line of bonnie++'s CSV nor a table with figures here"));
    }
    Ok(readings)
}

fn of_row(row: &CsvRow, layout: &Layout) -> Result<Reading, SourceError> {
    if row.len() < layout.least {
        return Err(row.place.error(format!(
            "this row of bonnie++ is cut off: it has {} fields, expected at least {}",
            row.len(),
            layout.least
        )));
    }
    let text = |at: usize| row.field(at).map(one_line);
    let mut figures = [(None, None); 12];
    for (part, (figure, latency)) in figures.iter_mut().enumerate() {
        let (_, _, is_data) = PARTS[part];
        let at = layout.first + part * 2 + if part >= 6 { layout.files } else { 0 };
        let is_known = row.field(at).is_some_and(|f| !f.starts_with('+'));
        if is_known {
            let unit = if is_data { 1024.0 } else { 1.0 };
            *figure = row.number(at, PARTS[part].0)?.map(|n| n * unit);
        }
        if let Some(reported) = layout.latency.and_then(|first| row.field(first + part)) {
            *latency = Some(latency_ns(reported).ok_or_else(|| {
                row.place.error(format!("expected a latency such as '43025us', found '{reported}'"))
            })?);
        }
    }
    let reported = BonnieLine {
        name: text(layout.name).unwrap_or_default(),
        version: layout.version.and_then(text),
        size: text(layout.size).unwrap_or_default(),
        concurrency: layout.concurrency.and_then(text),
        figures,
    };
    reading(reported, row.place.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{fails, one, readings};

    const ROW: &str = "1.98,2.00a,nas,1,1795307160,64M,,8192,5,486,45,+++++,+++,120000,10,770,42,\
        +++++,+++,250.5,3,1,,,,,826,4,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,43025us,\
        9765us,12067us,41058us,19906us,43473us,7906us,54us,5218us,6627us,10us,6342us\n";

    #[test]
    fn rows_of_all_ages() {
        let reading = one(&FORMAT, ROW);
        let names: Vec<_> = reading.steps.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["putc", "rewrite", "getc", "seeks", "create"]);
        assert_eq!(reading.steps[0].figures[0].bytes_per_second, Some(486.0 * 1024.0));
        assert_eq!(reading.steps[3].figures[0].operations_per_second, Some(250.5));
        assert_eq!(reading.steps[4].figures[0].operations_per_second, Some(826.0));
        assert_eq!(
            reading.surroundings.get("largest latency of putc").map(String::as_str),
            Some("43.02 ms")
        );
        assert_eq!(
            (reading.work.id.as_str(), reading.stack.as_deref()),
            ("bonnie-64M", Some("nas"))
        );
        let older = "1.97,1.97,nas,1,1795307160,8G,,486,45,99000,9,120000,10,770,42,\
            110000,9,250.5,3,16,,,,,826,4,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,43025us,\
            9765us,12067us,41058us,19906us,43473us,7906us,54us,5218us,6627us,10us,6342us\n";
        assert_eq!(
            one(&FORMAT, older).steps[1].figures[0].bytes_per_second,
            Some(99_000.0 * 1024.0)
        );
        let oldest = "nas,2G,486,45,99000,9,120000,10,770,42,110000,9,250.5,3,16,826,4,+++++,+++,\
            +++++,+++,+++++,+++,+++++,+++,+++++,+++\n";
        let reading = one(&FORMAT, oldest);
        assert_eq!(reading.steps[4].figures[0].bytes_per_second, Some(110_000.0 * 1024.0));
        assert_eq!(reading.steps[6].figures[0].operations_per_second, Some(826.0));
        assert_eq!(readings(&FORMAT, &ROW.repeat(3)).len(), 3);
    }

    #[test]
    fn odd_rows_are_refused() {
        for (text, said) in [
            (ROW.replace("486", "4x6"), "field 10 (putc)"),
            (ROW.replace("43025us", "43025"), "such as '43025us'"),
            (
                ROW.replace("486,", "+++++,")
                    .replace("120000", "+++++")
                    .replace("770", "+++++")
                    .replace("250.5", "+++++")
                    .replace("826", "+++++"),
                "too soon to tell",
            ),
            ("hello\n".to_owned(), "neither"),
        ] {
            let error = fails(&FORMAT, &text);
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}

use proptest::prelude::*;

use super::*;

fn counts() -> FlowopCounts {
    FlowopCounts {
        operations: 61_234,
        reads: 20_000,
        writes: 10_000,
        bytes: 5 << 30,
        latency_ns: 61_234 * 1_234_567,
        shortest_ns: 12_345,
        longest_ns: 98_765_432,
        processor_ns: 61_234 * 56_789,
    }
}

fn row() -> OutputRow {
    OutputRow { name: "statfile1".to_owned(), counts: counts(), histogram: None }
}

fn output(format: OutputFormat) -> Output {
    Output { format, strict: false, seconds: 60.0 }
}

#[test]
fn rows_and_summaries_are_written_as_filebench_does() {
    let (v15, alpha, v149) =
        (output(OutputFormat::V15), output(OutputFormat::V15Alpha), output(OutputFormat::V149));
    // As printf writes the formats of stats.c.
    assert_eq!(
        v15.row(&row()),
        "statfile1            61234ops     1021ops/s  85.3mb/s    1.235ms/op [0.012ms - 98.765ms]"
    );
    assert_eq!(
        alpha.row(&row()),
        "statfile1            61234ops     1021ops/s  85.3mb/s      1.2ms/op [0.01ms - 98.77ms]"
    );
    assert_eq!(
        v149.row(&row()),
        "statfile1            61234ops     1021ops/s  85.3mb/s      1.2ms/op       57us/op-cpu [0ms - 98ms]"
    );
    assert_eq!(
        v15.summary(&counts(), 62.5),
        "62.500: IO Summary: 61234 ops 1020.567 ops/s 333/167 rd/wr  85.3mb/s 1.235ms/op"
    );
    assert_eq!(
        v149.summary(&counts(), 62.5),
        "62.500: IO Summary: 61234 ops, 1020.567 ops/s, (333/167 r/w),  85.3mb/s,     57us cpu/op,   1.2ms latency"
    );
}

#[test]
fn rows_come_in_reverse_order() {
    let rows = ["first", "second"].map(|name| OutputRow { name: name.to_owned(), ..row() });
    let text = output(OutputFormat::V15).breakdown(&rows);
    let names: Vec<&str> =
        text.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(names, ["Per-Operation", "second", "first"]);
}

#[test]
fn strict_keeps_the_flaws() {
    let mut row = row();
    row.counts = FlowopCounts::default();
    let strict = Output { strict: true, ..output(OutputFormat::V15) };
    assert!(
        strict.row(&row).ends_with("0.000ms/op [18446744073709.551ms - 0.000ms]"),
        "{}",
        strict.row(&row)
    );
    assert!(output(OutputFormat::V15).row(&row).ends_with("[0.000ms - 0.000ms]"));
    row.counts.operations = (1 << 31) + 5;
    assert!(strict.row(&row).contains(" -2147483643ops "));
    assert!(output(OutputFormat::V15).row(&row).contains(" 2147483653ops "));
}

#[test]
fn histograms_follow_their_row() {
    let mut histogram = [0; HISTOGRAM_BUCKETS];
    histogram[bucket(1023)] += 1;
    histogram[bucket(1024)] += 2;
    histogram[bucket(0)] += 3;
    let row = OutputRow { histogram: Some(histogram), ..row() };
    let text = output(OutputFormat::V15).row(&row);
    assert!(text.contains("ms]\t[ 3 0 0 0 0 0 0 0 0 1 2 0 "), "{text}");
    assert_eq!(parse_row(&text).expect("a row").histogram, histogram);
}

#[test]
fn counts_add_up() {
    let mut one = FlowopCounts::default();
    one.add(10, 300);
    one.add(20, 100);
    let mut all = FlowopCounts::default();
    all.merge(&FlowopCounts::default());
    all.merge(&one);
    let mut other = FlowopCounts::default();
    other.add(5, 50);
    all.merge(&other);
    assert_eq!((all.operations, all.bytes, all.latency_ns), (3, 35, 450));
    assert_eq!((all.shortest_ns, all.longest_ns), (50, 300));
}

#[test]
fn outputs_of_filebench_are_read() {
    // As stats.c of 1.4.9.1 and of a version without ranges prints them.
    let row = parse_row("closefile1           11543ops      192ops/s   0.0mb/s      0.0ms/op       14us/op-cpu [0ms - 3ms]")
        .expect("1.4.9");
    assert_eq!(
        (row.name.as_str(), row.operations, row.processor_us),
        ("closefile1", 11543, Some(14.0))
    );
    assert_eq!(row.range_ms, Some((0.0, 3.0)));
    let row = parse_row("eventlimit           20ops        2ops/s   0.0mb/s      4.5ms/op")
        .expect("no range");
    assert_eq!((row.mean_ms, row.range_ms), (4.5, None));
    for line in [
        "",
        "Per-Operation Breakdown",
        "x ops",
        "0.1: Running...",
        "a 1ops 2ops/s",
        "1ops 1ops/s 1mb/s 1ms/op",
    ] {
        assert_eq!(parse_row(line), None, "{line}");
        assert_eq!(parse_summary(line), None, "{line}");
    }
}

#[test]
fn an_early_stop_is_reported_and_read() {
    let line = stopped_early("no file in 's'\nnor elsewhere", 2.0);
    assert_eq!(line, "2.000: WARNING! Run stopped early: no file in 's' nor elsewhere");
    assert_eq!(parse_stop(&line), Some("no file in 's' nor elsewhere"));
    assert_eq!(parse_stop("2.0: WARNING! Run stopped early:"), Some(""));
    assert_eq!(parse_stop("2.0: Run took 60 seconds..."), None);
    assert_eq!((parse_row(&line), parse_summary(&line)), (None, None));
}

proptest! {
    #[test]
    fn rows_and_summaries_are_read_back(
        name in "[a-z][a-z0-9 ._-]{0,30}[a-z]", operations in 0_u64..1 << 31, reads in 0_u64..1 << 31,
        bytes in 0_u64..1 << 50, latency_ns in 0_u64..1 << 50, seconds in 0.1_f64..1e5, which in 0..3,
    ) {
        prop_assume!(!name.contains("ops"));
        let format = [OutputFormat::V15, OutputFormat::V15Alpha, OutputFormat::V149][which as usize];
        let output = Output { format, strict: false, seconds };
        let counts = FlowopCounts { operations, reads, bytes, latency_ns, ..FlowopCounts::default() };
        let row = OutputRow { name: name.clone(), counts, histogram: None };
        let read = parse_row(&output.row(&row)).expect("a row");
        prop_assert_eq!(read.name, name);
        prop_assert_eq!(read.operations, operations as i64);
        prop_assert!((read.per_second - operations as f64 / seconds).abs() <= 0.5001);
        let read = parse_summary(&output.summary(&counts, 1.0)).expect("a summary");
        prop_assert_eq!(read.operations, operations as i64);
        prop_assert!((read.reads_per_second - reads as f64 / seconds).abs() <= 0.5001);
        prop_assert_eq!(read.processor_us.is_some(), format == OutputFormat::V149);
    }

    #[test]
    fn no_line_panics(line in ".*", numbers in "[-0-9a-z./\\[\\] ]{0,80}") {
        for line in [&line, &numbers, &format!("IO Summary: {numbers}")] {
            let _ = parse_row(line);
            let _ = parse_summary(line);
        }
    }
}

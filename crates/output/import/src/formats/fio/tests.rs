use disklab_sample::Direction;

use super::JSON as FORMAT;
use crate::formats::testing::{fails, one, readings};

/// As fio 3 writes it, cut to what is read.
const REPORT: &str = r#"{
  "fio version" : "fio-3.33",
  "time" : "Sat Nov 21 23:56:27 2026",
  "global options" : { "bs" : "4k", "directory" : "/mnt/a" },
  "jobs" : [
    {
      "jobname" : "randread", "groupid" : 0, "error" : 0, "job_runtime" : 2000,
      "job options" : { "name" : "randread", "rw" : "randread", "iodepth" : "8" },
      "read" : {
        "io_bytes" : 8192000, "io_kbytes" : 8000, "bw_bytes" : 4096000, "bw" : 4000,
        "iops" : 1000.000000, "runtime" : 2000, "total_ios" : 2000,
        "clat_ns" : { "min" : 100000, "max" : 9000000, "mean" : 800000.0, "stddev" : 141.4, "N" : 2000,
          "percentile" : { "1.000000" : 110000, "50.000000" : 700000, "99.000000" : 5000000, "99.900000" : 8000000 } },
        "lat_ns" : { "min" : 101000, "max" : 9001000, "mean" : 801000.0, "stddev" : 142.1, "N" : 2000 }
      },
      "write" : { "io_bytes" : 0, "io_kbytes" : 0, "iops" : 0.0, "runtime" : 0, "total_ios" : 0 },
      "usr_cpu" : 1.5, "sys_cpu" : 2.5
    }
  ],
  "disk_util" : [
    { "name" : "md0", "read_ios" : 5, "read_sectors" : 16000, "write_sectors" : 0, "aggr_read_ios" : 3 },
    { "name" : "sda", "read_ios" : 5, "write_ios" : 0, "read_sectors" : 16000, "write_sectors" : 0 }
  ]
}"#;

#[test]
fn version_3() {
    let reading = one(&FORMAT, REPORT);
    assert_eq!(reading.work.id, "randread");
    let [step] = reading.steps.as_slice() else { panic!("one step") };
    let [read] = step.figures.as_slice() else { panic!("one figure") };
    assert_eq!(
        (read.direction, read.bytes, read.operations),
        (Direction::Read, 8_192_000, Some(2000))
    );
    assert_eq!(read.bytes_per_second, Some(4_096_000.0));
    assert_eq!((read.elapsed_ns, step.elapsed_ns), (2_000_000_000, 2_000_000_000));
    assert_eq!((step.cpu.user_ns, step.cpu.system_ns), (30_000_000, 50_000_000));
    assert_eq!(reading.tools[0].version, "fio-3.33");
    // A device that is built on others does not count in addition to them.
    assert_eq!(step.drives.len(), 1);
    assert_eq!((step.drives[0].drive.as_str(), step.drives[0].read_bytes), ("sda", 8_192_000));
}

#[test]
fn listed_percentiles_are_exact() {
    let reading = one(&FORMAT, REPORT);
    let latency = reading.steps[0].figures[0].latency.as_ref().expect("told");
    for (quantile, ns) in [(0.5, 700_000.0), (0.99, 5_000_000.0), (0.999, 8_000_000.0)] {
        let own = latency.histogram.quantile(quantile) as f64;
        assert!((own / ns - 1.0).abs() < 0.001, "{quantile}: {own}");
    }
    assert_eq!(
        (latency.histogram.count(), latency.mean_ns, latency.max_ns),
        (2000, 800_000.0, 9_000_000)
    );
    assert!(reading.notes[0].contains("percentiles that fio listed"), "{:?}", reading.notes);
}

#[test]
fn bins_are_taken_before_percentiles() {
    let text = REPORT.replace(
        "\"stddev\" : 142.1, \"N\" : 2000 }",
        "\"stddev\" : 142.1, \"N\" : 2000, \"bins\" : { \"700000\" : 1990, \"9000000\" : 10 } }",
    );
    let reading = one(&FORMAT, &text);
    let latency = reading.steps[0].figures[0].latency.as_ref().expect("told");
    assert_eq!((latency.histogram.count(), latency.mean_ns), (2000, 801_000.0));
    assert!(reading.notes.is_empty(), "{:?}", reading.notes);
}

#[test]
fn the_work_is_what_was_asked_for_not_where() {
    let one_place = one(&FORMAT, REPORT).work;
    let (name, job) = &one_place.fields[0];
    assert_eq!(*name, "job");
    assert_eq!(job, "[global]\nbs=4k\n[randread]\niodepth=8\nrw=randread\n");
    let elsewhere = one(&FORMAT, &REPORT.replace("/mnt/a", "/mnt/b")).work;
    assert_eq!(one_place, elsewhere);
    assert_ne!(one_place, one(&FORMAT, &REPORT.replace("\"4k\"", "\"8k\"")).work);
    // Repeats that draw their own offsets are repeats.
    let seeded = REPORT.replace("\"bs\"", "\"randrepeat\" : \"0\", \"randseed\" : \"7\", \"bs\"");
    assert_eq!(one_place, one(&FORMAT, &seeded).work);
}

#[test]
fn version_2_has_kibibytes_and_microseconds() {
    let reading = one(
        &FORMAT,
        r#"{ "fio version" : "fio-2.2.10", "jobs" : [ { "jobname" : "seq", "error" : 0,
        "write" : { "io_bytes" : 1024, "bw" : 512, "iops" : 128.00, "runtime" : 2000, "total_ios" : 256,
          "clat" : { "min" : 10, "max" : 20, "mean" : 15.0, "stddev" : -nan,
            "percentile" : { "50.000000" : 15, "99.000000" : 20, "0.00" : 0 } } } } ] }"#,
    );
    let write = &reading.steps[0].figures[0];
    assert_eq!((write.bytes, write.bytes_per_second), (1 << 20, Some(524_288.0)));
    let latency = write.latency.as_ref().expect("told");
    assert_eq!((latency.min_ns, latency.max_ns, latency.mean_ns), (10_000, 20_000, 15_000.0));
    assert!((latency.histogram.quantile(0.5) as f64 / 15_000.0 - 1.0).abs() < 0.001);
}

#[test]
fn jobs_of_one_name_add_up() {
    let job = &REPORT[REPORT.find("    {\n      \"jobname\"").expect("job")
        ..REPORT.find("\n  ],").expect("end")];
    let twice = REPORT.replacen(job, &format!("{job},{}", job.replace("8192000", "4096000")), 1);
    let reading = one(&FORMAT, &twice);
    let read = &reading.steps[0].figures[0];
    assert_eq!((reading.steps.len(), read.bytes, read.operations), (1, 12_288_000, Some(4000)));
    assert_eq!(read.bytes_per_second, Some(6_144_000.0));
    let latency = read.latency.as_ref().expect("told");
    assert_eq!(
        (latency.histogram.count(), latency.mean_ns),
        (0, 800_000.0),
        "no percentile is made up"
    );
    let other = REPORT.replacen(job, &format!("{job},{}", job.replace("\"randread\"", "\"b\"")), 1);
    let reading = one(&FORMAT, &other);
    assert_eq!((reading.work.id.as_str(), reading.steps.len()), ("randread+b", 2));
}

#[test]
fn junk_and_several_reports() {
    let junk = "fio: this platform does not support it\nrandread: (g=0): rw=randread\n{ odd\n...\n\
                Starting 1 process\n";
    let within = REPORT.replacen("\"jobs\"", "\nfio: a warning \u{e9}\n\"jobs\"", 1);
    let text = format!("{junk}{REPORT}\n\nfio: done\n{within}\n[{REPORT}, {REPORT}]\n");
    let all = readings(&FORMAT, &text);
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|r| r.steps == all[0].steps));
    let sorted = format!("{{\"disk_util\": [], {}", REPORT.trim_start().trim_start_matches('{'));
    assert_eq!(readings(&FORMAT, &sorted).len(), 1);
}

#[test]
fn a_failed_job_is_a_failure() {
    let reading = one(&FORMAT, &REPORT.replace("\"error\" : 0", "\"error\" : 28"));
    assert_eq!(reading.failure.as_deref(), Some("fio's job 'randread' ended with error 28"));
}

#[test]
fn mistakes_are_shown_with_line_and_column() {
    for (from, to, line, said) in [
        (
            "\"bw_bytes\" : 4096000",
            "\"bw_bytes\" : \"4096000\"",
            10,
            "`bw_bytes`: expected a number",
        ),
        ("\"bw_bytes\" : 4096000", "\"bw_bytes\" : 4000", 9, "one of them is not fio's"),
        ("\"total_ios\" : 2000", "\"total_ios\" : 20.5", 11, "`total_ios`: expected an integer"),
        ("\"io_bytes\" : 8192000", "\"io_bytes\" : -1", 10, "found '-1'"),
        ("\"99.000000\" : 5000000", "\"99.000000\" : 5", 13, "a higher one is smaller"),
        ("\"1.000000\"", "\"101\"", 13, "expected 0 to 100"),
        ("\"disk_util\" : [", "\"disk_util\" : [ [", 24, "expected ',' or ']'"),
    ] {
        let error = fails(&FORMAT, &REPORT.replacen(from, to, 1));
        assert!(error.to_string().contains(said), "{to}: {error}");
        assert_eq!(error.line, line, "{error}");
        assert!(error.column > 1 || line == 24, "{error}");
    }
    assert!(fails(&FORMAT, "{}").to_string().contains("no report of fio"));
    assert!(fails(&FORMAT, "{\"jobs\": []}").to_string().contains("no jobs"));
    assert!(
        fails(&FORMAT, "{\"jobs\": [{\"jobname\": \"x\"}]}").to_string().contains("read or wrote")
    );
}

/// A report with a job of each (name, group, iops), of which each ran ten seconds.
fn report_of(jobs: &[(&str, u64, u64)], clock: &str) -> String {
    let jobs: Vec<String> = jobs
        .iter()
        .map(|(name, group, iops)| job_of(name, *group, "read", *iops, 10_000))
        .collect();
    format!("{{ \"fio version\" : \"fio-3.33\", {clock} \"jobs\" : [ {} ] }}\n", jobs.join(", "))
}

fn job_of(name: &str, group: u64, key: &str, iops: u64, runtime_ms: u64) -> String {
    let ios = iops * runtime_ms / 1000;
    format!(
        "{{ \"jobname\" : \"{name}\", \"groupid\" : {group}, \"error\" : 0, \"job options\" : {{ \
         \"rw\" : \"read\" }}, \"{key}\" : {{ \"io_bytes\" : {}, \"bw_bytes\" : {}, \"iops\" : {iops}, \
         \"runtime\" : {runtime_ms}, \"total_ios\" : {ios} }} }}",
        ios * 4096,
        iops * 4096
    )
}

fn rates(text: &str) -> Vec<(String, f64)> {
    let rate = |r: &crate::Reading| r.steps[0].figures[0].operations_per_second.expect("a rate");
    readings(&FORMAT, text).iter().map(|r| (r.work.id.clone(), rate(r))).collect()
}

#[test]
fn a_name_in_two_groups_is_two_cells() {
    let text = report_of(&[("job", 0, 100), ("job", 1, 200)], "");
    assert_eq!(
        rates(&text),
        [("job-group-0".to_owned(), 100.0), ("job-group-1".to_owned(), 200.0)]
    );
    // Clones are of one group, and other names say which group is meant.
    assert_eq!(rates(&report_of(&[("a", 0, 100), ("a", 0, 100)], "")), [("a".to_owned(), 200.0)]);
    let names = readings(&FORMAT, &report_of(&[("a", 0, 100), ("b", 1, 200)], ""));
    assert_eq!((names.len(), names[0].steps.len()), (1, 2));
}

#[test]
fn reports_in_between_are_no_repeats() {
    let at = |ended: &[(u64, u64)], clock: &str| -> Vec<f64> {
        let report = |(ms, runtime): &(u64, u64)| {
            let clock = match clock {
                "ms" => format!("\"timestamp\" : {}, \"timestamp_ms\" : {ms},", ms / 1000),
                "s" => format!("\"timestamp\" : {},", ms / 1000),
                _ => String::new(),
            };
            let job = job_of("r", 0, "read", 100 + runtime / 100, *runtime);
            format!("{{ \"fio version\" : \"fio-3.33\", {clock} \"jobs\" : [ {job} ] }}\n")
        };
        let text: String = ended.iter().map(report).collect();
        rates(&text).iter().map(|(_, rate)| *rate).collect()
    };
    // Every second, as fio 3.33 did, and the last just before the end.
    let interim = [(41_771, 883), (42_773, 1_883), (43_769, 2_883), (43_905, 3_001)];
    let two: Vec<(u64, u64)> =
        interim.iter().copied().chain(interim.map(|(ms, t)| (ms + 3_500, t))).collect();
    for clock in ["ms", "s", ""] {
        assert_eq!(at(&interim, clock), [130.0], "{clock}");
        assert_eq!(at(&two, clock), [130.0, 130.0], "{clock}: two runs");
    }
    // Runs of a set time one after another, of which the later ones are longer by chance.
    let runs = [(10_000, 3_001), (13_100, 3_002), (16_300, 3_010)];
    for clock in ["ms", "s", ""] {
        assert_eq!(at(&runs, clock).len(), 3, "{clock}");
    }
    // With a clock, growth alone is no sign: three runs, each longer than the one before.
    assert_eq!(at(&[(10_000, 1_000), (20_000, 2_000), (30_000, 3_000)], "ms").len(), 3);
    // In ramp_time nothing is counted yet.
    let ramp = report_of(&[("a", 0, 0)], "\"timestamp_ms\" : 20000,").repeat(2);
    let text = report_of(&[("a", 0, 100)], "\"timestamp_ms\" : 90000,");
    assert_eq!(rates(&format!("{ramp}{text}")), [("a".to_owned(), 100.0)]);
    let text = report_of(&[("a", 0, 100)], "\"timestamp_ms\" : 20000,");
    let notes = &readings(&FORMAT, &text.repeat(2))[0].notes;
    assert!(notes.iter().any(|n| n.contains("the last report counts")), "{notes:?}");
}

#[test]
fn reads_and_writes_that_fio_counts_together_are_mixed() {
    let text = report_of(&[("m", 0, 1000)], "").replace("\"read\" : {", "\"mixed\" : {");
    let figure = &one(&FORMAT, &text).steps[0].figures[0];
    assert_eq!((figure.direction, figure.bytes), (Direction::Mixed, 40_960_000));
    assert_eq!(figure.bytes_per_second, Some(4_096_000.0));
    // With 'both', the sum is no third figure.
    let both = text.replace(
        "\"mixed\" : {",
        "\"read\" : { \"io_bytes\" : 4096, \"iops\" : 1, \"runtime\" : 1000, \"total_ios\" : 1 }, \
         \"mixed\" : {",
    );
    let figures = &one(&FORMAT, &both).steps[0].figures;
    assert_eq!(figures.iter().map(|f| f.direction).collect::<Vec<_>>(), [Direction::Read]);
}

#[test]
fn bytes_without_kibibytes_are_those_of_bandwidth_and_time() {
    let bytes = |version: &str, more: &str, io_bytes: u64| {
        let text = format!(
            "{{ \"fio version\" : \"{version}\", \"jobs\" : [ {{ \"jobname\" : \"r\", \"error\" : 0, \
             \"read\" : {{ \"io_bytes\" : {io_bytes}, {more} \"iops\" : 100.0, \"total_ios\" : 1000 }} }} ] }}"
        );
        one(&FORMAT, &text).steps[0].figures[0].bytes
    };
    let rate = "\"bw_bytes\" : 104857600, \"runtime\" : 10000,";
    assert_eq!(bytes("fio-3.33", rate, 1_048_576_000), 1_048_576_000);
    assert_eq!(bytes("fio-3.33", "", 1_048_576_000), 1_048_576_000);
    assert_eq!(
        bytes("fio-2.2.10", "\"bw\" : 102400, \"runtime\" : 10000,", 1_024_000),
        1_048_576_000
    );
    assert_eq!(bytes("fio-2.2.10", "", 1_024_000), 1_048_576_000);
}

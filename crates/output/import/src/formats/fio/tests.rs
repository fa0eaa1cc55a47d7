use disklab_sample::Direction;

use super::FORMAT;
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

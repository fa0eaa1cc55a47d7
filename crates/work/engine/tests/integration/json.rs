//! fio's JSON.

use std::process::Command;

use crate::common::run_text;
use serde_json::Value;

const JOB: &str = "[mix]\nioengine=libaio\niodepth=4\nrw=randrw\nbs=4k\nsize=1m\nfsync=16\n\
                   lat_percentiles=1\nslat_percentiles=1\n";

fn native() -> Value {
    let (_directory, report) = run_text(JOB);
    assert_eq!(report.jobs[0].error, None);
    report.to_fio_json()
}

#[test]
fn figures_agree_with_each_other() {
    let report = native();
    let job = &report["jobs"][0];
    assert_eq!((job["jobname"].as_str(), job["error"].as_i64()), (Some("mix"), Some(0)));
    assert_eq!(job["job options"]["bs"], "4k");
    let (mut operations, mut share) = (0, 0.0);
    for side in ["read", "write"] {
        let side = &job[side];
        let ios = side["total_ios"].as_u64().expect("ios");
        operations += ios;
        assert_eq!(side["io_bytes"].as_u64(), Some(ios * 4096));
        assert_eq!(side["io_kbytes"].as_u64(), Some(ios * 4));
        for latency in ["slat_ns", "clat_ns", "lat_ns"] {
            let latency = &side[latency];
            let bins = latency["bins"].as_object().expect("bins");
            let counted: u64 = bins.values().filter_map(Value::as_u64).sum();
            assert_eq!((counted, latency["N"].as_u64()), (ios, Some(ios)));
            let number = |key: &str| latency[key].as_f64().expect("a number");
            assert!(number("min") <= number("mean") && number("mean") <= number("max"));
            let median = latency["percentile"]["50.000000"].as_f64().expect("median");
            assert!(number("min") * 0.999 <= median && median <= number("max"));
        }
        let speed = side["bw_bytes"].as_f64().expect("speed");
        let wanted = side["iops"].as_f64().expect("iops") * 4096.0;
        assert!((speed / wanted - 1.0).abs() < 0.01, "{speed} {wanted}");
        assert!(side["bw_samples"].as_u64() >= Some(1));
    }
    assert_eq!(operations, 256);
    assert!(job["sync"]["total_ios"].as_u64() > Some(0));
    for ranges in ["latency_ns", "latency_us", "latency_ms"] {
        let ranges = job[ranges].as_object().expect("ranges");
        share += ranges.values().filter_map(Value::as_f64).sum::<f64>();
    }
    assert!((share - 100.0).abs() < 1e-6, "{share}");
    for levels in ["iodepth_level", "iodepth_submit", "iodepth_complete"] {
        let levels = job[levels].as_object().expect("levels");
        let levels: f64 = levels.values().filter_map(Value::as_f64).sum();
        assert!((levels - 100.0).abs() < 1e-6, "{levels}");
    }
}

/// As in fio, the bins are only in `json+`; without them the report is as short as fio's.
#[test]
fn brief_reports_have_no_bins() {
    let (_directory, report) = run_text(JOB);
    let (brief, whole) = (report.to_brief_fio_json(), report.to_fio_json());
    for side in ["read", "write"] {
        assert!(brief["jobs"][0][side]["clat_ns"].get("bins").is_none());
        assert!(brief["jobs"][0][side]["clat_ns"]["percentile"].is_object());
        assert!(whole["jobs"][0][side]["clat_ns"]["bins"].is_object());
    }
    let length = |value: &Value| format!("{value:#}").len();
    assert!(length(&brief) < 12_000 && length(&whole) > length(&brief), "{}", length(&brief));
}

/// Fields that are fio's own affair.
const FIOS: [&str; 5] = ["eta", "job_start", "disk_util", "sync", "trim"];

fn lacks(native: &Value, fios: &Value, path: &str, missing: &mut Vec<String>) {
    let (Some(native), Some(fios)) = (native.as_object(), fios.as_object()) else { return };
    for (key, value) in fios {
        if FIOS.contains(&key.as_str()) || ["bins", "job options"].contains(&key.as_str()) {
            continue;
        }
        match native.get(key) {
            None => missing.push(format!("{path}/{key}")),
            Some(own) => lacks(own, value, &format!("{path}/{key}"), missing),
        }
    }
}

#[test]
fn all_that_fio_reports_is_there() {
    let directory = tempfile::tempdir().expect("temp");
    std::fs::write(directory.path().join("job.fio"), JOB).expect("written");
    let run = Command::new("fio")
        .current_dir(directory.path())
        .args(["--output-format=json+", "job.fio"])
        .output();
    let Ok(run) = run else {
        eprintln!("skipped: needs fio");
        return;
    };
    let text = String::from_utf8_lossy(&run.stdout);
    let fios: Value = serde_json::from_str(&text[text.find('{').expect("json")..]).expect("json");
    let (native, mut missing) = (native(), Vec::new());
    lacks(&native, &fios, "", &mut missing);
    lacks(&native["jobs"][0], &fios["jobs"][0], "job", &mut missing);
    assert_eq!(missing, Vec::<String>::new());
}

//! Outputs that are too large, and figures that cannot be.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use disklab_exec::thread_cpu_seconds;
use disklab_import::{FORMATS, Import, ImportRequest, detect};
use disklab_source::Source;
use disklab_store::Session;
use proptest::prelude::*;

fn request(files: Vec<PathBuf>) -> ImportRequest {
    ImportRequest { files, stack: Some("single/ext4".to_owned()), ..ImportRequest::default() }
}

fn file(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("write");
    path
}

/// A report of fio's as `--output-format=json` writes it, of some 40 KiB.
fn report(iops: f64) -> String {
    let mut text = format!(
        "{{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n    {{\n      \"jobname\" : \"a\",\n      \
         \"error\" : 0,\n      \"job options\" : {{ \"rw\" : \"randread\" }},\n      \"read\" : {{\n        \
         \"io_bytes\" : 8192, \"io_kbytes\" : 8, \"bw_bytes\" : 4096, \"bw\" : 4,\n        \"iops\" : {iops},\n        \
         \"runtime\" : 2000, \"total_ios\" : 2,\n        \"clat_ns\" : {{ \"min\" : 1000, \"max\" : 2000000, \
         \"mean\" : 5000.0, \"stddev\" : 1.0, \"N\" : 1000, \"bins\" : {{\n"
    );
    for bin in 0..1_200 {
        let comma = if bin == 1_199 { "" } else { "," };
        let _ = writeln!(text, "            \"{}\" : 1{comma}", 1_000 + 1_000 * bin);
    }
    text + "        } } }\n    }\n  ]\n}\n"
}

#[test]
fn a_stream_of_reports_is_read_in_linear_time() {
    let directory = tempfile::tempdir().expect("temp");
    let one = report(1.5);
    let n = 8 * 1024 * 1024 / one.len();
    let stream = one.repeat(n);
    let list = format!("[\n{}\n]\n", vec![one.as_str(); n].join(","));
    for (name, text) in [("stream.json", &stream), ("list.json", &list)] {
        let path = file(directory.path(), name, text);
        let before = thread_cpu_seconds();
        let import = Import::read(&request(vec![path])).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(import.cells.len(), n, "{name}");
        let used = thread_cpu_seconds() - before;
        assert!(used < 60.0, "{name}: {used} s");
    }
}

/// A report of fio's with jobs of these names.
fn jobs(names: impl Iterator<Item = String>) -> String {
    let job = |name: String| {
        format!(
            "{{\"jobname\":\"{name}\",\"error\":0,\"job options\":{{\"rw\":\"randread\",\"bs\":\"4k\",\
             \"direct\":\"1\",\"size\":\"1g\"}},\"read\":{{\"io_bytes\":409600,\"iops\":100.0,\
             \"runtime\":1000,\"total_ios\":100}}}}"
        )
    };
    let jobs: Vec<String> = names.map(job).collect();
    format!("{{\"fio version\":\"fio-3.33\",\"jobs\":[{}]}}", jobs.join(","))
}

#[test]
fn a_report_of_thousands_of_jobs_is_read_in_linear_time() {
    let directory = tempfile::tempdir().expect("temp");
    let text = jobs((0..8_000).map(|n| format!("a{}", n % 1_000)));
    let path = file(directory.path(), "jobs.json", &text);
    let before = thread_cpu_seconds();
    let import = Import::read(&request(vec![path])).expect("read");
    assert_eq!(import.cells.len(), 1);
    assert_eq!(import.cells[0].result.as_ref().expect("a sample").sample().steps.len(), 1_000);
    let used = thread_cpu_seconds() - before;
    assert!(used < 60.0, "{used} s");
}

/// A table of Phoronix's.
fn phoronix(results: &str, attributes: &str, entries: &str) -> String {
    format!(
        "<PhoronixTestSuite>{results}<Result {attributes}><Title>T</Title><Scale>MB/s</Scale><Data>\
         {entries}</Data></Result></PhoronixTestSuite>"
    )
}

fn entries(n: usize, system: impl Fn(usize) -> String) -> String {
    (0..n)
        .map(|i| {
            let system = system(i);
            format!("<Entry><Identifier>{system}</Identifier><Value>1</Value></Entry>")
        })
        .collect()
}

/// What one run compares grows with the square of these.
#[test]
fn more_than_one_run_compares_is_refused_before_it_takes_long() {
    let directory = tempfile::tempdir().expect("temp");
    let one = entries(1, |_| "ext4".to_owned());
    let attributes: Vec<String> = (0..160_000).map(|i| format!("a{i}='<>' ")).collect();
    let attributes = attributes.concat().replace('<', "&lt;");
    let commands: Vec<String> =
        (0..8_000).map(|i| format!("{{\"command\":\"c{i}\",\"times\":[1.0]}}")).collect();
    let results: String = (0..8_000)
        .map(|i| phoronix("", "", &one).replace("<Title>T", &format!("<Title>T{i}")))
        .map(|one| one.replace("<PhoronixTestSuite>", "").replace("</PhoronixTestSuite>", ""))
        .collect();
    for (name, text, said) in [
        ("jobs.json", jobs((0..8_000).map(|n| format!("a{n}"))), "more than 1000 jobs or steps"),
        (
            "commands.json",
            format!("{{\"results\":[{}]}}", commands.join(",")),
            "more than 1000 jobs or steps",
        ),
        ("results.xml", phoronix(&results, "", &one), "more than 1000 jobs or steps"),
        ("attributes.xml", phoronix("", &attributes, &one), "160000 attributes"),
        (
            "systems.xml",
            phoronix("", "", &entries(8_000, |i| format!("s{i}"))),
            "more than 200 stacks",
        ),
    ] {
        let path = file(directory.path(), name, &text);
        let before = thread_cpu_seconds();
        let request = ImportRequest { files: vec![path], ..ImportRequest::default() };
        let request = match name.ends_with("json") {
            true => ImportRequest { stack: Some("single/ext4".to_owned()), ..request },
            false => request,
        };
        let error = Import::read(&request).expect_err(name).to_string();
        assert!(error.contains(said), "{name}: {error}");
        let used = thread_cpu_seconds() - before;
        assert!(used < 20.0, "{name}: {used} s");
    }
}

/// CPU time that reading a text takes.
fn seconds(name: &str, text: String) -> f64 {
    let source = std::sync::Arc::new(Source { name: "x".to_owned(), text });
    let format = detect(&source.text).expect(name);
    let once = || {
        let before = thread_cpu_seconds();
        let _ = format.read(&source);
        thread_cpu_seconds() - before
    };
    once().min(once())
}

/// Eight times the text takes eight times as long, not sixty-four.
#[test]
fn all_formats_are_read_in_linear_time() {
    type Texts = Box<dyn Fn(usize) -> String>;
    let one = entries(1, |_| "ext4".to_owned());
    let same = |n: usize| entries(n, |_| "ext4".to_owned());
    let names = |n: usize| jobs((0..n).map(|i| format!("a{i}")));
    let mut texts: Vec<(String, Texts)> = vec![
        ("entries".to_owned(), Box::new(move |n| phoronix("", "", &same(n)))),
        (
            "children".to_owned(),
            Box::new(move |n| {
                phoronix("", "", &same(n)).replace("<Title>", &("<x/>".repeat(n) + "<Title>"))
            }),
        ),
        (
            "results".to_owned(),
            Box::new(move |n| {
                let result = phoronix("", "", &one);
                let result = result.replace("<PhoronixTestSuite>", "");
                let result = result.replace("</PhoronixTestSuite>", "");
                phoronix(&result.repeat(n), "", &one)
            }),
        ),
        ("names".to_owned(), Box::new(names)),
        ("braces".to_owned(), Box::new(move |n| names(1) + &"\n{ \"a\"".repeat(n))),
        ("brackets".to_owned(), Box::new(move |n| names(1) + "\n" + &"[".repeat(n))),
    ];
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for entry in std::fs::read_dir(data).expect("data").flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        let about = 20_000 / text.len().max(100);
        let repeated: Texts = Box::new(move |n| (text.clone() + "\n").repeat(n * about / 500 + 1));
        texts.push((entry.file_name().to_string_lossy().into_owned(), repeated));
    }
    for (name, text) in texts {
        let (short, long) = (seconds(&name, text(500)), seconds(&name, text(4_000)));
        // Below, the clock and the first pages count as much.
        assert!(long < 24.0 * short || long < 0.2, "{name}: {short} s, then {long} s");
    }
}

#[test]
fn tens_of_thousands_of_times_become_a_run() {
    let directory = tempfile::tempdir().expect("temp");
    let times: Vec<String> = (0..20_000).map(|i| format!("0.{:04}", 1_000 + i % 97)).collect();
    let text =
        format!("{{\"results\":[{{\"command\":\"cp a b\",\"times\":[{}]}}]}}", times.join(","));
    let path = file(directory.path(), "times.json", &text);
    let before = thread_cpu_seconds();
    let import = Import::read(&request(vec![path])).expect("read");
    assert_eq!(import.cells.len(), 20_000);
    let session = Session {
        began: jiff::Timestamp::UNIX_EPOCH,
        command: vec!["disklab".to_owned()],
        disklab: "0".to_owned(),
        kernel: String::new(),
    };
    let run = import.write(&directory.path().join("run"), &session).expect("written");
    let used = thread_cpu_seconds() - before;
    assert!(used < 60.0, "{used} s");
    let mut samples = 0;
    run.for_each_sample(|_, sample| samples += sample.steps.len()).expect("samples");
    assert_eq!(samples, 20_000);
    assert!(!directory.path().join("run/raw").exists(), "a directory for each number");
}

/// The largest resident memory of this process so far, in bytes.
fn peak_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() * 1024
}

/// What reading a file adds to the peak, in times of the file's length. (nextest gives each test
/// a process of its own; with others in one process it can only be more.)
fn growth(path: &Path, cells: usize) -> f64 {
    let length = std::fs::metadata(path).expect("a file").len();
    let before = peak_memory();
    let import = Import::read(&request(vec![path.to_path_buf()])).expect("read");
    assert_eq!(import.cells.len(), cells);
    let growth = (peak_memory() - before) as f64 / length as f64;
    eprintln!("{}: {growth:.1} times {length} bytes", path.display());
    growth
}

/// A tree of all that a file says took sixteen times the file.
#[test]
fn memory_is_in_proportion_to_the_file() {
    let directory = tempfile::tempdir().expect("temp");
    let one = report(1.5);
    let n = 24 * 1024 * 1024 / one.len();
    let stream = file(directory.path(), "stream.json", &one.repeat(n));
    assert!(growth(&stream, n) < 4.0);
    let times: Vec<String> = (0..200_000).map(|i| format!("0.{:06}", 100_000 + i)).collect();
    let text =
        format!("{{\"results\":[{{\"command\":\"cp a b\",\"times\":[{}]}}]}}", times.join(","));
    drop(times);
    let times = file(directory.path(), "times.json", &text);
    drop(text);
    // Each of the times, nine bytes, becomes a cell of a run: a sample of each took 3 KB.
    assert!(growth(&times, 200_000) < 100.0);
}

/// Its tree took 1.1 GB until the limit was reached.
#[test]
fn a_document_that_is_too_large_is_refused_before_it_is_read() {
    let directory = tempfile::tempdir().expect("temp");
    let one = report(1.5);
    let (front, rest) = one.split_once("\"jobs\" : [").expect("a report");
    let (job, _) = rest.rsplit_once(']').expect("a report");
    let jobs = vec![job; 65 * 1024 * 1024 / job.len()].join(",");
    let path = file(directory.path(), "jobs.json", &format!("{front}\"jobs\" : [{jobs}]}}\n"));
    drop(jobs);
    let length = std::fs::metadata(&path).expect("a file").len();
    let before = peak_memory();
    let error = Import::read(&request(vec![path])).expect_err("too large").to_string();
    let growth = (peak_memory() - before) as f64 / length as f64;
    assert!(error.contains("more than 67108864 bytes"), "{error}");
    assert!(growth < 3.0, "{growth} times the file");
}

#[test]
fn too_many_figures_are_refused() {
    let directory = tempfile::tempdir().expect("temp");
    let many = vec!["1"; 300_000].join(",");
    let text = format!("{{\"results\":[{{\"command\":\"x\",\"times\":[{many}]}}]}}");
    let path = file(directory.path(), "many.json", &text);
    let error = Import::read(&request(vec![path])).expect_err("too many").to_string();
    assert!(error.contains("more than 250000 runs"), "{error}");
    let sparse = directory.path().join("sparse.json");
    std::fs::File::create(&sparse).and_then(|f| f.set_len(1 << 40)).expect("a sparse file");
    assert!(Import::read(&request(vec![sparse])).is_err());
}

#[test]
fn figures_that_no_machine_gives_are_refused_at_their_place() {
    let directory = tempfile::tempdir().expect("temp");
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let dd = "$ dd if=/dev/zero of=x bs=1M count=1\n1+0 records in\n1+0 records out\n\
              1048576 bytes (1.0 MB) copied, 1e300 s, 3.5 fB/s\n";
    for (name, text) in [
        ("fio.json", report(1e30)),
        ("hyperfine.json", "{\"results\":[{\"command\":\"x\",\"times\":[1e300]}]}".to_owned()),
        ("time.txt", format!("\nreal\t{}m9.5s\nuser\t0m0.2s\nsys\t0m1.5s\n", "9".repeat(30))),
        ("dd.txt", dd.to_owned()),
    ] {
        let path = file(directory.path(), name, &text);
        let error = Import::read(&request(vec![path])).expect_err(name).to_string();
        assert!(error.contains(&format!("{name}:")), "{error}");
    }
    assert!(real.is_dir(), "what programs really print is read by real_outputs.rs");
}

/// Numbers of any size, where outputs have theirs.
fn numbered(text: &str, which: usize, number: &str) -> String {
    let digits: Vec<usize> = text
        .char_indices()
        .filter(|(at, c)| {
            c.is_ascii_digit()
                && !text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.')
        })
        .map(|(at, _)| at)
        .collect();
    let Some(start) = digits.get(which % digits.len().max(1)) else { return text.to_owned() };
    let end = text[*start..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(0);
    format!("{}{number}{}", &text[..*start], &text[start + end..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Real outputs with a number of any size somewhere: refused, or within what can be.
    #[test]
    fn no_figure_is_beyond_its_range(
        which in any::<prop::sample::Index>(), place: usize,
        number in "[0-9]{1,30}|[1-9]e[0-9]{1,3}|0\\.0{1,300}1",
    ) {
        let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(real).expect("data").flatten().map(|e| e.path()).filter(|p| p.is_file()).collect();
        files.sort();
        let path = &files[which.index(files.len())];
        let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
        prop_assume!(text.len() < 100_000);
        let text = numbered(&text, place, &number);
        let source = std::sync::Arc::new(Source { name: "x".to_owned(), text });
        let Some(format) = detect(&source.text).or(FORMATS.first()) else { return Ok(()) };
        for reading in format.read(&source).unwrap_or_default() {
            for figure in reading.steps.iter().flat_map(|s| &s.figures) {
                prop_assert!(figure.elapsed_ns as f64 <= 3.2e17);
                prop_assert!(figure.operations_per_second.is_none_or(|n| n <= 1e12));
                prop_assert!(figure.bytes_per_second.is_none_or(|n| n <= 1e14));
            }
        }
    }
}

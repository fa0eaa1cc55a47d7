use std::fs;

use disklab_decision::analyse;
use disklab_store::{CellState, Session};

use super::*;

fn fio(bs: &str, iops: f64) -> String {
    let bytes = iops * 4096.0;
    format!(
        "{{\"fio version\":\"fio-3.33\",\"jobs\":[{{\"jobname\":\"randread\",\"error\":0,\
         \"job options\":{{\"rw\":\"randread\",\"bs\":\"{bs}\",\"direct\":\"1\"}},\"read\":{{\
         \"io_bytes\":{},\"io_kbytes\":1,\"bw_bytes\":{bytes},\"iops\":{iops},\"runtime\":10000,\
         \"total_ios\":{}}}}}]}}",
        (bytes * 10.0) as u64,
        (iops * 10.0) as u64
    )
}

struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(&path, text).expect("a file");
        path
    }
}

fn session() -> Session {
    Session {
        began: jiff::Timestamp::UNIX_EPOCH,
        command: vec!["disklab".to_owned()],
        disklab: "0".to_owned(),
        kernel: String::new(),
    }
}

fn counts(import: &Import) -> Vec<(String, String, usize)> {
    import.counts()
}

fn said(request: &ImportRequest) -> String {
    Import::read(request).expect_err("refused").to_string()
}

#[test]
fn repeats_of_two_stacks_become_a_run_with_a_comparison() {
    let directory = Directory::new();
    let mut files = Vec::new();
    for (stack, rates) in [("ext4", [1000.0, 1010.0, 990.0]), ("btrfs", [500.0, 505.0, 495.0])] {
        for (n, iops) in rates.iter().enumerate() {
            files.push(directory.file(&format!("{stack}-randread-{n}.json"), fio("4k", *iops)));
        }
    }
    let import =
        Import::read(&ImportRequest { files, ..ImportRequest::default() }).expect("imported");
    assert_eq!(
        counts(&import),
        [
            ("ext4".to_owned(), "randread".to_owned(), 3),
            ("btrfs".to_owned(), "randread".to_owned(), 3)
        ]
    );
    let run = import.write(&directory.0.path().join("run"), &session()).expect("written");
    let analysis = analyse(&run).expect("analysed");
    let comparison = &analysis.answers[0].comparisons[0];
    assert_eq!((comparison.stack.as_str(), comparison.baseline.as_str()), ("btrfs", "ext4"));
    let interval = comparison.interval.expect("an interval");
    assert!((comparison.ratio - 0.5).abs() < 0.01 && interval.low < 0.5 && interval.high > 0.5);
    assert_eq!(analysis.answers[0].question.ask, "How fast are 4 KiB random reads?");
    let info = run.info().expect("info");
    assert_eq!((info.is_import(), info.repeats), (true, 3));
    let raw = fs::read_dir(directory.0.path().join("run/raw")).expect("raw outputs").count();
    assert_eq!(raw, 6);
}

#[test]
fn most_specific_placement_of_a_file_wins() {
    let directory = Directory::new();
    directory.file(
        "import.toml",
        "title = \"Mine\"\nbaseline = \"table\"\n[files]\n\"a*\" = \"table\"\n",
    );
    let files = vec![
        directory.file("a1.json", fio("4k", 1.0)),
        directory.file("b1.json", fio("4k", 1.0)),
        directory.file("c1.json", fio("4k", 1.0)),
    ];
    let request = ImportRequest {
        files: files.clone(),
        stack: Some("flag".to_owned()),
        mappings: vec![Mapping::parse("c1.*=mapped:other").expect("a mapping")],
        ..ImportRequest::default()
    };
    let import = Import::read(&request).expect("imported");
    let pairs: Vec<String> = counts(&import).iter().map(|(s, w, _)| format!("{s}:{w}")).collect();
    assert_eq!(pairs, ["table:randread", "flag:randread", "mapped:other"]);
    assert_eq!(
        (import.study.title.as_str(), import.study.baseline.as_deref()),
        ("Mine", Some("table"))
    );
    directory.file("import.toml", "baseline = \"nowhere\"\n[files]\n\"*\" = \"table\"\n");
    assert!(said(&ImportRequest { files, ..ImportRequest::default() }).contains("unknown stack"));
}

#[test]
fn other_work_is_no_repeat() {
    let directory = Directory::new();
    let files = vec![
        directory.file("ext4-1.json", fio("4k", 1.0)),
        directory.file("xfs-1.json", fio("8k", 1.0)),
    ];
    let error = said(&ImportRequest { files: files.clone(), ..ImportRequest::default() });
    assert!(error.contains("did not do the same work: bs=4k against bs=8k"), "{error}");
    let mappings = vec![Mapping::parse("xfs*=xfs:randread-8k").expect("a mapping")];
    assert_eq!(
        counts(
            &Import::read(&ImportRequest { files, mappings, ..ImportRequest::default() })
                .expect("imported")
        )
        .len(),
        2
    );
}

#[test]
fn files_that_cannot_be_placed_are_refused() {
    let directory = Directory::new();
    let unknown = directory.file("x-1.txt", "hello\n");
    let binary = directory.file("b-1.txt", [0xff, 0x00, 0x80]);
    let failed = |files: Vec<PathBuf>| said(&ImportRequest { files, ..ImportRequest::default() });
    assert!(failed(vec![unknown.clone()]).contains("known are 'fio-json'"));
    assert!(failed(vec![binary]).contains("not a text file"));
    assert!(failed(vec![directory.0.path().join("nowhere")]).contains("cannot read"));
    assert!(failed(Vec::new()).contains("which files?"));
    let long = format!("{}{}", fio("4k", 1.0), "\n".repeat(1000));
    let (one, copy) = (directory.file("ext4-1.json", &long), directory.file("ext4-2.json", &long));
    assert!(failed(vec![one.clone(), one.clone()]).contains("is named twice"));
    assert!(failed(vec![one, copy]).contains("a copy is not a repeat"));
    let request = ImportRequest {
        files: vec![unknown],
        format: crate::find_format("dd"),
        ..ImportRequest::default()
    };
    let error = said(&request);
    assert!(error.contains("x-1.txt:1:1") && error.contains("no last line of dd"), "{error}");
    let request = ImportRequest {
        files: vec![directory.file("ext4.json", fio("4k", 1.0))],
        stack: Some("a b".to_owned()),
        ..ImportRequest::default()
    };
    assert!(said(&request).contains("invalid stack name"));
}

#[test]
fn outputs_that_are_nearly_right_are_named() {
    let directory = Directory::new();
    for (name, text, expected) in [
        (
            "fio.txt",
            "x: (groupid=0, jobs=1): err= 0: pid=7: Sun\n  read: IOPS=9\n",
            "read or wrote",
        ),
        ("cpu.txt", "sysbench 1.0.20\nCPU speed:\n", "'sysbench fileio' does"),
    ] {
        let error = said(&ImportRequest {
            files: vec![directory.file(name, text)],
            ..ImportRequest::default()
        });
        assert!(error.contains(expected) && error.contains(name), "{error}");
    }
    let run = directory.file("run.sqlite", b"SQLite format 3\0\xff");
    let error = said(&ImportRequest { files: vec![run], ..ImportRequest::default() });
    assert!(error.contains("needs no import"), "{error}");
}

#[test]
fn drives_that_somebody_names_are_in_every_sample() {
    let directory = Directory::new();
    let files = vec![directory.file("ext4-1.json", fio("4k", 1.0))];
    let drives = |request: &ImportRequest| -> Vec<String> {
        let import = Import::read(request).expect("imported");
        let sample = import.cells[0].result.as_ref().expect("a sample").sample();
        sample.environment.drives.iter().filter_map(|d| d.model.clone()).collect()
    };
    let mut request = ImportRequest { files, ..ImportRequest::default() };
    assert!(drives(&request).is_empty());
    directory.file("import.toml", "drives = \"nvme\"\n");
    assert_eq!(drives(&request), ["Samsung 970 PRO 512 GB"]);
    request.drives = Some(ImportedDrives::parse("hdd:2").expect("valid"));
    assert_eq!(drives(&request).len(), 2);
    directory.file("import.toml", "drives = \"disk:2\"\n");
    assert!(said(&request).contains("import.toml:1:10: unknown kind of drive 'disk'"));
}

#[test]
fn an_existing_study_takes_its_own_stacks_only() {
    let directory = Directory::new();
    let study = disklab_study::load(
        "x.toml",
        "id = \"x\"\ntitle = \"x\"\n[stacks]\next4 = \"ext4\"\n[[workloads]]\nid = \"reads\"\nfio = { rw = \"read\" }\n",
    )
    .expect("a study");
    let mut request = ImportRequest {
        files: vec![directory.file("ext4-1.json", fio("4k", 1.0))],
        target: ImportTarget::Existing(Box::new(study)),
        ..ImportRequest::default()
    };
    assert!(said(&request).contains("has no workload 'randread'"));
    request.mappings = vec![Mapping::parse("*=ext5:reads").expect("a mapping")];
    assert!(said(&request).contains("has no stack 'ext5' (did you mean 'ext4'?)"));
    request.mappings = vec![Mapping::parse("*=ext4:reads").expect("a mapping")];
    assert_eq!(Import::read(&request).expect("imported").study.id, "x");
}

#[test]
fn names_tell_directions_and_failures_stay_failures() {
    let directory = Directory::new();
    let dd = "16+0 records in\n16+0 records out\n1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 MB/s\n";
    let files = vec![directory.file("ext4-dd-write.txt", dd), directory.file("ext4-2.txt", dd)];
    let import =
        Import::read(&ImportRequest { files, ..ImportRequest::default() }).expect("imported");
    let sample = |n: usize| import.cells[n].result.as_ref().expect("a sample").sample();
    assert_eq!(sample(0).steps[0].figures[0].direction, Direction::Write);
    assert!(sample(1).notes.iter().any(|n| n.text.contains("whether data were read or written")));
    assert!(sample(0).notes[0].text.ends_with("ext4-dd-write.txt, format dd"));

    let failed = fio("4k", 1.0).replace("\"error\":0", "\"error\":28");
    let files =
        vec![directory.file("xfs-1.json", failed), directory.file("xfs-2.json", fio("4k", 1.0))];
    let import =
        Import::read(&ImportRequest { files, ..ImportRequest::default() }).expect("imported");
    let run = import.write(&directory.0.path().join("run"), &session()).expect("written");
    let states: Vec<_> = run.cells().expect("cells").iter().map(|c| c.state).collect();
    assert_eq!(states, [CellState::Failed, CellState::Done]);
    assert!(
        import.write(&directory.0.path().join("run"), &session()).is_err(),
        "a run is never overwritten"
    );
}

#[test]
fn lines_of_a_log_are_read_without_its_front() {
    let directory = Directory::new();
    let dd = "16+0 records in\n16+0 records out\n1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 MB/s\n";
    let report = fio("4k", 100.0).replace(",\"", ",\n  \"");
    for (name, text) in [("dd-read.txt", dd), ("fio.json", report.as_str())] {
        let plain = directory.file(name, text);
        let logged: String =
            text.lines().enumerate().map(|(n, l)| format!("12:00:{n:02} INFO | {l}\n")).collect();
        let logged = directory.file(&format!("log-{name}"), logged);
        let quoted: String = text.lines().map(|line| format!("    {line}\n")).collect();
        let quoted = directory.file(&format!("quoted-{name}"), quoted);
        let figures = |file: PathBuf| {
            let request = ImportRequest { files: vec![file], ..ImportRequest::default() };
            let import = Import::read(&request).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(import.cells.len(), 1, "{name}");
            import.cells[0].result.as_ref().expect("a sample").sample().steps.clone()
        };
        let expected = figures(plain);
        assert_eq!(figures(logged), expected, "{name}");
        assert_eq!(figures(quoted), expected, "{name}");
    }
}

#[test]
fn texts_of_windows_are_read() {
    let directory = Directory::new();
    let text = "real 1.50\r\nuser 0.00\r\nsys 0.00\r\n";
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let utf8 = [b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat();
    for (name, bytes) in [("a.txt", utf16), ("b.txt", utf8)] {
        let request =
            ImportRequest { files: vec![directory.file(name, bytes)], ..ImportRequest::default() };
        let import = Import::read(&request).expect("imported");
        let sample = import.cells[0].result.as_ref().expect("a sample").sample();
        assert_eq!(sample.steps[0].figures[0].elapsed_ns, 1_500_000_000);
    }
}

#[test]
fn what_several_programs_printed_into_one_file_is_all_read() {
    let directory = Directory::new();
    let dd = "$ dd if=/dev/zero of=x bs=1M count=100\n100+0 records in\n100+0 records out\n\
              104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s\n";
    let hdparm =
        "/dev/sda:\n Timing buffered disk reads: 600 MB in  3.00 seconds = 200.00 MB/sec\n";
    let fio = fio("4k", 1000.0);
    for text in [format!("{dd}{hdparm}{fio}\n"), format!("{hdparm}{fio}\n\n{dd}")] {
        let file = directory.file("all.txt", &text);
        let stack = Some("ext4".to_owned());
        let request = ImportRequest { files: vec![file], stack, ..ImportRequest::default() };
        let import = Import::read(&request).expect("read");
        let mut workloads: Vec<String> =
            import.cells.iter().map(|cell| cell.cell.levels.workload.clone()).collect();
        workloads.sort();
        assert_eq!(workloads, ["dd-write-1M", "hdparm", "randread"], "{text}");
        assert!(import.about.contains("fio-json, hdparm, dd"), "{}", import.about);
    }
    // A note says what cannot be read.
    let wrong = hdparm.replace("200.00", "20.00");
    let file = directory.file("wrong.txt", format!("{wrong}{fio}\n"));
    let stack = Some("ext4".to_owned());
    let request = ImportRequest { files: vec![file], stack, ..ImportRequest::default() };
    let import = Import::read(&request).expect("read");
    let sample = import.cells[0].result.as_ref().expect("a sample").sample();
    let says_so = |note: &disklab_sample::Note| note.text.contains("(hdparm) was not read: line 2");
    assert!(sample.notes.iter().any(says_so), "{:?}", sample.notes);
}

#[test]
fn drives_under_one_stack_are_no_repeats() {
    let directory = Directory::new();
    let timing = |drive: &str, rate: &str| {
        format!(
            "/dev/{drive}:\n Timing buffered disk reads: 300 MB in  3.00 seconds = {rate} MB/sec\n"
        )
    };
    let (a, b) = (timing("sda", "100.00"), timing("sdb", "100.00"));
    let stacks = |text: String| {
        let files = vec![directory.file("hd.txt", text)];
        let stack = Some("x".to_owned());
        let import = Import::read(&ImportRequest { files, stack, ..ImportRequest::default() });
        let import = import.expect("imported");
        counts(&import).iter().map(|(s, _, n)| format!("{s}: {n}")).collect::<Vec<_>>()
    };
    assert_eq!(stacks(format!("{a}{b}{a}")), ["x/sda: 2", "x/sdb: 1"]);
    assert_eq!(stacks(format!("{a}{a}")), ["x: 2"]);
}

#[test]
fn a_title_names_some_of_many_stacks() {
    let directory = Directory::new();
    let file = |stack| directory.file(&format!("{stack}-randread-0.json"), fio("4k", 1000.0));
    let files = ('a'..='i').map(file).collect();
    let request = ImportRequest { files, ..ImportRequest::default() };
    let import = Import::read(&request).expect("an import");
    assert!(import.counts().len() == 9, "{:?}", import.counts());
    assert_eq!(import.study.title, "Imported: a, b, c, d, e, f and 3 more");
}

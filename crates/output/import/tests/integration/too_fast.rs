//! Imported figures that no such drives can give.

use std::path::Path;

use disklab_audits::{AUDITS, Reproducer, Severity};
use disklab_decision::{Analysis, analyse};
use disklab_import::{Import, ImportRequest, ImportedDrives};
use disklab_published::Catalogue;
use disklab_store::Session;
use disklab_study::Study;

fn analysed(import: &Import, directory: &Path) -> Analysis {
    let session = Session {
        began: jiff::Timestamp::UNIX_EPOCH,
        command: vec!["disklab".to_owned()],
        disklab: "0".to_owned(),
        kernel: String::new(),
    };
    analyse(&import.write(directory, &session).expect("written")).expect("analysed")
}

fn study(name: &str, text: &str) -> Study {
    disklab_study::load(&format!("{name}.toml"), text).expect("valid")
}

/// What `faster-than-drives` says.
fn reported(analysis: &Analysis) -> Vec<&str> {
    let found = analysis.findings.iter().filter(|f| f.audit == "faster-than-drives");
    found.inspect(|f| assert_eq!(f.severity, Severity::Severe)).map(|f| f.text.as_str()).collect()
}

/// Phoronix Test Suite, issue 417: reads from memory, of files on four disks.
const RESULT: &str = "<PhoronixTestSuite><Result><Title>Flexible IO Tester</Title>\
    <Description>Type: Sequential Read - Direct: No - Block Size: 2MB</Description>\
    <Scale>MB/s</Scale><Data><Entry><Identifier>nas</Identifier><Value>11700</Value>\
    <RawString>11650:11700:11750</RawString></Entry></Data></Result></PhoronixTestSuite>";

#[test]
fn phoronix_reads_from_memory_are_reported_if_drives_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("composite.xml");
    std::fs::write(&file, RESULT).expect("a file");
    let of = |drives: Option<&str>, to: &str| {
        let request = ImportRequest {
            files: vec![file.clone()],
            drives: drives.map(|drives| ImportedDrives::parse(drives).expect("valid")),
            ..ImportRequest::default()
        };
        analysed(&Import::read(&request).expect("imported"), &directory.path().join(to))
    };
    let disks = of(Some("hdd:4"), "disks");
    let reported = reported(&disks);
    assert!(
        reported[0].contains("11.7 GB/s from 4 hard disks that can give 1.20 GB/s"),
        "{reported:?}"
    );
    assert!(self::reported(&of(Some("ssd:4"), "ssds")).is_empty());
    let unknown = of(None, "unknown");
    assert!(self::reported(&unknown).is_empty());
    // What the audits' table says of imports.
    for audit in AUDITS.iter().filter(|a| matches!(a.reproducer, Reproducer::Import(_))) {
        assert!(disks.findings.iter().any(|f| f.audit == audit.name), "{}", audit.name);
    }
    let advice = unknown.findings.iter().find(|f| f.audit == "imported").map(|f| &f.advice);
    assert!(advice.is_some_and(|advice| advice.contains("--drives hdd:4")), "{advice:?}");
}

#[test]
fn the_439_mib_per_second_of_xpenology_2023_are_reported() {
    let directory = tempfile::tempdir().expect("a directory");
    let catalogue = Catalogue::shipped().expect("valid");
    let study = study("xpenology-2023", include_str!("../../../../../studies/xpenology-2023.toml"));
    let import = Import::published(&catalogue, study).expect("figures");
    let analysis = analysed(&import, &directory.path().join("run"));
    let reported = reported(&analysis);
    assert!(
        reported.iter().any(|t| t.contains("random reads per second from 2 hard disks")),
        "{reported:?}"
    );
    // What the disks gave in truth is left alone.
    assert!(reported.iter().all(|t| !t.contains("single/ext4")), "{reported:?}");
}

#[test]
fn plausible_rates_of_other_studies_are_clean() {
    let catalogue = Catalogue::shipped().expect("valid");
    for (name, text) in [
        ("synology-2018", include_str!("../../../../../studies/synology-2018.toml")),
        ("btrfs-raid1", include_str!("../../../../../studies/btrfs-raid1.toml")),
        ("smr-2015", include_str!("../../../../../studies/smr-2015.toml")),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let study = study(name, text);
        let import = Import::published(&catalogue, study).expect("figures");
        let analysis = analysed(&import, &directory.path().join("run"));
        assert!(reported(&analysis).is_empty(), "{name}: {:?}", reported(&analysis));
    }
}

/// A report of fio's with one job of these options, in the directions that are given.
fn fio_report(options: &str, directions: &[(&str, f64)]) -> String {
    let parts = directions.iter().map(|(name, iops)| {
        let (ios, bytes) = ((iops * 10.0) as u64, (iops * 40_960.0) as u64);
        format!(
            ", \"{name}\" : {{ \"io_bytes\" : {bytes}, \"io_kbytes\" : {}, \"bw_bytes\" : {}, \
             \"bw\" : {}, \"iops\" : {iops}, \"runtime\" : 10000, \"total_ios\" : {ios} }}",
            bytes / 1024,
            bytes / 10,
            bytes / 10_240
        )
    });
    format!(
        "{{ \"fio version\" : \"fio-3.33\", \"jobs\" : [ {{ \"jobname\" : \"j\", \"error\" : 0, \
         \"job options\" : {{ {options} }}{} }} ], \"disk_util\" : [ {{ \"name\" : \"md0\", \
         \"read_ios\" : 393000, \"write_ios\" : 0, \"read_sectors\" : 3144000, \
         \"write_sectors\" : 0 }} ] }}\n",
        parts.collect::<String>()
    )
}

#[test]
fn mixed_reads_and_commits_that_no_disk_gives_are_reported() {
    let directory = tempfile::tempdir().expect("a directory");
    let mixed = "\"rw\" : \"randrw\", \"bs\" : \"4k\", \"iodepth\" : \"32\", \"direct\" : \"1\"";
    let commits = "\"rw\" : \"write\", \"bs\" : \"4k\", \"fdatasync\" : \"1\"";
    for (name, options, directions, expected) in [
        (
            "mixed",
            mixed,
            &[("read", 39_300.0), ("write", 16_800.0)][..],
            "39300 random reads per second from 4 hard disks",
        ),
        ("commits", commits, &[("write", 2_548.0)], "2548 durable writes per second"),
        ("slow-mixed", mixed, &[("read", 700.0), ("write", 300.0)], ""),
        ("slow-commits", commits, &[("write", 60.0)], ""),
    ] {
        let file = directory.path().join(format!("{name}.json"));
        std::fs::write(&file, fio_report(options, directions)).expect("a file");
        for drives in ["hdd:4", "ssd:4"] {
            let request = ImportRequest {
                files: vec![file.clone()],
                stack: Some("raid5/ext4".to_owned()),
                drives: Some(ImportedDrives::parse(drives).expect("valid")),
                ..ImportRequest::default()
            };
            let to = directory.path().join(format!("{name}-{}", &drives[..3]));
            let analysis = analysed(&Import::read(&request).expect("imported"), &to);
            let reported = reported(&analysis);
            if expected.is_empty() || drives == "ssd:4" {
                assert!(reported.is_empty(), "{name} {drives}: {reported:?}");
            } else {
                assert!(reported.iter().any(|t| t.contains(expected)), "{name}: {reported:?}");
            }
        }
    }
}

#[test]
fn random_reads_that_are_given_by_their_number_alone_are_judged() {
    // qiita-2014: 1,609 a second from one disk, by the memory of the author's host.
    let catalogue = Catalogue::shipped().expect("valid");
    let directory = tempfile::tempdir().expect("a directory");
    let study = study("qiita-2014", include_str!("../../../../../studies/qiita-2014.toml"));
    let import = Import::published(&catalogue, study).expect("figures");
    let analysis = analysed(&import, &directory.path().join("run"));
    let texts = reported(&analysis);
    assert!(texts.iter().any(|t| t.contains("1609 random reads per second")), "{texts:?}");
}

#[test]
fn zeros_by_dd_are_reported_where_the_stack_is_said_to_compress() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("dd.txt");
    let output = "$ dd if=/dev/zero of=/mnt/x bs=1M count=1024 conv=fsync\n1024+0 records in\n\
                  1024+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.5 s, 2.1 GB/s\n";
    std::fs::write(&file, output).expect("a file");
    for (stack, expected) in [("raid5/btrfs[compress=zlib]", 1), ("raid5/btrfs", 0)] {
        let request = ImportRequest {
            files: vec![file.clone()],
            stack: Some(stack.to_owned()),
            ..ImportRequest::default()
        };
        let import = Import::read(&request).expect("imported");
        let analysis = analysed(&import, &directory.path().join(expected.to_string()));
        let found = analysis.findings.iter().filter(|f| f.audit == "zeros-compressed");
        assert_eq!(found.count(), expected, "{stack}: {:#?}", analysis.findings);
    }
}

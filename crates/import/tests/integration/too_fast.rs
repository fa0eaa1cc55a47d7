//! Imported figures that no such drives can give.

use std::path::Path;

use disklab_import::{Drives, Import, Request};
use disklab_published::Catalogue;
use disklab_store::Session;
use disklab_study::Study;
use disklab_verdict::{AUDITS, Analysis, Reproducer, Severity, analyse};

fn analysed(import: &Import, folder: &Path) -> Analysis {
    let session = Session {
        began: jiff::Timestamp::UNIX_EPOCH,
        command: vec!["disklab".to_owned()],
        disklab: "0".to_owned(),
        kernel: String::new(),
    };
    analyse(&import.write(folder, &session).expect("written")).expect("analysed")
}

fn study(name: &str, text: &str) -> Study {
    disklab_study::load(&format!("{name}.toml"), text).expect("valid")
}

/// What `faster-than-drives` says.
fn told(analysis: &Analysis) -> Vec<&str> {
    let found = analysis.findings.iter().filter(|f| f.audit == "faster-than-drives");
    found.inspect(|f| assert_eq!(f.severity, Severity::Severe)).map(|f| f.text.as_str()).collect()
}

/// Phoronix Test Suite, issue 417: reads from memory, of files on four disks.
const RESULT: &str = "<PhoronixTestSuite><Result><Title>Flexible IO Tester</Title>\
    <Description>Type: Sequential Read - Direct: No - Block Size: 2MB</Description>\
    <Scale>MB/s</Scale><Data><Entry><Identifier>nas</Identifier><Value>11700</Value>\
    <RawString>11650:11700:11750</RawString></Entry></Data></Result></PhoronixTestSuite>";

#[test]
fn what_phoronix_read_from_memory_is_told_where_the_drives_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("composite.xml");
    std::fs::write(&file, RESULT).expect("a file");
    let of = |drives: Option<&str>, to: &str| {
        let request = Request {
            files: vec![file.clone()],
            drives: drives.map(|drives| Drives::parse(drives).expect("valid")),
            ..Request::default()
        };
        analysed(&Import::read(&request).expect("imported"), &folder.path().join(to))
    };
    let disks = of(Some("hdd:4"), "disks");
    let told = told(&disks);
    assert!(told[0].contains("11.7 GB/s from 4 hard disks that can give 2.20 GB/s"), "{told:?}");
    assert!(self::told(&of(Some("ssd:4"), "ssds")).is_empty());
    let unknown = of(None, "unknown");
    assert!(self::told(&unknown).is_empty());
    // What the audits' table says of imports.
    for audit in AUDITS.iter().filter(|a| matches!(a.reproducer, Reproducer::Import(_))) {
        assert!(disks.findings.iter().any(|f| f.audit == audit.name), "{}", audit.name);
    }
    let advice = unknown.findings.iter().find(|f| f.audit == "imported").map(|f| &f.advice);
    assert!(advice.is_some_and(|advice| advice.contains("--drives hdd:4")), "{advice:?}");
}

#[test]
fn the_439_mib_per_second_of_xpenology_2023_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalogue = Catalogue::shipped().expect("valid");
    let study = study("xpenology-2023", include_str!("../../../../studies/xpenology-2023.toml"));
    let import = Import::published(&catalogue, study).expect("figures");
    let analysis = analysed(&import, &folder.path().join("run"));
    let told = told(&analysis);
    assert!(
        told.iter().any(|t| t.contains("random reads per second from 2 hard disks")),
        "{told:?}"
    );
    // What the disks gave in truth is left alone.
    assert!(told.iter().all(|t| !t.contains("single/ext4")), "{told:?}");
}

#[test]
fn what_disks_gave_in_the_other_studies_is_left_alone() {
    let catalogue = Catalogue::shipped().expect("valid");
    for (name, text) in [
        ("synology-2018", include_str!("../../../../studies/synology-2018.toml")),
        ("qiita-2014", include_str!("../../../../studies/qiita-2014.toml")),
        ("btrfs-raid1", include_str!("../../../../studies/btrfs-raid1.toml")),
        ("smr-2015", include_str!("../../../../studies/smr-2015.toml")),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let study = study(name, text);
        let import = Import::published(&catalogue, study).expect("figures");
        let analysis = analysed(&import, &folder.path().join("run"));
        assert!(told(&analysis).is_empty(), "{name}: {:?}", told(&analysis));
    }
}

#[test]
fn zeros_by_dd_are_told_where_the_stack_is_said_to_compress() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("dd.txt");
    let output = "$ dd if=/dev/zero of=/mnt/x bs=1M count=1024 conv=fsync\n1024+0 records in\n\
                  1024+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.5 s, 2.1 GB/s\n";
    std::fs::write(&file, output).expect("a file");
    for (stack, expected) in [("raid5/btrfs[compress=zlib]", 1), ("raid5/btrfs", 0)] {
        let request = Request {
            files: vec![file.clone()],
            stack: Some(stack.to_owned()),
            ..Request::default()
        };
        let import = Import::read(&request).expect("imported");
        let analysis = analysed(&import, &folder.path().join(expected.to_string()));
        let found = analysis.findings.iter().filter(|f| f.audit == "zeros-compressed");
        assert_eq!(found.count(), expected, "{stack}: {:#?}", analysis.findings);
    }
}

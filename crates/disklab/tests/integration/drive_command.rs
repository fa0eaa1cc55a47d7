//! `disklab drive`, as a user calls it.

use std::fs;

use assert_cmd::Command;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

fn disklab(arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("disklab").expect("the program").arg("drive").args(arguments).assert()
}

#[test]
fn a_drive_is_shown_next_to_theory_and_drawn() {
    let directory = tempfile::tempdir().expect("a directory");
    let pictures = directory.path().join("pictures");
    let to = pictures.to_str().expect("a name");
    disklab(&["barracuda-500gb", "--svg", to])
        .success()
        .stdout(contains("Service time over seek distance").and(contains("met")));
    for chart in ["seek", "position", "depth", "span", "destage"] {
        let svg = fs::read_to_string(pictures.join(format!("{chart}.svg"))).expect(chart);
        assert!(svg.starts_with("<svg"), "{chart}");
    }
}

#[test]
fn a_drive_file_has_a_page_and_json() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_, text) = disklab_drive::SHIPPED[3];
    let text = text.replacen("id = \"st3500418as\"", "id = \"mine\"", 1);
    let (file, pages) = (directory.path().join("mine.toml"), directory.path().join("pages"));
    fs::write(&file, text).expect("written");
    let names = [&file, &pages].map(|path| path.to_str().expect("a name"));
    let output = disklab(&[names[0], "--pages", names[1], "--json"]).success();
    let json: serde_json::Value =
        serde_json::from_slice(&output.get_output().stdout).expect("JSON");
    assert_eq!(json["id"], "mine");
    assert!(json["checks"].as_array().expect("checks").len() > 3);
    assert_eq!(json["parameters"][0]["name"], "capacity");
    let page = fs::read_to_string(pages.join("mine.md")).expect("a page");
    assert!(page.contains("mine/seek.svg") && pages.join("mine/seek.svg").exists());
}

#[test]
fn usage_errors_are_reported_before_anything_is_written() {
    disklab(&["no-such-drive"]).code(2).stderr(contains("unknown drive model"));
    disklab(&[]).code(2).stderr(contains("DRIVE"));
    disklab(&["--svg", "x"]).code(2);
    disklab(&["hgst-10tb", "--svg", "/proc/no/such"]).code(2).stderr(contains("cannot make"));
}

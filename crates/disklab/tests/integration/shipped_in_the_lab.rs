//! The run that comes with disklab is measured again where kernel and programs are the same.

use crate::command_support::disklab;
use crate::lab_support::kernel::kernel;
use disklab_lab_kernel::KERNEL_VARIABLE;
use serde_json::Value;

#[test]
fn shipped_figures_are_the_same_to_the_digit() {
    let Some(kernel) = kernel() else { return };
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let mut run = disklab(home);
    run.args(["run", "first-look", "--seed", "1", "--repeats", "1", "--out", "run"]);
    // Severe findings, about one repeat, give 1.
    run.env(KERNEL_VARIABLE, kernel).assert().code(vec![0, 1]);
    let compared = disklab(home).args(["--json", "shipped", "--against", "run"]).output();
    let compared: Value =
        serde_json::from_slice(&compared.expect("run").stdout).expect("differences as JSON");
    let causes = compared["causes"].as_array().expect("causes");
    if let Some(cause) = causes.first() {
        eprintln!("skipped: needs {} as in the shipped run: {cause}", cause["what"]);
        return;
    }
    assert_eq!(compared["differing"], 0, "{compared:#}");
    let missing = compared["missing"].as_u64().expect("a number");
    let cells = compared["cells"].as_u64().expect("a number");
    assert_eq!(missing * 6, cells * 5, "one block of six is measured: {compared:#}");
}

#[test]
fn shipped_run_is_shown_without_a_kernel() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let mut show = disklab(home);
    show.env("XDG_CACHE_HOME", home).env_remove(KERNEL_VARIABLE);
    let shown = show.args(["shipped", "--out", "shown"]).assert().success();
    let text = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
    assert!(text.contains("come with disklab") && text.contains("Btrfs RAID 10"), "{text}");
    assert!(text.contains("building the lab's kernel, about"), "{text}");
    // What names this machine's paths may be longer.
    let lines = text.lines().filter(|line| !line.contains("report.html"));
    let widest = lines.max_by_key(|line| line.chars().count()).expect("lines");
    assert!(widest.chars().count() <= 80, "{widest}");
    assert!(home.join("shown/report.html").is_file());
    let again = disklab(home).args(["shipped", "--against", "shown"]).assert().success();
    let text = String::from_utf8_lossy(&again.get_output().stdout).into_owned();
    assert!(text.starts_with("All ") && text.contains("same to the digit"), "{text}");
    // Nothing of it is replaced.
    disklab(home).args(["shipped", "--out", "shown"]).assert().code(2);
}

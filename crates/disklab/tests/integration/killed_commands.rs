//! What is made as a whole is there whole or not at all, whenever the command is killed; and the
//! same command makes it then.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use disklab_cell::Cell;
use disklab_sample::Sample;
use disklab_store::{CellState, Run, StoreError};

/// Moments of one run at which the command is killed, one by one.
const MOMENTS: u32 = 8;

fn start(home: &Path, words: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("disklab"))
        .args(words)
        .current_dir(home)
        .env("XDG_STATE_HOME", home)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started")
}

/// When a command is killed.
enum Moment {
    After(Duration),
    /// When there is this file or directory.
    At(PathBuf),
}

/// Runs the command and kills it. False if it ended before.
fn kill(home: &Path, words: &[&str], moment: &Moment) -> bool {
    let began = Instant::now();
    let mut child = start(home, words);
    loop {
        let is_due = match moment {
            Moment::After(time) => began.elapsed() >= *time,
            Moment::At(path) => path.exists(),
        };
        if is_due {
            child.kill().expect("killed");
            return !child.wait().expect("ended").success();
        }
        if child.try_wait().expect("looked at").is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Kills a command that makes the run `to` of so many cells, all of which are done.
fn check(home: &Path, words: &[&str], to: &Path, cells: usize) {
    let whole = || match Run::open(to) {
        Err(StoreError::NoRun(_)) => false,
        Err(error) => panic!("{error}"),
        Ok(run) => {
            let records = run.cells().expect("cells");
            assert_eq!(records.len(), cells, "a part passes for the whole");
            assert!(records.iter().all(|r| r.state == CellState::Done), "some wait");
            assert!(!run.sessions().expect("sessions").is_empty());
            let mut samples = 0;
            run.for_each_sample(|_, _| samples += 1).expect("samples");
            assert_eq!(samples, cells);
            true
        }
    };
    let began = Instant::now();
    assert!(start(home, words).wait().expect("ended").code().is_some_and(|code| code < 2));
    let takes = began.elapsed();
    assert!(whole());
    let files = ["run.sqlite.new", "run.sqlite.new-journal", "raw", "report.html", "report.md"];
    let moments = files.into_iter().map(|name| Moment::At(to.join(name)));
    let moments = moments.chain((0..MOMENTS).map(|n| Moment::After(takes * n / MOMENTS)));
    let mut killed = 0;
    for moment in moments {
        std::fs::remove_dir_all(to).expect("removed");
        killed += u32::from(kill(home, words, &moment));
        if whole() {
            continue;
        }
        let code = start(home, words).wait().expect("ended").code();
        assert!(code.is_some_and(|code| code < 2), "{words:?} is refused again: {code:?}");
        assert!(whole());
        let left: Vec<String> = std::fs::read_dir(to)
            .expect("read")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.starts_with("run.sqlite.") || name.ends_with(".part"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
    assert!(killed > 3, "{killed}");
}

#[test]
fn import_is_whole_or_not_at_all() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let mut words = vec!["import".to_owned()];
    for n in 0..40 {
        let name = format!("ext4-dd-{n}.txt");
        let text = format!("1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.0{n:02}1 s, {:.1} MB/s\n", {
            1.048_576 / f64::from(n * 10 + 1) * 1e4
        });
        std::fs::write(home.join(&name), text).expect("written");
        words.push(name);
    }
    words.extend(["--to", "run"].map(str::to_owned));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    check(home, &words, &home.join("run"), 40);
}

/// A run of the lab, and two parts of it.
fn parts(home: &Path) -> usize {
    let shipped = ["shipped", "first-look", "--out", "whole"];
    assert!(start(home, &shipped).wait().expect("ended").code().is_some_and(|code| code < 2));
    let whole = Run::open(&home.join("whole")).expect("a run");
    let info = whole.info().expect("info");
    let mut samples: Vec<(Cell, Sample)> = Vec::new();
    whole
        .for_each_sample(|record, sample| samples.push((record.cell.clone(), sample)))
        .expect("samples");
    // The report of all takes longer, and shows no more.
    samples.truncate(24);
    for (index, name) in ["a", "b"].into_iter().enumerate() {
        let own: Vec<&(Cell, Sample)> = samples.iter().skip(index).step_by(2).collect();
        let cells: Vec<Cell> = own.iter().map(|(cell, _)| cell.clone()).collect();
        let mut part = Run::create(&home.join(name), &info, &cells).expect("a part");
        part.begin_session(&disklab_runner::session()).expect("a session");
        for cell in &cells {
            std::fs::write(part.begin_cell(cell).expect("begun").join("out"), "raw").expect("raw");
        }
        part.record_all(own.iter().map(|(cell, sample)| (cell, Ok(sample)))).expect("recorded");
    }
    samples.len()
}

#[test]
fn merge_is_whole_or_not_at_all_and_report_leaves_no_part() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    let cells = parts(home);
    check(home, &["merge", "a", "b", "--to", "merged"], &home.join("merged"), cells);
    let began = Instant::now();
    let words = ["report", "merged", "--out", "page.html"];
    assert!(start(home, &words).wait().expect("ended").success());
    let takes = began.elapsed();
    // The end, when it is written, more often than the rest.
    for n in 0..2 * MOMENTS {
        kill(home, &words, &Moment::After(takes.mul_f64(1.1 - 0.03 * f64::from(n))));
        let page = std::fs::read_to_string(home.join("page.html")).expect("a page");
        assert!(page.trim_end().ends_with("</html>"), "half a page");
    }
    assert!(start(home, &words).wait().expect("ended").success());
    let entries = std::fs::read_dir(home).expect("read").flatten();
    let parts = entries.filter(|e| e.file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(parts.count(), 0);
}

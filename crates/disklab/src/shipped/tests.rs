use super::*;
use disklab_report::{Report, TextStyle, first_screen};
use disklab_runner::find_study;

fn first_look() -> ShippedRun {
    ShippedRun::find("first-look").unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn shipped_run_is_of_the_study_as_it_is_shipped() {
    for file in RUNS {
        let shipped = file.read().unwrap_or_else(|e| panic!("{e}"));
        let study = find_study(file.study).unwrap_or_else(|e| panic!("{e}")).study;
        assert_eq!(shipped.info.study, file.study);
        // "Debian 13" and "Debian GNU/Linux 13 (trixie)".
        let made_on = shipped.info.environment.distribution.unwrap_or_default();
        let made_on = made_on.replace("GNU/Linux ", "");
        assert!(made_on.starts_with(file.distribution), "{made_on}");
        assert_eq!(shipped.info.study_text, study.source.text, "make shipped-run renews it");
        assert_eq!(shipped.info.repeats, study.repeats);
        let cells: Vec<u32> = shipped.samples.iter().map(|(cell, _)| cell.number).collect();
        assert!(cells.iter().copied().eq(0..cells.len() as u32) && !cells.is_empty());
        let options = shipped.info.options.listed();
        assert!(matches!(options.as_slice(), [(name, _)] if name == "memory"), "{options:?}");
    }
}

#[test]
fn shipped_run_is_written_as_it_is_read_and_closest_to_itself() {
    for file in RUNS {
        let directory = tempfile::tempdir().expect("temp");
        let shipped = file.read().unwrap_or_else(|e| panic!("{e}"));
        let run = shipped.restore(directory.path()).unwrap_or_else(|e| panic!("{e}"));
        let text = write(&run).unwrap_or_else(|e| panic!("{e}"));
        assert!(text == file.text, "its text is another one than that of {}", file.distribution);
        let closest = ShippedRun::closest(file.study, &run).unwrap_or_else(|e| panic!("{e}"));
        let differences = ShippedDifferences::between(&closest, &run);
        let differences = differences.unwrap_or_else(|e| panic!("{e}"));
        assert!(differences.none() && differences.causes.is_empty(), "{differences:?}");
        let line = &differences.lines()[0];
        assert!(line.contains("same to the digit"), "{line}");
        assert!(line.ends_with(&format!("made with {}'s programs.", file.distribution)), "{line}");
    }
}

#[test]
fn a_figure_that_differs_is_counted_and_its_cause_is_named() {
    let shipped = first_look();
    let mut other = shipped.clone();
    other.samples[3].1.steps[0].figures[0].elapsed_ns += 1;
    let compare = |other: &ShippedRun| {
        let directory = tempfile::tempdir().expect("temp");
        let run = other.restore(directory.path()).unwrap_or_else(|e| panic!("{e}"));
        ShippedDifferences::between(&shipped, &run)
    };
    let found = compare(&other).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.differing(), 1);
    assert_eq!(found.by_stack.keys().next(), Some(&shipped.samples[3].0.levels.stack));
    assert!(found.unexplained() && found.largest > 0.0);
    assert!(found.lines()[1].contains("please report it"));

    let tools = &mut other.info.environment.tools;
    assert!(tools.iter().all(|tool| tool.name != "smartctl"), "the study does without");
    let tool = tools.iter_mut().find(|tool| tool.name == "mkfs.ext4").expect("used");
    tool.version = "9.9".to_owned();
    let found = compare(&other).unwrap_or_else(|e| panic!("{e}"));
    assert!(!found.unexplained());
    let causes: Vec<String> = found.causes.iter().map(|c| c.what.to_string()).collect();
    assert_eq!(causes, ["mkfs.ext4"]);

    other.info.seed += 1;
    let error = compare(&other).expect_err("another seed").to_string();
    assert!(error.contains("another seed"), "{error}");
}

#[test]
fn unknown_study_and_broken_lines_are_named() {
    let error = ShippedRun::find("nas").expect_err("none").to_string();
    assert!(error.contains("known: first-look"), "{error}");
    let (info, cells) = RUNS[0].text.split_once('\n').expect("lines");
    let first = cells.lines().next().expect("a cell");
    assert_eq!(text::read(&format!("{info}\n{first}\n")).expect("one").1.len(), 1);
    for (wrong, line) in [
        (String::new(), 1),
        (format!("{info}\n{{}}\n"), 2),
        (format!("{info}\n{first}\n{}\n", &first[..20]), 3),
    ] {
        let error = text::read(&wrong).expect_err("broken");
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().starts_with(&format!("line {line}: ")), "{error}");
    }
}

/// They are of the same cells and the same disklab: what is left are Debian's programs.
#[test]
fn shipped_runs_of_a_study_differ_by_their_programs_only() {
    let runs = ShippedRun::all("first-look").unwrap_or_else(|e| panic!("{e}"));
    let first = &runs[0];
    for other in &runs[1..] {
        let directory = tempfile::tempdir().expect("temp");
        let run = other.restore(directory.path()).unwrap_or_else(|e| panic!("{e}"));
        let found = ShippedDifferences::between(first, &run).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((found.cells, found.missing), (first.samples.len(), 0));
        assert!(found.differing() > 0, "one of the two would do");
        let causes: Vec<String> = found.causes.iter().map(|c| c.what.to_string()).collect();
        assert!(causes.iter().any(|cause| cause == "mkfs.xfs"), "{causes:?}");
        assert!(!causes.iter().any(|cause| cause == "disklab"), "renew both: {causes:?}");
        assert_eq!(answers(first), answers(other));
    }
}

/// What a run recommends, without figures. Of stacks without a difference, any may be named first.
fn answers(shipped: &ShippedRun) -> Vec<String> {
    let directory = tempfile::tempdir().expect("temp");
    let run = shipped.restore(directory.path()).unwrap_or_else(|e| panic!("{e}"));
    let report = Report::gather(&run).unwrap_or_else(|e| panic!("{e}"));
    let screen = first_screen(&report, "report.html", TextStyle::default());
    let (table, _) = screen.split_once("\nSpeed").expect("a picture");
    let decided = table.lines().filter(|line| !line.contains(", or "));
    decided.filter_map(|line| line.get(..46)).map(str::to_owned).collect()
}

#[test]
fn answers_stay_on_a_terminal_of_24_rows() {
    let directory = tempfile::tempdir().expect("temp");
    let run = first_look().restore(directory.path()).unwrap_or_else(|e| panic!("{e}"));
    let report = Report::gather(&run).unwrap_or_else(|e| panic!("{e}"));
    let on =
        |rows| first_screen(&report, "report.html", TextStyle { rows, ..TextStyle::default() });
    let short = on(Some(24));
    assert!(short.lines().count() <= 20, "more than 24 less what follows:\n{short}");
    assert!(short.contains("One drive may fail") && short.contains("Films and photos"), "{short}");
    assert!(!short.contains('█') && short.contains("see the page"), "{short}");
    let long = on(None);
    assert!(long.contains('█') && long.contains("No drive may fail") && long.lines().count() <= 40);
    assert_eq!(on(Some(60)), long);
    // What does not fit in any case is shown all the same.
    assert!(on(Some(1)).contains("One drive may fail"));
}

#[test]
fn answers_fit_a_narrow_terminal() {
    let directory = tempfile::tempdir().expect("temp");
    let run = first_look().restore(directory.path()).unwrap_or_else(|e| panic!("{e}"));
    let report = Report::gather(&run).unwrap_or_else(|e| panic!("{e}"));
    let on = |columns, rows| {
        let style = TextStyle { columns, rows, ..TextStyle::default() };
        first_screen(&report, "report.html", style)
    };
    for columns in [32_u16, 40, 60, 79] {
        let text = on(Some(columns), None);
        let wide = text.lines().filter(|line| line.chars().count() > usize::from(columns));
        // An option and its value are not parted.
        let wide: Vec<_> = wide.filter(|line| !line.contains("--on disks:")).collect();
        assert!(wide.is_empty(), "more than {columns} columns: {wide:#?}");
        for part in ["Films and photos:", "Btrfs RAID 10", "20 TB, ", "report.html"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
    assert!(!on(Some(32), None).contains('█') && on(Some(60), Some(80)).contains('█'));
    assert_eq!(on(Some(80), None), on(None, None));
    assert_eq!(on(Some(200), None), on(None, None));
    let short = on(Some(60), Some(24));
    let from_answers = short.lines().skip_while(|line| !line.contains("may fail")).count();
    assert!(from_answers <= 20, "answers scroll away:\n{short}");
}

/// The README shows the program's own words, up to what differs from machine to machine. After
/// `make shipped-run`, which does it: UPDATE=1 cargo test -p disklab --bins readme
#[test]
fn readme_shows_what_the_shipped_run_prints() {
    let directory = tempfile::tempdir().expect("temp");
    let run = first_look().restore(directory.path()).unwrap_or_else(|e| panic!("{e}"));
    let report = Report::gather(&run).unwrap_or_else(|e| panic!("{e}"));
    let screen = first_screen(&report, "report.html", TextStyle::default());
    let (screen, _) = screen.split_once("\nNext\n").expect("what one can do next");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(&path).expect("README.md");
    let block = |text: &str| format!("```\n{}\n```\n", text.trim_end());
    let begin = readme.find("```\nFirst look: ").expect("its block");
    let end = begin + readme[begin..].find("\n```\n").expect("its end") + "\n```\n".len();
    if std::env::var_os("UPDATE").is_some() {
        let text = format!("{}{}{}", &readme[..begin], block(screen), &readme[end..]);
        std::fs::write(&path, text).expect("written");
        return;
    }
    assert_eq!(&readme[begin..end], block(screen), "UPDATE=1 writes it");
}

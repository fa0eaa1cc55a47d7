//! Names and texts that look like markup stay text in every form.

use disklab_cell::PlannedLayer;
use disklab_report::{Report, ReportFormat, render};
use disklab_sample::MountState;
use disklab_source::is_hidden;
use proptest::prelude::*;

use crate::{markdown, wellformed};

/// A report in which every text is `nasty`.
fn poisoned(nasty: &str) -> Report {
    let mut report = crate::small();
    let set = |text: &mut String| nasty.clone_into(text);
    let info = &mut report.info;
    for text in [
        &mut info.title,
        &mut info.bench_about,
        &mut info.study,
        &mut info.study_file,
        &mut info.study_text,
        &mut info.disklab,
        &mut info.environment.kernel,
    ] {
        set(text);
    }
    info.environment.distribution = Some(nasty.to_owned());
    info.environment.extra.insert(nasty.to_owned(), nasty.to_owned());
    info.options.processor = Some(nasty.to_owned());
    info.options.set_drive = vec![nasty.to_owned()];
    for out in &mut info.left_out {
        (out.why, out.stack) = (nasty.to_owned(), Some(nasty.to_owned()));
    }
    for stack in &mut info.stacks {
        set(&mut stack.id);
        let options = vec![(nasty.to_owned(), Some(nasty.to_owned()))];
        stack.layers = vec![PlannedLayer { name: nasty.to_owned(), options, inputs: Vec::new() }];
    }
    for cell in report.cells.iter_mut().filter(|c| c.error.is_some()).chain([]) {
        cell.error = Some(nasty.to_owned());
    }
    report.cells[0].state = disklab_store::CellState::Failed;
    report.cells[0].error = Some(nasty.to_owned());
    set(&mut report.cells[0].cell.levels.stack);
    report.sessions[0].command = vec![nasty.to_owned(); 2];
    set(&mut report.study.about);
    let analysis = &mut report.analysis;
    analysis.summary.iter_mut().for_each(set);
    for group in &mut analysis.groups {
        set(&mut group.key.levels.workload);
        set(&mut group.key.step);
        group.key.levels.stack.push_str(nasty);
        for o in &mut group.observations {
            o.drives.iter_mut().for_each(|d| set(&mut d.drive));
        }
    }
    analysis.sentences.iter_mut().flatten().for_each(set);
    for answer in &mut analysis.answers {
        set(&mut answer.question.ask);
        for point in &mut answer.points {
            point.layout.push_str(nasty);
            point.file_system.push_str(nasty);
            set(&mut point.figure);
            point.x = point.x.as_ref().map(|x| format!("{x}{nasty}"));
        }
        for c in &mut answer.comparisons {
            set(&mut c.stack);
            set(&mut c.baseline);
        }
    }
    for finding in &mut analysis.findings {
        set(&mut finding.text);
        set(&mut finding.advice);
    }
    let facts = &mut report.facts;
    for note in &mut facts.notes {
        set(&mut note.note.about);
        set(&mut note.note.text);
    }
    for drive in &mut facts.drives {
        set(&mut drive.drive);
        drive.model = Some(nasty.to_owned());
        drive.smart = Some(serde_json::json!({ nasty: nasty }));
    }
    facts.tools.iter_mut().for_each(|t| set(&mut t.version));
    let [source, directory, kind] = [nasty; 3].map(str::to_owned);
    let mount = MountState { source, directory, kind, options: vec![nasty.to_owned()] };
    facts.mounts.iter_mut().for_each(|m| m.mounts.push(mount.clone()));
    facts.overheads.iter_mut().for_each(|o| set(&mut o.stack));
    facts.traces.truncate(3);
    for trace in &mut facts.traces {
        set(&mut trace.workload);
        trace.entries[0].argv = vec![nasty.to_owned(); 2];
        trace.entries[0].cwd = Some(nasty.to_owned());
        set(&mut trace.entries[0].status);
    }
    report
}

fn check(nasty: &str) {
    let report = poisoned(nasty);
    wellformed::check(&render(&report, ReportFormat::Html));
    let md = render(&report, ReportFormat::Markdown);
    markdown::check_tables(&md);
    let json = render(&report, ReportFormat::Json);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["run"]["title"], nasty);
    for format in ReportFormat::WORDS.map(|(_, format)| format) {
        let text = render(&report, format).replace("\r\n", "\n");
        assert_eq!(text.chars().find(|c| is_hidden(*c)), None, "{format:?} of {nasty:?}");
    }
    let csv = render(&report, ReportFormat::Csv);
    assert_eq!(fields_per_line(&csv), vec![24; report_lines(&report)]);
}

fn report_lines(report: &Report) -> usize {
    1 + report.analysis.groups.iter().map(|g| g.observations.len()).sum::<usize>()
}

/// How many fields each record of a CSV file has, after RFC 4180.
fn fields_per_line(csv: &str) -> Vec<usize> {
    let (mut records, mut fields, mut quoted) = (Vec::new(), 1, false);
    let mut characters = csv.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields += 1,
            '\r' if !quoted && characters.peek() == Some(&'\n') => {
                characters.next();
                records.push(fields);
                fields = 1;
            }
            _ => {}
        }
    }
    records
}

#[test]
fn markup_in_names_is_text() {
    for nasty in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "a|b`c``d\ne\r\n| f |",
        "</title></style></pre><!-- ",
        "[x](javascript:alert(1)) ![y](http://z/) <http://z/>",
        "=1+1,\"\",",
        "\u{202e}\u{0}\t",
        "",
    ] {
        check(nasty);
    }
}

#[test]
fn markdown_has_no_live_markup() {
    let md = render(&poisoned("<script>*x*[y](z)|`"), ReportFormat::Markdown);
    // Within code spans everything is text; the command is in one.
    let outside = md.lines().filter(|l| !l.starts_with('`') && !l.starts_with("Study"));
    for line in outside {
        assert!(!line.contains("<script>"), "{line}");
        assert!(!line.contains("[y](z)"), "{line}");
    }
}

#[test]
fn control_characters_are_escaped_in_every_format() {
    let nasty = "a\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}txt\u{200b}\rb";
    check(nasty);
    let html = render(&poisoned(nasty), ReportFormat::Html);
    assert!(html.contains("\\u{202e}txt"), "not a character is lost");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_text_stays_text(nasty in "[<>&\"'|`\\\\,\r\n\\[\\]()*_#=a-c \u{0}\u{2028}-]{0,24}") {
        check(&nasty);
    }
}

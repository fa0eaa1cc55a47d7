//! The first screen on a terminal: some forty lines of eighty columns.

use disklab_audits::Severity;
use disklab_store::CellState;
use disklab_units::{count, scale_words};

use super::answers::answers;
use super::lines::{Face, LINES, SCREEN_WIDTH, ScreenLine, TextStyle, column, right, wrapped};
use super::{FirstScreen, NextStep, SpeedBasis, StackLine, findings, next_steps, space};
use crate::Report;
use crate::view::manner;

/// Stacks in the bars.
const BARS: usize = 14;
/// Severe findings that are listed.
const SEVERE: usize = 3;
/// The screen of a run whose page is at `page`. Nothing in it but what `style` asks for acts
/// on a terminal.
pub fn first_screen(report: &Report, page: &str, style: TextStyle) -> String {
    let screen = FirstScreen::of(report);
    let text = |lines: Vec<ScreenLine>| {
        lines.iter().map(|line| line.shown(style) + "\n").collect::<String>()
    };
    let width = style.width();
    let mut parts = vec![head(report, width)];
    let mut bars = bars(&screen, width);
    let mut notes = notes(report, width);
    let mut steps = next_steps(report, &screen, page);
    let mut next = self::next(&steps, width);
    let room = style.lines().saturating_sub(parts[0].len() + notes.len() + next.len() + 3);
    let mut answers = answers(&screen, room.saturating_sub(bars.len()), width);
    let is_short =
        style.lines() < LINES && answers.len() + bars.len() > room && !answers.is_empty();
    if is_short {
        bars = ScreenLine::soft_wrapped("Speed and space of all stacks: see the page.", width);
        answers = self::answers(&screen, room.saturating_sub(bars.len()), width);
    }
    if !screen.has_whole_answers() || style.verbose {
        parts.push(sentences(report, width));
    }
    if notes.is_empty() && report.analysis.findings.is_empty() {
        let none = wrapped("No finding makes a figure suspect.", width);
        notes.extend(none.iter().map(|line| ScreenLine::plain(line)));
    }
    if is_short {
        // Without the empty lines in between.
        answers.append(&mut bars);
        answers.append(&mut notes);
        let others = parts[0].len() + answers.len() + 2;
        while others + next.len() > style.lines() && steps.len() > 1 {
            steps.pop();
            next = self::next(&steps, width);
        }
    }
    if !answers.is_empty() {
        parts.insert(1, answers);
    }
    parts.extend([bars, notes, next]);
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).map(text).collect();
    parts.join("\n")
}

/// The title, and what it rests on at the right.
fn head(report: &Report, width: usize) -> Vec<ScreenLine> {
    let mut rest = format!("{} · {}", manner(&report.info), cells(report));
    if report.info.is_quick() {
        rest.push_str(" · quick");
    }
    if let Some(levels) = crate::axes::levels(report) {
        rest.push_str(&format!(" · {levels}"));
    }
    if report.info.scale != 1.0 {
        rest.push_str(&format!(" · scale {}", scale_words(report.info.scale)));
    }
    let title = &report.info.title;
    let length = title.chars().count();
    let gap = width.saturating_sub(length + rest.chars().count());
    if gap < 2 {
        let mut lines: Vec<ScreenLine> =
            wrapped(title, width).iter().map(|l| ScreenLine::bold(l)).collect();
        lines.extend(ScreenLine::soft_wrapped(&rest, width));
        return lines;
    }
    vec![ScreenLine::of(vec![
        (Face::Bold, title.clone()),
        (Face::Soft, format!("{}{rest}", " ".repeat(gap))),
    ])]
}

/// How many cells are done, and of how many and how many failed if that is not all.
fn cells(report: &Report) -> String {
    let all = report.cells.len();
    let are = |state: CellState| report.cells.iter().filter(|c| c.state == state).count();
    let done = are(CellState::Done);
    if done == all {
        return count(done, "cell");
    }
    match are(CellState::Failed) {
        0 => format!("{done} of {}", count(all, "cell")),
        failed => format!("{done} of {}, {failed} failed", count(all, "cell")),
    }
}

/// The bars: all stacks by speed, with their space.
fn bars(screen: &FirstScreen<'_>, width: usize) -> Vec<ScreenLine> {
    let mut stacks: Vec<(&StackLine, f64)> =
        screen.stacks.iter().filter_map(|stack| Some((stack, stack.speed?))).collect();
    stacks.sort_by(|a, b| b.1.total_cmp(&a.1));
    if stacks.len() < 2 {
        return Vec::new();
    }
    let shown = stacks.len().min(BARS);
    let label = stacks[..shown].iter().map(|(s, _)| s.label.chars().count()).max().unwrap_or(0);
    let label = label.min(24);
    let basis = &screen.speed_of;
    let best = if matches!(basis, SpeedBasis::Time(..)) { "" } else { ", best = 100 %" };
    let title = format!("{}, {}{best}", basis.heading(), basis.text());
    let slowest = stacks.last().map_or(1.0, |(_, speed)| *speed);
    let figures = stacks[..shown].iter().map(|(_, speed)| basis.figure(*speed).chars().count());
    let digits = figures.max().unwrap_or(0).max(3) + 1;
    let mut lines: Vec<ScreenLine> =
        wrapped(&title, width).iter().map(|l| ScreenLine::bold(l)).collect();
    let width = width.saturating_sub(2 + label + 9 + 2 + 2 + digits);
    for (stack, speed) in &stacks[..shown] {
        let name = column(&stack.label, label);
        let usable = right(&space(stack.usable), 9);
        let figure = right(&basis.figure(*speed), digits);
        lines.push(ScreenLine::plain(&if width >= 4 {
            format!("  {name}{usable}  {} {figure}", bar(basis.length(*speed, slowest), width))
        } else {
            format!("  {name}{usable}{figure}")
        }));
    }
    if stacks.len() > shown {
        let rest = count(stacks.len() - shown, "slower one");
        lines.push(ScreenLine::soft(&format!("  and {rest}: see the page")));
    }
    lines
}

/// A bar of eighths of a column, filled up with blanks.
fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let text = format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8]);
    column(&text, width)
}

/// What is severe, and how many findings there are besides.
fn notes(report: &Report, width: usize) -> Vec<ScreenLine> {
    let (severe, others) = findings(report);
    let mut lines = Vec::new();
    let all = &report.analysis.findings;
    for finding in all.iter().filter(|f| f.severity == Severity::Severe).take(SEVERE) {
        for (n, line) in wrapped(&finding.text, width - 2).iter().enumerate() {
            let mark = if n == 0 { "! " } else { "  " };
            lines.push(ScreenLine::of(vec![
                (Face::Severe, mark.to_owned()),
                (Face::Plain, line.clone()),
            ]));
        }
    }
    if severe > SEVERE {
        lines.push(ScreenLine::plain(&format!("  {} more severe findings.", severe - SEVERE)));
    }
    if others > 0 {
        let text = if severe > 0 {
            format!("{} besides: see the page.", disklab_units::count(others, "finding"))
        } else {
            format!("{}, none severe: see the page.", disklab_units::count(others, "finding"))
        };
        lines.extend(wrapped(&text, width).iter().map(|line| ScreenLine::plain(line)));
    }
    for line in crate::failures::lines(report).into_iter().chain(crate::axes::lines(report)) {
        lines.extend(wrapped(&line, width).iter().map(|line| ScreenLine::plain(line)));
    }
    lines
}

/// What one can do next. On a narrow terminal a command stands below what it is for.
fn next(steps: &[NextStep], width: usize) -> Vec<ScreenLine> {
    let what = steps.iter().map(|step| step.what.chars().count()).max().unwrap_or(0);
    let mut lines = vec![ScreenLine::bold("Next")];
    for step in steps {
        let (mut first, indent) =
            if width < SCREEN_WIDTH { ("", 4) } else { (step.what, 2 + what + 2) };
        if first.is_empty() {
            lines.push(ScreenLine::plain(&format!("  {}", step.what)));
        }
        for line in command_lines(&step.command, width - indent) {
            lines.push(ScreenLine::plain(&format!(
                "{}{line}",
                column(&format!("  {first}"), indent)
            )));
            first = "";
        }
    }
    lines
}

/// A command in lines of at most so many characters, broken before options, as the shell takes it.
/// What has no option to break before stays longer.
fn command_lines(command: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (n, part) in command.split(" --").enumerate() {
        let part = if n == 0 { part.to_owned() } else { format!("--{part}") };
        match lines.last_mut() {
            // One character more than the space: the backslash, if another line follows.
            Some(line) if line.chars().count() + 1 + part.chars().count() + 2 <= width => {
                line.push(' ');
                line.push_str(&part);
            }
            Some(line) => {
                line.push_str(" \\");
                lines.push(format!("  {part}"));
            }
            None => lines.push(part),
        }
    }
    lines
}

/// The sentences with their intervals, where a screen has no answers or is asked for them.
fn sentences(report: &Report, width: usize) -> Vec<ScreenLine> {
    let mut lines = Vec::new();
    for sentence in &report.analysis.summary {
        for (n, line) in wrapped(sentence, width - 2).iter().enumerate() {
            lines.push(ScreenLine::plain(&format!("{} {line}", if n == 0 { "•" } else { " " })));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What the shell reads is the command; only a part without a place to break is too wide.
        #[test]
        fn broken_commands_are_the_command(parts in prop::collection::vec("[a-z]{1,12}( [a-z:=-]{1,9})?", 1..9)) {
            let command = parts.join(" --");
            let lines = command_lines(&command, 40);
            let read = lines.join("\n").replace("\\\n", "");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&read), words(&command));
            for line in &lines {
                prop_assert!(line.chars().count() <= 40 || line.matches(" --").count() < 2, "{}", line);
            }
        }
    }

    #[test]
    fn bars_have_eighths() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██  ");
        assert_eq!(bar(0.28, 4), "█▏  ");
        assert_eq!(bar(f64::NAN, 2), "  ");
    }

    proptest! {
        #[test]
        fn columns_are_as_wide_as_they_say(text in "\\PC{0,40}", width in 0_usize..30) {
            prop_assert_eq!(column(&text, width).chars().count(), width);
        }

        #[test]
        fn wrapping_loses_no_word(text in "[a-z ]{0,200}", width in 1_usize..40) {
            let words: Vec<&str> = text.split_whitespace().collect();
            let lines = wrapped(&text, width);
            let again: Vec<&str> = lines.iter().flat_map(|line| line.split(' ')).collect();
            prop_assert_eq!(again, words);
            prop_assert!(lines.iter().all(|l| l.chars().count() <= width || !l.contains(' ')));
        }
    }
}

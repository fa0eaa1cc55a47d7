//! The first screen on a terminal: some forty lines of eighty columns.

use disklab_source::printable;
use disklab_units::scale_words;
use disklab_verdict::Severity;

use super::{FirstScreen, Pick, StackLine, findings, may_fail, next_steps, space};
use crate::Report;
use crate::view::manner;

/// Columns.
pub const SCREEN_WIDTH: usize = 80;
/// Lines of the screen at most. If there would be more, classes of drives that may fail are left out
/// after the first; on a terminal that is shorter, the bars are before them.
const LINES: usize = 40;
/// Lines that follow the screen: where the report is, what `shipped` says, the shell's prompt.
const AFTER: usize = 4;
/// Stacks in the bars.
const BARS: usize = 14;
/// Severe findings that are listed.
const SEVERE: usize = 3;
/// Columns of a purpose at most: 'Films and photos (likely)'.
const PURPOSE: usize = 25;
/// Columns of the usable space: '29.4 TB' and a gap.
const SPACE: usize = 8;

/// How the text may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextStyle {
    /// Whether it may have colours and bold letters.
    pub colour: bool,
    /// Whether the sentences with their intervals follow.
    pub verbose: bool,
    /// Lines of the terminal, if it goes to one: the answers must not scroll away.
    pub rows: Option<u16>,
}

impl TextStyle {
    fn paint(self, codes: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{codes}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn soft(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn lines(self) -> usize {
        self.rows.map_or(LINES, |rows| usize::from(rows).saturating_sub(AFTER).min(LINES))
    }
}

/// The screen of a run whose page is at `page`. Nothing in it but what `style` asks for acts
/// on a terminal.
pub fn first_screen(report: &Report, page: &str, style: TextStyle) -> String {
    let screen = FirstScreen::of(report);
    let text =
        |lines: Vec<Line>| lines.iter().map(|line| line.shown(style) + "\n").collect::<String>();
    let mut parts = vec![head(report)];
    let mut bars = bars(&screen);
    let mut notes = notes(report);
    let next = next(report, &screen, page);
    let room = style.lines().saturating_sub(parts[0].len() + notes.len() + next.len() + 3);
    let mut answers = answers(&screen, room.saturating_sub(bars.len()));
    let is_short =
        style.lines() < LINES && answers.len() + bars.len() > room && !answers.is_empty();
    if is_short {
        bars = vec![Line::soft("Speed and space of all stacks: see the page.")];
        answers = self::answers(&screen, room.saturating_sub(bars.len()));
    }
    if !screen.has_whole_answers() || style.verbose {
        parts.push(sentences(report));
    }
    if notes.is_empty() && report.analysis.findings.is_empty() {
        notes.push(Line::plain("No finding makes a figure suspect."));
    }
    if is_short {
        // Without the empty lines in between.
        answers.append(&mut bars);
        answers.append(&mut notes);
    }
    if !answers.is_empty() {
        parts.insert(1, answers);
    }
    parts.extend([bars, notes, next]);
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).map(text).collect();
    parts.join("\n")
}

/// A line whose parts may be bold or faint.
struct Line(Vec<(Face, String)>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Face {
    Plain,
    Bold,
    Soft,
    Severe,
}

impl Line {
    fn of(parts: Vec<(Face, String)>) -> Self {
        Self(parts)
    }

    fn plain(text: &str) -> Self {
        Self(vec![(Face::Plain, text.to_owned())])
    }

    fn bold(text: &str) -> Self {
        Self(vec![(Face::Bold, text.to_owned())])
    }

    fn soft(text: &str) -> Self {
        Self(vec![(Face::Soft, text.to_owned())])
    }

    fn shown(&self, style: TextStyle) -> String {
        let part = |(face, text): &(Face, String)| {
            let text = printable(text);
            match face {
                Face::Plain => text.into_owned(),
                Face::Bold => style.bold(&text),
                Face::Soft => style.soft(&text),
                Face::Severe => style.paint("1;31", &text),
            }
        };
        let line: String = self.0.iter().map(part).collect();
        line.trim_end().to_owned()
    }
}

/// So many columns, cut or filled up.
fn column(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length > width {
        if width == 0 {
            return String::new();
        }
        let kept: String = text.chars().take(width.saturating_sub(1)).collect();
        return format!("{kept}…");
    }
    format!("{text}{}", " ".repeat(width - length))
}

fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.chars().count())))
}

/// The title, and what it rests on at the right.
fn head(report: &Report) -> Vec<Line> {
    let done = report.cells.iter().filter(|c| c.state == disklab_store::CellState::Done).count();
    let mut rest = format!("{} · {}", manner(&report.info), disklab_units::count(done, "cell"));
    if report.info.is_quick() {
        rest.push_str(" · quick");
    }
    if report.info.scale != 1.0 {
        rest.push_str(&format!(" · scale {}", scale_words(report.info.scale)));
    }
    let title = &report.info.title;
    let length = title.chars().count();
    let gap = SCREEN_WIDTH.saturating_sub(length + rest.chars().count());
    if gap < 2 {
        let mut lines: Vec<Line> =
            wrapped(title, SCREEN_WIDTH).iter().map(|l| Line::bold(l)).collect();
        lines.push(Line::of(vec![(Face::Soft, rest)]));
        return lines;
    }
    vec![Line::of(vec![
        (Face::Bold, title.clone()),
        (Face::Soft, format!("{}{rest}", " ".repeat(gap))),
    ])]
}

/// The answers: first those for one drive that may fail, then the others while there is room.
fn answers(screen: &FirstScreen, room: usize) -> Vec<Line> {
    let first = screen.first_class();
    let mut classes: Vec<Option<u32>> = first.into_iter().collect();
    classes.extend(screen.classes.iter().copied().filter(|class| Some(*class) != first));
    let picks: Vec<(Option<u32>, Vec<Pick<'_>>)> =
        classes.into_iter().map(|class| (class, screen.picks(class))).collect();
    let widest = |of: fn(&FirstScreen, &Pick<'_>) -> String, most: usize| {
        let all = picks.iter().flat_map(|(_, picks)| picks);
        all.map(|pick| of(screen, pick).chars().count()).max().unwrap_or(0).min(most)
    };
    let widths = (widest(|_, pick| purpose(pick), PURPOSE), widest(take, 18));
    let mut lines = Vec::new();
    for (class, picks) in &picks {
        if !lines.is_empty() && lines.len() + picks.len() + 2 > room {
            lines.push(Line::soft("Other numbers of drives that may fail: see the page."));
            break;
        }
        if !lines.is_empty() {
            lines.push(Line::plain(""));
        }
        lines.push(Line::of(vec![
            (Face::Bold, column(&may_fail(*class), widths.0 + 4)),
            (Face::Soft, format!("{}{}  speed", column("take", widths.1), right("usable", SPACE))),
        ]));
        lines.extend(picks.iter().map(|pick| answer(screen, pick, widths)));
    }
    lines
}

fn purpose(pick: &Pick<'_>) -> String {
    let purpose = pick.purpose.short;
    match pick.guess.confidence.words().short {
        Some(short) => format!("{purpose} ({short})"),
        None => purpose.to_owned(),
    }
}

fn take(screen: &FirstScreen, pick: &Pick<'_>) -> String {
    pick.guess.stacks.first().map_or_else(String::new, |id| screen.label(id).to_owned())
}

fn answer(screen: &FirstScreen, pick: &Pick<'_>, (purposes, takes): (usize, usize)) -> Line {
    let stack = pick.guess.stacks.first().and_then(|id| screen.stack(id));
    let others = &pick.guess.stacks[1..];
    let room = SCREEN_WIDTH.saturating_sub(purposes + takes + 4 + SPACE + 2);
    let mut speed = pick.guess.figure.value.clone();
    match (others, &pick.guess.next) {
        ([], Some(next)) if next.times < 1.05 => speed.push_str(", like the next"),
        ([], Some(next)) => speed.push_str(&format!(", {:.1}x the next", next.times)),
        ([], None) => speed.push_str(", the only one"),
        ([one], _) => {
            let room = room.saturating_sub(speed.chars().count() + ", or ".len());
            let one = other(&take(screen, pick), screen.label(one), room);
            speed.push_str(&format!(", or {one}"));
        }
        (more, _) => speed.push_str(&format!(", or {} others", more.len())),
    }
    Line::of(vec![
        (Face::Plain, format!("  {}  ", column(&purpose(pick), purposes))),
        (Face::Bold, column(&take(screen, pick), takes)),
        (
            Face::Plain,
            format!(
                "{}  {}",
                right(&space(stack.and_then(|s| s.usable)), SPACE),
                column(&speed, room)
            ),
        ),
    ])
}

/// Another stack that may be taken, in so many columns: whole, or else by what it does not share
/// with the one that is named already, and never cut to what says nothing.
fn other(taken: &str, other: &str, room: usize) -> String {
    const BETWEEN: &str = " · ";
    let fits = |text: &str| text.chars().count() <= room;
    let own = match (taken.split_once(BETWEEN), other.split_once(BETWEEN)) {
        (Some((layout, _)), Some((same, rest))) if layout == same => rest,
        (Some((_, system)), Some((rest, same))) if system == same => rest,
        _ => other,
    };
    [other, own].into_iter().find(|text| fits(text)).unwrap_or("1 other").to_owned()
}

/// The bars: all stacks by speed, with their space.
fn bars(screen: &FirstScreen) -> Vec<Line> {
    let mut stacks: Vec<(&StackLine, f64)> =
        screen.stacks.iter().filter_map(|stack| Some((stack, stack.speed?))).collect();
    stacks.sort_by(|a, b| b.1.total_cmp(&a.1));
    if stacks.len() < 2 {
        return Vec::new();
    }
    let shown = stacks.len().min(BARS);
    let label = stacks[..shown].iter().map(|(s, _)| s.label.chars().count()).max().unwrap_or(0);
    let label = label.min(24);
    let width = SCREEN_WIDTH - (2 + label + 9 + 2 + 2 + 4);
    let mut lines =
        vec![Line::bold(&format!("Speed, all {} alike, best = 100 %", screen.speed_of()))];
    for (stack, speed) in &stacks[..shown] {
        let name = column(&stack.label, label);
        let usable = right(&space(stack.usable), 9);
        let shown = bar(*speed, width);
        lines.push(Line::plain(&format!("  {name}{usable}  {shown} {:>4.0}", speed * 100.0)));
    }
    if stacks.len() > shown {
        let rest = stacks.len() - shown;
        lines.push(Line::soft(&format!("  and {rest} slower ones: see the page")));
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
fn notes(report: &Report) -> Vec<Line> {
    let (severe, others) = findings(report);
    let mut lines = Vec::new();
    let all = &report.analysis.findings;
    for finding in all.iter().filter(|f| f.severity == Severity::Severe).take(SEVERE) {
        for (n, line) in wrapped(&finding.text, SCREEN_WIDTH - 2).iter().enumerate() {
            let mark = if n == 0 { "! " } else { "  " };
            lines
                .push(Line::of(vec![(Face::Severe, mark.to_owned()), (Face::Plain, line.clone())]));
        }
    }
    if severe > SEVERE {
        lines.push(Line::plain(&format!("  {} more severe findings.", severe - SEVERE)));
    }
    if others > 0 {
        let text = if severe > 0 {
            format!("{} besides: see the page.", disklab_units::count(others, "finding"))
        } else {
            format!("{}, none severe: see the page.", disklab_units::count(others, "finding"))
        };
        lines.push(Line::plain(&text));
    }
    lines
}

fn next(report: &Report, screen: &FirstScreen, page: &str) -> Vec<Line> {
    let steps = next_steps(report, screen, page);
    let width = steps.iter().map(|step| step.what.chars().count()).max().unwrap_or(0);
    let mut lines = vec![Line::bold("Next")];
    for step in steps {
        let mut what = step.what;
        for line in command_lines(&step.command, SCREEN_WIDTH - (width + 4)) {
            lines.push(Line::plain(&format!("  {}  {line}", column(what, width))));
            what = "";
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
fn sentences(report: &Report) -> Vec<Line> {
    let mut lines = Vec::new();
    for sentence in &report.analysis.summary {
        for (n, line) in wrapped(sentence, SCREEN_WIDTH - 2).iter().enumerate() {
            lines.push(Line::plain(&format!("{} {line}", if n == 0 { "•" } else { " " })));
        }
    }
    lines
}

/// Lines of no more than so many columns; a word that is longer has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
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
    fn another_stack_is_named_in_what_room_there_is() {
        let taken = "RAID 5 · Btrfs";
        assert_eq!(other(taken, "RAID 5 · ext4", 13), "RAID 5 · ext4");
        assert_eq!(other(taken, "RAID 5 · ext4", 12), "ext4");
        assert_eq!(other(taken, "RAID 10 · Btrfs", 10), "RAID 10");
        assert_eq!(other(taken, "RAID 10 · ext4", 10), "1 other");
        assert_eq!(other(taken, "Btrfs RAID 10", 10), "1 other");
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

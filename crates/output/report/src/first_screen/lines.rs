//! Lines of a terminal, and how they may look.

use disklab_source::printable;

/// Columns, on a terminal that has them.
pub const SCREEN_WIDTH: usize = 80;
/// Lines of the screen at most. If there would be more, classes of drives that may fail are left out
/// after the first; on a terminal that is shorter, the bars are before them.
pub(super) const LINES: usize = 40;
/// Lines that follow the screen: where the report is, what `shipped` says, the shell's prompt.
const AFTER: usize = 4;
/// Columns below which nothing is made narrower.
const NARROWEST: usize = 32;

/// How the text may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextStyle {
    /// Whether it may have colours and bold letters.
    pub colour: bool,
    /// Whether the sentences with their intervals follow.
    pub verbose: bool,
    /// Lines of the terminal, if it goes to one: the answers must not scroll away.
    pub rows: Option<u16>,
    /// Its columns: with fewer than [`SCREEN_WIDTH`], lines are broken where words end.
    pub columns: Option<u16>,
}

impl TextStyle {
    pub(super) fn paint(self, codes: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{codes}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn soft(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Columns that a line may have.
    pub fn width(self) -> usize {
        self.columns
            .map_or(SCREEN_WIDTH, |columns| usize::from(columns).clamp(NARROWEST, SCREEN_WIDTH))
    }

    pub(super) fn lines(self) -> usize {
        self.rows.map_or(LINES, |rows| usize::from(rows).saturating_sub(AFTER).min(LINES))
    }
}

/// A line whose parts may be bold or faint.
pub(super) struct ScreenLine(Vec<(Face, String)>);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Face {
    Plain,
    Bold,
    Soft,
    Severe,
}

impl ScreenLine {
    pub(super) fn of(parts: Vec<(Face, String)>) -> Self {
        Self(parts)
    }

    pub(super) fn plain(text: &str) -> Self {
        Self(vec![(Face::Plain, text.to_owned())])
    }

    pub(super) fn bold(text: &str) -> Self {
        Self(vec![(Face::Bold, text.to_owned())])
    }

    pub(super) fn soft(text: &str) -> Self {
        Self(vec![(Face::Soft, text.to_owned())])
    }

    pub(super) fn soft_wrapped(text: &str, width: usize) -> Vec<Self> {
        wrapped(text, width).iter().map(|line| Self::soft(line)).collect()
    }

    pub(super) fn shown(&self, style: TextStyle) -> String {
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
pub(super) fn column(text: &str, width: usize) -> String {
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

pub(super) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.chars().count())))
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

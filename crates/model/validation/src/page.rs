//! What a drive's checks say, for people: a page in Markdown, a text for terminals.

use std::fmt::Write as _;

use disklab_drive::{DriveFile, shipped};
use disklab_units::{Bytes, significant};

use crate::{CheckFigure, Checked, Expected, SourcedValue, draw, values};

/// A file of the documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its path below the directory of the pages.
    pub path: String,
    /// Markdown, whole.
    pub text: String,
}

/// A drive's page, and its pictures in a directory next to it, named as the drive
/// is. `text` is the drive file's. A drive that is like another has no pictures: its
/// curves look like those of its sibling, to whose page it leads.
pub fn documents(file: &DriveFile, text: &str, checked: &[Checked]) -> Vec<Document> {
    let mut all = vec![Document {
        path: format!("{}.md", file.id),
        text: markdown(file, &values(text), checked),
    }];
    if file.like.is_none() {
        let document = |(path, text)| Document { path: format!("{}/{path}", file.id), text };
        all.extend(pictures(checked).map(document));
    }
    all
}

/// The pictures of checks: names of files, and SVG.
pub fn pictures(checked: &[Checked]) -> impl Iterator<Item = (String, String)> + '_ {
    let charts = checked.iter().flat_map(|checked| &checked.outcome.charts);
    charts.map(|chart| (format!("{}.svg", chart.id), draw(chart)))
}

/// A line about the drive: its names, its capacity.
fn heading(file: &DriveFile) -> String {
    let size = Bytes(file.capacity());
    let also = match file.aliases.as_slice() {
        [] => String::new(),
        aliases => format!(", also `{}`", aliases.join("`, `")),
    };
    format!("`{}`{also}: {} of {} ({})", file.id, file.kind.word(), size.si(), size.iec())
}

/// The sibling whose page has pictures: the one that is like no other.
fn pictured(file: &DriveFile) -> Option<String> {
    let mut id = file.like.clone()?;
    while let Some(further) = shipped(&id).and_then(|sibling| sibling.like) {
        id = further;
    }
    Some(id)
}

fn markdown(file: &DriveFile, values: &[SourcedValue], checked: &[Checked]) -> String {
    let id = &file.id;
    let mut page = format!(
        "<!-- Written by `disklab drive --pages docs/drives` from drives/{id}.toml. -->\n\
         # {}\n\n{}. What is modelled, and what is not: [drive models](../reference/drives.md).\n",
        file.name,
        heading(file)
    );
    if !file.note.is_empty() {
        let _ = write!(page, "\n{}\n", file.note);
    }
    page.push_str(
        "\nEvery figure below is the model's, next to what follows from the drive's data without \
         the model. Nothing was measured on a drive.\n",
    );
    if let Some(like) = pictured(file) {
        let _ = write!(
            page,
            "\nWhat each figure is, and pictures of curves of the same shape, are on the page of [its \
             sibling]({like}.md); `disklab drive {id} --svg DIR` draws this drive's.\n"
        );
    }
    for checked in checked {
        let _ = write!(page, "\n## {}\n", checked.title);
        let charts = checked.outcome.charts.iter().filter(|_| file.like.is_none());
        for chart in charts {
            let _ = write!(page, "\n![{}]({id}/{}.svg)\n", chart.title, chart.id);
        }
        if file.like.is_none() {
            let _ = write!(page, "\n{}\n", checked.about);
        }
        if !checked.outcome.figures.is_empty() {
            page.push_str("\n| | model | theory | difference | |\n|---|--:|--:|--:|---|\n");
        }
        for figure in &checked.outcome.figures {
            let [name, model, theory, difference, word] = row(figure).map(|cell| escape(&cell));
            let _ = writeln!(page, "| {name} | {model} | {theory} | {difference} | {word} |");
        }
    }
    let _ = write!(page, "\n## Parameters\n\nFrom [drives/{id}.toml](../../drives/{id}.toml)");
    if let Some(like) = &file.like {
        let _ = write!(
            page,
            ", and where it is silent, from [drives/{like}.toml](../../drives/{like}.toml)"
        );
    }
    page.push_str(".\n");
    page.push_str("\n| parameter | value | source |\n|---|---|---|\n");
    for SourcedValue { table, name, value, source } in values {
        let dot = if table.is_empty() { "" } else { "." };
        let [value, source] = [value, source].map(|cell| escape(cell));
        let _ = writeln!(page, "| `{table}{dot}{name}` | {value} | {source} |");
    }
    page
}

/// The same for a terminal.
pub fn plain(file: &DriveFile, checked: &[Checked]) -> String {
    let mut text = format!("{}\n{}\n", file.name, heading(file).replace('`', ""));
    if !file.note.is_empty() {
        let _ = write!(text, "\n{}\n", file.note);
    }
    for checked in checked {
        let _ = write!(text, "\n{}\n", checked.title);
        let rows: Vec<[String; 5]> = checked.outcome.figures.iter().map(row).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let widths = [0, 1, 2, 3].map(|column| width(column).unwrap_or(0));
        for [name, model, theory, difference, word] in &rows {
            let _ = writeln!(
                text,
                "  {name:0$}  {model:>1$}  {theory:>2$}  {difference:>3$}  {word}",
                widths[0], widths[1], widths[2], widths[3]
            );
        }
    }
    text
}

/// Four digits, without zeros that say nothing.
pub(crate) fn show(value: f64) -> String {
    let text = significant(value, 4);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A row of a table of figures: name, model, theory, difference, word.
pub(crate) fn row(figure: &CheckFigure) -> [String; 5] {
    let unit = if figure.unit.is_empty() { String::new() } else { format!(" {}", figure.unit) };
    let (theory, difference) = match figure.expected {
        Expected::Near { value, tolerance } => {
            let allowed = show(tolerance * 100.0);
            let difference = figure.difference().map_or_else(
                || show(figure.model),
                |part| {
                    // No minus before what is rounded to nothing.
                    let percent = part * 100.0;
                    let percent = if percent.abs() < 0.005 { 0.0 } else { percent };
                    format!("{percent:+.2} %, of {allowed} %")
                },
            );
            (format!("{}{unit}", show(value)), difference)
        }
        Expected::AtMost { bound } => (format!("at most {}{unit}", show(bound)), String::new()),
        Expected::Usual { low, high } => {
            (format!("usually {} to {}{unit}", show(low), show(high)), String::new())
        }
    };
    let word = match (figure.is_met(), figure.is_binding()) {
        (true, _) => "met",
        (false, true) => "MISSED",
        (false, false) => "unusual",
    };
    [figure.name.clone(), format!("{}{unit}", show(figure.model)), theory, difference, word.into()]
}

/// The file in the directory of the pages that has the table of all drives.
pub const README: &str = "README.md";

/// Between these marks, the table of all drives.
const BEGIN: &str = "<!-- The drives: written by `disklab drive --pages docs/drives`. -->\n";
const END: &str = "<!-- The end of the drives. -->\n";

/// A text with the table of all drives between its marks renewed; `None` where it has
/// no such marks.
pub fn with_index(text: &str, drives: &[(&DriveFile, &[Checked])]) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{}\n{END}{after}", index(drives)))
}

/// The table of all drives.
fn index(drives: &[(&DriveFile, &[Checked])]) -> String {
    let mut table =
        String::from("| drive | kind | capacity | checks passed | |\n|---|---|--:|--:|---|\n");
    for (file, checked) in drives {
        let figures =
            || checked.iter().flat_map(|c| &c.outcome.figures).filter(|figure| figure.is_binding());
        let passed = figures().filter(|figure| figure.is_met()).count();
        let _ = writeln!(
            table,
            "| [{}]({id}.md) | {} | {} | {passed} of {} | `{id}` |",
            escape(&file.name),
            file.kind.word(),
            Bytes(file.capacity()).si(),
            figures().count(),
            id = file.id,
        );
    }
    table
}

/// Text for a cell of a Markdown table.
pub(crate) fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    #[test]
    fn rows_say_what_was_expected_and_whether_it_came() {
        let near = row(&CheckFigure::near("depth 1", "IOPS", 81.761, 81.78, 0.01));
        assert_eq!(near, ["depth 1", "81.76 IOPS", "81.78 IOPS", "-0.02 %, of 1 %", "met"]);
        let most = row(&CheckFigure::at_most("worst", "%", 3.0, 2.5));
        assert_eq!(most, ["worst", "3 %", "at most 2.5 %", "", "MISSED"]);
        let usual = row(&CheckFigure::usual("gain", "", 1.0, (2.0, 3.0)));
        assert_eq!(usual[4], "unusual");
        let none = row(&CheckFigure::near("nothing", "turns", 0.0, 0.0, 0.01));
        assert_eq!(none[3..], ["0", "met"]);
    }

    #[test]
    fn a_sibling_links_to_the_page_with_pictures() {
        let id = "st30000nt011";
        let file = shipped(id).unwrap();
        let figure = CheckFigure::near("a", "", 1.0, 1.0, 0.1);
        let chart = crate::Chart {
            id: "c",
            title: "C",
            x: crate::Axis::linear("x"),
            y: crate::Axis::linear("y"),
            curves: Vec::new(),
        };
        let outcome = Outcome { figures: vec![figure], charts: vec![chart] };
        let checked = [Checked { id: "x", title: "X", about: "so", outcome }];
        let text = format!("like = \"{}\"", file.like.clone().unwrap());
        let pages = documents(&file, &text, &checked);
        assert_eq!(pages.len(), 1);
        let page = &pages[0].text;
        assert!(page.contains("[its sibling](st16000nm001g.md)"), "{page}");
        assert!(page.contains("## X") && !page.contains("so\n") && !page.contains("!["), "{page}");
        assert!(page.contains("silent, from [drives/st30000nm004k.toml]"), "{page}");
        assert!(
            page.contains("| `geometry.rpm` | 7200 | assumed: as st30000nm004k, there "),
            "{page}"
        );
    }

    #[test]
    fn a_page_of_a_drive_without_checks_has_its_parameters() {
        let (id, text) = disklab_drive::SHIPPED[0];
        let file = disklab_drive::shipped(id).unwrap();
        let figure = CheckFigure::near("a|b", "", 1.0, 1.0, 0.1);
        let outcome = Outcome { figures: vec![figure], charts: Vec::new() };
        let checked = [Checked { id: "x", title: "X", about: "so", outcome }];
        let pages = documents(&file, text, &checked);
        assert_eq!(pages.len(), 1);
        assert!(pages[0].text.contains("| `geometry.rpm` | 7200 | "), "{}", pages[0].text);
        assert!(pages[0].text.contains("a\\|b"));
        assert!(plain(&file, &checked).contains("a|b"));
        let readme = format!("a\n{BEGIN}old{END}b\n");
        let renewed = with_index(&readme, &[(&file, &checked)]).unwrap();
        assert!(renewed.starts_with("a\n") && renewed.ends_with("b\n"));
        assert!(renewed.contains("1 of 1") && !renewed.contains("old"), "{renewed}");
        assert_eq!(with_index("no marks", &[]), None);
    }
}

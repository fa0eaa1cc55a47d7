//! Tables.

use std::fmt::Write as _;

/// A table; its cells are escaped already.
#[derive(Debug, Default)]
pub(crate) struct MarkdownTable {
    /// Column heads; the first column is aligned left, all others right.
    pub(crate) head: Vec<String>,
    /// Rows, as long as the head.
    pub(crate) rows: Vec<Vec<String>>,
}

impl MarkdownTable {
    /// The table's lines and an empty one.
    pub(crate) fn write(&self, md: &mut String) {
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                let cells = self
                    .rows
                    .iter()
                    .filter_map(|r| r.get(column))
                    .chain(&self.head[column..=column]);
                cells.map(|c| c.chars().count()).max().unwrap_or(0).max(3)
            })
            .collect();
        line(md, &self.head, &widths);
        md.push('|');
        for (column, width) in widths.iter().enumerate() {
            let (dashes, end) = if column == 0 { (width + 2, "") } else { (width + 1, ":") };
            let _ = write!(md, "{}{end}|", "-".repeat(dashes));
        }
        md.push('\n');
        for row in &self.rows {
            line(md, row, &widths);
        }
        md.push('\n');
    }
}

fn line(md: &mut String, cells: &[String], widths: &[usize]) {
    md.push('|');
    for (column, width) in widths.iter().enumerate() {
        let cell = cells.get(column).map_or("", String::as_str);
        let fill = " ".repeat(width.saturating_sub(cell.chars().count()));
        let _ =
            if column == 0 { write!(md, " {cell}{fill} |") } else { write!(md, " {fill}{cell} |") };
    }
    md.push('\n');
}

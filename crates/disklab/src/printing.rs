//! What goes to standard output.

use disklab_report::TextStyle;
use disklab_source::{csv_cell, printable, printable_json};

use crate::exit::Failure;

/// Prints to standard output, with what a terminal would obey made visible; a reader that
/// has gone away is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    print_styled(&printable(text))
}

/// Whether standard output may have colours (<https://no-color.org>).
pub fn has_colour() -> bool {
    use std::io::IsTerminal;
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// How a first screen on standard output may look. With `verbose` it is as long as it is.
pub fn style_of_output(verbose: bool) -> TextStyle {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    // Where a terminal does not know its size, it says 0.
    let rows = size.map(|size| size.ws_row).filter(|rows| *rows > 0 && !verbose);
    let columns = size.map(|size| size.ws_col).filter(|columns| *columns > 0);
    TextStyle { colour: has_colour(), verbose, rows, columns }
}

/// Prints a text whose styles are our own, and all else of which is printable.
pub fn print_styled(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let result = std::io::stdout().lock().write_all(text.as_bytes());
    match result {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)?;
    print(&format!("{}\n", printable_json(&text)))
}

/// A line of CSV after RFC 4180, safe for spreadsheets.
pub fn csv_line(fields: &[&str]) -> String {
    let quoted = |field: &&str| {
        let field = csv_cell(field);
        match field.contains([',', '"', '\n', '\r']) || field.trim() != field {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => field.into_owned(),
        }
    };
    fields.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

/// Rows of four columns, the second to the right.
pub fn aligned(rows: &[[String; 4]]) -> String {
    let width =
        |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or_default();
    let (name, median, spread) = (width(0), width(1), width(2));
    let mut text = String::new();
    for [a, b, c, d] in rows {
        let line = format!("{a:name$}  {b:>median$}  {c:spread$}  {d}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

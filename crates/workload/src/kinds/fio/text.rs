//! The text of a job file: sections, options, comments.

use std::ops::Range;

use disklab_study::{Node, Place, StudyError};

use super::job::{Section, Setting};

/// fio reads no more of a section's name (init.c).
const LONGEST_NAME: usize = 255;
/// No study needs more; a hostile text gets no further.
const MOST_SECTIONS: usize = 200;
/// The same for options, since each section has all global ones before it.
const MOST_OPTIONS: usize = 5000;

/// Reads a job file. `locate` tells where a range of the text's bytes stands.
///
/// Every section comes back with all that holds for it: what the `[global]`
/// sections before it set, then its own options.
///
/// # Errors
/// Where a line is neither, or an option is not allowed; the error shows the line.
pub(super) fn parse(
    text: &str,
    whole: &Place,
    locate: &dyn Fn(Range<usize>) -> Place,
) -> Result<Vec<Section>, StudyError> {
    let mut globals: Vec<Setting> = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    // Nothing before the first header; then whether it is a [global] one.
    let mut in_global: Option<bool> = None;
    let (mut at, mut options) = (0, 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        // As fio does: the rest of a line from ';' or '#' on is a comment,
        // wherever that stands (strip_blank_end in parse.c).
        let code = line.split([';', '#']).next().unwrap_or_default();
        let content = code.trim();
        if content.is_empty() {
            continue;
        }
        let start = start + (code.len() - code.trim_start().len());
        let place = locate(start..start + content.len());
        if let Some(rest) = content.strip_prefix('[') {
            let name = section_name(rest, &place)?;
            // fio compares no more than these six letters (init.c).
            in_global = Some(name.starts_with("global"));
            if in_global == Some(false) {
                if sections.len() == MOST_SECTIONS {
                    return Err(place.error(format!("more than {MOST_SECTIONS} sections")));
                }
                sections.push(Section { name, place, settings: globals.clone() });
            }
            continue;
        }
        if content.split_whitespace().next() == Some("include") {
            return Err(place.error(
                "`include` is not allowed here: give the whole job in one text, so that the \
                 study says what was run",
            ));
        }
        let (name, value) = match content.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(value.trim_start().to_owned())),
            None => (content, None),
        };
        let setting = Setting::new(name, value, &place)?;
        options += 1;
        if options > MOST_OPTIONS {
            return Err(place.error(format!("more than {MOST_OPTIONS} options")));
        }
        match (in_global, sections.last_mut()) {
            (Some(true), _) => globals.push(setting),
            (Some(false), Some(section)) => section.settings.push(setting),
            _ => {
                return Err(place.error(
                    "this option stands before the first section; expected [global] or [NAME] \
                     above it",
                ));
            }
        }
    }
    if sections.is_empty() {
        return Err(whole.error("this fio job has no section; expected [NAME] with options below"));
    }
    for section in &mut sections {
        section.adopt_name();
    }
    Ok(sections)
}

/// The name of a section from what stands behind its '['.
fn section_name(rest: &str, place: &Place) -> Result<String, StudyError> {
    let name = rest.strip_suffix(']').map(str::trim).unwrap_or_default();
    if name.is_empty() {
        return Err(place.error("expected a section such as [NAME]"));
    }
    if name.len() > LONGEST_NAME {
        return Err(place.error(format!(
            "this section's name is longer than the {LONGEST_NAME} bytes that fio reads"
        )));
    }
    Ok(name.to_owned())
}

/// Where parts of `text`, the value of `node`, stand in the study: exactly,
/// where the study has the text as it is; by the line, where parameters were
/// filled in; else the whole value.
pub(super) fn locator(node: &Node, text: &str) -> impl Fn(Range<usize>) -> Place {
    let whole = node.place.clone();
    let source = whole.source.clone();
    let raw = source.text.get(whole.span.clone()).unwrap_or_default();
    let from = whole.span.start;
    let exact = raw.find(text).filter(|_| !text.is_empty()).map(|at| from + at);
    // Behind the opening quotes and the line break that TOML drops there.
    let body = ["\"\"\"", "'''"].iter().find_map(|quotes| {
        let inner = raw.strip_prefix(quotes)?.strip_suffix(quotes)?;
        let inner = inner.strip_prefix('\n').or(inner.strip_prefix("\r\n")).unwrap_or(inner);
        Some(inner.to_owned())
    });
    let body_at = body.as_ref().and_then(|body| raw.find(body.as_str())).map(|at| from + at);
    let lines_agree =
        body.as_ref().is_some_and(|b| b.split('\n').count() == text.split('\n').count());
    let text = text.to_owned();
    move |range: Range<usize>| {
        let span = match (exact, &body, body_at) {
            (Some(at), ..) => at + range.start..at + range.end,
            (None, Some(body), Some(at)) if lines_agree => {
                let number = text.get(..range.start).map_or(0, |t| t.matches('\n').count());
                let before: usize = body.split_inclusive('\n').take(number).map(str::len).sum();
                let line = body.split('\n').nth(number).unwrap_or_default();
                let start = at + before + (line.len() - line.trim_start().len());
                start..start + line.trim().len()
            }
            _ => whole.span.clone(),
        };
        Place { source: source.clone(), span }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disklab_study::{Source, Value};
    use proptest::prelude::*;

    use super::*;

    fn parse_text(text: &str) -> Result<Vec<Section>, StudyError> {
        let source = Arc::new(Source { name: "j.fio".to_owned(), text: text.to_owned() });
        let whole = Place { source: source.clone(), span: 0..0 };
        parse(text, &whole, &|span| Place { source: source.clone(), span })
    }

    #[test]
    fn globals_hold_for_the_sections_below_them() {
        let text = "; a comment\n[global]\nbs=4k ; trailing\nrw = read\n\n[one]\nsize=1m\n\
                    # another\n[global]\nbs=8k\n[two words]\n\tsize=2m\n  stonewall  \n";
        let sections = parse_text(text).expect("valid");
        let shown: Vec<(String, Vec<String>)> = sections
            .iter()
            .map(|s| (s.name.clone(), s.settings.iter().map(Setting::argument).collect()))
            .collect();
        assert_eq!(
            shown,
            [
                ("one".to_owned(), vec!["--bs=4k".into(), "--rw=read".into(), "--size=1m".into()]),
                (
                    "two words".to_owned(),
                    vec![
                        "--bs=4k".into(),
                        "--rw=read".into(),
                        "--bs=8k".into(),
                        "--size=2m".into(),
                        "--stonewall=1".into(),
                    ]
                ),
            ]
        );
        assert_eq!(sections[1].get("bs"), Some("8k"));
    }

    #[test]
    fn endless_jobs_are_refused() {
        let error = parse_text(&"[a]\n".repeat(300)).expect_err("too many");
        assert_eq!((error.line, error.message.as_str()), (201, "more than 200 sections"));
        let error = parse_text(&format!("[a]\n{}", "bs=4k\n".repeat(6000))).expect_err("too many");
        assert_eq!((error.line, error.message.as_str()), (5002, "more than 5000 options"));
    }

    #[test]
    fn errors_show_the_line() {
        for (text, line, column, part) in [
            ("bs=4k", 1, 1, "before the first section"),
            ("[a]\n  exec_prerun=rm -rf /\n", 2, 3, "runs a program"),
            ("[a]\nsize=1m\n[b\n", 3, 1, "[NAME]"),
            ("[a]\ninclude other.fio\n", 2, 1, "include"),
            ("[a]\nwhat is this\n", 2, 1, "no option"),
            ("[]\n", 1, 1, "[NAME]"),
            ("[global]\nbs=4k\n", 1, 1, "no section"),
            ("\n\n[a]\nblok_size=3\n", 4, 1, "no option 'blok_size'"),
        ] {
            let error = parse_text(text).expect_err(text);
            assert_eq!((error.line, error.column), (line, column), "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    fn place_of(toml: &str, filled: Option<&str>, find: &str) -> Place {
        let source = Arc::new(Source { name: "s.toml".to_owned(), text: toml.to_owned() });
        let root = Node::parse(&source).expect("TOML");
        let mut node = root.entries().expect("table")[0].1.clone();
        if let Some(filled) = filled {
            node.value = Value::Text(filled.to_owned());
        }
        let text = node.as_text().expect("text");
        let at = text.find(find).expect("found");
        locator(&node, &text)(at..at + find.len())
    }

    #[test]
    fn places_in_a_study_are_exact_where_they_can_be() {
        let toml = "job = \"\"\"\n[a]\n  bs=4k\n\"\"\"";
        let error = place_of(toml, None, "bs=4k").error("here");
        assert_eq!((error.line, error.column), (3, 3));
        // Parameters filled in: the line is right.
        let toml = "job = '''\n[a]\n  bs={bs}\nsize=1m\n'''";
        let error = place_of(toml, Some("[a]\n  bs=128k\nsize=1m\n"), "size=1m").error("here");
        assert_eq!((error.line, error.column), (4, 1));
        // Escapes: at least the value.
        let toml = "job = \"[a]\\nbs=4k\"";
        let error = place_of(toml, None, "bs=4k").error("here");
        assert_eq!((error.line, error.column), (1, 7));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(\\PC|\\[|\\]|=|\n|;|#| ){0,200}") {
            let _ = parse_text(&text);
        }

        #[test]
        fn no_job_like_text_panics(
            lines in prop::collection::vec("\\[(global|a|é)?\\]?|(size|bs|rw|iodepth)?[ =]{0,2}[0-9kK%:,-]{0,20}", 0..20)
        ) {
            if let Err(error) = parse_text(&lines.join("\n")) {
                prop_assert!(error.line <= lines.len().max(1));
            }
        }

        #[test]
        fn no_study_text_panics(value in "\\PC{0,50}", filled in "(\\PC|\n){0,50}", from in 0_usize..60) {
            let toml = format!("job = {value:?}");
            let source = Arc::new(Source { name: String::new(), text: toml });
            if let Ok(root) = Node::parse(&source) {
                let node = &root.entries().expect("table")[0].1;
                let _ = locator(node, &filled)(from..from + 3).error("x").to_string();
            }
        }
    }
}

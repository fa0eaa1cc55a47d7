//! Where a job's text stands inside of a study.

use std::ops::Range;

use disklab_config::Node;
use disklab_source::Location;

/// Where parts of `text`, the value of `node`, are in the study: exactly,
/// where the study has the text as it is; by the line, where parameters were
/// filled in; else the whole value.
pub(super) fn locator(node: &Node, text: &str) -> impl Fn(Range<usize>) -> Location {
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
        Location { source: source.clone(), span }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disklab_config::Value;
    use disklab_source::Source;
    use proptest::prelude::*;

    use super::*;

    fn place_of(toml: &str, filled: Option<&str>, find: &str) -> Location {
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

//! A strict reader of the HTML that disklab writes: every element is closed in
//! order, every attribute is quoted, and nothing is loaded from anywhere.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Elements without an end tag.
const VOID: [&str; 4] = ["meta", "input", "br", "link"];

/// An element's start: its name and attributes.
#[derive(Debug)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
}

/// All elements of a page.
pub fn elements(html: &str) -> Result<Vec<Element>, String> {
    let html = &without_script(html)?;
    let mut rest = html.strip_prefix("<!DOCTYPE html>").ok_or("no doctype")?;
    let (mut open, mut elements): (Vec<String>, Vec<Element>) = (Vec::new(), Vec::new());
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        if open.last().is_none_or(|o| o != "style") && text.contains('>') {
            return Err(format!("a bare '>' in {text:?}"));
        }
        rest = &rest[start + 1..];
        if let Some(after) = rest.strip_prefix('/') {
            let end = after.find('>').ok_or("a tag without end")?;
            let name = &after[..end];
            match open.pop() {
                Some(last) if last == name => {}
                last => return Err(format!("</{name}> closes {last:?}")),
            }
            rest = &after[end + 1..];
            continue;
        }
        let (element, after) = element(rest)?;
        rest = after;
        if !VOID.contains(&element.name.as_str()) {
            open.push(element.name.clone());
        }
        elements.push(element);
    }
    if open.is_empty() { Ok(elements) } else { Err(format!("not closed: {open:?}")) }
}

/// The page without its own script, which is the only one that its policy lets run.
fn without_script(html: &str) -> Result<String, String> {
    let Some((before, rest)) = html.split_once("<script>") else { return Ok(html.to_owned()) };
    let (script, after) = rest.split_once("</script>").ok_or("a script without end")?;
    let digest = STANDARD.encode(Sha256::digest(script));
    let policy = format!(
        "content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'sha256-{digest}'; img-src data:\""
    );
    if !before.contains(&policy) {
        return Err("a script that the policy does not know".to_owned());
    }
    Ok(format!("{before}{after}"))
}

fn element(text: &str) -> Result<(Element, &str), String> {
    let end = text.find([' ', '>']).ok_or("a tag without end")?;
    let name = &text[..end];
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(format!("'{name}' is no element"));
    }
    let mut element = Element { name: name.to_owned(), attributes: Vec::new() };
    let mut rest = &text[end..];
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('>') {
            return Ok((element, after));
        }
        let end = rest.find(['=', ' ', '>']).ok_or("an attribute without end")?;
        let name = rest[..end].to_owned();
        let fits = |c: char| c.is_ascii_alphabetic() || "-12".contains(c);
        if name.is_empty() || !name.chars().all(fits) {
            return Err(format!("'{name}' is no attribute"));
        }
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.strip_prefix('"').ok_or(format!("{name} is not quoted"))?;
            let end = after.find('"').ok_or("a quote without end")?;
            value = after[..end].to_owned();
            rest = &after[end + 1..];
        }
        if value.contains(['<', '>']) {
            return Err(format!("{name} holds a bare mark: {value}"));
        }
        element.attributes.push((name, value));
    }
}

/// Whether a link leads within the page, or to raw outputs next to it.
fn is_own(link: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let raw = link.strip_prefix("raw/").and_then(|rest| rest.strip_suffix('/'));
    link.starts_with('#') || raw.is_some_and(|name| name.chars().all(is_plain) && name != "..")
}

/// Whether a page stands alone and is sound.
pub fn check(html: &str) {
    let elements = elements(html).unwrap_or_else(|e| panic!("{e}"));
    let mut ids = HashSet::new();
    for Element { name, attributes } in &elements {
        let loads = ["script", "link", "img", "iframe", "object", "embed", "image", "use", "base"];
        assert!(!loads.contains(&name.as_str()), "<{name}>");
        for (attribute, value) in attributes {
            assert!(!attribute.starts_with("on"), "{attribute}");
            match attribute.as_str() {
                "src" | "srcset" | "action" | "data" | "poster" => panic!("{attribute}={value}"),
                "href" => assert!(is_own(value), "{value}"),
                "id" => assert!(ids.insert(value.clone()), "two elements are '{value}'"),
                "style" => assert!(!value.contains("url("), "{value}"),
                _ => {}
            }
        }
    }
    for Element { name, attributes } in &elements {
        for (attribute, value) in attributes {
            if let ("a", "href", Some(id)) = (&**name, &**attribute, value.strip_prefix('#')) {
                assert!(ids.contains(id), "no '{value}'");
            }
        }
    }
    let style = html.split("<style>").nth(1).and_then(|s| s.split("</style>").next());
    let style = style.expect("a style sheet");
    for loading in ["url(", "@import", "//", "src:"] {
        assert!(!style.contains(loading), "{loading}");
    }
    assert_eq!(style.matches('{').count(), style.matches('}').count());
}

#[test]
fn the_reader_sees_faults() {
    for bad in [
        "<!DOCTYPE html><p><b></p></b>",
        "<!DOCTYPE html><p>",
        "<!DOCTYPE html><p class=x></p>",
        "<!DOCTYPE html><p title=\"<b>\"></p>",
        "<!DOCTYPE html></p>",
        "<p></p>",
        "<!DOCTYPE html><script>alert(1)</script>",
    ] {
        assert!(elements(bad).is_err(), "{bad}");
    }
    assert_eq!(elements("<!DOCTYPE html><p a=\"b\">x<br></p>").map(|e| e.len()), Ok(2));
}

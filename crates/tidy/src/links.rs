//! Links of the documents lead somewhere, and every page is in the book.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use fancy_regex::Regex;

use crate::tree::{files, files_with, root, text};

const SUMMARY: &str = "docs/SUMMARY.md";

/// The documents: all Markdown but what tests snapshot.
fn documents() -> Vec<String> {
    let mut found = files_with("", "md");
    found.retain(|name| !name.contains("/tests/") && !name.contains("/snapshots/"));
    found
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut dead = Vec::new();
    for page in documents() {
        for (line, target) in links(&text(&page)) {
            if let Err(why) = follow(&page, &target) {
                dead.push(format!("{page}:{line}: ({target}): {why}"));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn every_page_is_reached_from_the_summary() {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut next = vec![SUMMARY.to_owned()];
    while let Some(page) = next.pop() {
        // The pages of drives are listed by their index; all others by the summary itself.
        if !seen.insert(page.clone()) || !(page == SUMMARY || page == "docs/drives/README.md") {
            continue;
        }
        for (_, target) in links(&text(&page)) {
            next.extend(resolve(&page, target.split('#').next().unwrap_or_default()));
        }
    }
    let lost: Vec<String> =
        files_with("docs", "md").into_iter().filter(|page| !seen.contains(page)).collect();
    assert!(lost.is_empty(), "not in {SUMMARY}: {}", lost.join(", "));
}

#[test]
fn paths_that_sources_name_exist() {
    let directories =
        ["crates", "drives", "kernel", "processors", "published", "scripts", "studies"];
    let sources = directories.iter().flat_map(|directory| files(directory));
    // A document of another project.
    let known = |path: &str| path == "docs/csv-docs.md";
    let sources = sources.filter(|file| !file.starts_with("crates/tidy/"));
    let dead = dead_paths("docs", sources, known);
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

/// The changelog names what was, too.
#[test]
fn paths_that_documents_name_exist() {
    let pages = documents().into_iter().filter(|page| page != "CHANGELOG.md");
    let dead = dead_paths("crates", pages, |_| false);
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

/// Paths below `directory` that these files name, and that are not there.
fn dead_paths(
    directory: &str,
    files: impl Iterator<Item = String>,
    known: impl Fn(&str) -> bool,
) -> Vec<String> {
    let named = format!(r"(?<![-\w/.]){directory}/[\w/.-]*\w");
    let named = Regex::new(&named).expect("a pattern");
    let mut dead = Vec::new();
    for file in files {
        for (at, line) in text(&file).lines().enumerate().filter(|(_, line)| !line.contains("://"))
        {
            for path in named.find_iter(line).map(|found| found.expect("matched").as_str()) {
                if !root().join(path).exists() && !known(path) {
                    dead.push(format!("{file}:{}: {path}", at + 1));
                }
            }
        }
    }
    dead
}

/// The links of a page that lead into this checkout, with their lines. Code has none.
fn links(page: &str) -> Vec<(usize, String)> {
    let link = Regex::new(r"\]\(([^()\s]+)\)").expect("a pattern");
    let mut in_code = false;
    let mut found = Vec::new();
    for (at, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for target in link.captures_iter(line).map(|c| c.expect("matched")) {
            let target = target.get(1).expect("the group").as_str();
            if !target.contains("://") && !target.starts_with("mailto:") {
                found.push((at + 1, target.to_owned()));
            }
        }
    }
    found
}

/// Why a link leads nowhere.
#[derive(Debug, thiserror::Error)]
enum DeadLink {
    #[error("leads out of the checkout")]
    Outside,
    #[error("does not exist")]
    Missing,
    #[error("{0} has no such heading")]
    NoHeading(String),
}

fn follow(page: &str, target: &str) -> Result<(), DeadLink> {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { Some(page.to_owned()) } else { resolve(page, path) };
    let file = file.ok_or(DeadLink::Outside)?;
    if !root().join(&file).exists() {
        return Err(DeadLink::Missing);
    }
    if !heading.is_empty() && file.ends_with(".md") && !headings(&text(&file)).contains(heading) {
        return Err(DeadLink::NoHeading(file));
    }
    Ok(())
}

/// The path from the root that a link on a page means.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut path = PathBuf::new();
    let directory = Path::new(page).parent().unwrap_or(Path::new(""));
    for part in directory.join(target).components() {
        match part {
            Component::ParentDir if !path.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            other => path.push(other),
        }
    }
    Some(path.display().to_string())
}

/// The anchors of a page's headings, as mdBook and code hosts make them.
fn headings(page: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in page.lines().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let anchor = title
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        found.insert(anchor);
    }
    found
}

#[test]
fn links_are_found_outside_of_code_and_resolved() {
    let page = "[a](../b.md#c) ![d](e.png)\n```\n[no](no.md)\n```\n[f](https://example.org/)\n";
    assert_eq!(links(page), [(1, "../b.md#c".to_owned()), (1, "e.png".to_owned())]);
    assert_eq!(resolve("docs/x/y.md", "../b.md").as_deref(), Some("docs/b.md"));
    assert_eq!(resolve("README.md", "../b.md"), None);
    assert!(headings("## What, and `why`?\n").contains("what-and-why"));
}

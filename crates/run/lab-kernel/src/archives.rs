//! Debian's archives, as the user's own package sources name them
//! (sources.list(5)).

use std::fs;
use std::path::{Path, PathBuf};

/// What stands for a release without being its name.
const SUITES: [&str; 5] = ["stable", "oldstable", "testing", "unstable", "sid"];

/// An archive of Debian packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Archive {
    /// Its address.
    pub uri: String,
    /// The release, such as `bookworm`.
    pub suite: String,
    /// The value of `Signed-By`, as it stands there: a key's file, or the key
    /// itself over several lines. Without, apt uses the keys that it trusts.
    pub signed_by: Option<String>,
}

/// The archives that the sources below `root` name for the release `codename`,
/// those that only a mirror of Debian can be: with the component `main`.
pub(super) fn of_user(root: &Path, codename: Option<&str>) -> Vec<Archive> {
    let directory = root.join("etc/apt");
    let mut files: Vec<PathBuf> = fs::read_dir(directory.join("sources.list.d"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    files.insert(0, directory.join("sources.list"));
    let mut archives: Vec<Archive> = Vec::new();
    for file in files {
        let text = || fs::read_to_string(&file).unwrap_or_default();
        let found = match file.extension().and_then(|e| e.to_str()) {
            Some("list") => one_line_style(&text()),
            Some("sources") => deb822_style(&text()),
            _ => continue,
        };
        for archive in found {
            let fits = codename == Some(&archive.suite) || SUITES.contains(&&*archive.suite);
            // The same archive stands there once for each suite of its release.
            if fits && !archives.iter().any(|a| a.uri == archive.uri && a.suite == archive.suite) {
                archives.push(archive);
            }
        }
    }
    archives
}

/// The name of the release that this machine runs (os-release(5)).
pub(super) fn codename(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("etc/os-release")).ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    let name = name.trim().trim_matches(['"', '\'']);
    is_word(name).then(|| name.to_owned())
}

/// `deb [options] uri suite component…`, one for each line.
fn one_line_style(text: &str) -> Vec<Archive> {
    text.lines().filter_map(one_line).collect()
}

fn one_line(line: &str) -> Option<Archive> {
    let line = line.split('#').next()?.trim();
    let mut rest = line.strip_prefix("deb")?.strip_prefix([' ', '\t'])?.trim_start();
    let mut signed_by = None;
    if let Some(options) = rest.strip_prefix('[') {
        let (options, after) = options.split_once(']')?;
        rest = after;
        signed_by = options
            .split_whitespace()
            .find_map(|option| option.strip_prefix("signed-by="))
            // Several keys are parted by commas here, by spaces there.
            .map(|keys| keys.replace(',', " "));
    }
    let mut words = rest.split_whitespace();
    archive(words.next()?, words.next()?, words.any(|word| word == "main"), signed_by)
}

/// Paragraphs of `Field: value`, each for all its addresses and suites.
fn deb822_style(text: &str) -> Vec<Archive> {
    let mut archives = Vec::new();
    for paragraph in paragraphs(text) {
        let value = |name: &str| {
            let field = paragraph.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
            field.map(|(_, value)| value.as_str())
        };
        let words = |name: &str| value(name).unwrap_or_default().split_whitespace();
        if value("Enabled").is_some_and(|v| v.trim().eq_ignore_ascii_case("no"))
            || !words("Types").any(|word| word == "deb")
        {
            continue;
        }
        let main = words("Components").any(|word| word == "main");
        let signed_by = value("Signed-By").map(|v| v.trim().to_owned());
        for uri in words("URIs") {
            for suite in words("Suites") {
                archives.extend(archive(uri, suite, main, signed_by.clone()));
            }
        }
    }
    archives
}

/// The fields of each paragraph; the lines of a value keep their ends.
fn paragraphs(text: &str) -> Vec<Vec<(String, String)>> {
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if line.trim().is_empty() {
            all.push(Vec::new());
            continue;
        }
        let Some(fields) = all.last_mut() else { continue };
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((key, value)) = line.split_once(':') {
            fields.push((key.trim().to_owned(), value.trim().to_owned()));
        }
    }
    all
}

fn archive(uri: &str, suite: &str, main: bool, signed_by: Option<String>) -> Option<Archive> {
    let good = main && is_word(suite) && uri.contains(':') && !uri.starts_with("cdrom:");
    let signed_by = signed_by.filter(|value| !value.is_empty());
    good.then(|| Archive { uri: uri.to_owned(), suite: suite.to_owned(), signed_by })
}

/// A release's name, and no `bookworm-security` or path.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(uri: &str, suite: &str, signed_by: Option<&str>) -> Archive {
        Archive {
            uri: uri.to_owned(),
            suite: suite.to_owned(),
            signed_by: signed_by.map(str::to_owned),
        }
    }

    #[test]
    fn both_styles_are_read() {
        let root = tempfile::tempdir().expect("temp");
        let parts = root.path().join("etc/apt/sources.list.d");
        fs::create_dir_all(&parts).expect("directory");
        let write = |name: &str, text: &str| {
            fs::write(root.path().join("etc").join(name), text).expect("file");
        };
        write("os-release", "ID=debian\nVERSION_CODENAME=bookworm\n");
        write(
            "apt/sources.list",
            "# deb http://no/debian bookworm main\n\
             deb [arch=amd64 signed-by=/k/a.gpg,/k/b.gpg] http://one/debian bookworm main # why\n\
             deb-src http://src/debian bookworm main\n\
             deb http://one/debian bookworm-updates main\n\
             deb http://other/apt bookworm stable\n\
             deb cdrom:[Debian]/ bookworm main\ndeb\n",
        );
        write(
            "apt/sources.list.d/debian.sources",
            "Types: deb deb-src\n# a comment\nURIs: http://two/debian http://three/debian\n\
             Suites: stable stable-updates trixie\nComponents: main contrib\nsigned-by:\n \
             -----BEGIN\n .\n XYZ\n\n\nTypes: deb\nEnabled: no\nURIs: http://off/debian\n\
             Suites: bookworm\nComponents: main\n",
        );
        write("apt/sources.list.d/old.sources.bak", "Types: deb\nURIs: http://bak\n");
        let codename = codename(root.path());
        assert_eq!(codename.as_deref(), Some("bookworm"));
        let key = "-----BEGIN\n .\n XYZ";
        assert_eq!(
            of_user(root.path(), codename.as_deref()),
            [
                named("http://one/debian", "bookworm", Some("/k/a.gpg /k/b.gpg")),
                named("http://two/debian", "stable", Some(key)),
                named("http://three/debian", "stable", Some(key)),
            ]
        );
    }

    #[test]
    fn no_sources_are_no_archives() {
        let root = tempfile::tempdir().expect("temp");
        assert_eq!(codename(root.path()), None);
        assert_eq!(of_user(root.path(), None), []);
    }

    proptest! {
        #[test]
        fn hostile_sources_are_only_text(text in "(\\PC|\n|deb |URIs: |Suites: sid\n|\\[|\\]|:){0,40}") {
            for archive in one_line_style(&text).into_iter().chain(deb822_style(&text)) {
                prop_assert!(is_word(&archive.suite));
                prop_assert!(!archive.uri.contains(char::is_whitespace));
            }
        }

        #[test]
        fn both_styles_give_the_same_archive(
            suite in "[a-z]{1,12}",
            host in "[a-z.]{1,12}",
            key in prop::option::of("/[a-z/.]{1,12}"),
        ) {
            let option = key.as_ref().map(|k| format!("[signed-by={k}] ")).unwrap_or_default();
            let uri = format!("https://{host}/debian");
            let line = format!("deb {option}{uri} {suite} main");
            let expected = [named(&uri, &suite, key.as_deref())];
            prop_assert_eq!(one_line_style(&line), expected.clone());
            let field = key.map(|k| format!("Signed-By: {k}\n")).unwrap_or_default();
            let text = format!("Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\n{field}");
            prop_assert_eq!(deb822_style(&text), expected);
        }
    }
}

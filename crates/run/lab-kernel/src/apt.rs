//! An apt of our own: with sources, lists and archives in one directory that goes when the
//! build ends. Nothing is installed.
//!
//! The user's sources say which mirror to use and which keys to trust; they are only
//! read, and so is the user's configuration of proxies.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use disklab_exec::{Executor, Finished, Invocation, find_program};

use super::KernelError;
use super::apt_problem::AptProblem;
use super::archives::{self, Archive};

/// Lines of apt's answer in an error.
const TAIL_LINES: usize = 3;

/// An apt of our own.
#[derive(Debug)]
pub(super) struct Apt<'a> {
    pub directory: PathBuf,
    pub executor: &'a Executor,
}

impl<'a> Apt<'a> {
    /// One that knows these archives, in `directory`.
    pub fn new(
        directory: &Path,
        archives: &[Archive],
        wanted: impl Fn(&Archive) -> Wanted,
        executor: &'a Executor,
    ) -> Result<Self, KernelError> {
        for sub in ["lists/partial", "archives/partial", "packages"] {
            let path = directory.join(sub);
            fs::create_dir_all(&path).map_err(KernelError::io("cannot make", &path))?;
        }
        let users = executor.check(&Invocation::new("apt-config").arg("dump"))?.text();
        for (name, text) in [
            ("apt.conf", configuration(directory, &users)),
            ("archives.sources", archives.iter().map(|a| wanted(a).paragraph(a)).collect()),
        ] {
            let path = directory.join(name);
            fs::write(&path, text).map_err(KernelError::io("cannot write", &path))?;
        }
        Ok(Self { directory: directory.to_owned(), executor })
    }

    /// Runs one of apt's programs with our configuration.
    pub fn run(&self, program: &str, args: &[&str]) -> Result<Finished, KernelError> {
        let conf = self.directory.join("apt.conf");
        let invocation = Invocation::new(program)
            .args(args)
            .env("APT_CONFIG", &conf.display().to_string())
            .cwd(self.downloads());
        Ok(self.executor.run(&invocation)?)
    }

    /// Where downloaded packages are.
    pub fn downloads(&self) -> PathBuf {
        self.directory.join("packages")
    }
}

/// What is read of an archive.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub suites: Vec<String>,
    pub component: &'static str,
}

impl Wanted {
    /// It as sources.list(5) has it. Not each release has backports, and apt then says so, but
    /// reads the rest.
    fn paragraph(&self, archive: &Archive) -> String {
        let Archive { uri, signed_by, .. } = archive;
        let key = signed_by.as_ref().map(|key| format!("Signed-By: {key}\n")).unwrap_or_default();
        let Self { suites, component } = self;
        let suites = suites.join(" ");
        format!("Types: deb\nURIs: {uri}\nSuites: {suites}\nComponents: {component}\n{key}\n")
    }
}

/// The archives of Debian that the sources below `root` name, and the programs that read them.
///
/// # Errors
/// [`AptProblem::Missing`] or [`AptProblem::NoArchive`].
pub(super) fn archives(root: &Path) -> Result<Vec<Archive>, AptProblem> {
    let missing: Vec<&str> = ["apt-get", "apt-cache", "apt-config", "dpkg-deb"]
        .into_iter()
        .filter(|program| find_program(program).is_none())
        .collect();
    if !missing.is_empty() {
        return Err(AptProblem::Missing(missing));
    }
    let archives = archives::of_user(root, archives::codename(root).as_deref());
    if archives.is_empty() { Err(AptProblem::NoArchive) } else { Ok(archives) }
}

/// The user's configuration of fetching, such as proxies, and places of our own for
/// the rest (apt.conf(5)): no list, hook or pin of the user's is read or touched.
fn configuration(directory: &Path, users: &str) -> String {
    let mut text = String::new();
    for line in users.lines() {
        // Other kinds of lists, of translations and icons, are not needed.
        if line.starts_with("Acquire::") && !line.starts_with("Acquire::IndexTargets") {
            text += line;
            text.push('\n');
        }
    }
    let dir = directory.display();
    for (name, place) in [
        ("State", ""),
        ("State::lists", "/lists"),
        ("Cache", ""),
        ("Cache::archives", "/archives"),
        ("Log", ""),
        ("Etc::sourcelist", "/archives.sources"),
    ] {
        let _ = writeln!(text, "Dir::{name} \"{dir}{place}\";");
    }
    for name in ["State::status", "Etc::sourceparts", "Etc::parts", "Etc::main", "Etc::preferences"]
    {
        let _ = writeln!(text, "Dir::{name} \"/dev/null\";");
    }
    // What root fetches is read by root: the user of apt cannot enter our directory.
    text + "Dir::Etc::preferencesparts \"/dev/null\";\nAPT::Sandbox::User \"root\";\n\
            Acquire::Languages \"none\";\n"
}

/// apt's first complaints, for the end of an error.
pub(super) fn complaints(answer: &Finished) -> String {
    let errors = answer.error_text();
    let complaints = errors.lines().filter(|l| l.starts_with("E:") || l.starts_with("W:"));
    complaints.take(TAIL_LINES).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_and_lists_of_the_user_are_left_alone() {
        let users = "APT::Update::Post-Invoke:: \"rm -rf /\";\nAcquire::http::Proxy \"http://p\";\n\
                     Acquire::IndexTargets::deb::Icons::MetaKey \"x\";\nDir::State \"var/lib/apt\";\n";
        let text = configuration(Path::new("/w/apt"), users);
        assert!(text.starts_with("Acquire::http::Proxy \"http://p\";\nDir::State \"/w/apt\";\n"));
        for absent in ["Invoke", "IndexTargets", "var/lib"] {
            assert!(!text.contains(absent), "{text}");
        }
    }

    #[test]
    fn paragraph_names_suites_component_and_key() {
        let archive = |signed_by: Option<&str>| Archive {
            uri: "http://d/debian".into(),
            suite: "trixie".into(),
            signed_by: signed_by.map(str::to_owned),
        };
        let wanted = |suites: &[&str], component| Wanted {
            suites: suites.iter().map(|s| (*s).to_owned()).collect(),
            component,
        };
        assert_eq!(
            wanted(&["trixie-backports"], "main").paragraph(&archive(Some("/k.gpg"))),
            "Types: deb\nURIs: http://d/debian\nSuites: trixie-backports\nComponents: main\n\
             Signed-By: /k.gpg\n\n"
        );
        assert_eq!(
            wanted(&["trixie", "trixie-backports"], "contrib").paragraph(&archive(None)),
            "Types: deb\nURIs: http://d/debian\nSuites: trixie trixie-backports\n\
             Components: contrib\n\n"
        );
    }
}

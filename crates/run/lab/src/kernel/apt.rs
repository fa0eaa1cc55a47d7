//! An apt of our own: with sources, lists and archives in one folder that goes when the
//! build ends. Nothing is installed.
//!
//! The user's sources say which mirror to use and which keys to trust; they are only
//! read, and so is the user's configuration of proxies.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use disklab_exec::{Executor, Finished, Invocation, find_program};

use super::KernelError;
use super::archives::Archive;

/// Lines of apt's answer in an error.
const TAIL_LINES: usize = 3;

/// An apt of our own.
#[derive(Debug)]
pub(super) struct Apt<'a> {
    pub folder: PathBuf,
    pub executor: &'a Executor,
}

impl<'a> Apt<'a> {
    /// One that knows these archives, in `folder`.
    pub fn new(
        folder: &Path,
        archives: &[Archive],
        paragraph: impl Fn(&Archive) -> String,
        executor: &'a Executor,
    ) -> Result<Self, KernelError> {
        for sub in ["lists/partial", "archives/partial", "packages"] {
            let path = folder.join(sub);
            fs::create_dir_all(&path).map_err(KernelError::io("cannot make", &path))?;
        }
        let users = executor.check(&Invocation::new("apt-config").arg("dump"))?.text();
        for (name, text) in [
            ("apt.conf", configuration(folder, &users)),
            ("archives.sources", archives.iter().map(paragraph).collect()),
        ] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(KernelError::io("cannot write", &path))?;
        }
        Ok(Self { folder: folder.to_owned(), executor })
    }

    /// Runs one of apt's programs with our configuration.
    pub fn run(&self, program: &str, args: &[&str]) -> Result<Finished, KernelError> {
        let conf = self.folder.join("apt.conf");
        let invocation = Invocation::new(program)
            .args(args)
            .env("APT_CONFIG", &conf.display().to_string())
            .cwd(self.downloads());
        Ok(self.executor.run(&invocation)?)
    }

    /// Where downloaded packages are.
    pub fn downloads(&self) -> PathBuf {
        self.folder.join("packages")
    }
}

/// What is missing here to fetch Debian's packages, in words.
pub(super) fn missing() -> Option<String> {
    let missing: Vec<&str> = ["apt-get", "apt-cache", "apt-config", "dpkg-deb"]
        .into_iter()
        .filter(|program| find_program(program).is_none())
        .collect();
    let words = || format!("there is no {} here to fetch Debian's packages", missing.join(", "));
    (!missing.is_empty()).then(words)
}

/// The user's configuration of fetching, such as proxies, and places of our own for
/// the rest (apt.conf(5)): no list, hook or pin of the user's is read or touched.
fn configuration(folder: &Path, users: &str) -> String {
    let mut text = String::new();
    for line in users.lines() {
        // Other kinds of lists, of translations and icons, are not needed.
        if line.starts_with("Acquire::") && !line.starts_with("Acquire::IndexTargets") {
            text += line;
            text.push('\n');
        }
    }
    let dir = folder.display();
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
    // What root fetches is read by root: the user of apt cannot enter our folder.
    text + "Dir::Etc::preferencesparts \"/dev/null\";\nAPT::Sandbox::User \"root\";\n\
            Acquire::Languages \"none\";\n"
}

/// What apt had to say, for the end of an error: its first complaints.
pub(super) fn said(answer: &Finished) -> String {
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
}

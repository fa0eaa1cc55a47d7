//! What tells one kernel from another: its release does not, as two builds may share it.

use std::io;
use std::path::Path;
use std::time::Duration;

use disklab_exec::{Executor, Invocation, open_regular, read_text};
use sha2::{Digest, Sha256};

use super::cache::RECIPE;
use super::recipe::{hex, short};
use crate::Walls;
use crate::confinement::Confinement;

/// A kernel that is asked answers at once.
const PATIENCE: Duration = Duration::from_secs(30);
/// A recipe longer than this was not written by disklab.
const LONGEST_RECIPE: u64 = 64 << 10;

/// SHA-256 of the kernel's file, in hexadecimal.
///
/// # Errors
/// [`io::Error`] if the file cannot be read.
pub fn digest(kernel: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut open_regular(kernel)?, &mut hash)?;
    Ok(hex(&hash.finalize()))
}

/// The first 64 bits of the SHA-256 of its configuration, as the kernel itself prints it
/// (`--showconfig` of User-Mode Linux). None if the file is no such kernel.
pub fn configuration(kernel: &Path, executor: &Executor) -> Option<String> {
    let text = ask(kernel, "--showconfig", executor)?;
    text.contains("CONFIG_UML=y").then(|| short(&Sha256::digest(text)))
}

/// The kernel's release, as it prints it.
pub fn release(kernel: &Path, executor: &Executor) -> Option<String> {
    ask(kernel, "--version", executor).map(|text| text.trim().to_owned())
}

/// What a kernel prints. It is confined as it is in the lab, and more: it writes nothing, and
/// talks to nobody.
#[allow(unsafe_code)]
fn ask(kernel: &Path, option: &str, executor: &Executor) -> Option<String> {
    let question = Invocation::new(kernel.display().to_string()).arg(option).timeout(PATIENCE);
    let mut confinement = Confinement::alone(Walls::of_this_system()).ok()?;
    // SAFETY: `confine` allocates nothing.
    let answer = unsafe { executor.check_confined(&question, move || Ok(confinement.confine()?)) };
    Some(answer.ok()?.text())
}

/// What it was built from: a digest of the options and patches, the source, the compiler and
/// OpenZFS, in one line. None if disklab did not build it.
pub fn recipe(kernel: &Path) -> Option<String> {
    let text = read_recipe(&kernel.parent()?.join(RECIPE))?;
    Some(text.trim().replace('\n', ", "))
}

/// A file `recipe`, if it is one.
pub(super) fn read_recipe(path: &Path) -> Option<String> {
    let text = read_text(path, LONGEST_RECIPE).ok()?;
    text.starts_with("configuration ").then_some(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn kernels_that_differ_in_one_byte_have_other_digests() {
        let folder = tempfile::tempdir().expect("temp");
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&a, b"ext4 as it is").expect("written");
        std::fs::write(&b, b"ext4 as it iz").expect("written");
        let [one, other] = [&a, &b].map(|path| digest(path).expect("read"));
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
        assert_eq!(one, digest(&a).expect("read"));
        assert!(digest(&folder.path().join("nothing")).is_err());
    }

    #[test]
    fn configuration_is_what_the_kernel_prints() {
        let folder = tempfile::tempdir().expect("temp");
        let kernel = |name: &str, says: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\necho '{says}'\n")).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("made");
            configuration(&path, &Executor::default())
        };
        let one = kernel("one", "CONFIG_UML=y CONFIG_EXT4_FS=y");
        assert!(one.is_some() && one != kernel("two", "CONFIG_UML=y"));
        assert_eq!(kernel("another-program", "hello"), None);
    }

    #[test]
    fn kernel_that_says_its_configuration_does_nothing_else() {
        let walls = Walls::of_this_system();
        if !walls.missing().is_empty() {
            eprintln!("skipped: needs all walls: {}", walls.missing().join("; "));
            return;
        }
        let folder = tempfile::tempdir().expect("temp");
        let (path, new) = (folder.path().join("linux"), folder.path().join("new"));
        let harm = format!(
            "#!/bin/sh\n(echo x >{0} || mkdir {0} || kill -0 {1}) && echo CONFIG_HARM=y\n\
             echo CONFIG_UML=y",
            new.display(),
            std::process::id()
        );
        let say = |text: &str| {
            std::fs::write(&path, text).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("made");
            configuration(&path, &Executor::default())
        };
        let harmless = say("#!/bin/sh\necho CONFIG_UML=y");
        assert!(harmless.is_some());
        assert_eq!(say(&harm), harmless);
        assert!(!new.exists());
    }

    #[test]
    fn recipe_is_next_to_a_kernel_that_disklab_built() {
        let folder = tempfile::tempdir().expect("temp");
        let kernel = folder.path().join("linux");
        assert_eq!(recipe(&kernel), None);
        let path = folder.path().join(RECIPE);
        std::fs::write(&path, "configuration 12\nsource s\ncompiler c\n").expect("written");
        assert_eq!(recipe(&kernel).as_deref(), Some("configuration 12, source s, compiler c"));
        std::fs::write(&path, "flour and water").expect("written");
        assert_eq!(recipe(&kernel), None);
    }
}

//! What tells one kernel from another: its release does not, as two builds may share it.

use std::io;
use std::path::Path;

use disklab_exec::{open_regular, read_text};
use sha2::{Digest, Sha256};

use super::cache_files::RECIPE;
use super::digest::{hex, short};

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

/// The first 64 bits of the SHA-256 of a configuration, as the kernel itself prints it
/// (`--showconfig` of User-Mode Linux). None if another program printed it.
pub fn configuration(printed: &str) -> Option<String> {
    printed.contains("CONFIG_UML=y").then(|| short(&Sha256::digest(printed)))
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
    use super::*;

    #[test]
    fn kernels_that_differ_in_one_byte_have_other_digests() {
        let directory = tempfile::tempdir().expect("temp");
        let [a, b] = ["a", "b"].map(|name| directory.path().join(name));
        std::fs::write(&a, b"ext4 as it is").expect("written");
        std::fs::write(&b, b"ext4 as it iz").expect("written");
        let [one, other] = [&a, &b].map(|path| digest(path).expect("read"));
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
        assert_eq!(one, digest(&a).expect("read"));
        assert!(digest(&directory.path().join("nothing")).is_err());
    }

    #[test]
    fn only_a_configuration_of_user_mode_linux_has_a_digest() {
        let one = configuration("CONFIG_UML=y CONFIG_EXT4_FS=y");
        assert!(one.is_some() && one != configuration("CONFIG_UML=y"));
        assert_eq!(configuration("hello"), None);
    }

    #[test]
    fn recipe_is_next_to_a_kernel_that_disklab_built() {
        let directory = tempfile::tempdir().expect("temp");
        let kernel = directory.path().join("linux");
        assert_eq!(recipe(&kernel), None);
        let path = directory.path().join(RECIPE);
        std::fs::write(&path, "configuration 12\nsource s\ncompiler c\n").expect("written");
        assert_eq!(recipe(&kernel).as_deref(), Some("configuration 12, source s, compiler c"));
        std::fs::write(&path, "flour and water").expect("written");
        assert_eq!(recipe(&kernel), None);
    }
}

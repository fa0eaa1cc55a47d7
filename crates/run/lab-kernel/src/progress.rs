//! How far a build is.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStep {
    /// Another disklab builds a kernel; this one waits for its end.
    Wait,
    /// OpenZFS is being fetched.
    FetchZfs,
    /// OpenZFS's programs are being built; Debian's are fetched instead.
    BuildZfsPrograms,
    /// The source is being fetched.
    Fetch,
    /// The source is being unpacked.
    Unpack,
    /// The configuration is being made.
    Configure,
    /// OpenZFS is being fitted to the kernel, and put into it.
    ConfigureZfs,
    /// The objects are being compiled.
    Compile,
    /// They are being linked.
    Link,
}

impl BuildStep {
    /// In words, for a progress bar.
    pub fn words(self) -> &'static str {
        match self {
            Self::Wait => "waiting for another build",
            Self::FetchZfs => "fetching OpenZFS",
            Self::BuildZfsPrograms => "building OpenZFS's programs",
            Self::Fetch => "fetching the kernel's source",
            Self::Unpack => "unpacking the kernel's source",
            Self::Configure => "configuring the kernel",
            Self::ConfigureZfs => "configuring OpenZFS",
            Self::Compile => "compiling the kernel",
            Self::Link => "linking the kernel",
        }
    }
}

/// How far a build is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuildProgress {
    /// What is being done.
    pub step: BuildStep,
    /// How much of this step is done, from 0 to 1, if that is known. It is
    /// an estimate.
    pub fraction: Option<f64>,
}

impl BuildProgress {
    /// A step of which nothing more is known.
    pub(super) fn of(step: BuildStep) -> Self {
        Self { step, fraction: None }
    }
}

/// Reads along what `make` says.
#[derive(Debug)]
pub(super) struct Compilation {
    expected: u64,
    objects: u64,
    linking: bool,
    rest: Vec<u8>,
}

impl Compilation {
    /// One that is expected to make so many objects.
    pub fn new(expected: u64) -> Self {
        Self { expected: expected.max(1), objects: 0, linking: false, rest: Vec::new() }
    }

    /// Takes in more of the output, cut anywhere.
    pub fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|b| *b == b'\n') else { return };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        for line in String::from_utf8_lossy(&lines).lines() {
            if is_object(line) {
                self.objects += 1;
            } else if line.starts_with("  LD ") && line.contains("vmlinux") {
                self.linking = true;
            }
        }
    }

    /// How far it is.
    pub fn progress(&self) -> BuildProgress {
        if self.linking {
            return BuildProgress::of(BuildStep::Link);
        }
        #[expect(clippy::cast_precision_loss, reason = "a kernel has some thousand objects")]
        let fraction = (self.objects as f64 / self.expected as f64).min(1.0);
        BuildProgress { step: BuildStep::Compile, fraction: Some(fraction) }
    }
}

/// Whether `make` says that it compiles or assembles (scripts/Makefile.build).
fn is_object(line: &str) -> bool {
    ["  CC ", "  AS "].iter().any(|start| line.starts_with(start))
}

/// What has been added to a file since the last look.
#[derive(Debug)]
pub(super) struct Tail(File);

impl Tail {
    /// From the file's beginning.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// What is new. An error reads as nothing: progress is not worth failing for.
    pub fn more(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = self.0.read_to_end(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn objects_are_counted_and_linking_is_seen() {
        let mut compilation = Compilation::new(4);
        compilation.take(b"  HOSTCC  scripts/basic/fixdep\n  CC      init/main.o\n  A");
        assert_eq!(compilation.progress().fraction, Some(0.25));
        compilation.take(b"S      arch/x86/um/x.o\n  LD      fs/built-in.o\n");
        assert_eq!(
            compilation.progress(),
            BuildProgress { step: BuildStep::Compile, fraction: Some(0.5) }
        );
        for _ in 0..10 {
            compilation.take(b"  CC      a.o\n");
        }
        assert_eq!(compilation.progress().fraction, Some(1.0), "an estimate may be too low");
        compilation.take(b"  LD      vmlinux.o\n");
        assert_eq!(compilation.progress(), BuildProgress::of(BuildStep::Link));
    }

    proptest! {
        #[test]
        fn progress_does_not_depend_on_where_output_is_cut(
            text in proptest::collection::vec(
                prop_oneof![
                    Just(b"  CC      a.o\n".to_vec()),
                    Just(b"  AR      a.a\n".to_vec()),
                    proptest::collection::vec(any::<u8>(), 0..20),
                ],
                0..20,
            ),
            size in 1_usize..40,
        ) {
            let all = text.concat();
            let mut whole = Compilation::new(30);
            whole.take(&all);
            let mut pieces = Compilation::new(30);
            for piece in all.chunks(size) {
                pieces.take(piece);
            }
            prop_assert_eq!(whole.progress(), pieces.progress());
            prop_assert!(whole.progress().fraction.is_none_or(|f| (0.0..=1.0).contains(&f)));
        }
    }
}

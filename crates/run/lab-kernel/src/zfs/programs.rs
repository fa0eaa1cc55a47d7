//! OpenZFS's own programs, as the guest runs them: from the directory of the kernel,
//! without being installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use disklab_exec::{Executor, Invocation};

use super::super::{KernelError, ZfsProblem};

/// What is kept next to the kernel. zfs(8), zpool(8) and zdb(8) are of the kernel's
/// version: an older zpool makes pools with fewer features.
pub(in super::super) const PROGRAMS: [&str; 3] = ["zpool", "zfs", "zdb"];

/// Libraries that the programs take from the system, and Debian's packages of them.
const LIBRARIES: [(&str, &str, &str); 6] = [
    ("libblkid.so", "libblkid.so.1", "libblkid1"),
    ("libcrypto.so", "libcrypto.so.3", "libssl3"),
    ("libtirpc.so", "libtirpc.so.3", "libtirpc3"),
    ("libudev.so", "libudev.so.1", "libudev1"),
    ("libuuid.so", "libuuid.so.1", "libuuid1"),
    ("libz.so", "libz.so.1", "zlib1g"),
];

/// What starts a program with the libraries that lie next to it, wherever that is:
/// the guest sees the directory under another name.
fn starter(program: &str) -> String {
    format!(
        "#!/bin/sh\nLD_LIBRARY_PATH=\"${{0%/*}}/lib\" exec \"${{0%/*}}/bin/{program}\" \"$@\"\n"
    )
}

/// Takes programs and libraries from unpacked packages into the new directory `to`.
///
/// # Errors
/// Where something is not there, or this machine lacks a library of theirs.
pub(super) fn take(unpacked: &Path, to: &Path, executor: &Executor) -> Result<(), KernelError> {
    for directory in [to.join("bin"), to.join("lib")] {
        fs::create_dir_all(&directory).map_err(KernelError::io("cannot make", &directory))?;
    }
    let lacks = |source| KernelError::ZfsSource { path: unpacked.to_owned(), source };
    // Where Debian has them: in /sbin up to Debian 12, in /usr/sbin from 13 on.
    for program in PROGRAMS {
        let found = ["sbin", "usr/sbin", "bin", "usr/bin"]
            .iter()
            .map(|directory| unpacked.join(directory).join(program))
            .find(|path| path.is_file())
            .ok_or_else(|| lacks(ZfsProblem::NoProgram(program)))?;
        copy(&found, &to.join("bin").join(program))?;
        write_program(&to.join(program), &starter(program))?;
    }
    let mut count = 0;
    for directory in ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"] {
        for entry in fs::read_dir(unpacked.join(directory)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().contains(".so.") && entry.path().is_file() {
                copy(&entry.path(), &to.join("lib").join(&name))?;
                count += 1;
            }
        }
    }
    if count == 0 {
        return Err(lacks(ZfsProblem::NoLibraries));
    }
    check(to, executor)
}

/// Sees that the programs find their libraries.
fn check(programs: &Path, executor: &Executor) -> Result<(), KernelError> {
    let mut missing: Vec<String> = Vec::new();
    for program in PROGRAMS {
        let ldd = Invocation::new("ldd")
            .env("LD_LIBRARY_PATH", &programs.join("lib").display().to_string())
            .arg(programs.join("bin").join(program));
        for library in not_found(&executor.run(&ldd)?.text()) {
            if !missing.contains(&library) {
                missing.push(library);
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let (mut what, mut packages) = (Vec::new(), Vec::new());
    for library in &missing {
        let Some(known) = LIBRARIES.iter().find(|(stem, _, _)| library.starts_with(stem)) else {
            let source = ZfsProblem::LibrariesMissing(missing);
            return Err(KernelError::ZfsSource { path: programs.to_owned(), source });
        };
        what.push(known.1);
        packages.push(known.2);
    }
    Err(KernelError::Tools { what, packages })
}

/// The libraries that ldd(1) does not find.
fn not_found(answer: &str) -> Vec<String> {
    let name = |line: &str| line.trim().strip_suffix("=> not found").map(|n| n.trim().to_owned());
    answer.lines().filter_map(name).collect()
}

/// Where in a directory of built sources the programs are, into the new directory `to`.
/// They hold their libraries in themselves.
///
/// # Errors
/// [`KernelError::Io`] of the first that cannot be copied.
pub(super) fn take_built(built: &Path, to: &Path) -> Result<(), KernelError> {
    fs::create_dir_all(to).map_err(KernelError::io("cannot make", to))?;
    PROGRAMS.iter().try_for_each(|program| copy(&built.join(program), &to.join(program)))
}

/// Whether a directory has all programs.
pub(in super::super) fn complete(directory: &Path) -> bool {
    let is_program = |path: PathBuf| {
        path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    PROGRAMS.iter().all(|program| is_program(directory.join(program)))
}

fn copy(from: &Path, to: &Path) -> Result<(), KernelError> {
    fs::copy(from, to).map(drop).map_err(KernelError::io("cannot copy", from))
}

fn write_program(path: &Path, text: &str) -> Result<(), KernelError> {
    fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)))
        .map_err(KernelError::io("cannot write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_libraries_are_named() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibtirpc.so.3 => not found\n\
                    \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n";
        assert_eq!(not_found(text), ["libtirpc.so.3"]);
        assert_eq!(not_found("\tnot a dynamic executable\n"), Vec::<String>::new());
    }

    #[test]
    fn programs_start_with_the_libraries_next_to_them() {
        let directory = tempfile::tempdir().expect("temp");
        let unpacked = directory.path().join("unpacked");
        let libraries = unpacked.join("usr/lib/x86_64-linux-gnu");
        fs::create_dir_all(unpacked.join("usr/sbin")).expect("directory");
        fs::create_dir_all(&libraries).expect("directory");
        let programs = directory.path().join("programs");
        let executor = Executor::default();
        let none = take(&unpacked, &programs, &executor).expect_err("no programs");
        let KernelError::ZfsSource { source: ZfsProblem::NoProgram("zpool"), .. } = none else {
            panic!("{none}")
        };
        for program in PROGRAMS {
            let text = format!("#!/bin/sh\necho {program} $LD_LIBRARY_PATH \"$@\"\n");
            write_program(&unpacked.join("usr/sbin").join(program), &text).expect("program");
        }
        let bare = take(&unpacked, &programs, &executor).expect_err("no libraries");
        let KernelError::ZfsSource { source: ZfsProblem::NoLibraries, .. } = bare else {
            panic!("{bare}")
        };
        fs::write(libraries.join("libzfs.so.6"), "").expect("library");
        assert!(!complete(&directory.path().join("none")));
        take(&unpacked, &programs, &executor).expect("taken");
        assert!(complete(&programs));
        // As the guest: under another name, found by PATH.
        let moved = directory.path().join("moved");
        fs::rename(&programs, &moved).expect("renamed");
        let path = format!("{}:/usr/bin:/bin", moved.display());
        let run = Invocation::new("sh").env("PATH", &path).args(["-c", "zpool create 'a b'"]);
        let said = executor.check(&run).expect("runs").text();
        assert_eq!(said, format!("zpool {}/lib create a b\n", moved.display()));
    }
}

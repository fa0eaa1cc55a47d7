//! What the build needs on this machine.

use disklab_exec::{Executor, Invocation, find_program};

use super::KernelError;

/// Programs and the Debian packages that have them (Linux,
/// Documentation/process/changes.rst). libelf and OpenSSL are not among them:
/// only objtool and signed modules need them, and the lab's kernel has neither.
const PROGRAMS: [(&str, &str); 10] = [
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("make", "make"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("perl", "perl"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
    ("patch", "patch"),
];

/// Programs that only archives need.
const UNPACKERS: [&str; 2] = ["tar", "xz"];

/// Names all that is missing at once. A `tree` is unpacked already.
///
/// # Errors
/// [`KernelError::Tools`].
pub(super) fn check(executor: &Executor, tree: bool) -> Result<(), KernelError> {
    let mut missing: Vec<(&str, &str)> = PROGRAMS
        .iter()
        .copied()
        .filter(|(program, _)| !(tree && UNPACKERS.contains(program)))
        .filter(|(program, _)| find_program(program).is_none())
        .collect();
    // gcc does not bring the C library's headers.
    if !missing.iter().any(|(program, _)| *program == "gcc") && !has_headers(executor)? {
        missing.push(("the C library's headers", "libc6-dev"));
    }
    if missing.is_empty() {
        return Ok(());
    }
    let (what, packages) = missing.into_iter().unzip();
    Err(KernelError::Tools { what, packages })
}

fn has_headers(executor: &Executor) -> Result<bool, KernelError> {
    let probe = Invocation::new("gcc")
        .args(["-fsyntax-only", "-x", "c", "-include", "stdlib.h", "-include", "sys/ptrace.h"])
        .arg("/dev/null");
    Ok(executor.run(&probe)?.code == 0)
}

/// The compiler, as it calls itself.
///
/// # Errors
/// [`KernelError::Tools`] where there is none.
pub(super) fn compiler(executor: &Executor) -> Result<String, KernelError> {
    if find_program("gcc").is_none() {
        // This names the rest as well.
        check(executor, true)?;
    }
    let version = executor.check(&Invocation::new("gcc").arg("--version"))?.text();
    Ok(version.lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_packages() {
        let error = KernelError::Tools {
            what: vec!["bc", "the C library's headers"],
            packages: vec!["bc", "libc6-dev"],
        };
        let text = error.to_string();
        assert!(text.contains("needs bc, the C library's headers, which are not"), "{text}");
        assert!(text.ends_with("apt-get install bc libc6-dev"), "{text}");
        assert!(error.is_usage_error());
    }

    #[test]
    fn the_compiler_says_its_version() {
        if find_program("gcc").is_none() {
            eprintln!("skipped: needs gcc");
            return;
        }
        let text = compiler(&Executor::default()).expect("gcc");
        assert!(text.starts_with("gcc") && text.contains('.'), "{text}");
    }
}

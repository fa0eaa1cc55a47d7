use proptest::prelude::*;

use super::*;

const PACKAGE: &str = "linux-source-6.12";
const TARBALL: &str = "usr/src/linux-source-6.12.tar.xz";
const DEFAULT: LinuxSource = LinuxSource::Debian(LinuxVersion::V6_12);

const MAKEFILE: &str = "# SPDX-License-Identifier: GPL-2.0\nVERSION = 6\nPATCHLEVEL = 12\n\
                        SUBLEVEL = 117\nEXTRAVERSION =\nNAME = Baby Opossum Posse\n";

/// A directory that looks like a kernel's source.
fn kernel_tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("temp");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        fs::write(path, text).expect("file");
    };
    write("Makefile", MAKEFILE);
    write("arch/um/Kconfig", "config UML_TIME_TRAVEL_SUPPORT\n\tbool\n");
    write("include/uapi/linux/um_timetravel.h", "struct um_timetravel_schedshm {\n");
    for part in PARTS {
        write(part, "");
    }
    directory
}

fn refusal(directory: &Path) -> LinuxProblem {
    let source = LinuxSource::Tree(directory.to_owned());
    let error = source.find(Path::new("/"), &Executor::default()).expect_err("must be refused");
    assert!(error.is_usage_error(), "{error}");
    match error {
        KernelError::Source { source, .. } => source,
        other => panic!("{other}"),
    }
}

#[test]
fn a_tree_is_known_by_its_files() {
    let directory = kernel_tree();
    let find = || tree(directory.path()).expect("a tree");
    let first = find();
    assert!(first.identity.starts_with("Linux 6.12.117, files "), "{}", first.identity);
    assert_eq!(find(), first);
    fs::write(directory.path().join("arch/um/more.c"), "int x;\n").expect("file");
    assert_ne!(find().identity, first.identity);
}

#[test]
fn invalid_sources_are_refused_with_the_reason() {
    let empty = tempfile::tempdir().expect("temp");
    let none = empty.path().join("none");
    assert!(matches!(refusal(&none), LinuxProblem::Io { file, .. } if file == none));
    let named = |file: &Path| file == Path::new("Makefile");
    assert!(matches!(refusal(empty.path()), LinuxProblem::Io { file, .. } if named(&file)));
    fs::write(empty.path().join("Makefile"), "all:\n\tcc x.c\n").expect("file");
    assert!(matches!(refusal(empty.path()), LinuxProblem::NotLinux));

    let old = kernel_tree();
    fs::write(old.path().join("include/uapi/linux/um_timetravel.h"), "old\n").expect("file");
    let is_old = |release: &str| release == "6.12.117";
    let problem = refusal(old.path());
    assert!(matches!(problem, LinuxProblem::NoCalendar { release } if is_old(&release)));
    fs::write(old.path().join("arch/um/Kconfig"), "config UML\n").expect("file");
    let problem = refusal(old.path());
    assert!(matches!(problem, LinuxProblem::NoTimeTravel { release } if is_old(&release)));

    for part in PARTS {
        let half = kernel_tree();
        fs::remove_file(half.path().join(part)).expect("removed");
        let problem = refusal(half.path());
        let LinuxProblem::Incomplete { part: missing, release } = &problem else {
            panic!("{problem}")
        };
        assert_eq!((*missing, release.as_str()), (part, "6.12.117"));
    }

    let used = kernel_tree();
    fs::write(used.path().join(".config"), "").expect("file");
    let problem = refusal(used.path());
    assert!(matches!(problem, LinuxProblem::Built { built: ".config", .. }), "{problem}");
    assert!(problem.to_string().contains("mrproper"), "{problem}");
}

#[test]
fn the_installed_tarball_comes_first() {
    let root = tempfile::tempdir().expect("temp");
    fs::create_dir_all(root.path().join("usr/src")).expect("directory");
    let tarball = root.path().join(TARBALL);
    fs::write(&tarball, "xz").expect("file");
    let found = DEFAULT.find(root.path(), &Executor::default()).expect("found");
    assert_eq!(found.origin, Origin::Tarball(tarball));
    assert!(found.identity.ends_with(", 2 bytes"), "{}", found.identity);
}

#[test]
fn the_version_is_read_from_a_package() {
    let text = "Package: linux-source-6.12\nVersion: 6.12.117-1~deb12u1\nDepends: xz-utils\n";
    assert_eq!(version_field(text).as_deref(), Some("6.12.117-1~deb12u1"));
    assert_eq!(version_field("Package: x\n"), None);
    assert_eq!(version_field("Version: \n"), None);
}

#[test]
fn a_fetched_package_gives_its_tarball() {
    if find_program("dpkg-deb").is_none() {
        eprintln!("skipped: needs dpkg-deb");
        return;
    }
    let executor = Executor::default();
    let unpack = |directory: &Path| unpack_package(PACKAGE, directory, directory, &executor);
    let directory = tempfile::tempdir().expect("temp");
    let none = unpack(directory.path()).expect_err("there is none");
    assert!(none.to_string().contains("left no package"), "{none}");

    let package = |name: &str| {
        let content = tempfile::tempdir().expect("temp");
        let file = content.path().join(name);
        fs::create_dir_all(file.parent().expect("parent")).expect("directory");
        fs::write(file, "xz").expect("file");
        fs::create_dir(content.path().join("DEBIAN")).expect("directory");
        let control = format!(
            "Package: {PACKAGE}\nVersion: 6.12.1-1\nArchitecture: all\n\
             Maintainer: nobody <nobody@localhost>\nDescription: test\n"
        );
        fs::write(content.path().join("DEBIAN/control"), control).expect("control");
        let build = Invocation::new("dpkg-deb").args(["--root-owner-group", "-b"]);
        let made = directory.path().join("source_6.12.1-1_all.deb");
        executor.check(&build.arg(content.path()).arg(made)).expect("built");
    };
    package("usr/src/other.tar.xz");
    let other = unpack(directory.path()).expect_err("it has no source");
    assert!(other.to_string().contains(TARBALL), "{other}");

    package(TARBALL);
    let tarball = unpack(directory.path()).expect("unpacked");
    assert_eq!(fs::read_to_string(tarball).expect("tarball"), "xz");
    let debs = fs::read_dir(directory.path()).expect("directory").count();
    assert_eq!(debs, 1, "the package is gone");
}

#[test]
fn without_any_source_the_package_is_named() {
    let error = KernelError::NoSource { tarball: TARBALL.into(), package: PACKAGE };
    assert!(error.is_usage_error());
    assert!(error.to_string().contains("apt-get install linux-source-6.12"), "{error}");
}

#[test]
fn releases_are_read_from_makefiles() {
    assert_eq!(release(MAKEFILE).as_deref(), Some("6.12.117"));
    let candidate = "VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\n";
    assert_eq!(release(candidate).as_deref(), Some("7.2.0-rc3"));
    assert_eq!(release("VERSION = six\nPATCHLEVEL = 12\n"), None);
    assert_eq!(release(""), None);
}

proptest! {
    #[test]
    fn hostile_makefiles_do_no_harm(text in ".*", lines in "((VERSION|PATCHLEVEL) ?= ?.{0,4}\n){0,4}") {
        for makefile in [text, lines] {
            if let Some(release) = release(&makefile) {
                prop_assert!(release.starts_with(|c: char| c.is_ascii_digit() || c == '+'), "{release}");
            }
        }
    }
}

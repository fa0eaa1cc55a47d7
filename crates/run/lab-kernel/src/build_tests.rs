//! Builds of a source that only looks like a kernel's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use disklab_exec::{Executor, find_program};

use super::super::ensure::make;
use super::super::linux::LinuxVersion;
use super::super::parts::Parts;
use super::super::patches::{PATCHES_6_12, Patch};
use super::super::recipe::Recipe;
use super::super::source::{Found, LinuxSource, Origin};
use super::super::tools;
use super::super::variant::{PLAIN, Variant, ZFS};
use super::super::zfs::{EDITS, ZfsSource};
use super::super::{BuildProgress, BuildStep, KernelError, left_out};
use super::KERNEL;

/// A substitute for the kernel's Makefile: the option CONFIG_NO_SUCH of the fragment
/// is dropped, as Kconfig drops what it does not know.
const MAKEFILE: &str = "VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 0
EXTRAVERSION = -test
allnoconfig:
\t@grep -v CONFIG_NO_SUCH $(KCONFIG_ALLCONFIG) >$(O)/.config
prepare modules_prepare:
\t@test -e $(O)/.config
linux:
\t@echo '  CC      a.o'; echo '  LD      vmlinux.o'
\t@O=$(O) sh $(CURDIR)/compile
\t@echo $(ARCH) $(CROSS_COMPILE)- $(KBUILD_BUILD_HOST) >$(O)/linux; chmod 755 $(O)/linux
";

const PATCHES: &[Patch] = &[Patch {
    name: "compile.patch",
    text: "--- a/compile\n+++ b/compile\n@@ -1 +1 @@\n-exit 1\n+exit 0\n",
}];

/// A substitute for OpenZFS's `configure`: its programs are built elsewhere.
const CONFIGURE: &str = "case \"$*\" in
*--with-config=user*) printf 'zpool zfs zdb:\\n\\techo $@ >$@; chmod 755 $@\\n' >Makefile ;;
*--enable-linux-builtin*) echo $ARCH >zfs_config.h ;;
*) exit 1 ;;
esac
";

/// A substitute for its `copy-builtin`.
const COPY_BUILTIN: &str = "set -e
test -e zfs_config.h
rm include/zfs_gitrev.h
mkdir -p $1/fs $1/include
cp -R module $1/fs/zfs
cp -R include $1/include/zfs
";

struct WorkDir(tempfile::TempDir);

impl WorkDir {
    /// A source whose `compile` is a script, or `None` without the tools.
    fn new(compile: &str) -> Option<Self> {
        let tools = ["gcc", "ld", "make", "flex", "bison", "bc", "perl", "tar", "xz", "patch"];
        if let Some(missing) = tools.iter().find(|tool| find_program(tool).is_none()) {
            eprintln!("skipped: needs {missing}");
            return None;
        }
        let place = Self(tempfile::tempdir().expect("temp"));
        fs::create_dir(place.tree()).expect("tree");
        fs::write(place.tree().join("Makefile"), MAKEFILE).expect("Makefile");
        fs::write(place.tree().join("compile"), compile).expect("compile");
        Some(place)
    }

    fn tree(&self) -> PathBuf {
        self.0.path().join("tree")
    }

    fn cache(&self) -> PathBuf {
        self.0.path().join("cache/kernel")
    }

    /// What is in the cache.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache()).expect("cache");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn build(
        &self,
        origin: Origin,
        recipe: &Recipe,
        executor: &Executor,
        mut progress: impl FnMut(BuildStep),
    ) -> Result<PathBuf, KernelError> {
        let found = Found { version: LinuxVersion::V6_12, identity: recipe.source.clone(), origin };
        let mut steps = |p: BuildProgress| progress(p.step);
        make(&found, None, recipe.clone(), &self.cache(), executor, &mut steps)
            .map(|directory| directory.join(KERNEL))
    }

    /// A directory that looks like OpenZFS's source, with what the edits are for.
    fn openzfs(&self) -> PathBuf {
        let tree = self.0.path().join("openzfs");
        let write = |name: &str, text: &str| {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().expect("parent")).expect("directory");
            let before = fs::read_to_string(&path).unwrap_or_default();
            fs::write(path, before + text).expect("file");
        };
        write("META", "Name: zfs\nVersion: 2.3.2\n");
        write("include/zfs_gitrev.h", "the revision\n");
        write("configure", CONFIGURE);
        write("copy-builtin", COPY_BUILTIN);
        for edit in EDITS {
            write(&format!("module/{}", edit.file), &format!("{}\n", edit.find).repeat(edit.times));
        }
        tree
    }
}

fn recipe(fragment: &'static str, patches: &'static [Patch]) -> Recipe {
    let variant = Variant { base: fragment, parts: Parts::NONE, ..PLAIN };
    Recipe { variant, patches, source: "test".into(), compiler: "gcc".into(), openzfs: None }
}

#[test]
fn a_tarball_becomes_a_kernel() {
    let Some(place) = WorkDir::new("exit 1\n") else { return };
    let tarball = place.0.path().join("source.tar.xz");
    let mut tar = Command::new("tar");
    tar.arg("-cJf").arg(&tarball).arg("-C").arg(place.0.path()).arg("tree");
    assert!(tar.status().expect("tar").success());
    let recipe = recipe("CONFIG_A=y\n# CONFIG_B is not set\n", PATCHES);
    let executor = Executor::default();
    let mut steps = Vec::new();
    let build = |steps: &mut Vec<BuildStep>| {
        place.build(Origin::Tarball(tarball.clone()), &recipe, &executor, |step| {
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        })
    };
    let kernel = build(&mut steps).expect("built");
    assert_eq!(steps[..2], [BuildStep::Unpack, BuildStep::Configure]);
    assert_eq!(fs::read_to_string(&kernel).expect("kernel"), "um - lab\n");
    let directory = kernel.parent().expect("directory");
    assert_eq!(directory, place.cache().join(recipe.key()));
    let kept = |name: &str| fs::read_to_string(directory.join(name)).expect("kept");
    assert!(kept("config").contains("CONFIG_A=y"));
    assert!(kept("build.log").contains("  CC      a.o"));
    assert_eq!(kept("recipe"), recipe.text());
    assert_eq!(place.names(), [recipe.key(), "lock".to_owned(), "tree".to_owned()]);
    assert!(!place.cache().join("tree/source").exists(), "it takes room");

    steps.clear();
    fs::remove_file(&tarball).expect("removed");
    assert_eq!(build(&mut steps).expect("kept"), kernel);
    assert!(steps.is_empty(), "it is built once: {steps:?}");
}

#[test]
fn openzfs_is_built_into_a_copy() {
    let Some(place) = WorkDir::new("cat include/zfs/zfs_gitrev.h fs/zfs/*/*.c\n") else { return };
    let openzfs = place.openzfs();
    let zfs = ZfsSource::Tree(openzfs.clone());
    let fragment = "CONFIG_A=y\nCONFIG_ZFS=y\n";
    let variant = Variant { base: fragment, parts: Parts::NONE, needed_mib: 1, ..ZFS };
    let identity = zfs.identity().expect("a source");
    let recipe = Recipe { variant, openzfs: identity, ..recipe(fragment, &[]) };
    let found = Found {
        version: LinuxVersion::V6_12,
        identity: "test".into(),
        origin: Origin::Tree(place.tree()),
    };
    let mut steps = Vec::new();
    let mut progress = |p: BuildProgress| {
        if steps.last() != Some(&p.step) {
            steps.push(p.step);
        }
    };
    let (cache, executor) = (place.cache(), Executor::default());
    let made = make(&found, Some(&zfs), recipe.clone(), &cache, &executor, &mut progress);
    let directory = made.expect("built");
    assert_eq!(directory, cache.join(recipe.key()));
    let expected = [
        BuildStep::BuildZfsPrograms,
        BuildStep::Unpack,
        BuildStep::Configure,
        BuildStep::ConfigureZfs,
        BuildStep::Configure,
    ];
    assert_eq!(steps[..5], expected);
    let kept = |name: &str| fs::read_to_string(directory.join(name)).expect("kept");
    assert_eq!(kept("programs/zpool"), "zpool\n");
    let log = kept("build.log");
    assert!(log.contains("the revision"), "{log}");
    for edit in EDITS {
        assert_eq!(log.matches(edit.replace).count(), edit.times, "{log}");
    }
    assert!(kept("config").contains("CONFIG_ZFS=y"));
    // Nothing was changed in what the user named.
    assert!(!place.tree().join("fs").exists());
    assert_eq!(zfs.identity().expect("a source"), recipe.openzfs);
    assert_eq!(place.names(), [recipe.key(), "lock".to_owned()]);
}

#[test]
fn named_source_gets_the_patches_that_it_takes() {
    const WITH_ANOTHER: &[Patch] = &[
        PATCHES[0],
        Patch {
            name: "registers.patch",
            text: "--- a/Makefile\n+++ b/Makefile\n@@ -1 +1 @@\n-VERSION = 1\n+VERSION = 2\n",
        },
    ];
    for compile in ["exit 1\n", "exit 0\n"] {
        let Some(place) = WorkDir::new(compile) else { return };
        let recipe = recipe("CONFIG_A=y\n", WITH_ANOTHER);
        let build = || {
            let origin = Origin::Tree(place.tree());
            place.build(origin, &recipe, &Executor::default(), |_| {}).expect("built")
        };
        let kernel = build();
        let names: Vec<_> = left_out(&kernel).iter().map(|patch| patch.name).collect();
        assert_eq!(names, ["registers.patch"]);
        let own = fs::read_to_string(place.tree().join("compile")).expect("there");
        assert_eq!(own, compile, "it is only read");
        assert!(fs::read_to_string(place.tree().join("Makefile")).expect("there") == MAKEFILE);
        assert_eq!(build(), kernel, "it is kept");
    }
}

#[test]
fn options_that_were_dropped_are_named() {
    let Some(place) = WorkDir::new("exit 0\n") else { return };
    let recipe = recipe("CONFIG_A=y\nCONFIG_NO_SUCH=y\n", &[]);
    let error = place
        .build(Origin::Tree(place.tree()), &recipe, &Executor::default(), |_| {})
        .expect_err("an option is missing");
    assert!(error.is_usage_error());
    assert_eq!(
        error.to_string(),
        "Linux 6.12.0-test as configured lacks what the lab needs: CONFIG_NO_SUCH=y"
    );
    assert_eq!(place.names(), ["lock", "tree"]);
}

#[test]
fn a_build_that_fails_leaves_its_log() {
    let Some(place) = WorkDir::new("echo 'a.c: no such thing' >&2; exit 1\n") else { return };
    let recipe = recipe("CONFIG_A=y\n", &[]);
    let error = place
        .build(Origin::Tree(place.tree()), &recipe, &Executor::default(), |_| {})
        .expect_err("it fails");
    let KernelError::Failed { log, lines, .. } = &error else { panic!("{error}") };
    assert!(lines.contains("a.c: no such thing"), "{lines}");
    assert!(!error.is_usage_error() && !error.is_interrupt());
    assert!(fs::read_to_string(log).expect("log").contains(lines));
    let names = [format!("{}.log", recipe.key()), "lock".to_owned(), "tree".to_owned()];
    assert_eq!(place.names(), names);
}

#[test]
fn interrupted_build_is_resumed() {
    let compile = "echo x >>objects; [ $(wc -l <objects) = 2 ] || exec sleep 1000\n";
    let Some(place) = WorkDir::new(&compile.replace("objects", "$O/objects")) else { return };
    let executor = Executor::default();
    let interrupt = executor.interrupt.clone();
    let recipe = recipe("CONFIG_A=y\n", &[]);
    let error = place
        .build(Origin::Tree(place.tree()), &recipe, &executor, |step| {
            if step == BuildStep::Link {
                interrupt.raise();
            }
        })
        .expect_err("interrupted");
    assert!(error.is_interrupt(), "{error}");
    assert_eq!(place.names(), ["lock", "tree"]);
    let kernel = place
        .build(Origin::Tree(place.tree()), &recipe, &Executor::default(), |_| {})
        .expect("it finds what the first has left");
    assert!(kernel.is_file());
    // Another compiler's objects would not fit.
    let other = Recipe { compiler: "gcc 99".into(), ..recipe };
    let executor = Executor::default();
    let interrupt = executor.interrupt.clone();
    let again = place.build(Origin::Tree(place.tree()), &other, &executor, |step| {
        if step == BuildStep::Link {
            interrupt.raise();
        }
    });
    assert!(again.expect_err("nothing was left").is_interrupt());
}

#[test]
fn objects_that_do_not_compile_are_compiled_again() {
    let compile = "if [ -e $O/broken ]; then exit 1; fi; touch $O/broken\n";
    let Some(place) = WorkDir::new(compile) else { return };
    let small = recipe("CONFIG_A=y\n", &[]);
    let large = recipe("CONFIG_A=y\nCONFIG_B=y\n", &[]);
    for recipe in [&small, &large] {
        let built = place.build(Origin::Tree(place.tree()), recipe, &Executor::default(), |_| {});
        assert!(built.is_ok(), "{built:?}");
    }
    assert_eq!(place.names().len(), 4, "two kernels, one tree: {:?}", place.names());
}

#[test]
fn a_path_that_makefiles_split_is_refused_before_anything_is_made() {
    let Some(place) = WorkDir::new("exit 0\n") else { return };
    let odd = place.0.path().join("my tree");
    fs::rename(place.tree(), &odd).expect("renamed");
    let error = place
        .build(Origin::Tree(odd), &recipe("CONFIG_A=y\n", &[]), &Executor::default(), |_| {})
        .expect_err("a space");
    assert!(error.is_usage_error() && error.to_string().contains("my tree"), "{error}");
    assert!(!Path::new(&place.cache()).exists());
}

#[test]
fn script_that_begins_a_build_knows_its_identity() {
    let executor = Executor::default();
    let Ok(Found { identity, origin: Origin::Tarball(_), .. }) =
        LinuxSource::Debian(LinuxVersion::V6_12).find(Path::new("/"), &executor)
    else {
        eprintln!("skipped: needs linux-source-6.12");
        return;
    };
    let Ok(compiler) = tools::compiler(&executor) else {
        eprintln!("skipped: needs gcc");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/kernel");
    let said = Command::new(script).arg("--identity").output().expect("run");
    let said = String::from_utf8_lossy(&said.stdout);
    let recipe =
        Recipe { variant: PLAIN, patches: PATCHES_6_12, source: identity, compiler, openzfs: None };
    assert_eq!(said, recipe.tree_text());
}

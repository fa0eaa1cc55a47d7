use super::super::cache_files::{CONFIG, LOG};
use super::super::options::FRAGMENT;
use super::super::patches::{PATCHES_6_12, Patch};
use super::super::recipe::Recipe;
use super::*;

fn recipe(fragment: &'static str, patches: &'static [Patch]) -> Recipe {
    recipe_of(Variant { base: fragment, ..PLAIN }, patches)
}

fn recipe_of(variant: Variant, patches: &'static [Patch]) -> Recipe {
    let (source, compiler) = ("source".into(), "compiler".into());
    Recipe { variant, patches, source, compiler, openzfs: variant.programs.then(|| "2.3".into()) }
}

/// Publishes a kernel as a build would.
fn build(cache: &Cache, key: &str, fragment: &'static str) -> PathBuf {
    publish(cache, key, &recipe(fragment, PATCHES_6_12))
}

fn publish(cache: &Cache, key: &str, recipe: &Recipe) -> PathBuf {
    let workshop = cache.workshop(key).expect("workshop");
    let made = workshop.directory.join("made");
    fs::create_dir(&made).expect("made");
    for name in [KERNEL, CONFIG] {
        fs::write(made.join(name), "").expect("file");
    }
    fs::write(made.join(LOG), "  CC      a.o\n").expect("log");
    fs::write(made.join(RECIPE), recipe.text()).expect("recipe");
    fs::set_permissions(made.join(KERNEL), fs::Permissions::from_mode(0o755)).expect("mode");
    if recipe.variant.programs {
        fs::create_dir(made.join(PROGRAMS)).expect("programs");
        for program in zfs::PROGRAMS {
            fs::copy(made.join(KERNEL), made.join(PROGRAMS).join(program)).expect("program");
        }
    }
    cache.publish(&made, key).expect("published")
}

fn plain(directory: &Path) -> Option<PathBuf> {
    found(directory, &PLAIN)
}

fn lock(directory: &Path) -> Cache {
    Cache::lock(directory, &Interrupt::new(), &mut |_| {}).expect("lock")
}

#[test]
fn only_a_complete_kernel_of_this_configuration_is_found() {
    let directory = tempfile::tempdir().expect("temp");
    let directory = directory.path().join("a/b");
    assert_eq!(plain(&directory), None);
    let cache = lock(&directory);
    assert_eq!(plain(&directory), None);
    build(&cache, "other", "CONFIG_OTHER=y\n");
    assert_eq!(plain(&directory), None, "it may lack what is needed");
    let kernel = build(&cache, "this", FRAGMENT);
    assert_eq!(kernel, directory.join("this"));
    assert_eq!(plain(&directory), Some(kernel.clone()));
    assert_eq!(kept(&directory, &recipe(FRAGMENT, PATCHES_6_12)), Some(kernel.clone()));
    fs::set_permissions(kernel.join(KERNEL), fs::Permissions::from_mode(0o644)).expect("mode");
    assert_eq!(plain(&directory), None, "it cannot be started");
    assert_eq!(build(&cache, "this", FRAGMENT), kernel, "the incomplete one is replaced");
    assert_eq!(plain(&directory), Some(kernel));
}

#[test]
fn a_kernel_with_openzfs_has_its_programs() {
    let directory = tempfile::tempdir().expect("temp");
    let cache = lock(directory.path());
    let recipe = recipe_of(ZFS, PATCHES_6_12);
    let made = publish(&cache, "zfs", &recipe);
    assert_eq!(plain(directory.path()), None, "it is another kernel");
    let found = find_zfs(directory.path()).expect("found");
    assert_eq!(found, ZfsKernel::in_directory(&made));
    assert!(found.programs.join("zpool").is_file());
    // Which OpenZFS it is, only its own fetching would tell.
    let any = Recipe { openzfs: None, ..recipe.clone() };
    assert_eq!(kept(directory.path(), &any), Some(made.clone()));
    let other = Recipe { openzfs: Some("2.4".into()), ..recipe };
    assert_eq!(kept(directory.path(), &other), None);
    fs::remove_file(found.programs.join("zdb")).expect("removed");
    assert_eq!(find_zfs(directory.path()), None, "a program is missing");
}

#[test]
fn kernel_of_a_named_source_is_only_found_for_that() {
    const OLD: &[Patch] = &[Patch { name: "old.patch", text: "old" }];
    let directory = tempfile::tempdir().expect("temp");
    let cache = lock(directory.path());
    publish(&cache, "old", &recipe(FRAGMENT, OLD));
    assert_eq!(plain(directory.path()), None, "it lacks this version's patches");
    let source = "Linux 6.12.0-mine, files 0123456789abcdef".into();
    let named = Recipe { source, ..recipe(FRAGMENT, PATCHES_6_12) };
    let made = publish(&cache, "named", &named);
    assert_eq!(plain(directory.path()), None, "nobody named it");
    assert_eq!(kept(directory.path(), &named), Some(made));
    let debian = publish(&cache, "debian", &recipe(FRAGMENT, PATCHES_6_12));
    assert_eq!(plain(directory.path()), Some(debian));
}

#[test]
fn kernel_with_the_fewest_other_parts_is_found() {
    let directory = tempfile::tempdir().expect("temp");
    let cache = lock(directory.path());
    let with = |parts: &str| PLAIN.with(parts.parse().expect("parts"));
    let kept = |parts: &str| found(directory.path(), &with(parts));
    let all = publish(&cache, "all", &recipe_of(PLAIN, PATCHES_6_12));
    assert_eq!(kept("ext4"), Some(all.clone()), "it has that too");
    let two = publish(&cache, "two", &recipe_of(with("ext4 xfs"), PATCHES_6_12));
    let last = publish(&cache, "last", &recipe_of(PLAIN, PATCHES_6_12));
    assert_eq!(kept("ext4"), Some(two.clone()));
    assert_eq!(kept("ext4 xfs"), Some(two));
    assert!([Some(all), Some(last)].contains(&kept("ext4 btrfs")));
    assert_eq!(kept(""), kept("xfs"));
}

#[test]
fn nothing_half_stays() {
    let directory = tempfile::tempdir().expect("temp");
    let names = || {
        let mut names: Vec<_> = fs::read_dir(directory.path())
            .expect("directory")
            .map(|e| e.expect("entry").file_name())
            .collect();
        names.sort();
        names
    };
    let cache = lock(directory.path());
    drop(cache.workshop("key").expect("workshop"));
    assert_eq!(names(), ["lock"]);
    // A build that was killed.
    let killed = cache.workshop("key").expect("workshop");
    fs::write(killed.directory.join("file"), "half").expect("file");
    std::mem::forget(killed);
    drop(cache);
    assert_eq!(plain(directory.path()), None);
    lock(directory.path());
    assert_eq!(names(), ["lock"]);
}

#[test]
fn the_second_build_waits_and_can_be_interrupted() {
    let directory = tempfile::tempdir().expect("temp");
    let held = lock(directory.path());
    let interrupt = Interrupt::new();
    let mut steps = Vec::new();
    let error = Cache::lock(directory.path(), &interrupt.clone(), &mut |progress| {
        steps.push(progress.step);
        interrupt.raise();
    })
    .expect_err("interrupted");
    assert!(error.is_interrupt(), "{error}");
    assert_eq!(steps, [BuildStep::Wait]);
    drop(held);
    lock(directory.path());
}

#[test]
fn a_cache_that_cannot_be_made_is_named() {
    let file = tempfile::NamedTempFile::new().expect("temp");
    let directory = file.path().join("kernel");
    let error = Cache::lock(&directory, &Interrupt::new(), &mut |_| {}).expect_err("no directory");
    assert!(error.to_string().contains(&directory.display().to_string()), "{error}");
    assert_eq!(plain(&directory), None);
}

#[test]
fn kernel_of_another_version_is_never_taken() {
    let directory = tempfile::tempdir().expect("temp");
    let directory = directory.path();
    let cache = lock(directory);
    let newer = PLAIN.of(LinuxVersion::V7_3);
    publish(&cache, "newer", &recipe_of(newer, LinuxVersion::V7_3.patches()));
    assert_eq!(plain(directory), None, "it gives other figures");
    let old = publish(&cache, "old", &recipe_of(PLAIN, PATCHES_6_12));
    assert_eq!(plain(directory), Some(old));
    let found = |version| find_version(directory, version, Parts::ALL);
    assert_eq!(found(LinuxVersion::V7_3), Some(directory.join("newer/linux")));
    assert_eq!(found(LinuxVersion::V6_12), Some(directory.join("old/linux")));
}

/// Gives a file to another user; false without root.
fn give_away(path: &Path) -> bool {
    let given = std::os::unix::fs::lchown(path, Some(65_534), Some(65_534)).is_ok();
    if !given {
        eprintln!("skipped: needs root");
    }
    given
}

#[test]
fn kernels_of_others_are_never_found() {
    for theirs in ["", "cache", "cache/made", "cache/made/linux", "cache/made/programs"] {
        let parent = tempfile::tempdir().expect("temp");
        let directory = parent.path().join("cache");
        let recipe = recipe_of(ZFS, PATCHES_6_12);
        let made = publish(&lock(&directory), "made", &recipe);
        assert_eq!(find_zfs(&directory), Some(ZfsKernel::in_directory(&made)));
        if !give_away(&parent.path().join(theirs)) {
            return;
        }
        assert_eq!(find_zfs(&directory), None, "{theirs}");
        assert_eq!(kept(&directory, &recipe), None, "{theirs}");
        let of_cache = check_cache(&directory).map_err(|e| e.to_string());
        assert_eq!(of_cache.is_err(), !theirs.contains("made"), "{theirs}: {of_cache:?}");
        if let Err(error) = of_cache {
            assert!(error.contains("belongs to user 65534"), "{error}");
            let locked = Cache::lock(&directory, &Interrupt::new(), &mut |_| {});
            assert!(locked.expect_err("refused").is_usage_error());
        }
    }
}

#[test]
fn kernels_that_others_may_change_are_never_found() {
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    };
    for open in ["cache", "cache/made", "cache/made/linux"] {
        let parent = tempfile::tempdir().expect("temp");
        let directory = parent.path().join("cache");
        let made = publish(&lock(&directory), "made", &recipe_of(PLAIN, PATCHES_6_12));
        assert_eq!(plain(&directory), Some(made));
        mode(&parent.path().join(open), 0o777);
        assert_eq!(plain(&directory), None, "{open}");
    }
    let parent = tempfile::tempdir().expect("temp");
    let directory = parent.path().join("cache");
    let made = publish(&lock(&directory), "made", &recipe_of(PLAIN, PATCHES_6_12));
    fs::rename(&made, parent.path().join("elsewhere")).expect("moved");
    std::os::unix::fs::symlink("../elsewhere", &made).expect("link");
    assert_eq!(plain(&directory), None, "a link");
}

#[test]
fn objects_of_others_are_not_resumed() {
    let directory = tempfile::tempdir().expect("temp");
    let cache = lock(directory.path());
    let tree = |cache: &Cache| {
        let tree = cache.tree(LinuxVersion::default(), "text").expect("made");
        tree.directory.clone()
    };
    let object = tree(&cache).join("objects/scripts/fixdep");
    fs::create_dir_all(object.parent().expect("parent")).expect("made");
    fs::write(&object, "").expect("written");
    tree(&cache);
    assert!(object.exists());
    fs::set_permissions(&object, fs::Permissions::from_mode(0o757)).expect("mode");
    tree(&cache);
    assert!(!object.exists(), "make runs it");
}

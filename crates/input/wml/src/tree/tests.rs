use std::collections::HashSet;
use std::sync::Arc;

use disklab_source::Source;
use proptest::prelude::*;

use super::*;
use crate::random::{Rand48, Rng};
use crate::{Overrides, Personality};

fn fileset(attributes: &str) -> Fileset {
    let text = format!(
        "set $rv=randvar(type=uniform,mean=3) set $size=randvar(mean=16k)\n\
         define {attributes}\ndefine process name=p {{ thread name=t {{ flowop aiowait name=a }} }}"
    );
    let source = Arc::new(Source { name: "a.f".to_owned(), text });
    let personality =
        Personality::read(&source, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    personality.filesets[0].clone()
}

fn paths(tree: &FilesetTree) -> (Vec<String>, Vec<String>, Vec<String>) {
    let path = |push: fn(&FilesetTree, usize, &mut String), i| {
        let mut path = String::new();
        push(tree, i, &mut path);
        path
    };
    (
        (0..tree.files()).map(|i| path(FilesetTree::push_file_path, i)).collect(),
        (0..tree.directories()).map(|i| path(FilesetTree::push_directory_path, i)).collect(),
        (0..tree.leaf_directories()).map(|i| path(FilesetTree::push_leaf_path, i)).collect(),
    )
}

fn build(attributes: &str) -> FilesetTree {
    FilesetTree::build(&fileset(attributes), &mut Rng::stream(1, 0)).expect("fits")
}

#[test]
fn a_single_file_has_the_name_that_filebench_gives_it() {
    let tree = build("file name=f,path=/t,size=1m");
    let (files, directories, _) = paths(&tree);
    assert_eq!(files, ["00000001/00000001"]);
    assert_eq!(directories, ["", "00000001"]);
    assert_eq!((tree.file_size(0), tree.bytes()), (1 << 20, 1 << 20));
}

#[test]
fn names_are_printf_s() {
    for (serial, name) in [
        (1, "00000001"),
        (12_345_678, "12345678"),
        (123_456_789, "123456789"),
        (u32::MAX, "4294967295"),
    ] {
        let mut path = String::new();
        push_name(&mut path, serial);
        assert_eq!(path, name);
        push_name(&mut path, 10);
        assert_eq!(path, format!("{name}/00000010"));
    }
}

#[test]
fn exact_trees_are_full() {
    // ln 1000 / ln 10 = 3 levels; rounding makes it 2 or 3.
    let tree = build("fileset name=f,path=/t,entries=1000,dirwidth=10,dirgamma=0,size=4k");
    assert_eq!((tree.files(), tree.bytes()), (1000, 1000 * 4096));
    let (files, ..) = paths(&tree);
    assert_eq!(files[9].rsplit('/').next(), Some("00000010"));
    assert_eq!(files[10].rsplit('/').next(), Some("00000001"));
    let flat = build("fileset name=f,path=/t,entries=1000,dirwidth=1000000,dirgamma=0");
    assert_eq!((flat.directories(), flat.directory_of(999)), (2, 1));
    let (files, ..) = paths(&flat);
    assert_eq!(files[999], "00000001/00001000");
    let single = build("fileset name=f,path=/t,entries=5");
    assert_eq!(paths(&single).0[4], "00000005/00000001");
}

#[test]
fn widths_and_depths_have_their_means() {
    let tree = build("fileset name=f,path=/t,entries=100000,dirwidth=20,size=$size");
    let (files, ..) = paths(&tree);
    let filled: HashSet<usize> = (0..tree.files()).map(|i| tree.directory_of(i)).collect();
    // Rounded up, a gamma-distributed width of mean 20 is half an entry more.
    let width = tree.files() as f64 / filled.len() as f64;
    assert!((18.5..22.5).contains(&width), "{width}");
    let depth = files.iter().map(|f| f.matches('/').count()).sum::<usize>() as f64 / 1e5;
    // ln 100000 / ln 20 = 3.84 is the mean of the draws; most files are deeper, as
    // each directory that is none of the deepest holds 20 others.
    assert!((4.0..13.0).contains(&depth), "{depth}");
    let mean = tree.bytes() as f64 / 1e5;
    assert!((mean / 16384.0 - 1.0).abs() < 0.02, "{mean}");
    assert_eq!(tree.bytes(), (0..tree.files()).map(|i| tree.file_size(i)).sum::<u64>());
}

#[test]
fn a_million_files_take_little_memory() {
    let tree = build("fileset name=f,path=/t,entries=1000000,dirwidth=20,size=$size");
    assert_eq!(tree.files(), 1_000_000);
    let all = tree.memory() + crate::Picks::memory_for(tree.files());
    assert!(all < 40 << 20, "{all}");
}

#[test]
fn the_same_generator_gives_the_same_tree() {
    let fileset = fileset("fileset name=f,path=/t,entries=500,leafdirs=50,dirwidth=7,size=$size");
    let one = FilesetTree::build(&fileset, &mut Rand48::default()).expect("fits");
    let other = FilesetTree::build(&fileset, &mut Rand48::default()).expect("fits");
    assert_eq!(paths(&one), paths(&other));
    assert_ne!(
        paths(&one),
        paths(&FilesetTree::build(&fileset, &mut Rand48::new(5)).expect("fits"))
    );
}

#[test]
fn too_much_is_refused() {
    let many = fileset("fileset name=f,path=/t,entries=17m,dirwidth=20");
    let error = FilesetTree::build(&many, &mut Rand48::default()).expect_err("too many");
    let expected = TreeError::Entries { fileset: "f".into(), drawn: 17 << 20, what: "entries" };
    assert_eq!(error, expected);
}

#[test]
fn preallocation_takes_its_share_in_random_order() {
    let mut rng = Rng::stream(9, 0);
    assert_eq!(preallocated(100, 0, &mut rng), []);
    let mut all = preallocated(1000, 100, &mut rng);
    assert!(!all.is_sorted());
    all.sort_unstable();
    assert_eq!(all, (0..1000).collect::<Vec<u32>>());
    let some = preallocated(100_000, 80, &mut rng).len();
    assert!((79_000..81_000).contains(&some), "{some}");
}

proptest! {
    #[test]
    fn trees_hold_what_was_asked_for_under_names_of_their_own(
        seed: u64, entries in 0_u64..3000, leafdirs in 0_u64..300, width in 0_u64..60,
        gamma in prop::sample::select(vec![0_u64, 1, 500, 1500, 9000]), depth: bool,
    ) {
        prop_assume!(entries + leafdirs > 0);
        let depth = if depth { ",dirdepthrv=$rv" } else { "" };
        let fileset = fileset(&format!(
            "fileset name=f,path=/t,entries={entries},leafdirs={leafdirs},dirwidth={width},dirgamma={gamma}{depth}"
        ));
        let tree = FilesetTree::build(&fileset, &mut Rng::stream(seed, 0)).expect("fits");
        prop_assert_eq!(tree.files() as u64, entries);
        prop_assert_eq!(tree.leaf_directories() as u64, leafdirs);
        let (files, directories, leaves) = paths(&tree);
        let known: HashSet<&String> = directories.iter().collect();
        let all: HashSet<&String> = files.iter().chain(&directories).chain(&leaves).collect();
        prop_assert_eq!(all.len(), files.len() + directories.len() + leaves.len());
        for path in files.iter().chain(&leaves).chain(&directories[1..]) {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
            prop_assert!(known.contains(&parent), "{}", path);
            prop_assert!(path.len() < 4000);
        }
        for i in 0..tree.leaf_directories() {
            let name = format!("{:08}", tree.serial_of_leaf(i));
            let inside = directories[tree.directory_of_leaf(i)].as_str();
            prop_assert_eq!(leaves[i].rsplit_once('/').unwrap_or(("", &leaves[i])), (inside, name.as_str()));
        }
        for i in 0..tree.files() {
            let name = format!("{:08}", tree.serial_of(i));
            let inside = directories[tree.directory_of(i)].as_str();
            prop_assert_eq!(files[i].rsplit_once('/').unwrap_or(("", &files[i])), (inside, name.as_str()));
        }
        for (i, directory) in directories.iter().enumerate().skip(1) {
            let name = format!("{:08}", tree.serial_of_directory(i));
            prop_assert!(directory.ends_with(&name));
            prop_assert_eq!(&directories[tree.directory_of_directory(i)], &directory.rsplit_once('/').map_or("", |(parent, _)| parent));
            let parent = directory.rsplit_once('/').map_or("", |(parent, _)| parent);
            let above = directories.iter().position(|d| d == parent).expect("known");
            prop_assert!(above < i);
        }
    }
}

//! No file knows both who uses it and what it uses: files of a crate do not name each other in a
//! circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{Module, Modules};
use crate::tree::files_with;

type Names = Vec<String>;

#[test]
fn files_do_not_name_each_other_in_a_circle() {
    let manifests = files_with("crates", "toml");
    let crates = manifests.iter().filter_map(|file| file.strip_suffix("/Cargo.toml"));
    let mut found = Vec::new();
    let mut modules = 0;
    for directory in crates {
        let of_crate = Modules::of(directory);
        modules += of_crate.iter().count();
        let edges = of_crate.iter().map(|(path, _)| (path.clone(), of_crate.named_by(path)));
        for circle in circles(&edges.collect()) {
            let files = of_crate.iter().filter(|(path, _)| circle.contains(*path));
            let named = |path| {
                let named = of_crate.named_by(path).into_iter().filter(|to| circle.contains(to));
                named.map(|to| to.join("::")).collect::<Vec<_>>().join(", ")
            };
            let line = |(path, module): (_, &Module)| format!("{}: {}", module.file, named(path));
            found.push(files.map(line).collect::<Vec<_>>());
        }
    }
    assert!(modules > 1000, "{modules} modules were read");
    let circles: Vec<String> = found.iter().map(|circle| circle.join("\n  ")).collect();
    assert!(
        circles.is_empty(),
        "files and what they name in their circle:\n{}",
        circles.join("\n")
    );
}

/// The groups of modules in which each reaches each other.
fn circles(edges: &BTreeMap<Names, BTreeSet<Names>>) -> Vec<BTreeSet<Names>> {
    let reached: BTreeMap<&Names, BTreeSet<&Names>> =
        edges.keys().map(|from| (from, reached(edges, from))).collect();
    let mut circles: Vec<BTreeSet<Names>> = Vec::new();
    for (from, to) in &reached {
        let circle: BTreeSet<Names> = to
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(from)))
            .map(|other| (*other).clone())
            .collect();
        if circle.len() > 1 && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

/// All that a module names, and that those name; itself only in a circle.
fn reached<'a>(
    edges: &'a BTreeMap<Names, BTreeSet<Names>>,
    from: &'a Names,
) -> BTreeSet<&'a Names> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        open.extend(edges.get(next).into_iter().flatten().filter(|to| reached.insert(*to)));
    }
    reached
}

#[test]
fn circles_are_found_through_others() {
    let named = |text: &str| -> BTreeMap<Names, BTreeSet<Names>> {
        let edge = |line: &str| {
            let (from, to) = line.split_once(':').expect("a colon");
            let name = |name: &str| vec![name.to_owned()];
            (name(from), to.split_whitespace().map(name).collect())
        };
        text.split(',').map(edge).collect()
    };
    assert!(circles(&named("a:b c,b:c,c:")).is_empty());
    let found = circles(&named("a:b,b:c,c:b d,d:,e:e"));
    let names: Vec<String> = found.iter().flatten().map(|path| path.concat()).collect();
    assert_eq!(names, ["b", "c"]);
}

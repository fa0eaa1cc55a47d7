//! The compiler and gcc alone make the same of sources and headers that only look like a kernel's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use disklab_exec::find_program;

use super::compiler;

/// A tree with the headers that common.h includes: all are empty but `linux/fs.h`.
struct Tree(tempfile::TempDir, PathBuf);

const HEADER: &str = "#ifndef FS_H
#define FS_H
#ifndef LIMIT
#define LIMIT 1
#endif
static inline int limit(void) { return LIMIT; }
int all(void);
#endif
";
const SOURCE: &str = "#include <linux/fs.h>
int all(void) { return limit(); }
const char *mine(void);
const char *mine(void) { return KBUILD_MODNAME; }
";

impl Tree {
    fn new() -> Option<Self> {
        if find_program("gcc").is_none() {
            eprintln!("skipped: needs gcc");
            return None;
        }
        let directory = tempfile::tempdir().expect("temp");
        let compiler = compiler(directory.path()).expect("compiler");
        let common = fs::read_to_string(directory.path().join("headers/common.h")).expect("read");
        for name in common.lines().filter_map(|line| line.strip_prefix("#include <")) {
            let path = directory.path().join("include").join(name.trim_end_matches('>'));
            fs::create_dir_all(path.parent().expect("directory")).expect("made");
            fs::write(path, "").expect("written");
        }
        fs::write(directory.path().join("include/linux/fs.h"), HEADER).expect("written");
        Some(Self(directory, compiler))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The object that a compiler makes of `NAME.c`, with kbuild's options.
    fn object(&self, compiler: &Path, name: &str, source: &str) -> Vec<u8> {
        let source_path = self.path("source").join(name).with_extension("c");
        let object = self.path("a.o");
        fs::create_dir_all(source_path.parent().expect("directory")).expect("made");
        fs::write(&source_path, source).expect("written");
        let mut command = Command::new(compiler);
        command.arg(format!("-Wp,-MMD,{}", self.path("a.d").display()));
        command.arg("-I").arg(self.path("include"));
        for header in ["compiler-version", "kconfig", "compiler_types"] {
            command.arg("-include").arg(self.path(&format!("include/linux/{header}.h")));
        }
        command.args(["-D__KERNEL__", "-O1", "-DKBUILD_MODNAME=\"xfs\"", "-c", "-o"]);
        let output = command.arg(&object).arg(&source_path).output().expect("run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read(object).expect("object")
    }

    fn is_precompiled(&self) -> bool {
        self.path("headers/common.h.gch").exists()
    }
}

#[test]
fn objects_are_those_of_gcc_alone() {
    let Some(tree) = Tree::new() else { return };
    let gcc = Path::new("gcc");
    for (name, source) in [
        ("fs/a", SOURCE.to_owned()),
        ("fs/a", SOURCE.replace("return limit", "return 1 + limit")),
        // Its own value of what the header asks for.
        ("fs/b", format!("#define LIMIT 7\n{SOURCE}")),
        ("fs/c", format!("#include <linux/types.h>\n#define pr_fmt(text) text\n{SOURCE}")),
        ("lib/d", SOURCE.to_owned()),
        ("init/c", SOURCE.to_owned()),
    ] {
        let expected = tree.object(gcc, name, &source);
        assert!(tree.object(&tree.1, name, &source) == expected, "{name}: {source}");
    }
    assert!(tree.is_precompiled());
}

#[test]
fn header_is_precompiled_once_and_named_to_make() {
    let Some(tree) = Tree::new() else { return };
    // Nothing that is compiled before the kernel's own headers are there makes it.
    tree.object(&tree.1, "init/a", SOURCE);
    assert!(!tree.is_precompiled());
    let first = tree.object(&tree.1, "fs/a", SOURCE);
    assert!(tree.is_precompiled());
    // From here on the text is not read again.
    let source = SOURCE.replace("#include <linux/fs.h>", "#include <linux/types.h>");
    fs::write(tree.path("include/linux/fs.h"), "#error read\n").expect("written");
    assert!(tree.object(&tree.1, "fs/a", &source) == first);
    let dependencies = fs::read_to_string(tree.path("a.d")).expect("dependencies");
    assert!(dependencies.contains("include/linux/fs.h"), "{dependencies}");
    assert!(!dependencies.contains(".gch"), "{dependencies}");
}

#[test]
fn new_build_precompiles_anew() {
    let Some(tree) = Tree::new() else { return };
    let gcc = Path::new("gcc");
    tree.object(&tree.1, "fs/a", SOURCE);
    let more = HEADER.replace("LIMIT 1", "LIMIT 2");
    fs::write(tree.path("include/linux/fs.h"), more).expect("written");
    let compiler = compiler(tree.0.path()).expect("compiler");
    assert!(!tree.is_precompiled());
    let expected = tree.object(gcc, "fs/a", SOURCE);
    assert!(tree.object(&compiler, "fs/a", SOURCE) == expected);
}

//! Drives by what they are for.

use disklab_study::{StackSpec, load};
use proptest::prelude::*;

/// A study with this line as its only stack, the fourteenth.
fn study(stack: &str) -> String {
    format!(
        "id = 'x'\ntitle = 'x'\nworkloads = [{{ id = 'w', dd = {{}} }}]\n\
         [[drives]]\nname = 'hdd'\nmodel = 'm'\ncount = 4\nsize = '1 TB'\n\
         [[drives]]\nname = 'nvme'\nmodel = 'n'\ncount = 2\nsize = '1 TB'\n\
         [stacks]\n{stack}\n"
    )
}

fn stack(line: &str) -> StackSpec {
    let study = load("x.toml", &study(line)).unwrap_or_else(|e| panic!("{line}: {e}"));
    study.stacks[0].clone()
}

#[test]
fn drives_have_roles() {
    for (line, layers, drives) in [
        (
            "x = { data = 'hdd:4', log = 'nvme:1', cache = 'nvme:1', layers = 'zfs-raidz1' }",
            "zfs-raidz1{log=5,cache=6}",
            &[0, 1, 2, 3, 4, 5][..],
        ),
        // Without `data`, they are on what no input takes.
        ("x = { log = 'nvme', layers = 'zfs' }", "zfs{log=5-6}", &[0, 1, 2, 3, 4, 5]),
        ("x = { log = 'hdd-1', layers = 'zfs' }", "zfs{log=6}", &[1, 2, 3, 4, 5, 0]),
        ("x = { data = 3, log = 1, layers = 'zfs' }", "zfs{log=4}", &[0, 1, 2, 3]),
        ("x = { drives = 2, log = 'nvme-2', layers = 'zfs' }", "zfs{log=3}", &[0, 1, 5]),
        (
            "x = { data = ['hdd:2', 'nvme-1'], spare = 'hdd:1', layers = 'zfs' }",
            "zfs{spare=4}",
            &[0, 1, 4, 2],
        ),
        (
            "x = { layers = 'a/b', data = 'hdd:2', \
             journal = { layers = 'c/d', data = 'nvme', log = 'hdd:1' }, spare = 'hdd:1' }",
            "a{journal=3-4/c{log=5}/d,spare=6}/b",
            &[0, 1, 4, 5, 2, 3],
        ),
        (
            "x = { layers = 'a', journal = { layers = 'c', data = 'nvme', log = 'hdd:1' } }",
            "a{journal=4-5/c{log=6}}",
            &[1, 2, 3, 4, 5, 0],
        ),
    ] {
        let stack = stack(line);
        let found: Vec<String> = stack.layers.iter().map(ToString::to_string).collect();
        assert_eq!((found.join("/").as_str(), stack.drives.as_slice()), (layers, drives), "{line}");
    }
}

#[test]
fn a_layout_has_inputs_below_each_file_system() {
    let text = study("x = 'ext4'").replace(
        "[stacks]\nx = 'ext4'",
        "[layouts]\nj = { layers = 'md-raid5', data = 'hdd', journal = 'nvme:1' }\n\
         bare = { data = 'hdd:2', log = 'nvme:1' }\n\
         [file-systems]\next4 = 'ext4'\nzfs = 'zfs-mirror'",
    );
    let study = load("x.toml", &text).expect("a study");
    let layers: Vec<String> = study.stacks.iter().map(|s| s.layers[0].to_string()).collect();
    let expected =
        ["md-raid5{journal=5}", "md-raid5{journal=5}", "ext4{log=3}", "zfs-mirror{log=3}"];
    assert_eq!(layers, expected);
}

#[test]
fn errors_show_the_input() {
    for (line, column, words) in [
        ("x = { layers = 'a', log = 'nvm' }", 27, "`log`: unknown drive 'nvm'; known: 'hdd-1'"),
        (
            "x = { layers = 'a', log = 'nvme:3' }",
            27,
            "`log`: expected 1 to 2, the drives called 'nvme'",
        ),
        ("x = { layers = 'a', log = 'nvme:0' }", 27, "as in 'hdd:4', found 'nvme:0'"),
        ("x = { layers = 'a', log = 'nvme:x' }", 27, "expected a number of drives"),
        (
            "x = { layers = 'a', log = 'nvme', cache = 'nvme' }",
            43,
            "the drives called 'nvme' are in use",
        ),
        (
            "x = { layers = 'a', log = 'nvme:1', cache = 'nvme:2' }",
            45,
            "expected 1 to 1, as others of the drives called 'nvme' are in use",
        ),
        ("x = { layers = 'a', log = [] }", 27, "`log` names no drive"),
        ("x = { layers = 'a', log = 7 }", 27, "`log`: expected 1 to 6, the study's drives"),
        ("x = { layers = 'a', log = -1 }", 27, "expected 1 to 6"),
        ("x = { layers = 'a', data = 1, drives = 1 }", 28, "say the same"),
        ("x = { layers = 'a', log = true }", 21, "unknown field 'log' in a layout"),
        (
            "x = { layers = 'a', layer = 'hdd' }",
            21,
            "unknown field 'layer' in a layout (did you mean 'layers'?)",
        ),
        (
            "x = { layers = 'a', log = { layers = 'b' } }",
            27,
            "the input 'log' needs a field 'data'",
        ),
        ("x = { layers = 'a', log = { data = 1 } }", 27, "the input 'log' needs a field 'layers'"),
        (
            "x = { layers = 'a', log = { layers = 'b', data = 1, dtaa = 1 } }",
            53,
            "did you mean 'data'?",
        ),
        ("x = { layers = 'a{log=}' }", 16, "invalid input 'log='"),
    ] {
        let error = load("x.toml", &study(line)).expect_err(line);
        assert!(error.message.contains(words), "{line}: {error}");
        assert_eq!((error.line, error.column), (15, column), "{line}: {error}");
    }
}

proptest! {
    #[test]
    fn any_value_is_understood_or_refused_with_its_place(
        key in "data|drives|log|[a-z]{1,6}",
        other in "data|cache|journal",
        value in prop_oneof![
            "-?[0-9]{1,3}", "true", "'(hdd|nvme)(-[0-9])?(:[0-9-]{0,2})?'", "'[ -&(-~]{0,9}'",
            "\\[('hdd:1', ?){0,3}\\]", "\\{ layers = 'a', data = '(hdd|nvme):1' \\}",
            "\\{ layers = 'a' \\}", "\\{\\}",
        ],
        with in "1|'hdd:2'|'nvme'|\\['hdd-1', 'nvme-1'\\]",
    ) {
        prop_assume!(key != other);
        let line = format!("x = {{ layers = 'a{{b=1}}/c', {key} = {value}, {other} = {with} }}");
        match load("x.toml", &study(&line)) {
            Err(error) => prop_assert!((13..=15).contains(&error.line), "{}: {}", line, error),
            Ok(study) => {
                let mut drives = study.stacks[0].drives.clone();
                drives.sort_unstable();
                drives.dedup();
                prop_assert_eq!(drives.len(), study.stacks[0].drives.len(), "{}", line);
            }
        }
    }
}

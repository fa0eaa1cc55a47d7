//! Counts that must only fall.

use std::fs;
use std::sync::Mutex;

use crate::tree::root;

const FILE: &str = "crates/tidy/ceilings.toml";

/// Tests run side by side, and `UPDATE=1` has each rewrite the file.
static WRITING: Mutex<()> = Mutex::new(());

/// Compares a count with its ceiling. `UPDATE=1` lowers the ceiling to the count.
pub fn hold(name: &str, count: usize, places: impl FnOnce() -> String) {
    let _writing = WRITING.lock().expect("no test panicked while writing");
    let path = root().join(FILE);
    let text = fs::read_to_string(&path).expect(FILE);
    let ceiling = read(&text, name).unwrap_or_else(|| panic!("{FILE} has no '{name}'"));
    if count > ceiling {
        drop(_writing);
        panic!("{name}: {count}, and at most {ceiling} are allowed ({FILE})\n{}", places());
    }
    if count < ceiling && std::env::var_os("UPDATE").is_some() {
        let old = format!("{name} = {ceiling}\n");
        fs::write(&path, text.replace(&old, &format!("{name} = {count}\n"))).expect("written");
    }
}

fn read(text: &str, name: &str) -> Option<usize> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim().parse().expect("an integer"))
    })
}

#[test]
fn ceiling_is_read_by_its_whole_name() {
    let text = "# a comment = 5\nlong_functions = 7\nfunctions = 3\n";
    assert_eq!(read(text, "functions"), Some(3));
    assert_eq!(read(text, "long"), None);
}

//! Starting the program as its users do.

use std::path::Path;

use assert_cmd::Command;

/// A study of one short cell.
pub const TINY_STUDY: &str = r#"
id = "tiny"
title = "Tiny"
repeats = 1
[[drives]]
model = "m"
name = "drive"
count = 2
size = "1 GB"
[layouts]
single = { drives = 1 }
[file-systems]
ext4 = "ext4"
[[workloads]]
id = "dd"
caches = "keep"
dd = { direction = "write", bs = "4k", count = 4 }
"#;

/// The program in the directory `home`, which holds its state too.
pub fn disklab(home: &Path) -> Command {
    let mut command = Command::cargo_bin("disklab").expect("the program is built");
    command.env("XDG_STATE_HOME", home).env_remove("DISKLAB_LOG").current_dir(home);
    command
}

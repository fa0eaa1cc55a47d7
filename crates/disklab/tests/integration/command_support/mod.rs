//! Starting the program as its users do.

use std::path::Path;

use assert_cmd::Command;

/// The program in the folder `home`, which holds its state too.
pub fn disklab(home: &Path) -> Command {
    let mut command = Command::cargo_bin("disklab").expect("the program is built");
    command.env("XDG_STATE_HOME", home).env_remove("DISKLAB_LOG").current_dir(home);
    command
}

//! The first program of a lab's guest, apart from disklab because it is read into each guest's
//! memory ([`disklab_guest::guest_program`]).

use std::process::ExitCode;

fn main() -> ExitCode {
    disklab_guest::run_if_guest();
    if std::env::args_os().nth(1).is_some_and(|word| word == disklab_guest::BUILD_OPTION) {
        println!("{}", disklab_guest::BUILD);
        return ExitCode::SUCCESS;
    }
    eprintln!("disklab-guest: this is the first program of the lab's guests; `disklab` starts it");
    ExitCode::from(2)
}

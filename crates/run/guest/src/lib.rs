//! The first program of a lab's guest. Each of its jobs there is one line in `JOBS`.

pub mod drives;
mod error;
mod program;
pub mod shell;
mod tools;

use disklab_lab_guest as guest;

use error::FirstProgramError;
pub use program::{BUILD, BUILD_OPTION, guest_program};

type Job = fn(&[String]) -> Result<(), FirstProgramError>;

/// Jobs by the word on the kernel's command line.
const JOBS: &[(&str, Job)] = &[
    (disklab_bench::CELL_JOB, |_| Ok(disklab_bench::carry_out_in_guest()?)),
    (disklab_speed::SPEED_JOB, |words| Ok(disklab_speed::carry_out_in_guest(words)?)),
    (shell::JOB, |words| Ok(shell::shell(words)?)),
];

/// Does the guest's job and powers it off, where this process is a guest's first;
/// returns otherwise. So it does what a program of the guest's would do that is called by its
/// name.
pub fn run_if_guest() {
    tools::run_if_tool();
    let Some(words) = guest::arguments() else { return };
    guest::set_environment(None);
    if let Err(error) = guest::begin().map_err(FirstProgramError::Begin).and_then(|()| job(&words))
    {
        println!("disklab: {error}");
    }
    guest::power_off()
}

fn job(words: &[String]) -> Result<(), FirstProgramError> {
    let (name, arguments) = words.split_first().ok_or(FirstProgramError::NoJob)?;
    let found = JOBS.iter().find(|(known, _)| known == name);
    let (_, job) = found.ok_or(FirstProgramError::UnknownJob)?;
    job(arguments)
}

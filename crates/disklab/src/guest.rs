//! This program as the first program of a lab's guest. Each of its jobs there is
//! one line in [`JOBS`].

pub mod drives;
pub mod shell;
mod tools;

use disklab_lab::guest;

type Job = fn(&[String]) -> Result<(), String>;

/// Jobs by the word on the kernel's command line.
const JOBS: &[(&str, Job)] = &[
    (disklab_bench::CELL_JOB, |_| disklab_bench::carry_out_in_guest()),
    (disklab_speed::SPEED_JOB, disklab_speed::carry_out_in_guest),
    (shell::JOB, |words| shell::shell(words).map_err(|error| error.to_string())),
];

/// Does the guest's job and powers it off, where this process is a guest's first;
/// returns otherwise. So it does what a program of the guest's would do that is called by its
/// name.
pub fn be_guest() {
    tools::be_tool();
    let Some(words) = guest::arguments() else { return };
    guest::set_environment(None);
    if let Err(error) = guest::begin().map_err(|e| e.to_string()).and_then(|()| job(&words)) {
        println!("disklab: {error}");
    }
    guest::power_off()
}

fn job(words: &[String]) -> Result<(), String> {
    let (name, arguments) = words.split_first().ok_or("which job?")?;
    let (_, job) = JOBS.iter().find(|(known, _)| known == name).ok_or("an unknown job")?;
    job(arguments)
}

//! What is to be measured, and on what.

use std::path::PathBuf;

use disklab_exec::Interrupt;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct SpeedOptions {
    /// The lab's kernel to boot; a User-Mode Linux program.
    pub kernel: PathBuf,
    /// Words for its command line.
    pub kernel_arguments: Vec<String>,
    /// The guests' first program: one that calls [`super::carry_out_in_guest`].
    pub program: PathBuf,
    /// An existing directory for the guests' own.
    pub directory: PathBuf,
    /// The processor to measure on.
    pub core: usize,
    /// Another one for the measurement of two labs; left out where there is none.
    pub other_core: Option<usize>,
    /// How often each measurement is made: at least once.
    pub repeats: u32,
    /// The user's wish to stop.
    pub interrupt: Interrupt,
}

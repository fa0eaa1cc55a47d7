//! The command line of `disklab fio`, which is fio's as far as it goes.

use clap::Args;

/// Run fio jobs with disklab's own engine.
///
/// Takes job files, or options as fio does: disklab fio --name=x --rw=randread
/// --bs=4k --size=1g --direct=1 --ioengine=io_uring --iodepth=32
#[derive(Debug, Args)]
pub struct FioArgs {
    /// Job files, or fio's options after --name=NAME (those before it hold for all
    /// jobs). Besides: --dir=FOLDER (where files lie), --seed=N, --output=FILE,
    /// --output-format=normal|json, --logs=FOLDER (throughput, I/Os and latency over time,
    /// as fio's write_bw_log and its kin write them), --section=NAME (only this one),
    /// --parse-only, --list-options. A job writes to a block device only if that is a free
    /// drive, named by its link in /dev/disk/by-id, and blank or named by --erase=SERIAL;
    /// --yes: do not ask first.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "JOB")]
    pub words: Vec<String>,
}

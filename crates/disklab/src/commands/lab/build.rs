//! `disklab lab build`: the lab's kernel.

use std::path::PathBuf;
use std::time::Instant;

use disklab_exec::{Executor, Interrupt};
use disklab_lab::kernel::{self, Source};
use disklab_units::show_duration;
use serde_json::json;

use super::super::{print, print_json};
use super::build_progress::BuildProgress;
use crate::cli::BuildArgs;
use crate::exit::{DONE, Failure};
use crate::signals;

/// Builds the kernel that the arguments ask for, and says where it is.
pub fn build(args: &BuildArgs, as_json: bool) -> Result<u8, Failure> {
    let source = args.source.clone().map_or(Source::Debian, Source::Tree);
    let interrupt = signals::interrupt()?;
    let began = Instant::now();
    let built = build_kernel(&source, &interrupt)?;
    if as_json {
        print_json(&json!({
            "kernel": built.kernel,
            "built_now": built.now,
            "seconds": began.elapsed().as_secs_f64(),
        }))?;
    } else if built.now {
        let took = show_duration(began.elapsed());
        print(&format!("{}\nbuilt in {took}\n", built.kernel.display()))?;
    } else {
        print(&format!("{}\nis there already; nothing was built\n", built.kernel.display()))?;
    }
    Ok(DONE)
}

/// Has the kernel from `source`, building it where it is not there yet, and
/// returns its path. While it is built, the user sees how far it is: a bar on a
/// terminal, lines otherwise, on standard error.
///
/// # Errors
/// Exit code 2 where the user has to install, free or name something first, 130
/// where `interrupt` was raised, 1 where the build failed.
pub fn ensure(source: &Source, interrupt: &Interrupt) -> Result<PathBuf, Failure> {
    Ok(build_kernel(source, interrupt)?.kernel)
}

struct Built {
    kernel: PathBuf,
    /// It was not there before.
    now: bool,
}

fn build_kernel(source: &Source, interrupt: &Interrupt) -> Result<Built, Failure> {
    let mut executor = Executor::default();
    executor.interrupt = interrupt.clone();
    let mut progress = BuildProgress::new();
    let mut take = |now| progress.take(now);
    let kernel = kernel::ensure(source, &kernel::cache_folder(), &executor, &mut take);
    progress.finish();
    match kernel {
        Ok(kernel) => Ok(Built { kernel, now: progress.has_begun() }),
        Err(e) if e.is_interrupt() => {
            Err(Failure::interrupted("interrupted; nothing was kept of the kernel's build"))
        }
        Err(e) if e.is_wrong_use() => Err(Failure::wrong_use(e)),
        Err(e) => Err(Failure::failed(e)),
    }
}

//! Which interface a job gets: the one it names, or what works here.

use std::io;
use std::os::fd::RawFd;

use disklab_jobfile::{Depth, Engine};

use super::aio::LinuxAio;
use super::nothing::Nothing;
use super::pool::ThreadPool;
use super::uring::Uring;
use super::{Backend, Call};
use crate::memory::Memory;

/// What a job runs on.
pub(crate) enum Chosen {
    /// One I/O after another.
    Synchronous(Call),
    /// Several at once.
    Asynchronous(Box<dyn Backend>),
}

/// The interface for `engine`, and a note where it is not the one asked for.
///
/// io_uring gives way to Linux AIO where the kernel has none or forbids it, and
/// both to `pread` and `pwrite`. fio's `posixaio`, threads of the C library, is
/// taken for io_uring.
pub(crate) fn choose(
    engine: Engine,
    depth: &Depth,
    files: &[RawFd],
    memory: &mut Memory,
) -> (Chosen, Option<String>) {
    let (offload, depth) = (depth.offload, depth.depth.max(1));
    match (engine, offload) {
        (Engine::Null, _) if depth == 1 => return (Chosen::Synchronous(Call::Nothing), None),
        (Engine::Null, _) => {
            return (Chosen::Asynchronous(Box::<Nothing>::default()), None);
        }
        (engine, true) => match ThreadPool::new(depth, engine.name()) {
            Ok(pool) => return (Chosen::Asynchronous(Box::new(pool)), None),
            Err(error) => {
                let why = crate::error::words(&error);
                let note = format!("io_submit_mode=offload was not granted: {why}");
                return (Chosen::Synchronous(Call::Positioned), Some(note));
            }
        },
        _ => {}
    }
    choose_from(
        engine,
        || Ok(Box::new(Uring::new(depth, files, memory)?) as Box<dyn Backend>),
        || Ok(Box::new(LinuxAio::new(depth)?) as Box<dyn Backend>),
    )
}

/// The same, with what makes a ring and an AIO context.
fn choose_from(
    engine: Engine,
    ring: impl FnOnce() -> io::Result<Box<dyn Backend>>,
    context: impl FnOnce() -> io::Result<Box<dyn Backend>>,
) -> (Chosen, Option<String>) {
    if let Some(call) = Call::of(engine) {
        return (Chosen::Synchronous(call), None);
    }
    let mut failed = Vec::new();
    let mut tried = |name: &str, error: &io::Error| {
        let text = error.to_string();
        failed.push(format!("{name}: {}", text.split(" (os").next().unwrap_or_default()));
    };
    if engine != Engine::Libaio {
        match ring() {
            Ok(ring) => {
                let note = (engine == Engine::Posixaio)
                    .then(|| "posixaio asked for; io_uring was used".to_owned());
                return (Chosen::Asynchronous(ring), note);
            }
            Err(error) => tried("io_uring", &error),
        }
    }
    match context() {
        Ok(context) => {
            let note = (!failed.is_empty()).then(|| {
                format!(
                    "{} asked for; libaio was used, since there is no io_uring here ({})",
                    engine.name(),
                    failed.join("; ")
                )
            });
            (Chosen::Asynchronous(context), note)
        }
        Err(error) => {
            tried("libaio", &error);
            let note = format!(
                "{} asked for; pread and pwrite were used, one I/O at a time ({})",
                engine.name(),
                failed.join("; ")
            );
            (Chosen::Synchronous(Call::Positioned), Some(note))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(errno: i32) -> impl FnOnce() -> io::Result<Box<dyn Backend>> {
        move || Err(io::Error::from_raw_os_error(errno))
    }

    #[test]
    fn missing_engines_fall_back() {
        let (chosen, note) =
            choose_from(Engine::IoUring, missing(libc::ENOSYS), missing(libc::EAGAIN));
        assert!(matches!(chosen, Chosen::Synchronous(Call::Positioned)));
        let note = note.expect("told");
        assert!(note.starts_with("io_uring asked for; pread and pwrite were used"), "{note}");
        assert!(note.contains("Function not implemented") && note.contains("libaio: "), "{note}");
        let context = || Ok(Box::new(LinuxAio::new(1)?) as Box<dyn Backend>);
        if context().is_err() {
            eprintln!("skipped: needs Linux AIO");
            return;
        }
        let (chosen, note) = choose_from(Engine::IoUring, missing(libc::EPERM), context);
        assert!(matches!(chosen, Chosen::Asynchronous(backend) if backend.name() == "libaio"));
        assert!(note.expect("told").contains("Operation not permitted"));
        let (_, note) = choose_from(Engine::Libaio, missing(libc::EPERM), context);
        assert_eq!(note, None);
    }
}

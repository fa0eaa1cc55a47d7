//! Which interface a job gets: the one it names, or what works here.

use std::io;
use std::os::fd::RawFd;

use disklab_jobfile::Engine;

use super::aio::Aio;
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

/// The interface for `engine`, and a remark where it is not the one asked for.
///
/// io_uring gives way to Linux AIO where the kernel has none or forbids it, and
/// both to `pread` and `pwrite`. fio's `posixaio`, threads of the C library, is
/// taken for io_uring.
pub(crate) fn choose(
    engine: Engine,
    depth: u32,
    files: &[RawFd],
    memory: &mut Memory,
) -> (Chosen, Option<String>) {
    if let Some(call) = Call::of(engine) {
        return (Chosen::Synchronous(call), None);
    }
    let mut failed = Vec::new();
    let mut tried = |name: &str, error: io::Error| {
        let text = error.to_string();
        failed.push(format!("{name}: {}", text.split(" (os").next().unwrap_or_default()));
    };
    if engine != Engine::Libaio {
        match Uring::new(depth, files, memory) {
            Ok(ring) => {
                let note = (engine == Engine::Posixaio)
                    .then(|| "posixaio asked for; io_uring was used".to_owned());
                return (Chosen::Asynchronous(Box::new(ring)), note);
            }
            Err(error) => tried("io_uring", error),
        }
    }
    match Aio::new(depth) {
        Ok(context) => {
            let note = (!failed.is_empty()).then(|| {
                format!(
                    "{} asked for; libaio was used, since there is no io_uring here ({})",
                    engine.name(),
                    failed.join("; ")
                )
            });
            (Chosen::Asynchronous(Box::new(context)), note)
        }
        Err(error) => {
            tried("libaio", error);
            let note = format!(
                "{} asked for; pread and pwrite were used, one I/O at a time ({})",
                engine.name(),
                failed.join("; ")
            );
            (Chosen::Synchronous(Call::Positioned), Some(note))
        }
    }
}

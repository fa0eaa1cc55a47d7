//! Ctrl-C and its like raise the interrupt flag; everything long looks at it.
//!
//! While a run is only planned, nothing has been made that must be torn down: then the
//! signal ends the program at once, however long the planning takes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use disklab_exec::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::{Failure, INTERRUPTED};

/// Whether a signal may end the program at once.
static PLANNING: OnceLock<Arc<AtomicBool>> = OnceLock::new();

fn planning_flag() -> &'static Arc<AtomicBool> {
    PLANNING.get_or_init(Arc::default)
}

/// A flag that SIGINT, SIGTERM and SIGHUP raise.
pub fn interrupt() -> Result<Interrupt, Failure> {
    let interrupt = Interrupt::new();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let ends = signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(INTERRUPTED),
            Arc::clone(planning_flag()),
        );
        ends.and_then(|_| signal_hook::flag::register(signal, interrupt.flag()))
            .map_err(|e| Failure::failed(format!("cannot catch signal {signal}: {e}")))?;
    }
    Ok(interrupt)
}

/// The time in which there is nothing to tear down: until this is dropped, a signal ends the program at
/// once.
pub struct Planning(());

/// Begins the time in which nothing is made.
pub fn planning(interrupt: &Interrupt) -> Result<Planning, Failure> {
    let guard = Planning(());
    planning_flag().store(true, Ordering::SeqCst);
    // A signal that came before only raised the flag.
    interrupt.check().map_err(Failure::interrupted)?;
    Ok(guard)
}

/// Begins the time in which nothing is left to tear down, after a signal that asked for it: until
/// this is dropped, another one ends the program at once.
pub fn ends_at_once() -> Planning {
    planning_flag().store(true, Ordering::SeqCst);
    Planning(())
}

impl Drop for Planning {
    fn drop(&mut self) {
        planning_flag().store(false, Ordering::SeqCst);
    }
}

//! Ctrl-C and its like raise the interrupt flag; everything long looks at it.

use disklab_exec::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Failure;

/// A flag that SIGINT, SIGTERM and SIGHUP raise.
pub fn interrupt() -> Result<Interrupt, Failure> {
    let interrupt = Interrupt::new();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, interrupt.flag())
            .map_err(|e| Failure::failed(format!("cannot catch signal {signal}: {e}")))?;
    }
    Ok(interrupt)
}

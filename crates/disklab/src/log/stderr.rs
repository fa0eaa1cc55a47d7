//! Standard error, which bars of progress use, too.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::MultiProgress;

/// The bars that are on the terminal now, if any.
static BARS: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Lines of the log go above these bars from here on, not through them.
pub fn print_above(bars: &MultiProgress) {
    *BARS.lock().unwrap_or_else(PoisonError::into_inner) = Some(bars.clone());
}

/// Writes whole lines to standard error, above the bars.
#[derive(Debug, Clone, Copy)]
pub struct StandardError;

impl Write for StandardError {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bars = BARS.lock().unwrap_or_else(PoisonError::into_inner);
        match &*bars {
            Some(bars) => bars.suspend(|| io::stderr().write(bytes)),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

//! What is printed on standard error. A reader that closes it, as `2>&1 | head` does, wants to hear
//! no more; that is no reason to stop a run, which the standard library's macros of
//! these names do. Defined before all other modules, they stand for those.
//!
//! What is said may hold names and messages of strangers: what a terminal would obey in them
//! is made visible.

macro_rules! eprint {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let text = format!($($words)*);
        let _ = write!(std::io::stderr(), "{}", disklab_source::printable(&text));
    }};
}

macro_rules! eprintln {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let text = format!($($words)*);
        let _ = writeln!(std::io::stderr(), "{}", disklab_source::printable(&text));
    }};
}

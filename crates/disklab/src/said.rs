//! What is told on standard error. Whoever closes it, as `2>&1 | head` does, wants to hear
//! no more; that is no reason to break off a run, which the standard library's macros of
//! these names do. Defined before all other modules, they stand for those.

macro_rules! eprint {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stderr(), $($words)*);
    }};
}

macro_rules! eprintln {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

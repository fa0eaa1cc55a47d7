//! Building the lab's kernel.

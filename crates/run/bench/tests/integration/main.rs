//! Cells and benches on this machine: loop files, directories and refusals.

mod on_this_machine;

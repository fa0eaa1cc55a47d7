//! Programs started by the executor.

mod fio;

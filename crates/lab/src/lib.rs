//! The lab: a real Linux kernel on modelled drives, in virtual time.
//!
//! The kernel is User-Mode Linux, an ordinary program. Its clock advances only
//! when this crate says so, and its disks are served from here.

pub mod kernel;

//! Background maintenance by ext4's thread that writes inode tables, as it is named in
//! [`Conditions::background`](super::Conditions).

/// ext4's thread writes inode tables of the file system that is measured.
pub const OWN_LAZY_INIT: &str = "lazy initialisation of ext4";
/// It runs, and whether for the file system that is measured cannot be read.
pub const UNKNOWN_LAZY_INIT: &str = "lazy initialisation of some ext4";
/// It works for another file system, or reads bitmaps ahead.
pub const OTHER_LAZY_INIT: &str = "lazy initialisation of another ext4, or bitmaps read ahead";

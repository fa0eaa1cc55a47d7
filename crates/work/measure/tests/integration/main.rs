//! Counters of real block devices.

mod loop_device;

//! A disk of the lab: no guest makes it panic, or write outside of what it shared.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| disklab_lab::hostile::feed_disk(bytes));

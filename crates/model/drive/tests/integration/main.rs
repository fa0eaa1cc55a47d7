//! Drive models from outside: what they do, and what holds whatever is asked of them.

mod behaviour;
mod characterization_tests;
mod common;
mod durability;
mod faults;
mod properties;
mod shingled;
mod shingled_checks;
mod shingled_properties;
mod ssd;

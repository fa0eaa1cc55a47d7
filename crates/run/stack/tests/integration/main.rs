//! Layers on real loop devices, and what is left of them when their owner is killed.

mod arrays;
mod arrays_of_others;
mod killed;
mod killed_arrays;
mod leftovers;
mod loop_stacks;
mod others;
mod studies;
mod support;

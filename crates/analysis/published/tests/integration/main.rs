//! Published figures, and how a run is judged by them.

mod judging;
mod shipped;

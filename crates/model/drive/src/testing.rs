//! What tests share.

use crate::hdd::Parameters;
use crate::{SHIPPED, shipped};

/// The mechanics of the shipped drives that have some.
pub(crate) fn drives() -> Vec<(&'static str, Parameters)> {
    SHIPPED.iter().filter_map(|(id, _)| Some((*id, shipped(id)?.mechanics()?.clone()))).collect()
}

//! What tests share.

use crate::hdd::Parameters;
use crate::{Kind, SHIPPED, load};

/// The shipped hard disks.
pub(crate) fn drives() -> Vec<(&'static str, Parameters)> {
    SHIPPED
        .iter()
        .map(|(id, text)| {
            let Kind::Hdd(parameters) = load(&format!("drives/{id}.toml"), text).unwrap().kind;
            (*id, parameters)
        })
        .collect()
}

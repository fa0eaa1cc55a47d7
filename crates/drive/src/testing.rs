//! What tests share.

use crate::hdd::Parameters;
use crate::{SHIPPED, load};

/// The mechanics of the shipped drives that have some.
pub(crate) fn drives() -> Vec<(&'static str, Parameters)> {
    SHIPPED
        .iter()
        .filter_map(|(id, text)| {
            let file = load(&format!("drives/{id}.toml"), text).unwrap();
            Some((*id, file.mechanics()?.clone()))
        })
        .collect()
}

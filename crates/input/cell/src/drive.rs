//! The drives of a cell.

use std::path::PathBuf;

use disklab_config::Node;
use disklab_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::SPARE;

/// A drive below the stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrivePlan {
    /// Its name in the study.
    pub name: String,
    /// Its place among the study's drives, from 0.
    pub position: u32,
    /// Its capacity.
    pub size: Bytes,
    /// The size of the larger one for which it stands, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<Bytes>,
    /// What it is.
    pub kind: DriveKind,
    /// What it is for, if not for data: the name of an input, such as `log`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// Of what the size of a small drive is a multiple.
const SMALL_UNIT: u64 = 1 << 20;

impl DrivePlan {
    /// How many times larger the drive is for which it stands.
    pub fn times(&self) -> f64 {
        self.stands_for.map_or(1.0, |size| size.0 as f64 / self.size.0.max(1) as f64)
    }

    /// Has modelled drives for data, and spares, be no larger than this: they stand for the larger ones, with all
    /// zones of theirs, each smaller by as much.
    pub fn make_small(drives: &mut [Self], most: Bytes) {
        let holds_data = |drive: &&mut Self| {
            drive.role.as_deref().is_none_or(|role| role == SPARE)
                && matches!(drive.kind, DriveKind::Model(_))
        };
        let largest = drives.iter_mut().filter(holds_data).map(|drive| drive.size.0).max();
        let Some(largest) = largest.filter(|largest| *largest > most.0) else { return };
        for drive in drives.iter_mut().filter(holds_data) {
            let size = u128::from(drive.size.0) * u128::from(most.0) / u128::from(largest);
            let size = Bytes((size as u64 / SMALL_UNIT).max(1) * SMALL_UNIT);
            drive.stands_for = Some(std::mem::replace(&mut drive.size, size));
        }
    }
}

/// Where the bytes of a drive go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DriveKind {
    /// A sparse file of the cell's own, attached as a loop device.
    File,
    /// A disk of this machine, by its stable name.
    Disk(PathBuf),
    /// Into the memory of a model, in the lab.
    Model(DriveModelPlan),
}

/// The model that stands for a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveModelPlan {
    /// The id of a shipped model, or the name of the user's file.
    pub model: String,
    /// The text of the user's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Fields of it with other values, such as `cache.dirty-limit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, Node)>,
    /// The serial number that the guest sees.
    pub serial: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drive(size: u64, role: Option<&str>) -> DrivePlan {
        let model = DriveModelPlan {
            model: "m".to_owned(),
            text: None,
            set: Vec::new(),
            serial: String::new(),
        };
        DrivePlan {
            name: "d".to_owned(),
            position: 0,
            size: Bytes(size),
            stands_for: None,
            kind: DriveKind::Model(model),
            role: role.map(str::to_owned),
        }
    }

    proptest! {
        #[test]
        fn all_become_smaller_by_as_much(
            sizes in proptest::collection::vec(1_u64 << 30..1 << 45, 1..5),
            most in 1_u64 << 30..1 << 45,
        ) {
            let mut drives: Vec<DrivePlan> = sizes.iter().map(|size| drive(*size, None)).collect();
            drives.push(drive(1 << 46, Some("log")));
            let before = drives.clone();
            DrivePlan::make_small(&mut drives, Bytes(most));
            let largest = sizes.iter().copied().max().unwrap_or_default();
            prop_assert_eq!(drives.last(), before.last(), "a log stays as it is");
            if largest <= most {
                prop_assert_eq!(&drives, &before);
            } else {
                for (drive, before) in drives.iter().zip(&sizes) {
                    prop_assert_eq!(drive.stands_for, Some(Bytes(*before)));
                    prop_assert!(drive.size.0 <= most && drive.size.0 % SMALL_UNIT == 0);
                    let times = drive.times() * most as f64 / largest as f64;
                    let coarse = SMALL_UNIT as f64 / drive.size.0 as f64;
                    prop_assert!((times - 1.0).abs() <= coarse * 1.01, "{}", times);
                }
            }
        }
    }
}

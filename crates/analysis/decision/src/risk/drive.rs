//! A drive of the study, as far as its risk depends on it.

use disklab_drive::{Kind, by_name};
use disklab_sample::DriveState;
use disklab_study::DriveSpec;

/// A drive of the study.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveAtRisk {
    /// Its name in the study.
    pub name: String,
    /// As its file is called, or as the drive says.
    pub model: String,
    /// Its size.
    pub bytes: u64,
    /// Bytes per second over all of it, and where it is fastest, if they are known.
    pub rates: Option<[f64; 2]>,
}

impl DriveAtRisk {
    /// As the lab has it: what its model says.
    pub fn modelled(spec: &DriveSpec) -> Self {
        let known = by_name(&spec.model);
        let rates = known.as_ref().and_then(|file| match &file.kind {
            Kind::Hdd(disk) => {
                Some([f64::midpoint(disk.outer_rate, disk.inner_rate), disk.outer_rate])
            }
            // Neither what a shingled disk nor what an SSD does when all of it is written is its rate.
            Kind::Smr(_) | Kind::Ssd(_) => None,
        });
        Self {
            name: spec.name.to_string(),
            model: known.map_or_else(|| spec.model.clone(), |file| file.id),
            bytes: spec.size.0,
            rates,
        }
    }

    /// As the machine found it.
    pub fn real(found: &DriveState) -> Self {
        Self {
            name: found.drive.clone(),
            model: found.model.clone().unwrap_or_else(|| "an unknown model".to_owned()),
            bytes: found.size_bytes,
            rates: None,
        }
    }

    /// Hours of one pass over all of it, or at least over this share, wherever that lies.
    pub(super) fn pass(&self, used: Option<f64>) -> Option<f64> {
        let [mean, best] = self.rates?;
        let seconds = match used {
            Some(used) => self.bytes as f64 * used / best,
            None => self.bytes as f64 / mean,
        };
        Some(seconds / 3600.0)
    }
}

//! Drive files.

mod class;
mod kind;
mod load;
mod plausible;
mod ranges;
mod read;
mod setting;
mod sibling;

use disklab_units::parse_nanoseconds;

use crate::{Drive, hdd, smr, ssd};

pub use class::Class;
pub use kind::Kind;
pub use load::{load, load_with};
pub use plausible::Plausible;
pub use setting::SettingChange;

/// A drive's description, as a file in `drives/` gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveFile {
    /// Short name, by which studies call it, such as `wd40efrx-68n32n0`.
    pub id: String,
    /// Other short names, such as `hgst-10tb`, that are easier to remember.
    pub aliases: Vec<String>,
    /// Its name in the trade, such as `WD Red 4 TB`.
    pub name: String,
    /// The model that it reports to the host.
    pub model: String,
    /// What a reader of its figures must know, such as a property that is not
    /// modelled; empty where there is nothing.
    pub note: String,
    /// What it was made for, by which lists are grouped.
    pub class: Class,
    /// The drive that it is like but for what its file says; `None` if its file says all.
    pub like: Option<String>,
    /// Fields whose value is that of similar drives, for none is published of this model.
    pub of_class: Vec<String>,
    /// What kind of drive it is, and its data.
    pub kind: Kind,
    /// Fields whose value is not certain, and between what it may lie.
    pub plausible: Vec<Plausible>,
    /// What is otherwise here than in its file; empty for the file's own drive.
    pub changes: Vec<SettingChange>,
}

impl DriveFile {
    /// A drive of this model. Drives with the same seed are the same to the last
    /// turn; with another seed, the platters stand differently.
    pub fn build(&self, seed: u64) -> Box<dyn Drive> {
        match &self.kind {
            Kind::Hdd(parameters) => Box::new(hdd::HardDisk::new(parameters, seed)),
            Kind::Smr(parameters) => Box::new(hdd::HardDisk::shingled(parameters, seed)),
            Kind::Ssd(parameters) => Box::new(ssd::SolidState::new(parameters)),
        }
    }

    /// Bytes that the host sees.
    pub fn capacity(&self) -> u64 {
        match &self.kind {
            Kind::Hdd(parameters) => parameters.visible,
            Kind::Smr(parameters) => parameters.disk.visible,
            Kind::Ssd(parameters) => parameters.visible,
        }
    }

    /// Platters, arm and their electronics, of a drive that has them.
    pub fn mechanics(&self) -> Option<&hdd::Parameters> {
        match &self.kind {
            Kind::Hdd(parameters) => Some(parameters),
            Kind::Smr(parameters) => Some(&parameters.disk),
            Kind::Ssd(_) => None,
        }
    }

    /// The model itself, of which every unit differs by its
    /// [`zone_spread`](hdd::Parameters::zone_spread).
    pub fn without_spread(mut self) -> Self {
        match &mut self.kind {
            Kind::Hdd(parameters) => parameters.zone_spread = 0.0,
            Kind::Smr(parameters) => parameters.disk.zone_spread = 0.0,
            Kind::Ssd(_) => {}
        }
        self
    }

    /// Bytes of a logical and of a physical sector.
    pub fn sector_sizes(&self) -> (u64, u64) {
        match &self.kind {
            Kind::Hdd(p) => (p.sectors.logical(), p.sectors.physical()),
            Kind::Smr(p) => (p.disk.sectors.logical(), p.disk.sectors.physical()),
            Kind::Ssd(p) => (p.sectors.logical(), p.sectors.physical()),
        }
    }

    /// How many commands it takes at a time; the host keeps the others.
    pub fn queue_depth(&self) -> u64 {
        match &self.kind {
            Kind::Hdd(parameters) => parameters.queue_depth,
            Kind::Smr(parameters) => parameters.disk.queue_depth,
            Kind::Ssd(parameters) => parameters.interface.queue_depth,
        }
    }

    /// What its link carries, bytes of payload per second.
    pub fn link_rate(&self) -> u64 {
        let rate = match &self.kind {
            Kind::Ssd(parameters) => parameters.interface.link_rate,
            Kind::Hdd(parameters) => parameters.link_rate,
            Kind::Smr(parameters) => parameters.disk.link_rate,
        };
        // Checked parameters lie far below 2^64.
        rate as u64
    }

    /// Whether it turns: the host's kernel and file systems treat such drives otherwise.
    pub fn rotates(&self) -> bool {
        self.mechanics().is_some()
    }

    /// Whether it takes discards.
    pub fn takes_discards(&self) -> bool {
        matches!(self.kind, Kind::Ssd(_))
    }

    /// Whether it writes zeros without their being sent.
    pub fn takes_write_zeroes(&self) -> bool {
        matches!(&self.kind, Kind::Ssd(parameters) if parameters.interface.write_zeroes)
    }

    /// What a flush takes by its own, ns, and the ends between which it may lie, if no figure of
    /// this very model decides it. Databases, virtual machines and ZFS's log wait for it.
    pub fn flush_of_class(&self) -> Option<[u64; 3]> {
        const FIELD: &str = "buffer.flush-overhead";
        let Kind::Ssd(parameters) = &self.kind else { return None };
        if !self.of_class.iter().any(|field| field == FIELD) {
            return None;
        }
        let range = self.plausible.iter().find(|range| range.field == FIELD)?;
        let [low, high] = [&range.low, &range.high].map(|end| parse_nanoseconds(end));
        Some([parameters.buffer.flush_overhead, low?, high?])
    }

    /// A drive of this size that stands for it: a disk has all its zones, a solid-state drive all its flash.
    ///
    /// # Errors
    /// As for [`Self::limited_to`], and where there is no room for all zones.
    pub fn shrunk_to(self, bytes: u64) -> Result<Self, SizeError> {
        let kind = match self.kind {
            Kind::Hdd(parameters) => Kind::Hdd(parameters.shrunk_to(bytes)),
            Kind::Smr(parameters) => {
                Kind::Smr(smr::Parameters { disk: parameters.disk.shrunk_to(bytes), ..parameters })
            }
            Kind::Ssd(parameters) => Kind::Ssd(parameters),
        };
        Self { kind, ..self }.limited_to(bytes)
    }

    /// The same drive, of which the host sees the first `bytes` only.
    ///
    /// # Errors
    /// Where the drive is smaller, or the size is no multiple of its sectors.
    pub fn limited_to(&self, bytes: u64) -> Result<Self, SizeError> {
        let kind = match &self.kind {
            Kind::Hdd(parameters) => parameters.limited_to(bytes).map(Kind::Hdd),
            Kind::Smr(parameters) => parameters.limited_to(bytes).map(Kind::Smr),
            Kind::Ssd(parameters) => parameters.limited_to(bytes).map(Kind::Ssd),
        };
        let kind = kind.map_err(|fault| SizeError { drive: self.id.clone(), fault })?;
        Ok(Self { kind, ..self.clone() })
    }
}

/// A drive cannot be shown with another size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeError {
    /// The drive's id.
    pub drive: String,
    /// Why.
    pub fault: crate::Fault,
}

impl std::fmt::Display for SizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "drive '{}': {}", self.drive, self.fault.message)
    }
}

impl std::error::Error for SizeError {}

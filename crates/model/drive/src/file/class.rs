//! What drives are made for: how lists of them are grouped.

use disklab_config::Fields;
use disklab_source::SourceError;

use super::kind::Kind;

/// A group of drives, in the order in which lists show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Conventional hard disks for network storage at home and in small offices.
    Nas,
    /// Conventional hard disks for servers and data centres.
    Server,
    /// Conventional hard disks for desktops, and all others.
    Desktop,
    /// Hard disks with shingled recording.
    Shingled,
    /// Solid-state drives at a SATA link.
    SataSsd,
    /// Solid-state drives at PCI Express.
    Nvme,
    /// Solid-state drives that keep what is in their buffer when power fails.
    ServerSsd,
}

/// A SATA link carries no more than this, B/s of payload; faster drives are NVMe.
const FASTEST_SATA: f64 = 600e6;

impl Class {
    /// All classes, in their order.
    pub const ALL: [Self; 7] = [
        Self::Nas,
        Self::Server,
        Self::Desktop,
        Self::Shingled,
        Self::SataSsd,
        Self::Nvme,
        Self::ServerSsd,
    ];

    /// What the group is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Nas => "NAS hard disks",
            Self::Server => "Server hard disks",
            Self::Desktop => "Desktop hard disks",
            Self::Shingled => "Shingled hard disks",
            Self::SataSsd => "SATA SSDs",
            Self::Nvme => "NVMe SSDs",
            Self::ServerSsd => "Server SSDs with power-loss protection",
        }
    }
}

/// The class that a file gives (`class`: for conventional hard disks alone, whose data do
/// not tell it), or that follows from what the drive is.
pub(super) fn read(fields: &mut Fields<'_>, kind: &Kind) -> Result<Class, SourceError> {
    const CHOICES: [(&str, Class); 3] =
        [("nas", Class::Nas), ("server", Class::Server), ("desktop", Class::Desktop)];
    match kind {
        Kind::Hdd(_) => Ok(fields.choice("class", &CHOICES)?.unwrap_or(Class::Desktop)),
        Kind::Smr(_) => Ok(Class::Shingled),
        Kind::Ssd(p) if p.buffer.power_loss_protection => Ok(Class::ServerSsd),
        Kind::Ssd(p) if p.interface.link_rate > FASTEST_SATA => Ok(Class::Nvme),
        Kind::Ssd(_) => Ok(Class::SataSsd),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SHIPPED, load, shipped};

    #[test]
    fn every_class_is_listed_once_in_its_order() {
        assert!(Class::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        let titles = Class::ALL.map(Class::title);
        assert_eq!(titles.iter().collect::<std::collections::BTreeSet<_>>().len(), titles.len());
    }

    #[test]
    fn drives_are_of_the_class_that_they_name_or_that_follows() {
        for (id, class) in [
            ("st8000as0002", Class::Shingled),
            ("samsung-970pro-512gb", Class::Nvme),
            ("generic-sata-ssd-500gb", Class::SataSsd),
            ("st3500418as", Class::Desktop),
            ("wd40efrx-68n32n0", Class::Nas),
            ("st9300603ss", Class::Server),
        ] {
            assert_eq!(shipped(id).map(|file| file.class), Some(class), "{id}");
        }
        let text = SHIPPED[0].1.replacen("class = \"nas\"", "class = \"nass\"", 1);
        let error = load("d.toml", &text).unwrap_err().to_string();
        assert!(error.contains("did you mean 'nas'"), "{error}");
    }
}

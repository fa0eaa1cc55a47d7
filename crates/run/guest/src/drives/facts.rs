//! The facts of one drive.

use std::path::{Path, PathBuf};

use disklab_drive::{DriveFile, SATA_LINKS, Transport};
use disklab_measure::cache_switch;
use serde::{Deserialize, Serialize};

/// The firmware's revision that a modelled drive reports: it marks what comes from the lab.
pub const FIRMWARE: &str = "disklab";

/// What a drive says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveFacts {
    /// The kernel's name of it, such as `vda`.
    pub node: String,
    /// The model that it reports.
    pub model: String,
    /// Its serial number.
    pub serial: String,
    /// How it is attached on the machine that it is modelled in.
    #[serde(with = "transport_word")]
    pub transport: Transport,
    /// Size in bytes.
    pub bytes: u64,
    /// Bytes of a logical sector.
    pub logical_bytes: u64,
    /// Bytes of a physical sector.
    pub physical_bytes: u64,
    /// Revolutions per minute, of a drive that turns.
    pub rpm: Option<u64>,
    /// Commands that it takes at a time.
    pub queue_depth: u64,
    /// Generation of its SATA link, 1 to 3; 0 if its file gives a payload instead.
    pub sata_generation: u8,
    /// Whether it takes discards.
    pub trims: bool,
}

impl DriveFacts {
    /// Of the disk `node` (`vda`, …), which is the model `model` with this serial number.
    pub fn new(node: String, model: &DriveFile, serial: &str) -> Self {
        let limits = model.queue_limits();
        let link = SATA_LINKS.iter().zip(1..);
        let link = link.filter(|((_, payload), _)| *payload as u64 == model.link_rate());
        Self {
            node,
            model: model.model.clone(),
            serial: serial.to_owned(),
            transport: limits.transport,
            bytes: model.capacity(),
            logical_bytes: limits.logical_bytes,
            physical_bytes: limits.physical_bytes,
            rpm: model.mechanics().map(|mechanics| mechanics.rpm),
            queue_depth: model.queue_depth(),
            sata_generation: link.map(|(_, generation)| generation).next().unwrap_or(0),
            trims: model.takes_discards(),
        }
    }

    /// The model as the drive's own field holds it: printable ASCII, of so many characters at
    /// most. 40 are the length of ATA's (ACS-3, IDENTIFY DEVICE words 27 to 46) and NVMe's.
    pub fn model_field(&self, most: usize) -> String {
        let plain = |c: char| if c == ' ' || c.is_ascii_graphic() { c } else { '?' };
        self.model.trim().chars().map(plain).take(most).collect()
    }

    /// Vendor and product as SCSI's INQUIRY has them: 8 and 16 characters (SPC-4, 6.4.2). The
    /// vendor is the first word of a model of two or more; of one word it is unknown.
    pub fn vendor_and_product(&self) -> (String, String) {
        let model = self.model_field(40);
        let (vendor, product) = model.split_once(' ').unwrap_or(("", &model));
        let cut = |text: &str, most| text.trim().chars().take(most).collect();
        (cut(vendor, 8), cut(product, 16))
    }

    /// Whether its write cache is on now, as the kernel knows it.
    pub fn write_cache(&self) -> bool {
        std::fs::read_to_string(self.cache_switch()).is_ok_and(|mode| mode.trim() == "write back")
    }

    /// Where the drive's cache is switched: it reaches the modelled drive, and the kernel's flushes
    /// follow it.
    pub fn cache_switch(&self) -> PathBuf {
        cache_switch(&Path::new("/sys/block").join(&self.node))
    }
}

/// A transport by its word in a drive file.
mod transport_word {
    use disklab_drive::Transport;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(transport: &Transport, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(transport.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Transport, D::Error> {
        let word = String::deserialize(from)?;
        Transport::from_word(&word)
            .ok_or_else(|| D::Error::custom(format!("unknown transport '{word}'")))
    }
}

/// What tests of several files use.
#[cfg(test)]
pub mod tests {
    use super::*;

    /// The first drive of a shipped model.
    pub fn facts(id: &str) -> DriveFacts {
        DriveFacts::new("vda".to_owned(), &disklab_drive::shipped(id).expect("shipped"), "S-01")
    }

    #[test]
    fn models_say_what_they_are() {
        let disk = facts("hdn721010ale604");
        assert_eq!((disk.transport, disk.rpm), (Transport::Sata, Some(7200)));
        assert_eq!((disk.sata_generation, disk.queue_depth, disk.trims), (3, 32, false));
        let ssd = facts("samsung-980-1tb");
        assert_eq!((ssd.transport, ssd.rpm, ssd.trims), (Transport::Nvme, None, true));
        assert_eq!(facts("st9300603ss").transport, Transport::Sas);
    }

    #[test]
    fn facts_are_read_back_and_unknown_transports_refused() {
        for id in ["hdn721010ale604", "samsung-980-1tb", "st9300603ss"] {
            let text = serde_json::to_string(&facts(id)).expect("json");
            assert_eq!(serde_json::from_str::<DriveFacts>(&text).expect("read"), facts(id));
            let other = text.replace("\"transport\":\"", "\"transport\":\"x");
            let error = serde_json::from_str::<DriveFacts>(&other).expect_err("unknown");
            assert!(error.to_string().contains("unknown transport 'x"), "{error}");
        }
    }

    #[test]
    fn values_are_cut_to_their_field() {
        let mut disk = facts("st9300603ss");
        assert_eq!(disk.vendor_and_product(), (String::new(), "ST9300603SS".to_owned()));
        disk.model = " SEAGATE-OF-OLD  ST-é\n123456789012345678 ".to_owned();
        let (vendor, product) = disk.vendor_and_product();
        assert_eq!((vendor.as_str(), product.as_str()), ("SEAGATE-", "ST-??12345678901"));
        disk.model = "x".repeat(100);
        assert_eq!(disk.model_field(40).len(), 40);
    }
}

//! How drives are attached.

use disklab_config::Fields;
use disklab_source::SourceError;

/// How a drive is attached, by which the kernel's driver is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Serial ATA behind an AHCI controller: `sd` over `libata`.
    Sata,
    /// Serial attached SCSI behind a host bus adapter: `sd`.
    Sas,
    /// NVM Express: `nvme`.
    Nvme,
}

impl Transport {
    /// Its words in a drive file.
    pub(crate) const WORDS: [(&'static str, Self); 3] =
        [("sata", Self::Sata), ("sas", Self::Sas), ("nvme", Self::Nvme)];

    /// Its word in a drive file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sata => "sata",
            Self::Sas => "sas",
            Self::Nvme => "nvme",
        }
    }

    /// The transport with this word; `None` if there is none.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, transport)| *transport)
    }

    /// The transport that `[interface]` names. Older files, and those of older probes, do not:
    /// then `known` is what the drive's other data say.
    pub(crate) fn read(fields: &mut Fields<'_>, known: Self) -> Result<Self, SourceError> {
        Ok(fields.choice("transport", &Self::WORDS)?.unwrap_or(known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_that_of_its_transport() {
        for (word, transport) in Transport::WORDS {
            assert_eq!((transport.as_str(), Transport::from_word(word)), (word, Some(transport)));
        }
        assert_eq!(Transport::from_word("usb"), None);
    }
}

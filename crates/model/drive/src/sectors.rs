//! Sectors of drives.

/// Sector size on the medium and towards the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SectorFormat {
    /// 512 B both.
    Native512,
    /// 4096 B on the medium, 512 B towards the host: a write of part of a
    /// physical sector costs a revolution.
    Emulated512,
    /// 4096 B both.
    Native4096,
}

impl SectorFormat {
    /// Its words in a drive file, which are the trade's.
    pub const WORDS: [(&'static str, Self); 3] =
        [("512n", Self::Native512), ("512e", Self::Emulated512), ("4Kn", Self::Native4096)];

    /// Bytes of a logical sector.
    pub fn logical(self) -> u64 {
        if self == Self::Native4096 { 4096 } else { 512 }
    }

    /// Bytes of a physical sector.
    pub fn physical(self) -> u64 {
        if self == Self::Native512 { 512 } else { 4096 }
    }
}

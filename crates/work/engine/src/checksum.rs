//! What is stored with a block, computed as fio does (its crc/ and verify.c, version 3.33), but for
//! two: SHA-256 and SHA-512 are the standard's, as fio 3.33 stores mostly the data itself for them.

use disklab_jobfile::Checksum;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use twox_hash::XxHash32;

/// The longest that is stored: struct vhdr_sha512 in fio's verify.h, of which SHA-512 fills half.
const LONGEST: usize = 128;

/// What a block's header says of its data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredChecksum {
    bytes: [u8; LONGEST],
    length: usize,
}

impl StoredChecksum {
    /// That of a block's data; of a kind without a checksum, none.
    pub(crate) fn of(checksum: Checksum, data: &[u8]) -> Self {
        // As numbers on a little-endian machine.
        match checksum {
            Checksum::Crc32c => Self::new(&fio_crc32c(data).to_le_bytes()),
            Checksum::Crc32 => Self::new(&CRC32.of(data).to_le_bytes()[..4]),
            Checksum::Crc64 => Self::new(&CRC64.of(data).to_le_bytes()),
            Checksum::Crc16 => Self::new(&CRC16.of(data).to_le_bytes()[..2]),
            Checksum::Crc7 => Self::new(&CRC7.of(data).to_le_bytes()[..1]),
            Checksum::Xxhash => Self::new(&XxHash32::oneshot(SEED, data).to_le_bytes()),
            Checksum::Md5 => Self::new(&Md5::digest(data)),
            Checksum::Sha1 => {
                // fio stores its words as this machine has them.
                let mut digest = Sha1::digest(data);
                digest.chunks_mut(4).for_each(<[u8]>::reverse);
                Self::new(&digest)
            }
            Checksum::Sha256 => Self::new(&Sha256::digest(data)),
            Checksum::Sha512 => Self::new(&Sha512::digest(data)),
            Checksum::Sha3224 => Self::new(&Sha3_224::digest(data)),
            Checksum::Sha3256 => Self::new(&Sha3_256::digest(data)),
            Checksum::Sha3384 => Self::new(&Sha3_384::digest(data)),
            Checksum::Sha3512 => Self::new(&Sha3_512::digest(data)),
            Checksum::Meta | Checksum::Pattern | Checksum::Null => Self::new(&[]),
        }
    }

    fn new(digest: &[u8]) -> Self {
        let mut bytes = [0; LONGEST];
        bytes[..digest.len()].copy_from_slice(digest);
        Self { bytes, length: digest.len() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Its first bytes, for an error.
    pub(crate) fn first(bytes: &[u8]) -> u64 {
        bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// fio's CRC-32C is not inverted at its end (crc/crc32c.c).
pub(crate) fn fio_crc32c(bytes: &[u8]) -> u32 {
    !crc32c::crc32c(bytes)
}

/// fio's seed of xxHash (fill_xxhash in verify.c).
const SEED: u32 = 1;

/// A cyclic redundancy check that begins at 0 and is not inverted at its end.
struct Crc {
    table: [u64; 256],
    /// Whether the lowest bit of a byte comes first.
    reflected: bool,
    width: u32,
}

const CRC7: Crc = Crc::new(7, 0x09, false);
const CRC16: Crc = Crc::new(16, 0xa001, true);
const CRC32: Crc = Crc::new(32, 0x04c1_1db7, false);
const CRC64: Crc = Crc::new(64, 0x95ac_9329_ac4b_c9b5, true);

impl Crc {
    /// That with a polynomial, whose bits are in the order of those of a byte. One that is not
    /// reflected is computed in the upper bits.
    const fn new(width: u32, polynomial: u64, reflected: bool) -> Self {
        let polynomial = if reflected { polynomial } else { polynomial << (64 - width) };
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut rest = if reflected { byte as u64 } else { (byte as u64) << 56 };
            let mut bit = 0;
            while bit < 8 {
                rest = match (reflected, rest & 1 == 1, rest >> 63 == 1) {
                    (true, true, _) => (rest >> 1) ^ polynomial,
                    (true, false, _) => rest >> 1,
                    (false, _, true) => (rest << 1) ^ polynomial,
                    (false, _, false) => rest << 1,
                };
                bit += 1;
            }
            table[byte] = rest;
            byte += 1;
        }
        Self { table, reflected, width }
    }

    fn of(&self, data: &[u8]) -> u64 {
        let at = |rest: u64, byte: u8| self.table[usize::from(rest as u8 ^ byte)];
        if self.reflected {
            return data.iter().fold(0, |crc: u64, byte| (crc >> 8) ^ at(crc, *byte));
        }
        let crc = data.iter().fold(0, |crc: u64, byte| (crc << 8) ^ at(crc >> 56, *byte));
        crc >> (64 - self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of `123456789` in the catalogue of parametrised CRC algorithms (CRC-7/MMC,
    /// CRC-16/ARC, CRC-32/CKSUM before its inversion and without the length, CRC-64/REDIS).
    #[test]
    fn checks_are_those_of_the_catalogue() {
        let data = b"123456789";
        assert_eq!(CRC7.of(data), 0x75);
        assert_eq!(CRC16.of(data), 0xbb3d);
        assert_eq!(CRC32.of(data), 0x89a1_897f);
        assert_eq!(CRC64.of(data), 0xe9c6_d914_c4b8_d9ca);
        assert_eq!(StoredChecksum::of(Checksum::Meta, data).bytes(), b"");
        assert_eq!(
            StoredChecksum::first(StoredChecksum::of(Checksum::Md5, data).bytes()),
            0x25f9_e794_323b_4538
        );
    }
}

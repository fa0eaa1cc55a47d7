//! A drive's answer to ATA's IDENTIFY DEVICE (ACS-3, 7.12): hdparm and smartctl read such an answer
//! from their standard input, and describe it in their own words.
//!
//! Only what the model knows is claimed. It has no SMART, no power states and no security, so
//! that the programs say the same.

use super::facts::{DriveFacts, FIRMWARE};

/// Words of an answer.
const WORDS: usize = 256;
/// "Shall be set" in words that are valid.
const VALID: u16 = 1 << 14;
/// Write cache and read look-ahead in words 82 and 85.
const WRITE_CACHE: u16 = 1 << 5;
const READ_LOOK_AHEAD: u16 = 1 << 6;
/// 48-bit addresses, FLUSH CACHE and FLUSH CACHE EXT in words 83 and 86.
const BASIC_COMMANDS: u16 = 1 << 10 | 1 << 12 | 1 << 13;
/// Native command queueing in word 76.
const NCQ: u16 = 1 << 8;
/// ATA8-ACS to ACS-3 in word 80, and what they build on.
const STANDARDS: u16 = 0x07f0;
/// Serial transport, up to SATA 3.0 in word 222.
const SERIAL_TRANSPORT: u16 = 0x107f;
/// Sectors that addresses of 28 bits reach.
const SECTORS_28: u64 = (1 << 28) - 1;

/// The answer, as the drive's 512 bytes.
pub fn identify(drive: &DriveFacts, write_cache: bool) -> [u8; 2 * WORDS] {
    let mut words = [0_u16; WORDS];
    words[0] = 1 << 6;
    // What every drive of more than 8 GB says of cylinders, heads and sectors.
    (words[1], words[3], words[6]) = (16_383, 16, 63);
    text(&mut words[10..20], &drive.serial);
    text(&mut words[23..27], FIRMWARE);
    text(&mut words[27..47], &drive.model_field(40));
    words[47] = 0x8000;
    // DMA, LBA, IORDY.
    (words[49], words[50], words[53]) = (0x2f00, VALID, 6);
    let sectors = drive.bytes / drive.logical_bytes.max(1);
    wide(&mut words[60..62], sectors.min(SECTORS_28));
    // DMA up to mode 2, PIO up to mode 4, both at 120 ns; Ultra DMA up to mode 6, which is on.
    (words[63], words[64], words[88]) = (7, 3, 0x407f);
    words[65..69].fill(120);
    words[75] = u16::try_from(drive.queue_depth.clamp(1, 32) - 1).unwrap_or(31);
    let generations = (1..=drive.sata_generation.min(3))
        .fold(0_u16, |bits, generation| bits | (1_u16 << generation));
    words[76] = generations | if drive.queue_depth > 1 { NCQ } else { 0 };
    words[77] = u16::from(drive.sata_generation) << 1;
    words[80] = STANDARDS;
    words[82] = WRITE_CACHE | READ_LOOK_AHEAD;
    words[85] = READ_LOOK_AHEAD | if write_cache { WRITE_CACHE } else { 0 };
    (words[83], words[84]) = (VALID | BASIC_COMMANDS, VALID);
    (words[86], words[87]) = (BASIC_COMMANDS, VALID);
    wide(&mut words[100..104], sectors);
    words[106] = VALID | sector_sizes(drive);
    if drive.logical_bytes > 512 {
        wide(&mut words[117..119], drive.logical_bytes / 2);
    }
    if drive.trims {
        (words[105], words[169]) = (1, 1);
    }
    // 1 is a drive that does not rotate.
    words[217] = drive.rpm.map_or(1, |rpm| u16::try_from(rpm).unwrap_or(0));
    words[222] = SERIAL_TRANSPORT;
    let mut bytes = [0; 2 * WORDS];
    for (pair, word) in bytes.chunks_exact_mut(2).zip(words) {
        pair.copy_from_slice(&word.to_le_bytes());
    }
    // The sum of all bytes is zero.
    bytes[2 * WORDS - 2] = 0xa5;
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes[2 * WORDS - 1] = sum.wrapping_neg();
    bytes
}

/// Word 106: logical sectors of more than 256 words, and how many are in a physical one.
fn sector_sizes(drive: &DriveFacts) -> u16 {
    let ratio = (drive.physical_bytes / drive.logical_bytes.max(1)).max(1);
    let several = if ratio > 1 { 1 << 13 | ratio.trailing_zeros() as u16 } else { 0 };
    several | if drive.logical_bytes > 512 { 1 << 12 } else { 0 }
}

/// A text, the first character in the upper byte, filled up with spaces.
fn text(words: &mut [u16], text: &str) {
    let mut bytes = text.bytes().chain(std::iter::repeat(b' '));
    for word in words {
        let pair = [bytes.next(), bytes.next()].map(|byte| u16::from(byte.unwrap_or(b' ')));
        *word = pair[0] << 8 | pair[1];
    }
}

/// A number, the lowest word first.
fn wide(words: &mut [u16], mut number: u64) {
    for word in words {
        *word = (number & 0xffff) as u16;
        number >>= 16;
    }
}

/// As `hdparm --Istdin` takes it: words in hexadecimal.
pub fn for_hdparm(answer: &[u8; 2 * WORDS]) -> String {
    let word = |pair: &[u8]| format!("{:02x}{:02x}", pair[1], pair[0]);
    let line = |line: &[u8]| line.chunks_exact(2).map(word).collect::<Vec<_>>().join(" ") + "\n";
    answer.chunks_exact(16).map(line).collect()
}

/// As `smartctl -` takes it: the report that `smartctl -r ataioctl,2` would have made.
pub fn for_smartctl(answer: &[u8; 2 * WORDS]) -> String {
    let command = "REPORT-IOCTL: Device=-1 Command=IDENTIFY DEVICE";
    let name = "===== [IDENTIFY DEVICE] DATA";
    let mut report = format!("{command}\n{command} returned 0\n\n{name} START (BASE-16) =====\n");
    for (line, from) in answer.chunks_exact(16).zip((0..).step_by(16)) {
        let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = bytes.join(" ");
        report.push_str(&format!("{from:03}-{:03}: {bytes} |................|\n", from + 15));
    }
    report + name + " END (512 Bytes) =====\n"
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::facts;
    use super::*;
    use disklab_drive::SHIPPED;

    fn word(answer: &[u8], at: usize) -> u16 {
        u16::from_le_bytes([answer[2 * at], answer[2 * at + 1]])
    }

    #[test]
    fn an_answer_has_the_models_data() {
        let answer = identify(&facts("hdn721010ale604"), true);
        assert_eq!(&answer[54..60], b"GHTSH ");
        assert_eq!(answer.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)), 0);
        assert_eq!((word(&answer, 217), word(&answer, 106), word(&answer, 75)), (7200, 0x6003, 31));
        let sectors = (100..104).rev().fold(0, |n, at| n << 16 | u64::from(word(&answer, at)));
        assert_eq!(sectors, 10_000_831_348_736 / 512);
        assert_eq!((word(&answer, 85) & 0x20, word(&answer, 169)), (0x20, 0));
        let ssd = identify(&facts("samsung-870evo-1tb"), false);
        assert_eq!((word(&ssd, 85) & 0x20, word(&ssd, 217), word(&ssd, 169)), (0, 1, 1));
    }

    /// Also of those for which nobody asks by ATA.
    #[test]
    fn every_model_has_an_answer() {
        for (id, _) in SHIPPED {
            let drive = facts(id);
            let answer = identify(&drive, true);
            assert_eq!(word(&answer, 255) & 0xff, 0xa5, "{id}");
            assert_eq!(u64::from(word(&answer, 217)), drive.rpm.unwrap_or(1), "{id}");
            assert_eq!(for_hdparm(&answer).lines().count(), 32);
        }
    }

    #[test]
    fn odd_drives_do_not_panic() {
        let mut drive = facts("hdn721010ale604");
        (drive.model, drive.serial) = ("é\n".repeat(50), "ü".repeat(50));
        (drive.logical_bytes, drive.queue_depth, drive.sata_generation) = (0, 0, 255);
        (drive.bytes, drive.rpm) = (u64::MAX, Some(u64::MAX));
        let answer = identify(&drive, true);
        assert_eq!(&answer[54..58], b"????");
        assert!(for_smartctl(&answer).ends_with(" DATA END (512 Bytes) =====\n"));
    }
}

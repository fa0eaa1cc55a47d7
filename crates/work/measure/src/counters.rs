//! A block device's counters, as `/sys/block/X/stat` and `/proc/diskstats` give
//! them (kernel: Documentation/admin-guide/iostats.rst).

use std::collections::BTreeMap;

use disklab_sample::DriveTraffic;

/// The counters are in sectors of 512 bytes whatever the drive's sectors are
/// (Documentation/block/stat.rst).
pub const SECTOR_BYTES: u64 = 512;
const NS_PER_MS: u64 = 1_000_000;
/// The kernel prints times as 32-bit milliseconds, and on 32-bit machines the
/// other counters are 32 bits wide too: they wrap here.
const WRAP: u64 = 1 << 32;

/// A block device's counters at one moment. They only grow, except
/// [`Counters::in_flight`], and may wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Reads completed.
    pub reads: u64,
    /// Reads merged into another before they were issued.
    pub reads_merged: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Milliseconds that reads spent waiting or in service, summed over them.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Joined with a neighbour before they were given to the drive.
    pub writes_merged: u64,
    /// Sectors written.
    pub write_sectors: u64,
    /// Milliseconds of writes.
    pub write_ms: u64,
    /// Requests issued and not completed: a level, no counter.
    pub in_flight: u64,
    /// Milliseconds during which a request was in flight.
    pub busy_ms: u64,
    /// Request-milliseconds waiting or in service.
    pub queue_ms: u64,
    /// Discards completed (since Linux 4.18; 0 before).
    pub discards: u64,
    /// Joined with a neighbour before they were given to the drive.
    pub discards_merged: u64,
    /// Of 512 bytes, whatever the drive's own size.
    pub discard_sectors: u64,
    /// Milliseconds of discards.
    pub discard_ms: u64,
    /// Flushes completed (since Linux 5.5; 0 before). The kernel counts them
    /// for whole devices, not for partitions.
    pub flushes: u64,
    /// Milliseconds of flushes.
    pub flush_ms: u64,
}

impl Counters {
    /// Reads the text of a `stat` file: 11 numbers, with discards 15, with
    /// flushes 17. More are left alone, as a later kernel may have them.
    /// `None` where there are fewer, or something is no number.
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = [0; 17];
        let mut count = 0;
        for word in text.split_ascii_whitespace().take(fields.len()) {
            fields[count] = word.parse().ok()?;
            count += 1;
        }
        // Half a group of fields is no version of the format.
        if !matches!(count, 11 | 15 | 17) {
            return None;
        }
        let [
            reads,
            reads_merged,
            read_sectors,
            read_ms,
            writes,
            writes_merged,
            write_sectors,
            write_ms,
            in_flight,
            busy_ms,
            queue_ms,
            discards,
            discards_merged,
            discard_sectors,
            discard_ms,
            flushes,
            flush_ms,
        ] = fields;
        Some(Self {
            reads,
            reads_merged,
            read_sectors,
            read_ms,
            writes,
            writes_merged,
            write_sectors,
            write_ms,
            in_flight,
            busy_ms,
            queue_ms,
            discards,
            discards_merged,
            discard_sectors,
            discard_ms,
            flushes,
            flush_ms,
        })
    }

    /// What was added since `before`; `in_flight` stays the level of now.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            reads: difference(before.reads, self.reads),
            reads_merged: difference(before.reads_merged, self.reads_merged),
            read_sectors: difference(before.read_sectors, self.read_sectors),
            read_ms: difference(before.read_ms, self.read_ms),
            writes: difference(before.writes, self.writes),
            writes_merged: difference(before.writes_merged, self.writes_merged),
            write_sectors: difference(before.write_sectors, self.write_sectors),
            write_ms: difference(before.write_ms, self.write_ms),
            in_flight: self.in_flight,
            busy_ms: difference(before.busy_ms, self.busy_ms),
            queue_ms: difference(before.queue_ms, self.queue_ms),
            discards: difference(before.discards, self.discards),
            discards_merged: difference(before.discards_merged, self.discards_merged),
            discard_sectors: difference(before.discard_sectors, self.discard_sectors),
            discard_ms: difference(before.discard_ms, self.discard_ms),
            flushes: difference(before.flushes, self.flushes),
            flush_ms: difference(before.flush_ms, self.flush_ms),
        }
    }

    /// In the kernel's sectors of 512 bytes.
    pub fn read_bytes(&self) -> u64 {
        self.read_sectors.saturating_mul(SECTOR_BYTES)
    }

    /// Bytes written.
    pub fn write_bytes(&self) -> u64 {
        self.write_sectors.saturating_mul(SECTOR_BYTES)
    }

    /// Reads, writes and discards completed; not flushes, which move no data.
    pub fn requests(&self) -> u64 {
        self.reads.saturating_add(self.writes).saturating_add(self.discards)
    }

    /// As the traffic of `drive`, where these are differences.
    pub fn traffic(&self, drive: &str) -> DriveTraffic {
        DriveTraffic {
            drive: drive.to_owned(),
            read_bytes: self.read_bytes(),
            reads: self.reads,
            write_bytes: self.write_bytes(),
            writes: self.writes,
            discard_bytes: self.discard_sectors.saturating_mul(SECTOR_BYTES),
            flushes: self.flushes,
            busy_ns: self.busy_ms.saturating_mul(NS_PER_MS),
            queue_ns: self.queue_ms.saturating_mul(NS_PER_MS),
            medium_write_bytes: None,
            memory_reads: None,
        }
    }
}

/// What a counter grew by. One that is smaller than before has either wrapped at
/// 32 bits or, where it was nowhere near that, begun anew at 0 (the device was
/// removed and came back).
fn difference(before: u64, after: u64) -> u64 {
    if after >= before {
        after - before
    } else if (WRAP / 2..WRAP).contains(&before) {
        WRAP - before + after
    } else {
        after
    }
}

/// Reads the text of `/proc/diskstats`: counters by device name. Lines that are
/// none are left out.
pub fn parse_diskstats(text: &str) -> BTreeMap<String, Counters> {
    text.lines()
        .filter_map(|line| {
            let line = line.trim_start();
            let (_major, rest) = line.split_once(char::is_whitespace)?;
            let (_minor, rest) = rest.trim_start().split_once(char::is_whitespace)?;
            let (name, rest) = rest.trim_start().split_once(char::is_whitespace)?;
            Some((name.to_owned(), Counters::parse(rest)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STAT: &str = "   89823    13094  8463266    82414    39047   132189  9245528    36120 \
                        2    13448   119873    12061       67  1319704     1179     4940      159\n";

    #[test]
    fn all_generations_of_the_format_are_read() {
        let new = Counters::parse(STAT).expect("17 fields");
        assert_eq!((new.reads, new.read_sectors, new.in_flight), (89823, 8_463_266, 2));
        assert_eq!((new.discards, new.discard_sectors, new.flushes), (12061, 1_319_704, 4940));
        let words: Vec<&str> = STAT.split_ascii_whitespace().collect();
        let old = Counters::parse(&words[..11].join(" ")).expect("11 fields");
        assert_eq!((old.queue_ms, old.discards), (119_873, 0));
        let middle = Counters::parse(&words[..15].join(" ")).expect("15 fields");
        assert_eq!((middle.discard_ms, middle.flushes), (1179, 0));
        let later = Counters::parse(&format!("{STAT} 7 8 9")).expect("20 fields");
        assert_eq!(later, new);
        assert_eq!(Counters::parse(&words[..12].join(" ")), None);
        assert_eq!(Counters::parse(""), None);
    }

    #[test]
    fn traffic_is_in_bytes_and_nanoseconds() {
        let before = Counters::default();
        let traffic = Counters::parse(STAT).expect("stat").since(&before).traffic("d1");
        assert_eq!(traffic.read_bytes, 8_463_266 * 512);
        assert_eq!(traffic.busy_ns, 13_448_000_000);
        assert_eq!(traffic.queue_ns, 119_873_000_000);
        assert_eq!((traffic.writes, traffic.flushes), (39047, 4940));
    }

    #[test]
    fn diskstats_are_read_by_name_and_bad_lines_left_out() {
        let text = format!(" 254       0 vda {STAT}garbage\n 8 1 sda1 1 2\n   8  16 sdb {STAT}");
        let all = parse_diskstats(&text);
        assert_eq!(all.keys().collect::<Vec<_>>(), ["sdb", "vda"]);
        assert_eq!(all["vda"].reads, 89823);
    }

    #[test]
    fn a_wrapped_counter_continues_and_a_new_one_starts_at_zero() {
        assert_eq!(difference(u64::from(u32::MAX) - 9, 5), 15);
        assert_eq!(difference(1000, 30), 30);
        assert_eq!(difference(u64::MAX, 7), 7);
        assert_eq!(difference(3, 10), 7);
    }

    proptest! {
        #[test]
        fn hostile_text_does_no_harm(text in "\\PC*", lines in prop::collection::vec("[0-9 a-z\t-]{0,60}", 0..8)) {
            let _ = Counters::parse(&text);
            for counters in parse_diskstats(&lines.join("\n")).values() {
                let _ = counters.since(&Counters::default()).traffic("x");
            }
        }

        #[test]
        fn extreme_counters_do_not_overflow(a in prop::collection::vec(any::<u64>(), 17), b in prop::collection::vec(any::<u64>(), 17)) {
            let text = |v: &[u64]| v.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
            let (a, b) = (Counters::parse(&text(&a)), Counters::parse(&text(&b)));
            let (a, b) = (a.expect("17 numbers"), b.expect("17 numbers"));
            let grown = b.since(&a);
            prop_assert!(grown.requests() >= grown.reads);
            let _ = grown.traffic("x");
        }

        #[test]
        fn a_wrap_is_seen_through(before in (1u64 << 31)..(1 << 32), grown in 0u64..(1 << 31)) {
            prop_assert_eq!(difference(before, (before + grown) % (1 << 32)), grown);
        }
    }
}

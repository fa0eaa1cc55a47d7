//! When the next I/O may begin: `rate`, `rate_iops`.

use disklab_jobfile::{IoDirection, Pace, RateProcess};

use crate::pattern::side;
use crate::random::Random;

/// The limits of one clone. Times are nanoseconds since they began to count.
#[derive(Debug)]
pub(crate) struct Limiter {
    sides: [DirectionLimit; 2],
    poisson: bool,
    random: Random,
    began_ns: u64,
    /// Whether there is any limit.
    pub(crate) is_limited: bool,
}

#[derive(Debug, Default, Clone, Copy)]
struct DirectionLimit {
    bytes_per_second: Option<u64>,
    ios_per_second: Option<u64>,
    bytes: u64,
    ios: u64,
    next_ns: u64,
}

impl Limiter {
    pub(crate) fn new(pace: &Pace, seed: u64) -> Self {
        let side = |bytes_per_second, ios_per_second| DirectionLimit {
            bytes_per_second,
            ios_per_second,
            ..DirectionLimit::default()
        };
        let sides = [
            side(pace.rate.read, pace.rate_iops.read),
            side(pace.rate.write, pace.rate_iops.write),
        ];
        Self {
            sides,
            poisson: pace.process == RateProcess::Poisson,
            random: Random::new(seed, 30),
            began_ns: 0,
            is_limited: sides
                .iter()
                .any(|s| s.bytes_per_second.is_some() || s.ios_per_second.is_some()),
        }
    }

    /// Begins to count at a time of the clock.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.began_ns = now_ns;
        for side in &mut self.sides {
            (side.bytes, side.ios, side.next_ns) = (0, 0, 0);
        }
    }

    /// When the next I/O of a direction may begin, by the clock.
    pub(crate) fn due(&self, direction: IoDirection) -> u64 {
        self.began_ns.saturating_add(self.sides[side(direction)].next_ns)
    }

    /// The direction that a mixed job takes: the drawn one, unless it has to wait
    /// and the other is due earlier (rate_ddir in fio's io_u.c).
    pub(crate) fn choose(&self, drawn: IoDirection, now_ns: u64) -> IoDirection {
        let other = match drawn {
            IoDirection::Read => IoDirection::Write,
            IoDirection::Write => IoDirection::Read,
        };
        let due = self.due(drawn);
        if due > now_ns && self.due(other) < due { other } else { drawn }
    }

    /// Counts an I/O that begins.
    ///
    /// A linear pace is a timetable from the start: who is late catches up, as in
    /// fio (usec_for_io in backend.c). A Poisson process draws each pause. Where
    /// fio turns `rate_iops` into bytes by the smallest block, I/Os are counted.
    pub(crate) fn issued(&mut self, direction: IoDirection, bytes: u64) {
        let random = &mut self.random;
        let side = &mut self.sides[side(direction)];
        side.bytes += bytes;
        side.ios += 1;
        let at = |count: u64, per_second: u64| {
            let ns = u128::from(count) * 1_000_000_000 / u128::from(per_second.max(1));
            u64::try_from(ns).unwrap_or(u64::MAX)
        };
        if self.poisson {
            let by_ios = side.ios_per_second.map_or(0.0, |rate| 1e9 / rate.max(1) as f64);
            let by_bytes =
                side.bytes_per_second.map_or(0.0, |rate| bytes as f64 * 1e9 / rate.max(1) as f64);
            let pause = -(1.0 - random.unit()).ln() * by_ios.max(by_bytes);
            side.next_ns = side.next_ns.saturating_add(pause as u64);
        } else {
            let by_ios = side.ios_per_second.map_or(0, |rate| at(side.ios, rate));
            let by_bytes = side.bytes_per_second.map_or(0, |rate| at(side.bytes, rate));
            side.next_ns = by_ios.max(by_bytes);
        }
    }

    /// Time was spent on thinking, which is not to be caught up.
    pub(crate) fn skip(&mut self, ns: u64) {
        self.began_ns = self.began_ns.saturating_add(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::job;

    fn limiter(options: &str) -> Limiter {
        let job = job(&format!("rw=rw\nsize=1m\n{options}"));
        let mut limiter = Limiter::new(&job.pace, 1);
        limiter.begin(1000);
        limiter
    }

    #[test]
    fn a_linear_pace_is_a_timetable() {
        let mut limiter = limiter("rate=4096,8192");
        assert!(limiter.is_limited);
        assert_eq!(limiter.due(IoDirection::Read), 1000);
        limiter.issued(IoDirection::Read, 4096);
        limiter.issued(IoDirection::Write, 4096);
        assert_eq!(limiter.due(IoDirection::Read), 1_000_001_000);
        assert_eq!(limiter.due(IoDirection::Write), 500_001_000);
        assert_eq!(limiter.choose(IoDirection::Read, 2000), IoDirection::Write);
        assert_eq!(limiter.choose(IoDirection::Read, 2_000_000_000), IoDirection::Read);
        limiter.skip(10);
        assert_eq!(limiter.due(IoDirection::Read), 1_000_001_010);
    }

    #[test]
    fn ios_are_counted() {
        let mut limiter = limiter("rate_iops=100");
        for bytes in [512, 4096, 1] {
            limiter.issued(IoDirection::Read, bytes);
        }
        assert_eq!(limiter.due(IoDirection::Read), 30_001_000);
        assert!(!self::limiter("").is_limited);
    }

    #[test]
    fn poisson_pauses_have_the_mean_and_the_spread_of_their_rate() {
        let mut limiter = limiter("rate_iops=1000\nrate_process=poisson");
        let mut pauses = Vec::new();
        for _ in 0..20_000 {
            let before = limiter.due(IoDirection::Read);
            limiter.issued(IoDirection::Read, 4096);
            pauses.push((limiter.due(IoDirection::Read) - before) as f64);
        }
        let n = pauses.len() as f64;
        let mean = pauses.iter().sum::<f64>() / n;
        let deviation = (pauses.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((mean / 1e6 - 1.0).abs() < 0.03 && (deviation / mean - 1.0).abs() < 0.05);
    }
}

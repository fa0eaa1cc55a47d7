//! The spindle: it turns on, whatever the drive does.

use disklab_content::splitmix64;

/// Which angle is under the heads when. Angles are given as the time that the
/// platter takes to turn by them, from 0 to the time of a revolution, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spindle {
    revolution: u32,
    phase: u64,
}

impl Spindle {
    /// A spindle whose angle at time 0 follows from `seed`: the drives of an array
    /// do not rotate in phase. A revolution takes 60 ms at most.
    pub(crate) fn new(revolution: u64, seed: u64) -> Self {
        let revolution = revolution.clamp(1, 60_000_000) as u32;
        Self { revolution, phase: splitmix64(seed) % u64::from(revolution) }
    }

    /// The angle under the heads at `now`.
    pub(crate) fn angle(&self, now: u64) -> u32 {
        ((now + self.phase) % u64::from(self.revolution)) as u32
    }

    /// How long it takes from the angle `here` to the angle `there`, if the arm
    /// takes `way` (3 s at most) to get there first; `way` is not counted.
    pub(crate) fn wait(&self, here: u32, way: u32, there: u32) -> u32 {
        let here = (here + way) % self.revolution;
        if there >= here { there - here } else { there + self.revolution - here }
    }

    /// Time of a revolution, ns.
    pub(crate) fn revolution(&self) -> u64 {
        u64::from(self.revolution)
    }
}

/// A number from 0 to 1 that follows from `seed` and `n`.
pub(crate) fn uniform(seed: u64, n: u64) -> f64 {
    (splitmix64(splitmix64(seed) ^ (n + 1)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_angle_is_there_after_the_wait(
            seed: u64,
            now in 0..1_u64 << 60,
            way in 0..3_000_000_000_u32,
            revolution in 1..60_000_000_u32,
            there: u32,
        ) {
            let spindle = Spindle::new(u64::from(revolution), seed);
            let there = there % revolution;
            let wait = spindle.wait(spindle.angle(now), way, there);
            prop_assert!(wait < revolution);
            prop_assert_eq!(spindle.angle(now + u64::from(way) + u64::from(wait)), there);
        }
    }

    #[test]
    fn drives_do_not_rotate_in_phase() {
        let angles: Vec<u32> = (0..4).map(|seed| Spindle::new(8_333_333, seed).angle(0)).collect();
        assert!(angles.windows(2).all(|w| w[0].abs_diff(w[1]) > 10_000), "{angles:?}");
    }
}

//! The spindle: it turns on, whatever the drive does.

/// Which angle is under the heads when. Angles are given as the time that the
/// platter takes to turn by them, from 0 to the time of a turn, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spindle {
    turn: u64,
    phase: u64,
}

impl Spindle {
    /// A spindle whose angle at time 0 follows from `seed`: the drives of an array
    /// do not turn in step.
    pub(crate) fn new(turn: u64, seed: u64) -> Self {
        let turn = turn.max(1);
        Self { turn, phase: scatter(seed) % turn }
    }

    /// How long after `now` the angle of `pass` (modulo a turn) is under the heads.
    pub(crate) fn wait(&self, now: u64, pass: u64) -> u64 {
        let (here, there) = ((now + self.phase) % self.turn, pass % self.turn);
        if there >= here { there - here } else { there + self.turn - here }
    }

    /// Time of a turn, ns.
    pub(crate) fn turn(&self) -> u64 {
        self.turn
    }
}

/// The output function of SplitMix64 (Steele, Lea, Flood: 'Fast Splittable
/// Pseudorandom Number Generators', 2014): near seeds give far numbers.
fn scatter(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_angle_is_there_after_the_wait(
            seed: u64, now in 0..1_u64 << 60, pass in 0..1_u64 << 60, turn in 1_u64..20_000_000,
        ) {
            let spindle = Spindle::new(turn, seed);
            let wait = spindle.wait(now, pass);
            prop_assert!(wait < turn);
            prop_assert_eq!(spindle.wait(now + wait, pass), 0);
        }
    }

    #[test]
    fn drives_do_not_turn_in_step() {
        let waits: Vec<u64> = (0..4).map(|seed| Spindle::new(8_333_333, seed).wait(0, 0)).collect();
        assert!(waits.windows(2).all(|w| w[0].abs_diff(w[1]) > 10_000), "{waits:?}");
    }
}

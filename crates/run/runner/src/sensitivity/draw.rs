//! Drives whose uncertain parameters are moved all at once.

use disklab_bench::DrivesError;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::error::SensitivityError;
use super::variation::Variation;

/// How often a drive is drawn anew that is not possible.
const TRIES: usize = 1000;

/// A drive that was drawn, or one for each model of the study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    /// The parameters that do not stand where the model's file has them.
    pub moves: Vec<Variation>,
}

/// `n` drives, each parameter at one end of its range or at the other, each as likely and
/// independently of all else, so that what is said of all such drives from these few is right;
/// where the file's own value is an end, that is one of the two. Ends may exclude each other:
/// such a drive is drawn anew.
///
/// # Errors
/// [`SensitivityError::NoPossibleDrive`] if none is found; `check` says what is wrong with one.
pub(super) fn draw(
    variations: &[Variation],
    n: u32,
    seed: u64,
    check: impl Fn(&[Variation]) -> Result<(), DrivesError>,
) -> Result<Vec<Draw>, SensitivityError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let parameters: Vec<[Option<&Variation>; 2]> = by_parameter(variations);
    let mut one = || {
        let mut tries = 0;
        loop {
            let ends = parameters.iter().map(|ends| ends[random.random_range(0..2)]);
            let moves: Vec<Variation> = ends.flatten().cloned().collect();
            tries += 1;
            match check(&moves) {
                Ok(()) => return Ok(Draw { moves }),
                Err(error) if tries == TRIES => {
                    return Err(SensitivityError::NoPossibleDrive { tries, source: error.into() });
                }
                Err(_) => {}
            }
        }
    };
    (0..n).map(|_| one()).collect()
}

/// The two ends of each parameter; none stands for the file's own value.
fn by_parameter(variations: &[Variation]) -> Vec<[Option<&Variation>; 2]> {
    let mut found: Vec<[Option<&Variation>; 2]> = Vec::new();
    for variation in variations {
        let same = |ends: &&mut [Option<&Variation>; 2]| {
            ends[1].is_some_and(|v| v.drive == variation.drive && v.field == variation.field)
        };
        match found.iter_mut().find(same) {
            Some(ends) => ends[0] = Some(variation),
            None => found.push([None, Some(variation)]),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_timer() -> DrivesError {
        DrivesError::NotScsi { drive: "a".to_owned() }
    }

    fn variation(field: &str, value: &str) -> Variation {
        let [drive, field, own, value] = ["d", field, "5 ms", value].map(str::to_owned);
        Variation { drive, field, own, value }
    }

    /// `a` has two other ends, `b` and `c` one.
    fn ends() -> Vec<Variation> {
        [("a", "1 ms"), ("a", "9 ms"), ("b", "2 ms"), ("c", "3 ms")]
            .map(|(field, value)| variation(field, value))
            .to_vec()
    }

    fn has(draw: &Draw, field: &str, value: &str) -> bool {
        draw.moves.contains(&variation(field, value))
    }

    #[test]
    fn each_parameter_is_at_each_end_in_half_of_the_draws() {
        let draws = draw(&ends(), 4000, 7, |_| Ok(())).expect("drawn");
        for (field, value) in [("a", "1 ms"), ("a", "9 ms"), ("b", "2 ms"), ("c", "3 ms")] {
            let n = draws.iter().filter(|d| has(d, field, value)).count();
            // Five standard deviations of 4000 throws of a coin.
            assert!(n.abs_diff(2000) < 158, "{field} {value}: {n}");
        }
        let exactly_one = |d: &Draw| has(d, "a", "1 ms") != has(d, "a", "9 ms");
        assert!(draws.iter().all(exactly_one));
        assert_eq!(draws, super::draw(&ends(), 4000, 7, |_| Ok(())).expect("the same again"));
        assert_ne!(draws, super::draw(&ends(), 4000, 8, |_| Ok(())).expect("others"));
    }

    #[test]
    fn impossible_drives_are_redrawn_or_reported() {
        let excluded = |moves: &[Variation]| {
            let has = |field| moves.iter().any(|v| v.field == field);
            if has("b") && has("c") { Err(no_timer()) } else { Ok(()) }
        };
        let draws = draw(&ends(), 40, 1, excluded).expect("drawn");
        assert!(draws.iter().all(|d| excluded(&d.moves).is_ok()));
        let never = |_: &[Variation]| Err(no_timer());
        let error = draw(&ends(), 2, 1, never).expect_err("never");
        let SensitivityError::NoPossibleDrive { tries: TRIES, source } = error else {
            panic!("{error}");
        };
        assert!(matches!(*source, DrivesError::NotScsi { .. }));
    }
}

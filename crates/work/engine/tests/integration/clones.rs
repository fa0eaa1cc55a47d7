//! Clones of a job do not follow each other.

use crate::common::{jobs, run_traced};

/// Places of each clone, as shares of its file, in order.
fn places(clones: usize) -> Vec<Vec<f64>> {
    let directory = tempfile::tempdir().expect("temp");
    let text = format!(
        "[it]\nrw=randread\nbs=4k\nsize=16m\nnumjobs={clones}\nfallocate=none\nioengine=psync\n"
    );
    let (_, issued) = run_traced(&jobs(&text), directory.path());
    let mut places = vec![Vec::new(); clones];
    for one in issued {
        places[one.clone as usize].push(one.request.offset as f64 / f64::from(16 << 20));
    }
    places
}

/// The mean distance of two clones' places with the same number, the second one's
/// `lag` later: a third, where they have nothing to do with each other.
fn distance(a: &[f64], b: &[f64], lag: usize) -> f64 {
    let pairs = a.iter().zip(&b[lag..]);
    let n = pairs.len() as f64;
    pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / n
}

#[test]
fn random_offsets_of_clones_are_independent() {
    let places = places(4);
    assert!(places.iter().all(|clone| clone.len() == 4096));
    for (at, a) in places.iter().enumerate() {
        assert!((distance(a, a, 1) - 1.0 / 3.0).abs() < 0.02, "clone {at} by itself");
        for (other, b) in places.iter().enumerate().filter(|(other, _)| *other != at) {
            for lag in 0..2 {
                let mean = distance(a, b, lag);
                assert!((mean - 1.0 / 3.0).abs() < 0.02, "clones {at} and {other}, {lag}: {mean}");
            }
        }
    }
}

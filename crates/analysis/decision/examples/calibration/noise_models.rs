//! Kinds of noise, each a model in which nothing but chance tells stacks apart.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// How the machine disturbs what is measured, in the order of time.
#[derive(Debug)]
pub struct NoiseModel {
    /// Its name in the tables.
    pub name: &'static str,
    /// What it is like.
    pub about: &'static str,
    /// Whether repeats of a figure are independent of each other and of time, so that
    /// a figure has an own value that its interval can cover.
    pub still: bool,
    /// Logarithms of the factors that disturb cells, of which so many make a block.
    disturb: fn(&mut ChaCha8Rng, usize, usize) -> Vec<f64>,
}

impl NoiseModel {
    /// The disturbances of `cells` cells in blocks of `block`.
    pub fn disturbances(&self, random: &mut ChaCha8Rng, cells: usize, block: usize) -> Vec<f64> {
        (self.disturb)(random, cells, block)
    }

    /// The median disturbance of the stationary model.
    pub fn median(&self, random: &mut ChaCha8Rng) -> f64 {
        let mut all = self.disturbances(random, 200_001, 4);
        all.sort_by(f64::total_cmp);
        all[100_000]
    }
}

/// All noise models. 'σ' is the standard deviation of the logarithm: 3 % is what real disks
/// often show between runs.
pub const NOISE_MODELS: [NoiseModel; 12] = [
    NoiseModel {
        name: "lognormal",
        about: "independent factors, lognormal, σ 3 %",
        still: true,
        disturb: |random, cells, _| (0..cells).map(|_| 0.03 * normal(random)).collect(),
    },
    NoiseModel {
        name: "heavy tails",
        about: "Student's t with 3 degrees of freedom, scale 2 %",
        still: true,
        disturb: |random, cells, _| (0..cells).map(|_| 0.02 * t3(random)).collect(),
    },
    NoiseModel {
        name: "stalls",
        about: "lognormal, σ 2 %; one cell in twenty is slower by a Pareto factor (index 1.5)",
        still: true,
        disturb: |random, cells, _| {
            (0..cells).map(|_| 0.02 * normal(random) - stall(random)).collect()
        },
    },
    NoiseModel {
        name: "one-sided",
        about: "never faster than the disk, often slower: an exponential factor of 3 %",
        still: true,
        disturb: |random, cells, _| (0..cells).map(|_| -0.03 * exponential(random)).collect(),
    },
    NoiseModel {
        name: "drift",
        about: "lognormal, σ 2 %, on a random walk of 1 % a cell and a loss of ½ % a cell",
        still: false,
        disturb: |random, cells, _| {
            let mut level = 0.0;
            let mut next = || {
                level += 0.01 * normal(random) - 0.005;
                level + 0.02 * normal(random)
            };
            (0..cells).map(|_| next()).collect()
        },
    },
    NoiseModel {
        name: "autocorrelated",
        about: "each cell keeps 0.9 of the last one's disturbance (σ 4 %), and σ 1 % of its own",
        still: false,
        disturb: |random, cells, _| {
            let mut level = 0.04 * normal(random);
            let mut next = || {
                level = 0.9 * level + 0.04 * (1.0_f64 - 0.81).sqrt() * normal(random);
                level + 0.01 * normal(random)
            };
            (0..cells).map(|_| next()).collect()
        },
    },
    NoiseModel {
        name: "order",
        about: "the first cell of a block is 10 % faster, the later ones lose 8 % up to its \
                end; σ 2 %",
        still: false,
        disturb: |random, cells, block| {
            let place = |at: usize| if at == 0 { 0.1 } else { -0.08 * at as f64 / block as f64 };
            (0..cells).map(|cell| place(cell % block) + 0.02 * normal(random)).collect()
        },
    },
    NoiseModel {
        name: "slow swings",
        about: "each cell keeps 0.97 of the last one's disturbance (σ 4 %), and σ 1 % of its own",
        still: false,
        disturb: |random, cells, _| {
            let mut level = 0.04 * normal(random);
            let mut next = || {
                level = 0.97 * level + 0.04 * (1.0_f64 - 0.9409).sqrt() * normal(random);
                level + 0.01 * normal(random)
            };
            (0..cells).map(|_| next()).collect()
        },
    },
    NoiseModel {
        name: "in step",
        about: "a wave of ±5 % whose period is two blocks, from a phase that is drawn; σ 1 %",
        still: false,
        disturb: |random, cells, block| {
            let phase = std::f64::consts::TAU * uniform(random);
            let sign = |cell: usize| std::f64::consts::PI * cell as f64 / block as f64;
            (0..cells)
                .map(|cell| 0.05 * (phase + sign(cell)).sin() + 0.01 * normal(random))
                .collect()
        },
    },
    NoiseModel {
        name: "ends",
        about: "the first and the last fifth of each block are 10 % slower; σ 1 %",
        still: false,
        disturb: |random, cells, block| {
            let slow = |cell: usize| {
                let place = (cell % block) as f64 + 0.5;
                place < block as f64 / 5.0 || place > block as f64 * 0.8
            };
            (0..cells)
                .map(|cell| if slow(cell) { -0.1 } else { 0.0 } + 0.01 * normal(random))
                .collect()
        },
    },
    NoiseModel {
        name: "two modes",
        about: "one cell in three is 12 % slower; σ 1 %",
        still: false,
        disturb: |random, cells, _| {
            let mut mode = || if random.random_bool(1.0 / 3.0) { -0.12 } else { 0.0 };
            let modes: Vec<f64> = (0..cells).map(|_| mode()).collect();
            modes.into_iter().map(|mode| mode + 0.01 * normal(random)).collect()
        },
    },
    NoiseModel {
        name: "all at once",
        about: "drift, autocorrelation, order and stalls together",
        still: false,
        disturb: |random, cells, block| {
            let (mut level, mut kept) = (0.0, 0.0);
            let next = |cell: usize| {
                level += 0.005 * normal(random) - 0.002;
                kept = 0.9 * kept + 0.01 * normal(random);
                let first = if cell.is_multiple_of(block) { 0.05 } else { 0.0 };
                level + kept + first + 0.01 * normal(random) - stall(random)
            };
            (0..cells).map(next).collect()
        },
    },
];

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    // Not 0, so that it has a logarithm.
    1.0 - random.random::<f64>()
}

/// A standard normal deviate (Box and Muller 1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}

fn exponential(random: &mut ChaCha8Rng) -> f64 {
    -uniform(random).ln()
}

fn t3(random: &mut ChaCha8Rng) -> f64 {
    let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
    normal(random) / (squares / 3.0).sqrt()
}

/// Mostly 0; the logarithm of a Pareto variable is exponential.
fn stall(random: &mut ChaCha8Rng) -> f64 {
    if random.random_bool(0.05) { exponential(random) / 1.5 } else { 0.0 }
}

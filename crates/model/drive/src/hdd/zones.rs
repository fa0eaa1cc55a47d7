//! Zones of equal track length.

use super::parameters::Parameters;

/// A zone's share of the cylinders, and its mean rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ZoneShare {
    /// Part of all cylinders.
    pub(crate) cylinders: f64,
    /// Sustained rate, B/s.
    pub(crate) rate: f64,
}

/// Cuts the medium into zones.
///
/// With a constant density of bits along tracks and of tracks along the radius,
/// the rate falls linearly with the cylinder, which is R(x) = √(Ro² − x(Ro² − Ri²))
/// over the part x of the sectors. A zone takes the rate in its middle, so that it
/// holds as much as the curve. Zones are cut at equal ratios of the rate: then
/// thirty of them follow the curve within 1.5 % everywhere, where zones of equal
/// width would err by 2.3 % at the inner edge.
pub(crate) fn zone_shares(parameters: &Parameters) -> Vec<ZoneShare> {
    let (outer, inner) = (parameters.outer_rate, parameters.inner_rate);
    let zones = parameters.zones.max(1);
    if inner >= outer {
        let share = ZoneShare { cylinders: 1.0 / zones as f64, rate: outer };
        return vec![share; zones as usize];
    }
    let step = root(inner / outer, zones);
    let mut edge = outer;
    (1..=zones)
        .map(|zone| {
            let next = if zone == zones { inner } else { edge * step };
            let share = ZoneShare {
                cylinders: (edge - next) / (outer - inner),
                rate: f64::midpoint(edge, next),
            };
            edge = next;
            share
        })
        .collect()
}

/// The `degree`-th root of a number from 0 to 1, by halving: `powf` may differ in
/// the last bit between machines, products do not.
fn root(value: f64, degree: u64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let power = (0..degree).fold(1.0, |product, _| product * middle);
        if power < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drives;

    #[test]
    fn roots() {
        assert!((root(0.5, 30) - 0.5_f64.powf(1.0 / 30.0)).abs() < 1e-12);
        assert!((root(0.25, 1) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn zones_cover_the_medium_and_keep_its_mean_rate() {
        for (id, p) in drives() {
            let shares = zone_shares(&p);
            assert_eq!(shares.len() as u64, p.zones);
            let cylinders: f64 = shares.iter().map(|z| z.cylinders).sum();
            let rate: f64 = shares.iter().map(|z| z.cylinders * z.rate).sum();
            assert!((cylinders - 1.0).abs() < 1e-9, "{id}");
            assert!((rate / f64::midpoint(p.outer_rate, p.inner_rate) - 1.0).abs() < 1e-9, "{id}");
        }
    }
}

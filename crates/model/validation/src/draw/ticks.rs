//! Axes: from values to positions, with ticks at numbers that people like.

use disklab_units::significant;

use crate::Scale;

/// Values beyond these are drawn at the edge.
const SMALLEST: f64 = 1e-12;
const LARGEST: f64 = 1e15;

/// Where the ticks of an axis are, and how values become positions.
#[derive(Debug)]
pub(super) struct Ticks {
    scale: Scale,
    /// The values at the ticks, ascending; the first and the last are the ends.
    values: Vec<f64>,
}

impl Ticks {
    /// The ticks of an axis for these values.
    pub(super) fn new(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite() && *value > 0.0)
            .map(|value| value.clamp(SMALLEST, LARGEST))
            .fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if high > 0.0 { (low, high) } else { (1.0, 1.0) };
        let values = match scale {
            Scale::Linear => linear(high),
            Scale::Doublings => powers(2.0, low, high),
            Scale::Decades => powers(10.0, low, high),
        };
        Self { scale, values }
    }

    /// A value's position, evenly spread.
    fn position(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value.clamp(0.0, LARGEST),
            Scale::Doublings => value.clamp(SMALLEST, LARGEST).log2(),
            Scale::Decades => value.clamp(SMALLEST, LARGEST).log10(),
        }
    }

    /// The pixel of a value on an axis from pixel `low` to pixel `high`.
    pub(super) fn pixel(&self, value: f64, (low, high): (i32, i32)) -> i32 {
        let end = |value: Option<&f64>| self.position(*value.unwrap_or(&1.0));
        let (first, last) = (end(self.values.first()), end(self.values.last()));
        let part = ((self.position(value) - first) / (last - first)).clamp(0.0, 1.0);
        low + (f64::from(high - low) * part).round() as i32
    }

    /// The ticks, ascending: the pixel of each on such an axis, and its label.
    pub(super) fn labels(&self, axis: (i32, i32)) -> impl Iterator<Item = (i32, String)> + '_ {
        self.values.iter().map(move |value| (self.pixel(*value, axis), label(*value)))
    }
}

fn label(value: f64) -> String {
    let text = significant(value, 3);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// From 0 to at least `high`, in at most seven steps of 1, 2, 2.5 or 5 times a power
/// of ten.
fn linear(high: f64) -> Vec<f64> {
    let rough = high / 7.0;
    let power = 10_f64.powi(rough.log10().floor() as i32);
    let nice = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
    let step = nice.into_iter().find(|step| *step >= rough * (1.0 - 1e-9)).unwrap_or(10.0 * power);
    let steps = (high / step * (1.0 - 1e-9)).ceil().max(1.0) as usize;
    (0..=steps).map(|n| n as f64 * step).collect()
}

/// Powers of `base` from at most `low` to at least `high`, at most 14 of them.
fn powers(base: f64, low: f64, high: f64) -> Vec<f64> {
    let first = (low.ln() / base.ln() + 1e-9).floor() as i32;
    let last = ((high.ln() / base.ln() - 1e-9).ceil() as i32).max(first + 1);
    let step = (last - first + 13) / 14;
    let steps = (last - first + step - 1) / step;
    (0..=steps).map(|n| base.powi(first + n * step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(scale: Scale, values: &[f64]) -> Vec<f64> {
        Ticks::new(scale, values.iter().copied()).values
    }

    #[test]
    fn familiar_ranges() {
        assert_eq!(ticks(Scale::Linear, &[20.3]), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]);
        assert_eq!(ticks(Scale::Linear, &[100.0]).last(), Some(&100.0));
        assert_eq!(ticks(Scale::Doublings, &[1.0, 32.0]), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(ticks(Scale::Decades, &[3.0, 400.0]), [1.0, 10.0, 100.0, 1000.0]);
        assert!(ticks(Scale::Doublings, &[1e-9, 1e9]).len() <= 16);
    }

    #[test]
    fn doublings_are_evenly_spread() {
        let ticks = Ticks::new(Scale::Doublings, [1.0, 512.0].into_iter());
        let at = |value| ticks.pixel(value, (0, 900));
        assert_eq!([at(1.0), at(2.0), at(8.0), at(512.0)], [0, 100, 300, 900]);
        assert_eq!([at(0.0), at(1e9), at(f64::NAN)], [0, 900, 0]);
        assert_eq!([1.0, 2.5, 512.0].map(label), ["1", "2.5", "512"]);
    }
}

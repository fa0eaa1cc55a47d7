//! Colours of series, for light and dark pages.
//!
//! The hues follow Okabe and Ito, "Color Universal Design" (2008), which people
//! with any of the common colour deficiencies can tell apart; lightness is
//! shifted until each has a contrast of at least 3:1 with the page, as WCAG 2.2,
//! success criterion 1.4.11, asks of graphics. Colour is never the only mark:
//! bars carry their names, lines a marker and a dash pattern of their own.

use std::fmt::Write as _;

/// A page's colours.
#[derive(Debug)]
pub(crate) struct Palette {
    /// Colours of the page's parts: (CSS variable, colour).
    pub(crate) page: [(&'static str, &'static str); 11],
    /// Colours of series.
    pub(crate) series: [&'static str; SERIES],
}

/// How many series have a colour of their own; more begin again.
pub(crate) const SERIES: usize = 8;

/// For light pages and for print.
pub(crate) const LIGHT: Palette = Palette {
    page: [
        ("page", "#ffffff"),
        ("text", "#1b1f24"),
        ("muted", "#57606a"),
        ("rule", "#d5dae0"),
        ("grid", "#e3e7ec"),
        ("panel", "#f5f7f9"),
        ("link", "#0a5cad"),
        ("severe", "#b3261e"),
        ("warning", "#8a5a00"),
        ("whisker", "#1b1f24"),
        ("depth", "#005e93"),
    ],
    series: [
        "#0072b2", "#c75300", "#00815d", "#b0488a", "#8f7000", "#3a7fa8", "#5b4bb5", "#6b6f76",
    ],
};

/// For dark pages.
pub(crate) const DARK: Palette = Palette {
    page: [
        ("page", "#14171b"),
        ("text", "#e4e8ec"),
        ("muted", "#9aa5b1"),
        ("rule", "#363d46"),
        ("grid", "#2a3038"),
        ("panel", "#1d2127"),
        ("link", "#7cb8f2"),
        ("severe", "#ff8a80"),
        ("warning", "#f0b85a"),
        ("whisker", "#f4f6f8"),
        ("depth", "#4aa3df"),
    ],
    series: [
        "#4aa3df", "#e8833a", "#2fb58c", "#dd84b8", "#d3b62e", "#8fd0f5", "#9c8ff0", "#a3a9b1",
    ],
};

impl Palette {
    /// Declarations of CSS variables: `--page:#fff;…;--s0:#0072b2;…`.
    pub(crate) fn variables(&self) -> String {
        let mut css = String::new();
        for (name, colour) in self.page {
            let _ = write!(css, "--{name}:{colour};");
        }
        for (index, colour) in self.series.iter().enumerate() {
            let _ = write!(css, "--s{index}:{colour};");
        }
        css
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|i| {
            let value = u8::from_str_radix(&colour[i..i + 2], 16).expect("hexadecimal");
            let share = f64::from(value) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// WCAG's relative luminance.
    fn luminance(colour: &str) -> f64 {
        let [r, g, b] = channels(colour);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn everything_can_be_seen_on_both_pages() {
        for palette in [&LIGHT, &DARK] {
            let colour = |name: &str| {
                palette.page.iter().find(|(n, _)| *n == name).map(|(_, c)| *c).expect("a colour")
            };
            for ground in [colour("page"), colour("panel")] {
                for series in palette.series {
                    assert!(contrast(series, ground) >= 3.0, "{series} on {ground}");
                }
                for name in ["text", "muted", "link", "severe", "warning"] {
                    assert!(contrast(colour(name), ground) >= 4.5, "{name} on {ground}");
                }
            }
            for series in palette.series {
                let whisker = colour("whisker");
                assert!(contrast(series, whisker) >= 1.5, "whisker on {series}");
            }
        }
    }

    /// How colours look to people without one kind of cone, after Viénot,
    /// Brettel and Mollon (1999): linear RGB to LMS, one cone replaced.
    fn as_seen(colour: &str, missing: usize) -> [f64; 3] {
        let [r, g, b] = channels(colour);
        let mut lms = [
            17.8824 * r + 43.5161 * g + 4.119_35 * b,
            3.455_65 * r + 27.1554 * g + 3.867_14 * b,
            0.029_956_6 * r + 0.184_309 * g + 1.467_09 * b,
        ];
        match missing {
            0 => lms[0] = 2.023_44 * lms[1] - 2.525_81 * lms[2],
            1 => lms[1] = 0.494_207 * lms[0] + 1.248_27 * lms[2],
            _ => {}
        }
        let [l, m, s] = lms;
        [
            0.080_944_4 * l - 0.130_504 * m + 0.116_721 * s,
            -0.010_248_5 * l + 0.054_019_3 * m - 0.113_615 * s,
            -0.000_365_3 * l - 0.004_121_6 * m + 0.693_511 * s,
        ]
        .map(|v| v.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0)
    }

    #[test]
    fn the_first_four_differ_for_every_eye() {
        for palette in [&LIGHT, &DARK] {
            for missing in 0..3 {
                for (i, a) in palette.series[..4].iter().enumerate() {
                    for b in &palette.series[..i] {
                        let (x, y) = (as_seen(a, missing), as_seen(b, missing));
                        let distance: f64 =
                            x.iter().zip(y).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt();
                        assert!(distance > 25.0, "{a} and {b} with {missing}: {distance:.0}");
                    }
                }
            }
        }
    }
}

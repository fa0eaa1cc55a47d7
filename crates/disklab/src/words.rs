//! Words that several commands use.

mod skipped;

use disklab_study::LeftOut;
use disklab_units::significant;

pub use skipped::Skipped;

/// Lines on what does not run here, things with the same reason together.
pub fn left_out_lines(left_out: &[LeftOut]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for one in left_out {
        let what = match (&one.stack, &one.workload) {
            (Some(stack), Some(workload)) => format!("{workload} on {stack}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => "everything".to_owned(),
        };
        match reasons.iter_mut().find(|(why, _)| *why == one.why) {
            Some((_, things)) => things.push(what),
            None => reasons.push((&one.why, vec![what])),
        }
    }
    reasons.into_iter().map(|(why, things)| format!("{}: {why}", things.join(", "))).collect()
}

/// `1/16` where that is what it is, else three digits.
pub fn scale_words(scale: f64) -> String {
    let inverse = 1.0 / scale;
    if scale < 1.0 && (inverse - inverse.round()).abs() < 1e-9 {
        format!("1/{}", inverse.round())
    } else {
        significant(scale, 3)
    }
}

#[cfg(test)]
mod tests {
    use super::scale_words;

    #[test]
    fn scales_in_words() {
        assert_eq!(scale_words(0.0625), "1/16");
        assert_eq!(scale_words(0.3), "0.300");
        assert_eq!(scale_words(2.0), "2.00");
    }
}

//! The run's sizes are not the study's.

use disklab_units::significant;

use crate::Severity;
use crate::audit::{Audit, Detection, Reproducer};
use crate::evidence::Evidence;

pub(super) const AUDIT: Audit = Audit {
    name: "scaled",
    severity: Severity::Note,
    detects: "sizes that were scaled to fit the bench, or are those of the quick form",
    evidence: "the run's scale and form",
    remedy: "compare stacks with each other only",
    reproducer: Reproducer::Lab("--scale"),
    check,
};

fn check(evidence: &Evidence<'_>) -> Vec<Detection> {
    if evidence.info.is_quick() {
        return vec![Detection {
            severity: Severity::Note,
            text: "Files are smaller and operations fewer than in the study itself: this is its \
                   quick form."
                .to_owned(),
            advice: "Compare stacks with each other; for figures to rely on, run the study \
                     without --quick."
                .to_owned(),
            groups: Vec::new(),
        }];
    }
    let scale = evidence.info.scale;
    if scale == 1.0 || !scale.is_finite() || scale <= 0.0 {
        return Vec::new();
    }
    let advice = if scale < 1.0 {
        "Small files fit into caches and onto the outer tracks of disks: compare stacks with each \
         other here rather than with figures of the full size."
    } else {
        "Compare stacks with each other rather than with figures of the study's own size."
    };
    vec![Detection {
        severity: Severity::Note,
        text: format!("Files are {} the study's size.", factor(scale)),
        advice: advice.to_owned(),
        groups: Vec::new(),
    }]
}

/// `1/16 of`, `0.3 of` or `4 times`.
fn factor(scale: f64) -> String {
    let inverse = 1.0 / scale;
    if scale > 1.0 {
        format!("{} times", plain(scale))
    } else if (inverse / inverse.round() - 1.0).abs() < 0.005 {
        format!("1/{:.0} of", inverse.round())
    } else {
        format!("{} of", plain(scale))
    }
}

/// Two digits, without zeros that say nothing.
fn plain(value: f64) -> String {
    let text = significant(value, 2);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::RunFixture;

    #[test]
    fn quick_form_is_named() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1e6, 1e6]);
        fixture.info.options.quick = true;
        // A study without the form: the fixture's loads none.
        let found = fixture.findings("scaled");
        assert!(found[0].text.ends_with("this is its quick form."), "{found:?}");
    }

    #[test]
    fn the_factor_is_named() {
        let mut fixture = RunFixture::new("");
        fixture.repeats("single/ext4", "dd-4k", &[1e6, 1e6, 1e6]);
        for (scale, expected) in [
            (1.0, None),
            (f64::NAN, None),
            (0.0625, Some(("Files are 1/16 of the study's size.", "fit into caches"))),
            (0.3, Some(("Files are 0.3 of the study's size.", "fit into caches"))),
            (4.0, Some(("Files are 4 times the study's size.", "of the study's own size"))),
        ] {
            fixture.info.scale = scale;
            let found = fixture.findings("scaled");
            let text = found.first().map(|f| f.text.as_str());
            assert_eq!(text, expected.map(|(text, _)| text), "{scale}");
            let advises = |advice: &str| found[0].advice.contains(advice);
            assert!(expected.is_none_or(|(_, advice)| advises(advice)), "{scale}: {found:?}");
        }
    }
}

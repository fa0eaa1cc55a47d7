//! The quick form of a study: the table `[quick]`.

use std::ops::RangeInclusive;

use disklab_config::{Fields, Node};
use disklab_source::{Location, SourceError, did_you_mean};
use disklab_units::parse_share_within;

use crate::shipped::changed;
use crate::study::QuickForm;
use crate::{Study, StudyGoal, WorkloadSpec, matches};

/// What `--precision` takes.
const PRECISIONS: RangeInclusive<f64> = 0.001..=0.5;

/// How often a cell may run at most for a study's goal: it is looked at after three at the soonest.
pub(crate) const MOST_REPEATS: RangeInclusive<u64> = 3..=1000;

/// Reads the table. Repeats and goal are those of the study itself.
///
/// # Errors
/// If a field is unknown or invalid, or a pattern matches no workload.
pub(crate) fn quick(
    node: &Node,
    (repeats, goal): (u32, Option<StudyGoal>),
    workloads: &[WorkloadSpec],
) -> Result<QuickForm, SourceError> {
    let mut fields = Fields::new(node, "'quick'")?;
    let repeats = fields.integer("repeats", 1..=1000)?.map_or(repeats, |n| n as u32);
    let precision = fields.take("precision").map(|node| precision(node, goal)).transpose()?;
    let most_repeats = fields.integer("most-repeats", MOST_REPEATS)?.map(|n| n as u32);
    let changes = fields.require("workloads")?.entries()?;
    fields.finish()?;
    let mut quick = workloads.to_vec();
    for (pattern, with) in changes {
        let mut found = false;
        for workload in quick.iter_mut().filter(|w| matches(&pattern.name, &w.id)) {
            workload.body = changed(&workload.body, with)?;
            found = true;
        }
        if !found {
            let tip = did_you_mean(&pattern.name, workloads.iter().map(|w| w.id.as_str()));
            return Err(pattern.place.error(format!(
                "`quick.workloads`: '{}' matches no workload of this study{tip}",
                pattern.name
            )));
        }
    }
    Ok(QuickForm { repeats, precision, most_repeats, workloads: quick })
}

fn precision(node: &Node, goal: Option<StudyGoal>) -> Result<f64, SourceError> {
    if goal == Some(StudyGoal::Purposes) {
        return Err(node.error(
            "`precision` is about figures, and the goal \"purposes\" about stacks to take, which \
             are equivalent within 5 %: leave it out",
        ));
    }
    let share = parse_share_within(&node.as_text()?, PRECISIONS);
    share.map_err(|why| node.error(format!("`precision`: {why}")))
}

impl Study {
    /// Whether it has a quick form.
    pub fn has_quick_form(&self) -> bool {
        self.quick.is_some()
    }

    /// Its quick form. Its digest is that of the study, whose text says both.
    ///
    /// # Errors
    /// [`SourceError`] if the study has no table `quick`.
    pub fn into_quick_form(mut self) -> Result<Self, SourceError> {
        let Some(form) = self.quick.take() else {
            let place = Location { source: self.source, span: 0..0 };
            return Err(place.error(format!(
                "the study '{}' has no quick form: it needs a table [quick] that says which \
                 sizes still give its answers; run it without --quick, run some of its cells \
                 with --only, or add the table to a copy of it (docs/guide/studies.md)",
                self.id
            )));
        };
        self.is_quick = true;
        self.repeats = form.repeats;
        self.precision = form.precision;
        self.most_repeats = form.most_repeats.or(self.most_repeats);
        self.workloads = form.workloads;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Study, load};

    fn study(quick: &str) -> Result<Study, String> {
        let text = format!(
            r#"
id = "tiny"
title = "Tiny"
repeats = 6
goal = "best"
[[drives]]
model = "m"
size = "1 GB"
[stacks]
x = {{ layers = "ext4", drives = 1 }}
[[workloads]]
id = "read"
fio = {{ rw = "read", size = "2G" }}
[[workloads]]
id = "write-{{bs}}"
matrix = {{ bs = ["4k", "64k"] }}
dd = {{ direction = "write", bs = "{{bs}}", count = 200 }}
{quick}
"#
        );
        load("tiny.toml", &text).map_err(|e| e.to_string())
    }

    fn body(study: &Study, index: usize) -> String {
        study.workloads[index].body.words()
    }

    #[test]
    fn quick_form_changes_what_its_table_names() {
        let text = "[quick]\nrepeats = 3\nprecision = \"5 %\"\nmost-repeats = 8\n[quick.workloads]\nread = { size = \"1G\", io_size = \
                    \"4M\" }\n\"write-*\" = { count = 50 }";
        let whole = study(text).expect("valid");
        assert!(whole.has_quick_form());
        assert_eq!((whole.repeats, body(&whole, 0).as_str()), (6, "rw = read, size = 2G"));
        let quick = whole.clone().into_quick_form().expect("there");
        assert_eq!((quick.repeats, &quick.digest), (3, &whole.digest));
        assert_eq!((whole.precision, quick.precision), (None, Some(0.05)));
        assert_eq!((whole.most_repeats, quick.most_repeats), (None, Some(8)));
        assert_eq!(body(&quick, 0), "rw = read, size = 1G, io_size = 4M");
        assert_eq!(body(&quick, 2), "direction = write, bs = 64k, count = 50");
        assert_eq!(quick.goal, whole.goal);
        assert!(quick.is_quick && !whole.is_quick);
    }

    #[test]
    fn study_without_the_table_has_no_quick_form() {
        let error = study("").expect("valid").into_quick_form().expect_err("none");
        assert!(error.to_string().contains("'tiny' has no quick form"), "{error}");
    }

    #[test]
    fn wrong_tables_are_shown_where_they_are_wrong() {
        for (quick, expected) in [
            ("[quick]\nrepeats = 3", "field 'workloads'"),
            ("[quick.workloads]\nreed = { size = \"1G\" }", "did you mean 'read'"),
            ("[quick]\nrepeats = 0\n[quick.workloads]", "repeats"),
            ("[quick]\nmost-repeats = 2\n[quick.workloads]", "most-repeats"),
            ("[quick]\nsizes = 1\n[quick.workloads]", "sizes"),
            ("[quick.workloads]\nread = 3", "expected a table"),
        ] {
            let error = study(quick).expect_err(quick);
            assert!(error.contains(expected), "{quick}: {error}");
        }
    }
}

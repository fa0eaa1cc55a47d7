//! The study that a reference is of: the same work on another stack.

use disklab_study::{DriveRequest, Study};

/// The tables that say what is done, as their headers begin.
const WORK: [&str; 4] = ["[[workloads", "[workloads", "[[questions", "[questions"];

/// The text of `study` with one stack of these layers, named as that of a directory, and without
/// what says something of other stacks.
pub(super) fn study_text(study: &Study, layers: &str, drives: &[DriveRequest]) -> String {
    let first = drives.first().map_or("", |drive| drive.model.as_str());
    let title = format!("{} What the lab gives", study.title);
    let mut text = format!("id = {}\ntitle = {}\n", quoted(study.id.as_str()), quoted(&title));
    text.push_str(&format!("repeats = {}\n\n", study.repeats));
    text.push_str(&format!("[[drives]]\nname = \"drive\"\nmodel = {}\n", quoted(first)));
    text.push_str(&format!("\n[stacks]\nas-it-is = {}\n\n", quoted(layers)));
    let mut is_work = false;
    for line in study.source.text.lines() {
        if line.starts_with('[') {
            is_work = WORK.iter().any(|header| line.starts_with(header));
        }
        if is_work {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// A string of TOML: its escapes are JSON's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find_study;

    #[test]
    fn the_study_of_a_reference_has_the_same_work_on_one_stack() {
        let own = find_study("share").expect("shipped").study;
        assert!(own.has_reference);
        let layers = "partition/md-raid5[chunk=64K]/xfs";
        let drive = DriveRequest { model: "wd-red-pro-22tb".into(), count: 3, size: None };
        let text = study_text(&own, layers, std::slice::from_ref(&drive));
        let study = disklab_study::load("reference.toml", &text).expect("a study");
        let study = study.on_drives(&disklab_study::DriveRequests(vec![drive])).expect("on them");
        assert!(!study.has_reference);
        assert_eq!(study.stacks.len(), 1);
        assert_eq!((study.stacks[0].id.as_str(), study.stacks[0].drives.len()), ("as-it-is", 3));
        let ids = |study: &Study| study.workloads.iter().map(|w| w.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&study), ids(&own));
        assert_eq!(study.questions.len(), own.questions.len());
    }
}

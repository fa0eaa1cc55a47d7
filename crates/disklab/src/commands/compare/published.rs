//! `disklab compare --published`: runs compared with published results.

use disklab_published::{RowComparison, RowTally, rows_csv};
use disklab_report::published_text;
use serde_json::json;

use super::super::report::write_or_print;
use crate::cli::CompareArgs;
use crate::exit::{DONE, Failure};

/// The version of the JSON's schema: raised when a field changes its meaning or goes.
const VERSION: u32 = 1;

/// Compares the runs with what was published about their studies.
pub fn published(args: &CompareArgs, as_json: bool) -> Result<u8, Failure> {
    let mut comparisons: Vec<RowComparison> = Vec::new();
    for directory in &args.runs {
        let report = super::gather(directory)?;
        let Some(comparison) = report.published else {
            return Err(Failure::usage_error(format!(
                "nothing was published about '{}', the study of {}; `disklab list studies` shows \
                 the studies, and those whose names end in a year, and btrfs-raid1, were",
                report.info.study,
                directory.display()
            )));
        };
        if comparisons.iter().any(|c| c.study == comparison.study) {
            return Err(Failure::usage_error(format!(
                "{} is a second run of '{}', whose rows would be counted twice: name one run of \
                 each study",
                directory.display(),
                comparison.study
            )));
        }
        comparisons.push(comparison);
    }
    let text = if as_json {
        let all = comparisons.iter().fold(RowTally::default(), |sum, c| sum.plus(c.tally));
        let value = json!({
            "schema": "disklab-published",
            "version": VERSION,
            "tally": all,
            "studies": comparisons,
        });
        serde_json::to_string_pretty(&value)? + "\n"
    } else if args.out.as_ref().and_then(|out| out.extension()).is_some_and(|e| e == "csv") {
        rows_csv(&comparisons)
    } else {
        published_text(&comparisons)
    };
    write_or_print(args.out.as_deref(), &text)?;
    Ok(DONE)
}

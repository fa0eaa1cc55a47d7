//! `disklab compare`: two runs with each other, or runs with what was published.

mod published;

use std::path::Path;

use disklab_decision::{ComparisonTerms, RunVerdict};
use disklab_report::{Report, TwoRuns, VersusFormat};

use super::report::write_or_print;
use super::run_at::gather;
use crate::cli::CompareArgs;
use crate::exit::{DONE, Failure, REGRESSION, TOO_FEW, TOO_NOISY};

/// Compares two runs, or runs with what was published.
pub fn compare(args: &CompareArgs, as_json: bool) -> Result<u8, Failure> {
    if args.published {
        return published::published(args, as_json);
    }
    let [a, b] = args.runs.as_slice() else {
        return Err(Failure::usage_error(match args.runs.len() {
            1 => "compare takes two runs, A and B, or one and --published".to_owned(),
            n => format!("compare takes two runs, A and B, not {n}; --published takes several"),
        }));
    };
    let terms = ComparisonTerms {
        margin: args.margin,
        renamed: args.map.clone(),
        accepted: args.accept.clone(),
        ..ComparisonTerms::default()
    };
    // Called as the user called them.
    let named =
        |run: &Path| Ok::<(String, Report), Failure>((run.display().to_string(), gather(run)?));
    let runs = TwoRuns::compare(named(a)?, named(b)?, terms).map_err(Failure::usage_error)?;
    let format = if as_json { VersusFormat::Json } else { args.format.into() };
    let text = runs.render(format);
    write_or_print(args.out.as_deref(), &text)?;
    Ok(match runs.versus.verdict() {
        RunVerdict::Fine => DONE,
        RunVerdict::Regression => REGRESSION,
        RunVerdict::TooNoisy => TOO_NOISY,
        RunVerdict::TooFew => TOO_FEW,
    })
}

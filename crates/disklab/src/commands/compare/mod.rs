//! `disklab compare`: two runs against each other, or runs beside what was published.

mod published;

use std::path::Path;

use disklab_report::{Report, TwoRuns, VersusFormat};
use disklab_store::Run;
use disklab_verdict::{Standing, Terms};

use super::print;
use super::report::write;
use crate::cli::CompareArgs;
use crate::exit::{DONE, Failure, REGRESSION, TOO_FEW, TOO_NOISY};

/// Compares two runs, or holds runs against what was published.
pub fn compare(args: &CompareArgs, as_json: bool) -> Result<u8, Failure> {
    if args.published {
        return published::published(args, as_json);
    }
    let [a, b] = args.runs.as_slice() else {
        return Err(Failure::wrong_use(match args.runs.len() {
            1 => "compare takes two runs, A and B, or one and --published".to_owned(),
            n => format!("compare takes two runs, A and B, not {n}; --published takes several"),
        }));
    };
    let terms = Terms {
        level: args.level,
        renamed: args.map.clone(),
        accepted: args.accept.clone(),
        ..Terms::default()
    };
    let runs = TwoRuns::compare(gather(a)?, gather(b)?, terms).map_err(Failure::wrong_use)?;
    let format = if as_json { VersusFormat::Json } else { args.format.into() };
    let text = runs.render(format);
    match &args.out {
        Some(path) => write(path, &text)?,
        None => print(&text)?,
    }
    Ok(match runs.versus.standing() {
        Standing::Fine => DONE,
        Standing::Regression => REGRESSION,
        Standing::TooNoisy => TOO_NOISY,
        Standing::TooFew => TOO_FEW,
    })
}

/// A run's report, with the name of its folder as the user gave it.
fn gather(folder: &Path) -> Result<(String, Report), Failure> {
    let run = Run::open(folder).map_err(Failure::wrong_use)?;
    let report = Report::gather(&run).map_err(Failure::failed)?;
    Ok((folder.display().to_string(), report))
}

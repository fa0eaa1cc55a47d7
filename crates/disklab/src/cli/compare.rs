//! The command line of `disklab compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use disklab_report::VersusFormat;
use disklab_units::{ParseShareError, parse_share_within};

use super::option_value_error::OptionValueError;

/// Compare two runs, or runs with published results.
///
/// `compare A B` says of each figure of B's questions whether it became faster, slower, is
/// equivalent within --margin, or why that is not known. It says first what else differs
/// between the two runs. Runs are matched by stack, workload and step. Either run may be
/// imported.
///
/// `compare RUN --published` compares runs with what was published about their studies. A
/// result that is not reproduced is not an error: the exit code is 0.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct CompareArgs {
    /// Directories of two runs, the older or reference run first; RUN@memory=8GiB is the run at
    /// that level of its study's axes. With --published, of one or more.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Compare with what was published about the runs' studies.
    #[arg(long)]
    pub published: bool,
    /// Equivalence margin: smaller changes do not count. A figure is faster or slower only if
    /// its whole interval lies beyond the margin.
    #[arg(long, alias = "level", value_name = "SHARE", default_value = "5%",
          value_parser = parse_margin, conflicts_with = "published")]
    pub margin: f64,
    /// A stack or workload that has another name in B. Repeatable.
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_map, conflicts_with = "published")]
    pub map: Vec<(String, String)>,
    /// An audit whose severe findings are known here and make no figure suspect. Repeatable.
    #[arg(long, value_name = "AUDIT", value_parser = parse_audit, conflicts_with = "published")]
    pub accept: Vec<String>,
    /// Format: text, md (for a pull request's comment), html, json (B's figures in Bencher
    /// Metric Format, for services that keep histories). --json prints everything, for
    /// programs.
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        default_value = "text",
        conflicts_with = "published"
    )]
    pub format: CompareFormat,
    /// File to write; '-' is standard output, the default. With --published it is Markdown, or
    /// the rows as CSV if its name ends in '.csv'.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

const EXIT_CODES: &str = "Exit codes of `compare A B`:
  0   nothing is slower: every figure is faster, equivalent or identical
  10  regression: at least one figure is slower by more than the margin, with its whole
      interval, corrected for the number of figures
  11  no figure is known to be slower, but at least one is too noisy, suspect because of a
      severe finding, or close to the margin: more repeats hardly help
  12  no figure is known to be slower, but at least one has too few samples, or a cell is
      missing in one run: more repeats may decide
  2   usage error: not a run, or nothing in common
The first that applies of 10, 11, 12, 0.";

/// The form of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For a terminal.
    Text,
    /// Markdown, for a pull request's comment.
    Md,
    /// One page.
    Html,
    /// Bencher Metric Format.
    Json,
}

impl From<CompareFormat> for VersusFormat {
    fn from(format: CompareFormat) -> Self {
        match format {
            CompareFormat::Text => Self::Text,
            CompareFormat::Md => Self::Markdown,
            CompareFormat::Html => Self::Html,
            CompareFormat::Json => Self::Bmf,
        }
    }
}

/// Below 0.01 % nothing is the same, above 100 % all is.
fn parse_margin(text: &str) -> Result<f64, ParseShareError> {
    parse_share_within(text, 0.0001..=1.0)
}

fn parse_map(text: &str) -> Result<(String, String), OptionValueError> {
    // Stacks have '=' in their options, as in btrfs[compress=zstd]: the one that is meant
    // is outside brackets.
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            '=' if depth == 0 => {
                let (old, new) = (&text[..at], &text[at + 1..]);
                if old.is_empty() || new.is_empty() {
                    break;
                }
                return Ok((old.to_owned(), new.to_owned()));
            }
            _ => {}
        }
    }
    Err(OptionValueError::Map(text.to_owned()))
}

fn parse_audit(text: &str) -> Result<String, OptionValueError> {
    if disklab_audits::AUDITS.iter().any(|audit| audit.name == text) {
        return Ok(text.to_owned());
    }
    Err(OptionValueError::Audit(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn margins_have_bounds() {
        assert_eq!(parse_margin(" 2.5 % "), Ok(0.025));
        for bad in ["0%", "-5%", "101%"] {
            let error = parse_margin(bad).expect_err(bad).to_string();
            assert!(error.ends_with("is outside 0.01% to 100%"), "{error}");
        }
        assert!(matches!(parse_margin("1"), Err(ParseShareError::Bare(..))));
    }

    #[test]
    fn names_may_have_options() {
        let both = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
        assert_eq!(parse_map("a=b"), both("a", "b"));
        assert_eq!(
            parse_map("raid1/btrfs[compress=zlib]=raid1/btrfs[compress=zstd]"),
            both("raid1/btrfs[compress=zlib]", "raid1/btrfs[compress=zstd]")
        );
        for bad in ["", "a", "=b", "a=", "a[x=y]"] {
            assert_eq!(parse_map(bad), Err(OptionValueError::Map(bad.to_owned())));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC{0,30}") {
            if let Ok(margin) = parse_margin(&text) {
                prop_assert!(margin > 0.0 && margin <= 1.0);
            }
            if let Ok((old, new)) = parse_map(&text) {
                prop_assert_eq!(format!("{old}={new}"), text.clone());
            }
            prop_assert_eq!(parse_audit(&text), Err(OptionValueError::Audit(text.clone())));
        }
    }
}

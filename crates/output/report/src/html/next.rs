//! What one can do next.

use maud::{Markup, html};

use crate::Report;
use crate::first_screen::{FirstScreen, next_steps};

/// Commands that suit the run. The page itself is looked at already.
pub(crate) fn section(report: &Report, screen: &FirstScreen<'_>) -> Markup {
    let steps = next_steps(report, screen, "");
    let steps: Vec<_> = steps.iter().skip(1).collect();
    html! {
        @if !steps.is_empty() {
            section id="next" {
                h2 { "Next" }
                dl {
                    @for step in steps {
                        dt { (step.what) }
                        dd { code { (step.command) } }
                    }
                }
            }
        }
    }
}

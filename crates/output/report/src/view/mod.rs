//! What the forms of a report share: the same facts, picked and put in words.

mod absent;
mod again;
mod finding;
mod latency;
mod method;
mod panel;
pub(crate) mod published;
mod smart;
mod traffic;

pub(crate) use absent::{Absences, absences, all_absences};
pub(crate) use again::{command_line, prerequisites, settle_command, study_word};
pub(crate) use disklab_units::count;
pub(crate) use finding::{FindingKind, kinds, severity_word};
pub(crate) use latency::{PERCENTILES, curve, percentile_name, percentiles, position};
pub(crate) use method::{
    IMPORTED, bench_label, has_own_sizes, intervals, machine, manner, measured, progress, sizes,
    tool,
};
pub(crate) use panel::{
    Colours, Panel, PanelSeries, Portion, against_baseline, is_baseline, panels, shared_names,
    stack_of,
};
pub(crate) use smart::smart_lines;
pub(crate) use traffic::{TrafficPanel, traffic};

//! Reports: Markdown, HTML with charts, JSON and CSV out of a run.
//!
//! [`Report::gather`] reads a run in one pass over its samples; [`render()`]
//! turns the result into text and touches nothing. All charts are HTML and SVG
//! with percentage coordinates: they need no script and no library, and their
//! text keeps its size on a phone.

mod axes;
mod campaign;
mod chart;
mod csv;
mod facts;
mod failures;
mod first_screen;
mod gather;
mod headings;
mod html;
mod json;
mod json_figures;
mod markdown;
mod moved;
mod own;
mod published;
mod render;
mod report;
mod two_stacks;
mod versus;
mod view;

pub use campaign::campaign_sentences;
pub use chart::moved::MovedClaim;
pub use facts::{CellTrace, CountedNote, Facts, MediumWrites, Spread, StackMounts, StackOverhead};
pub use first_screen::{SCREEN_WIDTH, TextStyle, answers_so_far, first_screen, so_far, wrapped};
pub use gather::{Collector, failures_at};
pub use markdown::{PublishedPages, published_pages, published_text};
pub use moved::moved_page;
pub use own::is_report;
pub use render::{ReportFormat, render};
pub use report::{Report, ReportError};
pub use two_stacks::{ComparedFigure, ComparedStack, StackNameError, TwoStacks, TwoStacksError};
pub use versus::{FigureDifference, TwoRuns, VersusFormat};

//! The faults of a study's drives: `[[faults]]`, the levels of the axis `fault`.

use disklab_cell::{Axes, FaultPlan, StudyAxis};
use disklab_config::{Fields, Node};
use disklab_source::{Location, SourceError};

use crate::id::check_id;

/// The axis that the faults of a study are levels of.
pub const FAULT_AXIS: &str = "fault";
/// Its level without any.
pub const NO_FAULT: &str = "none";

/// What goes wrong in some cells of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFault {
    /// The level that it is.
    pub id: String,
    /// On which drives, and what.
    pub does: Vec<FaultPlan>,
    /// Where it is defined.
    pub place: Location,
}

/// Reads the table, where it is there, and adds its axis to those of the study that lack it.
///
/// # Errors
/// Where a field is unknown or wrong, and if the axis has a level that is no fault.
pub(crate) fn faults(
    node: Option<&Node>,
    axes: Axes,
) -> Result<(Vec<StudyFault>, Axes), SourceError> {
    let mut faults: Vec<StudyFault> = Vec::new();
    for item in node.map_or(&[][..], Node::items) {
        let fault = fault(item)?;
        if fault.id == NO_FAULT || faults.iter().any(|known| known.id == fault.id) {
            return Err(item.error(format!("there is a fault '{}' already", fault.id)));
        }
        faults.push(fault);
    }
    let Some(node) = node.filter(|_| !axes.ordinary().contains_key(FAULT_AXIS)) else {
        return Ok((faults, axes));
    };
    let levels = std::iter::once(NO_FAULT).chain(faults.iter().map(|fault| fault.id.as_str()));
    let axis = StudyAxis::new(FAULT_AXIS, levels).map_err(|why| node.error(why.to_string()))?;
    let axes = axes.with(&[axis]).map_err(|why| node.error(why.to_string()))?;
    Ok((faults, axes))
}

fn fault(item: &Node) -> Result<StudyFault, SourceError> {
    let mut fields = Fields::new(item, "a fault")?;
    let id = check_id(fields.require("id")?)?.to_string();
    let does = fields.require("does")?;
    fields.finish()?;
    let read = |text: &Node| {
        let words = text.as_text()?;
        words.parse().map_err(|why| text.error(format!("`does`: {why}")))
    };
    let place = does.place.clone();
    let does: Vec<_> = does.items().iter().map(read).collect::<Result<_, SourceError>>()?;
    if does.is_empty() {
        return Err(place.error("`does`: expected a fault, such as 'drive 2: dies at 30 s'"));
    }
    Ok(StudyFault { id, does, place })
}

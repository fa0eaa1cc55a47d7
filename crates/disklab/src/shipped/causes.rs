//! What may be why two runs of a study differ.

use disklab_store::{Difference, RunAspect, RunInfo};

/// What differs of program, kernel and tools.
pub(super) fn causes(shipped: &RunInfo, here: &RunInfo) -> Vec<Difference> {
    // A shipped run names only the tools that its study needs.
    let mut found = shipped.provenance().differences(&here.provenance());
    // The recipe says more than the digests.
    let recipe = |info: &RunInfo| {
        info.environment.lab_kernel.as_ref().and_then(|kernel| kernel.recipe.clone())
    };
    for difference in found.iter_mut().filter(|d| d.what == RunAspect::LabKernel) {
        if let (Some(one), Some(other)) = (recipe(shipped), recipe(here))
            && one != other
        {
            (difference.one, difference.other) = (one, other);
        }
    }
    found
}

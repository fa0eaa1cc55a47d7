//! What drives are for, where a stack has some for something else than data.

use disklab_runner::Plan;
use disklab_stack::InputKind;

/// Names and values: the drives of each such stack, and what the loss of its inputs means.
pub fn words(plan: &Plan) -> Vec<(&'static str, String)> {
    let planned = plan.preflight.stacks.iter();
    let planned: Vec<_> =
        planned.filter(|stack| stack.data_drives().count() < stack.drives.len()).collect();
    let mut lines = Vec::new();
    for stack in &planned {
        let name = if lines.is_empty() { "drives" } else { "" };
        lines.push((name, format!("{}: {}", stack.id, stack.drive_words())));
    }
    let mut lost: Vec<(&InputKind, Vec<&str>)> = Vec::new();
    for stack in planned {
        let campaign = &plan.campaign;
        let index = campaign.study.stack_index(&stack.id);
        let inputs = index.map_or_else(Vec::new, |at| campaign.stacks[at].inputs());
        for input in inputs {
            match lost.iter_mut().find(|(known, _)| known.if_lost == input.if_lost) {
                Some((known, stacks)) if known.name == input.name => stacks.push(&stack.id),
                _ => lost.push((input, vec![&stack.id])),
            }
        }
    }
    for (at, (input, stacks)) in lost.iter().enumerate() {
        let name = if at == 0 { "if lost" } else { "" };
        lines.push((name, format!("{} of {}: {}", input.name, stacks.join(", "), input.if_lost)));
    }
    lines
}

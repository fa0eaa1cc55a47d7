//! Which sections run together, and which one after another.

use disklab_config::Node;
use disklab_source::SourceError;

use super::part::FioPart;

/// No longer name of a step is made from sections' names.
const LONGEST_NAME: usize = 80;

/// One run of fio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FioStep {
    /// The names of its sections.
    pub name: String,
    /// Indices of its sections: one list for each group, whose jobs run at the
    /// same time; the groups run one after another.
    pub groups: Vec<Vec<usize>>,
}

impl FioStep {
    /// Its sections, in order.
    pub fn sections(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().flatten().copied()
    }
}

/// Divides a job into runs of fio, as the study says, or one for each group.
///
/// # Errors
/// [`SourceError`] at `wish` if it is unknown, or at the job that forbids it.
pub(super) fn steps(parts: &[FioPart], wish: Option<&Node>) -> Result<Vec<FioStep>, SourceError> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match groups.last_mut() {
            // A section with `stonewall` waits for all before it.
            Some(group) if !part.job.groups.stonewall => group.push(index),
            _ => groups.push(vec![index]),
        }
    }
    let waits = parts.iter().find(|part| part.job.groups.wait_for.is_some());
    let apart = match wish.map(Node::as_text).transpose()?.as_deref() {
        None => waits.is_none(),
        Some("whole") => false,
        Some("sections") => match waits {
            None => true,
            Some(part) => {
                return Err(part.section.place().error(
                    "this job has `wait_for`, which works within one fio only; take steps = \
                     \"whole\"",
                ));
            }
        },
        Some(other) => {
            let message = format!("`steps`: expected 'sections' or 'whole', found '{other}'");
            return Err(wish.map_or(parts[0].section.place(), |node| &node.place).error(message));
        }
    };
    let divided: Vec<Vec<Vec<usize>>> =
        if apart { groups.into_iter().map(|group| vec![group]).collect() } else { vec![groups] };
    let mut steps: Vec<FioStep> = Vec::new();
    for groups in divided {
        let names: Vec<&str> =
            groups.iter().flatten().map(|index| parts[*index].section.name()).collect();
        let name = unique(&shortened(&names), &steps);
        steps.push(FioStep { name, groups });
    }
    Ok(steps)
}

fn shortened(names: &[&str]) -> String {
    let all = names.join("+");
    if all.chars().count() <= LONGEST_NAME {
        return all;
    }
    let first: String =
        names.first().map(|n| n.chars().take(LONGEST_NAME).collect()).unwrap_or_default();
    match names.len() {
        0 | 1 => first,
        more => format!("{first}+{}", more - 1),
    }
}

fn unique(name: &str, steps: &[FioStep]) -> String {
    let taken = |name: &str| steps.iter().any(|step| step.name == name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|n| !taken(n)).unwrap_or_default()
}

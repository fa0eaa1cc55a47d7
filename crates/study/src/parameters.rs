//! Parameters of a workload: `matrix` (every combination) and `each` (row by
//! row), put in place of `{name}` in its texts.

use indexmap::IndexMap;

use crate::{Fields, Node, StudyError, Value};

/// The values of one combination, by name.
pub(crate) type Parameters = IndexMap<String, String>;

/// No study needs more combinations of one workload than this.
const MOST_COMBINATIONS: usize = 10_000;

/// All combinations that a workload's `each` and `matrix` make; one empty
/// combination where it has neither.
pub(crate) fn combinations(fields: &mut Fields<'_>) -> Result<Vec<Parameters>, StudyError> {
    let mut rows = vec![Parameters::new()];
    if let Some(each) = fields.take("each") {
        rows = each.items().iter().map(row).collect::<Result<_, _>>()?;
        if rows.is_empty() {
            return Err(each.error("`each` is empty; expected rows such as { bs = \"4k\" }"));
        }
    }
    if let Some(matrix) = fields.take("matrix") {
        for (key, values) in matrix.entries()? {
            let mut next = Vec::new();
            for row in &rows {
                for value in values.items() {
                    let mut row = row.clone();
                    row.insert(key.name.clone(), value.as_text()?);
                    next.push(row);
                }
                if next.len() > MOST_COMBINATIONS {
                    return Err(matrix
                        .error(format!("this makes more than {MOST_COMBINATIONS} combinations")));
                }
            }
            rows = next;
        }
    }
    Ok(rows)
}

fn row(node: &Node) -> Result<Parameters, StudyError> {
    node.entries()?.iter().map(|(key, value)| Ok((key.name.clone(), value.as_text()?))).collect()
}

/// `node` with every `{name}` in its texts replaced. Braces around a word that
/// is no parameter stay as they are, unless the workload has parameters at all:
/// then they are taken for a misspelt one.
pub(crate) fn fill(node: &Node, parameters: &Parameters) -> Result<Node, StudyError> {
    let value = match &node.value {
        Value::Text(text) => Value::Text(fill_text(node, text, parameters)?),
        Value::List(items) => {
            Value::List(items.iter().map(|item| fill(item, parameters)).collect::<Result<_, _>>()?)
        }
        Value::Table(entries) => Value::Table(
            entries
                .iter()
                .map(|(key, value)| Ok((key.clone(), fill(value, parameters)?)))
                .collect::<Result<_, _>>()?,
        ),
        other => other.clone(),
    };
    Ok(Node { value, place: node.place.clone() })
}

fn fill_text(node: &Node, text: &str, parameters: &Parameters) -> Result<String, StudyError> {
    if parameters.is_empty() {
        return Ok(text.to_owned());
    }
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|i| open + i) else { break };
        let name = &rest[open + 1..close];
        let value = parameters.get(name).ok_or_else(|| {
            let known: Vec<_> = parameters.keys().map(|k| format!("{{{k}}}")).collect();
            node.error(format!("'{{{name}}}' is no parameter here; known: {}", known.join(", ")))
        })?;
        filled.push_str(&rest[..open]);
        filled.push_str(value);
        rest = &rest[close + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

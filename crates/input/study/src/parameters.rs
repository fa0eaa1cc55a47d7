//! Parameters of a workload: `matrix` (every combination) and `each` (row by
//! row), put in place of `{name}` in its texts.

use indexmap::IndexMap;

use crate::limits::{BYTES_OF_VALUE, MOST_FILLED, MOST_WORKLOADS};
use disklab_config::{Fields, Node, Value};
use disklab_source::SourceError;

/// The values of one combination, by name.
pub(crate) type ParameterTexts = IndexMap<String, String>;

/// No study needs more combinations of one workload than this.
const MOST_COMBINATIONS: usize = MOST_WORKLOADS;

/// All combinations that a workload's `each` and `matrix` make; one empty
/// combination where it has neither.
pub(crate) fn combinations(fields: &mut Fields<'_>) -> Result<Vec<ParameterTexts>, SourceError> {
    let mut rows = vec![ParameterTexts::new()];
    if let Some(each) = fields.take("each") {
        if let Some(row) = each.items().get(MOST_COMBINATIONS) {
            return Err(row.error(format!("`each` has more than {MOST_COMBINATIONS} rows")));
        }
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

/// A workload without `each` and `matrix`.
pub(crate) fn without_parameters(node: &Node) -> Node {
    let mut own = node.clone();
    if let Value::Table(entries) = &mut own.value {
        entries.retain(|(key, _)| !["each", "matrix"].contains(&key.name.as_str()));
    }
    own
}

fn row(node: &Node) -> Result<ParameterTexts, SourceError> {
    node.entries()?.iter().map(|(key, value)| Ok((key.name.clone(), value.as_text()?))).collect()
}

/// Fills parameters into workloads, as far as there is room for what comes of it.
pub(crate) struct PlaceholderFiller {
    /// Bytes that may still be filled.
    room: usize,
}

impl PlaceholderFiller {
    pub(crate) fn new() -> Self {
        Self { room: MOST_FILLED }
    }

    /// `node` with every `{name}` in its texts replaced. Braces around a word that
    /// is no parameter stay as they are, unless the workload has parameters at all:
    /// then they are taken for a misspelt one.
    pub(crate) fn fill(
        &mut self,
        node: &Node,
        parameters: &ParameterTexts,
    ) -> Result<Node, SourceError> {
        self.take(node, BYTES_OF_VALUE)?;
        let value = match &node.value {
            Value::Text(text) => Value::Text(self.fill_text(node, text, parameters)?),
            Value::List(items) => Value::List(
                items.iter().map(|item| self.fill(item, parameters)).collect::<Result<_, _>>()?,
            ),
            Value::Table(entries) => Value::Table(
                entries
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.fill(value, parameters)?)))
                    .collect::<Result<_, _>>()?,
            ),
            other => other.clone(),
        };
        Ok(Node { value, place: node.place.clone() })
    }

    /// Takes bytes off the room that is left.
    fn take(&mut self, node: &Node, bytes: usize) -> Result<(), SourceError> {
        self.room = self.room.checked_sub(bytes).ok_or_else(|| {
            node.error(format!(
                "the workloads, with their parameters filled in, are larger than {MOST_FILLED} \
                 bytes; take fewer combinations or shorter texts"
            ))
        })?;
        Ok(())
    }

    fn fill_text(
        &mut self,
        node: &Node,
        text: &str,
        parameters: &ParameterTexts,
    ) -> Result<String, SourceError> {
        if parameters.is_empty() {
            self.take(node, text.len())?;
            return Ok(text.to_owned());
        }
        let mut filled = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}').map(|i| open + i) else { break };
            let name = &rest[open + 1..close];
            // `${NAME}` is a job file's own variable.
            if rest[..open].ends_with('$') {
                self.take(node, close + 1)?;
                filled.push_str(&rest[..=close]);
                rest = &rest[close + 1..];
                continue;
            }
            let value = parameters.get(name).ok_or_else(|| {
                let known: Vec<_> = parameters.keys().map(|k| format!("{{{k}}}")).collect();
                node.error(format!("unknown parameter '{{{name}}}'; known: {}", known.join(", ")))
            })?;
            self.take(node, open + value.len())?;
            filled.push_str(&rest[..open]);
            filled.push_str(value);
            rest = &rest[close + 1..];
        }
        self.take(node, rest.len())?;
        filled.push_str(rest);
        Ok(filled)
    }
}

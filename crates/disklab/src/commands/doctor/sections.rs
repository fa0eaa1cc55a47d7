//! What `disklab doctor` shows: one section for each thing that one may want to do.

use std::fmt;

use serde_json::{Value, json};

/// What, whether it is here, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub here: bool,
    pub remedy: String,
}

impl Row {
    pub fn new(name: impl Into<String>, here: bool, remedy: impl Into<String>) -> Self {
        Self { name: name.into(), here, remedy: remedy.into() }
    }
}

/// Rows under a heading. What is here takes one line together, as it needs no reading.
pub struct Section {
    title: &'static str,
    rows: Vec<Row>,
}

impl Section {
    pub fn new(title: &'static str, rows: Vec<Row>) -> Self {
        Self { title, rows }
    }

    pub fn json(&self) -> impl Iterator<Item = Value> + '_ {
        self.rows
            .iter()
            .map(|row| json!({ "name": row.name, "here": row.here, "remedy": row.remedy }))
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        let (here, missing): (Vec<&Row>, Vec<&Row>) = self.rows.iter().partition(|row| row.here);
        if !here.is_empty() {
            let names: Vec<&str> = here.iter().map(|row| row.name.as_str()).collect();
            writeln!(f, "  here: {}", names.join(", "))?;
        }
        // Rows with the same remedy are read once.
        let mut remedies: Vec<(&str, Vec<&str>)> = Vec::new();
        for row in missing {
            match remedies.iter_mut().find(|(remedy, _)| *remedy == row.remedy) {
                Some((_, names)) => names.push(&row.name),
                None => remedies.push((&row.remedy, vec![&row.name])),
            }
        }
        for (remedy, names) in remedies {
            writeln!(f, "  missing: {}: {remedy}", names.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_is_said_once() {
        let rows = vec![
            Row::new("fio", true, "apt-get install fio"),
            Row::new("md (raid5)", false, "the lab has it"),
            Row::new("borg", false, "apt-get install borgbackup"),
            Row::new("md (raid6)", false, "the lab has it"),
        ];
        assert_eq!(
            Section::new("Here", rows).to_string(),
            "Here\n  here: fio\n  missing: md (raid5), md (raid6): the lab has it\n  missing: borg: \
             apt-get install borgbackup\n"
        );
    }
}

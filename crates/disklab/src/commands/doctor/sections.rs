//! What `disklab doctor` shows: one section for each thing that one may want to do.

use std::fmt;

use serde_json::{Value, json};

/// What, whether it is here, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorRow {
    pub name: String,
    pub here: bool,
    pub remedy: String,
}

impl DoctorRow {
    pub fn new(name: impl Into<String>, here: bool, remedy: impl Into<String>) -> Self {
        Self { name: name.into(), here, remedy: remedy.into() }
    }
}

/// Rows under a heading. What is here takes one line together, as it needs no reading.
pub struct DoctorSection {
    title: &'static str,
    rows: Vec<DoctorRow>,
}

impl DoctorSection {
    pub fn new(title: &'static str, rows: Vec<DoctorRow>) -> Self {
        Self { title, rows }
    }

    pub fn json(&self) -> impl Iterator<Item = Value> + '_ {
        self.rows
            .iter()
            .map(|row| json!({ "name": row.name, "here": row.here, "remedy": row.remedy }))
    }
}

impl fmt::Display for DoctorSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        let (here, missing): (Vec<&DoctorRow>, Vec<&DoctorRow>) =
            self.rows.iter().partition(|row| row.here);
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
            DoctorRow::new("fio", true, "apt-get install fio"),
            DoctorRow::new("md (raid5)", false, "the lab has it"),
            DoctorRow::new("borg", false, "apt-get install borgbackup"),
            DoctorRow::new("md (raid6)", false, "the lab has it"),
        ];
        assert_eq!(
            DoctorSection::new("Here", rows).to_string(),
            "Here\n  here: fio\n  missing: md (raid5), md (raid6): the lab has it\n  missing: borg: \
             apt-get install borgbackup\n"
        );
    }
}

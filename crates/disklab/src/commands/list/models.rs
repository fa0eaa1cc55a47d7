//! The drive models that come with disklab, in groups, with how well each is known.

use std::fmt::Write as _;

use disklab_drive::{Class, DriveFile, SHIPPED, shipped};
use disklab_units::Bytes;
use disklab_validation::{Known, values};
use serde_json::{Value, json};

/// A model as lists show it.
pub(super) struct Model {
    file: DriveFile,
    known: Known,
}

/// All shipped models, in the order of their classes, and as they ship within one.
pub(super) fn models() -> Vec<Model> {
    let mut models: Vec<Model> = SHIPPED
        .iter()
        .filter_map(|(id, text)| {
            Some(Model { file: shipped(id)?, known: Known::new(&values(text)) })
        })
        .collect();
    models.sort_by_key(|model| model.file.class);
    models
}

const LEGEND: &str = "\
sheet  values from data sheets and standards     rec  recalled from data sheets
meas   measured or listed by somebody            inf  chosen, or as a sibling's
All in percent. `disklab drive MODEL` shows what a model does.
";

/// The models as text of at most 80 columns.
pub(super) fn plain(models: &[Model]) -> String {
    let mut text = String::new();
    for class in Class::ALL {
        let members: Vec<&Model> = models.iter().filter(|m| m.file.class == class).collect();
        if members.is_empty() {
            continue;
        }
        let _ = writeln!(
            text,
            "{:<38} {:>8} {:>6} {:>5} {:>4} {:>4} {:>4}",
            class.title(),
            "capacity",
            "rpm",
            "sheet",
            "meas",
            "rec",
            "inf"
        );
        for model in members {
            text.push_str(&model.line());
        }
        text.push('\n');
    }
    text.push_str(LEGEND);
    text
}

impl Model {
    fn rpm(&self) -> Option<u64> {
        self.file.mechanics().map(|p| p.rpm)
    }

    /// Its names, then its figures.
    fn line(&self) -> String {
        let [stated, measured, recalled, assumed] = self.known.percent();
        let rpm = self.rpm().map_or_else(|| "-".to_owned(), |rpm| rpm.to_string());
        let also = match self.file.aliases.as_slice() {
            [] => String::new(),
            aliases => format!(", also {}", aliases.join(", ")),
        };
        format!(
            "  {:<36} {:>8} {rpm:>6} {stated:>5} {measured:>4} {recalled:>4} {assumed:>4}\n    {}{also}\n",
            self.file.id,
            Bytes(self.file.capacity()).si().to_string(),
            self.file.name,
        )
    }

    pub(super) fn json(&self) -> Value {
        let file = &self.file;
        let size = Bytes(file.capacity());
        let mut details = serde_json::Map::new();
        if !file.aliases.is_empty() {
            details.insert("also".to_owned(), json!(file.aliases.join(", ")));
        }
        if !file.note.is_empty() {
            let note = file.note.split_whitespace().collect::<Vec<_>>().join(" ");
            details.insert("note".to_owned(), json!(note));
        }
        json!({
            "name": file.id,
            "summary": format!("{}, {} ({}), a model", file.name, size.si(), size.iec()),
            "details": details,
            "class": file.class.title(),
            "capacity": file.capacity(),
            "rpm": self.rpm(),
            "like": file.like,
            "values": self.known,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_in_one_group_and_every_line_fits_a_terminal() {
        let models = models();
        assert_eq!(models.len(), SHIPPED.len());
        let text = plain(&models);
        for (id, _) in SHIPPED {
            let lines = text.lines().filter(|l| l.split_whitespace().next() == Some(id));
            assert_eq!(lines.count(), 1, "{id}");
        }
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("no '{word}' in {text}"));
        assert!(at("NAS hard disks") < at("wd40efrx-68n32n0"));
        assert!(at("wd40efrx-68n32n0") < at("Shingled hard disks"));
        assert!(at("Shingled hard disks") < at("st8000as0002"));
        assert!(at("st8000as0002") < at("samsung-970pro-512gb"));
    }

    #[test]
    fn json_has_what_the_table_shows() {
        let all = models();
        let model = all.iter().find(|m| m.file.id == "st8000as0002").expect("shipped");
        let json = model.json();
        assert_eq!((&json["class"], &json["rpm"]), (&json!("Shingled hard disks"), &json!(5980)));
        assert_eq!(json["capacity"], 8_001_563_222_016_u64);
        assert!(json["values"]["assumed"].as_u64() > Some(0), "{json}");
        assert!(json["details"]["note"].as_str().is_some_and(|note| note.contains("shingled")));
    }
}

//! A drive model's field, given another value than its file has.

use std::sync::Arc;

use disklab_source::{Location, Source, SourceError};

use crate::{Node, Value};

/// One field of a drive file with another value than the file gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The field with its table, such as `cache.dirty-limit`.
    pub field: String,
    /// Where the field is named.
    pub place: Location,
    /// What the field is to be, as a drive file would write it.
    pub value: Node,
}

impl Setting {
    /// The settings of a table: `{ "cache.dirty-limit" = "32 MiB" }`, with the field as
    /// one word, or in a table of its table's name.
    ///
    /// # Errors
    /// Where it is no table, or names a field twice.
    pub fn read(node: &Node) -> Result<Vec<Self>, SourceError> {
        let mut settings: Vec<Self> = Vec::new();
        for (key, value) in node.entries()? {
            let own = |field: String, place: &Location, value: &Node| Self {
                field,
                place: place.clone(),
                value: value.clone(),
            };
            let new = match &value.value {
                Value::Table(inner) => inner
                    .iter()
                    .map(|(k, v)| own(format!("{}.{}", key.name, k.name), &k.place, v))
                    .collect(),
                _ => vec![own(key.name.clone(), &key.place, value)],
            };
            for setting in new {
                if settings.iter().any(|s| s.field == setting.field) {
                    return Err(setting
                        .place
                        .error(format!("`{}` is set twice; expected it once", setting.field)));
                }
                settings.push(setting);
            }
        }
        Ok(settings)
    }

    /// `cache.dirty-limit = 32 MiB`.
    pub fn words(&self) -> String {
        format!("{} = {}", self.field, self.value.words())
    }
}

/// A setting for all drives of a model, as a command line gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSetting {
    /// The model: its id, or another of its names.
    pub model: String,
    /// Where it is named.
    pub place: Location,
    /// What is set.
    pub setting: Setting,
}

impl ModelSetting {
    /// Reads `MODEL:TABLE.FIELD=VALUE`. `option` is what the user wrote it behind.
    ///
    /// # Errors
    /// Where a part is missing; the error shows the text.
    pub fn parse(option: &str, text: &str) -> Result<Self, SourceError> {
        let source = Arc::new(Source { name: option.to_owned(), text: text.to_owned() });
        let place = |start: usize, part: &str| {
            let from = start + (part.len() - part.trim_start().len());
            Location { source: Arc::clone(&source), span: from..from + part.trim().len() }
        };
        // A model may be a file, whose path has dots, and a value may have colons.
        let split = text.find('=').and_then(|equals| {
            let colon = text[..equals].rfind(':')?;
            Some((&text[..colon], &text[colon + 1..equals], &text[equals + 1..], colon, equals))
        });
        let parts = split.filter(|(model, field, value, ..)| {
            ![model, field, value].iter().any(|part| part.trim().is_empty())
        });
        let Some((model, field, value, colon, equals)) = parts else {
            return Err(place(0, text).error(
                "expected MODEL:TABLE.FIELD=VALUE, such as 'hgst-10tb:cache.dirty-limit=32 MiB'",
            ));
        };
        let value =
            Node { value: Value::Text(value.trim().to_owned()), place: place(equals + 1, value) };
        let setting =
            Setting { field: field.trim().to_owned(), place: place(colon + 1, field), value };
        Ok(Self { model: model.trim().to_owned(), place: place(0, model), setting })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let source = Arc::new(Source { name: "s".to_owned(), text: text.to_owned() });
        let node = Node::parse(&source).map_err(|e| e.to_string())?;
        let settings = Setting::read(&node).map_err(|e| e.to_string())?;
        Ok(settings.iter().map(Setting::words).collect())
    }

    #[test]
    fn fields_are_named_in_one_word_or_in_two() {
        let expected = ["cache.dirty-limit = 32 MiB", "seek.average = 10 ms", "heads = 3"];
        let one = "'cache.dirty-limit' = '32 MiB'\n'seek.average' = '10 ms'\nheads = 3";
        let two = "cache.dirty-limit = '32 MiB'\nseek.average = '10 ms'\nheads = 3";
        for text in [one, two] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        let twice = read("'seek.average' = '1 ms'\nseek.average = '2 ms'").unwrap_err();
        assert!(twice.starts_with("s:2:6: `seek.average` is set twice"), "{twice}");
    }

    #[test]
    fn command_lines_name_a_model_a_field_and_a_value() {
        let parse = |text| ModelSetting::parse("--set-drive", text);
        let set = parse("./my.drive.toml: cache.size = 1 GiB").unwrap();
        assert_eq!(set.model, "./my.drive.toml");
        assert_eq!(set.setting.words(), "cache.size = 1 GiB");
        let error = set.setting.value.error("too much").to_string();
        assert!(error.starts_with("--set-drive:1:31: too much"), "{error}");
        for text in ["", "a", "a:b", "a=b", ":b=c", "a:=c", "a:b=", "a:b= "] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains("expected MODEL:TABLE.FIELD=VALUE"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", option in "[a-z-]{0,9}") {
            if let Ok(set) = ModelSetting::parse(&option, &text) {
                prop_assert!(!set.model.is_empty() && !set.setting.field.is_empty());
                let errors = [set.place.error("x"), set.setting.place.error("x")];
                prop_assert!(errors.iter().all(|e| e.to_string().starts_with(&option)));
            }
            let _ = read(&text);
        }
    }
}

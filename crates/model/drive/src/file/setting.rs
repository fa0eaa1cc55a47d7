//! Fields with other values than their file has.

use disklab_config::{Key, Node, Setting, Value};
use disklab_source::{SourceError, did_you_mean, one_of};

/// What says which drive it is and what is known of it, which no other value changes.
const NAMES: [&str; 10] =
    ["id", "aliases", "name", "model", "note", "kind", "class", "like", "of-class", "plausible"];

/// A field that is otherwise than in the drive's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// The field with its table, such as `cache.dirty-limit`.
    pub field: String,
    /// What the file says; none where it leaves the field out.
    pub from: Option<String>,
    /// What is set.
    pub to: String,
}

impl SettingChange {
    /// `cache.dirty-limit = 32 MiB`.
    pub fn words(&self) -> String {
        format!("{} = {}", self.field, self.to)
    }
}

/// The table and the field that a name such as `cache.dirty-limit` consists of; the
/// table is empty for the file's first part.
pub(super) fn path(field: &str) -> (&str, &str) {
    field.split_once('.').unwrap_or(("", field))
}

/// The value of a field of a drive file.
pub(super) fn value<'a>(root: &'a Node, field: &str) -> Option<&'a Node> {
    let child = |node: &'a Node, name: &str| {
        node.entries().ok()?.iter().find(|(key, _)| key.name == name).map(|(_, child)| child)
    };
    let (table, field) = path(field);
    let parent = if table.is_empty() { Some(root) } else { child(root, table) };
    child(parent?, field)
}

/// Puts a setting's value into `changed`, which is a copy of `root`. Whether the file's
/// reader knows a field that the file leaves out is seen when it is read.
pub(super) fn apply(
    root: &Node,
    changed: &mut Node,
    setting: &Setting,
) -> Result<SettingChange, SourceError> {
    let (table, field) = path(&setting.field);
    let first = if table.is_empty() { field } else { table };
    if NAMES.contains(&first) {
        return Err(setting.place.error(format!(
            "`{first}` says which drive it is, and cannot be set; expected a field such as \
             'cache.dirty-limit'"
        )));
    }
    let tables = |root: &Node| -> Vec<String> {
        let entries = root.entries().unwrap_or_default().iter();
        entries
            .filter(|(key, node)| {
                matches!(node.value, Value::Table(_)) && !NAMES.contains(&key.name.as_str())
            })
            .map(|(key, _)| key.name.clone())
            .collect()
    };
    let known = tables(root);
    let parent = if table.is_empty() { Some(&mut *changed) } else { entry(changed, table) };
    let Some(Value::Table(entries)) = parent.map(|parent| &mut parent.value) else {
        let known = || known.iter().map(String::as_str);
        return Err(setting.place.error(format!(
            "the drive has no table '{table}'{}; it has {}",
            did_you_mean(table, known()),
            one_of(known())
        )));
    };
    match entries.iter_mut().find(|(key, _)| key.name == field) {
        Some((_, node)) => *node = setting.value.clone(),
        None => {
            let key = Key { name: field.to_owned(), place: setting.place.clone() };
            entries.push((key, setting.value.clone()));
        }
    }
    Ok(SettingChange {
        field: setting.field.clone(),
        from: value(root, &setting.field).map(Node::words),
        to: setting.value.words(),
    })
}

fn entry<'a>(node: &'a mut Node, name: &str) -> Option<&'a mut Node> {
    let Value::Table(entries) = &mut node.value else { return None };
    entries.iter_mut().find(|(key, _)| key.name == name).map(|(_, child)| child)
}

#[cfg(test)]
mod tests {
    use disklab_config::ModelSetting;
    use proptest::prelude::*;

    use crate::{DriveFile, SHIPPED, load, load_with};

    const TEXT: &str = SHIPPED[0].1;

    fn with(settings: &[&str]) -> Result<DriveFile, String> {
        let set = settings
            .iter()
            .map(|text| ModelSetting::parse("--set-drive", &format!("x:{text}")).map(|s| s.setting))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| e.to_string())?;
        load_with("d.toml", TEXT, &set).map_err(|e| e.to_string())
    }

    #[test]
    fn a_field_has_the_value_that_was_set() {
        let own = load("d.toml", TEXT).unwrap();
        let file = with(&["cache.dirty-limit=32 MiB", "seek.average=8.2 ms"]).unwrap();
        let mechanics = file.mechanics().unwrap();
        assert_eq!((mechanics.dirty_limit, mechanics.read_seek.average), (32 << 20, 8_200_000));
        assert_eq!(file.changes[0].words(), "cache.dirty-limit = 32 MiB");
        assert_eq!(file.changes[0].from.as_deref(), Some("128 MiB"));
        assert_eq!(file.capacity(), own.capacity());
        assert!(own.changes.is_empty() && own != file);
        // The last one counts.
        let twice = with(&["cache.dirty-limit=32 MiB", "cache.dirty-limit=16 MiB"]).unwrap();
        assert_eq!(twice.mechanics().unwrap().dirty_limit, 16 << 20);
        assert_eq!(twice.changes.len(), 1);
        let whole = with(&["capacity=8000001368064"]).unwrap();
        assert_eq!(whole.capacity(), 8_000_001_368_064);
    }

    #[test]
    fn wrong_settings_are_errors_where_they_were_set() {
        for (setting, expected) in [
            ("cach.dirty-limit=1 MiB", "no table 'cach' (did you mean 'cache'?)"),
            ("cache.dirty-limits=1 MiB", "unknown field 'dirty-limits'"),
            ("dirty-limit=1 MiB", "unknown field 'dirty-limit'"),
            ("cache.dirty.limit=1 MiB", "unknown field 'dirty.limit'"),
            ("cache.dirty-limit=much", "`dirty-limit`"),
            ("cache.dirty-limit=1 GiB", "`dirty-limit`: expected a multiple"),
            ("geometry.heads=0", "from 1 to 64"),
            ("seek.full=8.1 ms", "no rising seek curve"),
            ("id=x", "`id` says which drive it is"),
            ("plausible.x=3", "`plausible` says"),
            ("seek=3", "expected 'seek' as a table"),
        ] {
            let error = with(&[setting]).unwrap_err();
            assert!(error.contains(expected), "{setting}: {error}");
            assert!(error.starts_with("--set-drive:1:"), "{setting}: {error}");
        }
        // What is impossible may show at a field that was not set.
        let error = with(&["seek.full=8.1 ms"]).unwrap_err();
        assert!(error.contains("'hdn721010ale604' cannot be with seek.full = 8.1 ms"), "{error}");
    }

    proptest! {
        #[test]
        fn no_setting_panics(field in "[a-z.-]{1,20}|(cache|seek|geometry)\\.(size|full|heads|zones)", value in "[0-9]{1,20}|[0-9.]{1,6} ?(ms|MiB|MB/s)|\\PC{1,9}") {
            match with(&[&format!("{field}={value}")]) {
                Ok(file) => prop_assert!(file.capacity() > 0 && file.changes.len() == 1),
                Err(error) => prop_assert!(error.starts_with("--set-drive:1:"), "{}", error),
            }
        }
    }
}

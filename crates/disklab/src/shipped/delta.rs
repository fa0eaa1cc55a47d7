//! JSON as changes from the value before, so that samples which differ in a few figures take
//! a few words each, and a file of them is compared line by line.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A value's leaves by their paths, such as `steps/#0/elapsed_ns`: a member of an array has
/// `#` before its position. An empty object or array is a leaf, and so is an array of numbers
/// or of texts.
pub type Leaves = BTreeMap<String, Value>;

pub fn leaves(value: &Value) -> Leaves {
    let mut found = Leaves::new();
    collect(value, "", &mut found);
    found
}

fn collect(value: &Value, path: &str, found: &mut Leaves) {
    let below =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                collect(member, &below(&name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(members) if members.iter().any(|m| m.is_object() || m.is_array()) => {
            for (index, member) in members.iter().enumerate() {
                collect(member, &below(&format!("#{index}")), found);
            }
        }
        leaf => {
            found.insert(path.to_owned(), leaf.clone());
        }
    }
}

/// A leaf's path that contradicts another one's: both cannot be in one value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' contradicts another")]
pub struct Contradiction(pub String);

/// The value that has these leaves.
///
/// # Errors
/// [`Contradiction`] if a leaf lies below another, so that no value has both.
pub fn value(leaves: &Leaves) -> Result<Value, Contradiction> {
    let mut root = Value::Null;
    for (path, leaf) in in_order(leaves) {
        put(&mut root, path, leaf).ok_or_else(|| Contradiction(path.clone()))?;
    }
    Ok(root)
}

/// Members of an array in the order of their positions: as texts, `#10` comes before `#2`.
fn in_order(leaves: &Leaves) -> Vec<(&String, &Value)> {
    let mut all: Vec<_> = leaves.iter().collect();
    all.sort_by_cached_key(|(path, _)| {
        let parts = path.split('/').map(|part| (position(part), part.to_owned()));
        parts.collect::<Vec<_>>()
    });
    all
}

fn position(part: &str) -> Option<usize> {
    part.strip_prefix('#')?.parse().ok()
}

fn put(root: &mut Value, path: &str, leaf: &Value) -> Option<()> {
    let mut here = root;
    for part in path.split('/').filter(|_| !path.is_empty()) {
        here = match position(part) {
            Some(index) => {
                if here.is_null() {
                    *here = Value::Array(Vec::new());
                }
                let members = here.as_array_mut()?;
                if members.len() == index {
                    members.push(Value::Null);
                }
                members.get_mut(index)?
            }
            None => {
                if here.is_null() {
                    *here = Value::Object(Map::new());
                }
                let name = part.replace("~1", "/").replace("~0", "~");
                here.as_object_mut()?.entry(name).or_insert(Value::Null)
            }
        };
    }
    *here = leaf.clone();
    Some(())
}

/// What changes from one value to the next: leaves that are new or other, and the paths of
/// those that are gone.
pub fn change(before: &Leaves, after: &Leaves) -> (Leaves, Vec<String>) {
    let other = after.iter().filter(|(path, leaf)| before.get(*path) != Some(leaf));
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    (other.map(|(path, leaf)| (path.clone(), leaf.clone())).collect(), gone.cloned().collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z#/~0-9.]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 12, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
                prop::collection::btree_map("[a-z/~.]{1,4}", inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn paths_of_leaves_are_readable() {
        let found = leaves(&json!({ "steps": [{ "ns": 3, "drives": [] }], "read": [1, 2] }));
        let expected = json!({ "read": [1, 2], "steps/#0/drives": [], "steps/#0/ns": 3 });
        assert_eq!(serde_json::to_value(found).expect("JSON"), expected);
    }

    #[test]
    fn leaves_that_contradict_each_other_are_named() {
        for paths in [["a", "a/b"], ["a/#0", "a/b"], ["a/#1", "b"]] {
            let leaves = paths.map(|path| (path.to_owned(), json!(1))).into();
            let Contradiction(wrong) = value(&leaves).expect_err("they do not fit");
            assert!(paths.contains(&wrong.as_str()), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn value_is_made_of_its_leaves(json in any_json()) {
            prop_assert_eq!(value(&leaves(&json)), Ok(json));
        }

        #[test]
        fn change_leads_from_one_value_to_the_next(a in any_json(), b in any_json()) {
            let (mut now, after) = (leaves(&a), leaves(&b));
            let (set, gone) = change(&now, &after);
            for path in gone {
                prop_assert!(now.remove(&path).is_some());
            }
            now.extend(set);
            prop_assert_eq!(now, after);
        }
    }
}

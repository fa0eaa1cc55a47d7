//! Values of a file in JSON, for programs. Their places stay behind.

use std::fmt;
use std::sync::Arc;

use disklab_source::{Location, Source};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Key, Node, Value};

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Integer(n) => serializer.serialize_i64(*n),
            // JSON has neither infinity nor NaN; as text they are read as the same number.
            Value::Float(n) if !n.is_finite() => serializer.serialize_str(&n.to_string()),
            Value::Float(n) => serializer.serialize_f64(*n),
            Value::Boolean(b) => serializer.serialize_bool(*b),
            Value::List(items) => serializer.collect_seq(items),
            Value::Table(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, node) in entries {
                    map.serialize_entry(&key.name, node)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

/// The place of a value that was in no file.
fn nowhere() -> Location {
    Location { source: Arc::new(Source { name: String::new(), text: String::new() }), span: 0..0 }
}

fn node(value: Value) -> Node {
    Node { value, place: nowhere() }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, a boolean, a list or a table")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        Ok(node(Value::Text(text.to_owned())))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Node, E> {
        Ok(node(Value::Integer(n)))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Node, E> {
        let small = i64::try_from(n).map_err(|_| E::custom("this number is too large"))?;
        Ok(node(Value::Integer(small)))
    }

    fn visit_f64<E: Error>(self, n: f64) -> Result<Node, E> {
        Ok(node(Value::Float(n)))
    }

    fn visit_bool<E: Error>(self, b: bool) -> Result<Node, E> {
        Ok(node(Value::Boolean(b)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(node(Value::List(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Node>()? {
            if entries.iter().any(|(key, _)| key.name == name) {
                return Err(A::Error::custom(format!("the field '{name}' is there twice")));
            }
            entries.push((Key { name, place: nowhere() }, value));
        }
        Ok(node(Value::Table(entries)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_node() -> impl Strategy<Value = Node> {
        let leaf = prop_oneof![
            "\\PC{0,12}".prop_map(Value::Text),
            any::<i64>().prop_map(Value::Integer),
            (-1e18..1e18_f64).prop_map(Value::Float),
            any::<bool>().prop_map(Value::Boolean),
        ]
        .prop_map(node);
        leaf.prop_recursive(4, 24, 5, |inner| {
            let table = prop::collection::btree_map("[a-z-]{1,6}", inner.clone(), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(|items| node(Value::List(items))),
                table.prop_map(|entries| {
                    let key = |name| Key { name, place: nowhere() };
                    let entries = entries.into_iter().map(|(name, value)| (key(name), value));
                    node(Value::Table(entries.collect()))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(node in any_node()) {
            let json = serde_json::to_string(&node).expect("JSON");
            let back: Node = serde_json::from_str(&json).expect("read");
            prop_assert_eq!(back, node);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{}\",:a0-9.eE+ -]{0,60}") {
            let _ = serde_json::from_str::<Node>(&text);
        }
    }

    #[test]
    fn what_json_cannot_say_is_refused_or_text() {
        for text in ["null", "{\"a\":1,\"a\":2}", "18446744073709551615", "[null]"] {
            serde_json::from_str::<Node>(text).expect_err(text);
        }
        let infinite = node(Value::Float(f64::INFINITY));
        assert_eq!(serde_json::to_string(&infinite).expect("JSON"), "\"inf\"");
    }
}

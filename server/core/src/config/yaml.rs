//! YAML as a tree in which every value knows its line, so that problems can be told with their place.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};
use std::collections::{HashMap, hash_map};
use std::fmt;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// Nothing: `key:` without a value.
    Null,
    /// A scalar, as text.
    Scalar(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping in the order of the file.
    Map(Vec<Entry>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// As written.
    pub(super) key: String,
    /// Line of the key, from 1.
    pub(super) line: u64,
    /// The value.
    pub(super) value: Node,
}

impl Node {
    /// What kind of value this is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Scalar(_) => "a single value",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

/// A key that stands twice in a mapping. Only the first is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Duplicate {
    key: String,
    /// Line of the second, from 1.
    pub(super) line: u64,
    first: u64,
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, first, .. } = self;
        write!(f, "`{key}` is set twice: it stands in line {first} already")
    }
}

/// Parses a document; an empty one is an empty mapping.
///
/// # Errors
/// The text is no YAML: the message, and the line if it is known.
pub(super) fn parse(text: &str) -> Result<(Node, Vec<Duplicate>), (Option<u64>, String)> {
    if text
        .lines()
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
    {
        return Ok((Node::Map(Vec::new()), Vec::new()));
    }
    let options = serde_saphyr::options! {
        // All are read, so that one that stands twice hides no other problem.
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
    };
    let parsed = serde_saphyr::from_str_with_options::<Node>(text, options);
    let mut node = parsed.map_err(|error| {
        let line = error.location().map(|location| location.line());
        // The first line says what is wrong; the rest draws the source.
        let message = error.to_string();
        let first = message.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
        (line, first.trim_start_matches("error: ").to_owned())
    })?;
    let mut duplicates = Vec::new();
    remove_duplicates(&mut node, &mut duplicates);
    Ok((node, duplicates))
}

fn remove_duplicates(node: &mut Node, found: &mut Vec<Duplicate>) {
    match node {
        Node::Null | Node::Scalar(_) => {}
        Node::List(list) => {
            for node in list {
                remove_duplicates(node, found);
            }
        }
        Node::Map(entries) => {
            let mut first = HashMap::new();
            entries.retain(|entry| match first.entry(entry.key.clone()) {
                hash_map::Entry::Vacant(free) => {
                    free.insert(entry.line);
                    true
                }
                hash_map::Entry::Occupied(there) => {
                    found.push(Duplicate {
                        key: entry.key.clone(),
                        line: entry.line,
                        first: *there.get(),
                    });
                    false
                }
            });
            for entry in entries {
                remove_duplicates(&mut entry.value, found);
            }
        }
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = seq.next_element()? {
            list.push(node);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let line = key.referenced.line();
            entries.push(Entry {
                key: key.value,
                line,
                value: map.next_value()?,
            });
        }
        Ok(Node::Map(entries))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(text: &str) -> Node {
        Node::Scalar(text.to_owned())
    }

    #[test]
    fn keys_are_kept_as_written_and_know_their_line() {
        let text = "# head\nsignals:\n  static:\n    NO: 12\n    us-East: 4.5\n    007: 1\n";
        let Ok((Node::Map(root), _)) = parse(text) else {
            panic!()
        };
        let Node::Map(signals) = &root[0].value else {
            panic!()
        };
        let Node::Map(zones) = &signals[0].value else {
            panic!()
        };
        let keys: Vec<_> = zones.iter().map(|z| (z.key.as_str(), z.line)).collect();
        assert_eq!(keys, [("NO", 4), ("us-East", 5), ("007", 6)]);
        assert_eq!(zones[1].value, scalar("4.5"));
    }

    #[test]
    fn a_broken_document_is_told_with_its_line() {
        let (line, message) = parse("dns:\n  port: [1\n").unwrap_err();
        assert!(line.is_some() && !message.is_empty(), "{line:?} {message}");
        assert_eq!(parse("# nothing\n\n"), Ok((Node::Map(Vec::new()), Vec::new())));
    }

    #[test]
    fn what_stands_twice_is_told_with_both_lines_and_the_first_kept() {
        let (node, duplicates) =
            parse("dns:\n  port: 1\n  port: 2\nlog:\n  level: info\ndns:\n  port: 3\n").unwrap();
        let told: Vec<_> = duplicates.iter().map(|d| (d.line, d.to_string())).collect();
        assert_eq!(
            told,
            [
                (6, "`dns` is set twice: it stands in line 1 already".to_owned()),
                (3, "`port` is set twice: it stands in line 2 already".to_owned()),
            ]
        );
        let Node::Map(root) = node else { panic!() };
        assert_eq!(root.len(), 2);
        let Node::Map(dns) = &root[0].value else { panic!() };
        assert_eq!((dns.len(), &dns[0].value), (1, &scalar("1")));
    }
}

//! The fields of a form on the page as a value.

use serde_json::{Map, Value};

/// Fields named `form[a]`, `form[list][0]`, `form[map][word]` as a JSON object; others are left out. A number in the
/// second bracket is a place in a list.
#[must_use]
pub fn values(fields: impl IntoIterator<Item = (String, String)>) -> Value {
    let mut object = Map::new();
    let mut lists: Vec<(String, usize, String)> = Vec::new();
    for (name, text) in fields {
        let Some(path) = name.strip_prefix("form[").and_then(|rest| rest.strip_suffix(']')) else {
            continue;
        };
        match path.split_once("][") {
            None => {
                object.insert(path.to_owned(), text.into());
            }
            Some((field, inner)) => match inner.parse() {
                Ok(place) => lists.push((field.to_owned(), place, text)),
                Err(_) => {
                    let map = object.entry(field).or_insert_with(|| Value::Object(Map::new()));
                    if let Value::Object(map) = map {
                        map.insert(inner.to_owned(), text.into());
                    }
                }
            },
        }
    }
    lists.sort_by_key(|(_, place, _)| *place);
    for (field, _, text) in lists {
        let list = object.entry(field).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.push(text.into());
        }
    }
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_become_what_the_server_reads_of_them() {
        let fields = [
            ("form[name]", "web"),
            ("form[filter_chain][1]", "random"),
            ("form[filter_chain][0]", "geo-ip"),
            ("form[arguments][at0]", "2"),
            ("q", "not of the form"),
        ];
        let fields = fields.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(
            values(fields),
            json!({"name": "web", "filter_chain": ["geo-ip", "random"], "arguments": {"at0": "2"}})
        );
    }
}

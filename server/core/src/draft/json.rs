//! JSON text into a value, strictly: one value, and no name twice in an object.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Why a text is no JSON that this server takes.
#[derive(Debug, thiserror::Error)]
#[error("the body is no JSON: {0}")]
pub struct JsonError(#[from] serde_json::Error);

/// Parses a JSON text (RFC 8259). Which of two equal names of an object counts is open there; here it is an error.
///
/// # Errors
/// Says what is wrong, with line and column.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    Ok(serde_json::from_slice::<Unique>(bytes)?.0)
}

/// How `serde_json` hands over a decimal number, as an object with this one name and the digits, when a crate of the
/// program makes it keep the digits of numbers: the scripts' interpreter does.
const DECIMAL: &str = "$serde_json::private::Number";

fn decimal<E: Error>(digits: &str) -> Result<Value, E> {
    digits
        .parse()
        .ok()
        .and_then(Number::from_f64)
        .map(Value::Number)
        .ok_or_else(|| E::custom(format!("`{digits}` is no number that fits")))
}

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if name == DECIMAL && object.is_empty() {
                return decimal(&entries.next_value::<String>()?);
            }
            if object.contains_key(&name) {
                return Err(A::Error::custom(format!("`{name}` stands twice in one object")));
            }
            let Unique(value) = entries.next_value()?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

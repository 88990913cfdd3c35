//! What a reader of JSON complains about, in the words of the API's users.

use gslb_engine::model::{ErrorCode, ValidationError};
use gslb_engine::nearest::nearest;
use serde_json::Value;

/// Longest piece of the caller's own text in a message, characters.
const MAX_QUOTE: usize = 60;

/// What is wrong, as the reader's own text says it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    UnknownField {
        name: &'a str,
        known: Vec<&'a str>,
    },
    MissingField(&'a str),
    UnknownWord(Vec<&'a str>),
    /// Wants this instead.
    Type(&'a str),
    /// A union without a tag, by the name of its type.
    Union(&'a str),
    /// In words of our own already.
    Other(&'a str),
}

/// The texts between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

impl<'a> Kind<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if let Some(rest) = text.strip_prefix("unknown field `") {
            let (name, rest) = rest.split_once("`, ").unwrap_or((rest.trim_end_matches('`'), ""));
            return Self::UnknownField {
                name,
                known: quoted(rest),
            };
        }
        if let Some(rest) = text.strip_prefix("missing field `") {
            return Self::MissingField(rest.trim_end_matches('`'));
        }
        if let Some(rest) = text.strip_prefix("unknown variant `") {
            return Self::UnknownWord(quoted(rest.split_once("`, ").map_or("", |(_, rest)| rest)));
        }
        if let Some(name) = text.strip_prefix("data did not match any variant of untagged enum ") {
            return Self::Union(name);
        }
        if text.starts_with("invalid type")
            || text.starts_with("invalid value")
            || text.starts_with("invalid length")
        {
            return Self::Type(text.rsplit_once(", expected ").map_or("", |(_, wanted)| wanted));
        }
        if text.starts_with("UUID parsing failed") {
            return Self::Type("a UUID string");
        }
        Self::Other(text)
    }

    /// The field that the complaint is about, when it is one of the object at hand.
    pub(super) fn field(&self) -> Option<&'a str> {
        match self {
            Self::UnknownField { name, .. } | Self::MissingField(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn problem(&self, field: &str, value: Option<&Value>) -> ValidationError {
        let (code, message) = match self {
            Self::UnknownField { name, known } => (ErrorCode::Unknown, unknown(name, known)),
            Self::MissingField(_) => (ErrorCode::Required, "must be given".to_owned()),
            Self::UnknownWord(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                let message = format!("must be one of {}, not {}", words.join(", "), given(value));
                (ErrorCode::Unknown, message)
            }
            Self::Type(wanted) => {
                let message = format!("must be {}, not {}", plain(wanted), given(value));
                (ErrorCode::Invalid, message)
            }
            Self::Union(name) => {
                let message = format!("must be {}, not {}", union(name), given(value));
                (ErrorCode::Invalid, message)
            }
            Self::Other(text) => (ErrorCode::Invalid, (*text).to_owned()),
        };
        ValidationError::new(field, code, message)
    }
}

fn unknown(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("there is no such field; is `{near}` meant?"),
        None if known.is_empty() => "there is no such field".to_owned(),
        None => format!("there is no such field; the fields are {}", known.join(", ")),
    }
}

/// What is wanted, for people.
fn plain(wanted: &str) -> &'static str {
    match wanted {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number from 0 up",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a tuple of size 2" => "a list of two texts, such as [\"Name\", \"value\"]",
        "a map" => "an object",
        "string or map" | "variant identifier" => "a word",
        wanted if wanted.contains("string") => {
            if wanted.contains("UUID") {
                "an id such as 0198c5a0-0000-7000-8000-000000000000"
            } else {
                "a text"
            }
        }
        wanted if wanted.starts_with("struct ") => "an object",
        wanted if wanted.starts_with("enum ") || wanted.contains("variant") => "a word",
        wanted if wanted.contains("UUID") => "an id such as 0198c5a0-0000-7000-8000-000000000000",
        _ => "something else",
    }
}

/// The forms that a value may have which has several.
fn union(name: &str) -> &'static str {
    match name {
        "FallbackText" => "`none`, `all` or a list of addresses",
        "ExpectedStatus" => "a status such as 200, or a text such as `200-399`",
        _ => "something else",
    }
}

/// What was given instead.
pub(super) fn given(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::Bool(value)) => format!("`{value}`"),
        Some(Value::Number(number)) => format!("the number {number}"),
        Some(Value::String(text)) => {
            let mut quote: String = text.chars().take(MAX_QUOTE).collect();
            if quote.len() < text.len() {
                quote.push('…');
            }
            format!("the text `{quote}`")
        }
        Some(Value::Array(_)) => "a list".to_owned(),
        Some(Value::Object(_)) => "an object".to_owned(),
    }
}

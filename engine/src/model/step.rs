//! Entries of a filter chain.

use super::error::{ErrorCode, ValidationError};
use super::filter::{ANSWERS, FilterClass, FilterInfo, FilterName};
use super::tier::Tier;
use crate::script::MAX_SCRIPT_BYTES;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What a chain entry begins with that carries a script.
const SCRIPT: &str = "script:";

/// One entry of a chain. Its text form is what the API carries.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FilterStep {
    /// A built-in filter without a parameter.
    Builtin(FilterName),
    /// `select-first:` and this number of answers.
    SelectFirst(u8),
    /// `script:` and this body. Whether it compiles is for those to check who can run it.
    Script(Arc<str>),
}

impl FilterStep {
    /// Parses one chain entry; `field` names it in the error.
    ///
    /// # Errors
    /// An unknown name; a parameter that is missing, wrong or too much; a script that is empty or too long.
    pub fn parse(field: &str, text: &str) -> Result<Self, ValidationError> {
        if let Some(body) = text.strip_prefix(SCRIPT) {
            return script(field, body);
        }
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let name = FilterName::parse(name).ok_or_else(|| {
            ValidationError::new(field, ErrorCode::Unknown, FilterName::unknown_filter(text))
        })?;
        match (name, parameter) {
            (FilterName::SelectFirst, _) => select_first(field, parameter),
            (_, None) => Ok(Self::Builtin(name)),
            (_, Some(_)) => Err(ValidationError::new(
                field,
                ErrorCode::Invalid,
                format!("`{name}` takes no parameter"),
            )),
        }
    }

    /// The filter's name; none for a script.
    #[must_use]
    pub fn name(&self) -> Option<FilterName> {
        match self {
            Self::Builtin(name) => Some(*name),
            Self::SelectFirst(_) => Some(FilterName::SelectFirst),
            Self::Script(_) => None,
        }
    }

    /// The palette row of a built-in step.
    #[must_use]
    pub fn info(&self) -> Option<&'static FilterInfo> {
        self.name().map(FilterName::info)
    }

    /// Body of a script step.
    #[must_use]
    pub fn script(&self) -> Option<&str> {
        match self {
            Self::Builtin(_) | Self::SelectFirst(_) => None,
            Self::Script(body) => Some(body),
        }
    }

    /// Narrowing or selecting.
    #[must_use]
    pub fn class(&self) -> FilterClass {
        self.info().map_or(FilterClass::Narrowing, |info| info.class)
    }

    /// Tier that a chain with this step needs.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.info().map_or(Tier::Enterprise, |info| info.tier)
    }

    /// Title in the console.
    #[must_use]
    pub fn title(&self) -> Cow<'static, str> {
        match (self, self.info()) {
            (Self::SelectFirst(count), Some(info)) => format!("{} {count}", info.title).into(),
            (_, Some(info)) => info.title.into(),
            (_, None) => "Script".into(),
        }
    }

    /// What tables and messages call it: its text, but for a script `script`.
    #[must_use]
    pub fn label(&self) -> Cow<'static, str> {
        match self {
            Self::Builtin(name) => name.as_str().into(),
            Self::SelectFirst(_) => self.to_string().into(),
            Self::Script(_) => "script".into(),
        }
    }
}

fn select_first(field: &str, parameter: Option<&str>) -> Result<FilterStep, ValidationError> {
    let name = FilterName::SelectFirst;
    let (min, max) = (ANSWERS.min, ANSWERS.max);
    let Some(text) = parameter else {
        return Err(ValidationError::new(
            field,
            ErrorCode::Required,
            format!("`{name}` needs the number of answers: `{name}:2`"),
        ));
    };
    // Written as a plain number, so that equal steps have equal texts.
    match text.parse::<u8>() {
        Ok(count) if (min..=max).contains(&count) && count.to_string() == text => {
            Ok(FilterStep::SelectFirst(count))
        }
        _ => Err(ValidationError::new(
            field,
            ErrorCode::OutOfRange,
            format!("`{text}` is no number of answers between {min} and {max}"),
        )),
    }
}

/// A script step. Line ends are those of Unix, so that a body is the same one when a form sends it back.
fn script(field: &str, body: &str) -> Result<FilterStep, ValidationError> {
    let body = body.replace("\r\n", "\n");
    if body.trim().is_empty() {
        return Err(ValidationError::new(
            field,
            ErrorCode::Required,
            "the script is empty; it must set `result` to a list of addresses",
        ));
    }
    if body.len() > MAX_SCRIPT_BYTES {
        return Err(ValidationError::new(
            field,
            ErrorCode::OutOfRange,
            format!(
                "the script has {} bytes; {MAX_SCRIPT_BYTES} are the limit",
                body.len()
            ),
        ));
    }
    Ok(FilterStep::Script(body.into()))
}

impl fmt::Display for FilterStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(name) => name.fmt(f),
            Self::SelectFirst(count) => write!(f, "{}:{count}", FilterName::SelectFirst),
            Self::Script(body) => write!(f, "{SCRIPT}{body}"),
        }
    }
}

impl TryFrom<String> for FilterStep {
    type Error = ValidationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse("filterChain", &text)
    }
}

impl From<FilterStep> for String {
    fn from(step: FilterStep) -> Self {
        step.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_take_no_alias_and_algorithms_do() {
        assert!(FilterStep::parse("filterChain[0]", "wrr").is_err());
        assert_eq!(
            FilterName::parse_algorithm("weighted_rr"),
            Some(FilterName::WeightedRoundRobin)
        );
    }

    #[test]
    fn select_first_takes_a_number() {
        let parse = |text: &str| FilterStep::parse("filterChain[0]", text).map_err(|e| e.code);
        for count in [1, 2, 16] {
            let step = parse(&format!("select-first:{count}")).unwrap();
            assert_eq!(step, FilterStep::SelectFirst(count));
            assert_eq!(step.label(), format!("select-first:{count}"));
            assert_eq!((step.tier(), step.class()), (Tier::Pro, FilterClass::Selecting));
        }
        assert_eq!(parse("select-first"), Err(ErrorCode::Required));
        for wrong in ["", "0", "17", "-1", "+2", "02", " 2", "two"] {
            assert_eq!(
                parse(&format!("select-first:{wrong}")),
                Err(ErrorCode::OutOfRange),
                "{wrong}"
            );
        }
        assert_eq!(parse("geo-ip:2"), Err(ErrorCode::Invalid));
        assert_eq!(FilterName::parse_algorithm("select-first"), None);
    }

    #[test]
    fn scripts_keep_their_text_but_for_line_ends() {
        let parse = |text: &str| FilterStep::parse("filterChain[0]", text);
        let step = parse("script:a = 1\r\nresult = []\n").unwrap();
        assert_eq!(step.to_string(), "script:a = 1\nresult = []\n");
        assert_eq!(parse(&step.to_string()).as_ref(), Ok(&step));
        assert_eq!(
            (step.tier(), step.class()),
            (Tier::Enterprise, FilterClass::Narrowing)
        );
        assert_ne!(parse("script:a = 1\nresult = [] \n"), Ok(step));
    }

    #[test]
    fn scripts_are_neither_empty_nor_too_long() {
        let code = |text: &str| FilterStep::parse("filterChain[0]", text).map_err(|e| e.code);
        assert_eq!(code("script: \n"), Err(ErrorCode::Required));
        let body = |bytes: usize| format!("script:{}", "#".repeat(bytes));
        assert!(code(&body(MAX_SCRIPT_BYTES)).is_ok());
        assert_eq!(code(&body(MAX_SCRIPT_BYTES + 1)), Err(ErrorCode::OutOfRange));
    }
}

//! Requests as they arrive: JSON becomes a draft, and everything that does not fit is found, by field, in plain words.
//!
//! A parser stops at the first thing that does not fit. Here it is begun again without that part until nothing is
//! left to complain about, so that the caller hears of everything at once. What then is missing counts as absent, and
//! the validation of the draft can add its own problems to these.

mod json;
mod kinds;
mod strict;
mod words;

pub use json::{JsonError, parse};

use gslb_engine::model::ValidationError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment, Track};
use std::collections::HashMap;
use strict::Strict;

/// Most problems with the form of one request that are told.
const MAX_PROBLEMS: usize = 50;

/// A request body that the API reads.
pub trait Draft: DeserializeOwned {
    /// Fields that only the server writes. They are ignored in requests, so that what was read can be sent back.
    const READ_ONLY: &'static [&'static str] = &[];

    /// Rewrites other accepted forms of the request into the one that is read, and says what is wrong with them.
    fn prepare(_body: &mut Value, _problems: &mut Vec<ValidationError>) {}
}

/// A draft, and what was wrong with the form of the text that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal<D> {
    /// What could be read.
    pub draft: D,
    /// Problems by field; the fields concerned are absent in the draft.
    pub problems: Vec<ValidationError>,
}

impl<D: Clone> From<&D> for Proposal<D> {
    fn from(draft: &D) -> Self {
        Self {
            draft: draft.clone(),
            problems: Vec::new(),
        }
    }
}

impl<D> Proposal<D> {
    /// The problems of the form together with those that validation has found; a part that did not fit is not told
    /// to be missing as well.
    #[must_use]
    pub fn with(&self, found: Vec<ValidationError>) -> Vec<ValidationError> {
        let mut all = self.problems.clone();
        let shadowed = |field: &str| {
            self.problems
                .iter()
                .any(|problem| is_within(field, &problem.field))
        };
        all.extend(found.into_iter().filter(|error| !shadowed(&error.field)));
        all
    }

    /// The result of the validation, unless form or further rules have found something. A field is complained about
    /// once.
    ///
    /// # Errors
    /// Everything that was found.
    pub(crate) fn checked<T>(
        &self,
        result: Result<T, Vec<ValidationError>>,
        rules: Vec<ValidationError>,
    ) -> Result<T, Vec<ValidationError>> {
        let (value, mut found) = match result {
            Ok(value) => (Some(value), Vec::new()),
            Err(found) => (None, found),
        };
        for problem in rules {
            if !found.iter().any(|known| known.field == problem.field) {
                found.push(problem);
            }
        }
        let all = self.with(found);
        value.filter(|_| all.is_empty()).ok_or(all)
    }
}

/// Whether a field is another one or a part of it; everything is a part of the body as a whole.
fn is_within(field: &str, whole: &str) -> bool {
    whole.is_empty()
        || field
            .strip_prefix(whole)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Removes what only the server writes.
pub(crate) fn without_read_only<D: Draft>(body: &mut Value) {
    if let Value::Object(fields) = body {
        fields.retain(|name, _| !D::READ_ONLY.contains(&name.as_str()));
    }
}

/// Reads a draft from a JSON value.
///
/// # Errors
/// The problems, when no draft can be made of what is left without them.
pub fn read<D: Draft>(mut body: Value) -> Result<Proposal<D>, Vec<ValidationError>> {
    let mut problems = Vec::new();
    without_read_only::<D>(&mut body);
    D::prepare(&mut body, &mut problems);
    fit(body, problems)
}

/// Reads until everything fits.
pub(crate) fn fit<D: DeserializeOwned>(
    mut body: Value,
    mut problems: Vec<ValidationError>,
) -> Result<Proposal<D>, Vec<ValidationError>> {
    // How many stand-ins were tried at a place.
    let mut tried: HashMap<String, usize> = HashMap::new();
    loop {
        let mut track = Track::new();
        let reader = serde_path_to_error::Deserializer::new(Strict(&body), &mut track);
        let error = match D::deserialize(reader) {
            Ok(draft) => return Ok(Proposal { draft, problems }),
            Err(error) => error.to_string(),
        };
        let mut place = steps(&track.path());
        let kind = words::Kind::of(&error);
        if let Some(name) = kind.field() {
            // Whether the path ends at the object or at the field depends on where the reader noticed.
            if place.last() != Some(&Step::Key(name.to_owned())) {
                place.push(Step::Key(name.to_owned()));
            }
        }
        let field = text(&place);
        let seen = tried.entry(field.clone()).or_default();
        if *seen == 0 {
            let given = find(&body, &place);
            problems.push(kind.problem(&field, given));
        }
        let attempt = *seen;
        *seen += 1;
        if problems.len() >= MAX_PROBLEMS || !repair(&mut body, &place, attempt) {
            return Err(problems);
        }
    }
}

/// One step of the way to a part of a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

fn steps(path: &Path) -> Vec<Step> {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

/// The API's spelling of a place: `members[0].ipAddress`.
fn text(place: &[Step]) -> String {
    let mut text = String::new();
    for step in place {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

fn find<'a>(body: &'a Value, place: &[Step]) -> Option<&'a Value> {
    place.iter().try_fold(body, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })
}

/// Takes a part that does not fit out of the way. False when nothing is left to try.
fn repair(body: &mut Value, place: &[Step], attempt: usize) -> bool {
    let Some((last, way)) = place.split_last() else {
        // The body as a whole has the wrong form; an empty one of another may do, so that what is required is told.
        let stand_in = [Value::Object(Map::new()), Value::Array(Vec::new())];
        return match stand_in.into_iter().nth(attempt) {
            Some(value) => {
                *body = value;
                true
            }
            None => false,
        };
    };
    let parent = way.iter().try_fold(body, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    });
    match (parent, last) {
        (Some(Value::Object(fields)), Step::Key(key)) => {
            // Absent first: most fields have a default.
            if attempt == 0 && fields.remove(key).is_some() {
                return true;
            }
            let value = stand_in(attempt.saturating_sub(1));
            value.is_some_and(|value| {
                fields.insert(key.clone(), value);
                true
            })
        }
        (Some(Value::Array(items)), Step::Index(index)) => match (items.get_mut(*index), stand_in(attempt)) {
            // An item stays in the list, whatever it is: the others keep their numbers.
            (Some(item), Some(value)) => {
                *item = value;
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// Values to put where one is required.
fn stand_in(attempt: usize) -> Option<Value> {
    let pair = || Value::Array(vec!["".into(), "".into()]);
    [
        Value::Object(Map::new()),
        "".into(),
        0.into(),
        false.into(),
        Value::Array(Vec::new()),
        pair(),
    ]
    .into_iter()
    .nth(attempt)
}

#[cfg(test)]
mod tests;

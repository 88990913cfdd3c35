//! What a form knows while it is on the page: what the server said, what is wrong by now, whether it was changed.

use super::{Answer, Draft, Form};
use crate::failure::Failure;
use crate::rpc::values;
use gslb_api_types::ApiError;
use gslb_api_types::model::{ErrorCode, ValidationError};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use wasm_bindgen::JsCast as _;

/// The draft that came back in the address, if any.
pub fn use_draft<T: Form>() -> Option<Draft<T>> {
    use_query_map().with_untracked(|query| query.get(T::PARAM).and_then(|text| Draft::decode(&text)))
}

/// How long a click takes at most, from pressing to letting go.
const LEFT: Duration = Duration::from_millis(250);

/// Finds the problems of a form in its values.
type Check = fn(Value) -> Option<Vec<ValidationError>>;

fn problems_of<T: Form>(values: Value) -> Option<Vec<ValidationError>> {
    // By way of the text: reading forms from text is there already, for drafts.
    let form = serde_json::from_str::<T>(&values.to_string()).ok()?;
    let mut problems = form.problems();
    // What only the server can tell shows when it has told.
    problems.retain(|problem| problem.code != ErrorCode::Unsupported);
    Some(problems)
}

/// Names and texts of the fields on the page.
pub fn fields(data: &web_sys::FormData) -> impl Iterator<Item = (String, String)> {
    js_sys::Array::from(data).into_iter().filter_map(|pair| {
        let pair = js_sys::Array::from(&pair);
        Some((pair.get(0).as_string()?, pair.get(1).as_string()?))
    })
}

/// State of one form.
#[derive(Clone, Copy)]
pub struct FormState {
    /// Prefix of the ids of the inputs.
    pub scope: &'static str,
    /// What the server refused.
    pub refused: RwSignal<Option<ApiError>>,
    /// Whether something was changed since the form came.
    pub dirty: RwSignal<bool>,
    problems: RwSignal<Vec<ValidationError>>,
    /// What the server has found while one types.
    told: RwSignal<Vec<ValidationError>>,
    /// Grows with every change of a field.
    pub edits: RwSignal<u32>,
    touched: RwSignal<BTreeSet<String>>,
    /// How often the server has answered.
    answers: StoredValue<u32>,
}

impl FormState {
    /// The state of a form that came back with `error`, or of a fresh one.
    pub fn new<T: Form>(error: Option<ApiError>) -> Self {
        Self {
            scope: T::PARAM,
            refused: RwSignal::new(error),
            dirty: RwSignal::new(false),
            problems: RwSignal::new(Vec::new()),
            told: RwSignal::new(Vec::new()),
            edits: RwSignal::new(0),
            touched: RwSignal::new(BTreeSet::new()),
            answers: StoredValue::new(0),
        }
    }

    /// What is wrong with a field (in the API's spelling) now.
    pub fn message(self, field: &str) -> Option<String> {
        let of = |list: &Vec<ValidationError>| {
            list.iter()
                .find(|problem| problem.field == field)
                .map(|problem| problem.message.clone())
        };
        let told = || self.told.with(of);
        if self.touched.with(|touched| touched.contains(field)) {
            return self.problems.with(of).or_else(told);
        }
        let refused = self
            .refused
            .with(|error| error.as_ref().and_then(|e| e.field(field).map(str::to_owned)));
        refused.or_else(told)
    }

    /// Takes what the server has found while one types.
    pub fn tell(self, problems: Vec<ValidationError>) {
        if self.told.try_with_untracked(|old| *old != problems) == Some(true) {
            self.told.try_set(problems);
        }
    }

    /// What to do when something is typed, and when a field is left.
    pub fn listeners<T: Form>(self) -> (impl Fn(web_sys::Event) + Copy, impl Fn(web_sys::Event) + Copy) {
        (
            move |event: web_sys::Event| {
                if let Some(target) = event.target() {
                    self.edited(problems_of::<T>, &target, false);
                }
            },
            // A field is left by pressing the mouse on something: its problem waits until that click is done, since
            // what it moves aside may be just what is clicked.
            move |event: web_sys::Event| {
                let Some(target) = event.target() else { return };
                let before = self.answers.get_value();
                let left = move || {
                    // What is clicked may be the button that saves, and the server may have answered by now: that is newer
                    // than what was typed.
                    if self.answers.try_get_value() == Some(before) {
                        self.edited(problems_of::<T>, &target, true);
                    }
                };
                set_timeout(left, LEFT);
            },
        )
    }

    /// Checks the form after an input; `seen` also counts the field as finished, so that its problem shows.
    fn edited(self, check: Check, target: &web_sys::EventTarget, seen: bool) {
        let Some(target) = target.dyn_ref::<web_sys::Element>() else {
            return;
        };
        // The page may have been left meanwhile.
        if self.dirty.is_disposed() {
            return;
        }
        let Some(form) = target
            .closest("form")
            .ok()
            .flatten()
            .and_then(|e| e.dyn_into::<web_sys::HtmlFormElement>().ok())
        else {
            return;
        };
        let name = target.get_attribute("name").unwrap_or_default();
        let Some(field) = api_name(&name) else { return };
        self.dirty.set(true);
        self.edits.update(|n| *n = n.wrapping_add(1));
        let known = seen
            || self
                .refused
                .with_untracked(|e| e.as_ref().is_some_and(|e| e.field(&field).is_some()));
        if known && !self.touched.with_untracked(|touched| touched.contains(&field)) {
            self.touched.update(|touched| {
                touched.insert(field);
            });
        }
        let Ok(data) = web_sys::FormData::new_with_form(&form) else {
            return;
        };
        let Some(problems) = check(values(fields(&data))) else {
            return;
        };
        if self.problems.with_untracked(|old| *old != problems) {
            self.problems.set(problems);
        }
    }

    /// Follows what the server answers: a refusal shows, anything else ends the form's unsaved state.
    pub fn follow(self, value: impl Fn() -> Option<Result<Answer, Failure>> + 'static) {
        Effect::new(move |_| {
            let Some(answer) = value() else { return };
            let error = match answer {
                Ok(Answer::Done) => {
                    self.dirty.set(false);
                    None
                }
                Ok(Answer::Refused(error)) => Some(error),
                Err(Failure(error)) => Some(error),
            };
            self.answers.update_value(|n| *n += 1);
            self.touched.update(BTreeSet::clear);
            self.refused.set(error);
        });
    }
}

/// `form[pool_id]` is `poolId` in the API.
fn api_name(name: &str) -> Option<String> {
    let mut parts = name.strip_prefix("form[")?.split(']');
    let inner = parts.next()?;
    // What a step says after its colon is part of the chain's entry.
    match parts.next() {
        Some(index) if inner == "arguments" => Some(format!("filterChain{}]", index.replace("at", ""))),
        _ => Some(camel(inner)),
    }
}

/// `pool_id` as the API spells it: `poolId`.
pub(crate) fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = false;
    for c in name.chars() {
        if c == '_' {
            upper = true;
        } else if upper {
            out.extend(c.to_uppercase());
            upper = false;
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_inputs_are_fields_of_the_api() {
        assert_eq!(api_name("form[min_healthy]").as_deref(), Some("minHealthy"));
        assert_eq!(api_name("form[filter_chain][3]").as_deref(), Some("filterChain"));
        assert_eq!(
            api_name("form[arguments][at2]").as_deref(),
            Some("filterChain[2]")
        );
        assert_eq!(api_name("q"), None);
    }
}

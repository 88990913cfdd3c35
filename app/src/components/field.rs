//! Inputs of forms: label, hint, problem, tied together for screen readers.

use super::text;
use crate::form::FormState;
use leptos::prelude::*;

/// Spelling of the API for the name of a form's field.
fn api(name: &str) -> String {
    crate::form::camel(name)
}

/// A one-line input.
#[component]
pub fn TextField(
    state: FormState,
    /// Name of the field in the form's struct.
    name: &'static str,
    label: &'static str,
    value: String,
    /// One line of help.
    #[prop(optional)]
    hint: &'static str,
    /// `text`, `password`.
    #[prop(default = "text")]
    kind: &'static str,
    /// Shown while empty: the default.
    #[prop(optional)]
    placeholder: &'static str,
    /// Addresses, names, numbers.
    #[prop(optional)]
    mono: bool,
    #[prop(optional)] required: bool,
    /// A number: narrow, right aligned, digits on a phone.
    #[prop(optional)]
    number: bool,
    #[prop(default = "off")] complete: &'static str,
) -> impl IntoView {
    let id = format!("{}-{name}", state.scope);
    let problem_id = format!("{id}-problem");
    let hint_id = format!("{id}-hint");
    let field = api(name);
    let message = Memo::new(move |_| state.message(&field));
    let described = {
        let (problem_id, hint_id) = (problem_id.clone(), hint_id.clone());
        move || {
            if message.read().is_some() {
                Some(problem_id.clone())
            } else if hint.is_empty() {
                None
            } else {
                Some(hint_id.clone())
            }
        }
    };
    view! {
        <div class="field" class:field-number=number class:field-bad=move || message.read().is_some()>
            <label for=id.clone()>
                {label} {required.then(|| view! { <span class="needed">"required"</span> })}
            </label>
            <input
                id=id
                name=format!("form[{name}]")
                type=kind
                value=value
                placeholder=placeholder
                class:mono=mono || number
                inputmode=number.then_some("numeric")
                autocomplete=complete
                spellcheck="false"
                aria-required=required.then_some("true")
                aria-invalid=move || message.read().is_some().then_some("true")
                aria-describedby=described
            />
            {(!hint.is_empty()).then(|| view! { <p class="hint" id=hint_id>{hint}</p> })}
            <Problem id=problem_id message />
        </div>
    }
    .into_any()
}

/// A choice of a few.
#[component]
pub fn SelectField(
    state: FormState,
    name: &'static str,
    label: &'static str,
    value: String,
    /// Value and text of each choice.
    choices: Vec<(String, String)>,
    #[prop(optional)] hint: &'static str,
    #[prop(optional)] required: bool,
) -> impl IntoView {
    let id = format!("{}-{name}", state.scope);
    let problem_id = format!("{id}-problem");
    let hint_id = format!("{id}-hint");
    let field = api(name);
    let message = Memo::new(move |_| state.message(&field));
    let described = {
        let (problem_id, hint_id) = (problem_id.clone(), hint_id.clone());
        move || {
            if message.read().is_some() {
                Some(problem_id.clone())
            } else if hint.is_empty() {
                None
            } else {
                Some(hint_id.clone())
            }
        }
    };
    view! {
        <div class="field" class:field-bad=move || message.read().is_some()>
            <label for=id.clone()>
                {label} {required.then(|| view! { <span class="needed">"required"</span> })}
            </label>
            <select
                id=id
                name=format!("form[{name}]")
                aria-invalid=move || message.read().is_some().then_some("true")
                aria-describedby=described
            >
                {choices
                    .into_iter()
                    .map(|(choice, text)| {
                        let selected = choice == value;
                        view! {
                            <option value=choice selected=selected>
                                {text}
                            </option>
                        }
                    })
                    .collect_view()}
            </select>
            {(!hint.is_empty()).then(|| view! { <p class="hint" id=hint_id>{hint}</p> })}
            <Problem id=problem_id message />
        </div>
    }
    .into_any()
}

/// A box to tick; sends `on` when ticked.
#[component]
pub fn TickField(
    state: FormState,
    name: &'static str,
    label: &'static str,
    value: bool,
    #[prop(optional)] hint: &'static str,
) -> impl IntoView {
    let id = format!("{}-{name}", state.scope);
    let hint_id = format!("{id}-hint");
    view! {
        <div class="field field-tick">
            <input
                id=id.clone()
                name=format!("form[{name}]")
                type="checkbox"
                checked=value
                aria-describedby=(!hint.is_empty()).then(|| hint_id.clone())
            />
            <label for=id>{label}</label>
            {(!hint.is_empty()).then(|| view! { <p class="hint" id=hint_id>{hint}</p> })}
        </div>
    }
    .into_any()
}

/// What is wrong with a field.
#[component]
pub fn Problem(id: String, message: Memo<Option<String>>) -> impl IntoView {
    view! {
        <p class="problem" id=id hidden=move || message.read().is_none()>
            {move || message.get().unwrap_or_default()}
        </p>
    }
    .into_any()
}

/// Whether a problem's field is one that shows its own.
fn is_of(problem: &str, field: &str) -> bool {
    problem == field || (field.ends_with('[') && problem.starts_with(field))
}

/// What is wrong with the whole form; announced when it appears.
#[component]
pub fn Refusal(
    state: FormState,
    /// Fields that show their own problem; the problems of others are listed here. One that ends with a bracket stands
    /// for all entries of a list.
    fields: &'static [&'static str],
) -> impl IntoView {
    view! {
        <div role="alert">
            {move || {
                state
                    .refused
                    .get()
                    .map(|error| {
                        let others: Vec<_> = error
                            .details
                            .iter()
                            .filter(|d| !fields.iter().any(|field| is_of(&d.field, field)))
                            .map(|d| view! { <li>{text::problem(&d.field, &d.message)}</li> })
                            .collect();
                        let heading = match error.code.as_str() {
                            "validation_failed" => "Some fields need another look.".to_owned(),
                            "unauthorized" => {
                                "Your session has ended. Log in again in another tab, then send this form once more: nothing is lost."
                                    .to_owned()
                            }
                            _ => error.message,
                        };
                        view! {
                            <div class="notice bad">
                                <p>{heading}</p>
                                {(!others.is_empty()).then(|| view! { <ul>{others}</ul> })}
                            </div>
                        }
                    })
            }}
        </div>
    }
    .into_any()
}

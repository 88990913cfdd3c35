//! The health check of a pool: what is probed, and the form to change it.

use crate::api::pools::SaveCheck;
use crate::components::field::{Problem, Refusal, SelectField, TextField, TickField};
use crate::form::{FormState, ticked, use_draft};
use crate::forms::CheckForm;
use crate::pages::use_query;
use crate::rpc::{SendForm, Sending};
use gslb_api_types::model::HealthCheckDraft;
use gslb_api_types::{PoolView, Stored};
use leptos::prelude::*;

/// Fields that show their own problem.
const FIELDS: &[&str] = &[
    "type",
    "port",
    "intervalMs",
    "timeoutMs",
    "rise",
    "fall",
    "scoreWindow",
    "path",
    "host",
    "method",
    "headers",
    "expectedStatus",
    "contains",
];

/// A sentence about a check.
fn sentence(check: &HealthCheckDraft) -> String {
    let seconds = |ms: Option<i64>| format!("{} s", ms.unwrap_or_default() as f64 / 1000.0);
    let what = match check.kind.as_deref() {
        Some("tcp") => "Connects by TCP".to_owned(),
        _ => format!(
            "{} {}{}",
            check.method.as_deref().unwrap_or("GET"),
            if check.tls == Some(true) { "https" } else { "http" },
            check
                .path
                .as_ref()
                .map(|path| format!(" {path}"))
                .unwrap_or_default(),
        ),
    };
    let port = check
        .port
        .map_or_else(|| "the member's port".to_owned(), |port| format!("port {port}"));
    format!(
        "{what} on {port}, every {}, at most {} each. Up after {} in a row, down after {}.",
        seconds(check.interval_ms),
        seconds(check.timeout_ms),
        check.rise.unwrap_or(1),
        check.fall.unwrap_or(1),
    )
}

/// The panel on the pool's page.
#[component]
pub fn CheckPanel(pool: Stored<PoolView>, writes: bool) -> impl IntoView {
    let edit = use_query("edit");
    let here = format!("/pools/{}", pool.value.id);
    let change = format!("{here}?edit=check#check-form");
    let check = pool.value.health_check.clone();
    let editing = move || writes && *edit.read() == "check";
    view! {
        <section class="panel" aria-labelledby="check-form">
            <header class="panel-head">
                <h2 id="check-form">"Health check"</h2>
                {move || {
                    (writes && !editing())
                        .then(|| {
                            view! {
                                <a class="button small" href=change.clone()>
                                    "Change"
                                </a>
                            }
                        })
                }}
            </header>
            {move || {
                if editing() {
                    return view! { <CheckEditor form=CheckForm::of(&pool) cancel=here.clone() /> }.into_any();
                }
                match &check {
                    Some(check) => view! { <CheckFacts check=check.0.clone() /> }.into_any(),
                    None => {
                        view! {
                            <p>
                                "Members are not checked: each counts as healthy. With a check, one that fails leaves the answers within interval and timeout."
                            </p>
                        }
                            .into_any()
                    }
                }
            }}
        </section>
    }
    .into_any()
}

#[component]
fn CheckFacts(check: HealthCheckDraft) -> impl IntoView {
    use gslb_api_types::model::ExpectedStatus;
    let status = match &check.expected_status {
        Some(ExpectedStatus::Text(text)) if text != "0" => Some(text.clone()),
        Some(ExpectedStatus::Code(code)) if *code != 0 => Some(code.to_string()),
        Some(_) => Some("any".to_owned()),
        None => None,
    };
    let facts = [
        ("Expected status", status),
        ("Host", check.host.clone()),
        ("Body contains", check.contains.clone()),
        (
            "Score over",
            check
                .score_window
                .filter(|n| *n > 0)
                .map(|n| format!("the last {n} probes")),
        ),
    ];
    view! {
        <p>{sentence(&check)}</p>
        <dl class="facts">
            {facts
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
                .map(|(name, value)| {
                    view! {
                        <div>
                            <dt>{name}</dt>
                            <dd class="mono">{value}</dd>
                        </div>
                    }
                })
                .collect_view()}
        </dl>
    }
    .into_any()
}

#[component]
fn CheckEditor(form: CheckForm, cancel: String) -> impl IntoView {
    let (form, error) = match use_draft::<CheckForm>() {
        Some(draft) => (draft.form, draft.error),
        None => (form, None),
    };
    let action = Sending::to::<SaveCheck>();
    let state = FormState::new::<CheckForm>(error);
    let (typed, left) = state.listeners::<CheckForm>();
    state.follow(move || action.answer.get());
    let kinds = [
        ("none", "No check"),
        ("tcp", "TCP: connects"),
        ("http", "HTTP"),
        ("https", "HTTPS"),
    ];
    let kinds = kinds
        .map(|(value, text)| (value.to_owned(), text.to_owned()))
        .to_vec();
    // Without JavaScript every field is there; with it only those that the kind of check uses.
    let kind = RwSignal::new(form.r#type.clone());
    let is_live = RwSignal::new(false);
    Effect::new(move |_| is_live.set(true));
    let off = move || is_live.get() && *kind.read() == "none";
    let not_http = move || is_live.get() && !matches!(kind.read().as_str(), "http" | "https");
    let headers = Memo::new(move |_| state.message("headers"));
    view! {
        <SendForm
            to=action
            attr:class="form"
            attr:novalidate=true
            on:input=typed
            on:change=move |event| {
                if event_target::<web_sys::Element>(&event).id() == "check-type" {
                    kind.set(event_target_value(&event));
                }
                left(event);
            }
        >
            <input type="hidden" name="form[pool]" value=form.pool />
            <input type="hidden" name="form[revision]" value=form.revision />
            <Refusal state fields=FIELDS />
            <SelectField state name="type" label="Kind" value=form.r#type choices=kinds />
            <div class="form-grid" hidden=off>
                <TextField state name="port" label="Port" value=form.port number=true placeholder="the member's" />
                <TextField state name="interval_ms" label="Interval, ms" value=form.interval_ms number=true placeholder="10000" />
                <TextField state name="timeout_ms" label="Timeout, ms" value=form.timeout_ms number=true placeholder="2000" />
                <TextField state name="rise" label="Successes to come up" value=form.rise number=true placeholder="1" />
                <TextField state name="fall" label="Failures to go down" value=form.fall number=true placeholder="1" />
                <TextField
                    state
                    name="score_window"
                    label="Score window"
                    value=form.score_window
                    number=true
                    placeholder="0"
                    hint="0: the score is 1 or 0. Else the share of successes over this many probes"
                />
            </div>
            <div class="form-grid" hidden=not_http>
                <TextField state name="path" label="Path" value=form.path mono=true placeholder="/" />
                <TextField state name="host" label="Host header" value=form.host mono=true placeholder="the address" />
                <TextField state name="method" label="Method" value=form.method mono=true placeholder="GET" />
                <TextField
                    state
                    name="expected_status"
                    label="Expected status"
                    value=form.expected_status
                    mono=true
                    placeholder="200-399"
                    hint="200, 200-399, a list by commas, or 0 for any"
                />
                <TextField state name="contains" label="Body contains" value=form.contains />
                <div class="field" class:field-bad=move || headers.read().is_some()>
                    <label for="check-headers">"Request headers"</label>
                    <textarea
                        id="check-headers"
                        class="mono"
                        name="form[headers]"
                        rows="2"
                        spellcheck="false"
                        placeholder="Name: value, one a line"
                        aria-describedby="check-headers-problem"
                    >
                        {form.headers}
                    </textarea>
                    <Problem id="check-headers-problem".to_owned() message=headers />
                </div>
                <TickField
                    state
                    name="insecure_skip_verify"
                    label="Accept any certificate"
                    value=ticked(&form.insecure_skip_verify)
                />
            </div>
            <div class="form-end">
                <button class="button primary" type="submit" disabled=move || action.pending.get()>
                    "Save check"
                </button>
                <a class="button" href=cancel>
                    "Cancel"
                </a>
            </div>
        </SendForm>
    }
    .into_any()
}

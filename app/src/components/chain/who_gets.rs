//! Who would get what, beside the routing that is being built: asked of the daemon whenever that changes, before it is saved.
//! `docs/decisions/011-trying-before-saving.md` says why the daemon is asked.

use crate::api::services::{Tried, TryRouting};
use crate::components::loaded;
use crate::form::{FormState, fields};
use crate::forms::ServiceForm;
use crate::rpc::{call, decode, use_data, values};
use leptos::prelude::*;
use std::time::Duration;
use wasm_bindgen::JsCast as _;

/// How long nothing changes before it is asked.
const STILL: Duration = Duration::from_millis(350);
/// Id of the part of the page.
const PLACE: &str = "who-gets";

/// A few clients, each with what it would get.
#[component]
pub fn WhoGets(
    /// The form to begin with.
    form: ServiceForm,
    state: FormState,
    /// Notices every change.
    changes: Signal<()>,
    /// Where to tell how many answers would change.
    verdict: RwSignal<String>,
) -> impl IntoView {
    let first = use_data(move || TryRouting {
        form: form.clone(),
        clients: Vec::new(),
    });
    loaded(
        first,
        move |tried| view! { <Clients tried state changes verdict /> },
    )
}

#[component]
fn Clients(tried: Tried, state: FormState, changes: Signal<()>, verdict: RwSignal<String>) -> impl IntoView {
    if tried.html.is_empty() {
        return ().into_any();
    }
    let Tried {
        html,
        clients,
        problems,
        ..
    } = tried;
    state.tell(problems);
    let html = RwSignal::new(html);
    let edited = RwSignal::new(0_u32);
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    let asked = StoredValue::new(0_u32);
    let ask = move || {
        let Some(question) = question() else { return };
        let Some(turn) = asked.try_update_value(|n| {
            *n += 1;
            *n
        }) else {
            return;
        };
        leptos::task::spawn_local(async move {
            let answer = call::<TryRouting>(question).await;
            let Some(tried) = answer.ok().and_then(|text| decode::<Tried>(&text).ok()) else {
                return;
            };
            // The page may have been left meanwhile, or something else asked.
            if asked.try_get_value() == Some(turn) {
                html.try_set(tried.html);
                verdict.try_set(tried.verdict);
                state.tell(tried.problems);
            }
        });
    };
    Effect::new(move |first: Option<()>| {
        changes.get();
        edited.track();
        if first.is_none() {
            return;
        }
        waiting.update_value(|old| {
            if let Some(old) = old.take() {
                old.clear();
            }
            *old = set_timeout_with_handle(ask, STILL).ok();
        });
    });
    let inputs = clients
        .into_iter()
        .enumerate()
        .map(|(at, client)| {
            view! {
                <input
                    class="mono"
                    name=format!("try[{at}]")
                    value=client
                    aria-label=format!("Client {}", at + 1)
                    autocomplete="off"
                    spellcheck="false"
                    on:input=move |event| {
                        // It is no part of what is saved.
                        event.stop_propagation();
                        edited.update(|n| *n += 1);
                    }
                />
            }
        })
        .collect_view();
    view! {
        <aside class="who-gets" id=PLACE aria-labelledby="who-gets-title">
            <h3 id="who-gets-title">"Who would get what"</h3>
            <p class="hint">"With the routing as it is here, saved or not. Addresses or networks:"</p>
            <div class="gets-clients only-live">{inputs}</div>
            <div inner_html=html></div>
        </aside>
    }
    .into_any()
}

/// The form as it is on the page, and the clients, as the server function takes them.
fn question() -> Option<String> {
    let form = document()
        .get_element_by_id(PLACE)?
        .closest("form")
        .ok()??
        .dyn_into::<web_sys::HtmlFormElement>()
        .ok()?;
    let data = web_sys::FormData::new_with_form(&form).ok()?;
    let clients: Vec<_> = fields(&data)
        .filter(|(name, text)| name.starts_with("try[") && !text.trim().is_empty())
        .map(|(_, text)| text)
        .collect();
    Some(serde_json::json!({ "form": values(fields(&data)), "clients": clients }).to_string())
}

//! What a browser does for a page that the server has written: by delegation, since the page has no code of its own.

use super::Kept;
use crate::api::fragments::{Fragment, LoadFragment};
use crate::components::text;
use crate::components::time::localise;
use crate::live::at_each_pulse;
use crate::rpc::{call, decode, encode, reveal};
use js_sys::{Function, Reflect};
use leptos::ev::{Event, MouseEvent};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use std::rc::Rc;
use std::time::Duration;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::{Closure, JsValue};
use web_sys::{Element, HtmlInputElement};

/// How long one must not type until the text is searched for.
const PAUSE: Duration = Duration::from_millis(250);
/// A search that sends itself while one types.
const SEARCH: &str = "form.search input[name=q]";
/// The part of a page that is asked for again when something happens.
const LIVE: &str = "[data-live]";

/// Goes to an address.
type Go = Rc<dyn Fn(&str)>;

/// A search that sends itself while one types.
#[derive(Clone, Copy)]
pub struct Search {
    /// What is in the box.
    typed: StoredValue<Option<String>>,
    /// When that is searched for.
    waiting: StoredValue<Option<TimeoutHandle>>,
    /// Goes to an address of the page.
    go: StoredValue<Go, LocalStorage>,
}

impl Search {
    /// Nothing is typed yet.
    pub fn new() -> Self {
        let navigate = use_navigate();
        let go = move |target: &str| {
            let options = NavigateOptions {
                replace: true,
                scroll: false,
                ..NavigateOptions::default()
            };
            navigate(target, options);
        };
        Self {
            typed: StoredValue::new(None),
            waiting: StoredValue::new(None),
            go: StoredValue::new_local(Rc::new(go) as Go),
        }
    }
}

/// Once the page is there: times of the viewer's zone, the focus on what was refused, the search box as it was left, and
/// values that stay true.
pub fn enliven(html: &str, place: NodeRef<leptos::html::Div>, address: Memo<(String, String)>, kept: Kept) {
    Effect::new(move |_| {
        let Some(place) = place.get() else { return };
        localise(&place);
        reveal(&place);
        type_on(&place, kept);
    });
    if html.contains("data-live") {
        let ask = move || {
            let (path, query) = address.get_untracked();
            call::<LoadFragment>(encode(&LoadFragment { path, query }))
        };
        let take = move |text: &str| {
            if let (Some(place), Ok(new)) = (place.try_get_untracked().flatten(), decode::<Fragment>(text)) {
                refresh(&place, &new.html);
            }
        };
        at_each_pulse(Box::new(ask), Rc::new(take));
    }
}

/// Puts the newer text of the living part in place of the old one, but not under somebody's fingers.
fn refresh(place: &Element, html: &str) -> Option<()> {
    let fresh = document().create_element("div").ok()?;
    fresh.set_inner_html(html);
    let old = place.query_selector(LIVE).ok()??;
    let new = fresh.query_selector(LIVE).ok()??.inner_html();
    let is_used = document()
        .active_element()
        .is_some_and(|at| old.contains(Some(&at)));
    if !is_used && old.inner_html() != new {
        old.set_inner_html(&new);
        localise(&old);
    }
    Some(())
}

/// Goes on in the search box of the newer page where one was in that of the older one.
fn type_on(place: &Element, kept: Kept) -> Option<()> {
    let text = kept.search.typed.try_get_value()??;
    let is_elsewhere = document()
        .active_element()
        .is_some_and(|at| at.tag_name() != "BODY" && !place.contains(Some(&at)));
    if is_elsewhere {
        kept.search.typed.set_value(None);
        return None;
    }
    let input: HtmlInputElement = place.query_selector(SEARCH).ok()??.dyn_into().ok()?;
    if input.value() != text {
        input.set_value(&text);
    }
    input.focus().ok()?;
    let end = u32::try_from(text.encode_utf16().count()).ok();
    input.set_selection_start(end).ok()
}

/// Something is typed: into a search, which sends itself after a while, or into a form, which is unsaved from then on.
pub fn typed(event: &Event, kept: Kept) {
    let Some(field) = element(event) else { return };
    if matches!(field.closest("form[method=post]"), Ok(Some(_))) {
        kept.dirty.set(true);
    } else if field.matches(SEARCH).unwrap_or(false) {
        search(field, kept);
    }
}

fn search(field: Element, kept: Kept) {
    let Ok(input) = field.dyn_into::<HtmlInputElement>() else {
        return;
    };
    kept.search.typed.set_value(Some(input.value()));
    let go = move || {
        let text = input.value();
        let location = window().location();
        let (path, query) = (location.pathname(), location.search());
        let (Ok(path), Ok(query)) = (path, query) else {
            return;
        };
        let sort = web_sys::UrlSearchParams::new_with_str(&query)
            .ok()
            .and_then(|query| query.get("sort"));
        let target = text::link(
            &path,
            &[("q", text.trim()), ("sort", sort.as_deref().unwrap_or_default())],
        );
        if let Some(go) = kept.search.go.try_get_value() {
            go(&target);
        }
    };
    kept.search.waiting.update_value(|old| {
        if let Some(old) = old.take() {
            old.clear();
        }
        *old = set_timeout_with_handle(go, PAUSE).ok();
    });
}

fn element(event: &Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

/// Copies what a button has in `data-copy`.
pub fn copy(event: &MouseEvent) -> Option<()> {
    let button = element(event)?.closest("[data-copy]").ok()??;
    let clipboard = Reflect::get(&window().navigator(), &"clipboard".into()).ok()?;
    // Absent on pages that came neither encrypted nor from this machine: the text can still be marked by hand.
    let write: Function = Reflect::get(&clipboard, &"writeText".into())
        .ok()?
        .dyn_into()
        .ok()?;
    write
        .call1(&clipboard, &button.get_attribute("data-copy")?.into())
        .ok()?;
    button.set_text_content(Some("Copied"));
    Some(())
}

/// Puts the text of a chosen file into the field that `data-into` names; nothing when the event is of another field.
pub fn read_file(event: &Event) -> Option<()> {
    let field = element(event)?;
    let into = document().get_element_by_id(&field.get_attribute("data-into")?)?;
    let files = Reflect::get(&field, &"files".into()).ok()?;
    let file = Reflect::get_u32(&files, 0).ok()?;
    let method = |of: &JsValue, name: &str| -> Option<Function> {
        Reflect::get(of, &name.into()).ok()?.dyn_into().ok()
    };
    let text = method(&file, "text")?.call0(&file).ok()?;
    let take =
        Closure::once_into_js(move |text: JsValue| Reflect::set(&into, &"value".into(), &text).is_ok());
    method(&text, "then")?.call1(&text, &take).ok()?;
    Some(())
}

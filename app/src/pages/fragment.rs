//! Pages that the server writes whole: this shows them, and does for all of them what only a browser can do.

use crate::api::fragments::{Fragment, LoadFragment};
use crate::components::loaded;
use crate::guard::guard_unsaved;
use crate::rpc::use_data;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

/// The page at the address. It is asked for again when the address changes inside the part of the console that it began
/// in: the address of another page is that page's business.
#[component]
pub fn FragmentPage() -> impl IntoView {
    let location = use_location();
    let part = |path: &str| path.split('/').nth(1).unwrap_or_default().to_owned();
    let (path, search) = (location.pathname, location.search);
    let begun = part(&path.read_untracked());
    let address = Memo::new(move |old: Option<&(String, String)>| {
        let path = path.get();
        match old {
            Some(old) if part(&path) != begun => old.clone(),
            _ => (path, search.get()),
        }
    });
    let data = use_data(move || {
        let (path, query) = address.get();
        LoadFragment { path, query }
    });
    let dirty = RwSignal::new(false);
    guard_unsaved(dirty);
    loaded(data, move |fragment| {
        dirty.set(false);
        view! { <Written fragment dirty /> }
    })
}

#[component]
fn Written(fragment: Fragment, dirty: RwSignal<bool>) -> impl IntoView {
    // Controls that need JavaScript show only when it is there.
    let is_live = RwSignal::new(false);
    Effect::new(move |_| is_live.set(true));
    view! {
        <Title text=fragment.title />
        <div
            class="fragment"
            class:live=is_live
            inner_html=fragment.html
            on:input=move |event| {
                if in_post_form(&event) {
                    dirty.set(true);
                }
            }
            on:change=|event| {
                read_file(&event);
            }
            on:submit=move |_| dirty.set(false)
            on:click=|event| {
                copy(&event);
            }
        ></div>
    }
    .into_any()
}

/// Whether the field is one of a form that changes something.
fn in_post_form(event: &leptos::ev::Event) -> bool {
    element(event).is_some_and(|field| matches!(field.closest("form[method=post]"), Ok(Some(_))))
}

fn element(event: &leptos::ev::Event) -> Option<web_sys::Element> {
    use wasm_bindgen::JsCast as _;

    event.target()?.dyn_into().ok()
}

/// Copies what a button has in `data-copy`.
fn copy(event: &leptos::ev::MouseEvent) -> Option<()> {
    use js_sys::Reflect;
    use wasm_bindgen::JsCast as _;

    let button = element(event)?.closest("[data-copy]").ok()??;
    let clipboard = Reflect::get(&window().navigator(), &"clipboard".into()).ok()?;
    // Absent on pages that came neither encrypted nor from this machine: the text can still be marked by hand.
    let write: js_sys::Function = Reflect::get(&clipboard, &"writeText".into())
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
fn read_file(event: &leptos::ev::Event) -> Option<()> {
    use js_sys::{Function, Reflect};
    use wasm_bindgen::JsCast as _;
    use wasm_bindgen::prelude::{Closure, JsValue};

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

//! Keeps unsaved input from a stray click: the browser asks before it leaves the page, and so do links of the console,
//! which leave it without the browser noticing.

use leptos::prelude::*;

#[cfg(feature = "hydrate")]
const QUESTION: &str = "Leave without saving? What you changed in the form is lost.";

/// Asks while `dirty`, until the calling component goes away.
pub fn guard_unsaved(dirty: RwSignal<bool>) {
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| browser::install(dirty));
    #[cfg(not(feature = "hydrate"))]
    let _ = dirty;
}

#[cfg(feature = "hydrate")]
mod browser {
    use super::QUESTION;
    use leptos::prelude::*;
    use send_wrapper::SendWrapper;
    use wasm_bindgen::JsCast as _;
    use wasm_bindgen::prelude::Closure;
    use web_sys::{BeforeUnloadEvent, Element, Event};

    pub fn install(dirty: RwSignal<bool>) {
        let is_dirty = move || dirty.try_get_untracked() == Some(true);
        let unload = window_event_listener(leptos::ev::beforeunload, move |event: BeforeUnloadEvent| {
            if is_dirty() {
                event.prevent_default();
            }
        });
        // In the capture phase, before the router sees the click.
        let closure = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
            let link = event
                .target()
                .and_then(|t| t.dyn_into::<Element>().ok())
                .and_then(|e| e.closest("a[href]").ok().flatten());
            let Some(link) = link else { return };
            let stays = link.has_attribute("target")
                || link
                    .get_attribute("href")
                    .is_some_and(|href| href.starts_with('#'));
            if stays || !is_dirty() {
                return;
            }
            if window().confirm_with_message(QUESTION).unwrap_or(true) {
                // Asked once is enough: the page is left now.
                dirty.try_set(false);
            } else {
                event.prevent_default();
                event.stop_propagation();
            }
        });
        let window = window();
        // A window takes every listener.
        let _ =
            window.add_event_listener_with_callback_and_bool("click", closure.as_ref().unchecked_ref(), true);
        let held = SendWrapper::new(closure);
        on_cleanup(move || {
            unload.remove();
            let closure = held.take();
            let _ = leptos::prelude::window().remove_event_listener_with_callback_and_bool(
                "click",
                closure.as_ref().unchecked_ref(),
                true,
            );
        });
    }
}

//! The browser's entry point: brings the pages that the server rendered to life, and nothing else.
#![cfg(target_family = "wasm")]
// As in the console itself: its views are made into code here.
#![recursion_limit = "256"]

use wasm_bindgen::prelude::wasm_bindgen;

/// Called by the page's script when the WASM is loaded.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(gslb_app::App);
    // Tells those who wait for a living page (browser tests) that it is one.
    if let Some(root) = leptos::prelude::document().document_element() {
        // Fails only for an invalid attribute name.
        let _ = root.set_attribute("data-hydrated", "");
    }
}

//! The browser's entry point: brings the pages that the server rendered to life, and nothing else.
#![cfg(target_family = "wasm")]

use wasm_bindgen::prelude::wasm_bindgen;

/// Called by the page's script when the WASM is loaded.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(gslb_app::App);
}

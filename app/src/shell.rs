//! The HTML document around the console, made on the server.

use crate::app::App;
use leptos::config::LeptosOptions;
use leptos::prelude::*;
use leptos_meta::MetaTags;

/// The whole document. Script, WASM and style sheet carry the stem in `options.output_name`
/// (`gslb-<hash>.js`, `gslb-<hash>_bg.wasm`, `gslb-<hash>.css` below `options.site_pkg_dir`).
fn shell(options: LeptosOptions) -> impl IntoView {
    let style = format!("/{}/{}.css", options.site_pkg_dir, options.output_name);
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <link rel="stylesheet" href=style />
                <HydrationScripts options=options />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}

/// The whole document as one type, so that its code is made here and not once more in the server.
#[must_use]
pub fn document(options: LeptosOptions) -> AnyView {
    shell(options).into_any()
}

/// The console as one type, to read its routes from.
#[must_use]
pub fn console() -> AnyView {
    view! { <App /> }.into_any()
}

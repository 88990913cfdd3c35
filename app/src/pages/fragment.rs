//! Pages that the server writes whole: this shows them, and does for all of them what only a browser can do.

#[cfg(not(feature = "ssr"))]
mod browser;

use crate::api::fragments::{Fragment, LoadFragment};
use crate::components::loaded;
use crate::guard::guard_unsaved;
use crate::rpc::use_data;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

/// What outlives the page when the server writes it anew.
#[derive(Clone, Copy)]
struct Kept {
    /// Whether something in a form was changed.
    dirty: RwSignal<bool>,
    /// What is searched for while one types.
    #[cfg(not(feature = "ssr"))]
    search: browser::Search,
}

/// The page at the address. It is asked for again when the address changes inside the part of the console that it began
/// in, to one of as many parts: the address of another page is that page's business.
#[component]
pub fn FragmentPage() -> impl IntoView {
    let location = use_location();
    let part = |path: &str| {
        let path = path.trim_end_matches('/');
        let first = path.split('/').nth(1).unwrap_or_default().to_owned();
        (first, path.split('/').count())
    };
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
    let kept = Kept {
        dirty: RwSignal::new(false),
        #[cfg(not(feature = "ssr"))]
        search: browser::Search::new(),
    };
    guard_unsaved(kept.dirty);
    loaded(data, move |fragment| {
        kept.dirty.set(false);
        view! { <Written fragment address kept /> }
    })
}

#[component]
fn Written(fragment: Fragment, address: Memo<(String, String)>, kept: Kept) -> impl IntoView {
    // Controls that need JavaScript show only when it is there.
    let is_live = RwSignal::new(false);
    let place = NodeRef::<leptos::html::Div>::new();
    Effect::new(move |_| is_live.set(true));
    #[cfg(not(feature = "ssr"))]
    browser::enliven(&fragment.html, place, address, kept);
    #[cfg(feature = "ssr")]
    let _ = address;
    view! {
        <Title text=fragment.title />
        <div
            class="fragment"
            node_ref=place
            class:live=is_live
            inner_html=fragment.html
            on:input=move |event| {
                #[cfg(not(feature = "ssr"))]
                browser::typed(&event, kept);
                #[cfg(feature = "ssr")]
                let _ = &event;
            }
            on:change=|event| {
                #[cfg(not(feature = "ssr"))]
                browser::read_file(&event);
                #[cfg(feature = "ssr")]
                let _ = &event;
            }
            on:submit=move |_| kept.dirty.set(false)
            on:click=|event| {
                #[cfg(not(feature = "ssr"))]
                browser::copy(&event);
                #[cfg(feature = "ssr")]
                let _ = &event;
            }
        ></div>
    }
    .into_any()
}

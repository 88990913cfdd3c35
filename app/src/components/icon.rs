//! Line icons, 20 units square, drawn for this console.

use leptos::prelude::*;

/// Path of an icon by its name.
fn path(name: &str) -> &'static str {
    match name {
        "dashboard" => "M3 11a7 7 0 0 1 14 0M10 11l3.5-3.5M3 15h14",
        "services" => "M3 5h14M3 10h9M3 15h6M15 10l3 3-3 3",
        "pools" => "M4 4h12v5H4zM4 11h12v5H4zM7 6.5h.01M7 13.5h.01",
        "trace" => "M3 4h14M5.5 8.5h9M8 13h4M10 13v4",
        "signals" => "M4 16V9M8 16V4M12 16v-5M16 16V7",
        "zones" => "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M3 10h14M10 3c3 3 3 11 0 14M10 3c-3 3-3 11 0 14",
        "users" => {
            "M7.5 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6M2 16a5.5 5.5 0 0 1 11 0M13 4.5a3 3 0 0 1 0 5M15.5 12a5.5 5.5 0 0 1 2.5 4"
        }
        "tokens" => "M13 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8M10 10l-7 7M5 15l2 2",
        "tenants" => "M3 17V7l5-3v13M8 17V9h9v8zM11 12h.01M14 12h.01M11 15h.01M14 15h.01",
        "audit" => "M5 3h7l3 3v11H5zM8 9h4M8 12h4",
        "settings" => "M3 6h7M14 6h3M12 4v4M3 14h3M10 14h7M8 12v4",
        "up" => "M10 16V5M5.5 9.5 10 5l4.5 4.5",
        "down" => "M10 4v11M5.5 10.5 10 15l4.5-4.5",
        "close" => "M5 5l10 10M15 5 5 15",
        "plus" => "M10 4v12M4 10h12",
        "lock" => "M6 9V7a4 4 0 0 1 8 0v2M5 9h10v8H5z",
        "search" => "M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4M13 13l4 4",
        "menu" => "M3 5h14M3 10h14M3 15h14",
        "out" => "M8 4H4v12h4M8 10h9M14 7l3 3-3 3",
        "edit" => "M4 16l1-4 8-8 3 3-8 8z",
        _ => "",
    }
}

/// A decorative icon; the word beside it says what it means.
#[component]
pub fn Icon(name: &'static str) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
            <path d=path(name) />
        </svg>
    }
    .into_any()
}

/// The mark of the product: one point that leads to three places, one of them chosen.
#[component]
pub fn Mark() -> impl IntoView {
    view! {
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
            <rect class="mark-ground" width="32" height="32" rx="8" />
            <path class="mark-ways" d="M9 16h5l7-8M14 16h9M14 16l7 8" />
            <circle class="mark-from" cx="8.5" cy="16" r="3" />
            <circle class="mark-to" cx="22.5" cy="7.5" r="2.5" />
            <circle class="mark-chosen" cx="24" cy="16" r="3" />
            <circle class="mark-to" cx="22.5" cy="24.5" r="2.5" />
        </svg>
    }
    .into_any()
}

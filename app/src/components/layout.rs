//! The console's frame: menu, who is logged in, licence, whether the page is live.

use super::icon::{Icon, Mark};
use super::time::Moment;
use crate::api::account::{Logout, Session};
use crate::api::fragments::LoadPicker;
use crate::live::{provide_live, use_live};
use crate::rpc::{Data, use_data};
use gslb_api_types::SessionView;
use gslb_api_types::model::Permission;
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use leptos_router::components::{A, Outlet};
use leptos_router::hooks::use_location;

/// The caller's session.
type SessionResource = Data<SessionView>;

/// A page in the menu: address, icon, name.
type Entry = (&'static str, &'static str, &'static str);

/// Groups of the menu: heading, and its pages.
const MENU: [(&str, &[Entry]); 4] = [
    ("", &[("/", "dashboard", "Dashboard")]),
    (
        "Traffic",
        &[
            ("/services", "services", "Services"),
            ("/pools", "pools", "Pools"),
            ("/trace", "trace", "Query Tracer"),
        ],
    ),
    (
        "Infrastructure",
        &[
            ("/signals", "signals", "Signal Weight"),
            ("/zones", "zones", "Zones"),
        ],
    ),
    (
        "Administration",
        &[
            ("/users", "users", "Users and roles"),
            ("/tokens", "tokens", "Tokens"),
            ("/tenants", "tenants", "Tenants"),
            ("/audit", "audit", "Audit"),
            ("/settings", "settings", "Settings"),
        ],
    ),
];

/// Whether a session carries a permission.
#[must_use]
pub fn may(session: &SessionView, permission: Permission) -> bool {
    session.permissions.contains(&permission)
}

/// Frame around every page but the log-in.
#[component]
pub fn Console() -> impl IntoView {
    provide_live();
    let session: SessionResource = use_data(|| Session {});
    let toggle = NodeRef::<leptos::html::Input>::new();
    let path = use_location().pathname;
    Effect::new(move |before: Option<()>| {
        path.track();
        if before.is_some() {
            arrive(toggle);
        }
    });
    view! {
        <a class="skip" href="#main">
            "Skip to the content"
        </a>
        <div class="console">
            <header class="bar">
                <a class="brand" href="/">
                    <Mark />
                    <span class="brand-name">"Nexus "<b>"GSLB"</b></span>
                </a>
                <TenantPicker />
                <label class="menu-switch">
                    <input type="checkbox" class="menu-toggle" node_ref=toggle aria-controls="menu" />
                    <Icon name="menu" />
                    <span class="unseen">"Menu"</span>
                </label>
            </header>
            <nav class="side" id="menu" aria-label="Pages">
                {MENU
                    .into_iter()
                    .map(|(heading, pages)| view! { <MenuGroup heading pages /> })
                    .collect_view()} <Account session />
            </nav>
            <div class="stage">
                <NotLive />
                <main id="main" tabindex="-1">
                    <Outlet />
                </main>
            </div>
        </div>
    }
    .into_any()
}

/// On another page of the console: what covers the old one closes, and the focus is where the page begins, since the link
/// that was followed may be gone.
fn arrive(toggle: NodeRef<leptos::html::Input>) {
    use wasm_bindgen::JsCast as _;

    if let Some(input) = toggle.get_untracked() {
        input.set_checked(false);
    }
    if let Ok(Some(picker)) = document().query_selector(".picker[open]") {
        let _ = picker.remove_attribute("open");
    }
    let main = document().get_element_by_id("main");
    if let Some(main) = main.and_then(|main| main.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = main.focus();
    }
}

/// The tenant acted in, and the ways to others, for who may: the server writes it.
#[component]
fn TenantPicker() -> impl IntoView {
    let picker = use_data(|| LoadPicker {});
    view! {
        <div class="picker-place">
            <Suspense fallback=|| ()>
                {move || Suspend::new(async move {
                    picker.value().await.ok().map(|html| view! { <div inner_html=html></div> })
                })}
            </Suspense>
        </div>
    }
    .into_any()
}

#[component]
fn MenuGroup(
    heading: &'static str,
    pages: &'static [(&'static str, &'static str, &'static str)],
) -> impl IntoView {
    view! {
        <div class="side-group">
            {(!heading.is_empty()).then(|| view! { <p class="side-heading">{heading}</p> })} <ul>
                {pages
                    .iter()
                    .map(|&(href, icon, name)| {
                        view! {
                            <li>
                                <A href=href exact={href == "/"} attr:class="side-link">
                                    <Icon name=icon />
                                    {name}
                                </A>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </div>
    }
    .into_any()
}

#[component]
fn Account(session: SessionResource) -> impl IntoView {
    view! {
        <div class="account">
            <Suspense fallback=|| ()>
                {move || Suspend::new(async move {
                    session
                        .value()
                        .await
                        .ok()
                        .map(|session| {
                            let tier = session.tier.to_string();
                            view! {
                                <a class="account-name" title="Logged in as" href="/sessions">
                                    {session.name.clone()}
                                </a>
                                <a class="tier" data-tier=tier.clone() href="/settings/licence">
                                    {format!("{tier} tier")}
                                </a>
                            }
                        })
                })}
            </Suspense>
            <form method="post" action=Logout::url()>
                <button class="quiet" type="submit">
                    <Icon name="out" />
                    "Log out"
                </button>
            </form>
        </div>
    }
    .into_any()
}

/// Says since when the values on the page are old; takes no room otherwise.
#[component]
fn NotLive() -> impl IntoView {
    let live = use_live();
    view! {
        <div class="not-live-place" role="status">
            {move || {
                live.cut
                    .get()
                    .map(|at| {
                        view! {
                            <p class="not-live">
                                "Not live since " <Moment at /> ". Values may be old; trying again."
                            </p>
                        }
                    })
            }}
        </div>
    }
    .into_any()
}

/// Heading of a page with what one can do there.
#[component]
pub fn PageHead(
    #[prop(into)] title: String,
    /// A line below the title.
    #[prop(optional, into)]
    lead: String,
    /// Buttons and links at the right.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <leptos_meta::Title text=title.clone() />
        <header class="page-head">
            <div class="page-head-text">
                <h1>{title}</h1>
                {(!lead.is_empty()).then(|| view! { <p class="lead">{lead}</p> })}
            </div>
            {children.map(|children| view! { <div class="page-head-actions">{children()}</div> })}
        </header>
    }
    .into_any()
}

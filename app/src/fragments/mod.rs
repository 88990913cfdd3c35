//! Pages that the server writes whole, as HTML: the browser shows them and carries no code for them. They are those that
//! are read and sent, and do not change while one looks: the forms in them are plain forms, with and without JavaScript.
//!
//! A file a page: what it shows, its forms, and what sending them does.

mod audit;
mod dnssec;
mod parts;
pub mod picker;
mod pools;
mod preview;
mod records;
mod roles;
mod services;
mod sessions;
mod settings;
pub mod shares;
mod signals;
mod tenants;
mod tokens;
pub mod traces;
mod transfers;
pub mod tried;
mod tsig_keys;
mod user;
mod users;
mod zone_file;
mod zone_settings;
mod zones;

use crate::api::fragments::Fragment;
use crate::failure::Failure;
use crate::form::{Draft, Form};
use gslb_api_types::{ListQuery, SessionView};
use leptos::prelude::*;
use leptos_router::location::RequestUrl;
use leptos_router::params::ParamsMap;

/// Rows a page of a list.
const ROWS: u32 = 50;

/// What a page was asked for with: its address, and who asks.
struct Asked {
    path: String,
    params: ParamsMap,
    session: SessionView,
}

impl Asked {
    /// A parameter of the address, empty when absent.
    fn param(&self, name: &str) -> String {
        self.params.get(name).unwrap_or_default()
    }

    /// The part of a list that the address asks for.
    fn list(&self) -> ListQuery {
        let given = |name| Some(self.param(name).trim().to_owned()).filter(|text| !text.is_empty());
        ListQuery {
            limit: Some(ROWS),
            cursor: given("cursor"),
            search: given("q"),
            sort: given("sort"),
        }
    }

    /// The form that came back, if this one did.
    fn draft<T: Form>(&self) -> Option<Draft<T>> {
        Draft::decode(&self.param(T::PARAM))
    }
}

/// A page before it is text.
struct Page {
    title: String,
    view: AnyView,
}

/// Writes the page at an address.
///
/// # Errors
/// Nobody is logged in; there is no such page; what it shows is not there, or not for the caller.
pub async fn write(path: &str, query: &str) -> Result<Fragment, Failure> {
    let missing = || Failure::missing("There is no page at this address.");
    let address = format!("{path}?{}", query.trim_start_matches('?'));
    let url = RequestUrl::new(&address).parse().map_err(|_| missing())?;
    let asked = Asked {
        path: url.path().trim_end_matches('/').to_owned(),
        params: url.search_params().clone(),
        session: crate::api::backend()?.session().await?,
    };
    let parts: Vec<_> = asked.path.split('/').skip(1).collect();
    let page = match parts[..] {
        ["services"] => services::list(&asked).await?,
        ["pools"] => pools::list(&asked).await?,
        ["signals"] => signals::page().await?,
        ["zones"] => zones::list(&asked).await?,
        ["zones", "keys"] => tsig_keys::list(&asked).await?,
        ["zones", id] => records::list(&asked, id).await?,
        ["zones", id, "records", record] => records::edit(&asked, id, record).await?,
        ["zones", id, "settings"] => zone_settings::page(&asked, id).await?,
        ["zones", id, "file"] => zone_file::page(&asked, id).await?,
        ["zones", id, "transfers"] => transfers::page(&asked, id).await?,
        ["zones", id, "dnssec"] => dnssec::page(&asked, id).await?,
        ["users"] => users::list(&asked).await?,
        ["users", "roles", role] => roles::page(&asked, role).await?,
        ["users", id] => user::page(&asked, id).await?,
        ["tokens"] => tokens::list(&asked).await?,
        ["sessions"] => sessions::page(&asked).await?,
        ["tenants"] => tenants::list(&asked).await?,
        ["tenants", id] => tenants::page(&asked, id).await?,
        ["audit"] => audit::page(&asked).await?,
        ["settings"] => settings::page(&asked).await?,
        ["settings", "licence"] => settings::licence::page(&asked).await?,
        ["settings", "configuration"] => settings::config::page(&asked).await?,
        ["settings", "password"] => settings::password::page(&asked),
        _ => return Err(missing()),
    };
    Ok(Fragment {
        title: page.title,
        html: page.view.to_html(),
    })
}

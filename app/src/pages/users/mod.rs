//! Accounts and roles of the tenant.

mod detail;
mod form;
mod roles;

pub use detail::UserPage;

use crate::api::accounts::{LoadUsers, Users};
use crate::components::empty::Done;
use crate::components::layout::{PageHead, may};
use crate::components::list::{Pager, SearchBox, SortHead, use_list};
use crate::components::{Moment, State, loaded};
use crate::pages::use_query;
use crate::rpc::use_data_again;
use form::UserEditor;
use gslb_api_types::model::Permission;
use gslb_api_types::{ListQuery, Page, Stored, UserView};
use leptos::prelude::*;
use roles::Roles;

/// The page.
#[component]
pub fn UsersPage() -> impl IntoView {
    let list = use_list();
    let (done, turn) = (use_query("done"), use_query("n"));
    let data = use_data_again(
        move || LoadUsers { query: list.get() },
        move || done.get() + &turn.get(),
    );
    let text = Signal::derive(move || match done.read().as_str() {
        "created" => Some("The account is created."),
        "changed" => Some("The account is changed."),
        "deleted" => Some("The account is deleted."),
        "role" => Some("The role is created."),
        "role-deleted" => Some("The role is deleted."),
        _ => None,
    });
    view! {
        <PageHead title="Users and roles" lead="Who may log in, and what each may do. A change holds from the next request on." />
        <Done text=text />
        <div class="toolbar">
            <SearchBox list label="Search by name" />
        </div>
        {loaded(data, move |data| view! { <Body list data /> })}
    }
    .into_any()
}

#[component]
fn Body(list: Memo<ListQuery>, data: Users) -> impl IntoView {
    let writes = may(&data.session, Permission::UsersWrite);
    let roles = data.roles.clone();
    let own = data.session.permissions.clone();
    view! {
        <UserTable list page=data.users />
        {writes.then(|| view! { <UserEditor roles=roles.clone() own=own.clone() /> })}
        <Roles roles=data.roles writes own=own />
    }
    .into_any()
}

#[component]
fn UserTable(list: Memo<ListQuery>, page: Page<Stored<UserView>>) -> impl IntoView {
    let shown = page.items.len();
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        <SortHead list field="name">
                            "Name"
                        </SortHead>
                        <th scope="col">"Role"</th>
                        <th scope="col">"State"</th>
                        <th scope="col">"Last log-in"</th>
                    </tr>
                </thead>
                <tbody>
                    {page
                        .items
                        .into_iter()
                        .map(|row| {
                            let user = row.value;
                            let (kind, word) = if user.enabled {
                                ("up", "Enabled")
                            } else {
                                ("off", "Disabled")
                            };
                            view! {
                                <tr>
                                    <th scope="row">
                                        <a href=format!("/users/{}", user.id)>{user.name}</a>
                                    </th>
                                    <td data-label="Role">{user.role}</td>
                                    <td data-label="State">
                                        <State kind=kind word=word />
                                    </td>
                                    <td data-label="Last log-in">
                                        {match user.last_login {
                                            Some(at) => view! { <Moment at=at * 1000 /> }.into_any(),
                                            None => "never".into_any(),
                                        }}
                                    </td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
        <Pager list shown total=page.total next=page.next_cursor what=("account", "accounts") />
    }
    .into_any()
}

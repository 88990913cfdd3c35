//! API tokens: what programs log in with.

mod form;

use crate::api::accounts::{DeleteToken, LoadTokens, Tokens};
use crate::components::confirm::Confirm;
use crate::components::empty::{Done, Empty};
use crate::components::layout::{PageHead, may};
use crate::components::list::{Pager, SearchBox, SortHead, use_list};
use crate::components::{Moment, loaded};
use crate::pages::use_query;
use crate::rpc::{Sending, use_data_again};
use form::TokenEditor;
use gslb_api_types::model::Permission;
use gslb_api_types::{ListQuery, Page, Stored, TokenCreated, TokenView};
use leptos::prelude::*;

/// The page.
#[component]
pub fn TokensPage() -> impl IntoView {
    let list = use_list();
    let (done, turn) = (use_query("done"), use_query("n"));
    let data = use_data_again(
        move || LoadTokens { query: list.get() },
        move || done.get() + &turn.get(),
    );
    let text = Signal::derive(move || (*done.read() == "deleted").then_some("The token is revoked."));
    view! {
        <PageHead
            title="Tokens"
            lead="What programs log in with. A token may do what it says, as long as the account behind it may."
        />
        <Done text=text />
        <div class="toolbar">
            <SearchBox list label="Search by name" />
        </div>
        {loaded(data, move |data| view! { <Body list data /> })}
    }
    .into_any()
}

#[component]
fn Body(list: Memo<ListQuery>, data: Tokens) -> impl IntoView {
    let writes = may(&data.session, Permission::TokensWrite);
    let own = data.session.permissions.clone();
    view! {
        {data.created.map(|created| view! { <Secret created /> })}
        <TokenTable list page=data.tokens writes />
        {writes.then(|| view! { <TokenEditor own /> })}
    }
    .into_any()
}

/// The secret of a new token, shown this once.
#[component]
fn Secret(created: TokenCreated) -> impl IntoView {
    view! {
        <div class="notice good" role="status">
            <p>
                "The token " <b>{created.token.name}</b> " is created. Its secret is shown this once; copy it now:"
            </p>
            <p>
                <code class="mono secret">{created.secret}</code>
            </p>
        </div>
    }
    .into_any()
}

#[component]
fn TokenTable(list: Memo<ListQuery>, page: Page<Stored<TokenView>>, writes: bool) -> impl IntoView {
    if page.items.is_empty() {
        return view! {
            <Empty heading="No tokens">
                <p>"Programs send one as Authorization: Bearer to the API."</p>
            </Empty>
        }
        .into_any();
    }
    let shown = page.items.len();
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        <SortHead list field="name">
                            "Name"
                        </SortHead>
                        <th scope="col">"Begins with"</th>
                        <th scope="col">"May"</th>
                        <th scope="col">"Account"</th>
                        <th scope="col">"Ends"</th>
                        <th scope="col">"Last use"</th>
                        <th scope="col">
                            <span class="unseen">"Actions"</span>
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {page
                        .items
                        .into_iter()
                        .map(|row| view! { <Row token=row.value writes /> })
                        .collect_view()}
                </tbody>
            </table>
        </div>
        <Pager list shown total=page.total next=page.next_cursor what=("token", "tokens") />
    }
    .into_any()
}

fn time(at: Option<u64>, else_word: &'static str) -> AnyView {
    match at {
        Some(at) => view! { <Moment at=at * 1000 /> }.into_any(),
        None => else_word.into_any(),
    }
}

#[component]
fn Row(token: TokenView, writes: bool) -> impl IntoView {
    let permissions: Vec<_> = token.permissions.iter().map(|p| p.as_str()).collect();
    let label = format!("Revoke {}", token.name);
    view! {
        <tr>
            <th scope="row">{token.name}</th>
            <td class="mono" data-label="Begins with">
                {token.hint}
            </td>
            <td class="mono" data-label="May">
                {permissions.join(" ")}
            </td>
            <td data-label="Account">{token.owner.unwrap_or_else(|| "none".to_owned())}</td>
            <td data-label="Ends">{time(token.expires_at, "never")}</td>
            <td data-label="Last use">{time(token.last_used_at, "never")}</td>
            <td class="end">
                {writes
                    .then(|| {
                        let to = Sending::to::<DeleteToken>();
                        view! {
                            <Confirm
                                to
                                id=token.id.to_string()
                                word="Revoke"
                                label
                                question="Programs that use it are refused from now on.".to_owned()
                                sure="Revoke the token"
                            />
                        }
                    })}
            </td>
        </tr>
    }
    .into_any()
}

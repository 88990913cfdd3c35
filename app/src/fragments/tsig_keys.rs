//! TSIG keys: the list, a new one, and its secret, which is shown once.

use super::parts::{confirm, done, head, may_write, pager};
use super::{Asked, Page};
use crate::components::empty::Empty;
use crate::components::field::{Refusal, SelectField, TextField};
use crate::failure::Failure;
use crate::form::{Form, FormState, Sent, finish, given};
use gslb_api_types::model::TsigKeyId;
use gslb_api_types::{Stored, TsigKeyDraft, TsigKeyView};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use serde::{Deserialize, Serialize};

/// A new key. A secret that was typed never comes back in an address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TsigKeyForm {
    /// Name.
    pub name: String,
    /// Algorithm.
    pub algorithm: String,
    /// Base64; empty: one is made.
    #[serde(skip_serializing)]
    pub secret: String,
}

impl Form for TsigKeyForm {
    const PARAM: &'static str = "key";
}

/// Which key to delete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TsigKeyTarget {
    /// The key.
    pub key: String,
}

impl Form for TsigKeyTarget {
    const PARAM: &'static str = "delete";
}

/// Makes a key.
#[server(prefix = "/rpc", endpoint = "create-tsig-key")]
pub async fn create_tsig_key(form: TsigKeyForm) -> Sent {
    let backend = crate::api::backend()?;
    let draft = TsigKeyDraft {
        name: given(&form.name),
        algorithm: given(&form.algorithm),
        secret: given(&form.secret),
    };
    let made = match backend.create_tsig_key(draft).await {
        Ok(made) => {
            // What both sides of a transfer are set up with.
            let algorithm = serde_json::to_value(made.key.algorithm).unwrap_or_default();
            let algorithm = algorithm.as_str().unwrap_or_default();
            backend.keep(format!("{algorithm}:{}:{}", made.key.name, made.secret))
        }
        Err(error) => Err(error),
    };
    let next = match &made {
        Ok(mark) => format!("/zones/keys?made={mark}"),
        Err(_) => String::new(),
    };
    finish(made.map(drop), &form, &next, "/zones/keys#key-form")
}

/// Deletes a key.
#[server(prefix = "/rpc", endpoint = "delete-tsig-key")]
pub async fn delete_tsig_key(form: TsigKeyTarget) -> Sent {
    let result = match crate::api::id::<TsigKeyId>("key", &form.key) {
        Ok(id) => crate::api::backend()?.delete_tsig_key(id).await,
        Err(error) => Err(error),
    };
    finish(result, &form, "/zones/keys?done=deleted", "/zones/keys")
}

/// The page.
pub async fn list(asked: &Asked) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let page = backend.tsig_keys(asked.list()).await?;
    let writes = may_write(asked);
    let made = asked.param("made");
    let secret = if made.is_empty() {
        None
    } else {
        backend.take_kept(&made)?
    };
    let said = (asked.param("done") == "deleted").then_some("The key is deleted.");
    let actions = view! {
        <a class="button" href="/zones">
            "All zones"
        </a>
    };
    let lead = "Keys that both sides of a transfer, a NOTIFY or a signed query share.";
    let view = view! {
        {head("TSIG keys", lead, actions.into_any())}
        {done(said)}
        {shown_once(&made, secret)}
        {table(asked, &page, writes)}
        {writes.then(|| new_key(asked))}
    };
    Ok(Page {
        title: "TSIG keys".to_owned(),
        view: view.into_any(),
    })
}

fn shown_once(made: &str, secret: Option<String>) -> AnyView {
    match secret {
        None if made.is_empty() => ().into_any(),
        None => view! {
            <p class="notice">"The key is made. Its secret was shown before, and is not shown again."</p>
        }
        .into_any(),
        Some(text) => view! {
            <div class="notice good" role="status">
                <p>
                    <b>"The key is made. "</b>
                    "This is the only time that its secret is shown: algorithm, name and secret, as dig -y takes them."
                </p>
                <p class="copy-line">
                    <code class="copy-text" tabindex="0">
                        {text.clone()}
                    </code>
                    <button class="button small only-live" type="button" data-copy=text.clone()>
                        "Copy"
                    </button>
                </p>
            </div>
        }
        .into_any(),
    }
}

fn table(asked: &Asked, page: &gslb_api_types::Page<Stored<TsigKeyView>>, writes: bool) -> AnyView {
    if page.items.is_empty() {
        return view! {
            <Empty heading="No keys yet">
                <p>
                    "Without a key a secondary is known by its address alone, which somebody on the way could pretend to have. Make a key here, and give name and secret to the other side."
                </p>
            </Empty>
        }
        .into_any();
    }
    let refused = asked.draft::<TsigKeyTarget>();
    let rows = page
        .items
        .iter()
        .map(|key| {
            let key = &key.value;
            let algorithm = serde_json::to_value(key.algorithm).unwrap_or_default();
            let id = key.id.to_string();
            let error = refused
                .as_ref()
                .filter(|draft| draft.form.key == id)
                .and_then(|draft| draft.error.clone());
            let form = view! {
                <form method="post" action=DeleteTsigKey::url()>
                    <input type="hidden" name="form[key]" value=id />
                    <p>"Messages signed with it are refused from then on."</p>
                    <button class="button danger small" type="submit">
                        "Delete the key"
                    </button>
                </form>
            };
            let end = writes.then(|| confirm("Delete", &key.name, true, error, form.into_any()));
            view! {
                <tr>
                    <th scope="row" class="mono">
                        {key.name.clone()}
                    </th>
                    <td data-label="Algorithm">{algorithm.as_str().unwrap_or_default().to_owned()}</td>
                    <td class="end">{end}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <div class="table-frame">
            <table class="stacking">
                <thead>
                    <tr>
                        <th scope="col">"Name"</th>
                        <th scope="col">"Algorithm"</th>
                        <th scope="col">
                            <span class="unseen">"Actions"</span>
                        </th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {pager(asked, page, ("key", "keys"))}
    }
    .into_any()
}

fn new_key(asked: &Asked) -> impl IntoView + use<> {
    let (form, error) = asked
        .draft::<TsigKeyForm>()
        .map(|draft| (draft.form, draft.error))
        .unwrap_or_default();
    let state = FormState::new::<TsigKeyForm>(error);
    let algorithms = ["hmac-sha256", "hmac-sha384", "hmac-sha512"];
    let algorithms = algorithms.map(|name| (name.to_owned(), name.to_owned())).to_vec();
    let algorithm = if form.algorithm.is_empty() {
        "hmac-sha256".to_owned()
    } else {
        form.algorithm
    };
    view! {
        <section class="panel" aria-labelledby="key-form">
            <header class="panel-head">
                <h2 id="key-form">"New key"</h2>
            </header>
            <form class="form" method="post" action=CreateTsigKey::url() novalidate>
                <Refusal state fields=&["name", "algorithm", "secret"] />
                <div class="form-grid">
                    <TextField
                        state
                        name="name"
                        label="Name"
                        value=form.name
                        required=true
                        mono=true
                        hint="A domain name, the same on both sides: secondary.example.com"
                    />
                    <SelectField
                        state
                        name="algorithm"
                        label="Algorithm"
                        value=algorithm
                        choices=algorithms
                    />
                    <TextField
                        state
                        name="secret"
                        label="Secret"
                        value=String::new()
                        kind="password"
                        complete="new-password"
                        mono=true
                        hint="Base64, if the other side has made the key; empty: one is made"
                    />
                </div>
                <div class="form-end">
                    <button class="button primary" type="submit">
                        "Make the key"
                    </button>
                </div>
            </form>
        </section>
    }
}

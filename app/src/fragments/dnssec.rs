//! How a zone is signed: its keys, the steps of their roll-over, and the DS for the zone above.

use super::parts::{confirm, done, may_write, moment, zone_head};
use super::{Asked, Page};
use crate::components::State;
use crate::components::field::{Refusal, SelectField};
use crate::failure::Failure;
use crate::form::{Form, FormState, Sent, finish, given, ticked, whole_number};
use gslb_api_types::model::ZoneId;
use gslb_api_types::{
    ApiError, DnssecDraft, DnssecKeyDraft, DnssecKeyView, DnssecMode, DnssecView, KeyRole, KeyState,
};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use serde::{Deserialize, Serialize};

/// How to sign a zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SignForm {
    /// The zone.
    pub zone: String,
    /// One key or two.
    pub mode: String,
    /// Number.
    pub algorithm: String,
}

impl Form for SignForm {
    const PARAM: &'static str = "sign";
}

/// A button on the keys of a zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyForm {
    /// The zone.
    pub zone: String,
    /// `add`, `activate`, `remove`, `unsign`.
    pub act: String,
    /// Key tag; the role of the key to add.
    pub key: String,
    /// Ticked or empty.
    pub force: String,
}

impl Form for KeyForm {
    const PARAM: &'static str = "key";
}

fn page_of(zone: &str) -> String {
    format!("/zones/{zone}/dnssec")
}

/// Signs a zone.
#[server(prefix = "/rpc", endpoint = "sign-zone")]
pub async fn sign_zone(form: SignForm) -> Sent {
    let mut problems = Vec::new();
    let draft = DnssecDraft {
        mode: given(&form.mode),
        algorithm: whole_number(&mut problems, "algorithm", &form.algorithm),
        ..DnssecDraft::default()
    };
    let result = match crate::api::id::<ZoneId>("zone", &form.zone) {
        Err(error) => Err(error),
        Ok(_) if !problems.is_empty() => Err(crate::form::invalid(problems)),
        Ok(id) => crate::api::backend()?.sign_zone(id, draft).await,
    };
    let page = page_of(&form.zone);
    finish(result, &form, &format!("{page}?done=signed"), &page)
}

/// Takes a step with a key.
#[server(prefix = "/rpc", endpoint = "zone-key")]
pub async fn zone_key(form: KeyForm) -> Sent {
    let backend = crate::api::backend()?;
    let force = ticked(&form.force);
    let result = match (crate::api::id::<ZoneId>("zone", &form.zone), form.act.as_str()) {
        (Err(error), _) => Err(error),
        (Ok(id), "add") => {
            let role = given(&form.key);
            backend.add_key(id, DnssecKeyDraft { role }).await
        }
        (Ok(id), "activate") => backend.activate_key(id, &form.key, force).await,
        (Ok(id), "remove") => backend.remove_key(id, &form.key, force).await,
        (Ok(id), "unsign") => backend.unsign_zone(id).await,
        (Ok(_), other) => Err(ApiError::new(
            "malformed",
            format!("`{other}` is no step with a key"),
        )),
    };
    let page = page_of(&form.zone);
    finish(result, &form, &format!("{page}?done={}", form.act), &page)
}

/// The page.
pub async fn page(asked: &Asked, id: &str) -> Result<Page, Failure> {
    let backend = crate::api::backend()?;
    let id = crate::api::id("zone", id)?;
    let zone = backend.zone(id).await?.value;
    let signed = match backend.dnssec(id).await {
        Ok(stored) => Some(stored.value),
        Err(error) if error.code == "not_found" => None,
        Err(error) => return Err(error.into()),
    };
    let said = match asked.param("done").as_str() {
        "signed" => Some("The zone is signed. It counts as such when its DS is in the zone above."),
        "add" => Some("The key is made and published."),
        "activate" => Some("The key signs now."),
        "remove" => Some("The key is removed."),
        "unsign" => Some("The keys are deleted. The zone is not signed."),
        _ => None,
    };
    let writes = may_write(asked);
    let body = match &signed {
        Some(view) => keys(asked, view, writes).into_any(),
        None => unsigned(asked, &id.to_string(), writes).into_any(),
    };
    let view = view! {
        {zone_head(&zone, "/dnssec")}
        {done(said)}
        {body}
    };
    Ok(Page {
        title: zone.name.to_string(),
        view: view.into_any(),
    })
}

fn unsigned(asked: &Asked, zone: &str, writes: bool) -> impl IntoView + use<> {
    let (form, error) = asked
        .draft::<SignForm>()
        .map(|draft| (draft.form, draft.error))
        .unwrap_or_default();
    let state = FormState::new::<SignForm>(error);
    let choices = |list: [(&str, &str); 2]| {
        list.map(|(value, text)| (value.to_owned(), text.to_owned()))
            .to_vec()
    };
    let modes = choices([
        ("csk", "One key"),
        ("ksk-zsk", "Two keys: one for the key set, one for the rest"),
    ]);
    let algorithms = choices([
        ("13", "13, ECDSA P-256: every validator knows it"),
        ("15", "15, Ed25519: a few old ones do not"),
    ]);
    view! {
        <section class="panel" aria-labelledby="sign">
            <header class="panel-head">
                <h2 id="sign">"Sign the zone"</h2>
                <State kind="off" word="Not signed" />
            </header>
            <p>
                "Answers are signed as they are sent, with keys that are made here. Resolvers check them when the DS that you get then is in the zone above."
            </p>
            {writes
                .then(|| {
                    view! {
                        <form class="form" method="post" action=SignZone::url()>
                            <input type="hidden" name="form[zone]" value=zone.to_owned() />
                            <Refusal state fields=&["mode", "algorithm"] />
                            <div class="form-grid">
                                <SelectField state name="mode" label="Keys" value=form.mode choices=modes />
                                <SelectField
                                    state
                                    name="algorithm"
                                    label="Algorithm"
                                    value=form.algorithm
                                    choices=algorithms
                                />
                            </div>
                            <div class="form-end">
                                <button class="button primary" type="submit">
                                    "Sign the zone"
                                </button>
                            </div>
                        </form>
                    }
                })}
        </section>
    }
}

fn keys(asked: &Asked, view: &DnssecView, writes: bool) -> impl IntoView + use<> {
    let draft = asked.draft::<KeyForm>();
    let zone = view.zone_id.to_string();
    let rows = view
        .keys
        .iter()
        .map(|key| key_row(&zone, key, draft.as_ref(), writes))
        .collect_view();
    let mode = match view.mode {
        DnssecMode::Csk => "one key",
        DnssecMode::KskZsk => "two keys",
    };
    let algorithm = match view.algorithm {
        13 => "ECDSA P-256".to_owned(),
        15 => "Ed25519".to_owned(),
        other => other.to_string(),
    };
    view! {
        <section class="panel" aria-labelledby="ds">
            <header class="panel-head">
                <h2 id="ds">"DS for the zone above"</h2>
                <State kind="up" word="Signed" />
            </header>
            <p class="copy-line">
                <code class="copy-text" tabindex="0">
                    {view.ds.clone()}
                </code>
                <button class="button small only-live" type="button" data-copy=view.ds.clone()>
                    "Copy"
                </button>
            </p>
            <p class="hint">
                "It goes to the registrar, or whoever keeps the zone above. One that follows RFC 7344 reads it from the CDS and CDNSKEY records, which this server publishes at the zone's own name, and needs nothing from you after the first time."
            </p>
        </section>
        <section class="panel" aria-labelledby="keys">
            <header class="panel-head">
                <h2 id="keys">"Keys"</h2>
                <span class="hint">{format!("{algorithm}, {mode}")}</span>
            </header>
            <div class="table-frame">
                <table class="stacking">
                    <thead>
                        <tr>
                            <th scope="col">"Key tag"</th>
                            <th scope="col">"Signs"</th>
                            <th scope="col">"State"</th>
                            <th scope="col">"Since"</th>
                            <th scope="col">"Next step"</th>
                            <th scope="col">
                                <span class="unseen">"Actions"</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
        {writes.then(|| roll(&zone, view.mode, draft))}
    }
}

fn key_row(
    zone: &str,
    key: &DnssecKeyView,
    draft: Option<&crate::form::Draft<KeyForm>>,
    writes: bool,
) -> impl IntoView + use<> {
    let tag = key.tag.to_string();
    let role = match key.role {
        KeyRole::Ksk => "the key set",
        KeyRole::Zsk => "the zone",
        KeyRole::Csk => "everything",
    };
    let (kind, word) = match key.state {
        KeyState::Published => ("partly", "Published"),
        KeyState::Active => ("up", "Active"),
        KeyState::Retired => ("off", "Retired"),
    };
    let next = key.next.clone().map(|text| {
        view! {
            <div>{text}</div>
            {key
                .safe_at
                .map(|at| view! { <div class="hint">"Safe from " {moment(at)}</div> })}
        }
    });
    let button = |act: &'static str, label: &'static str, what: &'static str| {
        let error = draft
            .filter(|draft| draft.form.act == act && draft.form.key == tag)
            .and_then(|draft| draft.error.clone());
        let id = format!("force-{act}-{tag}");
        let form = view! {
            <form method="post" action=ZoneKey::url()>
                <input type="hidden" name="form[zone]" value=zone.to_owned() />
                <input type="hidden" name="form[act]" value=act />
                <input type="hidden" name="form[key]" value=tag.clone() />
                <p>{what}</p>
                <p class="row-tick">
                    <input id=id.clone() type="checkbox" name="form[force]" />
                    <label for=id>"Before it is safe: who has the old keys cannot validate"</label>
                </p>
                <button class="button danger small" type="submit">
                    {label}
                </button>
            </form>
        };
        confirm(label, &format!("key {tag}"), true, error, form.into_any())
    };
    let actions = match key.state {
        _ if !writes => ().into_any(),
        KeyState::Active => ().into_any(),
        KeyState::Published => view! {
            {button("activate", "Activate", "It signs from then on, and the key that did is retired.")}
            {button("remove", "Remove", "It leaves the key set.")}
        }
        .into_any(),
        KeyState::Retired => button(
            "remove",
            "Remove",
            "It leaves the key set: what it has signed is of no use any more.",
        ),
    };
    view! {
        <tr>
            <th scope="row" class="num">
                {key.tag}
            </th>
            <td data-label="Signs">{role}</td>
            <td data-label="State">
                <State kind=kind word=word />
            </td>
            <td data-label="Since">{key.since.map(moment)}</td>
            <td data-label="Next step">
                <div>{next}</div>
            </td>
            <td class="end">
                <div class="row-buttons">{actions}</div>
            </td>
        </tr>
    }
}

/// Begins a roll-over, and ends signing.
fn roll(zone: &str, mode: DnssecMode, draft: Option<crate::form::Draft<KeyForm>>) -> impl IntoView + use<> {
    let refused = |act: &str| {
        draft
            .as_ref()
            .filter(|draft| draft.form.act == act)
            .and_then(|draft| draft.error.clone())
    };
    let roles: &[(&str, &str)] = match mode {
        DnssecMode::Csk => &[("csk", "New key")],
        DnssecMode::KskZsk => &[
            ("ksk", "New key for the key set"),
            ("zsk", "New key for the zone"),
        ],
    };
    let buttons = roles
        .iter()
        .map(|&(role, label)| {
            view! {
                <form method="post" action=ZoneKey::url()>
                    <input type="hidden" name="form[zone]" value=zone.to_owned() />
                    <input type="hidden" name="form[act]" value="add" />
                    <input type="hidden" name="form[key]" value=role />
                    <button class="button" type="submit">
                        {label}
                    </button>
                </form>
            }
        })
        .collect_view();
    let state = FormState::new::<KeyForm>(refused("add"));
    let unsign = view! {
        <form method="post" action=ZoneKey::url()>
            <input type="hidden" name="form[zone]" value=zone.to_owned() />
            <input type="hidden" name="form[act]" value="unsign" />
            <p>
                "Take the DS out of the zone above first, and wait until it has expired everywhere: until then every resolver that validates refuses the zone."
            </p>
            <button class="button danger small" type="submit">
                "Delete the keys"
            </button>
        </form>
    };
    view! {
        <section class="panel" aria-labelledby="roll">
            <header class="panel-head">
                <h2 id="roll">"Change keys"</h2>
            </header>
            <Refusal state fields=&[] />
            <p>
                "A new key is published first, signs when everybody can know it, and the old one goes when nobody needs it any more. The table says from when each step is safe."
            </p>
            <div class="row-buttons">
                {buttons} {confirm("Stop signing", "the zone", false, refused("unsign"), unsign.into_any())}
            </div>
        </section>
    }
}

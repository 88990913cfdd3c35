//! The form of a member.

use crate::api::pools::SaveMember;
use crate::components::field::{Refusal, SelectField, TextField, TickField};
use crate::form::{FormState, ticked, use_draft};
use crate::forms::MemberForm;
use crate::guard::guard_unsaved;
use crate::rpc::{SendForm, Sending};
use leptos::prelude::*;

/// Fields that show their own problem.
const FIELDS: &[&str] = &["ipAddress", "port", "weight", "priority", "region", "zone", "asn"];

/// Continents as the form offers them.
const CONTINENTS: [(&str, &str); 8] = [
    ("", "Not stated"),
    ("AF", "Africa"),
    ("AN", "Antarctica"),
    ("AS", "Asia"),
    ("EU", "Europe"),
    ("NA", "North America"),
    ("OC", "Oceania"),
    ("SA", "South America"),
];

/// The panel with the form, for a new member or a stored one.
#[component]
pub fn MemberEditor(form: MemberForm, cancel: String) -> impl IntoView {
    let (form, error) = match use_draft::<MemberForm>().filter(|draft| draft.form.member == form.member) {
        Some(draft) => (draft.form, draft.error),
        None => (form, None),
    };
    let action = Sending::to::<SaveMember>();
    let state = FormState::new::<MemberForm>(error);
    let (typed, left) = state.listeners::<MemberForm>();
    state.follow(move || action.answer.get());
    guard_unsaved(state.dirty);
    let heading = if form.member.is_empty() {
        "New member"
    } else {
        "Edit member"
    };
    let region = RwSignal::new(form.region.clone());
    let facts = form.clone();
    // Geo IP compares with ISO codes; anything else is allowed, and never a client's country.
    let odd_region = move || {
        let region = region.read();
        let code = region.len() == 2 && region.bytes().all(|b| b.is_ascii_uppercase());
        (!region.is_empty() && !code).then_some(
            "Not a two-letter country code such as DE: Geo IP will not match it. Fine for signal zones and map files.",
        )
    };
    view! {
        <section class="panel" aria-labelledby="member-form">
            <header class="panel-head">
                <h2 id="member-form">{heading}</h2>
            </header>
            <SendForm
                to=action
                attr:class="form"
                attr:novalidate=true
                on:input=move |event| {
                    if event_target::<web_sys::Element>(&event).id() == "member-region" {
                        region.set(event_target_value(&event));
                    }
                    typed(event);
                }
                on:change=left
            >
                <input type="hidden" name="form[pool]" value=form.pool />
                <input type="hidden" name="form[revision]" value=form.revision />
                <input type="hidden" name="form[member]" value=form.member />
                <input type="hidden" name="form[admin_state]" value=form.admin_state />
                <Refusal state fields=FIELDS />
                <div class="form-grid">
                    <TextField
                        state
                        name="ip_address"
                        label="Address or host name"
                        value=form.ip_address
                        required=true
                        mono=true
                        hint="IPv4, IPv6 or a name such as lb.example.net; what clients get as the answer. A pool is all addresses or all names"
                    />
                    <TextField
                        state
                        name="port"
                        label="Port"
                        value=form.port
                        required=true
                        number=true
                        hint="What the health check connects to"
                    />
                    <TextField
                        state
                        name="weight"
                        label="Weight"
                        value=form.weight
                        number=true
                        placeholder="1"
                        hint="Share in weighted choices; 0 is never while another can answer"
                    />
                    <TextField
                        state
                        name="priority"
                        label="Priority"
                        value=form.priority
                        number=true
                        placeholder="0"
                        hint="Failover takes the lowest; 0 comes last"
                    />
                    <div>
                        <TextField
                            state
                            name="region"
                            label="Region"
                            value=form.region
                            placeholder="unknown"
                            hint="Country code for Geo IP: DE, US, JP"
                        />
                        <p class="doubt" hidden=move || odd_region().is_none()>
                            {odd_region}
                        </p>
                    </div>
                    <TextField
                        state
                        name="zone"
                        label="Signal zone"
                        value=form.zone
                        placeholder="the region"
                        hint="Zone of the signal table, when it is not the region"
                    />
                    <TextField
                        state
                        name="asn"
                        label="AS number"
                        value=form.asn
                        number=true
                        placeholder="looked up"
                        hint="For the ASN filter, when the address does not tell"
                    />
                    <TickField
                        state
                        name="enabled"
                        label="Enabled"
                        value=ticked(&form.enabled)
                        hint="A disabled member is as good as absent"
                    />
                </div>
                <Facts state form=facts />
                <div class="form-end">
                    <button class="button primary" type="submit" disabled=move || action.pending.get()>
                        "Save member"
                    </button>
                    <a class="button" href=cancel>
                        "Cancel"
                    </a>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}

/// What some steps of filter chains steer by. Folded while there is nothing in it.
#[component]
fn Facts(state: FormState, form: MemberForm) -> impl IntoView {
    let filled = [
        &form.geo_continent,
        &form.geo_country,
        &form.geo_subdivision,
        &form.geo_lat,
        &form.geo_lon,
        &form.fence_asns,
        &form.fence_prefixes,
        &form.load_watermarks_low,
        &form.load_watermarks_high,
    ];
    let open = filled.iter().any(|text| !text.is_empty());
    let continents = CONTINENTS.map(|(code, name)| (code.to_owned(), name.to_owned()));
    view! {
        <details class="more" open=open>
            <summary>"Facts for filter chains: place, fences, load"</summary>
            <div class="form-grid">
                <SelectField
                    state
                    name="geo_continent"
                    label="Continent"
                    value=form.geo_continent
                    choices=continents.to_vec()
                    hint="For Geo Continent"
                />
                <TextField
                    state
                    name="geo_country"
                    label="Countries"
                    value=form.geo_country
                    mono=true
                    placeholder="the region"
                    hint="Served by Geo IP beside the region: DE, AT, CH"
                />
                <TextField
                    state
                    name="geo_subdivision"
                    label="Subdivision"
                    value=form.geo_subdivision
                    mono=true
                    hint="For Geo Subdivision: US-CA"
                />
                <TextField
                    state
                    name="geo_lat"
                    label="Latitude"
                    value=form.geo_lat
                    mono=true
                    hint="Degrees, for Geo Nearest: 52.52"
                />
                <TextField
                    state
                    name="geo_lon"
                    label="Longitude"
                    value=form.geo_lon
                    mono=true
                    hint="Degrees; west is negative: -74.006"
                />
                <TextField
                    state
                    name="fence_asns"
                    label="Fence: AS numbers"
                    value=form.fence_asns
                    mono=true
                    placeholder="for everybody"
                    hint="With ASN Fence, only clients of these networks: 64500, 64501"
                />
                <TextField
                    state
                    name="fence_prefixes"
                    label="Fence: prefixes"
                    value=form.fence_prefixes
                    mono=true
                    placeholder="for everybody"
                    hint="With Prefix Fence, only these clients: 198.51.100.0/24"
                />
                <TextField
                    state
                    name="load_watermarks_low"
                    label="Load, low watermark"
                    value=form.load_watermarks_low
                    mono=true
                    hint="Up to this load, Shed Load leaves the member in"
                />
                <TextField
                    state
                    name="load_watermarks_high"
                    label="Load, high watermark"
                    value=form.load_watermarks_high
                    mono=true
                    hint="From this load on it leaves the member out"
                />
            </div>
        </details>
    }
    .into_any()
}

//! The palette below the chain: every filter with class, tier and one line of help.

use super::class_name;
use super::rows::Rows;
use crate::components::Icon;
use gslb_api_types::model::{FILTERS, FilterClass, FilterInfo, MAX_STEPS, Tier};
use leptos::prelude::*;

/// Filters to add.
#[component]
pub fn Palette(rows: Rows, tier: Tier, changed: Callback<()>) -> impl IntoView {
    let group = move |class: FilterClass| {
        FILTERS
            .iter()
            .filter(|info| info.class == class)
            .map(|info| view! { <PaletteItem info rows tier changed /> })
            .collect_view()
    };
    view! {
        <div class="palette">
            <section aria-labelledby="palette-narrowing">
                <h4 id="palette-narrowing">"Narrow or reorder"</h4>
                <ul>
                    {group(FilterClass::Narrowing)} <li>
                        <div class="palette-item locked">
                            <span class="palette-title">
                                <Icon name="lock" />
                                "Script"
                                <span class="tag">"enterprise"</span>
                            </span>
                            <span class="hint">
                                "Starlark steps of your own. Not in this build yet."
                            </span>
                        </div>
                    </li>
                </ul>
            </section>
            <section aria-labelledby="palette-selecting">
                <h4 id="palette-selecting">"Select, and end the chain"</h4>
                <ul>{group(FilterClass::Selecting)}</ul>
            </section>
        </div>
    }
    .into_any()
}

#[component]
fn PaletteItem(info: &'static FilterInfo, rows: Rows, tier: Tier, changed: Callback<()>) -> impl IntoView {
    let needs = info.tier.max(Tier::Pro);
    if needs > tier {
        return view! {
            <li>
                <div class="palette-item locked" data-class=class_name(info.class)>
                    <span class="palette-title">
                        <Icon name="lock" />
                        {info.title}
                        <span class="tag tag-locked">{format!("needs {needs}")}</span>
                    </span>
                    <span class="hint">{info.help}</span>
                </div>
            </li>
        }
        .into_any();
    }
    let full = move || rows.len() >= MAX_STEPS;
    view! {
        <li>
            <button
                type="submit"
                class="palette-item"
                data-class=class_name(info.class)
                name="form[op]"
                value=format!("add:{}", info.name)
                disabled=full
                on:click=move |event| {
                    event.prevent_default();
                    rows.add(info.name);
                    changed.run(());
                }
            >
                <span class="palette-title">
                    <Icon name="plus" />
                    <span class="unseen">"Add "</span>
                    {info.title}
                    <span class="tag">{needs.to_string()}</span>
                </span>
                <span class="hint">{info.help}</span>
            </button>
        </li>
    }
    .into_any()
}

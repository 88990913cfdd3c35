//! The palette below the chain: every filter with class, tier and one line of help.

use super::class_name;
use super::rows::Rows;
use crate::components::Icon;
use gslb_api_types::model::{FILTERS, FilterClass, FilterInfo, FilterStep, MAX_STEPS, Permission, Tier};
use leptos::prelude::*;

/// Filters to add.
#[component]
pub fn Palette(rows: Rows, tier: Tier, may_script: bool, changed: Callback<()>) -> impl IntoView {
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
                    {group(FilterClass::Narrowing)} <ScriptItem rows tier may_script changed />
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
    let add = Callback::new(move |()| {
        if let Ok(step) = FilterStep::parse("step", &info.entry()) {
            rows.add(&step);
            changed.run(());
        }
    });
    let lock = (needs > tier).then(|| format!("needs {needs}"));
    item(
        rows,
        info.entry(),
        info.title,
        info.help,
        info.class,
        needs,
        lock,
        add,
    )
}

/// The step that everybody writes for themselves.
#[component]
fn ScriptItem(rows: Rows, tier: Tier, may_script: bool, changed: Callback<()>) -> impl IntoView {
    let needs = Tier::Enterprise;
    let add = Callback::new(move |()| {
        rows.add_script();
        changed.run(());
    });
    let lock = if needs > tier {
        Some(format!("needs {needs}"))
    } else if may_script {
        None
    } else {
        Some(format!("needs {}", Permission::ScriptsWrite.as_str()))
    };
    let help = "Keeps and orders members as a Starlark script of yours says.";
    item(
        rows,
        "script".to_owned(),
        "Script",
        help,
        FilterClass::Narrowing,
        needs,
        lock,
        add,
    )
}

/// One entry: a button, or what it would need.
#[expect(
    clippy::too_many_arguments,
    reason = "one entry has that many parts, and two callers"
)]
fn item(
    rows: Rows,
    entry: String,
    title: &'static str,
    help: &'static str,
    class: FilterClass,
    needs: Tier,
    lock: Option<String>,
    add: Callback<()>,
) -> AnyView {
    if let Some(lock) = lock {
        return view! {
            <li>
                <div class="palette-item locked" data-class=class_name(class)>
                    <span class="palette-title">
                        <Icon name="lock" />
                        {title}
                        <span class="tag tag-locked">{lock}</span>
                    </span>
                    <span class="hint">{help}</span>
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
                data-class=class_name(class)
                name="form[op]"
                value=format!("add:{entry}")
                disabled=full
                on:click=move |event| {
                    event.prevent_default();
                    add.run(());
                }
            >
                <span class="palette-title">
                    <Icon name="plus" />
                    <span class="unseen">"Add "</span>
                    {title}
                    <span class="tag">{needs.to_string()}</span>
                </span>
                <span class="hint">{help}</span>
            </button>
        </li>
    }
    .into_any()
}

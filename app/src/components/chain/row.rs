//! One step in the builder: grip, what it does, what is doubtful, buttons.

use super::argument::{SCRIPT, ScriptEditor, split};
use super::class_name;
use super::drag::Drag;
use super::rows::{Row, Rows, tier_of};
use crate::components::Icon;
use crate::components::text;
use crate::form::FormState;
use gslb_api_types::model::{FilterName, FilterStep, Tier, Warning};
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

/// Puts the focus back on a control of a row that has just moved: moving takes it away.
fn focus_later(id: String) {
    request_animation_frame(move || {
        let element = document().get_element_by_id(&id);
        if let Some(element) = element.and_then(|e| e.dyn_into::<web_sys::HtmlElement>().ok()) {
            // An element that cannot take the focus leaves it where it is.
            let _ = element.focus();
        }
    });
}

/// One step.
#[component]
pub fn StepRow(
    row: Row,
    rows: Rows,
    drag: Drag,
    state: FormState,
    warnings: Memo<Vec<Warning>>,
    tier: Tier,
    /// Whether scripts may be written.
    may_script: bool,
    /// Called after each change.
    changed: Callback<()>,
) -> impl IntoView {
    let Row { key, step } = row;
    let parsed = FilterStep::parse("step", &step).ok();
    let info = parsed.as_ref().and_then(FilterStep::info);
    // The number of answers changes in the row: the title is without it.
    let count = match parsed {
        Some(FilterStep::SelectFirst(count)) => Some(count),
        _ => None,
    };
    let title = info.map_or_else(|| text::step_title(&step), |info| info.title.to_owned());
    let needs = tier_of(&step);
    let locked = needs > tier;
    let body = split(&step)
        .filter(|(name, _)| *name == SCRIPT)
        .map(|(_, body)| body.to_owned());
    let class = info.map_or("narrowing", |info| class_name(info.class));
    // A script has its text in the editor.
    let value = if body.is_some() { SCRIPT.to_owned() } else { step };
    let at = Memo::new(move |_| rows.position(key).unwrap_or_default());
    let name = move || format!("form[filter_chain][{}]", at.get());
    let field = move || format!("filterChain[{}]", at.get());
    let warning = move || {
        let field = field();
        warnings.with(|list| list.iter().find(|w| w.field == field).map(|w| w.message.clone()))
    };
    let problem = move || state.message(&field());
    let nudge = move |down: bool, id: String| {
        if rows.nudge(key, down) {
            changed.run(());
        }
        focus_later(id);
    };
    let grip = format!("grip-{key}");
    let (grip_key, grip_pointer) = (grip.clone(), grip.clone());
    let (up_id, down_id) = (format!("up-{key}"), format!("down-{key}"));
    let (up_focus, down_focus) = (up_id.clone(), down_id.clone());
    let grip_label = {
        let title = title.clone();
        move || {
            format!(
                "{title}, step {} of {}. Arrow keys move it.",
                at.get() + 1,
                rows.len()
            )
        }
    };
    view! {
        <li
            class="step"
            class:held=move || drag.holds(key)
            class:locked=locked
            data-class=class
        >
            {count.is_none().then(|| view! { <input type="hidden" name=name value=value /> })}
            <button
                type="button"
                class="grip only-live"
                id=grip
                aria-label=grip_label
                on:pointerdown=move |event| {
                    drag.take(key, &event);
                    focus_later(grip_pointer.clone());
                }
                on:keydown=move |event| {
                    match event.key().as_str() {
                        "ArrowUp" | "ArrowLeft" => {
                            event.prevent_default();
                            nudge(false, grip_key.clone());
                        }
                        "ArrowDown" | "ArrowRight" => {
                            event.prevent_default();
                            nudge(true, grip_key.clone());
                        }
                        "Escape" => drag.cancel(),
                        _ => {}
                    }
                }
            >
                <span class="grip-dots" aria-hidden="true"></span>
            </button>
            <span class="step-number num">{move || at.get() + 1}</span>
            <div class="step-text">
                <p class="step-title">
                    {title.clone()}
                    <span class="tag" data-class=class>{class}</span>
                    {locked
                        .then(|| {
                            view! {
                                <span class="tag tag-locked">
                                    <Icon name="lock" />
                                    {format!("needs {needs}")}
                                </span>
                            }
                        })}
                </p>
                {info.map(|i| view! { <p class="hint">{i.help}</p> })}
                {body
                    .map(|body| {
                        let locked = locked || !may_script;
                        let problem = Signal::derive(problem);
                        view! { <ScriptEditor rows key at body locked problem changed /> }
                    })}
                {count.map(|count| view! { <AnswerCount row=key rows count name changed /> })}
                {move || warning().map(|text| view! { <p class="doubt">{text}</p> })}
                {move || problem().map(|text| view! { <p class="problem">{text}</p> })}
            </div>
            {(!locked)
                .then(|| {
                    view! {
                        <div class="step-buttons">
                            <button
                                type="submit"
                                class="step-button"
                                id=up_id
                                name="form[op]"
                                value=move || format!("up:{}", at.get())
                                aria-label=format!("Move {title} up")
                                aria-disabled=move || (at.get() == 0).then_some("true")
                                on:click=move |event| {
                                    event.prevent_default();
                                    nudge(false, up_focus.clone());
                                }
                            >
                                "↑"
                            </button>
                            <button
                                type="submit"
                                class="step-button"
                                id=down_id
                                name="form[op]"
                                value=move || format!("down:{}", at.get())
                                aria-label=format!("Move {title} down")
                                aria-disabled=move || (at.get() + 1 == rows.len()).then_some("true")
                                on:click=move |event| {
                                    event.prevent_default();
                                    nudge(true, down_focus.clone());
                                }
                            >
                                "↓"
                            </button>
                            <button
                                type="submit"
                                class="step-button step-remove"
                                name="form[op]"
                                value=move || format!("remove:{}", at.get())
                                aria-label=format!("Remove {title}")
                                on:click=move |event| {
                                    event.prevent_default();
                                    rows.remove(key);
                                    changed.run(());
                                    focus_later("chain-steps".to_owned());
                                }
                            >
                                "✕"
                            </button>
                        </div>
                    }
                })}
        </li>
    }
    .into_any()
}

/// How many answers `select-first` gives. The choice is the chain entry itself, so that it works without JavaScript.
#[component]
fn AnswerCount(
    row: u32,
    rows: Rows,
    count: u8,
    /// Name of the entry in the form.
    name: impl Fn() -> String + Send + Sync + 'static,
    changed: Callback<()>,
) -> impl IntoView {
    let parameter = FilterName::SelectFirst.info().parameter;
    let (min, max) = parameter.map_or((1, 1), |p| (p.min, p.max));
    view! {
        <select
            class="step-count"
            name=name
            aria-label="Answers of Select First"
            on:change=move |event| {
                if let Ok(step) = FilterStep::parse("step", &event_target_value(&event)) {
                    rows.set_step(row, step.to_string());
                    changed.run(());
                }
            }
        >
            {(min..=max)
                .map(|n| {
                    let text = text::plural(n.into(), "answer", "answers");
                    view! {
                        <option value=FilterStep::SelectFirst(n).to_string() selected=n == count>
                            {text}
                        </option>
                    }
                })
                .collect_view()}
        </select>
    }
}

//! What a step says after its colon: the body of a script, the number of `select-first`. The form sends it in a field of
//! its own, so that it can be edited without JavaScript too.

use super::rows::Rows;
use super::starlark::{GIVEN, line_of, numbers, paint};
use leptos::prelude::*;
use std::collections::BTreeMap;

/// What entries with a script begin with.
pub const SCRIPT: &str = "script:";
/// A new script step: it changes nothing, and shows how to name members.
pub const NEW_SCRIPT: &str =
    "script:# The addresses that may answer, best first.\nresult = [c[\"ip\"] for c in candidates]\n";

/// An entry that takes something: its name with the colon, and what follows.
#[must_use]
pub fn split(step: &str) -> Option<(&str, &str)> {
    let colon = step.find(':')?;
    step.split_at_checked(colon + 1)
}

/// The chain with what was written into the fields beside it, by position. Browsers send lines that end with CR LF.
#[must_use]
pub fn merge(chain: &[String], arguments: &BTreeMap<String, String>) -> Vec<String> {
    let entry = |(index, step): (usize, &String)| match (split(step), arguments.get(&format!("at{index}"))) {
        (Some((name, _)), Some(argument)) if name == SCRIPT => {
            format!("{name}{}", argument.replace("\r\n", "\n"))
        }
        (Some((name, _)), Some(argument)) => format!("{name}{}", argument.trim()),
        _ => step.clone(),
    };
    chain.iter().enumerate().map(entry).collect()
}

/// The editor of a script: a plain field without JavaScript; else its text is drawn in colours below a field that lets them
/// through, with numbered lines, in one frame that scrolls.
#[component]
pub fn ScriptEditor(
    rows: Rows,
    key: u32,
    at: Memo<usize>,
    body: String,
    /// Shown, and not to be changed.
    locked: bool,
    /// What is wrong with it.
    problem: Signal<Option<String>>,
    changed: Callback<()>,
) -> impl IntoView {
    let id = format!("script-{key}");
    let hint = format!("script-{key}-hint");
    let lines = body.lines().count().clamp(8, 24).to_string();
    let text = RwSignal::new(body.clone());
    let bad = Memo::new(move |_| problem.read().as_deref().and_then(line_of));
    let given = GIVEN.map(|(name, what)| {
        view! {
            <div>
                <dt>
                    <code>{name}</code>
                </dt>
                <dd>{what}</dd>
            </div>
        }
    });
    view! {
        <div class="script">
            <label class="script-label" for=id.clone()>
                "Starlark"
            </label>
            <div class="script-frame">
                <pre class="script-lines" aria-hidden="true" inner_html=move || numbers(&text.read(), bad.get())></pre>
                <div class="script-layers">
                    <pre class="script-paint" aria-hidden="true" inner_html=move || paint(&text.read(), bad.get())></pre>
                    <textarea
                        class="mono"
                        id=id
                        name=move || format!("form[arguments][at{}]", at.get())
                        rows=lines
                        spellcheck="false"
                        autocomplete="off"
                        autocapitalize="off"
                        wrap="off"
                        readonly=locked
                        aria-invalid=move || problem.read().is_some().then_some("true")
                        aria-describedby=hint.clone()
                        on:input=move |event| {
                            let value = event_target_value(&event);
                            rows.set_step(key, format!("{SCRIPT}{value}"));
                            text.set(value);
                            changed.run(());
                        }
                    >
                        {body}
                    </textarea>
                </div>
            </div>
            <p class="hint" id=hint>
                "An error, or a result that names nobody, leaves the members as they are."
            </p>
            <details class="script-given">
                <summary>"What a script knows"</summary>
                <dl>{given.collect_view()}</dl>
                <p class="hint">
                    "Starlark is a small Python: if and for, functions, lists and dicts; no files, no clock, no while."
                </p>
            </details>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_beside_the_chain_goes_into_it() {
        let chain = ["geo-ip", "script:", "script:result = []"].map(str::to_owned);
        let arguments = [
            ("at0", "ignored"),
            ("at1", "a = 1\r\nresult = []"),
            ("at7", "nowhere"),
        ];
        let arguments = arguments.map(|(at, text)| (at.to_owned(), text.to_owned()));
        assert_eq!(
            merge(&chain, &BTreeMap::from(arguments)),
            ["geo-ip", "script:a = 1\nresult = []", "script:result = []"]
        );
    }
}

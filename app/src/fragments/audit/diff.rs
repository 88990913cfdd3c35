//! What a change did to a document, field by field.

use leptos::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

/// Longest value that is shown whole.
const LONG: usize = 160;

/// Most fields that are shown of one change: a pool may have some thousand.
const MOST: usize = 40;

/// Leaves of a document by their path.
fn leaves(prefix: &str, value: &Value, out: &mut BTreeMap<String, String>) {
    let join = |name: &str| {
        if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}.{name}")
        }
    };
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                leaves(&join(name), inner, out);
            }
        }
        // A list of plain values reads better in one piece.
        Value::Array(list) if list.iter().any(|v| v.is_object() || v.is_array()) => {
            for (index, inner) in list.iter().enumerate() {
                leaves(&format!("{prefix}[{index}]"), inner, out);
            }
        }
        Value::String(text) => {
            out.insert(prefix.to_owned(), text.clone());
        }
        Value::Array(list) => {
            let parts: Vec<_> = list
                .iter()
                .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
                .collect();
            out.insert(prefix.to_owned(), parts.join(" → "));
        }
        other => {
            out.insert(prefix.to_owned(), other.to_string());
        }
    }
}

/// Field, value before, value after, of every field that differs.
fn changes(before: Option<&Value>, after: Option<&Value>) -> Vec<(String, Option<String>, Option<String>)> {
    let flat = |value: Option<&Value>| {
        let mut out = BTreeMap::new();
        if let Some(value) = value {
            leaves("", value, &mut out);
        }
        out
    };
    let (old, mut new) = (flat(before), flat(after));
    let mut list: Vec<_> = old
        .into_iter()
        .map(|(field, value)| {
            let after = new.remove(&field);
            (field, Some(value), after)
        })
        .collect();
    list.extend(new.into_iter().map(|(field, value)| (field, None, Some(value))));
    list.retain(|(_, before, after)| before != after);
    list.sort();
    list
}

/// The fields that a change changed.
#[component]
pub fn Diff(before: Option<Value>, after: Option<Value>) -> impl IntoView {
    let list = changes(before.as_ref(), after.as_ref());
    let updates = before.is_some() && after.is_some();
    if list.is_empty() {
        return view! { <span class="hint">"no field"</span> }.into_any();
    }
    let count = list.len();
    let names: Vec<_> = list.iter().take(3).map(|(field, ..)| field.clone()).collect();
    let summary = if updates {
        let more = if count > 3 {
            format!(" and {} more", count - 3)
        } else {
            String::new()
        };
        format!("{}{more}", names.join(", "))
    } else {
        format!("{count} fields")
    };
    let short = |text: String| {
        if text.chars().count() > LONG {
            format!("{}\u{2026}", text.chars().take(LONG).collect::<String>())
        } else {
            text
        }
    };
    let more = count.saturating_sub(MOST);
    view! {
        <details class="diff">
            <summary>{summary}</summary>
            <dl>
                {list
                    .into_iter()
                    .take(MOST)
                    .map(|(field, before, after)| {
                        view! {
                            <div>
                                <dt>{field}</dt>
                                <dd class="mono">
                                    {before.map(|text| view! { <del>{short(text)}</del> })} " "
                                    {after.map(|text| view! { <ins>{short(text)}</ins> })}
                                </dd>
                            </div>
                        }
                    })
                    .collect_view()}
            </dl>
            {(more > 0).then(|| view! { <p class="hint">{format!("and {more} more")}</p> })}
        </details>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_fields_that_differ_are_listed() {
        let before = json!({"ttl": 30, "filterChain": ["geo-ip"], "members": [{"weight": 1}]});
        let after =
            json!({"ttl": 30, "filterChain": ["geo-ip", "sticky"], "members": [{"weight": 2}], "new": "x"});
        let list = changes(Some(&before), Some(&after));
        let text = |t: &str| Some(t.to_owned());
        assert_eq!(
            list,
            [
                ("filterChain".to_owned(), text("geo-ip"), text("geo-ip → sticky")),
                ("members[0].weight".to_owned(), text("1"), text("2")),
                ("new".to_owned(), None, text("x")),
            ]
        );
    }
}

//! What two people have done to one thing: shown to the second, who loses nothing.

use gslb_api_types::ApiError;
use leptos::prelude::*;

/// A field: its label, what is stored now, and what was typed.
pub type Both = (&'static str, String, String);

/// Beside a form that was refused since what it is about has changed: what is there now against what was typed. The form
/// carries the revision of now, so that to send it again is to decide.
pub fn conflict(error: Option<&ApiError>, fields: Vec<Both>) -> Option<AnyView> {
    let is_stale = error.is_some_and(|error| error.code == "stale");
    if !is_stale {
        return None;
    }
    let rows = fields
        .into_iter()
        .filter(|(_, now, typed)| now.trim() != typed.trim())
        .map(|(label, now, typed)| {
            view! {
                <tr>
                    <th scope="row">{label}</th>
                    <td class="mono" data-label="Saved meanwhile">
                        {shown(now)}
                    </td>
                    <td class="mono" data-label="In your form">
                        {shown(typed)}
                    </td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let view = if rows.is_empty() {
        view! {
            <div role="alert">
                <p class="notice">"Somebody else has saved the same meanwhile: there is nothing left to save."</p>
            </div>
        }
            .into_any()
    } else {
        view! {
            <div role="alert">
            <div class="notice conflict">
                <p>
                    <b>"Somebody else has saved this meanwhile. "</b>
                    "What you typed is still in the form. Save again to put it in place of what is there now, or change it first."
                </p>
                <table class="stacking">
                    <thead>
                        <tr>
                            <th scope="col">"Field"</th>
                            <th scope="col">"Saved meanwhile"</th>
                            <th scope="col">"In your form"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            </div>
        }
        .into_any()
    };
    Some(view)
}

fn shown(text: String) -> AnyView {
    if text.trim().is_empty() {
        view! { <span class="hint">"nothing"</span> }.into_any()
    } else {
        view! { <span class="kept-lines">{text}</span> }.into_any()
    }
}

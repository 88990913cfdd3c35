//! Permissions to tick: those that one may give.

use super::field::Problem;
use crate::form::FormState;
use crate::forms::Ticks;
use gslb_api_types::model::Permission;
use leptos::prelude::*;

/// Boxes for `offered`, by resource.
#[component]
pub fn PermissionTicks(state: FormState, offered: Vec<Permission>, ticked: Ticks) -> impl IntoView {
    let problem_id = format!("{}-permissions-problem", state.scope);
    let message = Memo::new(move |_| {
        let whole = state.message("permissions");
        let part = || state.refused.with(|error| first_part(error.as_ref()?));
        whole.or_else(part)
    });
    let described = problem_id.clone();
    let tick = move |permission: Permission| {
        let text = permission.as_str();
        let id = format!("{}-{}", state.scope, text.replace(':', "-"));
        view! {
            <span class="field-tick">
                <input
                    id=id.clone()
                    name=format!("form[permissions][{text}]")
                    type="checkbox"
                    checked=ticked.contains_key(text)
                />
                <label for=id class="mono">
                    {text}
                </label>
            </span>
        }
    };
    let groups = by_resource(offered)
        .into_iter()
        .map(|group| {
            let ticks = group.into_iter().map(&tick).collect_view();
            view! { <div class="permission-group">{ticks}</div> }
        })
        .collect_view();
    view! {
        <fieldset
            class="field permissions"
            aria-describedby=move || message.read().is_some().then(|| described.clone())
        >
            <legend>"Permissions"</legend>
            <div class="permission-grid">
                {groups}
            </div>
            <Problem id=problem_id message />
        </fieldset>
    }
    .into_any()
}

/// Those of one resource together.
fn by_resource(offered: Vec<Permission>) -> Vec<Vec<Permission>> {
    let resource = |permission: &Permission| permission.as_str().split(':').next();
    let mut groups: Vec<Vec<Permission>> = Vec::new();
    for permission in offered {
        let same = |group: &&mut Vec<Permission>| {
            group
                .first()
                .is_some_and(|p| resource(p) == resource(&permission))
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(permission),
            None => groups.push(vec![permission]),
        }
    }
    groups
}

/// What the server says of one of them.
fn first_part(error: &gslb_api_types::ApiError) -> Option<String> {
    let detail = error
        .details
        .iter()
        .find(|detail| detail.field.starts_with("permissions["))?;
    Some(detail.message.clone())
}

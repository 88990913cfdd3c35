//! Filter chains: as a line in tables, and as the builder in the service form.

mod argument;
mod builder;
mod drag;
mod palette;
mod row;
mod rows;
mod starlark;
mod who_gets;

pub use argument::merge as merge_arguments;
pub use builder::RoutingField;
#[cfg(any(feature = "ssr", test))]
pub use rows::apply as apply_op;

use super::text;
use gslb_api_types::model::{FilterClass, FilterStep, Routing};
use leptos::prelude::*;

/// `Geo IP → Weighted Round Robin`, each step a chip whose form tells its class.
#[component]
pub fn ChainLine(steps: Vec<FilterStep>) -> impl IntoView {
    let chips = steps
        .into_iter()
        .enumerate()
        .map(|(index, step)| {
            let help = step.info().map_or("A script of your own.", |info| info.help);
            view! {
                {(index > 0).then(|| view! { <span class="chain-arrow">" → "</span> })}
                <span class="chip" data-class=class_name(step.class()) title=help>
                    {step.title()}
                </span>
            }
        })
        .collect_view();
    view! { <span class="chain-line">{chips}</span> }
}

/// The routing of a service as a line.
#[component]
pub fn RoutingLine(routing: Routing) -> impl IntoView {
    view! { <ChainLine steps=text::steps(&routing) /> }
}

/// `narrowing` or `selecting`.
#[must_use]
pub fn class_name(class: FilterClass) -> &'static str {
    match class {
        FilterClass::Narrowing => "narrowing",
        FilterClass::Selecting => "selecting",
    }
}

/// Entries of a list that people separate by commas, arrows, spaces or new lines.
#[must_use]
pub fn step_list(text: &str) -> Vec<String> {
    text.split(|c: char| c == ',' || c == '→' || c.is_whitespace())
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

//! What would change with a service as its form is: recent queries, answered as it is and as it would be.

use crate::components::trace::TraceView;
use gslb_api_types::{Preview, PreviewMove, PreviewShare, PreviewTrace};
use leptos::prelude::*;

/// Moves that are shown; the API tells more.
const MOVES: usize = 12;

fn percent(part: u32, whole: u32) -> f64 {
    f64::from(part) * 100.0 / f64::from(whole.max(1))
}

/// For beside the button that saves; empty when there is nothing to tell.
#[must_use]
pub fn verdict(preview: &Preview) -> String {
    let Preview { queries, differ, .. } = preview;
    match (queries, differ) {
        (0, _) => String::new(),
        (_, 0) => format!("No answer changes, of {queries} recent queries."),
        _ => format!(
            "{:.1} % of {queries} recent queries would get another answer.",
            percent(*differ, *queries)
        ),
    }
}

/// The whole of it.
#[must_use]
pub fn preview(preview: Preview) -> String {
    let body = if !preview.recording {
        view! {
            <p class="hint">
                "No recent queries are kept: the setting dns.recentQueries is 0. With some, this shows which answers the routing on this page changes, before you save it."
            </p>
        }
        .into_any()
    } else if preview.queries == 0 {
        view! {
            <p class="hint">
                "Nobody has asked for this service lately. Some of its queries are kept as they come, of their clients only the network. Ask for its name, and this shows which answers the routing on this page changes, before you save it."
            </p>
        }
        .into_any()
    } else {
        numbers(preview).into_any()
    };
    view! {
        <section class="impact" aria-labelledby="impact-title">
            <h3 id="impact-title">"What would change"</h3>
            {body}
        </section>
    }
    .into_any()
    .to_html()
}

fn numbers(preview: Preview) -> impl IntoView {
    let queries = preview.queries;
    let regions = (preview.regions.len() > 1).then(|| {
        view! {
            <details>
                <summary>"By region"</summary>
                {shares("Region", preview.regions.clone(), queries)}
            </details>
        }
    });
    let script = preview.script_time.map(|time| {
        let (p50, p99) = (time.p50_micros, time.p99_micros);
        view! {
            <p class="hint num">{format!("Scripts take {p50:.0} µs at the median, {p99:.0} µs at the 99th percentile.")}</p>
        }
    });
    let errors = (preview.script_errors > 0).then(|| {
        let failed = preview.script_errors;
        view! { <p class="gets-problem">{format!("A script fails for {failed} of them, and keeps all candidates.")}</p> }
    });
    let notes = preview
        .notes
        .iter()
        .map(|note| view! { <p class="hint">{note.clone()}</p> });
    view! {
        <p>{verdict(&preview)}</p>
        {shares("Member", preview.members.clone(), queries)}
        {regions}
        {(!preview.moves.is_empty()).then(|| moves(&preview))}
        {preview.traces.iter().cloned().map(proof).collect_view()}
        {script}
        {errors}
        {notes.collect_view()}
    }
}

/// A table with a chart in it.
fn shares(what: &'static str, list: Vec<PreviewShare>, queries: u32) -> impl IntoView {
    let rows = list.into_iter().map(|share| {
        let (before, after) = (percent(share.before, queries), percent(share.after, queries));
        let bar = |y: u8, class: &'static str, width: f64| {
            view! { <rect class=class x="0" y=y height="4" width=format!("{width:.1}") /> }
        };
        view! {
            <tr>
                <th scope="row">
                    <span class="mono">{share.name}</span>
                    {share.region.map(|region| view! { " " <span class="hint">{region}</span> })}
                    <svg viewBox="0 0 100 9" preserveAspectRatio="none" aria-hidden="true">
                        {bar(0, "impact-before", before)} {bar(5, "impact-after", after)}
                    </svg>
                </th>
                <td class="num">{format!("{before:.1} %")}</td>
                <td class="num">{format!("{after:.1} %")}</td>
            </tr>
        }
    });
    view! {
        <table class="impact-shares">
            <thead>
                <tr>
                    <th scope="col">{what}</th>
                    <th scope="col" class="num">
                        <span class="swatch impact-before" aria-hidden="true"></span>
                        "As saved"
                    </th>
                    <th scope="col" class="num">
                        <span class="swatch impact-after" aria-hidden="true"></span>
                        "As here"
                    </th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
}

fn moves(preview: &Preview) -> impl IntoView + use<> {
    let answer = |list: &[String]| {
        if list.is_empty() {
            "no address".to_owned()
        } else {
            list.join(", ")
        }
    };
    let rows = preview.moves.iter().take(MOVES).map(|one: &PreviewMove| {
        view! {
            <li>
                <span class="mono">{one.client.clone()}</span>
                " "
                <span class="hint">{one.country.clone()}</span>
                <b class="num" title="Queries">
                    {one.queries}
                </b>
                <span class="mono">{answer(&one.from)} " → " {answer(&one.to)}</span>
            </li>
        }
    });
    let rows = rows.collect_view();
    let hidden = preview.moves.len().saturating_sub(MOVES) + preview.more_moves as usize;
    view! {
        <details>
            <summary>"Which clients move"</summary>
            <ul class="impact-moves">{rows}</ul>
            {(hidden > 0).then(|| view! { <p class="hint">{format!("and {hidden} more")}</p> })}
        </details>
    }
}

fn proof(PreviewTrace { before, after }: PreviewTrace) -> impl IntoView {
    let client = after.client.effective.clone();
    view! {
        <details class="gets-trace">
            <summary>"Why " <span class="mono">{client}</span> " moves"</summary>
            <TraceView trace=before heading="As saved" />
            <TraceView trace=after heading="As here" />
        </details>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> Preview {
        Preview {
            recording: true,
            queries: 8,
            differ: 1,
            members: vec![PreviewShare {
                name: "192.0.2.1".to_owned(),
                region: Some("US".to_owned()),
                before: 8,
                after: 7,
            }],
            moves: vec![PreviewMove {
                client: "203.0.113.0/24".to_owned(),
                country: None,
                queries: 1,
                from: vec!["192.0.2.1".to_owned()],
                to: Vec::new(),
            }],
            ..Preview::default()
        }
    }

    #[test]
    fn shares_are_numbers_and_bars_of_the_same_length() {
        let html = preview(told());
        assert!(html.contains("12.5 % of 8 recent queries"), "{html}");
        assert!(
            html.contains("87.5 %") && html.contains("width=\"87.5\""),
            "{html}"
        );
        assert!(html.contains("no address"), "{html}");
    }

    #[test]
    fn what_is_missing_is_explained() {
        let off = preview(Preview::default());
        assert!(off.contains("dns.recentQueries"), "{off}");
        let quiet = Preview {
            recording: true,
            ..Preview::default()
        };
        assert_eq!(verdict(&quiet), "");
        assert!(preview(quiet).contains("Nobody has asked"));
        let same = Preview { differ: 0, ..told() };
        assert_eq!(verdict(&same), "No answer changes, of 8 recent queries.");
    }
}

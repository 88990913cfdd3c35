//! Share of each member in the answers of the last hour, as a chart in SVG.

use gslb_api_types::PoolView;
use gslb_api_types::model::MemberId;
use leptos::prelude::*;
use std::fmt::Write as _;

/// Drawing area in its own units; the style sheet stretches it.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 120.0;
/// Colours there are; more members share them.
const COLOURS: usize = 8;

/// Answers of members, minute by minute.
pub type Hour = Vec<(MemberId, Vec<u64>)>;

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// The chart; empty while no minute is over, or nobody has asked.
#[must_use]
pub fn chart(pool: &PoolView, hour: &Hour) -> String {
    let minutes = hour.iter().map(|(_, answers)| answers.len()).max().unwrap_or(0);
    let at = |answers: &[u64], minute: usize| answers.get(minute).copied().unwrap_or(0);
    let totals: Vec<u64> = (0..minutes)
        .map(|minute| hour.iter().map(|(_, answers)| at(answers, minute)).sum())
        .collect();
    let all: u64 = totals.iter().sum();
    if all == 0 {
        return String::new();
    }
    let width = WIDTH / 60.0;
    let left = WIDTH - width * minutes as f64;
    let mut ground = vec![0.0; minutes];
    let mut bands = Vec::new();
    let mut legend = Vec::new();
    for (place, (id, answers)) in hour.iter().enumerate() {
        let sum: u64 = answers.iter().sum();
        if sum == 0 {
            continue;
        }
        let mut path = String::new();
        for (minute, (total, low)) in totals.iter().zip(&mut ground).enumerate() {
            let part = share(at(answers, minute), *total);
            if part > 0.0 {
                let (x, y, high) = (
                    left + width * minute as f64,
                    HEIGHT * (1.0 - *low - part),
                    HEIGHT * part,
                );
                // Writing to a String cannot fail.
                let _ = write!(path, "M{x:.1} {y:.1}h{width:.1}v{high:.1}h-{width:.1}z");
            }
            *low += part;
        }
        let class = format!("share-{}", place % COLOURS);
        let name = pool
            .members
            .iter()
            .find(|member| member.id == *id)
            .map(|member| member.endpoint.to_string())
            .unwrap_or_default();
        let percent = format!("{:.0} %", share(sum, all) * 100.0);
        bands.push(view! { <path class=class.clone() d=path /> });
        legend.push(view! {
            <li>
                <span class=format!("swatch {class}") aria-hidden="true"></span>
                <span class="mono">{name}</span>
                <b class="num">{percent}</b>
            </li>
        });
    }
    view! {
        <figure class="share-chart">
            <svg
                viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                preserveAspectRatio="none"
                role="img"
                aria-label="Share of each member in the answers, minute by minute over the last hour; the list below has the whole hour"
            >
                {bands}
            </svg>
            <div class="rate-times" aria-hidden="true">
                <span>"1 h ago"</span>
                <span>"now"</span>
            </div>
            <ul class="legend">{legend}</ul>
        </figure>
    }
    .into_any()
    .to_html()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gslb_api_types::model::{MemberDraft, PoolDraft, PoolId, TenantId};

    #[test]
    fn members_are_stacked_to_the_whole_and_nothing_is_drawn_of_nothing() {
        let tenant = TenantId::DEFAULT;
        let id = MemberId(tenant.0);
        let draft = PoolDraft {
            name: Some("web".to_owned()),
            members: Some(vec![MemberDraft {
                ip_address: Some("192.0.2.1".to_owned()),
                port: Some(80),
                ..MemberDraft::default()
            }]),
            ..PoolDraft::default()
        };
        let pool = draft.validate(PoolId(tenant.0), tenant, || id).unwrap();
        let pool = PoolView::from(&pool);
        assert_eq!(chart(&pool, &vec![(id, vec![0, 0])]), "");
        let html = chart(&pool, &vec![(id, vec![0, 5])]);
        assert!(html.contains("M590.0 0.0h10.0v120.0h-10.0z"), "{html}");
        assert!(html.contains("100 %"), "{html}");
    }
}

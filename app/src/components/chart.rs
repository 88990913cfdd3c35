//! Charts drawn by hand as SVG: queries a second by outcome, and the round-trip times of recent probes.

use super::text;
use gslb_api_types::{ProbePoint, RatePoint};
use leptos::prelude::*;
use std::fmt::Write as _;

/// Seconds that the rate chart shows.
pub const SPAN: u64 = 300;
/// Drawing area in its own units; the style sheet stretches it.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 180.0;

/// One band of the rate chart: class, name, value of a point.
type Band = (&'static str, &'static str, fn(&RatePoint) -> u64);

/// Bands from the ground up.
const BANDS: [Band; 4] = [
    ("answered", "Answered", |p| p.answered),
    ("no-data", "No data", |p| p.no_data),
    ("missing", "No such name", |p| p.missing),
    ("refused", "Refused, errors", |p| p.refused),
];

/// A top of the scale that people read easily, and its half too: 2, 4 or 10 times a power of ten.
fn nice(top: u64) -> u64 {
    let mut unit = 1;
    loop {
        for step in [2, 4, 10] {
            if unit * step >= top.max(2) {
                return unit * step;
            }
        }
        unit *= 10;
    }
}

/// Outline of the band between two stacked values.
fn area(points: &[RatePoint], end: u64, top: f64, below: usize) -> String {
    let x = |at: u64| WIDTH - (end.saturating_sub(at)) as f64 / SPAN as f64 * WIDTH;
    let y = |value: u64| HEIGHT - value as f64 / top * HEIGHT;
    let stacked = |p: &RatePoint, bands: usize| {
        BANDS
            .iter()
            .take(bands)
            .map(|(_, _, value)| value(p))
            .sum::<u64>()
    };
    let mut path = String::new();
    for (index, point) in points.iter().enumerate() {
        let start = if index == 0 { 'M' } else { 'L' };
        // Writing to a String cannot fail.
        let _ = write!(
            path,
            "{start}{:.1} {:.1}",
            x(point.at),
            y(stacked(point, below + 1))
        );
    }
    for point in points.iter().rev() {
        let _ = write!(path, "L{:.1} {:.1}", x(point.at), y(stacked(point, below)));
    }
    if !path.is_empty() {
        path.push('Z');
    }
    path
}

/// Queries a second over the last minutes, stacked by outcome, with the numbers of the last second as its legend.
#[component]
pub fn RateChart(points: Signal<Vec<RatePoint>>) -> impl IntoView {
    let end = Memo::new(move |_| points.with(|list| list.last().map_or(0, |p| p.at)));
    let top = Memo::new(move |_| nice(points.with(|list| list.iter().map(|p| p.queries).max().unwrap_or(0))));
    let last = Memo::new(move |_| points.with(|list| list.last().copied().unwrap_or_default()));
    let summary = move || {
        let point = last.get();
        format!(
            "Queries a second over the last five minutes. Now {}: {} answered, {} without data, {} for names that do not exist, {} refused.",
            point.queries, point.answered, point.no_data, point.missing, point.refused
        )
    };
    view! {
        <figure class="rate-chart">
            <div class="rate-plot">
                <svg
                    viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                    preserveAspectRatio="none"
                    role="img"
                    aria-label=summary
                >
                    <g class="grid-lines">
                        <path d=format!("M0 0.5H{WIDTH}M0 {}H{WIDTH}", HEIGHT / 2.0) />
                        <path d=format!(
                            "M{} 0V{HEIGHT}M{} 0V{HEIGHT}M{} 0V{HEIGHT}M{} 0V{HEIGHT}",
                            WIDTH / 5.0,
                            WIDTH * 2.0 / 5.0,
                            WIDTH * 3.0 / 5.0,
                            WIDTH * 4.0 / 5.0,
                        ) />
                    </g>
                    {BANDS
                        .into_iter()
                        .enumerate()
                        .map(|(index, (class, _, _))| {
                            view! {
                                <path
                                    class=format!("band band-{class}")
                                    d=move || points.with(|list| area(list, end.get(), top.get() as f64, index))
                                />
                            }
                        })
                        .collect_view()}
                    <path class="ground-line" d=format!("M0 {HEIGHT}H{WIDTH}") />
                </svg>
                {move || {
                    points
                        .with(|list| list.iter().all(|p| p.queries == 0))
                        .then(|| view! { <p class="rate-none">"No queries in the last five minutes"</p> })
                }}
                <span class="scale scale-top">{move || text::count(top.get())}</span>
                <span class="scale scale-middle">{move || text::count(top.get() / 2)}</span>
            </div>
            <div class="rate-times" aria-hidden="true">
                <span>"5 min ago"</span>
                <span>"now"</span>
            </div>
            <ul class="legend">
                {BANDS
                    .into_iter()
                    .map(|(class, name, value)| {
                        view! {
                            <li>
                                <span class=format!("swatch band-{class}") aria-hidden="true"></span>
                                {name}
                                <b class="num">{move || text::count(value(&last.read()))}</b>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </figure>
    }
    .into_any()
}

/// Round-trip times of the last probes; a probe that failed is a mark from top to bottom.
#[component]
pub fn Sparkline(points: Vec<ProbePoint>) -> impl IntoView {
    const WIDE: f64 = 96.0;
    const HIGH: f64 = 22.0;
    let most = points
        .iter()
        .filter_map(|p| p.rtt_ms)
        .fold(0.0_f64, f64::max)
        .max(0.01);
    let step = WIDE / 59.0;
    let offset = 60usize.saturating_sub(points.len()) as f64;
    let mut line = String::new();
    let mut failed = String::new();
    let mut drawing = false;
    for (index, point) in points.iter().enumerate() {
        let x = (offset + index as f64) * step;
        match point.rtt_ms {
            Some(rtt) => {
                let y = HIGH - 2.0 - rtt / most * (HIGH - 4.0);
                let _ = write!(line, "{}{x:.1} {y:.1}", if drawing { 'L' } else { 'M' });
                drawing = true;
            }
            None => {
                let _ = write!(failed, "M{x:.1} 2V{}", HIGH - 2.0);
                drawing = false;
            }
        }
    }
    let failures = points.iter().filter(|p| p.rtt_ms.is_none()).count();
    let label = format!(
        "Last {} probes: at most {}, {failures} failed",
        points.len(),
        text::millis(most)
    );
    view! {
        <svg class="spark" viewBox=format!("0 0 {WIDE} {HIGH}") role="img" aria-label=label>
            <path class="spark-failed" d=failed />
            <path class="spark-line" d=line />
        </svg>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_ends_at_round_numbers() {
        assert_eq!([0, 3, 6, 21, 1999].map(nice), [2, 4, 10, 40, 2000]);
    }

    #[test]
    fn bands_are_stacked() {
        let points = [RatePoint {
            at: 300,
            queries: 10,
            answered: 6,
            no_data: 4,
            ..RatePoint::default()
        }];
        assert_eq!(area(&points, 300, 10.0, 0), "M600.0 72.0L600.0 180.0Z");
        assert_eq!(area(&points, 300, 10.0, 1), "M600.0 0.0L600.0 72.0Z");
    }
}

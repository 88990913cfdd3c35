//! Times: in UTC from the server, in the viewer's zone once the browser has the page, UTC always in the tooltip.

use super::text;
use crate::live::use_live;
use leptos::prelude::*;

/// A moment, `at` in Unix milliseconds.
#[component]
pub fn Moment(at: u64) -> impl IntoView {
    let utc = text::utc(at);
    let iso = format!("{}Z", utc.replace(' ', "T"));
    let title = format!("{utc} UTC");
    let shown = RwSignal::new(title.clone());
    // The zone is known only to the browser: an effect never runs on the server.
    Effect::new(move |_| shown.set(local(at)));
    view! {
        <time class="moment" datetime=iso title=title>
            {shown}
        </time>
    }
    .into_any()
}

/// How long ago a moment was; kept true while the page is open.
#[component]
pub fn Ago(at: u64) -> impl IntoView {
    let utc = text::utc(at);
    let iso = format!("{}Z", utc.replace(' ', "T"));
    let title = format!("{utc} UTC");
    let shown = RwSignal::new(title.clone());
    let live = use_live();
    Effect::new(move |_| {
        live.clock.track();
        let age = (now_ms() - at as f64).max(0.0) / 1000.0;
        let text = if age < 5.0 {
            "just now".to_owned()
        } else {
            format!("{} ago", text::duration(age as u64))
        };
        if shown.with_untracked(|old| *old != text) {
            shown.set(text);
        }
    });
    view! {
        <time class="moment" datetime=iso title=title>
            {shown}
        </time>
    }
    .into_any()
}

/// The browser's clock, Unix milliseconds.
pub fn now_ms() -> f64 {
    js_sys::Date::now()
}

/// Puts the times of a part of the page that the server has written into the viewer's zone.
#[cfg(not(feature = "ssr"))]
pub fn localise(part: &web_sys::Element) {
    let times = part.get_elements_by_tag_name("time");
    for time in (0..times.length()).filter_map(|index| times.item(index)) {
        let at = time
            .get_attribute("datetime")
            .map(|text| js_sys::Date::parse(&text));
        if let Some(at) = at.filter(|at| at.is_finite()) {
            time.set_text_content(Some(&local(at as u64)));
        }
    }
}

/// `2026-11-30 08:55:19` in the browser's zone.
fn local(at: u64) -> String {
    let date = js_sys::Date::new(&(at as f64).into());
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        date.get_full_year(),
        date.get_month() + 1,
        date.get_date(),
        date.get_hours(),
        date.get_minutes(),
        date.get_seconds()
    )
}

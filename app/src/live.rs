//! What happens, as it happens: one event stream a browser, shared by its tabs.
//!
//! The tab that holds the Web Lock `gslb-live` keeps the `EventSource` and passes what comes to the others over a
//! `BroadcastChannel`; when it closes, the browser gives the lock to the next one. Six connections to one host is all
//! that HTTP/1.1 browsers allow, so a stream a tab would starve the seventh.

use crate::rpc::{Call, Function, call, decode, encode};
use gslb_api_types::RatePoint;
use leptos::prelude::*;
use std::rc::Rc;

#[cfg(feature = "hydrate")]
mod stream;

/// The live signals, in the context of every page.
#[derive(Clone, Copy)]
pub struct Live {
    /// Rate of the last second.
    pub rate: RwSignal<Option<RatePoint>>,
    /// Grows when live values should be asked for again: after events, and slowly while the page is seen.
    pub pulse: RwSignal<u64>,
    /// Grows every ten seconds, for texts such as "3 min ago".
    pub clock: RwSignal<u64>,
    /// Forms that are on their way. What they do may be the end of what the page shows, and asking for that meanwhile would
    /// be an error.
    pub sending: RwSignal<u32>,
    /// Since when the stream is cut, Unix milliseconds.
    pub cut: RwSignal<Option<u64>>,
}

/// Puts the signals into the context and, in the browser, opens the stream.
pub fn provide_live() {
    let live = Live {
        rate: RwSignal::new(None),
        pulse: RwSignal::new(0),
        clock: RwSignal::new(0),
        sending: RwSignal::new(0),
        cut: RwSignal::new(None),
    };
    provide_context(live);
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| stream::start(live));
}

/// The signals; ones that never change outside of the console's frame.
pub fn use_live() -> Live {
    use_context::<Live>().unwrap_or_else(|| Live {
        rate: RwSignal::new(None),
        pulse: RwSignal::new(0),
        clock: RwSignal::new(0),
        sending: RwSignal::new(0),
        cut: RwSignal::new(None),
    })
}

/// A value that the page came with and that is asked for again at each pulse; a failed attempt keeps the last one.
pub fn live_value<S: Function>(initial: S::Value, arguments: impl Fn() -> S + 'static) -> RwSignal<S::Value>
where
    S::Value: PartialEq,
{
    let value = RwSignal::new(initial);
    at_each_pulse(
        Box::new(move || call::<S>(encode(&arguments()))),
        Rc::new(move |text| {
            let Ok(new) = decode(text) else { return };
            // The page may have been left meanwhile.
            if value.try_with_untracked(|old| *old != new) == Some(true) {
                value.try_set(new);
            }
        }),
    );
    value
}

/// Asks at each pulse, and hands on what is answered.
pub(crate) fn at_each_pulse(ask: Box<dyn Fn() -> Call>, take: Rc<dyn Fn(&str)>) {
    let live = use_live();
    Effect::new(move |first: Option<()>| {
        live.pulse.track();
        if first.is_none() || live.sending.get_untracked() > 0 {
            return;
        }
        let (answer, take) = (ask(), Rc::clone(&take));
        leptos::task::spawn_local(async move {
            if let Ok(text) = answer.await {
                take(&text);
            }
        });
    });
}

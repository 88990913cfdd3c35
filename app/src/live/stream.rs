//! The browser's side of the event stream: leader, followers, timers.

use super::Live;
use crate::components::time::now_ms;
use gslb_api_types::{Event, RatePoint};
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{Closure, JsValue};
use web_sys::{BroadcastChannel, EventSource, MessageEvent};

/// Address of the stream.
const EVENTS: &str = "/api/v1/events";
/// Name of the lock and of the channel.
const SHARED: &str = "gslb-live";
/// Live values are asked for again after this long without an event, while the page is seen.
const SLOW: Duration = Duration::from_secs(5);
/// Without a word from the stream (a rate comes every second) for this long it counts as cut, milliseconds.
const SILENCE: f64 = 5_000.0;
/// Events that come together make one pulse.
const GATHER: Duration = Duration::from_millis(150);

/// What the browser calls with each message.
type Listener = Closure<dyn FnMut(MessageEvent)>;

struct Stream {
    live: Live,
    channel: Option<BroadcastChannel>,
    source: RefCell<Option<EventSource>>,
    heard: Cell<f64>,
    gathering: Cell<bool>,
    closed: Cell<bool>,
    /// Lets the lock go when the page leaves the console.
    release: RefCell<Option<js_sys::Function>>,
    /// Kept alive as long as the stream.
    closures: RefCell<Vec<Listener>>,
}

/// Opens the stream, or listens to the tab that has it, until the owner of the caller is cleaned up.
pub fn start(live: Live) {
    let channel = BroadcastChannel::new(SHARED).ok();
    let stream = Rc::new(Stream {
        live,
        channel,
        source: RefCell::new(None),
        heard: Cell::new(now_ms()),
        gathering: Cell::new(false),
        closed: Cell::new(false),
        release: RefCell::new(None),
        closures: RefCell::new(Vec::new()),
    });
    stream.follow();
    if !stream.ask_for_lead() {
        stream.lead();
    }
    let timers = [
        stream.every(Duration::from_secs(1), Stream::watch),
        stream.every(SLOW, Stream::slow),
        {
            stream.every(Duration::from_secs(10), |stream| {
                stream.live.clock.update(|n| *n += 1);
            })
        },
    ];
    live.clock.update(|n| *n += 1);
    let stream = SendWrapper::new(stream);
    on_cleanup(move || {
        for timer in timers.into_iter().flatten() {
            timer.clear();
        }
        stream.close();
    });
}

impl Stream {
    fn every(self: &Rc<Self>, pause: Duration, run: fn(&Rc<Self>)) -> Option<IntervalHandle> {
        let stream = Rc::clone(self);
        set_interval_with_handle(move || run(&stream), pause).ok()
    }

    /// Takes what the leader passes on.
    fn follow(self: &Rc<Self>) {
        let Some(channel) = &self.channel else { return };
        let stream = Rc::clone(self);
        let closure = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
            if let Some(text) = message.data().as_string() {
                let (kind, body) = text.split_once('\n').unwrap_or(("", ""));
                stream.take(kind, body);
            }
        });
        channel.set_onmessage(Some(closure.as_ref().unchecked_ref()));
        self.closures.borrow_mut().push(closure);
    }

    /// Queues for the lock; false where the browser has none (pages that came by plain HTTP from another host).
    fn ask_for_lead(self: &Rc<Self>) -> bool {
        let navigator: JsValue = window().navigator().into();
        let Ok(locks) = js_sys::Reflect::get(&navigator, &"locks".into()) else {
            return false;
        };
        let Ok(request) = js_sys::Reflect::get(&locks, &"request".into()) else {
            return false;
        };
        let Ok(request) = request.dyn_into::<js_sys::Function>() else {
            return false;
        };
        let stream = Rc::clone(self);
        // Holding the lock is a promise that stays open.
        let granted = Closure::once_into_js(move || {
            if stream.closed.get() {
                return js_sys::Promise::resolve(&JsValue::UNDEFINED);
            }
            stream.lead();
            js_sys::Promise::new(&mut |resolve, _| {
                *stream.release.borrow_mut() = Some(resolve);
            })
        });
        request.call2(&locks, &SHARED.into(), &granted).is_ok()
    }

    /// Opens the stream and passes everything on.
    fn lead(self: &Rc<Self>) {
        let Ok(source) = EventSource::new(EVENTS) else {
            return;
        };
        for kind in ["event", "rate"] {
            let stream = Rc::clone(self);
            let closure = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
                let Some(body) = message.data().as_string() else {
                    return;
                };
                if let Some(channel) = &stream.channel {
                    // A closed channel belongs to a page that is going away.
                    let _ = channel.post_message(&format!("{kind}\n{body}").into());
                }
                stream.take(kind, &body);
            });
            if source
                .add_event_listener_with_callback(kind, closure.as_ref().unchecked_ref())
                .is_ok()
            {
                self.closures.borrow_mut().push(closure);
            }
        }
        *self.source.borrow_mut() = Some(source);
    }

    /// One message, from the stream or the leader.
    fn take(self: &Rc<Self>, kind: &str, body: &str) {
        self.heard.set(now_ms());
        if self.live.cut.get_untracked().is_some() {
            self.live.cut.set(None);
            self.gather();
        }
        match kind {
            "rate" => {
                if let Ok(point) = serde_json::from_str::<RatePoint>(body) {
                    self.live.rate.set(Some(point));
                }
            }
            _ => {
                if serde_json::from_str::<Event>(body).is_ok() {
                    self.gather();
                }
            }
        }
    }

    fn gather(self: &Rc<Self>) {
        if self.gathering.replace(true) {
            return;
        }
        let stream = Rc::clone(self);
        set_timeout(
            move || {
                stream.gathering.set(false);
                if !stream.closed.get() {
                    stream.live.pulse.update(|n| *n += 1);
                }
            },
            GATHER,
        );
    }

    /// Says so when nothing comes any more.
    fn watch(self: &Rc<Self>) {
        if now_ms() - self.heard.get() > SILENCE && self.live.cut.get_untracked().is_none() {
            self.live.cut.set(Some(self.heard.get() as u64));
        }
    }

    fn slow(self: &Rc<Self>) {
        let hidden = document().hidden();
        if !hidden {
            self.live.pulse.update(|n| *n += 1);
        }
    }

    fn close(&self) {
        self.closed.set(true);
        if let Some(source) = self.source.borrow_mut().take() {
            source.close();
        }
        if let Some(channel) = &self.channel {
            channel.set_onmessage(None);
            channel.close();
        }
        if let Some(release) = self.release.borrow_mut().take() {
            // Resolving an open promise does not fail.
            let _ = release.call0(&JsValue::UNDEFINED);
        }
    }
}

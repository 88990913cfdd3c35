//! Forms that send themselves: by a request that leaves the page where it is, or as plain forms without JavaScript.

#[cfg(not(feature = "ssr"))]
use crate::form::Answer;
use crate::form::Sent;
#[cfg(not(feature = "ssr"))]
use crate::live::{Live, use_live};
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use web_sys::SubmitEvent;

/// How long the page that sent a form may still be there after the answer.
#[cfg(not(feature = "ssr"))]
const LEAVING: std::time::Duration = std::time::Duration::from_secs(1);

/// By then the page shows what the server said.
#[cfg(not(feature = "ssr"))]
const SHOWN: std::time::Duration = std::time::Duration::from_millis(30);

/// A form's way to its server function.
#[derive(Clone, Copy)]
pub struct Sending {
    path: &'static str,
    #[cfg(not(feature = "ssr"))]
    live: Live,
    /// What the server said to the last attempt.
    pub answer: RwSignal<Option<Sent>>,
    /// Whether an answer is awaited.
    pub pending: RwSignal<bool>,
}

impl Sending {
    /// To the function `S`.
    pub fn to<S: ServerFn>() -> Self {
        Self {
            path: S::PATH,
            #[cfg(not(feature = "ssr"))]
            live: use_live(),
            answer: RwSignal::new(None),
            pending: RwSignal::new(false),
        }
    }

    #[cfg(not(feature = "ssr"))]
    fn submit(self, event: &SubmitEvent) {
        use super::{decode, post};

        if event.default_prevented() {
            return;
        }
        let Some(body) = body(event) else {
            // The browser sends the form itself.
            return;
        };
        event.prevent_default();
        let form = form_of(event);
        let Live { sending, pulse, .. } = self.live;
        self.pending.set(true);
        sending.update(|n| *n += 1);
        leptos::task::spawn_local(async move {
            let answer = post(self.path, "application/x-www-form-urlencoded", body).await;
            let answer: Sent = answer.and_then(|text| decode(&text));
            // The page may have been left meanwhile.
            self.pending.try_set(false);
            let refused = !matches!(answer, Ok(Answer::Done));
            self.answer.try_set(Some(answer));
            if let Some(form) = form.filter(|_| refused) {
                set_timeout(move || reveal(&form), SHOWN);
            }
            // The answer may lead to another page, and this one stays until that has its data.
            let left = move || {
                sending.try_update(|n| *n = n.saturating_sub(1));
                pulse.try_update(|n| *n += 1);
            };
            set_timeout(left, LEAVING);
        });
    }

    #[cfg(feature = "ssr")]
    fn submit(self, _event: &SubmitEvent) {}
}

#[cfg(not(feature = "ssr"))]
fn form_of(event: &SubmitEvent) -> Option<web_sys::HtmlFormElement> {
    use wasm_bindgen::JsCast as _;

    event.target().and_then(|target| target.dyn_into().ok())
}

/// Leads to what is wrong: the first field that has a problem, else what is said about the form as a whole. Either may be
/// out of sight, and with the button that was pressed the focus may be gone.
#[cfg(not(feature = "ssr"))]
pub(crate) fn reveal(form: &web_sys::Element) {
    use wasm_bindgen::JsCast as _;

    let find = |selector| form.query_selector(selector).ok().flatten();
    let found = find("[aria-invalid=true]").or_else(|| {
        let notice = find("[role=alert] .notice")?;
        // Else nothing but controls takes the focus.
        notice.set_attribute("tabindex", "-1").ok()?;
        Some(notice)
    });
    if let Some(element) = found.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = element.focus();
    }
}

/// The fields as the browser would send them, the pressed button among them.
#[cfg(not(feature = "ssr"))]
fn body(event: &SubmitEvent) -> Option<String> {
    let form = form_of(event)?;
    let data = web_sys::FormData::new_with_form(&form).ok()?;
    if let Some(button) = event.submitter()
        && let Some(name) = button.get_attribute("name")
    {
        let value = button.get_attribute("value").unwrap_or_default();
        data.append_with_str(&name, &value).ok()?;
    }
    let pairs = web_sys::UrlSearchParams::new_with_str_sequence_sequence(&data).ok()?;
    pairs.to_string().as_string()
}

/// A form that goes to `to`.
#[component]
pub fn SendForm(to: Sending, children: Children) -> impl IntoView {
    view! {
        <form method="post" action=to.path on:submit=move |event| to.submit(&event)>
            {children()}
        </form>
    }
}

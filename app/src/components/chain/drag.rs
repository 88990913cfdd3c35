//! Dragging a row by pointer. The list holds the pointer, not the row: a row that moves in the document would lose it.

use super::rows::{Row, Rows};
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, PointerEvent};

/// A drag in progress.
#[derive(Clone, Copy)]
pub struct Drag {
    rows: Rows,
    list: NodeRef<html::Ol>,
    held: RwSignal<Option<u32>>,
    before: StoredValue<Vec<Row>>,
}

impl Drag {
    /// Drags rows of `list`.
    pub fn new(rows: Rows, list: NodeRef<html::Ol>) -> Self {
        Self {
            rows,
            list,
            held: RwSignal::new(None),
            before: StoredValue::new(Vec::new()),
        }
    }

    /// Whether a row is the one being dragged.
    pub fn holds(self, key: u32) -> bool {
        self.held.get() == Some(key)
    }

    /// Takes a row by its grip.
    pub fn take(self, key: u32, event: &PointerEvent) {
        if event.button() != 0 {
            return;
        }
        let Some(list) = self.list.get_untracked() else {
            return;
        };
        // Without capture the drag would end at the edge of the list, so there is none.
        if list.set_pointer_capture(event.pointer_id()).is_err() {
            return;
        }
        self.before.set_value(untrack(|| self.rows.get()));
        self.held.set(Some(key));
    }

    /// Follows the pointer: a row changes places with its neighbour when the pointer passes that one's middle.
    /// Returns whether something moved.
    pub fn follow(self, event: &PointerEvent) -> bool {
        let Some(key) = self.held.get_untracked() else {
            return false;
        };
        let Some(at) = untrack(|| self.rows.position(key)) else {
            return false;
        };
        let y = f64::from(event.client_y());
        let middle = |index: usize| {
            let list: HtmlElement = self.list.get_untracked()?.into();
            let row = list.children().item(u32::try_from(index).ok()?)?;
            let place = row.dyn_into::<HtmlElement>().ok()?.get_bounding_client_rect();
            Some(place.top() + place.height() / 2.0)
        };
        if at > 0 && middle(at - 1).is_some_and(|middle| y < middle) {
            return self.rows.move_to(key, at - 1);
        }
        if middle(at + 1).is_some_and(|middle| y > middle) {
            return self.rows.move_to(key, at + 1);
        }
        false
    }

    /// Lets the row go where it is.
    pub fn drop(self) {
        self.held.set(None);
    }

    /// Puts everything back.
    pub fn cancel(self) {
        if self.held.get_untracked().is_some() {
            self.held.set(None);
            self.rows.restore(self.before.get_value());
        }
    }
}

//! The rows of the builder as a value: steps with keys that stay when they move.

use super::argument::{NEW_SCRIPT, split};
use gslb_api_types::model::{FilterName, FilterStep, Routing, Tier, Warning};
use leptos::prelude::*;

/// One step in the builder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Stays with the step while it moves.
    pub key: u32,
    /// The chain entry.
    pub step: String,
}

/// The chain being built.
#[derive(Clone, Copy)]
pub struct Rows {
    list: RwSignal<Vec<Row>>,
    next: StoredValue<u32>,
    /// What a screen reader hears about the last move.
    pub said: RwSignal<String>,
}

impl Rows {
    /// Rows of a chain.
    pub fn new(chain: &[String]) -> Self {
        let list: Vec<_> = (0..)
            .zip(chain)
            .map(|(key, step)| Row {
                key,
                step: step.clone(),
            })
            .collect();
        Self {
            next: StoredValue::new(u32::try_from(list.len()).unwrap_or(u32::MAX)),
            list: RwSignal::new(list),
            said: RwSignal::new(String::new()),
        }
    }

    /// The rows in order.
    pub fn get(self) -> Vec<Row> {
        self.list.get()
    }

    /// Number of steps.
    pub fn len(self) -> usize {
        self.list.read().len()
    }

    /// The chain entries in order.
    pub fn chain(self) -> Vec<String> {
        self.list
            .with(|list| list.iter().map(|row| row.step.clone()).collect())
    }

    /// Position of a row.
    pub fn position(self, key: u32) -> Option<usize> {
        self.list.with(|list| list.iter().position(|row| row.key == key))
    }

    /// Adds a step at the end.
    pub fn add(self, step: &FilterStep) {
        self.push(step.to_string(), &step.title());
    }

    /// Adds a script at the end.
    pub fn add_script(self) {
        self.push(NEW_SCRIPT.to_owned(), "Script");
    }

    fn push(self, step: String, title: &str) {
        let key = self.next.get_value();
        self.next.set_value(key.wrapping_add(1));
        self.list.update(|list| list.push(Row { key, step }));
        self.said.set(format!(
            "{title} added as step {}",
            self.list.read_untracked().len()
        ));
    }

    /// Changes the text of a row; the row itself stays as it is on the page.
    pub fn set_step(self, key: u32, step: String) {
        self.list.update(|list| {
            if let Some(row) = list.iter_mut().find(|row| row.key == key) {
                row.step = step;
            }
        });
    }

    /// Takes a row out.
    pub fn remove(self, key: u32) {
        self.list.update(|list| list.retain(|row| row.key != key));
        self.said.set("Step removed".to_owned());
    }

    /// Moves a row to a place; false when it is there already or the place does not exist.
    pub fn move_to(self, key: u32, to: usize) -> bool {
        let Some(from) = self
            .list
            .with_untracked(|list| list.iter().position(|row| row.key == key))
        else {
            return false;
        };
        let count = self.list.read_untracked().len();
        if to >= count || to == from {
            return false;
        }
        self.list.update(|list| {
            let row = list.remove(from);
            list.insert(to, row);
        });
        self.said.set(format!("Moved to position {} of {count}", to + 1));
        true
    }

    /// Moves a row up or down by one.
    pub fn nudge(self, key: u32, down: bool) -> bool {
        let Some(at) = self
            .list
            .with_untracked(|list| list.iter().position(|row| row.key == key))
        else {
            return false;
        };
        let to = if down { Some(at + 1) } else { at.checked_sub(1) };
        to.is_some_and(|to| self.move_to(key, to))
    }

    /// Puts back an order that was there before.
    pub fn restore(self, rows: Vec<Row>) {
        self.list.set(rows);
    }

    /// What is doubtful about the chain, by row.
    pub fn warnings(self) -> Vec<Warning> {
        Routing::parse(None, &self.chain(), FilterName::RoundRobin)
            .map(|routing| routing.warnings())
            .unwrap_or_default()
    }
}

/// The tier that a step in a chain needs.
#[must_use]
pub fn tier_of(step: &str) -> Tier {
    let name = split(step).and_then(|(name, _)| FilterName::parse(name.trim_end_matches(':')));
    match (FilterStep::parse("step", step), name) {
        (Ok(step), _) => step.tier().max(Tier::Pro),
        // Not filled in yet.
        (Err(_), Some(name)) => name.info().tier.max(Tier::Pro),
        (Err(_), None) => Tier::Enterprise,
    }
}

/// Applies a button of the builder that was pressed without JavaScript: `up:1`, `down:0`, `remove:2`, `add:geo-ip`.
#[cfg(any(feature = "ssr", test))]
pub fn apply(chain: &mut Vec<String>, op: &str) {
    let (verb, what) = op.split_once(':').unwrap_or((op, ""));
    let index = what.parse::<usize>().ok().filter(|index| *index < chain.len());
    match (verb, index) {
        ("up", Some(index)) if index > 0 => chain.swap(index, index - 1),
        ("down", Some(index)) if index + 1 < chain.len() => chain.swap(index, index + 1),
        ("remove", Some(index)) => {
            chain.remove(index);
        }
        ("add", _) if what == "script" => chain.push(NEW_SCRIPT.to_owned()),
        ("add", _) if FilterStep::parse("step", what).is_ok() => chain.push(what.to_owned()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_change_the_chain() {
        let mut chain = vec!["geo-ip".to_owned(), "sticky".to_owned()];
        for op in [
            "up:1",
            "up:0",
            "down:1",
            "down:7",
            "add:random",
            "add:nonsense",
            "add:script",
            "remove:3",
            "add:select-first",
            "add:select-first:3",
            "remove:1",
            "remove:9",
            "",
        ] {
            apply(&mut chain, op);
        }
        assert_eq!(chain, ["sticky", "random", "select-first:3"]);
    }

    #[test]
    fn rows_keep_their_keys_when_they_move() {
        // As a page does: signals live in the arena of their owner.
        Owner::new().with(|| {
            let rows = Rows::new(&["geo-ip".to_owned(), "asn".to_owned(), "random".to_owned()]);
            assert!(rows.move_to(0, 2));
            assert!(!rows.nudge(0, true));
            assert!(rows.nudge(0, false));
            assert_eq!(rows.chain(), ["asn", "geo-ip", "random"]);
            assert_eq!(rows.position(0), Some(1));
            rows.add(&FilterStep::Builtin(FilterName::Sticky));
            assert_eq!(rows.position(3), Some(3));
            rows.set_step(3, "select-first:4".to_owned());
            assert_eq!(rows.chain(), ["asn", "geo-ip", "random", "select-first:4"]);
        });
    }
}

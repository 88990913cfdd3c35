//! Upper bounds of values.
//!
//! A [`Value`] is everything that a value may be: a number at most so large *or* a text at most so long *or* one of these
//! lists, and so on. Lists and dicts change in place and have several names, so they stand in tables, and values refer to
//! them.

use super::{Callable, Checked, NotProven};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Longest text and list, largest integer that the check goes on with.
const MAX_TEXT: f64 = 65_536.0;
const MAX_LENGTH: f64 = 4096.0;
const MAX_INT: f64 = 1e300;
/// Most lists, dicts and functions that one value may be.
const MAX_PLACES: usize = 16;
/// Most parts of a tuple, those of tuples in it included.
const MAX_PARTS: usize = 64;

/// Bound of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    /// Largest magnitude, if it is an integer.
    pub int: f64,
    /// It may be a float, of any magnitude: floats do not grow.
    pub float: bool,
}

impl Number {
    pub(super) const FLOAT: Self = Self {
        int: 0.0,
        float: true,
    };

    pub(super) const fn int(most: f64) -> Self {
        Self {
            int: most,
            float: false,
        }
    }

    fn join(self, other: Self) -> Self {
        Self {
            int: self.int.max(other.int),
            float: self.float || other.float,
        }
    }
}

/// What a value may be. Nothing of all this: no value comes here.
#[derive(Debug, Clone, Default)]
pub(super) struct Value<'a> {
    pub number: Option<Number>,
    /// Longest text, bytes.
    pub text: Option<f64>,
    /// None, True or False.
    pub other: bool,
    pub tuple: Option<Vec<Value<'a>>>,
    /// Places in the tables.
    pub lists: BTreeSet<usize>,
    pub maps: BTreeSet<usize>,
    pub callables: Vec<Callable<'a>>,
}

impl<'a> Value<'a> {
    pub(super) fn number(number: Number) -> Self {
        Self {
            number: Some(number),
            ..Self::default()
        }
    }

    pub(super) fn int(most: f64) -> Self {
        Self::number(Number::int(most))
    }

    pub(super) fn text(most: f64) -> Self {
        Self {
            text: Some(most),
            ..Self::default()
        }
    }

    pub(super) fn other() -> Self {
        Self {
            other: true,
            ..Self::default()
        }
    }

    pub(super) fn callable(callable: Callable<'a>) -> Self {
        Self {
            callables: vec![callable],
            ..Self::default()
        }
    }

    pub(super) fn tuple(parts: Vec<Value<'a>>) -> Self {
        Self {
            tuple: Some(parts),
            ..Self::default()
        }
    }

    /// Adds what `other` may be.
    pub(super) fn join(&mut self, other: &Self) {
        self.number = match (self.number, other.number) {
            (Some(a), Some(b)) => Some(a.join(b)),
            (a, b) => a.or(b),
        };
        self.text = match (self.text, other.text) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        self.other |= other.other;
        match (&mut self.tuple, &other.tuple) {
            (Some(mine), Some(theirs)) => {
                for (index, part) in theirs.iter().enumerate() {
                    match mine.get_mut(index) {
                        Some(known) => known.join(part),
                        None => mine.push(part.clone()),
                    }
                }
            }
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
        self.lists.extend(&other.lists);
        self.maps.extend(&other.maps);
        for callable in &other.callables {
            if !self.callables.iter().any(|known| known.same(callable)) {
                self.callables.push(callable.clone());
            }
        }
    }

    /// Refuses what has become too large to go on with.
    pub(super) fn check(&self) -> Checked<()> {
        let large = self
            .number
            .is_some_and(|number| number.int > MAX_INT || number.int.is_nan())
            || self
                .text
                .is_some_and(|length| length > MAX_TEXT || length.is_nan())
            || self.parts() > MAX_PARTS
            || self.lists.len() + self.maps.len() + self.callables.len() > MAX_PLACES;
        if large { Err(NotProven) } else { Ok(()) }
    }

    fn parts(&self) -> usize {
        let parts = self.tuple.iter().flatten();
        parts.map(|part| 1 + part.parts()).sum()
    }

    /// Whether it may be something that `*` repeats, or that contains other values.
    pub(super) fn is_container(&self) -> bool {
        self.tuple.is_some() || !self.lists.is_empty() || !self.maps.is_empty()
    }
}

impl Callable<'_> {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Builtin(a), Self::Builtin(b)) => a == b,
            // The same text in the same scope is the same function.
            (Self::Function(a), Self::Function(b)) => {
                a.body.address() == b.body.address() && a.scope == b.scope
            }
            _ => false,
        }
    }
}

/// At most so long a list of such items.
#[derive(Debug)]
struct List<'a> {
    length: f64,
    item: Value<'a>,
}

/// Where in the script a list or dict is made. What one place makes counts as one, however often it makes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Site {
    /// Address of the expression in the tree.
    pub address: usize,
    /// Tells apart what one expression makes.
    pub part: u8,
}

/// All lists there are.
#[derive(Debug, Default)]
pub(super) struct Lists<'a> {
    all: Vec<List<'a>>,
    places: HashMap<Site, usize>,
}

impl<'a> Lists<'a> {
    pub(super) fn create(&mut self, site: Site, length: f64, item: &Value<'a>) -> Value<'a> {
        let next = self.all.len();
        let place = *self.places.entry(site).or_insert(next);
        if place == next {
            self.all.push(List {
                length,
                item: item.clone(),
            });
        } else if let Some(list) = self.all.get_mut(place) {
            list.length = list.length.max(length);
            list.item.join(item);
        }
        Value {
            lists: BTreeSet::from([place]),
            ..Value::default()
        }
    }

    /// Each list that `object` may be gets longer by so many such items.
    pub(super) fn add(&mut self, object: &Value<'a>, more: f64, item: &Value<'a>) {
        for &place in &object.lists {
            if let Some(list) = self.all.get_mut(place) {
                list.length += more;
                list.item.join(item);
            }
        }
    }

    /// Most items, and what they may be.
    pub(super) fn items(&self, object: &Value<'a>) -> (f64, Value<'a>) {
        let (mut length, mut item) = (0.0_f64, Value::default());
        for list in object.lists.iter().filter_map(|&place| self.all.get(place)) {
            length = length.max(list.length);
            item.join(&list.item);
        }
        (length, item)
    }

    pub(super) fn check(&self, object: &Value<'a>) -> Checked<()> {
        let (length, item) = self.items(object);
        if length > MAX_LENGTH {
            Err(NotProven)
        } else {
            item.check()
        }
    }
}

/// At most so many entries; some keys are known by their text.
#[derive(Debug, Default)]
struct Map<'a> {
    length: f64,
    key: Value<'a>,
    known: BTreeMap<&'a str, Value<'a>>,
    /// Values of other keys, which may be any text.
    rest: Value<'a>,
}

/// All dicts there are.
#[derive(Debug, Default)]
pub(super) struct Maps<'a> {
    all: Vec<Map<'a>>,
    places: HashMap<Site, usize>,
}

impl<'a> Maps<'a> {
    pub(super) fn create(&mut self, site: Site) -> Value<'a> {
        let next = self.all.len();
        let place = *self.places.entry(site).or_insert(next);
        if place == next {
            self.all.push(Map::default());
        }
        Value {
            maps: BTreeSet::from([place]),
            ..Value::default()
        }
    }

    /// Each dict that `object` may be gets an entry.
    pub(super) fn put(
        &mut self,
        object: &Value<'a>,
        literal: Option<&'a str>,
        key: &Value<'a>,
        value: &Value<'a>,
    ) {
        for &place in &object.maps {
            if let Some(map) = self.all.get_mut(place) {
                map.key.join(key);
                match literal {
                    Some(text) if map.known.contains_key(text) => {}
                    _ => map.length += 1.0,
                }
                match literal {
                    Some(text) => map.known.entry(text).or_default().join(value),
                    None => map.rest.join(value),
                }
            }
        }
    }

    /// What stands under a key; of one that is not known by its text, anything that the dict holds.
    pub(super) fn get(&self, object: &Value<'a>, literal: Option<&str>) -> Value<'a> {
        let mut found = Value::default();
        for map in object.maps.iter().filter_map(|&place| self.all.get(place)) {
            found.join(&map.rest);
            map.known
                .iter()
                .filter(|(key, _)| literal.is_none_or(|literal| literal == **key))
                .for_each(|(_, value)| found.join(value));
        }
        found
    }

    /// Most entries, and what keys may be.
    pub(super) fn keys(&self, object: &Value<'a>) -> (f64, Value<'a>) {
        let (mut length, mut key) = (0.0_f64, Value::default());
        for map in object.maps.iter().filter_map(|&place| self.all.get(place)) {
            length = length.max(map.length);
            key.join(&map.key);
        }
        (length, key)
    }
}

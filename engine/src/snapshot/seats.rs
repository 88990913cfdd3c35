//! Objects that a million others may refer to, each in a place of its own.
//!
//! Others know the place and not the object: when it changes, they stay as they are.

use crate::hash;
use crate::snapshot::rows::Rows;
use crate::snapshot::shards::{Entry, Shards};
use uuid::Uuid;

/// What has a place.
pub(crate) trait Seated: Clone {
    /// By what it is found.
    fn id(&self) -> Uuid;
}

/// Where an object is.
#[derive(Debug, Clone)]
struct Seat {
    id: Uuid,
    place: u32,
}

impl Entry for Seat {
    fn hash(&self) -> u64 {
        hash::id(self.id)
    }
}

/// The objects.
#[derive(Debug, Clone)]
pub(crate) struct Seats<T> {
    places: Rows<Option<T>>,
    by_id: Shards<Seat>,
    /// Places of objects that are gone.
    free: Vec<u32>,
}

impl<T: Seated> Seats<T> {
    /// None, with room for so many.
    pub(crate) fn for_many(objects: usize) -> Self {
        Self {
            places: Rows::new(),
            by_id: Shards::for_many(objects),
            free: Vec::new(),
        }
    }

    /// The object at a place.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> Option<&T> {
        self.places.get(place)?.as_ref()
    }

    /// The object at a place, for changing; its neighbours are copied first if another snapshot shares them.
    pub(crate) fn at_mut(&mut self, place: u32) -> Option<&mut T> {
        self.places.get_mut(place)?.as_mut()
    }

    /// Where an object is.
    pub(crate) fn place_of(&self, id: Uuid) -> Option<u32> {
        let found = self.by_id.find(hash::id(id), |seat| seat.id == id);
        found.map(|seat| seat.place)
    }

    /// An object.
    pub(crate) fn get(&self, id: Uuid) -> Option<&T> {
        self.at(self.place_of(id)?)
    }

    /// Every object with its place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let places = self.places.iter();
        places.filter_map(|(place, object)| Some((place, object.as_ref()?)))
    }

    /// Puts an object in, in the place of the one with its id. Returns the place.
    pub(crate) fn put(&mut self, object: T) -> u32 {
        let id = object.id();
        let known = self.place_of(id);
        let place = known.or_else(|| self.free.pop());
        let place = place.unwrap_or_else(|| self.places.push(None));
        if known.is_none() {
            self.by_id.insert(Seat { id, place });
        }
        if let Some(seat) = self.places.get_mut(place) {
            *seat = Some(object);
        }
        place
    }

    /// Takes an object out. Nobody may refer to its place any more: another one will get it.
    pub(crate) fn remove(&mut self, id: Uuid) {
        if let Some(seat) = self.by_id.remove(hash::id(id), |seat| seat.id == id) {
            self.free.push(seat.place);
            if let Some(object) = self.places.get_mut(seat.place) {
                *object = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Seated for u64 {
        fn id(&self) -> Uuid {
            Uuid::from_u128(u128::from(*self % 100))
        }
    }

    #[test]
    fn objects_keep_their_places_and_leave_them_to_others() {
        let mut seats = Seats::for_many(0);
        assert_eq!((seats.put(7), seats.put(8), seats.put(9)), (0, 1, 2));
        let old = seats.clone();
        assert_eq!(seats.put(108), 1);
        seats.remove(7_u64.id());
        assert_eq!((seats.get(7_u64.id()), seats.at(1)), (None, Some(&108)));
        assert_eq!(seats.put(10), 0);
        assert_eq!(seats.iter().collect::<Vec<_>>(), [(0, &10), (1, &108), (2, &9)]);
        assert_eq!(old.iter().collect::<Vec<_>>(), [(0, &7), (1, &8), (2, &9)]);
    }
}

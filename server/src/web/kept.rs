//! Texts that the console keeps between two pages of one caller, because an address is no place for them: a zone file that
//! is looked at before it is taken over, a secret that is shown once. In memory, for a short time, and not many.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest text, octets: as long as a body of the API may be.
const LONGEST: usize = crate::api::extract::MAX_BODY;
/// Octets of all texts together.
const ROOM: usize = 8 * LONGEST;
/// Texts kept for everybody together; the oldest goes first.
const MOST: usize = 64;
/// How long a text is kept.
const TIME: Duration = Duration::from_secs(1800);

/// One text.
struct Text {
    mark: String,
    owner: String,
    text: String,
    until: Instant,
}

/// The texts.
#[derive(Default)]
pub struct Kept {
    texts: Mutex<VecDeque<Text>>,
}

/// A text that is too long to be kept.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong {
    /// What is allowed, octets.
    pub most: usize,
}

impl Kept {
    /// Keeps a text for `owner` under `mark`.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn keep(&self, mark: String, owner: &str, text: String, now: Instant) -> Result<(), TooLong> {
        if text.len() > LONGEST {
            return Err(TooLong { most: LONGEST });
        }
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.push_back(Text {
            mark,
            owner: owner.to_owned(),
            text,
            until: now + TIME,
        });
        texts.retain(|text| text.until > now);
        while texts.len() > MOST || texts.iter().map(|text| text.text.len()).sum::<usize>() > ROOM {
            texts.pop_front();
        }
        Ok(())
    }

    /// The text that `owner` has under `mark`; taken away when this is the `last` time.
    pub fn get(&self, mark: &str, owner: &str, last: bool, now: Instant) -> Option<String> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.retain(|text| text.until > now);
        let at = texts
            .iter()
            .position(|text| text.mark == mark && text.owner == owner)?;
        if last {
            texts.remove(at).map(|text| text.text)
        } else {
            texts.get(at).map(|text| text.text.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_owners_and_only_for_a_while() {
        let (kept, now) = (Kept::default(), Instant::now());
        kept.keep("m".to_owned(), "ann", "text".to_owned(), now).unwrap();
        assert_eq!(kept.get("m", "bob", false, now), None);
        assert_eq!(kept.get("m", "ann", false, now).as_deref(), Some("text"));
        assert_eq!(kept.get("m", "ann", true, now).as_deref(), Some("text"));
        assert_eq!(kept.get("m", "ann", true, now), None);
        kept.keep("n".to_owned(), "ann", "text".to_owned(), now).unwrap();
        assert_eq!(kept.get("n", "ann", false, now + TIME), None);
    }

    #[test]
    fn the_oldest_make_room() {
        let (kept, now) = (Kept::default(), Instant::now());
        let long = "x".repeat(LONGEST + 1);
        let refused = kept.keep("long".to_owned(), "ann", long, now);
        assert_eq!(refused, Err(TooLong { most: LONGEST }));
        for number in 0..=MOST {
            kept.keep(number.to_string(), "ann", "text".to_owned(), now)
                .unwrap();
        }
        assert_eq!(kept.get("0", "ann", false, now), None);
        assert!(kept.get("1", "ann", false, now).is_some());
        for number in 0..9 {
            kept.keep(format!("big{number}"), "ann", "x".repeat(LONGEST), now)
                .unwrap();
        }
        assert_eq!(kept.get("big0", "ann", false, now), None);
        assert!(kept.get("big1", "ann", false, now).is_some());
    }
}

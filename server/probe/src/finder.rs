//! Finds a text in a body that arrives in pieces.

/// Search for one text over a stream, in time linear in the stream whatever both contain (Knuth, Morris, Pratt): the
/// body comes from a machine that may not mean well.
pub(crate) struct Finder<'a> {
    text: &'a [u8],
    /// `borders[i]`: length of the longest proper prefix of the text that ends at byte `i`.
    borders: Vec<usize>,
    matched: usize,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let mut borders = Vec::with_capacity(text.len());
        let mut length = 0;
        for (i, byte) in text.iter().enumerate() {
            if i > 0 {
                length = Self::step(text, &borders, length, *byte);
            }
            borders.push(length);
        }
        Self {
            text,
            borders,
            matched: 0,
        }
    }

    /// Length of the match after one more byte, from one of `length` bytes.
    fn step(text: &[u8], borders: &[usize], mut length: usize, byte: u8) -> usize {
        loop {
            if text.get(length) == Some(&byte) {
                return length + 1;
            }
            match length.checked_sub(1).and_then(|last| borders.get(last)) {
                Some(shorter) => length = *shorter,
                None => return 0,
            }
        }
    }

    /// Takes in the next piece; whether the text has now been seen in full.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> bool {
        for byte in piece {
            if self.found() {
                break;
            }
            self.matched = Self::step(self.text, &self.borders, self.matched, *byte);
        }
        self.found()
    }

    fn found(&self) -> bool {
        self.matched == self.text.len()
    }
}

#[cfg(test)]
mod tests {
    //! The search against the plain one of the standard library.

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_plain_search_finds(text in "[ab]{1,6}", body in "[ab]{0,60}", piece in 1_usize..9) {
            let mut finder = Finder::new(text.as_bytes());
            let found = body.as_bytes().chunks(piece).any(|p| finder.feed(p));
            prop_assert_eq!(found, body.contains(&text));
        }
    }

    #[test]
    fn a_text_that_begins_again_inside_itself() {
        let mut finder = Finder::new(b"aab");
        assert!(!finder.feed(b"aa"));
        assert!(finder.feed(b"ab"));
        assert!(finder.feed(b"anything after it"));
    }
}

//! Text made out of the author's text, and the way back: which position of it comes from where.

/// The made text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mapped {
    text: String,
    pieces: Vec<Piece>,
}

/// From `made` on, until the next piece, the text comes from `origin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    made: usize,
    origin: usize,
    /// Copied letter by letter; else all of it stands for the one place `origin`.
    copied: bool,
}

impl Mapped {
    /// Adds author's text that stands at `origin`.
    pub(crate) fn copy(&mut self, text: &str, origin: usize) {
        self.add(text, origin, true);
    }

    /// Adds text that the author did not write, on account of `origin`.
    pub(crate) fn insert(&mut self, text: &str, origin: usize) {
        self.add(text, origin, false);
    }

    fn add(&mut self, text: &str, origin: usize, copied: bool) {
        if !text.is_empty() {
            self.pieces.push(Piece {
                made: self.text.len(),
                origin,
                copied,
            });
            self.text.push_str(text);
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where in the author's text the byte `at` of the made text comes from.
    pub(crate) fn origin(&self, at: usize) -> usize {
        let after = self.pieces.partition_point(|piece| piece.made <= at);
        match after.checked_sub(1).and_then(|last| self.pieces.get(last)) {
            Some(piece) if piece.copied => piece.origin + (at - piece.made),
            Some(piece) => piece.origin,
            None => 0,
        }
    }
}

/// Line and column, from 1, columns in characters, of the byte `at` of `source`.
pub(crate) fn line_column(source: &str, at: usize) -> (u32, u32) {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    let before = source.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    let column = before.get(start..).unwrap_or_default().chars().count() + 1;
    (
        u32::try_from(line).unwrap_or(u32::MAX),
        u32::try_from(column).unwrap_or(u32::MAX),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_leads_back() {
        let mut made = Mapped::default();
        made.insert("def f():\n ", 0);
        made.copy("abc", 4);
        made.insert(" and ", 9);
        made.copy("def", 20);
        assert_eq!(made.text(), "def f():\n abc and def");
        let origins: Vec<usize> = [0, 10, 12, 13, 17, 18, 20]
            .into_iter()
            .map(|at| made.origin(at))
            .collect();
        assert_eq!(origins, [0, 4, 6, 9, 9, 20, 22]);
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_column("ä\nöü x", 8), (2, 4));
        assert_eq!(line_column("", 5), (1, 1));
    }
}

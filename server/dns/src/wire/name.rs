//! Names on the wire (RFC 1035 §3.1): the question's name, and skipping over the names of records.

use super::Reader;

/// Most octets of a name (RFC 1035 §2.3.4).
pub(crate) const MAX_NAME: usize = 255;
/// Most octets of a label. Longer length octets are pointers or reserved types.
const MAX_LABEL: u8 = 63;

/// The question's name in lower case and uncompressed.
#[derive(Clone, Copy)]
pub(crate) struct LowerName {
    octets: [u8; MAX_NAME],
    length: u8,
}

impl LowerName {
    /// Reads the name of a question. Nothing precedes it that it could point to, so that a pointer in it is an error
    /// (the only targets would be the header, itself, or what comes after).
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let mut octets = [0; MAX_NAME];
        let mut length = 0;
        loop {
            let size = reader.u8()?;
            if size > MAX_LABEL {
                return None;
            }
            *octets.get_mut(length)? = size;
            length += 1;
            if size == 0 {
                return Some(Self {
                    octets,
                    length: u8::try_from(length).ok()?,
                });
            }
            let label = reader.take(size.into())?;
            let target = octets.get_mut(length..length + usize::from(size))?;
            for (to, from) in target.iter_mut().zip(label) {
                *to = from.to_ascii_lowercase();
            }
            length += usize::from(size);
        }
    }

    /// The octets, root label included.
    pub(crate) fn as_wire(&self) -> &[u8] {
        self.octets.get(..self.length.into()).unwrap_or_default()
    }
}

/// Steps over the name of a record. A pointer ends it; where it leads does not matter here.
/// Returns whether the name is the root, written as one zero octet.
pub(crate) fn skip(reader: &mut Reader<'_>) -> Option<bool> {
    let start = reader.at();
    loop {
        match reader.u8()? {
            0 => return Some(reader.at() == start + 1),
            size if size <= MAX_LABEL => {
                reader.take(size.into())?;
                if reader.at() - start > MAX_NAME {
                    return None;
                }
            }
            size if size & 0xc0 == 0xc0 => {
                reader.u8()?;
                return Some(false);
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(wire: &[u8]) -> Option<Vec<u8>> {
        LowerName::read(&mut Reader::new(wire, 0)).map(|name| name.as_wire().to_vec())
    }

    #[test]
    fn folds_letters_and_nothing_else() {
        assert_eq!(
            read(b"\x03wWw\x04T\x00[\xff\x00").as_deref(),
            Some(&b"\x03www\x04t\x00[\xff\x00"[..])
        );
        assert_eq!(read(b"\0").as_deref(), Some(&b"\0"[..]));
    }

    #[test]
    fn rfc_1035_2_3_4_limits() {
        let label = |n: u8| [vec![n], vec![b'a'; n.into()]].concat();
        let longest = [label(63), label(63), label(63), label(61), vec![0]].concat();
        assert_eq!(read(&longest).map(|n| n.len()), Some(255));
        let over = [label(63), label(63), label(63), label(62), vec![0]].concat();
        assert_eq!(read(&over), None);
        assert_eq!(read(&[label(64), vec![0]].concat()), None);
        assert_eq!(read(&[vec![0x80], vec![0; 130]].concat()), None);
    }

    #[test]
    fn a_question_has_no_pointers() {
        assert_eq!(read(b"\xc0\x0c"), None);
        assert_eq!(read(b"\x01a\xc0\x00"), None);
    }

    #[test]
    fn cut_off_names_are_errors() {
        for wire in [&b""[..], b"\x03ww", b"\x03www"] {
            assert_eq!(read(wire), None, "{wire:?}");
            assert_eq!(skip(&mut Reader::new(wire, 0)), None, "{wire:?}");
        }
    }

    #[test]
    fn skips_by_pointer_or_root() {
        let mut reader = Reader::new(b"\x01a\xc0\x0c!", 0);
        assert_eq!((skip(&mut reader), reader.at()), (Some(false), 4));
        assert_eq!(skip(&mut Reader::new(b"\0", 0)), Some(true));
        assert_eq!(skip(&mut Reader::new(b"\xc0", 0)), None);
        assert_eq!(skip(&mut Reader::new(b"\x40a\0", 0)), None);
    }
}

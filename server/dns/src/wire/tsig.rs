//! The TSIG record (RFC 8945 §4.2): taken apart, not judged.

use super::name::{LowerName, MAX_NAME};
use super::{Reader, code};

/// A TSIG record at the end of a message.
#[derive(Clone, Copy)]
pub(crate) struct TsigRecord<'p> {
    /// The message in front of it.
    pub(crate) before: &'p [u8],
    /// Name of the key, in lower case.
    pub(crate) key: LowerName,
    /// Name of the algorithm, in lower case.
    pub(crate) algorithm: LowerName,
    /// When it was made, Unix time in seconds (48 bits).
    pub(crate) time: u64,
    /// Seconds by which the clocks may differ.
    pub(crate) fudge: u16,
    /// The MAC.
    pub(crate) mac: &'p [u8],
    /// Id of the message when it was signed.
    pub(crate) original_id: u16,
    /// What the other side says was wrong with ours.
    pub(crate) error: u16,
    /// More about that.
    pub(crate) other: &'p [u8],
}

impl<'p> TsigRecord<'p> {
    /// Reads the record that begins at an offset of the message and must be its end. `None`: it is malformed.
    pub(crate) fn read(message: &'p [u8], at: usize) -> Option<Self> {
        let (key, end) = read_compressed(message, at)?;
        let mut reader = Reader::new(message, end);
        let (rtype, class, ttl) = (reader.u16()?, reader.u16()?, reader.u32()?);
        let length = usize::from(reader.u16()?);
        let begin = reader.at();
        if rtype != code::TSIG || class != code::ANY || ttl != 0 || begin + length != message.len() {
            return None;
        }
        let algorithm = LowerName::read(&mut reader)?;
        let (high, low) = (reader.u16()?, reader.u32()?);
        let fudge = reader.u16()?;
        let size = reader.u16()?;
        let mac = reader.take(size.into())?;
        let (original_id, error) = (reader.u16()?, reader.u16()?);
        let size = reader.u16()?;
        let other = reader.take(size.into())?;
        (reader.at() == message.len()).then_some(Self {
            before: message.get(..at)?,
            key,
            algorithm,
            time: u64::from(high) << 32 | u64::from(low),
            fudge,
            mac,
            original_id,
            error,
            other,
        })
    }
}

/// Reads a name that may point to what was before it in the message (RFC 1035 §4.1.4): each pointer leads further to the
/// front, so that it comes to an end. Returns it with the offset behind it.
fn read_compressed(message: &[u8], start: usize) -> Option<(LowerName, usize)> {
    let mut wire = Vec::with_capacity(MAX_NAME);
    let (mut at, mut bound, mut end) = (start, start, None);
    loop {
        let length = *message.get(at)?;
        match length {
            0 => break,
            1..=63 => {
                wire.extend_from_slice(message.get(at..=at + usize::from(length))?);
                at += 1 + usize::from(length);
            }
            0xc0.. => {
                let low = *message.get(at + 1)?;
                end.get_or_insert(at + 2);
                at = usize::from(u16::from_be_bytes([length & 0x3f, low]));
                if at >= bound {
                    return None;
                }
                bound = at;
            }
            _ => return None,
        }
        if wire.len() >= MAX_NAME {
            return None;
        }
    }
    wire.push(0);
    let name = LowerName::read(&mut Reader::new(&wire, 0))?;
    Some((name, end.unwrap_or(at + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_point_to_the_front_only() {
        let message = b"\x03Key\x04test\0\x01a\xc0\x04\xc0\x0e\x01b\xc0\x0e";
        let read = |at| read_compressed(message, at).map(|(name, end)| (name.as_wire().to_vec(), end));
        assert_eq!(read(0), Some((b"\x03key\x04test\0".to_vec(), 10)));
        assert_eq!(read(10), Some((b"\x01a\x04test\0".to_vec(), 14)));
        assert_eq!(read(14), None, "to itself");
        assert_eq!(read(16), None, "to a loop");
        assert_eq!(read(20), None, "behind the end");
    }
}

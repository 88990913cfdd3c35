//! Options that are added to a reply that is written: they depend on how it travels, not on what it says.

use super::edns::OPTION_KEEPALIVE;
use super::{Reader, code, skip};
use std::time::Duration;

/// Octets of an option without data.
pub(super) const HEAD: usize = 4;

/// Tells the client for how long its connection may be idle (RFC 7828 §3.3.2). `later` octets will be appended to the
/// message; it stays as it is when there is no room, or no OPT record.
pub(crate) fn add_keepalive(out: &mut Vec<u8>, idle: Duration, later: usize) {
    // In units of 100 ms.
    let units = u16::try_from(idle.as_millis() / 100).unwrap_or(u16::MAX);
    if out.len() + HEAD + 2 + later <= usize::from(u16::MAX)
        && let Some(opt) = opt_at_end(out)
    {
        add(out, opt, OPTION_KEEPALIVE, &units.to_be_bytes());
    }
}

/// Appends an option to the OPT record at the end of a message, unless the record would become too long.
pub(super) fn add(out: &mut Vec<u8>, opt: Opt, option: u16, data: &[u8]) {
    let Ok(size) = u16::try_from(data.len()) else {
        return;
    };
    let length = opt
        .length
        .checked_add(size)
        .and_then(|length| length.checked_add(4));
    let place = out
        .get_mut(opt.length_at..)
        .and_then(|rest| rest.first_chunk_mut());
    if let (Some(length), Some([high, low])) = (length, place) {
        [*high, *low] = length.to_be_bytes();
        out.extend_from_slice(&option.to_be_bytes());
        out.extend_from_slice(&size.to_be_bytes());
        out.extend_from_slice(data);
    }
}

/// Where the OPT record at the end of a message says how long it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opt {
    /// Where its RDLENGTH is, and what it says.
    length_at: usize,
    length: u16,
}

/// The OPT record, if the message ends with it.
pub(super) fn opt_at_end(message: &[u8]) -> Option<Opt> {
    let mut reader = Reader::new(message, 4);
    let questions = reader.u16()?;
    let records = [reader.u16()?, reader.u16()?, reader.u16()?];
    for _ in 0..questions {
        skip(&mut reader)?;
        reader.take(4)?;
    }
    let mut last = None;
    for _ in 0..records.into_iter().map(u32::from).sum() {
        skip(&mut reader)?;
        let rtype = reader.u16()?;
        reader.take(6)?;
        let length_at = reader.at();
        let length = reader.u16()?;
        reader.take(length.into())?;
        last = (rtype == code::OPT).then_some(Opt { length_at, length });
    }
    last.filter(|_| reader.at() == message.len())
}

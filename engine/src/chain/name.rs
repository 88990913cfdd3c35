//! The name asked for as text: for traces and scripts.

use std::fmt::Write as _;

/// Writes the presentation form of a wire name (RFC 1035 §5.1): dots and backslashes in labels are escaped, other
/// octets that do not print are written in decimal.
pub(super) fn write_name(wire: &[u8], text: &mut String) {
    text.clear();
    let mut rest = wire;
    while let Some((&length, tail)) = rest.split_first() {
        let Some((label, tail)) = tail.split_at_checked(usize::from(length)) else {
            break;
        };
        if length == 0 {
            break;
        }
        for &octet in label {
            match octet {
                b'.' | b'\\' => text.extend(['\\', char::from(octet)]),
                b'!'..=b'~' => text.push(char::from(octet)),
                // Writing into a string cannot fail.
                _ => drop(write!(text, "\\{octet:03}")),
            }
        }
        text.push('.');
        rest = tail;
    }
    if text.is_empty() {
        text.push('.');
    }
}

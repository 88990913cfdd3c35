//! Padding of replies (RFC 7830): what is encrypted must not be told by its length.
//!
//! Over encrypted transports a reply to a query with the option becomes as long as a multiple of 468 octets, which is the
//! recommended policy of servers (RFC 8467 §4.1).

use super::added::{HEAD, add, opt_at_end};
use super::edns::OPTION_PADDING;

/// Octets that the length of a padded reply is a multiple of.
const BLOCK: usize = 468;

/// Appends the option to the OPT record of a message, which is its last record, if it has one. `later` octets will be
/// appended to the message. One that would grow past the longest message is padded as far as that.
pub(crate) fn pad(out: &mut Vec<u8>, later: usize) {
    let Some(opt) = opt_at_end(out) else { return };
    let least = out.len() + HEAD + later;
    let wanted = least.next_multiple_of(BLOCK).min(usize::from(u16::MAX));
    let Some(zeros) = wanted.checked_sub(least) else {
        return;
    };
    add(out, opt, OPTION_PADDING, &vec![0; zeros]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reply with an OPT record that has so many octets of options.
    fn reply(options: usize) -> Vec<u8> {
        let mut out = vec![0, 1, 0x84, 0, 0, 1, 0, 0, 0, 0, 0, 1];
        out.extend_from_slice(b"\x01a\0\0\x01\0\x01");
        out.extend_from_slice(&[0, 0, 41, 4, 208, 0, 0, 0, 0]);
        let data = u16::try_from(options).unwrap().to_be_bytes();
        out.extend_from_slice(&data);
        // A private option.
        if options > 0 {
            out.extend_from_slice(&[0xfd, 0xe9]);
            out.extend_from_slice(&u16::try_from(options - 4).unwrap().to_be_bytes());
            out.resize(out.len() + options - 4, 7);
        }
        out
    }

    #[test]
    fn rfc_8467_s4_1_blocks() {
        for (options, later, length) in [
            (0, 0, 468),
            (468 - 30 - 4, 0, 468),
            (468 - 30 - 3, 0, 936),
            (1000, 0, 1404),
            (0, 100, 368),
        ] {
            let (plain, mut padded) = (reply(options), reply(options));
            pad(&mut padded, later);
            assert_eq!(padded.len(), length, "{options} {later}");
            let zeros = length - plain.len() - 4;
            let [h, l] = u16::try_from(zeros).unwrap().to_be_bytes();
            assert_eq!(padded[plain.len()..plain.len() + 4], [0, 12, h, l]);
            assert!(padded[plain.len() + 4..].iter().all(|octet| *octet == 0));
            let rdata = u16::from_be_bytes([padded[28], padded[29]]);
            assert_eq!(usize::from(rdata), options + 4 + zeros);
        }
    }

    #[test]
    fn the_longest_message_is_the_end() {
        let mut nearly = reply(65_535 - 30 - 10);
        pad(&mut nearly, 0);
        assert_eq!(nearly.len(), 65_535);
        let full = reply(65_535 - 30 - 3);
        let mut same = full.clone();
        pad(&mut same, 0);
        assert_eq!(same, full);
    }

    #[test]
    fn what_has_no_opt_record_stays() {
        for message in [Vec::new(), vec![0; 12], vec![0xff; 40], reply(8)[..20].to_vec()] {
            let mut same = message.clone();
            pad(&mut same, 0);
            assert_eq!(same, message);
        }
    }
}

//! The lexical rules of master files (RFC 1035 §5.1): words, quotes, escapes. Also the way back, from octets to text.

use std::fmt::Write as _;

/// Largest TTL (RFC 2181 §8).
pub(super) const MAX_TTL: u32 = 0x7fff_ffff;

/// A word of a line. Quotes are gone; escapes are still in it, since an escaped dot is no end of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) raw: String,
    /// It began with a quote.
    pub(super) quoted: bool,
}

impl Word {
    /// The beginning of a word without quotes.
    pub(super) fn plain() -> Self {
        Self {
            raw: String::new(),
            quoted: false,
        }
    }
}

/// Splits a text into words. Parentheses and comments belong to whole files and mean nothing here unless they stand
/// alone: then they are refused as what they would be there.
pub(super) fn words(text: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut chars = text.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        let Some(first) = chars.peek().copied() else {
            return Ok(words);
        };
        let mut word = Word {
            raw: String::new(),
            quoted: first == '"',
        };
        let mut inside = false;
        while let Some(c) = chars.next_if(|c| inside || !c.is_whitespace()) {
            match c {
                '"' => inside = !inside,
                '\\' => {
                    word.raw.push(c);
                    word.raw
                        .push(chars.next().ok_or("ends with a backslash that escapes nothing")?);
                }
                '(' | ')' | ';' if !inside => {
                    return Err(format!("`{c}` must stand in quotes, or be escaped as `\\{c}`"));
                }
                c => word.raw.push(c),
            }
        }
        if inside {
            return Err("a quote is opened and not closed".to_owned());
        }
        words.push(word);
    }
}

/// One character of a raw word after its escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// A character that stood for itself.
    Plain(char),
    /// An octet that was escaped: never a separator.
    Octet(u8),
    /// A character that was escaped.
    Escaped(char),
}

/// Resolves `\DDD` and `\X` (RFC 1035 §5.1).
pub(super) fn units(raw: &str) -> Result<Vec<Unit>, String> {
    let mut units = Vec::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            units.push(Unit::Plain(c));
            continue;
        }
        let escaped = chars.next().ok_or("ends with a backslash that escapes nothing")?;
        if !escaped.is_ascii_digit() {
            units.push(Unit::Escaped(escaped));
            continue;
        }
        let digits: String = [Some(escaped), chars.next(), chars.next()]
            .into_iter()
            .flatten()
            .collect();
        let octet = Some(&digits)
            .filter(|d| d.len() == 3)
            .and_then(|d| d.parse().ok());
        units.push(Unit::Octet(octet.ok_or_else(|| {
            format!("`\\{digits}` is no octet: three digits from 000 to 255")
        })?));
    }
    Ok(units)
}

/// Octets of a character string; characters outside ASCII count as their UTF-8 form.
pub(super) fn octets(raw: &str) -> Result<Vec<u8>, String> {
    let mut octets = Vec::with_capacity(raw.len());
    for unit in units(raw)? {
        match unit {
            Unit::Octet(octet) => octets.push(octet),
            Unit::Plain(c) | Unit::Escaped(c) => {
                octets.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    Ok(octets)
}

/// Appends an octet, escaped when it is not printable or one of `special`.
pub(super) fn push_octet(out: &mut String, octet: u8, special: &[u8]) {
    if special.contains(&octet) {
        out.push('\\');
        out.push(char::from(octet));
    } else if (0x20..0x7f).contains(&octet) {
        out.push(char::from(octet));
    } else {
        // Writing into a string cannot fail.
        let _ = write!(out, "\\{octet:03}");
    }
}

/// Appends octets as a quoted character string.
pub(super) fn push_quoted(out: &mut String, octets: &[u8]) {
    out.push('"');
    for octet in octets {
        push_octet(out, *octet, b"\"\\");
    }
    out.push('"');
}

/// Appends octets in hexadecimal.
pub(super) fn push_hex(out: &mut String, octets: &[u8]) {
    for octet in octets {
        let _ = write!(out, "{octet:02x}");
    }
}

/// Reads hexadecimal digits.
pub(super) fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => Ok(digits
            .chunks_exact(2)
            .map(|pair| pair.iter().fold(0, |octet, digit| octet << 4 | digit))
            .collect()),
        Some(_) => Err("has an odd number of hexadecimal digits".to_owned()),
        None => Err("has a character that is no hexadecimal digit".to_owned()),
    }
}

/// Reads a time: seconds, or numbers with units as in `1h30m`.
pub(super) fn ttl(text: &str) -> Option<u32> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (mut sum, mut number) = (0_u32, None::<u32>);
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            number = Some(number.unwrap_or(0).checked_mul(10)?.checked_add(digit)?);
            continue;
        }
        let unit = match c.to_ascii_lowercase() {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return None,
        };
        sum = sum.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    sum.checked_add(number.unwrap_or(0)).filter(|ttl| *ttl <= MAX_TTL)
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends octets in base64 (RFC 4648 §4).
pub(super) fn push_base64(out: &mut String, octets: &[u8]) {
    for chunk in octets.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, octet| bits << 8 | u32::from(*octet))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place) & 0x3f) as usize;
            out.push(match BASE64.get(digit) {
                Some(c) if place <= chunk.len() => char::from(*c),
                _ => '=',
            });
        }
    }
}

/// Reads base64.
pub(super) fn base64(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || "is not base64".to_owned();
    let bare = text.trim_end_matches('=');
    if text.len() - bare.len() > 2 || !text.len().is_multiple_of(4) {
        return Err(wrong());
    }
    let mut octets = Vec::with_capacity(bare.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for c in bare.bytes() {
        let digit = BASE64.iter().position(|known| *known == c).ok_or_else(wrong)?;
        bits = bits << 6 | u32::try_from(digit).unwrap_or_default();
        count += 6;
        if count >= 8 {
            count -= 8;
            octets.push((bits >> count & 0xff) as u8);
        }
    }
    if bits & ((1 << count) - 1) != 0 {
        return Err(wrong());
    }
    Ok(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raws(text: &str) -> Result<Vec<String>, String> {
        words(text).map(|words| words.into_iter().map(|word| word.raw).collect())
    }

    #[test]
    fn words_quotes_and_escapes() {
        assert_eq!(
            raws(r#"10  "a b"	key="x, y" \"c d\ e"#).unwrap(),
            ["10", "a b", "key=x, y", r#"\"c"#, r"d\ e"]
        );
        assert_eq!(raws("\"\"").unwrap(), [""]);
        for bad in ["\"a", "a\\", "(a", "a;b"] {
            assert!(words(bad).is_err(), "{bad}");
        }
        assert_eq!(octets(r"a\.b\065\\ü").unwrap(), "a.bA\\ü".as_bytes());
        for bad in [r"\256", r"\1", r"\12x"] {
            assert!(octets(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn binary_texts_come_back() {
        for length in 0..20_u8 {
            let octets: Vec<u8> = (0..length)
                .map(|n| n.wrapping_mul(37).wrapping_add(200))
                .collect();
            let (mut hexed, mut based, mut quoted) = (String::new(), String::new(), String::new());
            push_hex(&mut hexed, &octets);
            push_base64(&mut based, &octets);
            push_quoted(&mut quoted, &octets);
            assert_eq!(hex(&hexed).unwrap(), octets);
            assert_eq!(base64(&based).unwrap(), octets, "{based}");
            let words = words(&quoted).unwrap();
            assert_eq!(super::octets(&words[0].raw).unwrap(), octets);
        }
        // RFC 4648 §10.
        let mut out = String::new();
        push_base64(&mut out, b"foobar");
        push_base64(&mut out, b"fooba");
        push_base64(&mut out, b"foob");
        assert_eq!(out, "Zm9vYmFyZm9vYmE=Zm9vYg==");
        for bad in ["Zg", "Zg=", "Zh==", "Z===", "====", "a b="] {
            assert!(base64(bad).is_err(), "{bad}");
        }
    }
}

//! Zone files (master files, RFC 1035 §5): read into sets, and written so that they read back to the same.

use super::name::RecordName;
use super::rdata::{Origin, Rdata};
use super::rtype::RecordType;
use super::text::{MAX_TTL, Word, ttl};
use super::{DEFAULT_TTL, RecordSet, rules, size};
use crate::model::error::{ErrorCode, ValidationError};
use crate::model::name::DomainName;
use crate::model::zone::{Soa, Zone};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Most problems that are told of one file.
const MAX_PROBLEMS: usize = 100;
/// A set of records in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSet {
    /// Line of its first record, from 1.
    pub line: usize,
    /// Owner name.
    pub name: RecordName,
    /// Type.
    pub rtype: RecordType,
    /// Seconds: the smallest of the set's.
    pub ttl: u32,
    /// Data, each once.
    pub data: Vec<Rdata>,
}

/// What a file says about a zone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZoneFile {
    /// Start of authority, and its serial.
    pub soa: Option<(Soa, u32)>,
    /// Name servers of the zone, and their TTL.
    pub name_servers: Option<(Vec<DomainName>, u32)>,
    /// The other records, in the order of their first lines.
    pub sets: Vec<FileSet>,
    /// What is not taken over, because whoever signs the zone makes it: line and type.
    pub left_out: Vec<(usize, RecordType)>,
}

/// One record or directive of a file: the words of a line, or of several that parentheses tie together.
struct Entry {
    line: usize,
    /// It begins with a space: the owner is that of the record before.
    continued: bool,
    words: Vec<Word>,
}

/// A problem and its line.
type Problem = (usize, String);

/// Splits a file into entries.
fn entries(text: &str) -> (Vec<Entry>, Vec<Problem>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let mut open = None::<Entry>;
    let mut depth = 0_usize;
    for (number, line) in (1..).zip(text.lines()) {
        let mut entry = open.take().unwrap_or_else(|| Entry {
            line: number,
            continued: line.starts_with([' ', '\t']),
            words: Vec::new(),
        });
        if let Err(message) = split(line, &mut entry.words, &mut depth) {
            problems.push((number, message));
            depth = 0;
        } else if depth > 0 {
            open = Some(entry);
        } else if !entry.words.is_empty() {
            found.push(entry);
        }
    }
    if let Some(entry) = open {
        problems.push((entry.line, "a parenthesis is opened and not closed".to_owned()));
    }
    (found, problems)
}

/// Appends the words of one line; `depth` counts open parentheses.
fn split(line: &str, words: &mut Vec<Word>, depth: &mut usize) -> Result<(), String> {
    let mut chars = line.chars().peekable();
    let mut word = None::<Word>;
    let mut inside = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                inside = !inside;
                word.get_or_insert_with(|| Word {
                    raw: String::new(),
                    quoted: true,
                });
            }
            '\\' => {
                let next = chars.next().ok_or("ends with a backslash that escapes nothing")?;
                let raw = &mut word.get_or_insert_with(Word::plain).raw;
                raw.push(c);
                raw.push(next);
            }
            c if inside => {
                if let Some(word) = &mut word {
                    word.raw.push(c);
                }
            }
            ';' => break,
            '(' | ')' => {
                words.extend(word.take());
                *depth = match c {
                    '(' => *depth + 1,
                    _ => depth
                        .checked_sub(1)
                        .ok_or("a parenthesis is closed and none is open")?,
                };
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_with(Word::plain).raw.push(c),
        }
    }
    if inside {
        return Err("a quote is opened and not closed".to_owned());
    }
    words.extend(word);
    Ok(())
}

/// What is in force at a place of the file.
struct Reader<'z> {
    apex: &'z RecordName,
    origin: RecordName,
    default_ttl: Option<u32>,
    last_ttl: Option<u32>,
    owner: Option<RecordName>,
    file: ZoneFile,
    places: HashMap<(RecordName, RecordType), usize>,
}

impl ZoneFile {
    /// Reads a file about a zone; names in it are relative to the zone until a `$ORIGIN` says otherwise.
    ///
    /// # Errors
    /// Every problem, by line (`line 7`), up to a hundred.
    pub fn parse(text: &str, zone: &Zone) -> Result<Self, Vec<ValidationError>> {
        let apex = RecordName::from(&zone.name);
        let (entries, mut problems) = entries(text);
        let mut reader = Reader {
            apex: &apex,
            origin: apex.clone(),
            default_ttl: None,
            last_ttl: None,
            owner: None,
            file: Self::default(),
            places: HashMap::new(),
        };
        for entry in &entries {
            if let Err(message) = reader.entry(entry) {
                problems.push((entry.line, message));
            }
        }
        let file = reader.file;
        for set in &file.sets {
            let found = rules::alone(&set.name, set.rtype, &set.data, &apex);
            let messages = found
                .into_iter()
                .chain(size(&set.data))
                .map(|error| error.message);
            problems.extend(messages.map(|message| (set.line, message)));
        }
        problems.sort();
        problems.truncate(MAX_PROBLEMS);
        if problems.is_empty() {
            return Ok(file);
        }
        Err(problems
            .into_iter()
            .map(|(line, message)| ValidationError::new(format!("line {line}"), ErrorCode::Invalid, message))
            .collect())
    }
}

impl Reader<'_> {
    fn entry(&mut self, entry: &Entry) -> Result<(), String> {
        let mut words = &*entry.words;
        if let [first, rest @ ..] = words
            && !entry.continued
            && first.raw.starts_with('$')
            && !first.quoted
        {
            return self.directive(&first.raw, rest);
        }
        if let [first, rest @ ..] = words
            && !entry.continued
        {
            // A name that cannot be read must not leave its records to the one before.
            self.owner = None;
            self.owner = Some(RecordName::parse(&first.raw, Some(&self.origin))?);
            words = rest;
        }
        let Some(owner) = self.owner.clone() else {
            return Err("has no name, and there is none before it".to_owned());
        };
        // TTL and class stand in either order, and may be absent.
        let (mut given, mut class) = (None, false);
        let rtype = loop {
            let [first, rest @ ..] = words else {
                return Err("ends where a record type should follow".to_owned());
            };
            words = rest;
            let text = first.raw.as_str();
            if given.is_none() && text.starts_with(|c: char| c.is_ascii_digit()) {
                given = Some(ttl(text).ok_or_else(|| format!("`{text}` is no TTL"))?);
            } else if !class && text.eq_ignore_ascii_case("IN") {
                class = true;
            } else if ["CH", "HS", "CS"]
                .iter()
                .any(|class| class.eq_ignore_ascii_case(text))
            {
                return Err(format!("class {text}: zones are in class IN"));
            } else {
                break RecordType::parse(text).ok_or_else(|| {
                    format!("`{text}` is no known record type; any can be written as TYPE and its number")
                })?;
            }
        };
        // Without $TTL (RFC 2308 §4) the last TTL that was stated holds (RFC 1035 §5.1).
        self.last_ttl = given.or(self.last_ttl);
        let ttl = given
            .or(self.default_ttl)
            .or(self.last_ttl)
            .unwrap_or(DEFAULT_TTL);
        self.record(entry.line, owner, rtype, ttl, words)
    }

    fn directive(&mut self, name: &str, words: &[Word]) -> Result<(), String> {
        match (name.to_ascii_uppercase().as_str(), words) {
            ("$ORIGIN", [origin]) => self.origin = RecordName::parse(&origin.raw, Some(&self.origin))?,
            ("$TTL", [text]) => {
                self.default_ttl = Some(ttl(&text.raw).ok_or_else(|| format!("`{}` is no TTL", text.raw))?);
            }
            ("$INCLUDE", _) => return Err("$INCLUDE: put everything into one file".to_owned()),
            ("$GENERATE", _) => return Err("$GENERATE: write the records out".to_owned()),
            _ => {
                return Err(format!(
                    "`{name}` is no directive, or has not the one value it needs"
                ));
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        line: usize,
        name: RecordName,
        rtype: RecordType,
        ttl: u32,
        words: &[Word],
    ) -> Result<(), String> {
        if !name.is_within(self.apex) {
            return Err(format!("`{name}` is not in the zone `{}`", self.apex));
        }
        if rules::is_signers(rtype) {
            self.file.left_out.push((line, rtype));
            return Ok(());
        }
        let data = Rdata::from_words(rtype, words, Origin::File(&self.origin))
            .map_err(|message| format!("{rtype}: {message}"))?;
        if rtype == RecordType::SOA {
            return self.soa(&name, &data, ttl);
        }
        if let Some(error) = rules::storable(rtype) {
            return Err(error.message);
        }
        if rtype == RecordType::NS && name == *self.apex {
            let target = data
                .target(rtype)
                .map(|name| name.to_string())
                .unwrap_or_default();
            let server = DomainName::parse("nameServers", &target).map_err(|error| error.message)?;
            let (servers, least) = self.file.name_servers.get_or_insert_with(|| (Vec::new(), ttl));
            *least = ttl.min(*least);
            if !servers.contains(&server) {
                servers.push(server);
            }
            return Ok(());
        }
        let sets = &mut self.file.sets;
        let place = *self.places.entry((name.clone(), rtype)).or_insert(sets.len());
        match sets.get_mut(place) {
            Some(set) => {
                set.ttl = set.ttl.min(ttl);
                if !set.data.contains(&data) {
                    set.data.push(data);
                }
            }
            None => sets.push(FileSet {
                line,
                name,
                rtype,
                ttl,
                data: vec![data],
            }),
        }
        Ok(())
    }

    fn soa(&mut self, name: &RecordName, data: &Rdata, ttl: u32) -> Result<(), String> {
        if name != self.apex {
            return Err(format!("the SOA of `{name}` is none of `{}`", self.apex));
        }
        let soa = read_soa(data, ttl)?;
        match &self.file.soa {
            Some(known) if *known != soa => Err("a zone has one SOA".to_owned()),
            _ => {
                self.file.soa = Some(soa);
                Ok(())
            }
        }
    }
}

/// The fields of a SOA, and its serial.
fn read_soa(data: &Rdata, ttl: u32) -> Result<(Soa, u32), String> {
    let wire = data.as_wire();
    let read = |at: usize| wire.get(at..).and_then(RecordName::read);
    let number = |place: usize| {
        let from = wire.len().saturating_sub(20) + 4 * place;
        let octets = wire.get(from..from + 4).unwrap_or_default();
        octets
            .iter()
            .fold(0_u32, |sum, octet| sum << 8 | u32::from(*octet))
    };
    let seconds = |place: usize| {
        Some(number(place))
            .filter(|seconds| *seconds <= MAX_TTL)
            .ok_or_else(|| {
                format!(
                    "{} is no number of seconds between 0 and {MAX_TTL}",
                    number(place)
                )
            })
    };
    let (mname, length) = read(0).ok_or("SOA: has no names")?;
    let (rname, _) = read(length).ok_or("SOA: has one name only")?;
    let soa = Soa {
        mname: DomainName::parse("mname", &mname.to_string()).map_err(|error| error.message)?,
        rname,
        refresh: seconds(1)?,
        retry: seconds(2)?,
        expire: seconds(3)?,
        minimum: seconds(4)?,
        ttl,
    };
    Ok((soa, number(0)))
}

/// Writes the file of a zone. `services` are the domains of services in it, which a file cannot hold: they are named in
/// comments.
#[must_use]
pub fn write_zone_file<'a>(
    zone: &Zone,
    sets: impl IntoIterator<Item = &'a RecordSet>,
    services: &[DomainName],
) -> String {
    let apex = RecordName::from(&zone.name);
    let soa = &zone.soa;
    let mut text = format!("$ORIGIN {apex}\n");
    // Writing into a string cannot fail.
    let _ = writeln!(
        text,
        "@\t{}\tIN\tSOA\t{} {} {} {} {} {} {}",
        soa.ttl, soa.mname, soa.rname, zone.serial, soa.refresh, soa.retry, soa.expire, soa.minimum
    );
    for server in &zone.name_servers {
        let _ = writeln!(text, "@\t{}\tIN\tNS\t{server}", zone.ns_ttl);
    }
    for set in sets {
        let name = set.name.relative_to(&apex);
        for data in &set.data {
            let _ = writeln!(text, "{name}\t{}\tIN\t{}\t{data}", set.ttl, set.rtype);
        }
    }
    for domain in services {
        let name = RecordName::from(domain).relative_to(&apex);
        let _ = writeln!(text, "; {name} is the domain of a service");
    }
    text
}

//! Writes small MMDB files (MaxMind DB file format, version 2.0): for the demo, which brings its own little world, and
//! for tests.
//!
//! Networks may be nested, the longer prefix wins. IPv4 networks go below `::/96`, as in the published databases.

use ipnet::IpNet;
use std::collections::HashMap;

/// Between search tree and data, 16 zero bytes.
const SEPARATOR: usize = 16;
/// Begin of the metadata.
const MARKER: &[u8] = b"\xab\xcd\xefMaxMind.com";

/// A value of the data section.
enum Value<'a> {
    Text(&'a str),
    Double(f64),
    U16(u16),
    U32(u32),
    U64(u64),
    List(Vec<Value<'a>>),
    Map(Vec<(&'a str, Value<'a>)>),
}

/// Type number and length in the control byte, and the bytes after it that they need.
fn control(out: &mut Vec<u8>, kind: u8, size: usize) {
    let (low, more): (u8, Vec<u8>) = match size {
        0..29 => (size.to_le_bytes()[0], Vec::new()),
        29..285 => (29, vec![(size - 29).to_le_bytes()[0]]),
        // Nothing written here is longer than 65,820 bytes: names and small maps.
        _ => (30, (size - 285).min(0xffff).to_be_bytes()[6..].to_vec()),
    };
    if kind < 8 {
        out.push(kind << 5 | low);
    } else {
        out.extend([low, kind - 7]);
    }
    out.extend(more);
}

/// An unsigned number without leading zero bytes.
fn unsigned(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    let zeros = bytes.iter().take_while(|b| **b == 0).count();
    control(out, kind, bytes.len() - zeros);
    out.extend(bytes.iter().skip(zeros));
}

impl Value<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => {
                control(out, 2, text.len());
                out.extend(text.as_bytes());
            }
            Self::Double(n) => {
                control(out, 3, 8);
                out.extend(n.to_be_bytes());
            }
            Self::U16(n) => unsigned(out, 5, &n.to_be_bytes()),
            Self::U32(n) => unsigned(out, 6, &n.to_be_bytes()),
            Self::U64(n) => unsigned(out, 9, &n.to_be_bytes()),
            Self::List(list) => {
                control(out, 11, list.len());
                list.iter().for_each(|value| value.write(out));
            }
            Self::Map(map) => {
                control(out, 7, map.len());
                for (key, value) in map {
                    Value::Text(key).write(out);
                    value.write(out);
                }
            }
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

/// What a row of a city database says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowPlace<'a> {
    /// Two letters.
    pub continent: &'a str,
    /// ISO 3166-1 alpha-2.
    pub country: &'a str,
    /// ISO 3166-2 without the country and the hyphen.
    pub subdivision: Option<&'a str>,
    /// Latitude and longitude, degrees.
    pub point: Option<(f64, f64)>,
}

/// A network and its encoded record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    network: IpNet,
    record: Vec<u8>,
}

impl Row {
    /// A network in a country (ISO 3166-1 alpha-2).
    #[must_use]
    pub fn country(network: IpNet, code: &str) -> Self {
        let country = Value::Map(vec![("iso_code", Value::Text(code))]);
        Self {
            network,
            record: Value::Map(vec![("country", country)]).to_bytes(),
        }
    }

    /// A network at a place.
    #[must_use]
    pub fn place(network: IpNet, place: &RowPlace<'_>) -> Self {
        let code = |name: &'static str, code| Value::Map(vec![(name, Value::Text(code))]);
        let mut record = vec![
            ("continent", code("code", place.continent)),
            ("country", code("iso_code", place.country)),
        ];
        if let Some(subdivision) = place.subdivision {
            record.push(("subdivisions", Value::List(vec![code("iso_code", subdivision)])));
        }
        if let Some((lat, lon)) = place.point {
            let location = vec![
                ("latitude", Value::Double(lat)),
                ("longitude", Value::Double(lon)),
            ];
            record.push(("location", Value::Map(location)));
        }
        Self {
            network,
            record: Value::Map(record).to_bytes(),
        }
    }

    /// A network that is only registered in a country, as anycast networks are.
    #[must_use]
    pub fn registered(network: IpNet, code: &str) -> Self {
        let country = Value::Map(vec![("iso_code", Value::Text(code))]);
        Self {
            network,
            record: Value::Map(vec![("registered_country", country)]).to_bytes(),
        }
    }

    /// A network of an autonomous system.
    #[must_use]
    pub fn asn(network: IpNet, number: u32, organisation: &str) -> Self {
        let record = Value::Map(vec![
            ("autonomous_system_number", Value::U32(number)),
            ("autonomous_system_organization", Value::Text(organisation)),
        ]);
        Self {
            network,
            record: record.to_bytes(),
        }
    }
}

/// Where a record of a tree node leads.
#[derive(Debug, Clone, Copy)]
enum Branch {
    Nowhere,
    Node(usize),
    Data(usize),
}

/// A database to be written.
#[derive(Debug, Clone)]
pub struct Database {
    kind: &'static str,
    rows: Vec<Row>,
    record_bits: u8,
    aliases: bool,
    ipv4_alone: bool,
}

impl Database {
    /// A database of countries.
    #[must_use]
    pub fn country(rows: impl IntoIterator<Item = Row>) -> Self {
        Self::of_kind("GeoLite2-Country", rows)
    }

    /// A database of places.
    #[must_use]
    pub fn city(rows: impl IntoIterator<Item = Row>) -> Self {
        Self::of_kind("GeoLite2-City", rows)
    }

    /// A database of autonomous systems.
    #[must_use]
    pub fn asn(rows: impl IntoIterator<Item = Row>) -> Self {
        Self::of_kind("GeoLite2-ASN", rows)
    }

    fn of_kind(kind: &'static str, rows: impl IntoIterator<Item = Row>) -> Self {
        Self {
            kind,
            rows: rows.into_iter().collect(),
            record_bits: 24,
            aliases: false,
            ipv4_alone: false,
        }
    }

    /// With records of 28 or 32 bits, as larger databases have; anything else is 24.
    #[must_use]
    pub fn with_record_bits(mut self, bits: u8) -> Self {
        self.record_bits = if matches!(bits, 28 | 32) { bits } else { 24 };
        self
    }

    /// With the IPv4 part reachable through the IPv6 networks that embed IPv4 addresses too (mapped, 6to4, Teredo), as in
    /// the published databases. Rows within those networks are lost.
    #[must_use]
    pub fn with_aliases(mut self) -> Self {
        self.aliases = true;
        self
    }

    /// With a tree of IPv4 addresses; rows of IPv6 are lost.
    #[must_use]
    pub fn for_ipv4_alone(mut self) -> Self {
        self.ipv4_alone = true;
        self
    }

    /// The file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut data: Vec<u8> = Vec::new();
        let mut offsets: HashMap<&[u8], usize> = HashMap::new();
        let mut nodes = vec![[Branch::Nowhere; 2]];
        // Short prefixes first: longer ones are cut out of them.
        let mut rows: Vec<_> = self
            .rows
            .iter()
            .filter_map(|row| Some((self.place(row.network)?, row)))
            .collect();
        rows.sort_by_key(|((_, depth), _)| *depth);
        for ((bits, depth), row) in rows {
            let offset = *offsets.entry(&row.record).or_insert_with(|| {
                let offset = data.len();
                data.extend(&row.record);
                offset
            });
            insert(&mut nodes, bits, depth, Branch::Data(offset));
        }
        if self.aliases && !self.ipv4_alone {
            let root = branch_off(&mut nodes, 0, 96);
            for (bits, length) in ALIASES {
                let parent = branch_off(&mut nodes, bits, length - 1);
                nodes[parent][side(bits, length - 1)] = Branch::Node(root);
            }
        }
        let mut file = Vec::new();
        for node in &nodes {
            let [left, right] = node.map(|branch| match branch {
                Branch::Nowhere => nodes.len(),
                Branch::Node(index) => index,
                Branch::Data(offset) => nodes.len() + SEPARATOR + offset,
            });
            self.write_node(&mut file, left, right);
        }
        file.extend([0; SEPARATOR]);
        file.extend(data);
        file.extend(MARKER);
        file.extend(self.metadata(nodes.len()));
        file
    }

    /// First bits of a network in the tree, and their number.
    fn place(&self, network: IpNet) -> Option<(u128, u8)> {
        match network {
            IpNet::V4(v4) if self.ipv4_alone => {
                Some((u128::from(v4.network().to_bits()) << 96, v4.prefix_len()))
            }
            IpNet::V4(v4) => Some((v4.network().to_bits().into(), 96 + v4.prefix_len())),
            IpNet::V6(_) if self.ipv4_alone => None,
            IpNet::V6(v6) => Some((v6.network().to_bits(), v6.prefix_len())),
        }
    }

    fn write_node(&self, file: &mut Vec<u8>, left: usize, right: usize) {
        let [_, _, _, _, l3, l2, l1, l0] = left.to_be_bytes();
        let [_, _, _, _, r3, r2, r1, r0] = right.to_be_bytes();
        match self.record_bits {
            28 => file.extend([l2, l1, l0, l3 << 4 | r3 & 15, r2, r1, r0]),
            32 => file.extend([l3, l2, l1, l0, r3, r2, r1, r0]),
            _ => file.extend([l2, l1, l0, r2, r1, r0]),
        }
    }

    fn metadata(&self, nodes: usize) -> Vec<u8> {
        let count = u32::try_from(nodes).unwrap_or(u32::MAX);
        Value::Map(vec![
            ("binary_format_major_version", Value::U16(2)),
            ("binary_format_minor_version", Value::U16(0)),
            ("build_epoch", Value::U64(1)),
            ("database_type", Value::Text(self.kind)),
            (
                "description",
                Value::Map(vec![("en", Value::Text("Made by Nexus GSLB"))]),
            ),
            ("ip_version", Value::U16(if self.ipv4_alone { 4 } else { 6 })),
            ("languages", Value::List(vec![Value::Text("en")])),
            ("node_count", Value::U32(count)),
            ("record_size", Value::U16(self.record_bits.into())),
        ])
        .to_bytes()
    }
}

/// IPv6 networks in which an IPv4 address follows the prefix: its first bits and their number.
const ALIASES: [(u128, u8); 3] = [(0xffff << 32, 96), (0x2002 << 112, 16), (0x2001_0000 << 96, 32)];

/// On which side of a node at a depth an address lies.
fn side(bits: u128, depth: u8) -> usize {
    usize::from(bits >> (127 - depth) & 1 == 1)
}

/// The node at a depth on the way to an address; made where there is none.
fn branch_off(nodes: &mut Vec<[Branch; 2]>, bits: u128, depth: u8) -> usize {
    let mut node = 0;
    for depth in 0..depth {
        let place = side(bits, depth);
        node = match nodes[node][place] {
            Branch::Node(next) => next,
            // A wider network's record goes on in both halves, of which one is then cut further.
            inherited => {
                nodes.push([inherited; 2]);
                let next = nodes.len() - 1;
                nodes[node][place] = Branch::Node(next);
                next
            }
        };
    }
    node
}

fn insert(nodes: &mut Vec<[Branch; 2]>, bits: u128, depth: u8, branch: Branch) {
    match depth.checked_sub(1) {
        Some(last) => {
            let node = branch_off(nodes, bits, last);
            nodes[node][side(bits, last)] = branch;
        }
        // The network of everything.
        None => nodes[0] = [branch; 2],
    }
}

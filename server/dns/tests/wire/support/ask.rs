//! Queries, octet by octet.

/// A query to be.
#[derive(Debug, Clone)]
pub struct Ask {
    pub id: u16,
    pub flags: u16,
    /// Wire form, in the case that is to be sent.
    pub name: Vec<u8>,
    pub qtype: u16,
    pub qclass: u16,
    pub opt: Option<Opt>,
}

/// An OPT record to be.
#[derive(Debug, Clone, Default)]
pub struct Opt {
    pub payload: u16,
    pub version: u8,
    pub flags: u16,
    pub options: Vec<(u16, Vec<u8>)>,
}

pub const A: u16 = 1;
pub const NS: u16 = 2;
pub const CNAME: u16 = 5;
pub const SOA: u16 = 6;
pub const HINFO: u16 = 13;
pub const MX: u16 = 15;
pub const TXT: u16 = 16;
pub const AAAA: u16 = 28;
pub const SRV: u16 = 33;
pub const OPT: u16 = 41;
pub const DS: u16 = 43;
pub const RRSIG: u16 = 46;
pub const NSEC: u16 = 47;
pub const DNSKEY: u16 = 48;
pub const CDS: u16 = 59;
pub const CDNSKEY: u16 = 60;
pub const HTTPS: u16 = 65;
pub const NXNAME: u16 = 128;
pub const IXFR: u16 = 251;
pub const AXFR: u16 = 252;
pub const ANY: u16 = 255;

pub const NSID: u16 = 3;
pub const ECS: u16 = 8;
pub const COOKIE: u16 = 10;
pub const EDE: u16 = 15;

/// Wire form of a name written with dots; the case stays.
pub fn wire(name: &str) -> Vec<u8> {
    let mut octets = Vec::new();
    for label in name
        .trim_end_matches('.')
        .split('.')
        .filter(|label| !label.is_empty())
    {
        octets.push(u8::try_from(label.len()).unwrap());
        octets.extend_from_slice(label.as_bytes());
    }
    octets.push(0);
    octets
}

impl Ask {
    pub fn new(name: &str, qtype: u16) -> Self {
        Self {
            id: fastrand::u16(..),
            flags: 0,
            name: wire(name),
            qtype,
            qclass: 1,
            opt: None,
        }
    }

    fn opt(mut self, change: impl FnOnce(&mut Opt)) -> Self {
        change(self.opt.get_or_insert_with(|| Opt {
            payload: 1232,
            ..Opt::default()
        }));
        self
    }

    pub fn edns(self) -> Self {
        self.opt(|_| {})
    }

    pub fn payload(self, payload: u16) -> Self {
        self.opt(|opt| opt.payload = payload)
    }

    pub fn version(self, version: u8) -> Self {
        self.opt(|opt| opt.version = version)
    }

    pub fn dnssec_ok(self) -> Self {
        self.opt(|opt| opt.flags |= 0x8000)
    }

    /// DO with CO (RFC 9824 §5.1).
    pub fn compact_ok(self) -> Self {
        self.opt(|opt| opt.flags |= 0xc000)
    }

    pub fn option(self, code: u16, data: &[u8]) -> Self {
        self.opt(|opt| opt.options.push((code, data.to_vec())))
    }

    /// A client subnet, from a prefix such as `198.51.100.0/24`.
    pub fn ecs(self, prefix: &str) -> Self {
        self.option(ECS, &ecs(prefix))
    }

    pub fn flags(mut self, flags: u16) -> Self {
        self.flags = flags;
        self
    }

    pub fn class(mut self, class: u16) -> Self {
        self.qclass = class;
        self
    }

    pub fn question(&self) -> Vec<u8> {
        [
            &self.name[..],
            &self.qtype.to_be_bytes(),
            &self.qclass.to_be_bytes(),
        ]
        .concat()
    }

    pub fn octets(&self) -> Vec<u8> {
        let opt = self.opt.iter().map(Opt::octets).collect::<Vec<_>>();
        message(self.id, self.flags, &[self.question()], &opt)
    }
}

impl Opt {
    pub fn octets(&self) -> Vec<u8> {
        let mut rdata = Vec::new();
        for (code, data) in &self.options {
            rdata.extend(code.to_be_bytes());
            rdata.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
            rdata.extend(data);
        }
        let length = u16::try_from(rdata.len()).unwrap();
        let ttl = [0, self.version].into_iter().chain(self.flags.to_be_bytes());
        let fixed = [0]
            .into_iter()
            .chain(OPT.to_be_bytes())
            .chain(self.payload.to_be_bytes())
            .chain(ttl);
        fixed.chain(length.to_be_bytes()).chain(rdata).collect()
    }
}

/// OPTION-DATA of a client subnet with the right number of octets.
pub fn ecs(prefix: &str) -> Vec<u8> {
    let net: ipnet::IpNet = prefix.parse().unwrap();
    let octets = match net.network() {
        std::net::IpAddr::V4(v4) => v4.octets().to_vec(),
        std::net::IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    let family = if octets.len() == 4 { 1 } else { 2 };
    let used = usize::from(net.prefix_len()).div_ceil(8);
    [&[0, family, net.prefix_len(), 0], &octets[..used]].concat()
}

/// A message of any questions and additional records.
pub fn message(id: u16, flags: u16, questions: &[Vec<u8>], additionals: &[Vec<u8>]) -> Vec<u8> {
    let count = |list: &[Vec<u8>]| u16::try_from(list.len()).unwrap();
    let header = [id, flags, count(questions), 0, 0, count(additionals)];
    let header = header.iter().flat_map(|field| field.to_be_bytes());
    header
        .chain(questions.concat())
        .chain(additionals.concat())
        .collect()
}

//! What the daemon and a worker say to each other: frames with a length before them, numbers in little-endian order.
//!
//! The daemon asks, the worker answers, one at a time. A worker that sends anything but an answer is broken, and replaced.

use crate::program::Facts;
use gslb_engine::geo::Country;
use gslb_engine::query::Family;
use gslb_engine::script::{ScriptCandidate, ScriptError, ScriptFailure, ScriptInput, ScriptReads};
use std::net::IpAddr;

/// Longest frame, so that a broken length asks for no gigabytes.
pub(crate) const MAX_FRAME: usize = 4 << 20;

/// What the daemon asks.
#[derive(Debug, PartialEq)]
pub(crate) enum Request<'a> {
    /// Compile this body, and keep it under this number.
    Load { id: u64, body: &'a str },
    /// Run the script with this number.
    Run { id: u64, input: Input<'a> },
}

/// The input as it came over the wire; see [`Input::view`].
#[derive(Debug, PartialEq)]
pub(crate) struct Input<'a> {
    qname: &'a str,
    qtype: Family,
    client_ip: IpAddr,
    client_country: Option<Country>,
    client_asn: u32,
    now: u64,
    service: &'a str,
    candidates: Vec<ScriptCandidate<'a>>,
}

impl Input<'_> {
    pub(crate) fn view(&self) -> ScriptInput<'_> {
        ScriptInput {
            qname: self.qname,
            qtype: self.qtype,
            client_ip: self.client_ip,
            client_country: self.client_country,
            client_asn: self.client_asn,
            now: self.now,
            service: self.service,
            candidates: &self.candidates,
            arrived: None,
        }
    }
}

/// What a worker answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is ready for the first request.
    Ready,
    Loaded(Facts),
    Refused(ScriptError),
    Order(Vec<u16>),
    Failure(ScriptFailure),
    /// It does not hold the script: send it along.
    Unknown,
}

/// A frame in the making.
struct Frame(Vec<u8>);

impl Frame {
    fn new(kind: u8) -> Self {
        Self(vec![0, 0, 0, 0, kind])
    }

    fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).unwrap_or(u32::MAX);
        for (to, from) in self.0.iter_mut().zip(length.to_le_bytes()) {
            *to = from;
        }
        self.0
    }

    fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn text(&mut self, value: &str) {
        self.u32(u32::try_from(value.len()).unwrap_or(u32::MAX));
        self.0.extend_from_slice(value.as_bytes());
    }

    fn address(&mut self, value: IpAddr) {
        match value {
            IpAddr::V4(v4) => {
                self.byte(4);
                self.0.extend_from_slice(&v4.octets());
            }
            IpAddr::V6(v6) => {
                self.byte(6);
                self.0.extend_from_slice(&v6.octets());
            }
        }
    }
}

/// What is left of a frame. Every taking of a value that is not there says so.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.u32()?).ok()?;
        std::str::from_utf8(self.bytes(length)?).ok()
    }

    fn address(&mut self) -> Option<IpAddr> {
        match self.byte()? {
            4 => self.array::<4>().map(IpAddr::from),
            6 => self.array::<16>().map(IpAddr::from),
            _ => None,
        }
    }
}

/// The frame that has a body compiled.
pub(crate) fn load(id: u64, body: &str) -> Vec<u8> {
    let mut frame = Frame::new(1);
    frame.u64(id);
    frame.text(body);
    frame.finish()
}

/// The frame that has a script run.
pub(crate) fn run(id: u64, input: &ScriptInput<'_>) -> Vec<u8> {
    let mut frame = Frame::new(2);
    frame.u64(id);
    frame.text(input.qname);
    frame.byte(match input.qtype {
        Family::V4 => 4,
        Family::V6 => 6,
    });
    frame.address(input.client_ip);
    frame
        .0
        .extend_from_slice(&input.client_country.map_or([0, 0], |country| country.0));
    frame.u32(input.client_asn);
    frame.u64(input.now);
    frame.text(input.service);
    frame.u32(u32::try_from(input.candidates.len()).unwrap_or(u32::MAX));
    for candidate in input.candidates {
        frame.address(candidate.ip);
        frame.u16(candidate.port);
        frame.text(candidate.region);
        frame.u32(candidate.weight);
        frame.u32(candidate.priority);
        frame.u32(candidate.asn);
        frame.u64(candidate.health_score.to_bits());
        frame.u64(candidate.rtt_ms.unwrap_or(f64::INFINITY).to_bits());
    }
    frame.finish()
}

/// Reads a request out of what follows the length.
pub(crate) fn request(frame: &[u8]) -> Option<Request<'_>> {
    let mut rest = Rest(frame);
    let kind = rest.byte()?;
    let id = rest.u64()?;
    match kind {
        1 => Some(Request::Load {
            id,
            body: rest.text()?,
        }),
        2 => Some(Request::Run {
            id,
            input: input(&mut rest)?,
        }),
        _ => None,
    }
}

fn input<'a>(rest: &mut Rest<'a>) -> Option<Input<'a>> {
    let qname = rest.text()?;
    let qtype = match rest.byte()? {
        4 => Family::V4,
        6 => Family::V6,
        _ => return None,
    };
    let client_ip = rest.address()?;
    let client_country = rest.array().filter(|letters| *letters != [0, 0]).map(Country);
    let client_asn = rest.u32()?;
    let now = rest.u64()?;
    let service = rest.text()?;
    let count = usize::try_from(rest.u32()?).ok()?;
    let mut candidates = Vec::with_capacity(count.min(rest.0.len() / 32));
    for _ in 0..count {
        candidates.push(ScriptCandidate {
            ip: rest.address()?,
            port: rest.u16()?,
            region: rest.text()?,
            weight: rest.u32()?,
            priority: rest.u32()?,
            asn: rest.u32()?,
            health_score: f64::from_bits(rest.u64()?),
            rtt_ms: Some(f64::from_bits(rest.u64()?)).filter(|rtt| rtt.is_finite()),
        });
    }
    Some(Input {
        qname,
        qtype,
        client_ip,
        client_country,
        client_asn,
        now,
        service,
        candidates,
    })
}

impl Answer {
    /// The frame of this answer.
    pub(crate) fn frame(&self) -> Vec<u8> {
        match self {
            Self::Ready => Frame::new(1).finish(),
            Self::Loaded(facts) => {
                let mut frame = Frame::new(2);
                let reads = facts.reads;
                frame.byte(
                    u8::from(reads.client_ip)
                        | u8::from(reads.client_country) << 1
                        | u8::from(reads.client_asn) << 2,
                );
                frame.u16(facts.quick_up_to);
                frame.u16(facts.steps);
                frame.finish()
            }
            Self::Refused(error) => {
                let mut frame = Frame::new(3);
                frame.u32(error.line);
                frame.u32(error.column);
                frame.text(&error.message);
                frame.finish()
            }
            Self::Order(order) => {
                let mut frame = Frame::new(4);
                order.iter().for_each(|position| frame.u16(*position));
                frame.finish()
            }
            Self::Failure(failure) => {
                let (kind, text) = match failure {
                    ScriptFailure::NamesNobody => (5, ""),
                    ScriptFailure::Stopped(why) => (6, why.as_str()),
                    ScriptFailure::Failed(why) => (7, why.as_str()),
                    ScriptFailure::NotCompiled(_)
                    | ScriptFailure::Busy
                    | ScriptFailure::SwitchedOff { .. } => (7, "the worker would not run it"),
                };
                let mut frame = Frame::new(kind);
                frame.text(text);
                frame.finish()
            }
            Self::Unknown => Frame::new(8).finish(),
        }
    }

    /// Reads an answer out of what follows the length.
    pub(crate) fn read(frame: &[u8]) -> Option<Self> {
        let mut rest = Rest(frame);
        Some(match rest.byte()? {
            1 => Self::Ready,
            2 => {
                let bits = rest.byte()?;
                let reads = ScriptReads {
                    client_ip: bits & 1 != 0,
                    client_country: bits & 2 != 0,
                    client_asn: bits & 4 != 0,
                };
                Self::Loaded(Facts {
                    reads,
                    quick_up_to: rest.u16()?,
                    steps: rest.u16()?,
                })
            }
            3 => Self::Refused(ScriptError {
                line: rest.u32()?,
                column: rest.u32()?,
                message: rest.text()?.to_owned(),
            }),
            4 => {
                let mut order = Vec::with_capacity(rest.0.len() / 2);
                while !rest.0.is_empty() {
                    order.push(rest.u16()?);
                }
                Self::Order(order)
            }
            5 => Self::Failure(ScriptFailure::NamesNobody),
            6 => Self::Failure(ScriptFailure::Stopped(rest.text()?.to_owned())),
            7 => Self::Failure(ScriptFailure::Failed(rest.text()?.to_owned())),
            8 => Self::Unknown,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body(frame: &[u8]) -> &[u8] {
        let length = u32::from_le_bytes(frame[..4].try_into().unwrap());
        assert_eq!(usize::try_from(length).unwrap(), frame.len() - 4);
        &frame[4..]
    }

    #[test]
    fn requests_arrive_as_they_were_sent() {
        let candidates = [
            ScriptCandidate {
                ip: "192.0.2.1".parse().unwrap(),
                port: 443,
                region: "eu",
                weight: 3,
                priority: 1,
                asn: 64500,
                health_score: 0.5,
                rtt_ms: Some(1.25),
            },
            ScriptCandidate {
                ip: "2001:db8::1".parse().unwrap(),
                port: 0,
                region: "",
                weight: 0,
                priority: 0,
                asn: 0,
                health_score: 1.0,
                rtt_ms: None,
            },
        ];
        let input = ScriptInput {
            qname: "www.example.com.",
            qtype: Family::V6,
            client_ip: "198.51.100.7".parse().unwrap(),
            client_country: Country::parse("NO"),
            client_asn: 64501,
            now: 1_700_000_000,
            service: "www",
            candidates: &candidates,
            arrived: None,
        };
        let frame = run(7, &input);
        let Some(Request::Run {
            id: 7,
            input: arrived,
        }) = request(body(&frame))
        else {
            panic!("no run")
        };
        assert_eq!(arrived.view(), input);
        assert_eq!(
            request(body(&load(9, "result = []"))),
            Some(Request::Load {
                id: 9,
                body: "result = []"
            })
        );
    }

    #[test]
    fn answers_arrive_as_they_were_sent() {
        let reads = ScriptReads {
            client_ip: true,
            client_country: false,
            client_asn: true,
        };
        let answers = [
            Answer::Ready,
            Answer::Loaded(Facts {
                reads,
                quick_up_to: 64,
                steps: 6000,
            }),
            Answer::Refused(ScriptError {
                line: 3,
                column: 14,
                message: "what?".into(),
            }),
            Answer::Order(vec![2, 0, 513]),
            Answer::Failure(ScriptFailure::NamesNobody),
            Answer::Failure(ScriptFailure::Stopped("slow".into())),
            Answer::Failure(ScriptFailure::Failed("oops".into())),
            Answer::Unknown,
        ];
        for answer in answers {
            assert_eq!(Answer::read(body(&answer.frame())), Some(answer));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_stop_the_readers(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (request(&bytes), Answer::read(&bytes));
        }
    }
}

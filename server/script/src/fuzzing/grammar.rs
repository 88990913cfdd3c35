//! Scripts out of octets: each octet is one choice. Made to run far, and to touch everything that the proof follows and much
//! that it does not: so expressions have a type nearly always, and every name has a value.

mod expressions;

use std::fmt::Write;

/// Statements of a block.
const BLOCK: usize = 4;

/// Octets to choose by. At their end each choice is the first, which is always the simplest.
struct Tape<'d> {
    octets: std::slice::Iter<'d, u8>,
}

impl Tape<'_> {
    /// A number below `count`.
    fn pick(&mut self, count: usize) -> usize {
        self.octets
            .next()
            .map_or(0, |octet| usize::from(*octet) % count.max(1))
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        let at = self.pick(of.len());
        of.get(at).copied().unwrap_or_default()
    }

    fn is_empty(&self) -> bool {
        self.octets.as_slice().is_empty()
    }
}

/// The script that these octets stand for.
pub(super) fn script(octets: &[u8]) -> String {
    let mut writer = Writer {
        tape: Tape {
            octets: octets.iter(),
        },
        text: String::from(
            "i0 = 1\ni1 = now\nt0 = qname\nt1 = \"e\"\nl0 = [\"a\", \"b\"]\nl1 = qname.split(\".\")\n\
             n0 = [1, 2, 3]\nd0 = {\"a\": 1}\nd1 = {}\nx0 = [(1, \"a\")]\nc0 = candidates[0]\n\
             def f(a, b):\n    return a\n",
        ),
        indent: 0,
        loops: 0,
        wild: false,
    };
    writer.wild = writer.tape.pick(4) == 3;
    while !writer.tape.is_empty() {
        writer.statement(0);
    }
    writer.text.push_str(match writer.tape.octets.len() % 2 {
        0 => "result = [c[\"ip\"] for c in candidates]\n",
        _ => "result = l0\n",
    });
    writer.text
}

const INTS: [&str; 2] = ["i0", "i1"];
const TEXTS: [&str; 2] = ["t0", "t1"];
const LISTS: [&str; 2] = ["l0", "l1"];

struct Writer<'d> {
    tape: Tape<'d>,
    text: String,
    indent: usize,
    loops: usize,
    /// Makes also what is never proven. One in four does: else one such place spoils nearly every script.
    wild: bool,
}

impl Writer<'_> {
    /// A choice among `tame` ways of which each may be proven, and further `wild` ones.
    fn choose(&mut self, tame: usize, wild: usize) -> usize {
        self.tape.pick(if self.wild { tame + wild } else { tame })
    }

    fn line(&mut self, line: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{:1$}{line}", "", self.indent * 4);
    }

    fn block(&mut self, depth: usize) {
        self.indent += 1;
        for _ in 0..=self.tape.pick(BLOCK) {
            self.statement(depth + 1);
        }
        self.indent -= 1;
    }

    fn statement(&mut self, depth: usize) {
        let choices = if depth >= 3 { 16 } else { 22 };
        match self.tape.pick(choices) {
            0 => {
                let line = format!("{} = {}", self.tape.one(&INTS), self.int(0));
                self.line(&line);
            }
            1 => {
                let line = format!("{} = {}", self.tape.one(&TEXTS), self.words(0));
                self.line(&line);
            }
            2 => {
                let line = format!("{} = {}", self.tape.one(&LISTS), self.list(0));
                self.line(&line);
            }
            3 => {
                let op = self.tape.one(&["+=", "-=", "//=", "%=", "&=", "|=", "^=", "*="]);
                let line = format!("{} {op} {}", self.tape.one(&INTS), self.int(1));
                self.line(&line);
            }
            4 => {
                let line = format!("{} += {}", self.tape.one(&TEXTS), self.words(1));
                self.line(&line);
            }
            5 => {
                let line = format!("{} += {}", self.tape.one(&LISTS), self.list(1));
                self.line(&line);
            }
            6 => {
                let list = self.tape.one(&LISTS);
                let line = match self.tape.pick(8) {
                    0 => format!("{list}.append({})", self.words(1)),
                    1 => format!("{list}.extend({})", self.list(1)),
                    2 => format!(
                        "{list}.insert({}, {})",
                        self.tape.one(&["0", "-1", "i0"]),
                        self.words(1)
                    ),
                    3 => format!("{list}.pop()"),
                    4 => format!("{list}.clear()"),
                    5 => format!("{list}[0] = {}", self.words(1)),
                    6 => format!("{list}.remove({list}[-1])"),
                    _ => format!("{list}[{}] += {}", self.tape.one(&["0", "-1"]), self.words(1)),
                };
                self.line(&line);
            }
            7 => {
                let line = match self.tape.pick(7) {
                    0 => format!("d0[{}] = {}", self.words(1), self.int(1)),
                    1 => format!("d1.setdefault({}, []).append({})", self.words(1), self.words(1)),
                    2 => format!("d0.pop({}, 0)", self.words(1)),
                    3 => "d1.clear()".to_owned(),
                    4 => format!("d1[{}] = {}", self.words(1), self.list(1)),
                    5 => format!("d0 = {}", self.dict(1)),
                    _ => format!("d0[{}] = d0.get({}, 0) + 1", self.words(1), self.words(1)),
                };
                self.line(&line);
            }
            8 => {
                let line = format!("n0 = {}", self.numbers(0));
                self.line(&line);
            }
            9 => {
                let line = format!("x0 = {}", self.pairs(0));
                self.line(&line);
            }
            10 => {
                let line = format!("c0 = {}", self.candidate(1));
                self.line(&line);
            }
            11 => {
                let line = match self.tape.pick(4) {
                    0 => format!("i0, t0 = {}, {}", self.int(1), self.words(1)),
                    1 => format!("(i0, (t0, t1)) = ({}, ({}, t0))", self.int(1), self.words(1)),
                    2 => "i0, i1 = i1, i0".to_owned(),
                    _ => format!("t0, t1 = {}.partition({})[0:2]", self.words(1), self.words(2)),
                };
                self.line(&line);
            }
            12 => {
                let line = format!("print({}, {})", self.words(1), self.list(1));
                self.line(&line);
            }
            13 => {
                let line = if self.loops > 0 {
                    self.tape.one(&["pass", "break", "continue"])
                } else {
                    "pass"
                };
                self.line(line);
            }
            14 => {
                let line = format!("f = lambda a, b: {}", self.words(1));
                self.line(&line);
            }
            15 => {
                let line = format!(
                    "{} = {}",
                    self.tape.one(&["t0", "i0", "l0", "x0"]),
                    self.anything(0)
                );
                self.line(&line);
            }
            16 | 17 => {
                let line = format!("if {}:", self.truth(0));
                self.line(&line);
                self.block(depth);
                if self.tape.pick(2) == 1 {
                    self.line("else:");
                    self.block(depth);
                }
            }
            18..=20 => {
                let line = self.loop_head();
                self.line(&line);
                self.loops += 1;
                self.block(depth);
                self.loops -= 1;
            }
            _ => self.function(depth),
        }
    }

    fn loop_head(&mut self) -> String {
        match self.tape.pick(9) {
            0 => "for c0 in candidates:".to_owned(),
            1 => format!("for t0 in {}:", self.list(1)),
            2 => format!("for i0 in {}:", self.numbers(1)),
            3 => format!("for i0, t0 in enumerate({}):", self.list(1)),
            4 => format!("for i0, t0 in {}:", self.pairs(1)),
            5 => format!("for t0, t1 in zip({}, {}):", self.list(1), self.list(1)),
            6 => "for t0, i0 in d0.items():".to_owned(),
            7 => "for t0 in d1:".to_owned(),
            _ => format!("for l0[0] in {}:", self.list(1)),
        }
    }

    /// A function that is called at once, or it would not be looked at.
    fn function(&mut self, depth: usize) {
        self.line("def g(a, b):");
        let loops = std::mem::take(&mut self.loops);
        self.indent += 1;
        // Names that are assigned anywhere in a function are its own.
        self.line("t0, t1, i0, i1, l0, l1 = a, a, b, b, [a], [a]");
        self.line("n0, x0, d0, c0, f = [b], [(b, a)], {a: b}, candidates[0], lambda a, b: a");
        self.indent -= 1;
        self.block(depth);
        self.indent += 1;
        let line = format!("return {}", self.words(0));
        self.line(&line);
        self.indent -= 1;
        self.loops = loops;
        let call = format!(
            "{} = g({}, {})",
            self.tape.one(&TEXTS),
            self.words(1),
            self.int(1)
        );
        self.line(&call);
    }
}

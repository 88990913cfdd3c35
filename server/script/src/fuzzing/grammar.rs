//! Scripts out of octets: each octet is one choice. Made to run far, and to touch everything that the proof follows and much
//! that it does not: so expressions have a type nearly always, and every name has a value.

use std::fmt::Write;

/// Expressions and blocks inside one another.
const DEPTH: usize = 5;
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

    fn int(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return self.tape.one(&["i0", "0", "1", "i1", "7"]).to_owned();
        }
        let d = depth + 1;
        match self.choose(27, 1) {
            0 => "i0".to_owned(),
            1 => "i1".to_owned(),
            2 => self
                .tape
                .one(&["0", "1", "2", "-1", "63", "2147483647", "client_asn", "now"])
                .to_owned(),
            3 => {
                let op = self.tape.one(&["+", "-", "*", "&", "|", "^"]);
                format!("({} {op} {})", self.int(d), self.int(d))
            }
            4 => format!(
                "({} {} ({} or 1))",
                self.int(d),
                self.tape.one(&["//", "%"]),
                self.int(d)
            ),
            5 => format!("{}({})", self.tape.one(&["-", "+", "~"]), self.int(d)),
            6 => format!("len({})", self.words(d)),
            7 => format!("len({})", self.list(d)),
            8 => format!("hash({})", self.words(d)),
            9 => format!("int({})", self.real(d)),
            10 => format!("int(\"0\" + \"9\" * 3) + {}", self.int(d)),
            11 => format!("int(str({}))", self.int(d)),
            12 => format!(
                "{}.{}({})",
                self.words(d),
                self.tape.one(&["find", "rfind", "count"]),
                self.words(d)
            ),
            13 => format!("abs({})", self.int(d)),
            14 => format!("({} if {} else {})", self.int(d), self.truth(d), self.int(d)),
            15 => format!("d0.get({}, {})", self.words(d), self.int(d)),
            16 => format!("{}([1] + {})", self.tape.one(&["min", "max"]), self.numbers(d)),
            17 => format!(
                "{}({}, {})",
                self.tape.one(&["min", "max"]),
                self.int(d),
                self.int(d)
            ),
            18 => {
                let field = self.tape.one(&["weight", "port", "priority", "asn"]);
                format!("{}[\"{field}\"]", self.candidate(d))
            }
            19 => format!("len({})", self.candidates(d)),
            20 => "ord((t0 + \"e\")[0])".to_owned(),
            21 => format!("int(\"{}\", 36)", self.tape.one(&["zz", "7", "zzzzzzzz"])),
            22 => format!("({})[{}]", self.numbers(d), self.tape.one(&["0", "-1"])),
            23 => format!("(l0.index(l0[-1]) + {})", self.int(d)),
            24 => format!("len(d0) + len(d1) + {}", self.int(d)),
            25 => format!("len({})", self.pairs(d)),
            26 => format!("f({}, {})", self.int(d), self.int(d)),
            _ => format!(
                "({} {} {})",
                self.int(d),
                self.tape.one(&["<<", ">>"]),
                self.int(d)
            ),
        }
    }

    fn real(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return "0.5".to_owned();
        }
        let d = depth + 1;
        match self.tape.pick(6) {
            0 => "1.5".to_owned(),
            1 => format!("{}[\"health_score\"]", self.candidate(d)),
            2 => format!("float({})", self.int(d)),
            3 => format!("({} / ({} or 1))", self.int(d), self.int(d)),
            4 => format!(
                "({} {} {})",
                self.real(d),
                self.tape.one(&["+", "*", "-"]),
                self.real(d)
            ),
            _ => "1e300".to_owned(),
        }
    }

    fn words(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return self.tape.one(&["t0", "t1", "\"e\"", "qname", "\"\""]).to_owned();
        }
        let d = depth + 1;
        match self.choose(25, 5) {
            0 => "t0".to_owned(),
            1 => "t1".to_owned(),
            2 => self
                .tape
                .one(&[
                    "\"e\"",
                    "\"\"",
                    "\".\"",
                    "qname",
                    "client_ip",
                    "client_country",
                    "service",
                    "\"\u{390}\u{149}\u{df}\"",
                    "\"{}{}\"",
                    "\"%s%s\"",
                ])
                .to_owned(),
            3 => format!("({} + {})", self.words(d), self.words(d)),
            4 => {
                let method = self.tape.one(&[
                    "lower",
                    "upper",
                    "capitalize",
                    "title",
                    "strip",
                    "lstrip",
                    "rstrip",
                ]);
                format!("{}.{method}()", self.words(d))
            }
            5 => format!("{}.replace({}, {})", self.words(d), self.words(d), self.words(d)),
            6 => format!("{}.join({})", self.words(d), self.list(d)),
            7 => format!("{}.format({}, {})", self.words(d), self.words(d), self.int(d)),
            8 => format!("str({})", self.int(d)),
            9 => format!("str({})", self.real(d)),
            10 => format!("({})[{}]", self.words(d), self.tape.one(&["0", "-1", "1"])),
            11 => {
                let part = self.tape.one(&[":", "1:", ":-1", "::2", "::-1", "-9:", "i0:"]);
                format!("({})[{part}]", self.words(d))
            }
            12 => format!("({} if {} else {})", self.words(d), self.truth(d), self.words(d)),
            13 => format!(
                "({} {} {})",
                self.words(d),
                self.tape.one(&["or", "and"]),
                self.words(d)
            ),
            14 => format!("({})[{}]", self.list(d), self.tape.one(&["0", "-1", "i0"])),
            15 => format!("{}[\"{}\"]", self.candidate(d), self.tape.one(&["ip", "region"])),
            16 => format!("type({})", self.words(d)),
            17 => format!("chr({})", self.tape.one(&["101", "8364", "128512"])),
            18 => format!(
                "{}.partition({})[{}]",
                self.words(d),
                self.words(d),
                self.tape.one(&["0", "1", "2"])
            ),
            19 => format!(
                "{}.rpartition({})[{}]",
                self.words(d),
                self.words(d),
                self.tape.one(&["0", "2"])
            ),
            20 => format!("f({}, {})", self.words(d), self.words(d)),
            21 => format!(
                "(lambda a, b: {})({}, {})",
                self.tape.one(&["a + b", "a", "a.join([b, b])"]),
                self.words(d),
                self.words(d)
            ),
            22 => format!("{}(l1 + [{}])", self.tape.one(&["min", "max"]), self.words(d)),
            23 => format!(
                "max(l1 + [{}], key = lambda a: {})",
                self.words(d),
                self.tape
                    .one(&["a", "len(a)", "(len(a), a)", "a.lower()", "sorted(l0)"])
            ),
            24 => format!(
                "{}.{}({})",
                self.words(d),
                self.tape
                    .one(&["removeprefix", "removesuffix", "strip", "lstrip"]),
                self.words(d)
            ),
            25 => format!("({} * {})", self.words(d), self.int(d)),
            26 => format!(
                "({} % {})",
                self.words(d),
                self.tape.one(&["t0", "(t0, t1)", "i0"])
            ),
            27 => format!("str({})", self.tape.one(&["True", "None", "l0", "d0", "x0"])),
            28 => format!(
                "\"{{0}}{{0}}{{a}}\".format({}, a = {})",
                self.words(d),
                self.words(d)
            ),
            _ => format!("repr({})", self.words(d)),
        }
    }

    /// A list of texts.
    fn list(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return self.tape.one(&["l0", "l1", "[t0]", "[]"]).to_owned();
        }
        let d = depth + 1;
        match self.choose(18, 2) {
            0 => "l0".to_owned(),
            1 => "l1".to_owned(),
            2 => format!("[{}, {}]", self.words(d), self.words(d)),
            3 => format!("({} + {})", self.list(d), self.list(d)),
            4 => format!("[{} for c0 in {}]", self.words(d), self.candidates(d)),
            5 => format!(
                "[{} for t0 in {} if {}]",
                self.words(d),
                self.list(d),
                self.truth(d)
            ),
            6 => format!("[t0 + t1 for t0 in {} for t1 in {}]", self.list(d), self.list(d)),
            7 => {
                let how = self.tape.one(&["split", "rsplit"]);
                let most = self.tape.one(&["", ", 1", ", -1", ", i0"]);
                format!("{}.{how}({}{most})", self.words(d), self.words(d))
            }
            8 => format!(
                "{}.{}()",
                self.words(d),
                self.tape.one(&["split", "splitlines", "rsplit"])
            ),
            9 => format!("sorted({})", self.list(d)),
            10 => {
                let key = self.tape.one(&[
                    "len(a)",
                    "(len(a), a)",
                    "a",
                    "-len(a)",
                    "a.split(\"e\")",
                    "hash(a)",
                    "[a, a]",
                ]);
                let reverse = self.tape.one(&["", ", reverse = True"]);
                format!("sorted({}, key = lambda a: {key}{reverse})", self.list(d))
            }
            11 => format!(
                "{}({})",
                self.tape.one(&["list", "reversed", "tuple"]),
                self.list(d)
            ),
            12 => {
                let part = self.tape.one(&[":", "1:", ":-1", "::2", "::-1", ":3", "i0:"]);
                format!("({})[{part}]", self.list(d))
            }
            13 => format!("({} if {} else {})", self.list(d), self.truth(d), self.list(d)),
            14 => format!("({} or {})", self.list(d), self.list(d)),
            15 => format!("{}(d0)", self.tape.one(&["list", "sorted"])),
            16 => format!("{}.keys()", self.tape.one(&["d0", "d1", "c0"])),
            17 => format!("d1.get({}, {})", self.words(d), self.list(d)),
            18 => format!("({} * {})", self.list(d), self.tape.one(&["2", "i0"])),
            _ => format!("list({}.elems())", self.words(d)),
        }
    }

    fn numbers(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return self.tape.one(&["n0", "[1]", "[]"]).to_owned();
        }
        let d = depth + 1;
        match self.tape.pick(11) {
            0 => "n0".to_owned(),
            1 => format!("[{}, {}]", self.int(d), self.int(d)),
            2 => format!(
                "range({})",
                self.tape
                    .one(&["4", "64", "300", "i0", "len(t0)", "1, 40, 3", "40, 1, -1"])
            ),
            3 => format!("[{} for c0 in {}]", self.int(d), self.candidates(d)),
            4 => format!(
                "[{} for i0 in {} if {}]",
                self.int(d),
                self.numbers(d),
                self.truth(d)
            ),
            5 => format!("sorted({})", self.numbers(d)),
            6 => format!("({} + {})", self.numbers(d), self.numbers(d)),
            7 => "d0.values()".to_owned(),
            8 => format!("list({})", self.numbers(d)),
            9 => format!("[len(t0) for t0 in {}]", self.list(d)),
            _ => format!("({})[{}]", self.numbers(d), self.tape.one(&[":", "1:", "::-1"])),
        }
    }

    /// A list of pairs of a number and a text.
    fn pairs(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return "x0".to_owned();
        }
        let d = depth + 1;
        match self.tape.pick(8) {
            0 => "x0".to_owned(),
            1 => format!("list(enumerate({}))", self.list(d)),
            2 => format!("zip({}, {})", self.numbers(d), self.list(d)),
            3 => format!("sorted({})", self.pairs(d)),
            4 => format!("[({}, t0) for t0 in {}]", self.int(d), self.list(d)),
            5 => format!("({} + {})", self.pairs(d), self.pairs(d)),
            6 => format!("[(len(a), a) for a in {}]", self.list(d)),
            _ => format!("sorted({}, key = lambda a: (a[1], a[0]))", self.pairs(d)),
        }
    }

    fn dict(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return "{}".to_owned();
        }
        let d = depth + 1;
        match self.tape.pick(5) {
            0 => "d0".to_owned(),
            1 => format!("{{{}: {}, \"b\": {}}}", self.words(d), self.int(d), self.int(d)),
            2 => format!("{{t0: {} for t0 in {}}}", self.int(d), self.list(d)),
            3 => format!(
                "{{c0[\"ip\"]: {} for c0 in {} if {}}}",
                self.int(d),
                self.candidates(d),
                self.truth(d)
            ),
            _ => "dict()".to_owned(),
        }
    }

    fn candidate(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return "c0".to_owned();
        }
        match self.tape.pick(4) {
            0 => "c0".to_owned(),
            1 => format!("candidates[{}]", self.tape.one(&["0", "-1"])),
            2 => format!(
                "max({}, key = lambda c: {})",
                self.candidates(depth + 1),
                self.key()
            ),
            _ => "c0".to_owned(),
        }
    }

    fn key(&mut self) -> &'static str {
        self.tape.one(&[
            "c[\"weight\"]",
            "-c[\"priority\"]",
            "(c[\"priority\"], c[\"rtt_ms\"])",
            "c[\"region\"]",
            "c[\"ip\"].split(\".\")",
            "hash(c[\"ip\"] + qname)",
            "(c[\"health_score\"], c[\"region\"], c[\"ip\"])",
            "c[\"region\"].upper()",
        ])
    }

    fn candidates(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return "candidates".to_owned();
        }
        let d = depth + 1;
        match self.tape.pick(6) {
            0 => "candidates".to_owned(),
            1 => format!("[c for c in candidates if {}]", self.truth(d)),
            2 => format!("sorted({}, key = lambda c: {})", self.candidates(d), self.key()),
            3 => format!("({} or candidates)", self.candidates(d)),
            4 => format!(
                "({})[{}]",
                self.candidates(d),
                self.tape.one(&[":3", "1:", "::-1"])
            ),
            _ => format!("({} + {})", self.candidates(d), self.candidates(d)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        if depth >= DEPTH {
            return "True".to_owned();
        }
        let d = depth + 1;
        let compare = ["<", "<=", "==", "!=", ">", ">="];
        match self.tape.pick(14) {
            0 => "True".to_owned(),
            1 => format!("{} {} {}", self.int(d), self.tape.one(&compare), self.int(d)),
            2 => format!("{} {} {}", self.words(d), self.tape.one(&compare), self.words(d)),
            3 => format!("{} in {}", self.words(d), self.words(d)),
            4 => format!("{} not in {}", self.words(d), self.list(d)),
            5 => format!("not ({})", self.truth(d)),
            6 => format!(
                "(({}) {} ({}))",
                self.truth(d),
                self.tape.one(&["and", "or"]),
                self.truth(d)
            ),
            7 => {
                let method = self.tape.one(&["startswith", "endswith"]);
                format!("{}.{method}({})", self.words(d), self.words(d))
            }
            8 => format!(
                "{}.{}()",
                self.words(d),
                self.tape
                    .one(&["isdigit", "isalpha", "isupper", "istitle", "isspace"])
            ),
            9 => format!("{}({})", self.tape.one(&["any", "all", "bool"]), self.list(d)),
            10 => format!("{} < {} < {}", self.int(d), self.int(d), self.int(d)),
            11 => format!("{} {} {}", self.list(d), self.tape.one(&compare), self.list(d)),
            12 => format!("{} in {}", self.words(d), self.tape.one(&["d0", "d1", "c0"])),
            _ => format!("{} == {}", self.pairs(d), self.pairs(d)),
        }
    }

    /// A value of any type, where the types before were others: what a name may be adds up.
    fn anything(&mut self, depth: usize) -> String {
        match self.tape.pick(9) {
            0 => self.words(depth),
            1 => self.int(depth),
            2 => self.list(depth),
            3 => self.pairs(depth),
            4 => self.numbers(depth),
            5 => format!("[{}, {}]", self.list(depth + 1), self.list(depth + 1)),
            6 => format!("({}, {})", self.words(depth + 1), self.int(depth + 1)),
            7 => format!("[l0, {}]", self.tape.one(&["l0", "l1", "x0"])),
            _ => self.real(depth),
        }
    }
}

//! Expressions, by the type that they have nearly always.

use super::Writer;

/// Expressions inside one another.
const DEPTH: usize = 5;

impl Writer<'_> {
    pub(super) fn int(&mut self, depth: usize) -> String {
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

    pub(super) fn real(&mut self, depth: usize) -> String {
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

    pub(super) fn words(&mut self, depth: usize) -> String {
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
    pub(super) fn list(&mut self, depth: usize) -> String {
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

    pub(super) fn numbers(&mut self, depth: usize) -> String {
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
    pub(super) fn pairs(&mut self, depth: usize) -> String {
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

    pub(super) fn dict(&mut self, depth: usize) -> String {
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

    pub(super) fn candidate(&mut self, depth: usize) -> String {
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

    pub(super) fn key(&mut self) -> &'static str {
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

    pub(super) fn candidates(&mut self, depth: usize) -> String {
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

    pub(super) fn truth(&mut self, depth: usize) -> String {
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
    pub(super) fn anything(&mut self, depth: usize) -> String {
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

//! The scripts: hostile ones that compile, a slow one that the breaker never sees, and good ones.

/// What gets a candidate list back at the end of each body.
pub const END: &str = "\nresult = [c[\"ip\"] for c in candidates]";

/// What answers with the last candidate.
const LAST: &str = "result = [candidates[-1][\"ip\"]]";

/// Name and body of each, without its end. `now` keeps the compiler from working things out beforehand.
pub const HOSTILE: [(&str, &str); 20] = [
    ("huge-range", "n = 0\nfor i in range(1000000000):\n    n += 1"),
    (
        "nested-loops",
        "x = [0 for a in range(100000) for b in range(100000 + now % 2)]",
    ),
    ("list-doubled", "x = [now]\nfor i in range(60):\n    x = x + x"),
    ("text-doubled", "x = qname\nfor i in range(60):\n    x = x + x"),
    ("long-text", "x = 'a' * (1 << (now % 2 + 28))"),
    ("long-list", "x = [0] * (1 << (now % 2 + 26))"),
    (
        "sorted",
        "for i in range(20):\n    x = sorted(range(now % 2 + (1 << 22)), reverse = True)",
    ),
    (
        "maximum",
        "x = 0\nfor i in range(100000):\n    x = max(range(20000 + i % 2))",
    ),
    (
        "replace",
        "x = qname * 1000\nfor i in range(20):\n    x = x.replace('e', x)",
    ),
    (
        "join",
        "x = qname * 1000\nfor i in range(20):\n    x = x.join([x] * 1000)",
    ),
    (
        "format",
        "x = qname\nfor i in range(60):\n    x = '{}{}{}{}'.format(x, x, x, x)",
    ),
    (
        "percent",
        "x = qname\nfor i in range(60):\n    x = '%s%s%s' % (x, x, x)",
    ),
    ("split", "x = (qname * 100000).split('.') * 1000"),
    ("big-integer", "x = now\nfor i in range(60):\n    x = x * x"),
    (
        "shifts",
        "x = now\nfor i in range(100):\n    x = (x << 500) | x\nfor i in range(100000):\n    x = x * 3",
    ),
    ("recursion", "def f(x):\n    return f(x + 1)\nf(now)"),
    (
        "deep-shown",
        "x = [now]\nfor i in range(400000):\n    x = [x]\nx = str(x)",
    ),
    (
        "deep-hashed",
        "x = (now,)\nfor i in range(400000):\n    x = (x,)\nx = {x: 1}",
    ),
    (
        "growing-dict",
        "d = {}\nfor i in range(1000000000):\n    d[i] = str(i)",
    ),
    ("listed-range", "x = list(range(2147483646 + now % 2))"),
];

/// Takes time in proportion to `turns`, and succeeds: as long as it is not too late, no breaker ever stops it. Answers with
/// the last candidate.
pub fn long(turns: u32) -> String {
    format!("x = 0\nfor i in range({turns}):\n    x = max(range(2000 + (now + i) % 2))\n{LAST}")
}

/// Quick enough, but not proven so: it takes a worker. Answers with the last candidate.
pub fn patient() -> String {
    format!("x = \"%s\" % now\n{LAST}")
}

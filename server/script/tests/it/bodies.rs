//! Scripts that compile and do their worst when they run; all fail.

/// A body that compiles, and what it does when it runs.
pub const AT_RUN_TIME: [(&str, &str); 23] = [
    (
        "a huge range",
        "n = 0\nfor i in range(1000000000):\n    n += 1\nresult = []",
    ),
    (
        "loops within loops",
        "r = range(100000)\nresult = [a for a in r for b in r if a < 0]",
    ),
    (
        "lists doubled",
        "x = [now]\nfor i in range(60):\n    x = x + x\nresult = x",
    ),
    (
        "lists doubled in place",
        "x = [now]\nfor i in range(60):\n    x += x\nresult = x",
    ),
    (
        "strings doubled",
        "x = qname\nfor i in range(60):\n    x = x + x\nresult = [x]",
    ),
    ("a long string", "n = 1 << (now % 2 + 28)\nresult = ['a' * n]"),
    ("a long list", "n = 1 << (now % 2 + 26)\nresult = [0] * n"),
    (
        "a tuple of tuples",
        "x = (now,)\nfor i in range(40):\n    x = (x, x)\nresult = [str(x)]",
    ),
    (
        "sorted",
        "n = now % 2 + (1 << 22)\nfor i in range(20):\n    x = sorted(range(n), reverse = True)\nresult = x",
    ),
    (
        "replace",
        "x = qname * 1000\nfor i in range(20):\n    x = x.replace('e', x)\nresult = [x]",
    ),
    (
        "join",
        "x = qname * 1000\nfor i in range(20):\n    x = x.join([x] * 1000)\nresult = [x]",
    ),
    (
        "format",
        "x = qname\nfor i in range(60):\n    x = '{}{}{}{}'.format(x, x, x, x)\nresult = [x]",
    ),
    (
        "percent",
        "x = qname\nfor i in range(60):\n    x = '%s%s%s' % (x, x, x)\nresult = [x]",
    ),
    ("split", "x = (qname * 100000).split('')\nresult = x * 1000"),
    (
        "big integers",
        "x = now\nfor i in range(60):\n    x = x * x\nresult = [str(x)]",
    ),
    (
        "shifts",
        "x = now\nfor i in range(100):\n    x = (x << 500) | x\nfor i in range(100000):\n    x = x * 3\nresult = []",
    ),
    (
        "endless recursion",
        "def f(x):\n    return f(x + 1)\nresult = f(now)",
    ),
    (
        "deep nesting shown",
        "x = [now]\nfor i in range(400000):\n    x = [x]\nresult = [str(x)]",
    ),
    (
        "deep nesting compared",
        "x = [now]\ny = [now]\nfor i in range(200000):\n    x = [x]\n    y = [y]\nresult = [x == y]",
    ),
    (
        "deep nesting hashed",
        "x = (now,)\nfor i in range(400000):\n    x = (x,)\nresult = [{x: 1}]",
    ),
    (
        "a dict that grows",
        "d = {}\nfor i in range(1000000000):\n    d[i] = str(i)\nresult = []",
    ),
    (
        "list of a range",
        "n = 2147483646 + now % 2\nresult = list(range(n))",
    ),
    (
        "long texts kept",
        "x = []\nfor i in range(1000000000):\n    x.append(str(i) * 1000)\nresult = x",
    ),
];

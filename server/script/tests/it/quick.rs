//! Which scripts are proven quick, and that those which are cost what the proof says.

use crate::support::{candidates, input, patient, run, with_limits, workers};
use gslb_engine::script::{Place, ScriptFailure, Scripts};
use gslb_script::Limits;
use std::time::Duration;

#[test]
fn what_people_write_is_quick() {
    let workers = workers();
    let bodies = [
        "result = [c[\"ip\"] for c in candidates]",
        "hour = (now // 3600) % 24\nif 8 <= hour < 18:\n    result = [c[\"ip\"] for c in candidates if c[\"region\"] == \"eu\"] or [c[\"ip\"] for c in candidates]\nelse:\n    result = [c[\"ip\"] for c in candidates]",
        "n = int(qname.split(\".\")[0].split(\"-\")[1])\nwanted = \"eu\" if n % 2 == 0 else \"us\"\nresult = [c[\"ip\"] for c in candidates if c[\"region\"] == wanted] or [c[\"ip\"] for c in candidates]",
        "alive = [c for c in candidates if c[\"health_score\"] >= 0.8]\nalive = sorted(alive, key = lambda c: c[\"rtt_ms\"])\nresult = [c[\"ip\"] for c in alive]",
        "result = []\nfor c in candidates:\n    if c[\"asn\"] == client_asn:\n        result.append(c[\"ip\"])\n",
        "result = [c[\"ip\"] for c in sorted(candidates, key = lambda c: (c[\"priority\"], -c[\"weight\"], c[\"rtt_ms\"]))][:3]",
        "near = {\"NO\": \"eu\", \"US\": \"us\"}\nwanted = near.get(client_country, \"eu\")\nresult = [c[\"ip\"] for c in candidates if c[\"region\"] == wanted]",
        "def near(c):\n    if c[\"region\"] == client_country:\n        return 0\n    return 1\nresult = [c[\"ip\"] for c in sorted(candidates, key = near)]",
        "total = 0\nfor c in candidates:\n    total += c[\"weight\"]\nresult = [c[\"ip\"] for c in candidates if c[\"weight\"] * 4 > total]",
        "best = min([c[\"rtt_ms\"] for c in candidates])\nresult = [c[\"ip\"] for c in candidates if best <= c[\"rtt_ms\"] < best + 5.0]",
        "groups = {}\nfor c in candidates:\n    groups.setdefault(c[\"region\"], []).append(c[\"ip\"])\nresult = groups.get(\"eu\", [])",
        "result = []\nfor i, c in enumerate(candidates):\n    if (hash(client_ip) + i) % len(candidates) == 0:\n        result.append(c[\"ip\"])",
    ];
    for body in bodies {
        let script = workers.compile(body, Place::Trial).unwrap();
        assert!(script.is_quick(64), "{body}");
        assert!(!script.is_quick(1000));
        // Far below what the proof allows for.
        let regions = ["eu"; 64];
        let candidates = candidates(&regions);
        let _ = run(&*script, &input(&candidates));
    }
}

#[test]
fn what_could_take_long_is_not() {
    let workers = workers();
    let bodies = [
        "x = [0]\nfor c in candidates:\n    x = x + x\nresult = []",
        "x = [0]\nfor c in candidates:\n    x += x\nresult = []",
        "x = qname\nfor c in candidates:\n    x = x + x\nresult = []",
        "x = qname * now\nresult = []",
        "x = now\nfor c in candidates:\n    x = x * x\nresult = []",
        "x = 1 << now\nresult = []",
        // The second turn makes a function with another default.
        "s = [1]\nbig = range(4096)\nfor i in [1, 2]:\n    def f(x = s):\n        return [y for y in x for z in x]\n    s = big\nn = f()\nresult = []",
        "s = [1]\nfor i in [1, 2]:\n    f = lambda x = s: [y for y in x for z in x]\n    s = range(4096)\nn = f()\nresult = []",
        // All pieces, not one.
        "a = (qname + qname + qname + qname + qname).split(\"e\", -1)\nx = [1 for b in a for c in a]\nresult = []",
        "for i in range(100000):\n    pass\nresult = []",
        "for i in range(now):\n    pass\nresult = []",
        "result = [a for a in candidates for b in candidates for c in candidates]",
        "def f(x):\n    return f(x)\nresult = f(1)",
        "def f(x):\n    return f(x) + f(x)\nresult = []",
        "def f():\n    return list(range(2147483647))\nresult = []",
        "f = lambda: list(range(2147483647))\nresult = []",
        "def f():\n    return 1\n    x = list(range(2147483647))\nresult = [f()]",
        "if now < 0:\n    x = list(range(2147483647))\nresult = []",
        "for i in []:\n    x = list(range(2147483647))\nresult = []",
        "x = [list(range(2147483647)) for i in []]\nresult = []",
        "x = now and 0 and list(range(2147483647))\nresult = []",
        "x = qname\nfor c in candidates:\n    x = x.replace(\"e\", x)\nresult = []",
        "x = qname\nfor c in candidates:\n    x = x.join([x, x])\nresult = []",
        "x = qname\nfor c in candidates:\n    x = \"{}{}\".format(x, x)\nresult = []",
        "x = \"%s\" % candidates\nresult = []",
        "x = str(candidates)\nresult = []",
        "x = []\nfor c in candidates:\n    x = [x]\nresult = [str(x)]",
        "x = ()\nfor c in candidates:\n    x = (x, x)\nresult = [hash(x)]",
        "x = [0]\ny = [x]\nfor c in candidates:\n    x.extend(y[0])\nresult = []",
        "x = [0]\ndef grow(l):\n    l.extend(l)\nfor c in candidates:\n    grow(x)\nresult = []",
        "f = [len]\nresult = [f[0](x = 1)]\nx = sorted(*[candidates])",
        "x = float(now) * 1e300\nresult = list(range(int(x)))",
        "x = 9999999999999999999\nresult = []",
        "# @starlark-rust: typecheck\nresult = []",
        "d = {}\nfor c in candidates:\n    d[c[\"ip\"]] = d\nresult = [str(d)]",
        "x = qname\nfor c in candidates:\n    x = x.upper()\nresult = sorted(qname.elems())",
    ];
    for body in bodies {
        // What does not even compile is not quick either.
        if let Ok(script) = workers.compile(body, Place::Trial) {
            // With a handful of candidates even doubling is.
            assert!(!script.is_quick(17), "{body}");
        }
    }
}

#[test]
fn what_takes_more_than_its_proof_takes_a_worker_from_then_on() {
    // As if the proof had a hole: no time at all is allowed for.
    let workers = with_limits(Limits {
        inline: Duration::ZERO,
        ..patient()
    });
    let script = workers
        .compile("result = [c[\"ip\"] for c in candidates]", Place::Trial)
        .unwrap();
    assert!(script.is_quick(8));
    let candidates = candidates(&["eu", "us"]);
    let input = input(&candidates);
    let first = run(&*script, &input);
    assert!(matches!(first, Err(ScriptFailure::Stopped(_))), "{first:?}");
    assert!(!script.is_quick(1));
    assert_eq!(workers.overruns(), 1);
    let stats = workers.stats();
    assert!(
        stats
            .iter()
            .all(|script| script.demoted && script.quick_up_to == 0),
        "{stats:?}"
    );
    assert_eq!(run(&*script, &input), Ok(vec![0, 1]), "in a worker");
    assert_eq!(workers.overruns(), 1);
}

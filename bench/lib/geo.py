"""A country database as large as a published one, made of a fixed seed: gslbd and gdnsd read the same file."""

import random

COUNTRIES = ["DE", "US", "FR", "GB", "JP", "BR", "IN", "AU", "CA", "NL", "SE", "PL", "IT", "ES", "ZA", "KR"]
CONTINENTS = dict(zip(COUNTRIES, ["EU", "NA", "EU", "EU", "AS", "SA", "AS", "OC", "NA", "EU", "EU", "EU", "EU", "EU", "AF", "AS"]))
# The load comes from here; without an entry its country would be unknown, and nothing would be chosen by it.
LOOPBACK = 127


def text(value):
    return bytes([0x40 | len(value)]) + value.encode()


def mapping(pairs):
    return bytes([0xE0 | len(pairs)]) + b"".join(text(key) + value for key, value in pairs)


def unsigned(kind, number):
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    # Types above 7 have a second octet.
    return (bytes([kind << 5 | len(data)]) if kind < 8 else bytes([len(data), kind - 7])) + data


def write(path):
    """Some 300,000 networks of /8 to /24 that cover all of IPv4."""
    source = random.Random(1)
    data, offsets = b"", []
    for country in COUNTRIES:
        offsets.append(len(data))
        data += mapping([("continent", mapping([("code", text(CONTINENTS[country]))])),
                         ("country", mapping([("iso_code", text(country))]))])
    nodes = []

    def place(depth, address):
        """Index of a node, or minus one minus an offset."""
        top = address >> 24
        if depth >= 8 and (top == LOOPBACK or depth == 24 or source.random() > 0.79 + 0.008 * (depth - 8)):
            return -1 - (0 if top == LOOPBACK else offsets[int(len(offsets) * source.random() ** 1.5)])
        here = len(nodes)
        nodes.append(None)
        step = 1 << (31 - depth)
        nodes[here] = (place(depth + 1, address), place(depth + 1, address + step))
        return here

    # IPv4 lies below ::/96 of a tree for both families, as in the published databases: 96 nodes whose one side is empty.
    nodes.extend([None] * 96)
    first = place(0, 0)
    for depth in range(96):
        nodes[depth] = (depth + 1 if depth < 95 else first, None)
    count = len(nodes)

    def record(value):
        if value is None:
            return count
        return value if value >= 0 else count + 16 + (-1 - value)

    tree = b"".join(record(left).to_bytes(4, "big") + record(right).to_bytes(4, "big") for left, right in nodes)
    metadata = mapping([
        ("node_count", unsigned(6, count)), ("record_size", unsigned(5, 32)), ("ip_version", unsigned(5, 6)),
        ("database_type", text("GeoLite2-Country")), ("languages", bytes([1, 4]) + text("en")),
        ("binary_format_major_version", unsigned(5, 2)), ("binary_format_minor_version", unsigned(5, 0)),
        ("build_epoch", unsigned(9, 1_700_000_000)), ("description", mapping([("en", text("seeded"))])),
    ])
    path.write_bytes(tree + bytes(16) + data + b"\xab\xcd\xefMaxMind.com" + metadata)
    return count

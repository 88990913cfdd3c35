"""The servers: how each is configured and started. All answer the same thousand names, as far as they can."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from . import geo
from .machine import HERE

SERVICES = 1000
MEMBERS = 8
ZONE = "bench.test"
ALL = ["echo", "gslbd", "gdnsd", "knot", "nsd", "pdns"]
NAMES = [f"s{number:03}" for number in range(SERVICES)]


def free_port():
    """One that is free for both transports at this moment."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            try:
                udp.bind(tcp.getsockname())
            except OSError:
                continue
            return tcp.getsockname()[1]


def certificate(folder):
    """A certificate for `localhost`, with its key, where servers look for one."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"],
        check=True, capture_output=True)


class Server:
    """A program that answers on a port of its own."""

    name = program = ""
    echo = False
    # Transports over TLS that it speaks.
    encrypted = ()

    def start(self, folder, prefix):
        """Whether it is installed, and answers."""
        if not shutil.which(self.program, path=os.environ["PATH"] + ":/usr/sbin"):
            print(f"{self.program} is not installed")
            return False
        self.port = free_port()
        self.ports = {"tcp": self.port}
        if (folder / "certificate.pem").exists():
            self.ports |= {mode: free_port() for mode in self.encrypted}
        self.folder = folder / self.name
        self.folder.mkdir(exist_ok=True)
        self.queries = folder / "queries"
        self.queries.write_text("".join(f"{name}.{ZONE} A\n" for name in shuffled()))
        self.prefix = prefix
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen([*prefix, *self.command()], stdout=self.log, stderr=self.log)
        self.wait()
        return True

    def command(self):
        raise NotImplementedError

    def wait(self):
        """Until a name is answered."""
        query = b"\0\1\1\0\0\1\0\0\0\0\0\0" + b"".join(bytes([len(part)]) + part.encode() for part in [NAMES[0], *ZONE.split(".")]) + b"\0\0\1\0\1"
        deadline = time.monotonic() + 30
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.settimeout(0.2)
            while time.monotonic() < deadline:
                if self.process.poll() is not None:
                    break
                try:
                    asker.sendto(query, ("127.0.0.1", self.port))
                    if asker.recv(2048)[:2] == query[:2]:
                        return
                except OSError:
                    time.sleep(0.1)
        raise SystemExit(f"{self.name} does not answer: {self.folder / 'log'}\n{(self.folder / 'log').read_text()[-2000:]}")

    def fill(self, template):
        """A file of peers/ with this server's folder, port and names."""
        text = (HERE / "peers" / template).read_text()
        encrypted = {f"@{mode.upper()}@": str(port) for mode, port in self.ports.items()}
        above = {"@ABOVE@": str(self.folder.parent)}
        for key, value in (encrypted | above | {"@FOLDER@": str(self.folder), "@PORT@": str(self.port), "@ZONE@": ZONE}).items():
            text = text.replace(key, value)
        return text

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def shuffled():
    """The names in a fixed order without neighbours."""
    return [NAMES[number * 389 % SERVICES] for number in range(SERVICES)]


def zone_file(record):
    """A zone with one line for each name."""
    head = f"$ORIGIN {ZONE}.\n$TTL 30\n@ SOA ns1 admin 1 3600 600 86400 30\n@ NS ns1\nns1 A 127.0.0.1\n"
    return head + "".join(record(name) for name in NAMES)


class Echo(Server):
    name, program, echo = "echo", "taskset", True

    def command(self):
        return [self.folder.parent / "echo.tool", str(self.port)]


class Gslbd(Server):
    encrypted = ("dot", "doh")

    def __init__(self, name, program, pools):
        self.name, self.program, self.pools = name, str(Path(program).resolve()), pools

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.api}/api/v1{path}", method=method, data=body and json.dumps(body).encode(),
            headers={"Authorization": "Bearer gslb_benchmark-token-of-this-run", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def command(self):
        self.api, metrics = free_port(), free_port()
        database, keys = self.folder / "country.mmdb", self.folder / "keys"
        geo.write(database)
        if not keys.with_suffix(".private").exists():
            subprocess.run([self.program, "license", "keygen", "--out", keys], check=True, stdout=subprocess.DEVNULL)
        licence = subprocess.run(
            [self.program, "license", "issue", "--key", keys.with_suffix(".private"), "--tier", "pro", "--days", "2",
             "--customer", "benchmark"], check=True, capture_output=True, text=True).stdout.strip()
        public = keys.with_suffix(".public").read_text().strip()
        (self.folder / "gslbd.db").unlink(missing_ok=True)
        config = self.folder / "config.yaml"
        tls = {}
        if "dot" in self.ports:
            tls = {"tlsCert": str(self.folder.parent / "certificate.pem"), "tlsKey": str(self.folder.parent / "key.pem"),
                   "tlsPort": self.ports["dot"], "httpsPort": self.ports["doh"], "quicPort": "off"}
        config.write_text(json.dumps({
            "database": {"path": str(self.folder / "gslbd.db")},
            "dns": {"listenAddr": "127.0.0.1", "port": self.port, "domain": ZONE, "udpThreads": 1, **tls},
            "loadBalancer": {"latency": {"geoipDBPath": str(database)}},
            "api": {"port": self.api, "key": "gslb_benchmark-token-of-this-run"},
            "metrics": {"port": metrics},
            "license": {"key": licence, "publicKeys": [public]},
            "log": {"level": "warn"},
        }, indent=1))
        return [self.program, "--config", config]

    def wait(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                self.call("GET", "/pools")
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise SystemExit(f"{self.name} does not start\n{(self.folder / 'log').read_text()[-2000:]}")
                time.sleep(0.1)
        pools = []
        for number in range(self.pools):
            members = [{"ipAddress": f"198.{18 + place % 2}.{number % 250}.{place + 1}", "port": 80, "weight": place + 1,
                        "region": ["DE", "US"][place % 2]} for place in range(MEMBERS)]
            pools.append(self.call("POST", "/pools", {"name": f"pool-{number}", "members": members})["id"])
        for number, name in enumerate(NAMES):
            self.call("POST", "/services", {"name": name, "domain": f"{name}.{ZONE}", "poolId": pools[number % len(pools)],
                                            "filterChain": ["geo-ip", "weighted-round-robin"], "ttl": 30})
        super().wait()


class Gdnsd(Server):
    """Country by the same database, then a choice by weight, as in gslbd's chain."""

    name = program = "gdnsd"

    def command(self):
        for name in ("run", "state", "zones", "geoip"):
            (self.folder / name).mkdir(exist_ok=True)
        geo.write(self.folder / "geoip/country.mmdb")
        (self.folder / "config").write_text(self.fill("gdnsd.config"))
        head = "@ SOA ns1 admin 1 3600 600 86400 30\n@ NS ns1\nns1 A 127.0.0.1\n"
        (self.folder / "zones" / ZONE).write_text(head + "".join(f"{name} 30 DYNA geoip!service\n" for name in NAMES))
        return ["gdnsd", "-c", self.folder, "-D", "start"]


class Knot(Server):
    """Its geo module, by weight: it cannot do both in one."""

    name, program = "knot", "knotd"

    def command(self):
        for name in ("run", "db"):
            (self.folder / name).mkdir(exist_ok=True)
        choices = "".join(f"  - weight: {place + 1}\n    A: 198.18.0.{place + 1}\n" for place in range(MEMBERS))
        (self.folder / "weighted.conf").write_text("".join(f"{name}.{ZONE}:\n{choices}" for name in NAMES))
        (self.folder / f"{ZONE}.zone").write_text(zone_file(lambda name: f"{name} 30 A 192.0.2.1\n"))
        (self.folder / "knot.conf").write_text(self.fill("knot.conf"))
        return ["knotd", "-c", self.folder / "knot.conf"]


class Nsd(Server):
    """Static addresses: it has no others."""

    name = program = "nsd"
    encrypted = ("dot",)

    def command(self):
        (self.folder / f"{ZONE}.zone").write_text(zone_file(lambda name: f"{name} 30 A 192.0.2.1\n"))
        text = self.fill("nsd.conf")
        if "dot" in self.ports:
            above = self.folder.parent
            text = text.replace("server:\n", f"""server:
    ip-address: 127.0.0.1@{self.ports["dot"]}
    tls-port: {self.ports["dot"]}
    tls-service-key: {above}/key.pem
    tls-service-pem: {above}/certificate.pem
""", 1)
        (self.folder / "nsd.conf").write_text(text)
        return ["nsd", "-d", "-c", self.folder / "nsd.conf"]


class Bind(Server):
    """Static addresses. Only over streams: nobody chooses it for its speed over UDP."""

    name, program = "bind", "named"
    encrypted = ("dot", "doh")

    def command(self):
        (self.folder / f"{ZONE}.zone").write_text(zone_file(lambda name: f"{name} 30 A 192.0.2.1\n"))
        (self.folder / "named.conf").write_text(self.fill("named.conf"))
        return ["named", "-g", "-n", "1", "-c", self.folder / "named.conf"]


class Pdns(Server):
    """A choice by weight in Lua."""

    name, program = "pdns", "pdns_server"

    def command(self):
        choices = ", ".join(f"{{{place + 1}, '198.18.0.{place + 1}'}}" for place in range(MEMBERS))
        records = {ZONE: [{"soa": f"ns1.{ZONE} admin.{ZONE} 1 3600 600 86400 30"}, {"ns": {"content": f"ns1.{ZONE}"}}],
                   f"ns1.{ZONE}": [{"a": "127.0.0.1"}]}
        records |= {f"{name}.{ZONE}": [{"lua": f'A "pickwrandom({{{choices}}})"'}] for name in NAMES}
        zones = {"domains": [{"domain": ZONE, "ttl": 30, "records": records, "services": {}}]}
        # JSON is YAML too.
        (self.folder / "zones.yaml").write_text(json.dumps(zones, indent=1))
        (self.folder / "pdns.conf").write_text(self.fill("pdns.conf"))
        return ["pdns_server", f"--config-dir={self.folder}"]


def build_gslbd():
    """The release build; without the console if that is not built, which is no part of what is measured."""
    root = HERE.parent
    subprocess.run(["cargo", "build", "--release", "--package", "gslbd", "--bin", "gslbd"], cwd=root, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    return target / "release/gslbd"


def chosen(options):
    """The servers to measure."""
    wanted = options.servers.split(",")
    unknown = set(wanted) - {*ALL, "bind"}
    if unknown:
        raise SystemExit(f"no such servers: {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    peers = {"gdnsd": Gdnsd, "knot": Knot, "nsd": Nsd, "pdns": Pdns, "bind": Bind}
    found = [Echo()]
    if "gslbd" in wanted:
        for number, program in enumerate(options.gslbd or [str(build_gslbd())]):
            name, _, path = program.rpartition("=")
            found.append(Gslbd(name or ("gslbd" if number == 0 else f"gslbd-{number}"), path, options.pools))
    return found + [peers[name]() for name in wanted if name in peers]

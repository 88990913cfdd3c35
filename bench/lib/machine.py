"""The machine: whether it is idle, who runs where, and one measurement."""

import json
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent.parent


def idle_share(seconds):
    """Share of the processors' time that nobody used meanwhile."""
    def read():
        fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]
    import time
    total, idle = read()
    time.sleep(seconds)
    total_after, idle_after = read()
    return (idle_after - idle) / max(1, total_after - total)


def compile_tools(folder):
    """The load generator and the echo."""
    for name in ("load", "echo"):
        subprocess.run(["cc", "-O2", "-o", folder / f"{name}.tool", HERE / f"{name}.c"], check=True)


def prefix(options, server):
    """What a program is started with: its core, and the right of way."""
    cores = options.cores.split(",")
    command = ["taskset", "-c", cores[0] if server else cores[1]]
    if os.geteuid() == 0:
        command += ["nice", "-n", str(options.nice)]
    return command


def family(pid):
    """A process and all below it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            found += family(int(child))
    return found


def load(folder, server, mode, options):
    """Figures of one server under load."""
    command = prefix(options, server=False) + [folder / "load.tool", "-p", str(server.port), "-f", server.queries]
    command += ["-t", str(options.seconds), "-P", ",".join(map(str, family(server.process.pid)))]
    command += {"plain": [], "edns": ["-e"], "subnet": ["-s"]}[mode] + (["-x"] if server.echo else [])
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)

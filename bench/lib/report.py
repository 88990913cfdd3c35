"""From the figures of all rounds to a table."""

import os
import platform
import statistics


def ratios(rows, mode, server):
    """Queries a second by those of the echo in the same round."""
    def of(name):
        return {row["round"]: row["qps"] for row in rows if (row["mode"], row["server"]) == (mode, name)}
    echo = of("echo")
    return [qps / echo[number] for number, qps in of(server).items() if echo.get(number)]


def median(rows, mode, server, field):
    return statistics.median(row[field] for row in rows if (row["mode"], row["server"]) == (mode, server))


def show(rows, options, idle):
    """Prints a table for each mode; medians over the rounds."""
    state = f"{idle:.0%} idle before" + (", BUSY: look at ratios only" if idle < 0.9 else "")
    print(f"\n{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}; {state}")
    print(f"{options.rounds} rounds of {options.seconds} s; server and load on one core each, loopback; "
          f"{options.pools} pools of 8 members")
    names = list(dict.fromkeys(row["server"] for row in rows))
    for mode in options.modes.split(","):
        print(f"\n{mode}\n\n| server | queries/s | ratio to echo (min–max) | CPU ns/query | over echo | p99 µs | lost, bad |")
        print("|---|---|---|---|---|---|---|")
        for name in names:
            ratio = ratios(rows, mode, name) or [0]
            cpu = median(rows, mode, name, "cpu_ns")
            over = cpu - median(rows, mode, "echo", "cpu_ns") if "echo" in names else 0
            wrong = [sum(row[field] for row in rows if (row["mode"], row["server"]) == (mode, name)) for field in ("lost", "bad")]
            print(f"| {name} | {median(rows, mode, name, 'qps') / 1000:.0f} k | {statistics.median(ratio):.3f} "
                  f"({min(ratio):.2f}–{max(ratio):.2f}) | {cpu:.0f} | {over:+.0f} | {median(rows, mode, name, 'p99_us'):.0f} "
                  f"| {wrong[0]}, {wrong[1]} |")

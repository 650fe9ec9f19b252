#!/usr/bin/env python3
"""Requests a second for a batch size and for a report: the existing package's server and ours, each over SQLite, and ours over
PostgreSQL, alone and two of them. 16 connections, 200 jobs, the same requests, in turns.

  server_throughput_bench.py BUILD
"""

import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "python"), str(ROOT / "tests" / "support")]
import existing_servers  # noqa: E402
import postgres_server  # noqa: E402
from server_subjects import Server  # noqa: E402

TURNS = 3
JOBS, ROUNDS = 200, 2
FASTER = 10.0
EXISTING, OURS = "existing server, SQLite", "ours, SQLite"


def measure(build: pathlib.Path, servers: list) -> dict:
    ports = [str(server.port) for server in servers]
    done = subprocess.run([build / "bench" / "server_load", "load", str(JOBS), str(ROUNDS), *ports], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def run(build: pathlib.Path) -> int:
    with contextlib.ExitStack() as stack:
        existing = stack.enter_context(existing_servers.batch_size(build))
        postgres = stack.enter_context(postgres_server.PostgresServer())

        def ours(database: str = "") -> Server:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="zeus_server_")))
            return stack.enter_context(Server(build, folder, database or str(folder / "jobs.sqlite")))

        alone = ours(postgres.create_database("alone"))
        shared = postgres.create_database("shared")
        subjects = {EXISTING: [existing], OURS: [ours()], "ours, PostgreSQL": [alone],
                    "two of ours, PostgreSQL": [ours(shared), ours(shared)]}
        seen: dict = {name: [] for name in subjects}
        for _ in range(TURNS):
            for name, servers in subjects.items():
                seen[name].append(measure(build, servers))
    missed = 0
    for sort, what in (("asked", "a batch size"), ("reported", "a report")):
        def median(name: str, key: str) -> float:
            return statistics.median(turn[sort][key] for turn in seen[name])

        print(f"  {what:<28}{'1/s':>10}{'ratio':>8}{'p50, ms':>10}{'p99, ms':>10}{'refused':>9}")
        for name in subjects:
            ratio = median(name, "rate") / median(EXISTING, "rate")
            refused = sum(turn[sort]["failed"] for turn in seen[name])
            print(f"  {name:<28}{median(name, 'rate'):>10.4g}{ratio:>8.3g}{median(name, 'p50_ms'):>10.3g}"
                  f"{median(name, 'p99_ms'):>10.3g}{refused:>9}")
            missed += name != EXISTING and refused > 0
        if median(OURS, "rate") < FASTER * median(EXISTING, "rate"):
            missed += 1
            print(f"  MISSED: ours has to be {FASTER:g} times as fast")
        if median(OURS, "p99_ms") >= median(EXISTING, "p50_ms"):
            missed += 1
            print("  MISSED: our 99th percentile has to be below the existing server's median")
    return 1 if missed else 0


def main() -> int:
    try:
        return run(pathlib.Path(sys.argv[1]).resolve())
    except unittest.SkipTest as skipped:
        print(f"  {skipped}")
        return 0


if __name__ == "__main__":
    sys.exit(main())

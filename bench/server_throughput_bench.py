#!/usr/bin/env python3
"""Requests a second for a batch size and for a report: the existing package's server and ours, each over SQLite, and ours over
PostgreSQL, alone and two of them. The same requests in turns: 16 connections and 200 jobs, and 50 connections of one job.

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
# Jobs, connections, and the trials in a turn of each job or, if there are more of them, connection.
MANY_JOBS, ONE_JOB = "200 jobs", "50 clients of one job"
LOADS = {MANY_JOBS: (200, 16, 2), ONE_JOB: (1, 50, 4)}
FASTER = 10.0  # with many jobs
EXISTING, OURS, POSTGRES = "existing server, SQLite", "ours, SQLite", "ours, PostgreSQL"
ONE_JOB_MS = {OURS: 300.0, POSTGRES: 1000.0}


def measure(build: pathlib.Path, servers: list, prefix: str, sizes: tuple) -> dict:
    words = map(str, (*sizes, *(server.port for server in servers)))
    done = subprocess.run([build / "bench" / "server_load", prefix, *words], capture_output=True, text=True, check=False)
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
        subjects = {EXISTING: [existing], OURS: [ours()], POSTGRES: [alone],
                    "two of ours, PostgreSQL": [ours(shared), ours(shared)]}
        return 1 if sum(compare(build, subjects, *load) for load in LOADS.items()) else 0


def compare(build: pathlib.Path, subjects: dict, load: str, sizes: tuple) -> int:
    """How many promises are missed."""
    seen: dict = {name: [] for name in subjects}
    for _ in range(TURNS):
        for name, servers in subjects.items():
            seen[name].append(measure(build, servers, load.replace(" ", "-"), sizes))
    missed = 0
    for sort, what in (("asked", "a batch size"), ("reported", "a report")):
        def median(name: str, key: str) -> float:
            return statistics.median(turn[sort][key] for turn in seen[name])

        print(f"  {f'{what}, {load}':<40}{'1/s':>10}{'ratio':>8}{'p50, ms':>10}{'p99, ms':>10}{'most, ms':>10}{'refused':>9}")
        for name in subjects:
            ratio = median(name, "rate") / median(EXISTING, "rate")
            refused = sum(turn[sort]["failed"] for turn in seen[name])
            print(f"  {name:<40}{median(name, 'rate'):>10.4g}{ratio:>8.3g}{median(name, 'p50_ms'):>10.3g}"
                  f"{median(name, 'p99_ms'):>10.3g}{max(turn[sort]['most_ms'] for turn in seen[name]):>10.3g}{refused:>9}")
            missed += name != EXISTING and refused > 0
        for name, most_ms in ONE_JOB_MS.items() if load == ONE_JOB else ():
            if median(name, "p99_ms") > most_ms:
                missed += 1
                print(f"  MISSED: the 99th percentile of {name} has to be at most {most_ms:g} ms")
        if load == MANY_JOBS and median(OURS, "rate") < FASTER * median(EXISTING, "rate"):
            missed += 1
            print(f"  MISSED: ours has to be {FASTER:g} times as fast")
        if median(OURS, "p99_ms") >= median(EXISTING, "p50_ms"):
            missed += 1
            print("  MISSED: our 99th percentile has to be below the existing server's median")
    return missed


def main() -> int:
    try:
        return run(pathlib.Path(sys.argv[1]).resolve())
    except unittest.SkipTest as skipped:
        print(f"  {skipped}")
        return 0


if __name__ == "__main__":
    sys.exit(main())

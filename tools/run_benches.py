#!/usr/bin/env python3
"""Runs the benchmarks and prints ratios against the yardstick measured in the same run.

  run_benches.py [NAME ...]        all of bench/ by default: programs (*_bench) and scripts (*_bench.py)

A program's benchmarks NAME/ours and NAME/yardstick make one row; others are printed as they are. A script prints its own
rows, and gets the build folder as its argument.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


def nanoseconds(entry: dict) -> float:
    return entry["cpu_time"] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[entry["time_unit"]]


def readable(time_ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if time_ns >= size:
            return f"{time_ns / size:.3g} {unit}"
    return f"{time_ns:.3g} ns"


def run_program(program: pathlib.Path) -> bool:
    command = [program, "--benchmark_format=json", "--benchmark_repetitions=5", "--benchmark_min_time=0.05",
               "--benchmark_report_aggregates_only=true", "--benchmark_enable_random_interleaving=true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return False
    medians = {entry["run_name"]: nanoseconds(entry) for entry in json.loads(done.stdout)["benchmarks"]
               if entry["aggregate_name"] == "median"}
    print(f"\n{program.name}{'ours':>38}{'yardstick':>14}{'ratio':>9}")
    for name, ours in medians.items():
        subject, _, role = name.rpartition("/")
        yardstick = medians.get(f"{subject}/yardstick")
        if role == "ours" and yardstick:
            print(f"  {subject:<44}{readable(ours):>10}{readable(yardstick):>14}{ours / yardstick:>9.3g}")
        elif role != "yardstick":
            print(f"  {name:<44}{readable(ours):>10}")
    return True


def run_script(script: pathlib.Path) -> bool:
    print(f"\n{script.name}", flush=True)
    return subprocess.run([sys.executable, script, BUILD], check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of names; all without")
    options = parser.parse_args()
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["cmake", "--build", BUILD, "--target", "benches", "all"], stdout=subprocess.DEVNULL, check=True)
    chosen = [path for path in sorted((BUILD / "bench").glob("*_bench")) + sorted((ROOT / "bench").glob("*_bench.py"))
              if not options.names or any(name in path.name for name in options.names)]
    return 0 if all([run_script(path) if path.suffix == ".py" else run_program(path) for path in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs every fuzzer for a share of the given processor time, as many at a time as there are processors; their findings are kept in
build-asan-ubsan/found/.

  run_fuzzers.py --seconds 120     all of them together; exit 1 if any found something
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-asan-ubsan"


def run(program: pathlib.Path, seconds: int) -> bool:
    name = program.name.removesuffix("_fuzz")
    scratch = BUILD / "corpus" / name
    found = BUILD / "found" / name
    scratch.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    command = [program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
               f"-artifact_prefix={found}/", scratch, ROOT / "fuzz" / "corpus" / name]
    # Those that write files do so in memory where they can.
    folder = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **folder})
    if done.returncode:
        print(f"{name}: found something; replay with {program.relative_to(ROOT)} {found.relative_to(ROOT)}/...\n"
              f"{done.stderr[-4000:]}", file=sys.stderr)
        return False
    executed = [line.split()[-1] for line in done.stderr.splitlines() if "number_of_executed_units" in line]
    print(f"{name}: {executed[0] if executed else '?'} inputs in {seconds} s, nothing found", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=120, help="for all fuzzers together")
    options = parser.parse_args()
    subprocess.run(["cmake", "--preset", "asan-ubsan"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["cmake", "--build", BUILD, "--target", "fuzzers"], check=True)
    programs = sorted((BUILD / "fuzz").glob("*_fuzz"))
    if not programs:
        print("there is no fuzzer to run", file=sys.stderr)
        return 1
    share = max(1, options.seconds // len(programs))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return 0 if all(list(pool.map(lambda program: run(program, share), programs))) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs clang-tidy; every warning is an error (.clang-tidy).

  check_tidy.py                    what the last ten commits touched, without the static analyzer, but for *_test.cpp: minutes
  check_tidy.py --since REV        the same since a revision
  check_tidy.py --minutes N        the same for the commits of the last day, the latest changes first; begins no file after so many
                                   minutes, and says how many are left for --all
  check_tidy.py --all              everything, tests and static analyzer included (make nightly)
  check_tidy.py FILE ...           these files

Needs a compilation database: cmake --preset tidy (made when it is missing).
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys

from source_tree import LAST_TEN, changed_files, commits_of_a_day, in_time, is_test, why_no_history

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-tidy"


def units_to_check(changed: list[pathlib.Path] | None) -> list[pathlib.Path]:
    """Translation units of the database: all, or those that changed or whose own header did, without unit tests."""
    database = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    units = sorted({pathlib.Path(entry["file"]) for entry in database})
    units = [unit for unit in units if unit.is_relative_to(ROOT) and not unit.is_relative_to(BUILD)]
    if changed is None:
        return units
    turn = {path: number for number, path in enumerate(changed)}
    turns = [(min(turn.get(path, len(turn)) for path in (unit, unit.with_suffix(".hpp"), unit.with_suffix(".h"))), unit)
             for unit in units
             if not is_test(unit)]
    return [unit for number, unit in sorted(turns) if number < len(turn)]


def tidy(unit: pathlib.Path, extra: list[str]) -> str:
    done = subprocess.run(["clang-tidy-16", "--quiet", "-p", BUILD, *extra, unit], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def refused(units: list[pathlib.Path], extra: list[str], minutes: float) -> int:
    """How many units clang-tidy refuses, among those that it reached in this time."""
    count = 0
    left = 0
    for number, (unit, complaint) in enumerate(in_time(units, lambda path: tidy(path, extra), minutes), 1):
        if complaint is None:
            left += 1
            continue
        print(f"[{number}/{len(units)}] {unit.relative_to(ROOT)}{': refused' if complaint else ''}", flush=True)
        if complaint:
            count += 1
            print(complaint, file=sys.stderr)
    if left:
        print(f"the time is up: {left} of {len(units)} files, those that changed longest ago, are left for `make nightly`")
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", metavar="REV")
    parser.add_argument("--minutes", type=float, default=math.inf, metavar="N")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if not options.files and not options.all and (reason := why_no_history(ROOT)):
        print(f"{reason}, so what changed is unknown: no file is checked; --all checks all")
        return 0
    subprocess.run(["cmake", "--preset", "tidy"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    if options.files:
        units = [path.resolve() for path in options.files]
    else:
        commits = LAST_TEN if options.minutes == math.inf else commits_of_a_day(ROOT)
        if options.since:
            commits = [f"{options.since}..HEAD"]
        units = units_to_check(None if options.all else changed_files(ROOT, commits))
    extra = [] if options.all else ["--checks=-clang-analyzer-*"]
    return 1 if refused(units, extra, options.minutes) else 0


if __name__ == "__main__":
    sys.exit(main())

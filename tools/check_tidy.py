#!/usr/bin/env python3
"""Runs clang-tidy, whose every word is an error (.clang-tidy).

  check_tidy.py                    what the last day of changes touched, without the static analyzer, but for tests and for
                                   what tools/tidy_pending.txt lists: minutes
  check_tidy.py --since REV        the same since a revision
  check_tidy.py --all              everything, tests and static analyzer included (make nightly)
  check_tidy.py FILE ...           these files

Needs a compilation database: cmake --preset tidy (made when it is missing).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

from source_tree import is_test

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-tidy"
PENDING = ROOT / "tools" / "tidy_pending.txt"


def git(*arguments: str) -> list[str]:
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout.split("\n")


def changed_files(since: str | None) -> set[pathlib.Path]:
    if since is None:
        newest = git("log", "-1", "--format=%ct")[0]
        older = git("rev-list", "-1", f"--before={int(newest) - 86400}", "HEAD")[0]
        since = older or git("hash-object", "-t", "tree", "/dev/null")[0]
    names = git("diff", "--name-only", since) + git("ls-files", "--others", "--exclude-standard")
    return {ROOT / name for name in names if name}


def pending() -> tuple[str, ...]:
    lines = PENDING.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def units_to_check(changed: set[pathlib.Path] | None) -> list[pathlib.Path]:
    """Translation units of the database: all, or those that changed or whose own header did, but for tests and pending."""
    database = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    units = sorted({pathlib.Path(entry["file"]) for entry in database})
    units = [unit for unit in units if unit.is_relative_to(ROOT) and not unit.is_relative_to(BUILD)]
    if changed is None:
        return units
    skipped = pending()
    return [unit for unit in units
            if not is_test(unit) and not unit.relative_to(ROOT).as_posix().startswith(skipped)
            and {unit, unit.with_suffix(".hpp"), unit.with_suffix(".h")} & changed]


def tidy(unit: pathlib.Path, extra: list[str]) -> tuple[pathlib.Path, str]:
    done = subprocess.run(["clang-tidy-16", "--quiet", "-p", BUILD, *extra, unit], capture_output=True, text=True, check=False)
    return unit, done.stdout if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", metavar="REV")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    subprocess.run(["cmake", "--preset", "tidy"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    if options.files:
        units = [path.resolve() for path in options.files]
    else:
        units = units_to_check(None if options.all else changed_files(options.since))
    extra = [] if options.all else ["--checks=-clang-analyzer-*"]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for count, (unit, complaint) in enumerate(pool.map(lambda unit: tidy(unit, extra), units), 1):
            print(f"[{count}/{len(units)}] {unit.relative_to(ROOT)}{': refused' if complaint else ''}", flush=True)
            if complaint:
                failed += 1
                print(complaint, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

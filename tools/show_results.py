#!/usr/bin/env python3
"""Prints the end of what each failed test printed, and the twenty slowest tests.

  show_results.py RESULTS.xml ...     what `ctest --output-junit` wrote in each build folder; a missing file is left out
"""

import pathlib
import sys
import xml.etree.ElementTree

LINES_OF_A_FAILURE = 40


def main() -> None:
    tests = []
    for path in filter(pathlib.Path.exists, map(pathlib.Path, sys.argv[1:])):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            tests.append((float(case.get("time", "0")), path.parent.name, case.get("name", "")))
            if case.find("failure") is not None:
                printed = (case.findtext("system-out") or "").rstrip().splitlines()
                print(f"\nfailed in {path.parent.name}: {case.get('name')}, whose output ends in")
                print("\n".join(f"  {line}" for line in printed[-LINES_OF_A_FAILURE:]))
    print()
    for seconds, build, name in sorted(tests, reverse=True)[:20]:
        print(f"{seconds:7.1f} s  {build}: {name}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Prints the twenty slowest tests.

  show_slowest.py RESULTS.xml ...     what `ctest --output-junit` wrote in each build folder; a missing file is left out
"""

import pathlib
import sys
import xml.etree.ElementTree


def main() -> None:
    tests = []
    for path in filter(pathlib.Path.exists, map(pathlib.Path, sys.argv[1:])):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            tests.append((float(case.get("time", "0")), path.parent.name, case.get("name", "")))
    for seconds, build, name in sorted(tests, reverse=True)[:20]:
        print(f"{seconds:7.1f} s  {build}: {name}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Refuses skipped tests: a test that does not run protects nothing. Those that cannot run everywhere are listed here, with the
reason.

  check_skips.py [--ci] RESULTS.xml|FOLDER ...     what `ctest --output-junit` wrote, and folders of what GoogleTest wrote of
                                                   programs that run as one test. Each skipped test is printed; exit 1 if one
                                                   has no reason

With --ci, tests that need packages from the registry must run too, and so must each test of a script.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree
from typing import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent

WITHOUT_TRACES = not (ROOT.parent / "shared" / "traces").exists()
AS_ROOT = os.geteuid() == 0
NEEDS_REGISTRY = "it needs packages from the registry"

# (whether the tests may be skipped on this machine, a pattern of their names, why)
REASONS = (
    (WITHOUT_TRACES, r"PublishedTraces\..*|.*HeldOut\..*|docs\.fixed_limit|research\.(reproduce|scorecard)",
     "the published traces are not beside this checkout"),
    (True, r"DevicesOnVirtualGpus\..*", "library.devices_on_virtual_gpus runs it"),
    (not AS_ROOT, r"SharedFolder\..*|RestorationTest\.IgnoresRecordsOfAnotherUser|TrustedFile\..*"
                  r"|ChosenStateFolder\.IsRefusedWhenItIsAnotherUsers", "only root can give files away"),
    (not AS_ROOT, r"daemon\..*", "only root may set GPUs"),
    (True, r"daemon\.system_calls", "it needs strace, and the right to trace"),
    (AS_ROOT, r"OpenStore\.ReportsAStoreThatCannotBeWritten", "root may write anywhere"),
    (not shutil.which("systemd-analyze"), r"packaging\.systemd", "systemd-analyze is not installed"),
    (True, r"daemon\.existing_(client|optimizer)|daemon\.scrapes|pipeline\.second_opinion|virtual\.foreign_clients"
           r"|server\.(api|existing_server|existing_clients|metrics|tokens|existing_pipelines)|pipeline\.torch|python\..*", NEEDS_REGISTRY),
    (not shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin"), r"server\.tls", "nginx is not installed"),
    (not shutil.which("chromium"), r"report\.browser", "Chromium is not installed"),
)


def reason_for(name: str, ci: bool) -> str | None:
    return next((why for holds, tests, why in REASONS if holds and re.fullmatch(tests, name) and not (ci and why == NEEDS_REGISTRY)), None)


def skipped_in(path: pathlib.Path, ci: bool) -> Iterator[tuple[str, str]]:
    """Names of skipped tests, and what each said."""
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        said = case.findtext("system-out") or ""
        name = case.get("name", "")
        if "." not in name and case.get("classname"):  # GoogleTest's
            name = f"{case.get('classname')}.{name}"
        line = re.search(r"^skipped: (.*)", said, re.MULTILINE)
        if case.find("skipped") is not None or (ci and re.search(r"^OK \(.*skipped=", said, re.MULTILINE)):
            yield name, line[1] if line else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    refused = 0
    for path in options.results:
        for results in sorted(path.glob("*.xml")) if path.is_dir() else [path]:
            for name, said in sorted(skipped_in(results, options.ci)):
                reason = reason_for(name, options.ci)
                refused += reason is None
                print(f"skipped: {name}: {reason or 'refused, no reason is known'}{f' ({said})' if said and not reason else ''}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())

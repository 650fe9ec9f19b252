#!/usr/bin/env python3
"""Refuses skipped tests: a test that does not run protects nothing. Those that cannot run everywhere are listed here, with the
reason.

  check_skips.py RESULTS.xml       what `ctest --output-junit` wrote; each skipped test is printed, exit 1 if one has no reason
"""

import os
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent

WITHOUT_TRACES = not (ROOT.parent / "shared" / "traces").exists()
AS_ROOT = os.geteuid() == 0

# (whether the tests may be skipped on this machine, a pattern of their names, why)
REASONS = (
    (WITHOUT_TRACES, r"PublishedTraces\..*|.*HeldOut\..*", "the published traces are not beside this checkout"),
    (True, r"DevicesOnVirtualGpus\..*", "library.devices_on_virtual_gpus runs it"),
    (not AS_ROOT, r"SharedFolder\..*|RestorationTest\.IgnoresRecordsOfAnotherUser|TrustedFile\..*"
                  r"|ChosenStateFolder\.IsRefusedWhenItIsAnotherUsers", "only root can give files away"),
    (not AS_ROOT, r"daemon\..*", "only root may set GPUs"),
    (True, r"daemon\.system_calls", "it needs strace, and the right to trace"),
    (True, r"daemon\.existing_client|server\.(api|existing_server|existing_clients|metrics|tokens)",
     "it needs packages from the registry"),
    (AS_ROOT, r"OpenStore\.ReportsAStoreThatCannotBeWritten", "root may write anywhere"),
    (True, r"python\..*|report\.browser", "it needs packages from the registry"),
    (not shutil.which("systemd-analyze"), r"packaging\.systemd", "systemd-analyze is not installed"),
)


def reason_for(name: str) -> str | None:
    return next((why for holds, tests, why in REASONS if holds and re.fullmatch(tests, name)), None)


def main() -> int:
    results = xml.etree.ElementTree.parse(sys.argv[1])
    skipped = sorted(case.get("name", "") for case in results.iter("testcase") if case.find("skipped") is not None)
    for name in skipped:
        print(f"skipped: {name}: {reason_for(name) or 'refused, no reason is known'}")
    return 0 if all(map(reason_for, skipped)) else 1


if __name__ == "__main__":
    sys.exit(main())

"""The memory of a server with many jobs stays within --cache-mib, what allocating it costs, and some for its own work.

  memory_test.py ZEUS [--jobs N] [--cache-mib N]
"""

import argparse
import pathlib
import re
import sys
import tempfile
import unittest

import server_session as session

RECURRENCES = 50
LINES = {"Content-Type": "application/x-ndjson"}
OWN_MIB = 24.0  # of sixteen threads that import and list
ALLOCATING = 1.25


def memory_mib(server: session.Server, what: str) -> float:
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return int(re.search(rf"{what}:\s+(\d+) kB", status)[1]) / 1024


class Memory(unittest.TestCase):
    def test_of_jobs_that_are_kept_open_is_bounded(self) -> None:
        with tempfile.TemporaryDirectory() as text, session.Server(
                options.zeus, pathlib.Path(text), "--cache-mib", str(options.cache_mib)) as server:
            server.ask("PUT", session.job_path("base"), session.definition())
            for _ in range(RECURRENCES):
                session.Recurrence(server, "base").train()
            exported = server.ask("GET", session.job_path("base", "export")).body
            before = memory_mib(server, "VmRSS")
            for number in range(options.jobs):
                answer = server.ask("POST", session.job_path(f"job {number}", "import"), exported, LINES)
                self.assertEqual(answer.status, 201, answer)
            for number in range(options.jobs):
                session.Recurrence(server, f"job {number}").must("next", {})  # which keeps the job open
            self.assertEqual(len(server.get("/api/v1/jobs?limit=100")["jobs"]), 100)
            peak = memory_mib(server, "VmHWM") - before
            print(f"{options.jobs} jobs of {RECURRENCES} recurrences, cache of {options.cache_mib} MiB: "
                  f"{peak:.1f} MiB more at most", file=sys.stderr)
            self.assertLess(peak, ALLOCATING * options.cache_mib + OWN_MIB)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--cache-mib", type=int, default=4)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])

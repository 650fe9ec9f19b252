"""The contents of the two libraries: libzeus.so has no database, and libzeus-jobs.so has nothing that a process may have
only once.

  links_test.py LIBZEUS LIBZEUS_JOBS
"""

import re
import subprocess
import sys
import unittest

zeus, jobs = "", ""
# Sampling, leasing and setting: only libzeus.so has these.
ONCE = {"measure", "control", "train", "device", "library", "backends"}


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(library: str) -> set[str]:
    return set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", library)))


class Links(unittest.TestCase):
    def test_who_only_measures_links_no_database_and_no_tls(self):
        self.assertEqual({name for name in needed(zeus) if re.search("soci|sqlite|pq|zeus|ssl|crypto", name)}, set())

    def test_jobs_stand_on_the_library_that_measures(self):
        self.assertTrue([name for name in needed(jobs) if name.startswith("libzeus.so.")])
        self.assertTrue([name for name in needed(jobs) if name.startswith("libsoci_core")])
        asked = run("nm", "-DC", "--undefined-only", jobs)
        for name in ("zeus::Monitor::begin(", "zeus::Training::progress(", "zeus::Gpu::lease(", "zeus_set_last_error"):
            self.assertIn(name, asked)

    def test_postgresqls_client_is_loaded_when_it_is_wanted(self):
        self.assertEqual({name for name in needed(jobs) if re.search("postgres|libpq", name)}, set())

    def test_what_a_process_has_once_is_not_in_it_twice(self):
        defined = run("nm", "-C", "--defined-only", jobs)
        self.assertIn("zeus::jobs::Driver::", defined, "the symbols are not there to be listed")
        self.assertEqual(set(re.findall(r" [tTbBdDrR] zeus::(\w+)::", defined)) & ONCE, set())
        self.assertNotIn("zeus::Monitor::", defined)

    def test_it_shows_jobs_and_nothing_else(self):
        shown = [line.split(" ", 2)[2] for line in run("nm", "-DC", "--defined-only", jobs).splitlines()]
        self.assertGreater(len(shown), 40)
        self.assertEqual([name for name in shown if not re.match(r"zeus_job_\w+$|zeus::(Job|Try)::", name)], [])


if __name__ == "__main__":
    zeus, jobs = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])

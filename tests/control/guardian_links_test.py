"""Lists what the guardian links: it runs with the rights to set GPUs, so it must be small enough to review.

  guardian_links_test.py GUARDIAN
"""

import re
import subprocess
import sys
import unittest

guardian = ""

# Only the C++ runtime and the formatting of messages.
ALLOWED_LIBRARIES = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libfmt.so.9", "libspdlog.so.1.10"}
# Namespaces that must not be linked in: virtual devices, physics, stores, servers, and everything above.
REFUSED_MODULES = {"virtual", "physics", "drivers", "store", "server", "transport", "protocol", "jobs", "train", "measure",
                   "optimize", "simulate", "trace", "report", "cli", "daemon"}


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class GuardianLinks(unittest.TestCase):
    def test_the_libraries_it_needs(self):
        needed = set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", guardian)))
        self.assertEqual(needed - ALLOWED_LIBRARIES, set())

    def test_the_modules_in_it(self):
        modules = set(re.findall(r"\bzeus::(?:backends::)?(\w+)::", run("nm", "-C", guardian)))
        self.assertLess({"control", "device", "nvml", "amdsmi"}, modules, "the symbols are not there to be listed")
        self.assertEqual(modules & REFUSED_MODULES, set())

    def test_nothing_of_python_or_sql(self):
        symbols = run("nm", "-C", guardian)
        for name in ("Py_Initialize", "sqlite3_", "PQconnect", "boost::", "soci::"):
            self.assertNotIn(name, symbols)

    def test_it_says_to_people_that_it_is_not_for_them(self):
        for arguments in ((), ("--help",), ("a", "b", "c"), ("/run/zeus", "1", "1")):
            done = subprocess.run([guardian, *arguments], capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (1, 2))
            self.assertIn("Zeus starts this program itself" if len(arguments) < 3 else "not by hand", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    guardian = sys.argv.pop()
    unittest.main()

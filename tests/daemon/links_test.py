"""Lists what zeusd links: it runs as root, so it must be small enough to review.

  links_test.py ZEUSD
"""

import re
import subprocess
import sys
import unittest

zeusd = ""

# Besides the C++ runtime and the formatting of messages: regular expressions for commands, and signatures of tokens.
ALLOWED_LIBRARIES = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libfmt.so.9", "libspdlog.so.1.10",
                     "libre2.so.9", "libcrypto.so.3", "ld-linux-x86-64.so.2"}
# Namespaces that must not be linked in.
REFUSED_MODULES = {"virtual_gpu", "physics", "drivers", "store", "server", "jobs", "train", "measure", "optimize", "simulate",
                   "trace", "report", "cli", "run", "demo", "pacing"}


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class ZeusdLinks(unittest.TestCase):
    def test_the_libraries_it_needs(self):
        needed = set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", zeusd)))
        self.assertEqual(needed - ALLOWED_LIBRARIES, set())

    def test_the_modules_in_it(self):
        modules = set(re.findall(r"\bzeus::(?:backends::)?(\w+)::", run("nm", "-C", zeusd)))
        self.assertLess({"daemon", "control", "transport", "protocol", "tokens"}, modules, "no symbols are there to be listed")
        self.assertEqual(modules & REFUSED_MODULES, set())

    def test_nothing_of_python_or_sql(self):
        symbols = run("nm", "-C", zeusd)
        for name in ("Py_Initialize", "sqlite3_", "PQconnect", "soci::"):
            self.assertNotIn(name, symbols)


if __name__ == "__main__":
    zeusd = sys.argv.pop()
    unittest.main()

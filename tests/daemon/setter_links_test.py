"""Lists what the setter of zeusd links: it has the rights to set GPUs, so it must be small enough to review.

  setter_links_test.py SETTER COMMAND_SETTER
"""

import re
import subprocess
import sys
import unittest

setter = command_setter = ""

# Only the C++ runtime and the formatting of messages.
ALLOWED_LIBRARIES = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libfmt.so.9", "libspdlog.so.1.10",
                     "ld-linux-x86-64.so.2"}
# All that it is made of. `json` and `records` are the records of leases, which root alone writes.
MODULES = {"abi", "amdsmi", "backends", "control", "detail", "device", "field", "json", "log", "nvml", "portable", "records", "setter", "vendor"}
# For the commands' file, and their output.
MODULES_OF_COMMANDS = {"commands", "toml"}


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def libraries_of(program: str) -> set[str]:
    return set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", program)))


def modules_of(program: str) -> set[str]:
    """The namespaces of the functions in it."""
    return set(re.findall(r"\bzeus::(?:backends::)?([a-z_]+)::", run("nm", "-C", program)))


class SetterLinks(unittest.TestCase):
    def test_the_libraries_it_needs(self):
        self.assertEqual(libraries_of(setter) - ALLOWED_LIBRARIES, set())
        self.assertEqual(libraries_of(command_setter) - ALLOWED_LIBRARIES, {"libre2.so.9"})

    def test_the_modules_in_it(self):
        self.assertLess({"control", "device", "nvml", "amdsmi", "setter"}, modules_of(setter), "no symbols are there to be listed")
        self.assertEqual(modules_of(setter) - MODULES, set())
        self.assertEqual(modules_of(command_setter) - MODULES, MODULES_OF_COMMANDS)

    def test_nothing_that_reads_what_strangers_send(self):
        symbols = run("nm", "-C", setter)
        for name in ("HttpServer", "transport::", "protocol::", "daemon::", "tokens::", "toml::", "re2::", "EVP_", "HMAC"):
            self.assertNotIn(name, symbols)

    def test_it_says_to_people_that_it_is_not_for_them(self):
        for program, name in ((setter, "zeus_setter"), (command_setter, "zeus_command_setter")):
            for arguments in ((), ("--help",), ("auto", "sets", "info", ""), ("auto", "sets", "info", "", "file")):
                done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
                self.assertIn(done.returncode, (1, 2))
                self.assertRegex(done.stderr, f"^{name}: (zeusd starts this program itself, to set GPUs|.* not by hand)\n$")


if __name__ == "__main__":
    command_setter = sys.argv.pop()
    setter = sys.argv.pop()
    unittest.main()

"""Programs and libraries of a build are hardened: random addresses, tables that are read-only before the first line runs, a
protected stack, and the checked forms of the C library's functions.

  hardening_test.py FILE...
"""

import pathlib
import sys
import unittest

import hardening

files = [pathlib.Path(word) for word in sys.argv[1:]]


class Hardening(unittest.TestCase):
    def test_each_file_is_linked_with_it(self) -> None:
        self.assertTrue(files)
        for file in files:
            self.assertEqual(hardening.faults_of(file), [], file)

    def test_the_code_is_compiled_with_it(self) -> None:
        for file in files:
            checks = hardening.checks_of(file)
            self.assertIn("__stack_chk_fail", checks, file)
            self.assertTrue(checks - {"__stack_chk_fail"}, f"{file} calls no checked function")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

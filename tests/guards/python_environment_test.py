"""tests/support/python_environment.py: what all builds of a machine share is made once, and only read."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

# Makes a shared folder slowly enough for others to want it meanwhile.
MAKE = """
import pathlib, sys, time
sys.path.insert(0, sys.argv[1])
import python_environment
def make(folder):
    with open(folder / "made", "a") as made:
        made.write("once\\n")
    time.sleep(0.3)
print(python_environment.made_once(pathlib.Path(sys.argv[2]), "shared", make))
"""


class SharedEnvironments(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(prefix="a folder ")
        self.addCleanup(held.cleanup)
        self.build = pathlib.Path(held.name) / "build"
        self.cache = pathlib.Path(held.name) / "cache"
        changed = mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.cache))
        changed.start()
        self.addCleanup(changed.stop)

    def test_builds_that_want_the_same_at_once_make_it_once(self):
        command = [sys.executable, "-c", MAKE, python_environment.__file__.rpartition("/")[0], self.build]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        folders = {process.communicate()[0].strip() for process in processes}
        self.assertEqual(folders, {str(self.cache / "zeus-tests" / "shared")})
        self.assertEqual((self.cache / "zeus-tests" / "shared" / "made").read_text(), "once\n")

    def test_one_that_was_left_half_made_is_made_again(self):
        def fail(folder: pathlib.Path) -> None:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            python_environment.made_once(self.build, "shared", fail)
        made = []
        python_environment.made_once(self.build, "shared", made.append)
        python_environment.made_once(self.build, "shared", made.append)
        self.assertEqual(len(made), 1)

    def test_without_a_cache_folder_the_build_folder_takes_its_place(self):
        self.cache.write_text("not a folder")
        self.assertEqual(python_environment.made_once(self.build, "shared", lambda folder: None), self.build / "python" / "shared")

    def test_a_registry_that_does_not_answer_skips_this_test_and_the_next_at_once(self):
        asked = []

        def ask(folder: pathlib.Path) -> None:
            asked.append(folder)
            python_environment.from_registry(folder, "fetch it", ["sh", "-c", "echo no route >&2; exit 1"])

        for _ in range(2):
            with self.assertRaisesRegex(unittest.SkipTest, "^skipped: cannot fetch it from the registry: no route$"):
                python_environment.made_once(self.build, "shared", ask)
        self.assertEqual(len(asked), 1)

    def test_what_a_test_writes_into_one_is_found(self):
        written = []
        for name in (python_environment.name_of("clients"), "clients-of-other-pins"):
            folder = python_environment.made_once(self.build, name, lambda made: (made / "environment").mkdir())
            self.assertEqual(python_environment.changed(self.build), written[:1])
            written.append(folder / "environment" / "module.pyc")
            written[-1].touch()
            os.utime(written[-1], (2e9, 2e9))
        self.assertEqual(python_environment.changed(self.build), written[:1])

    def test_each_package_is_pinned(self):
        groups = python_environment.groups()
        self.assertGreaterEqual(set(groups), {"clients", "trainers", "existing"})
        for lines in groups.values():
            for line in lines:
                self.assertRegex(line, r"^[\w.-]+==[\w.]+$")
        self.assertEqual(python_environment.pin("torch"), "torch==2.13.0")


if __name__ == "__main__":
    unittest.main()

"""docs/reference matches what tools/make_reference.py writes from the headers, the help and the Python package's interface;
a planted change of any of them is noticed. ZEUS_UPDATE_GOLDEN=1 writes the pages again.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDED = ("docs/reference", "include/zeus", "python/zeus_cpp", "tests/golden/cli", "tests/golden/zeusd", "tests/golden/python")


def make(root: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, root / "tools" / "make_reference.py", *arguments], capture_output=True, text=True, check=False)


class Reference(unittest.TestCase):
    def test_the_pages_are_what_would_be_written(self):
        if os.environ.get("ZEUS_UPDATE_GOLDEN"):
            self.assertEqual(make(ROOT).returncode, 0)
        done = make(ROOT, "--check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_planted_change_is_noticed(self):
        planted = {
            "include/zeus/measure.hpp": ("void cancel(", "void give_up("),
            "include/zeus/jobs.h": ("zeus_job_report(", "zeus_job_tell("),
            "tests/golden/cli/help_measure.txt": ("--runs N", "--times N"),
            "tests/golden/zeusd/help_leases.txt": ("--end", "--finish"),
            "tests/golden/python/interface.txt": ("on_epoch_begin", "on_epoch_start"),
        }
        with tempfile.TemporaryDirectory() as name:
            copy = pathlib.Path(name)
            for folder in NEEDED:
                shutil.copytree(ROOT / folder, copy / folder)
            (copy / "tools").mkdir()
            shutil.copy(ROOT / "tools" / "make_reference.py", copy / "tools")
            self.assertEqual(make(copy, "--check").returncode, 0)
            for path, (there, instead) in planted.items():
                with self.subTest(path):
                    text = (copy / path).read_text(encoding="utf-8")
                    self.assertIn(there, text)
                    (copy / path).write_text(text.replace(there, instead), encoding="utf-8")
                    done = make(copy, "--check")
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("run tools/make_reference.py", done.stderr)
                    (copy / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    unittest.main()

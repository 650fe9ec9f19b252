"""What trainers report to, on virtual GPUs: runs trackers_in_environment.py with the trainers' packages, and the trackers' beside.

  trackers_test.py PROGRAM BUILD_FOLDER
"""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

SCRIPT = pathlib.Path(__file__).resolve().parent / "trackers_in_environment.py"
program = ""
build = pathlib.Path()


class Trackers(unittest.TestCase):
    def test_energies_in_the_logs_of_hugging_face_and_lightning(self):
        python = python_environment.interpreter(build, "trainers")
        trackers = python_environment.packages_of(python_environment.interpreter(build, "trackers"))
        command = [program, "virtual", "4xV100", "--load", "constant:180W", "--", python, SCRIPT]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=900,
                              env={**os.environ, "ZEUS_TEST_TRACKERS": str(trackers)})
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

"""Real trainers on virtual GPUs: runs trainers_in_environment.py and data_loader_in_environment.py with their packages, in one process,
which imports them once.

  trainers_test.py PROGRAM BUILD_FOLDER
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
program = ""
build = pathlib.Path()


class InTheirEnvironment(unittest.TestCase):
    def test_publications_hugging_face_trl_lightning_and_the_data_loader(self):
        python = python_environment.interpreter(build, "trainers")
        command = [program, "virtual", "4xV100", "--load", "constant:180W", "--", python, "-m", "unittest",
                   "trainers_in_environment", "data_loader_in_environment"]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=900, cwd=folder, env={
                **os.environ, "PYTHONPATH": f"{HERE}:{os.environ['PYTHONPATH']}", "ZEUS_STATE_DIR": f"{folder}/state"})
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

"""Real trainers on virtual GPUs: runs trainers_in_environment.py and data_loader_in_environment.py with their packages.

  trainers_test.py PROGRAM BUILD_FOLDER
"""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "trainer" / "train.py"
program = ""
build = pathlib.Path()


class InTheirEnvironment(unittest.TestCase):
    def run_tests(self, script: str, gpus: str) -> None:
        python = python_environment.interpreter(build, "trainers")
        command = [program, "virtual", gpus, "--load", "constant:180W", "--", python, pathlib.Path(__file__).parent / script]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])

    def test_publications_hugging_face_trl_and_lightning(self):
        self.run_tests("trainers_in_environment.py", "4xV100")

    def test_the_example(self):
        python = python_environment.interpreter(build, "trainers")
        command = [program, "virtual", "1xV100", "--load", "follow:cifar100", "--", python, EXAMPLE]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])
        self.assertRegex(done.stdout, r"(?m)^done: (100|150|200|250) W$")

    def test_the_data_loader(self):
        self.run_tests("data_loader_in_environment.py", "2xV100")


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

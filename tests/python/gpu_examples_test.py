"""The examples with PyTorch, Lightning and TRL, by the command in each one's README, on the CPU beside virtual GPUs: each prints what
the README shows, but for the numbers.

  gpu_examples_test.py PROGRAM BUILD_FOLDER
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import python_environment  # noqa: E402

NUMBER = r"[-+]?\\d+(?:[.,]\\d+)*(?:e[-+]\\d+)?"
program, build = "", pathlib.Path()


class GpuExamples(unittest.TestCase):
    def run_example(self, name: str, **arguments: str) -> tuple[str, list[str]]:
        """What it prints, and the lines that its README shows."""
        python = python_environment.interpreter(build, "trainers")
        readme = (ROOT / "examples" / name / "README.md").read_text(encoding="utf-8")
        (command,) = re.findall(r"(?m)^    (zeus virtual .*)$", readme)
        command = re.sub(r"\bzeus (?=virtual|run)", f"{program} ", command)
        command = command.replace("torchrun", f"{python} -m torch.distributed.run").replace("python3", str(python))
        command += "".join(f" --{key} {value}" for key, value in arguments.items())
        (shown,) = re.findall(r"(?ms)^```text\n(.*?)^```$", readme)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples" / name, folder, dirs_exist_ok=True)
            done = subprocess.run(command.split(), capture_output=True, text=True, check=False, timeout=400, cwd=folder, env={
                **os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "ZEUS_STATE_DIR": f"{folder}/state"})
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        return done.stdout + done.stderr, shown.splitlines()

    def check(self, said: str, shown: list[str]) -> None:
        lines = iter(said.splitlines())
        for line in shown:
            form = re.compile(re.sub(r"-?\\?\d+(?:\\?[.,]\d+)*(?:e[-+]\d+)?", NUMBER, re.escape(line)))
            self.assertTrue(any(form.fullmatch(one) for one in lines), f"{line}\nis not in\n{said[-3000:]}")

    def test_a_training_that_knows_nothing_of_zeus_is_followed(self):
        said, shown = self.run_example("pytorch", epochs="3")
        self.check(said, shown[:1])
        self.assertRegex(said, r"zeus: [\d.]+ k?J in [\d.]+ s")

    def test_ranks_agree_on_one_limit(self):
        self.check(*self.run_example("pytorch_ddp"))

    def test_tokens_have_their_energy(self):
        self.check(*self.run_example("inference"))

    def test_callbacks_of_lightning(self):
        self.check(*self.run_example("lightning"))

    def test_supervised_fine_tuning(self):
        self.check(*self.run_example("sft"))


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

"""Trainings that use the library, under the real `zeus run` on a virtual GPU: they report by themselves, leave the GPU to
the run, take open options from it, and the job gets the same history as from a script without Zeus.

  under_run_test.py PROGRAM TRAINER [PACKAGE]     PACKAGE: the folder of the Python package, where there is one
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import side_by_side  # noqa: E402

program, trainer, package = "", "", ""
SIZES = {16: 2, 32: 3, 64: 5}
METRIC, STEP = ["--metric-regex", r"accuracy ([0-9.]+)"], ["--step-regex", r"^step (\d+)"]
SCRIPT = pathlib.Path(__file__).resolve().parent / "python_under_run.py"


class UnderRun(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.environment = {**os.environ, "XDG_DATA_HOME": self.folder, "XDG_RUNTIME_DIR": self.folder,
                            "PYTHONPATH": package, "PYTHONPYCACHEPREFIX": self.folder}

    def run_job(self, name: str, sizes: str, *words: str) -> str:
        # The grid's tries go on to the target; with other policies, early stops depend on how long steps take here.
        done = subprocess.run(
            [program, "virtual", "1xV100", "--load", "follow:cifar100", "--", program, "run", "--job", name, "--batch-sizes",
             sizes, "--default-batch-size", "64", "--target-metric", "0.89", "--max-epochs", "9", "--power-limits",
             "150,200,250", "--profile-seconds", "0.1", "--beta", "10", "--policy", "grid", *words],
            capture_output=True, text=True, check=False, timeout=120, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def history(self, name: str) -> list[dict]:
        done = subprocess.run([program, "jobs", name, "export"], capture_output=True, text=True, check=True, timeout=60,
                              env=self.environment)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def recur(self, name: str, *words: str, sizes: str = "16,32,64") -> tuple[list, str]:
        """The history of three recurrences without values that depend on clocks, and the output."""
        said = "".join(self.run_job(name, sizes, *words) for _ in range(3))
        entries = self.history(name)
        finished = [entry for entry in entries if entry.get("kind") == "finished"]
        self.assertEqual([entry["left_out"] for entry in finished if entry.get("left_out")], [])
        for entry in finished:
            self.assertEqual(entry["outcome"], "reached", entry)
            self.assertEqual(entry["epochs"], SIZES[entry["batch_size"]], entry)
            self.assertAlmostEqual(entry["metric"], 0.9)
        self.assertEqual(len(finished), 3)
        taught = [(entry["kind"], entry.get("epochs"), [limit["limit_w"] for limit in entry.get("limits", [])])
                  for entry in entries if entry.get("kind") in ("begun", "profiled", "started", "finished")]
        return taught, said

    def check_said(self, said: str) -> None:
        for complaint in ("without being optimized", "lease", "warning", "error", "matched none", "not one of `step`"):
            self.assertNotIn(complaint, said)

    def test_a_training_of_the_library_teaches_what_a_plain_script_does(self):
        # With several batch sizes, times would affect the result.
        plain, _ = self.recur("plain", *METRIC, *STEP, "--", trainer, "plain", "{batch_size}", sizes="64")
        library, said = self.recur("library", "--", trainer, "library", sizes="64")
        self.assertEqual(library, plain)
        self.check_said(said)

    def test_the_library_takes_the_batch_size_and_the_target_from_the_run(self):
        _, said = self.recur("sizes", "--", trainer, "library")
        self.check_said(said)
        trained = re.findall(r"trained (\d+) epochs of batch size (\d+), (reached|not reached)", said)
        self.assertGreaterEqual(len(trained), 3)
        for epochs, size, end in trained:
            self.assertEqual((int(epochs), end), (SIZES[int(size)], "reached"))

    def test_what_is_printed_as_well_counts_once(self):
        _, said = self.recur("both", *METRIC, *STEP, "--", trainer, "both")
        self.check_said(said)

    def test_a_limit_is_chosen_by_what_the_library_tells_without_a_job(self):
        done = subprocess.run(
            [program, "virtual", "1xV100", "--load", "follow:cifar100", "--", program, "run", "--power-limits",
             "150,200,250", "--", trainer, "library"],
            capture_output=True, text=True, check=False, timeout=120,
            env={**self.environment, "ZEUS_EPOCHS": "30"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_said(done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], r"^zeus: .* W")
        self.assertIn("trained 30 epochs of batch size 64", done.stderr)

    def test_a_command_without_a_metric_learns_how_to_report_one(self):
        done = subprocess.run(
            [program, "virtual", "1xV100", "--", program, "run", "--job", "silent", "--target-metric", "0.5", "--", "true"],
            capture_output=True, text=True, check=False, timeout=60, env=self.environment)
        self.assertIn("the command has reported no metric, so its target cannot be checked", done.stderr)

    def test_callbacks_of_python_teach_the_same(self):
        if not package:
            self.skipTest("there is no Python package in this build")
        _, said = self.recur("python", *METRIC, *STEP, "--", sys.executable, str(SCRIPT))
        self.check_said(said)


if __name__ == "__main__":
    program, trainer = (os.path.abspath(word) for word in sys.argv[1:3])
    package = sys.argv[3] if len(sys.argv) > 3 and not sys.argv[3].startswith("-") else ""
    del sys.argv[1:3 + bool(package)]
    side_by_side.main(3)

"""The examples that are one page each, on a virtual GPU: they have at most 40 lines and do what they say. A C program, a C++
program and `zeus run` run recurrences of a job in turn: each does what `zeus jobs` announced, and all see the same devices.

  pages_test.py ZEUS EXAMPLES PACKAGE      PACKAGE: the folder with the Python package, or empty
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
# The training of examples/job/job.c, for `zeus run`: long enough to measure all limits before it reaches its target.
SCRIPT = """
import os, time
size, error = int(os.environ["ZEUS_BATCH_SIZE"]), 1.0
for epoch in range(60):
    for step in range(4096 // size):
        time.sleep(1e-3 + 2e-5 * size)
        error *= 1 - 0.002 * size / (size + 64)
        print(f"step {step + 1}", flush=True)
    print(f"learned {1 - error:.6f}\\nepoch {epoch + 1}", flush=True)
"""
RUN = ["--job", "slope", "--batch-sizes", "32,64,128", "--default-batch-size", "64", "--target-metric", "0.5",
       "--metric-regex", r"^learned ([\d.]+)", "--epoch-regex", r"^epoch (\d+)", "--step-regex",
       r"^step (\d+)", "--stop-at-target", "--profile-seconds", "0.2", "--", sys.executable, "-c", SCRIPT]
zeus, examples, package = "", pathlib.Path(), ""


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.environment = {**os.environ, "XDG_DATA_HOME": folder.name}

    def run_here(self, *command: str, virtual: bool = True, load: str = "follow:cifar100") -> str:
        around = [zeus, "virtual", "1xV100", "--load", load, "--"] if virtual else []
        done = subprocess.run([*around, *map(str, command)], capture_output=True, text=True, check=False, timeout=120,
                              env=self.environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def history(self) -> list[dict]:
        return [json.loads(line) for line in self.run_here(zeus, "jobs", "slope", "export", virtual=False).splitlines()][1:-1]

    def test_they_are_at_most_40_lines(self):
        for page in ("window.cpp", "training.cpp", "pipeline.cpp", "job.cpp", "window.c", "training.c", "job.c", "policy.py"):
            self.assertLessEqual(len((HERE / page.split(".")[0] / page).read_text(encoding="utf-8").splitlines()), 40, page)

    def test_a_window(self):
        for program, interval in (("window", "±"), ("window_c", r"\+-")):
            joules, doubt, seconds = map(float, re.match(rf"([\d.]+) {interval} ([\d.]+) J in ([\d.]+) s\n",
                                                         self.run_here(examples / program)).groups())
            self.assertTrue(30 < joules / seconds < 260, "the power of a V100")
            self.assertLess(doubt, joules)

    def test_a_window_of_python(self):
        if not package:
            self.skipTest("the Python package was not built")
        self.environment["PYTHONPATH"] = f"{package}:{package}/zeus_cpp/front"
        joules, doubt, seconds = map(float, re.fullmatch(r"GPU 0: ([\d.]+) ± ([\d.]+) J in ([\d.]+) s\n",
                                                         self.run_here(sys.executable, HERE / "python" / "measure.py")).groups())
        self.assertTrue(30 < joules / seconds < 260, "the power of a V100")
        self.assertLess(doubt, joules)

    def test_a_script_that_knows_nothing_of_zeus_is_followed(self):
        said = self.run_here(zeus, "run", "--json", "-", "--profile-seconds", "0.2", "--", sys.executable,
                             HERE / "script" / "train.py", "--seed", "0", load="follow:work:1,1,0.85")
        self.assertIn("epoch 40: val_acc=0.9", said)
        training = json.loads(said.splitlines()[-1])["training"]
        self.assertGreater(training["epochs"][0]["steps"], 10000)
        self.assertGreater(training["profiling_steps"], 0)
        if training["optimum"]:
            self.assertIn(training["optimum"]["limit_w"], range(100, 251, 25), training)
        else:
            self.assertRegex(training["unoptimized"], "^the training ended (before profiling did|while its power limits were)")

    def test_each_folder_says_what_it_is_in_its_first_three_lines(self):
        for folder in sorted(HERE.iterdir()):
            if folder.is_dir() and folder.name != "__pycache__":
                lines = [line for line in (folder / "README.md").read_text(encoding="utf-8").splitlines() if line]
                self.assertEqual([lines[0][:2], lines[2][:4]], ["# ", "    "], folder)
                if len(lines) > 3:  # then what it printed
                    self.assertEqual(lines[4], "```text", folder)
                self.assertIn(f"[{folder.name}]({folder.name})", (HERE / "README.md").read_text(encoding="utf-8"))

    def test_a_training_stops_at_its_target_and_leaves_the_limit_as_it_was(self):
        for program in ("training", "training_c"):
            said, limits = self.run_here("sh", "-c", f"{shlex.quote(str(examples / program))} && {shlex.quote(zeus)} devices --json").split("\n", 1)
            # 0.999 ** (100 x 6) is below 0.6, and 0.999 ** (100 x 5) is not.
            self.assertRegex(said, r"^reached after 6 epochs: \d")
            limit = json.loads(limits)["gpus"][0]["power_limit_w"]
            self.assertEqual(limit["current"], limit["default"])

    def test_a_rank_of_a_pipeline_follows_its_plan(self):
        plan = pathlib.Path(self.environment["XDG_DATA_HOME"]) / "plan.json"
        plan.write_text('{"time_s": 1, "energy_j": 100, "frequencies": [[["forward", 900], ["backward", 600]]]}', encoding="utf-8")
        said = self.run_here("sh", "-c", f"{shlex.quote(str(examples / 'pipeline'))} {shlex.quote(str(plan))} 0")
        self.assertEqual(said, "2 computations each time; followed\n")

    def test_a_job_from_cpp_is_one_that_zeus_jobs_knows(self):
        self.assertRegex(self.run_here(examples / "job"), r"(?s)^batch size 128: .*reached, recurrence 1\n$")
        job = json.loads(self.run_here(zeus, "jobs", "digits", "--json", virtual=False))
        (attempt,) = job["tries"]
        self.assertEqual((attempt["batch_size"], attempt["outcome"]), (128, "reached"))
        self.assertGreater(attempt["energy_j"]["value"], attempt["energy_j"]["uncertainty"])
        self.assertGreaterEqual(attempt["metric"], 0.9)

    def test_recurrences_from_c_and_by_zeus_run_are_one_job(self):
        self.run_here(examples / "job_c")
        for program in ([zeus, "run", *RUN], [examples / "job_c"]):
            before = self.history()
            said = json.loads(self.run_here(zeus, "jobs", "slope", "--json", virtual=False))["next"]
            self.run_here(*program)
            begun, first, *_ = self.history()[len(before):]
            self.assertEqual(begun["kind"], "begun", "the devices are the same to both")
            self.assertEqual(first["batch_size"], said["batch_size"], program)
            if said["do"] == "profile":
                # On a busy machine the training may reach its target before every limit is measured, or before any is.
                measured = {one["limit_w"] for one in first.get("limits", [])}
                self.assertLessEqual(measured, set(said["profile_w"]), f"{program}: {first}")
                self.assertEqual(first["kind"], "profiled" if measured else "started", f"{program}: {first}")
            else:
                self.assertEqual([first[key] for key in ("kind", "limit_w", "max_epochs", "budget_j")],
                                 ["started", said["limit_w"], said["max_epochs"], said["budget_j"]], program)
        job = json.loads(self.run_here(zeus, "jobs", "slope", "--json", virtual=False))
        self.assertEqual([one["state"] for one in job["recurrences"]], 3 * ["reached"])


if __name__ == "__main__":
    zeus, examples, package = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    unittest.main(argv=sys.argv[:1])

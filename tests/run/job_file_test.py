"""Jobs that are written down once: `zeus run @NAME` does what the file says, and flags overrule it.

  job_file_test.py PROGRAM
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

program = ""

# Prints the metric once an epoch, better with each.
TRAINER = textwrap.dedent("""
    import sys, time
    batch = int(sys.argv[1])
    for epoch in range(1, 5):
        for step in range(1, 11):
            time.sleep(0.002)
            print(f"step {step}/10", flush=True)
        print(f"epoch {epoch} accuracy {epoch * batch / 100:.3f}", flush=True)
    """)
JOB = textwrap.dedent(f"""
    command = ["{sys.executable}", "train.py", "{{batch_size}}"]
    batch_sizes = [10, 20]
    default_batch_size = 10
    target_metric = 0.4
    max_epochs = 20
    metric_regex = 'accuracy ([.0-9]+)'
    epoch_regex = '^epoch (\\d+)'
    step_regex = '^step (\\d+)'
    power_limits = "off"
    profile_seconds = 0.02
    """)
# Flags that are about one run, or say where the file is, or are the other side of a key.
WITHOUT_KEY = {"--help", "--observe", "--file", "--lower-is-better"}


class JobFiles(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.environment = {**os.environ, "XDG_DATA_HOME": str(self.folder / "data"),
                            "XDG_CONFIG_HOME": str(self.folder / "config"),
                            "XDG_RUNTIME_DIR": str(self.folder / "state"), "ZEUS_STATE_DIR": str(self.folder / "state")}
        (self.folder / "state").mkdir(mode=0o700)
        self.write("train.py", TRAINER)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def call(self, *command: str) -> subprocess.CompletedProcess:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=self.folder,
                              env=self.environment)

    def run_zeus(self, *arguments: str) -> subprocess.CompletedProcess:
        return self.call(program, "virtual", "1xV100", "--load", "constant:240W", "--", program, "run", *arguments)

    def definition(self, job: str) -> dict:
        return json.loads(self.call(program, "jobs", job, "--json").stdout)["definition"]

    def test_the_file_says_what_is_run(self):
        self.write("nightly.toml", JOB)
        done = self.run_zeus("@nightly")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("epoch 4 accuracy", done.stdout)
        self.assertIn("zeus: nightly #1: batch size 10", done.stderr)
        known = self.definition("nightly")
        self.assertEqual((known["batch_sizes"], known["max_epochs"]), ([10, 20], 20))
        again = self.run_zeus("@nightly")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("zeus: nightly #2: ", again.stderr)

    def test_flags_overrule_the_file(self):
        self.write("nightly.toml", JOB)
        done = self.run_zeus("@nightly", "--job", "weekly", "--eta", "0.75", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.definition("weekly")["eta"], 0.75)

    def test_another_command_overrules_the_files(self):
        self.write("nightly.toml", JOB)
        done = self.run_zeus("--file", "nightly.toml", "--quiet", "--", "echo", "accuracy 0.5 at {batch_size}")
        self.assertEqual((done.returncode, done.stdout), (0, "accuracy 0.5 at 10\n"), done.stderr)

    def test_the_users_own_jobs_and_a_path(self):
        self.write("config/zeus/jobs/own.toml", "command = ['echo', 'own']\nquiet = true\n")
        self.assertEqual(self.run_zeus("@own").stdout, "own\n")
        self.write("elsewhere/some.toml", "command = ['echo', 'path']\nquiet = true\n")
        self.assertEqual(self.run_zeus("--file", "elsewhere/some.toml").stdout, "path\n")
        self.assertEqual(self.run_zeus("@called", "--file", "elsewhere/some.toml").stdout, "path\n")
        names = [job["name"] for job in json.loads(self.call(program, "jobs", "--json").stdout)["jobs"]]
        self.assertEqual(names, ["called", "own", "some"])

    def test_a_command_is_a_command(self):
        self.write("echo.toml", JOB)
        done = self.run_zeus("--quiet", "echo", "x")
        self.assertEqual((done.returncode, done.stdout), (0, "x\n"), done.stderr)

    def test_each_flag_that_describes_a_job_has_its_key(self):
        self.write("nightly.toml", "command = ['true']\nxyzzy = 1\n")
        keys = self.run_zeus("@nightly").stderr.partition("the keys are ")[2].strip().split(", ")
        flags = set(re.findall(r"--[a-z][a-z-]*", self.call(program, "run", "--help").stdout))
        self.assertEqual({"--" + key.replace("_", "-") for key in keys} - {"--command"}, flags - WITHOUT_KEY)

    def test_what_is_wrong_is_one_line_with_its_place(self):
        for text, said in (("command = ['true']\nbatch-sizes = [1]\n",
                            "zeus: nightly.toml:2:1: there is no key 'batch-sizes'; did you mean 'batch_sizes'?\n"),
                           ("eta = '0.5'\n",
                            "zeus: nightly.toml:1:7: 'eta' is \"0.5\", but must be a number from 0 to 1; leave out the "
                            "quotation marks\n"),
                           ("", "zeus: nightly.toml:1:1: the job has no command; write command = [\"python\", "
                            "\"train.py\"]\n")):
            with self.subTest(text):
                self.write("nightly.toml", text)
                done = self.run_zeus("@nightly")
                self.assertEqual((done.returncode, done.stderr), (2, said))
        missing = self.run_zeus("@nigthly")
        self.assertEqual(missing.returncode, 125)
        self.assertTrue(missing.stderr.endswith("; did you mean @nightly?\n"), missing.stderr)
        self.assertEqual(missing.stderr.count("\n"), 1)
        self.assertEqual(self.run_zeus().returncode, 2)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()

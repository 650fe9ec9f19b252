"""Job files: `zeus init` writes the file, `zeus run @NAME` follows it, flags overrule it, and a changed value of each key
has the effect that the table of docs/run.md says.

  job_file_test.py PROGRAM
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
program = ""

# Prints the metric once an epoch, improving each time.
TRAINER = textwrap.dedent("""
    import sys, time
    batch = int(sys.argv[2 if sys.argv[1] == "--batch-size" else 1])
    for epoch in range(1, 8):
        for step in range(1, 11):
            time.sleep(0.005)
            print(f"step {step}/10", flush=True)
        print(f"epoch {epoch} accuracy {epoch * batch / 100:.3f}", flush=True)
    """)
JOB = textwrap.dedent(f"""
    command = ["{sys.executable}", "train.py", "{{batch_size}}"]
    batch_sizes = [10, 20]
    default_batch_size = 10
    target_metric = 0.3
    max_epochs = 20
    metric_regex = 'accuracy ([.0-9]+)'
    epoch_regex = '^epoch (\\d+)'
    step_regex = '^step (\\d+)'
    power_limits = "off"
    profile_seconds = 0.02
    """)
# Keys of one policy alone.
WITHOUT_FLAG = {"--pruning-rounds", "--explorations", "--prior-cost-j", "--prior-precision"}
# Flags about a single run, about the file's place, or that are the negation of a key.
WITHOUT_KEY = {"--help", "--observe", "--json", "--color", "--file", "--lower-is-better"}


# For each key, a value different from the job's below.
OTHERS = {
    "job": "'other'", "store": "'other.sqlite'", "server": "'unix:/nowhere'", "server_patience": "7", "command": f"['{sys.executable}', 'train.py', '{{batch_size}}', 'more']",
    "metric_regex": "'accuracy ([.0-9]*)'", "epoch_regex": r"'epoch (\d+)'", "step_regex": r"'step (\d+)'",
    "power_limits": "[100, 250]", "gpus": "[0]", "profile_seconds": "0.03", "stop_at_target": "true",
    "on_store_error": "'refuse'", "grace": "5", "quiet": "false", "batch_sizes": "[10, 30]", "default_batch_size": "20",
    "learning_rate": "'10:0.2'", "lr_scaling": "'sqrt'", "target_metric": "0.25", "higher_is_better": "false",
    "max_epochs": "30", "eta": "0.75", "beta": "3", "window": "9", "policy": "'lookahead'", "seed": "4", "max_slowdown": "1.2",
    "price": "'0.31EUR'", "carbon": "'380g'", "pruning_rounds": "1", "explorations": "3", "prior_cost_j": "500.0", "prior_precision": "0.01",
}
# Keys after whose change the number of epochs must be learned again.
ANOTHER_COURSE = {"learning_rate", "lr_scaling", "target_metric", "higher_is_better"}


def documented_keys() -> dict[str, tuple[str, str]]:
    """The effect and the consequence of another value, for each key in the table of docs/run.md."""
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \| (accepted|refused|makes it another job) \| (.*) \|$",
                      (ROOT / "docs" / "run.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {key: (when, what) for keys, when, what in rows for key in re.findall("[a-z_]+", keys)}


def nights(device: dict, batch_sizes: tuple[int, ...]) -> list[dict]:
    """A history in which each night measured its limits and reached its target after three epochs."""
    owner = {"host": "node", "place": "boot", "pid": 1, "started": 1, "command": "zeus"}
    limits = [{"limit_w": 150.0, "epoch_time_s": 1.2, "average_power_w": 120.0},
              {"limit_w": 250.0, "epoch_time_s": 1.0, "average_power_w": 190.0}]
    entries = []
    for night, batch_size in enumerate(batch_sizes):
        about = {"try": night, "recurrence": night, "batch_size": batch_size}
        entries += [
            {"kind": "begun", "recurrence": night, "owner": owner, "device": device},
            {"kind": "started", **about, "purpose": "explore", "limit_w": None, "max_epochs": 20, "budget_j": None, "seed": 1},
            {"kind": "profiled", "recurrence": night, "batch_size": batch_size, "limits": limits, "energy_j": 0.0,
             "time_s": 0.0, "gpus": []},
            {"kind": "finished", **about, "outcome": "reached", "epochs": 3, "energy_j": 432.0, "time_s": 3.6,
             "limit_w": 150.0, "metric": 0.3, "exit_code": 0, "left_out": None,
             "gpus": [{"gpu": "GPU-0", "energy_j": {"value": 432.0, "uncertainty": 1.0, "systematic": None,
                                                    "method": "counter"}}]},
        ]
    return [{**entry, "sequence": number, "written_us": number} for number, entry in enumerate(entries, 1)]


class Folder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
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

    def shown(self, job: str) -> dict:
        return json.loads(self.call(program, "jobs", job, "--json").stdout)

    def definition(self, job: str) -> dict:
        return self.shown(job)["definition"]


class JobFiles(Folder):
    def test_the_file_says_what_is_run(self):
        self.write("nightly.toml", JOB)
        done = self.run_zeus("@nightly")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("epoch 7 accuracy", done.stdout)
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
        done = self.run_zeus("@nightly", "--quiet", "--", "echo", "accuracy 0.5 at {batch_size}")
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
        self.assertEqual({"--" + key.replace("_", "-") for key in keys} - {"--command"}, flags - WITHOUT_KEY | WITHOUT_FLAG)

    def test_what_is_wrong_is_one_line_with_its_place(self):
        for text, said in (("command = ['true']\nbatch_sizes = [16, 32]\ndefault_batch_size = 22\n",
                            "zeus: @nightly: the default batch size 22 is not one of 16,32; name one of them\n"),
                           ("command = ['true']\nbatch-sizes = [1]\n",
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


class Init(Folder):
    def init(self, *arguments: str) -> subprocess.CompletedProcess:
        return self.call(program, "init", *arguments)

    def test_it_writes_a_job_that_runs(self):
        done = self.init("nightly", "--", sys.executable, "train.py", "10")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.endswith("epoch 7 accuracy 0.700\n"), "the command's output is its own")
        self.assertIn("accuracy, higher is better: 7 values, from 0.1 to 0.7", done.stderr)
        self.assertIn("epochs     7: each value of the metric ends one", done.stderr)
        self.assertIn("steps      70, numbered from 1 to 10, again in each epoch", done.stderr)
        self.assertIn("| epoch 7 accuracy 0.700", done.stderr)
        run = self.run_zeus("@nightly")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("matched none", run.stderr)

    def test_what_it_suggests_may_be_accepted(self):
        command = [sys.executable, "train.py", "--batch-size", "10"]
        done = self.init("nightly", "--accept", "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.run_zeus("@nightly", "--stop-at-target")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.definition("nightly")["batch_sizes"], [2, 5, 10, 20, 40])

    def test_where_nothing_can_be_accepted_it_says_why(self):
        before = self.init("blind", "--accept", "--", "echo", "ran")
        self.assertEqual((before.returncode, before.stdout), (2, ""), "it is not run in vain")
        self.assertIn("--accept finds no batch size in the command", before.stderr)
        after = self.init("silent", "--accept", "--", "echo", "-b", "8")
        self.assertEqual(after.returncode, 125)
        self.assertIn("--accept took nothing: no metric was found", after.stderr)
        self.assertEqual(self.run_zeus("@silent").stdout, "-b 8\n", "the draft is there")

    def test_it_is_named_by_its_script_or_a_path(self):
        self.assertEqual(self.init("--", sys.executable, "train.py", "10").returncode, 0)
        self.assertTrue((self.folder / "train.toml").exists())
        self.assertEqual(self.init("--file", "jobs/my.toml", "--", "echo", "x").returncode, 0)
        self.assertEqual(self.run_zeus("--file", "jobs/my.toml").stdout, "x\n")

    def test_it_leaves_alone_what_is_there(self):
        self.write("nightly.toml", "mine")
        done = self.init("nightly", "--", "echo", "ran")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertEqual((self.folder / "nightly.toml").read_text(encoding="utf-8"), "mine")
        self.assertEqual(self.init("nightly", "--force", "--", "echo", "ran").returncode, 0)
        self.assertIn('command = ["echo", "ran"]', (self.folder / "nightly.toml").read_text(encoding="utf-8"))

    def test_what_could_not_be_used_is_refused_before_the_command_runs(self):
        ran = self.folder / "ran"
        for arguments in (["a\nb", "--", "touch", "ran"], ["@nightly", "--", "touch", "ran"], ["..", "--", "touch", "ran"],
                          ["n" * 201, "--", "touch", "ran"], ["latin", "--", "touch", "ran", os.fsdecode(b"caf\xe9")]):
            with self.subTest(arguments):
                done = self.init(*arguments)
                self.assertEqual((done.returncode, done.stdout, ran.exists()), (2, "", False), done.stderr)
        done = self.init("--", "bash", "-c", "echo cd src && echo train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("`zeus run @bash`", done.stderr)

    def test_a_command_that_fails_leaves_no_file(self):
        for command, code in ((["sh", "-c", "echo epoch 1 accuracy 0.5; exit 3"], 3), (["/nonexistent/train"], 127),
                              (["/etc/passwd"], 126), (["sh", "-c", "kill -TERM $$"], 143)):
            with self.subTest(command):
                done = self.init("nightly", "--", *command)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(done.stderr.count("nothing was written"), 1, done.stderr)
                self.assertFalse((self.folder / "nightly.toml").exists())
        self.assertEqual(self.init("nightly").returncode, 2)

    def test_reports_need_no_expressions(self):
        self.assertEqual(self.init("own", "--", "sh", "-c", 'echo epoch >> "$ZEUS_PROGRESS"').returncode, 0)
        text = (self.folder / "own.toml").read_text(encoding="utf-8")
        self.assertIn("no expressions are needed", text)
        self.assertNotIn("regex", text)


class OtherNights(Folder):
    kept: tempfile.TemporaryDirectory | None = None

    def setUp(self):
        super().setUp()
        self.maxDiff = None
        self.job = JOB.replace("power_limits = \"off\"", "power_limits = [150, 250]") + (
            "policy = 'zeus'\nlearning_rate = '10:0.1'\nquiet = true\n")
        self.write("nightly.toml", self.job)
        shutil.copytree(self.learned(), self.folder / "data")

    def learned(self) -> pathlib.Path:
        """The store after three nights, with which all tests begin; its measurements are invented, so that they do not
        depend on the machine."""
        if OtherNights.kept is None:
            self.assertEqual(self.run_tonight().returncode, 0)
            heading = json.loads(self.call(program, "jobs", "nightly", "export").stdout.splitlines()[0])
            self.assertEqual(self.call(program, "jobs", "nightly", "forget", "--yes").returncode, 0)
            entries = nights(heading["definition"]["device"], (10, 20, 10))
            self.write("nights.jsonl", "".join(json.dumps(line) + "\n" for line in
                                               (heading, *entries, {"end": len(entries)})))
            done = self.call(program, "jobs", "nightly", "import", "--file", "nights.jsonl")
            self.assertEqual(done.returncode, 0, done.stderr)
            OtherNights.kept = tempfile.TemporaryDirectory()
            self.addClassCleanup(OtherNights.kept.cleanup)
            shutil.move(self.folder / "data", OtherNights.kept.name)
        return pathlib.Path(OtherNights.kept.name) / "data"

    def with_other(self, key: str) -> str:
        lines = [line for line in self.job.splitlines() if not line.startswith(key + " = ")]
        return "\n".join([*lines, f"{key} = {OTHERS[key]}"]) + "\n"

    def default_size(self) -> dict:
        return next(one for one in self.shown("nightly")["batch_sizes"] if one["batch_size"] == 10)

    def run_tonight(self) -> subprocess.CompletedProcess:
        """A short night: the training itself does not matter here."""
        return self.run_zeus("--file", "nightly.toml", "--", "echo", "accuracy 0.3 in epoch 1")

    def refused_and_redefined(self, key: str, follows: str) -> None:
        done = self.run_tonight()
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(f": {follows})", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        before = self.shown("nightly")
        measured = self.default_size()["limits"]
        self.assertTrue(measured)
        redefined = self.call(program, "jobs", "nightly", "redefine")
        self.assertEqual(redefined.returncode, 0, redefined.stderr)
        self.assertTrue(redefined.stdout.endswith(f": {follows}\n"), redefined.stdout)
        self.assertEqual(self.default_size()["limits"], measured)
        self.assertEqual(self.default_size()["expected_cost_j"] is None, key in ANOTHER_COURSE)
        after = self.shown("nightly")
        self.assertEqual((after["entries"], len(after["tries"])), (before["entries"] + 1, len(before["tries"])))
        self.assertEqual(self.run_tonight().returncode, 0)

    def test_each_key_does_what_the_table_says(self):
        documented = documented_keys()
        self.assertEqual(set(documented), set(OTHERS))
        for key, (when, follows) in documented.items():
            with self.subTest(key):
                shutil.rmtree(self.folder / "data")
                shutil.copytree(self.learned(), self.folder / "data")
                self.write("nightly.toml", self.with_other(key))
                if when == "refused":
                    self.refused_and_redefined(key, follows)
                    continue
                done = self.run_zeus("@nightly") if key == "command" else self.run_tonight()
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(len(self.shown("nightly")["recurrences"]), 3 if when == "makes it another job" else 4)

    def test_only_what_is_set_is_redefined(self):
        told = self.call(program, "jobs", "nightly", "redefine", "--set", "eta = 0.75", "--set", "seed = 3")
        self.assertEqual((told.returncode, told.stdout), (
            0, "nightly: eta is 0.75 (it was 0.5): costs are weighed again, and everything learned is kept\n"
            "nightly: seed is 3 (it was 0): everything learned is kept, and draws and seeds change\n"), told.stderr)
        self.assertEqual((self.definition("nightly")["eta"], self.definition("nightly")["seed"]), (0.75, 3))
        for setting, code, said in (("grace = 3", 2, "zeus: grace is not part of this job's definition; "),
                                    ("etha = 3", 2, "zeus: --set:1:1: there is no key 'etha'; did you mean 'eta'?"),
                                    ("batch_sizes = [20]", 2, "zeus: the default batch size 10 is not among")):
            done = self.call(program, "jobs", "nightly", "redefine", "--set", setting)
            self.assertEqual((done.returncode, done.stderr[:len(said)]), (code, said))

    def test_the_command_that_the_refusal_names_takes_the_job_on(self):
        done = self.run_zeus("@nightly", "--target-metric", "0.25", "--eta", "1")
        self.assertEqual(done.returncode, 125)
        command = shlex.split(re.search("`(zeus jobs nightly redefine [^`]*)`", done.stderr).group(1))
        told = self.call(program, *command[1:])
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertEqual(self.run_zeus("@nightly", "--target-metric", "0.25", "--eta", "1").returncode, 0)

    def test_an_expression_more_leaves_the_policy_alone(self):
        for text in (JOB.replace("step_regex", "# step_regex"), JOB):
            self.write("plain.toml", text + "quiet = true\n")
            done = self.run_zeus("@plain")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.definition("plain")["policy"], "zeus")

    def test_a_file_of_another_job_redefines_nothing(self):
        self.write("nightly.toml", self.job + "job = 'weekly'\n")
        done = self.call(program, "jobs", "nightly", "redefine")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("that file is the job 'weekly', not 'nightly'", done.stderr)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()

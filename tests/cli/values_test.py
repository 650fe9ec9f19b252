"""Senseless values are refused before anything is done: in one line of our own, with what was probably meant.

  values_test.py PROGRAM
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROFILE = "stage,instruction,frequency,time,energy\n" + "".join(
    f"{stage},{name},{frequency},{1000 / frequency:.4f},{frequency / 10:.1f}\n"
    for stage in (0, 1) for name in ("forward", "backward") for frequency in (1000, 1400))
JOB = ["run", "--job", "x", "--batch-sizes", "8,16", "--default-batch-size", "8"]
MODEL = ["simulate", "job", "--workload", "cifar100", "--gpu", "v100"]
TRACES = ["simulate", "job", "--train-trace", "t.csv", "--power-trace", "p.csv", "--dataset", "d", "--network", "n",
          "--optimizer", "o", "--max-epochs", "5", "--default-batch-size", "8"]
PIPELINE = ["pipeline", "--profile", "profile.csv", "--stages", "2", "--microbatches", "4"]
RUNS = ["--", "touch", "it-ran"]
program = ""

# The command line, and what the answer must name.
REFUSED = [
    # Empty ones.
    (["measure", "--gpus", "", *RUNS], "--gpus is empty"),
    (["measure", "--gpus=", *RUNS], "--gpus is empty"),
    (["measure", "--cpus", "", *RUNS], "--cpus is empty"),
    (["measure", "--json", "", *RUNS], "--json is empty"),
    (["monitor", "--gpus", "0,,1"], "--gpus is empty"),
    (["monitor", "--duration", ""], "--duration is empty"),
    (["monitor", "--interval", ""], "--interval is empty"),
    (["monitor", "--csv", ""], "--csv is empty"),
    ([*MODEL, "--eta", ""], "--eta is empty"),
    ([*JOB, "--eta", "", *RUNS], "--eta is empty"),
    ([*JOB, "--store", "", *RUNS], "--store is empty"),
    (["run", "--job", "", *RUNS], "--job is empty"),
    (["run", "--gpus", "", *RUNS], "--gpus is empty"),
    (["run", "--power-limits", "", *RUNS], "--power-limits is empty"),
    (["run", "--file", "", *RUNS], "--file is empty"),
    (["run", "--observe=", *RUNS], "--observe is empty"),
    (["virtual", "1xA100", "--faults", "", *RUNS], "--faults is empty"),
    (["virtual", "1xA100", "--truth", "", *RUNS], "--truth is empty"),
    (["virtual", "1xA100", "--load", "", *RUNS], "--load is empty"),
    (["virtual", "1xA100", "--session", "", *RUNS], "--session is empty"),
    (["virtual", "", *RUNS], "SPEC is empty"),
    (["simulate", "job", "--train-trace", "", *TRACES[4:]], "--train-trace is empty"),
    (["simulate", "cluster", "--train-trace", "", "--power-trace", "p"], "--train-trace is empty"),
    (["simulate", "paper", "--report", ""], "--report is empty"),
    (["pipeline", "--dag", ""], "--dag is empty"),
    ([*PIPELINE, "--html", ""], "--html is empty"),
    (["restore", "--gpu", ""], "--gpu is empty"),
    (["jobs", ""], "NAME is empty"),
    (["jobs", "--store", ""], "--store is empty"),
    (["init", "", *RUNS], "NAME is empty"),
    (["demo", "--report", ""], "--report is empty"),
    (["demo", "--html", ""], "--html is empty"),
    (["simulate", "paper", "--html", "a", "--report", "b"], "--report is given twice"),
    # Negative ones.
    ([*JOB, "--seed", "-1", *RUNS], "--seed: '-1' is not a whole number from 0;"),
    ([*MODEL, "--seed", "-1"], "--seed: '-1' is not a whole number from 0 to"),
    ([*JOB, "--window", "-1", *RUNS], "--window: '-1' is not a whole number from 0;"),
    ([*MODEL, "--window", "-1"], "--window: '-1' is not a whole number from 0;"),
    ([*PIPELINE, "--data-parallel", "-1"], "--data-parallel: '-1' is not a whole number from 1"),
    ([*PIPELINE, "--tensor-parallel", "-1"], "--tensor-parallel: '-1' is not a whole number from 1"),
    (["measure", "--gpus", "-1", *RUNS], "there is no GPU '-1'"),
    (["run", "--grace", "-1", *RUNS], "--grace: '-1' is not a number from 0"),
    (["run", "--power-limits", "-100", *RUNS], "'-100' is not a power"),
    (["monitor", "--duration", "-1"], "--duration: '-1' is not a time"),
    # Not a number, or not a finite one.
    ([*JOB, "--target-metric", "nan", *RUNS], "--target-metric: 'nan' is not a number"),
    ([*JOB, "--target-metric", "inf", *RUNS], "--target-metric: 'inf' is not a number"),
    ([*TRACES, "--target-metric", "nan"], "--target-metric: 'nan' is not a number"),
    ([*TRACES, "--target-metric", "inf"], "--target-metric: 'inf' is not a number"),
    ([*JOB, "--max-slowdown", "inf", *RUNS], "--max-slowdown: 'inf' is not a number from 1"),
    ([*JOB, "--beta", "nan", *RUNS], "--beta: 'nan' is not a number above 0, or inf"),
    (["run", "--grace", "inf", *RUNS], "--grace: 'inf' is not a number"),
    (["run", "--profile-seconds", "nan", *RUNS], "--profile-seconds: 'nan' is not a number"),
    (["monitor", "--interval", "nan"], "--interval: 'nan' is not a time"),
    (["monitor", "--duration", "inf"], "--duration: 'inf' is not a time"),
    ([*PIPELINE, "--margin", "nan"], "--margin: 'nan' is not a number from 0 to 1"),
    (["measure", "--gpus", "abc", *RUNS], "there is no GPU 'abc'"),
    (["run", "--gpus", "0.5", *RUNS], "there is no GPU '0.5'"),
    (["monitor", "--gpus", "GPU-0"], "there is no GPU 'GPU-0'"),
    # Too large, too small, or a fraction.
    ([*JOB, "--seed", "18446744073709551616", *RUNS], "not above 18446744073709551615"),
    ([*MODEL, "--seed", "18446744073709551615"], "--seed: '18446744073709551615' is not a whole number from 0 to"),
    ([*MODEL, "--gpus", "99999999999"], "--gpus: '99999999999' is not a whole number"),
    ([*PIPELINE, "--data-parallel", "18446744073709551615"], "is not a whole number from 1 to 1000000"),
    ([*PIPELINE, "--points", "0"], "--points: '0' is not a whole number from 1 to 10000"),
    ([*PIPELINE, "--points", "2.5"], "--points: '2.5' is not a whole number from 1 to 10000"),
    ([*PIPELINE, "--unit-time", "1e3"], "--unit-time of 1000 s is too long: a computation of"),
    ([*PIPELINE, "--unit-time", "0"], "--unit-time: '0' is not a time above 0 seconds"),
    (["run", "--grace", "1e22", *RUNS], "--grace: '1e22' is not a number from 0 to 1000000"),
    (["monitor", "--interval", "1ms"], "--interval: '1ms' is not a time from 0.02 to 86400 seconds"),
    (["monitor", "--duration", "1e300"], "--duration: '1e300' is not a time above 0 to 1000000000 seconds"),
    ([*JOB, "--eta", "1.01", *RUNS], "--eta: '1.01' is not a number from 0 to 1"),
    (["demo", "--eta", "2"], "--eta: '2' is not a number from 0 to 1"),
    (["watch"], "NODE is missing"),
    (["watch", "node"], "'node'"),
    (["watch", "node:1", "node:1"], "'node:1' is named twice"),
    (["watch", "node:1", "--interval", "1ms"], "--interval: '1ms' is not a time from 0.1 to 86400 seconds"),
    # Mistyped words.
    (["monitor", "--intervall", "1"], "there is no flag '--intervall'; did you mean `--interval`? `zeus monitor --help`"),
    (["run", "--batchsizes", "8", *RUNS], "did you mean `--batch-sizes`? `zeus run --help`"),
    (["run", "--observe=pasive", *RUNS], "did you mean `passive`? `zeus run --help`"),
    (["run", "--lr-scaling", "squrt", *RUNS], "did you mean `sqrt`? `zeus run --help`"),
    (["mesure", *RUNS], "there is no command 'mesure'; did you mean `measure`? `zeus --help`"),
    (["simulate", "clustr"], "there is no command 'clustr'; did you mean `cluster`? `zeus simulate --help`"),
    (["jobs", "x", "exprot"], "did you mean `export`? `zeus jobs --help`"),
    ([*PIPELINE, "--schedule", "1f1p"], "did you mean `1f1b`? `zeus pipeline --help`"),
    ([*PIPELINE, "--fit", "smoth"], "did you mean `smooth`? `zeus pipeline --help`"),
    # Missing or superfluous words.
    (["measure"], "CMD is missing; usage: zeus measure [OPTIONS] -- CMD..."),
    (["simulate"], "zeus simulate needs a command; `zeus simulate --help`"),
    (["simulate", "paper"], "nothing is named to write to; give --html FILE, --json FILE or both"),
    (["simulate", "cluster"], "--train-trace FILE is missing; usage: zeus simulate cluster"),
    (["devices", "all"], "'all' is one argument too many; usage: zeus devices"),
    (["restore", "--gpu"], "--gpu has no value; write --gpu GPU; `zeus restore --help`"),
    (["measure", "python", "train.py", "--lr", "1"], "come after two dashes: zeus measure [OPTIONS] -- CMD..."),
    # Characters that would disturb a terminal.
    (["devices", "\x1b[2J\n" + "x" * 100_000], "'\\x1b[2J\\nxxx"),
]
NOT_OURS = ("Could not convert", "not expected", "required but", "Excludes", "{limits}", "filesystem error", "a defect in zeus",
            "stoi", "basic_string", "std::")


class Values(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "profile.csv").write_text(PROFILE, encoding="utf-8")

    def test_what_makes_no_sense_is_one_line_in_our_words(self):
        environment = {**os.environ, "HOME": str(self.folder), "ZEUS_STATE_DIR": str(self.folder)}
        for arguments, answer in REFUSED:
            with self.subTest([word[:60] for word in arguments]):
                done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=60,
                                      cwd=self.folder, env=environment)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertTrue(done.stderr.startswith("zeus: ") and done.stderr.count("\n") == 1, done.stderr)
                self.assertIn(answer, done.stderr)
                self.assertLess(len(done.stderr), 400)
                self.assertNotIn("\x1b", done.stderr)
                for text in NOT_OURS:
                    self.assertNotIn(text, done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["profile.csv"])


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()

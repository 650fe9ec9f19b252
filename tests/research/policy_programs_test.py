"""Policies that are programs: `grid` of examples/policy and a `default` of four lines take the decisions of the policies inside,
entry for entry. A program that dies, hangs, answers late or answers nonsense is named within five seconds.

  policy_programs_test.py ZEUS
"""

import concurrent.futures
import contextlib
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDS = 20
PATIENCE = 30.0  # seconds until a program that does not work is named: `zeus` waits for 4 s, and the machine may be busy
PYTHON = [sys.executable, "-E", "-S"]  # which begins sooner
DEFAULT = """
import json, sys
for event in map(json.loads, sys.stdin):
    job = event if event["kind"] == "job" else job
    if event["kind"] == "decide":
        print(json.dumps({"batch_size": job["default_batch_size"], "limit_w": job["limits_w"][-1]}), flush=True)
"""
ANSWER = "print(json.dumps({'batch_size': 1024}), flush=True)"
JOB = ["--workload", "cifar100", "--gpu", "V100"]
zeus = ""


def program(code: str) -> str:
    return "exec:" + shlex.join([*PYTHON, "-c", code])


def answering(code: str) -> str:
    """A program that does this at each question."""
    return program(f"import json, sys, time, os\nfor line in sys.stdin:\n if 'decide' in line:\n  {code}\n")


def simulate(policy: str, *more: str) -> subprocess.CompletedProcess:
    return subprocess.run([zeus, "simulate", "job", *JOB, "--policy", policy, *more], capture_output=True, text=True, check=False,
                          timeout=120)


class PolicyPrograms(unittest.TestCase):
    def check_same_history(self, inside: str, outside: str) -> None:
        for seed in range(1, SEEDS + 1):
            # A third of the seeds each: one after the other, overlapping, on other GPUs from the 20th recurrence on.
            more = [[], ["--in-flight", "3"], ["--move", "20:A40"]][seed % 3]
            said = []
            for policy in (inside, outside):
                done = simulate(policy, "--seed", str(seed), "--json", *more)
                self.assertEqual(done.returncode, 0, done.stderr)
                said.append({key: value for key, value in json.loads(done.stdout).items() if key != "policy"})
            self.assertGreater(len(said[0]["history"]), 50)
            self.assertEqual(said[0], said[1], f"{inside}, seed {seed}")

    def test_grid_takes_the_decisions_of_the_policy_inside(self):
        self.check_same_history("grid", "exec:" + shlex.join([*PYTHON, str(ROOT / "examples" / "policy" / "policy.py")]))

    def test_default_takes_the_decisions_of_the_policy_inside(self):
        self.check_same_history("default", program(DEFAULT))

    def refused(self, policy: str, *wanted: str) -> None:
        begun = time.monotonic()
        done = simulate(policy)
        took = time.monotonic() - begun
        self.assertEqual((done.returncode, done.stdout), (1, ""), policy)
        said = [line for line in done.stderr.splitlines() if line.startswith("zeus: ")]
        self.assertEqual(len(said), 1, done.stderr)
        for part in ("policy program '", *wanted):
            self.assertIn(part, said[0])
        self.assertLess(took, PATIENCE, said[0])

    def test_one_that_dies_is_named(self):
        self.refused("exec:./no-such-program", "ended with exit code 127")
        self.refused(answering("sys.exit(3)"), "ended with exit code 3")
        self.refused(answering("os.kill(os.getpid(), 9)"), "ended with exit code 137")
        self.refused("exec:exec 1>&-; exec sleep 60", "closed its output; it did not answer")

    def test_one_that_hangs_or_answers_late_is_named(self):
        slow = [answering("time.sleep(600)"), answering(f"time.sleep(8); {ANSWER}"), "exec:sleep 600"]
        with concurrent.futures.ThreadPoolExecutor() as threads:
            list(threads.map(lambda policy: self.refused(policy, "did not answer within 4 s"), slow))

    def test_one_that_prints_anything_else_is_named_with_the_line(self):
        for code, wanted in (
                ("print('thinking...', flush=True)", "line 1 of its output is not a decision: it is not JSON"),
                (f"print('', flush=True); {ANSWER}", "line 1 of its output is not a decision: it is not JSON"),
                ("sys.stdout.write(2 * (json.dumps({'batch_size': 1024}) + chr(10))); sys.stdout.flush()", "line 2 of its output: nothing was asked"),
                ("print('{}', flush=True)", "it has no 'batch_size'"),
                ("print('{\"batch_size\": 1024, \"limit\": 100}', flush=True)", "it has an unknown key 'limit'"),
                ("print('{\"batch_size\": 1e99}', flush=True)", "'batch_size' is not a whole number"),
                ("print('{\"batch_size\": 1000}', flush=True)", "the job has no batch size 1000, but 8, 16,"),
                ("print('{\"batch_size\": 1024, \"limit_w\": 99}', flush=True)", "the job has no limit of 99 W"),
                ("print('{\"batch_size\": 1024, \"measure_w\": [100]}', flush=True)", "100 W is measured already at batch size 1024"),
                ("sys.stdout.write('x' * 200000); sys.stdout.flush()", "line 1 of its output is longer than 65536 bytes")):
            with self.subTest(code):
                self.refused(answering(code), wanted)

    def test_what_it_starts_ends_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            pid = pathlib.Path(folder) / "pid"
            self.refused(f"exec:sleep 600 & echo $! > {shlex.quote(str(pid))}; exec sleep 600", "did not answer")
            end = time.monotonic() + PATIENCE  # it has its signal by now, not necessarily the processor to die on
            with contextlib.suppress(OSError):  # that it is gone is as good
                stat = pathlib.Path(f"/proc/{pid.read_text().strip()}/stat")
                while (state := stat.read_text().rsplit(")", 1)[1].split()[0]) not in "ZX":
                    self.assertLess(time.monotonic(), end, f"it is in state {state}")
                    time.sleep(0.01)

    def test_no_program_is_bad_usage(self):
        done = simulate("exec:")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--policy names no program", done.stderr)


if __name__ == "__main__":
    zeus = sys.argv[1]
    unittest.main(argv=sys.argv[:1])

"""zeus::Job on a virtual GPU: limits are measured while it trains and the best one is kept, with steps and with epochs. If a
program is killed, its GPU is put back, and the next program gives its recurrence up.

  live_job_test.py ZEUS LIVE_JOB [RUNS_ON_A_BUSY_MACHINE]
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import busy_machine  # noqa: E402

zeus, program, busy_runs = "", "", 2


class LiveJob(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(folder.cleanup)
        self.environment = {**os.environ, "XDG_DATA_HOME": folder.name}

    def virtually(self, script: str, load: str = "follow:cifar100") -> str:
        done = subprocess.run([zeus, "virtual", "1xV100", "--load", load, "--", "sh", "-c", script],
                              capture_output=True, text=True, check=False, timeout=120, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def job(self, name: str) -> dict:
        done = subprocess.run([zeus, "jobs", name, "--json"], capture_output=True, text=True, check=True, env=self.environment)
        return json.loads(done.stdout)

    def check(self, how: str) -> None:
        """What was measured is in the history. (What the policy makes of it is not asked: a busy machine may change the pace.)"""
        held = self.virtually(f"{shlex.quote(program)} {how} {how}")
        exported = subprocess.run([zeus, "jobs", how, "export"], capture_output=True, text=True, check=True, env=self.environment)
        entries = [json.loads(line) for line in exported.stdout.splitlines()]
        limits = [one for entry in entries if entry.get("kind") == "profiled" for one in entry["limits"]]
        self.assertEqual({one["limit_w"] for one in limits}, {100, 175, 250})
        for one in limits:
            self.assertLess(one["average_power_w"], one["limit_w"] * 1.05)
        self.assertEqual([entry["limit_w"] for entry in entries if entry.get("kind") == "finished"], [float(held)])
        self.assertEqual([one["outcome"] for one in self.job(how)["tries"]], ["reached"])

    def test_limits_are_measured_by_steps(self):
        self.check("steps")

    def test_limits_are_measured_by_epochs_where_there_are_no_steps(self):
        self.check("epochs")

    def suspended_in(self, epoch: int, how: str) -> dict:
        """The job after a try that stood still for 4 s in this epoch. (A load that follows would let it go on by itself.)"""
        self.virtually(f"{shlex.quote(program)} {how}{epoch} {how} {epoch} & job=$!; "
                       "while ! grep -q '^State:.T' /proc/$job/status; do kill -0 $job || exit 1; sleep 0.02; done; "
                       "sleep 4; kill -CONT $job; wait $job", "constant:180W")
        return self.job(f"{how}{epoch}")

    def test_a_suspension_is_neither_charged_nor_learned_from(self):
        # Early, while limits are measured, and late, when the best one is kept.
        for epoch, how in ((3, "epochs"), (2, "steps"), (13, "epochs")):
            with self.subTest(epoch=epoch, how=how):
                began = time.monotonic()
                job = self.suspended_in(epoch, how)
                took = time.monotonic() - began
                (attempt,) = job["tries"]
                self.assertEqual((attempt["outcome"], attempt["left_out"]),
                                 ("reached", "it was suspended for a while, for example by Ctrl-Z"))
                self.assertIsNone(attempt["energy_j"], "what the suspension took cannot be told from the rest")
                (recurrence,) = job["recurrences"]
                self.assertLess(recurrence["time_s"], took - 4.0)
                for limit in (one for belief in job["batch_sizes"] for one in belief["limits"]):
                    self.assertLess(limit["epoch_time_s"], 4.0)

    def longest_pause(self, during: Callable[[], object]) -> float:
        """Seconds by which this process, asleep beside it, was late at most."""
        late, over = [0.0], threading.Event()

        def watch() -> None:
            while not over.is_set():
                asleep = time.monotonic()
                over.wait(0.05)
                late[0] = max(late[0], time.monotonic() - asleep - 0.05)

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            during()
        finally:
            over.set()
            watching.join()
        return late[0]

    def test_a_busy_machine_alone_is_no_suspension(self):
        names = []
        with busy_machine.busy(4):
            for number in range(busy_runs):
                for again in range(5):
                    name = f"busy{number}-{again}"
                    command = f"{shlex.quote(program)} {name} {('steps', 'epochs')[number % 2]}"
                    if self.longest_pause(lambda command=command: self.virtually(command)) < 0.7:
                        break  # otherwise the whole machine may have stood still, which nothing tells from a suspension
                names.append(name)
        ends = [[one["outcome"], one["left_out"]] for name in names for one in self.job(name)["tries"]]
        self.assertEqual(ends, [["reached", None]] * busy_runs)

    def test_a_program_that_is_killed_leaves_nothing_behind(self):
        # Once limits are being measured, or one is kept.
        limit = f"{shlex.quote(zeus)} devices --json | grep -o '\"current\": *[0-9.]*' | head -1"
        for again in range(5):
            name = f"job{again}"
            said = self.virtually(f"found=$({limit}); {shlex.quote(program)} {name} steps & job=$!; sleep 0.3; "
                                  f"while [ \"$({limit})\" = \"$found\" ]; do kill -0 $job || exit 0; sleep 0.05; done; "
                                  "kill -9 $job; wait $job; "
                                  f"while [ \"$({limit})\" != \"$found\" ]; do sleep 0.05; done; echo as found")
            if "as found" in said:
                break  # otherwise a busy machine let it train to its end before this looked
        self.assertIn("as found", said)
        self.assertEqual([one["state"] for one in self.job(name)["recurrences"]], ["running"])
        self.virtually(f"{shlex.quote(program)} {name} epochs")
        first, second = self.job(name)["recurrences"]
        self.assertEqual((first["state"], second["state"]), ("given_up", "reached"))
        self.assertIn("is gone", first["why"])


if __name__ == "__main__":
    zeus, program = sys.argv[1:3]
    busy_runs = int(sys.argv[3]) if len(sys.argv) > 3 else busy_runs
    unittest.main(argv=sys.argv[:1])

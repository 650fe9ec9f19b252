"""`zeus run` killed at a hundred random moments: it, its command, the command's whole group, or all of them at once. The
limit is put back, no process is left, and the history is intact. Several virtual GPUs at once, all running one job of one
store.

  kill_test.py PROGRAM
"""

import collections
import ctypes
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

MOMENTS, SESSIONS = 100, 5
WHO = ("zeus", "command", "group", "all")
FOUND_W = 250
PATIENCE, STILL = 60.0, 0.2  # seconds

TRAINER = """
import os, sys, time
print("training", os.getpid(), flush=True)
for epoch in range(1, int(sys.argv[1]) + 1):
    for step in range(1, 11):
        time.sleep(0.01)
        print(f"step {step}/10", flush=True)
    print(f"epoch {epoch} accuracy {epoch / 100:.3f}", flush=True)
"""


def command_line(program: str, folder: pathlib.Path, epochs: int) -> list[str]:
    return [program, "run", "--job", "job", "--batch-sizes", "10,20", "--default-batch-size", "10", "--target-metric", "0.05",
            "--max-epochs", "90", "--profile-seconds", "0.05", "--grace", "0.2", "--store", str(folder / "jobs.sqlite"),
            "--metric-regex", "accuracy ([.0-9]+)", "--epoch-regex", r"^epoch (\d+)", "--step-regex", r"^step (\d+)", "--",
            sys.executable, str(folder / "train.py"), str(epochs)]


def processes_in(folder: pathlib.Path) -> list[int]:
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd") == str(folder.resolve()):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


class Killer:
    """In one virtual session: runs the job, kills it, and checks what is left. Prints a line of JSON each time."""

    def __init__(self, program: str, folder: pathlib.Path, seed: int):
        self.program, self.folder = program, folder
        self.draws = random.Random(seed)
        self.here = folder / f"session{seed}"
        self.here.mkdir()
        self.driver = ctypes.CDLL("libnvidia-ml.so.1")
        self.gpu = ctypes.c_void_p()
        assert self.driver.nvmlInit_v2() == 0
        assert self.driver.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.gpu)) == 0

    def limit(self) -> int:
        limit = ctypes.c_uint()
        assert self.driver.nvmlDeviceGetPowerManagementLimit(self.gpu, ctypes.byref(limit)) == 0
        return limit.value // 1000

    def kill(self, who: str) -> dict:
        with open(self.here / "said", "w+", encoding="utf-8") as said, open(self.here / "complained", "w+", encoding="utf-8") as err:
            running = subprocess.Popen(command_line(self.program, self.folder, 100), stdout=said, stderr=err, cwd=self.here)
            before_command = who == "zeus" and self.draws.random() < 0.3
            if not before_command:
                self.wait_for_command(running)
            time.sleep(self.draws.uniform(0, 0.3 if before_command else 0.6))
            limit = self.limit()
            if who in ("zeus", "all"):
                running.kill()
            if who != "zeus":
                self.kill_command(running, whole_group=who != "command")
            begun = time.monotonic()
            ended = None
            # A process that is just beginning or ending may hide from one look.
            while (ended is None or time.monotonic() - ended < STILL) and time.monotonic() - begun < PATIENCE:
                time.sleep(0.02)
                ended = None if self.unfinished(running) else ended or time.monotonic()
            result = {"who": who, "limit_w": limit, "seconds": (ended or time.monotonic()) - begun, "left": processes_in(self.here),
                      "limit_after_w": self.limit(), "code": running.poll()}
            err.seek(0)
            result["complained"] = err.read()
        running.kill()
        running.wait()
        return result

    def commands(self) -> list[int]:
        """The started processes, one for each try; the last one is running."""
        return [int(number) for number in re.findall(r"^training (\d+)\n", (self.here / "said").read_text(encoding="utf-8"), re.M)]

    def wait_for_command(self, running: subprocess.Popen):
        while not self.commands():
            assert running.poll() is None, (self.here / "complained").read_text(encoding="utf-8")
            time.sleep(0.01)

    def kill_command(self, running: subprocess.Popen, whole_group: bool):
        # The next try's process may just have begun.
        try:
            (os.killpg if whole_group else os.kill)(self.commands()[-1], signal.SIGKILL)
        except ProcessLookupError:
            running.kill()

    def unfinished(self, running: subprocess.Popen) -> bool:
        return running.poll() is None or self.limit() != FOUND_W or bool(processes_in(self.here))


class Killed(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "train.py").write_text(TRAINER, encoding="utf-8")

    def session(self, number: int, *command: str, **options) -> subprocess.Popen:
        state = self.folder / f"state{number}"
        state.mkdir(mode=0o700)
        return subprocess.Popen([program, "virtual", "1xV100", "--load", "constant:240W", "--", *command], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                env={**os.environ, "XDG_RUNTIME_DIR": str(state), "ZEUS_STATE_DIR": str(state)}, **options)

    def test_a_hundred_random_kills_leave_no_limit_no_process_and_a_whole_history(self):
        killers = [self.session(number, sys.executable, __file__, "--kill", program, str(self.folder), str(number),
                                str(MOMENTS // SESSIONS)) for number in range(SESSIONS)]
        kills = []
        for killer in killers:
            self.addCleanup(killer.kill)
        for killer in killers:
            out, err = killer.communicate(timeout=800)
            self.assertEqual(killer.returncode, 0, err)
            kills += [json.loads(line) for line in out.splitlines()]
        self.assertEqual(len(kills), MOMENTS)
        for kill in kills:
            self.assertEqual((kill["left"], kill["limit_after_w"]), ([], FOUND_W), kill)
            # Others run the same job meanwhile: no live process is given up.
            self.assertNotIn("given up", kill["complained"], kill)
        lowered = sum(kill["limit_w"] != FOUND_W for kill in kills)
        print(f"{MOMENTS} kills {dict(collections.Counter(kill['who'] for kill in kills))}, {lowered} of them under a changed limit; "
              f"put back and ended after {sorted(kill['seconds'] for kill in kills)[MOMENTS // 2]:.2f} s at the median, "
              f"{max(kill['seconds'] for kill in kills):.2f} s at most", file=sys.stderr)
        self.assertGreater(lowered, 0)
        last = self.session(SESSIONS, *command_line(program, self.folder, 12))
        _, err = last.communicate(timeout=120)
        self.assertEqual(last.returncode, 0, err)
        self.check_history()

    def check_history(self):
        with sqlite3.connect(self.folder / "jobs.sqlite") as store:
            self.assertEqual(store.execute("PRAGMA integrity_check").fetchone(), ("ok",))
            rows = store.execute("SELECT sequence, body FROM entries ORDER BY sequence").fetchall()
        self.assertEqual([row[0] for row in rows], list(range(1, len(rows) + 1)))
        entries = [json.loads(row[1]) for row in rows]
        begun = [entry["recurrence"] for entry in entries if entry["kind"] == "begun"]
        started = [entry["try"] for entry in entries if entry["kind"] == "started"]
        finished = [entry["try"] for entry in entries if entry["kind"] == "finished"]
        over = [entry["recurrence"] for entry in entries
                if entry["kind"] == "given_up" or entry.get("outcome") == "reached"]
        self.assertEqual(begun, list(range(len(begun))))
        self.assertEqual(started, list(range(len(started))))
        self.assertEqual(sorted(finished), started)
        self.assertEqual(sorted(over), begun, "dead processes' recurrences are given up, once")


if __name__ == "__main__":
    if sys.argv[1] == "--kill":
        killing = Killer(sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]))
        for moment in range(int(sys.argv[5])):
            print(json.dumps(killing.kill(WHO[moment % len(WHO)])), flush=True)
    else:
        program = os.path.abspath(sys.argv.pop(1))
        unittest.main()

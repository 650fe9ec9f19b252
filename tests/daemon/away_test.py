"""A daemon, its guardian or its driver goes away in the middle of a training, by a kill, a stop or a hang,
and in half of the rounds does not come back. The training goes on: its output and its signals are passed on, its calls
return, and afterwards the limits are those that were found.

  away_test.py ZEUS ZEUSD TRAINER [--rounds N] [--sessions N] [--seed S] [--bound SECONDS]

Each session is a virtual machine of its own. Needs root, for the daemon. Without --bound, the longest wait is judged by
what would be one for the daemon (`GENEROUS`), since a busy machine holds up everything; with it, by that.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from daemon_session import Driver, guardians_of, skip_without_root, until

FOUND = 210_000
GENEROUS = 3.0
SETTLING = 1.0  # the longest that finish() waits for the last energy readings, with a daemon or without
STEPS = 350
CPU_USE = "constant:350W"
STOPS = (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP)
WAYS = [("daemon", how) for how in STOPS] + [("guardian", how) for how in STOPS] + [
    ("driver", "hang"), ("daemon", "full")]
TRAINER = """
import sys, time
for step in range(int(sys.argv[1])):
    time.sleep(0.01)
    print("step", step, time.monotonic(), flush=True)
"""


class Reader:
    """The lines of a training, and the moments at which they came."""

    def __init__(self, process: subprocess.Popen) -> None:
        self.process, self.lines = process, []
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self) -> None:
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line))

    def gap(self) -> float:
        """The longest time in which no step came, or by which one came later than it was printed."""
        steps = [(at, float(line.split()[2])) for at, line in self.lines if re.match(r"step \d+ [0-9.]+$", line)]
        assert len(steps) > 1, self.lines
        return max([after[0] - before[0] for before, after in zip(steps, steps[1:])] + [at - printed for at, printed in steps])


class Machine:
    """In one virtual session: goes through its rounds, and prints a line of JSON for each."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.draws = random.Random(options.seed)
        self.driver = Driver()
        assert self.driver.limit(0) == FOUND
        self.folder = pathlib.Path(os.environ["ZEUS_STATE_DIR"]).parent
        (self.folder / "train.py").write_text(TRAINER, encoding="utf-8")
        self.socket = self.folder / "z.sock"
        self.started = 0

    def start_daemon(self) -> None:
        self.socket.unlink(missing_ok=True)
        self.started += 1
        log = open(self.folder / "zeusd.log", "ab")
        self.daemon = subprocess.Popen(
            [self.options.zeusd, "serve", "--socket-path", str(self.socket), "--admin-socket",
             str(self.folder / f"admin{self.started}" / "a.sock")], stdout=log, stderr=log)
        until(self.socket.exists, "the daemon listens")

    def begin(self, kind: str) -> subprocess.Popen:
        words = [self.options.trainer, str(STEPS)]
        if kind == "run":
            words = [self.options.zeus, "run", "--profile-seconds", "0.4", "--grace", "0.5", "--step-regex", r"^step (\d+)"]
            words += ["--", sys.executable, str(self.folder / "train.py"), str(STEPS)]
        return subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                env={**os.environ, "ZEUSD_SOCK_PATH": str(self.socket), "HOME": str(self.folder)})

    def strike(self, who: str, how) -> list:
        """What was stopped, to be continued."""
        if who == "driver":
            self.driver.fault("slow delay=3s call=nvmlDeviceSet* for=3s from=0s times=2")
            return []
        if how == "full":
            self.daemon.send_signal(signal.SIGSTOP)
            self.fill()
            return [self.daemon.pid]
        struck = guardians_of(self.folder / "state") if who == "guardian" else [self.daemon.pid]
        for process in struck:
            os.kill(process, how)
        return struck if how == signal.SIGSTOP else []

    def fill(self) -> None:
        """Connections until the socket takes no more."""
        self.connections = []
        for _ in range(10_000):
            one = socket.socket(socket.AF_UNIX)
            one.setblocking(False)
            self.connections.append(one)
            try:
                one.connect(str(self.socket))
            except BlockingIOError:
                break

    def round(self, kind: str, who: str, how, comes_back: bool, asked: bool) -> dict:
        self.connections = []
        self.start_daemon()
        training = self.begin(kind)
        reader = Reader(training)
        complaints = []
        listener = threading.Thread(target=lambda: complaints.append(training.stderr.read()))
        listener.start()
        until(lambda: len(reader.lines) > 5 or training.poll() is not None, "the training prints")
        time.sleep(self.draws.uniform(0, 1.5))
        limit = self.driver.limit(0)
        stopped = self.strike(who, how)
        time.sleep(self.draws.uniform(0.5, 1.2))
        if comes_back:
            self.come_back(who, stopped)
        ended = None
        if asked:
            training.send_signal(signal.SIGTERM)
            at = time.monotonic()
            last = lambda: [moment for moment, line in reader.lines if line.startswith("step")][-1]  # noqa: E731
            until(lambda: training.poll() is not None or time.monotonic() - last() > 0.5, "the signal is passed on")
            ended = max(last() - at, 0.0)
        until(lambda: training.poll() is not None, "the training ends")
        over = time.monotonic()
        reader.thread.join()
        listener.join()
        late = over - max(moment for moment, line in reader.lines if line.startswith("step"))
        calls = next((line.split()[1:4] for _, line in reader.lines if line.startswith("calls")), None)
        result = {"kind": kind, "who": who, "how": str(how), "back": comes_back, "asked": asked, "code": training.returncode,
                  "limit": limit, "gap": reader.gap(), "signal": ended, "late": late,
                  "calls": calls and [float(one) for one in calls], "said": "".join(complaints)}
        self.clean_up(stopped)
        result["after"] = self.driver.limit(0)
        return result

    def come_back(self, who: str, stopped: list) -> None:
        for connection in self.connections:
            connection.close()
        for process in stopped:
            os.kill(process, signal.SIGCONT)
        if who == "daemon" and not stopped:
            self.daemon.wait()
            self.start_daemon()

    def clean_up(self, stopped: list) -> None:
        self.driver.clear_faults()
        for connection in self.connections:
            connection.close()
        for process in stopped:
            try:
                os.kill(process, signal.SIGCONT)
            except ProcessLookupError:
                pass
        if self.daemon.poll() is None:
            self.daemon.terminate()
            self.daemon.wait()
        restored = subprocess.run([self.options.zeus, "restore"], capture_output=True, text=True)
        if self.driver.limit(0) != FOUND:
            print(restored.stdout, restored.stderr, file=sys.stderr)


def rounds_of(options: argparse.Namespace) -> None:
    machine = Machine(options)
    for number in range(options.rounds):
        everything = options.seed + number * options.sessions
        kind = ("run", "cpp")[everything % 2]
        who, how = WAYS[(everything // 2) % len(WAYS)]
        print(json.dumps(machine.round(kind, who, how, everything // 3 % 2 == 0, everything // 5 % 2 == 0)), flush=True)


class Away(unittest.TestCase):
    def session(self, seed: int, rounds: int) -> subprocess.Popen:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        state = pathlib.Path(held.name) / "state"
        state.mkdir(mode=0o700)
        words = [options.zeus, "virtual", "1xA100@limit=210", "--shared", "--load", CPU_USE, "--", sys.executable, __file__,
                 options.zeus, options.zeusd, options.trainer, "--inside", "--rounds", str(rounds), "--seed", str(seed),
                 "--sessions", str(options.sessions)]
        return subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "ZEUS_STATE_DIR": str(state)})

    def test_a_training_goes_on_while_others_go_away(self):
        each = -(-options.rounds // options.sessions)
        machines = [self.session(options.seed + number, each) for number in range(options.sessions)]
        rounds = []
        for machine in machines:
            self.addCleanup(machine.kill)
        for machine in machines:
            out, err = machine.communicate(timeout=1700)
            self.assertEqual(machine.returncode, 0, err)
            rounds += [json.loads(line) for line in out.splitlines()]
        bound = options.bound if options.bound is not None else GENEROUS
        for one in rounds:
            print({name: value for name, value in one.items() if name != "said"}, file=sys.stderr)
        for one in rounds:
            with self.subTest(**{name: one[name] for name in ("kind", "who", "how", "back", "asked")}):
                self.assertEqual(one["after"], FOUND, one)
                self.assertLessEqual(one["gap"], bound, one)
                if one["signal"] is not None:
                    self.assertLessEqual(one["signal"], bound, one)
                if one["calls"]:
                    self.assertLessEqual(one["calls"][1], bound, one)
                    self.assertLessEqual(one["calls"][2], bound + SETTLING, one)
                if one["who"] == "daemon" and "power settings that a GPU refuses" in one["said"]:
                    self.fail(f"the GPU is blamed: {one}")
                if one["who"] == "daemon" and not one["back"] and not one["asked"]:
                    self.assertIn("zeusd at", one["said"], one)
        self.report(rounds)

    def report(self, rounds: list) -> None:
        def most(name: str) -> str:
            known = [one[name] for one in rounds if one[name] is not None]
            return f"{max(known, default=0):.2f} s"
        kinds = dict(collections.Counter(one["kind"] for one in rounds))
        calls = [one["calls"] for one in rounds if one["calls"]]
        print(f"{len(rounds)} rounds {kinds}, {sum(one['limit'] != FOUND for one in rounds)} under a changed limit, "
              f"{sum(not one['back'] for one in rounds)} without a return: no output for {most('gap')}, the signal passed on "
              f"after {most('signal')}, ended {most('late')} after the last step at most; calls of the library lasted "
              f"{max((one[1] for one in calls), default=0):.2f} s at most, {max((one[0] for one in calls), default=0):.2f} s together",
              file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("zeus", "zeusd", "trainer"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--sessions", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bound", type=float)
    parser.add_argument("--inside", action="store_true")
    options, rest = parser.parse_known_args()
    skip_without_root()
    if options.inside:
        rounds_of(options)
    else:
        unittest.main(argv=sys.argv[:1] + rest)

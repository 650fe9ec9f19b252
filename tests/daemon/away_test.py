"""A daemon, its guardian, its driver or a job's server goes away in the middle of a training, by a kill, a stop or a
hang, and in half of the rounds does not come back. The training goes on: its output and its signals are passed on, its
calls return, and afterwards the limits are those that were found.

  away_test.py ZEUS ZEUSD TRAINER [--rounds N] [--sessions N] [--seed S] [--bound SECONDS]

Each session is a virtual machine of its own. Needs root, for the daemon. Beside each training, the same script runs without
Zeus (the control), and with --bound some trainings that nothing happens to. The longest wait there is added to the bound of each
wait, which is --bound, or without it what would be a wait for the daemon (`GENEROUS`): a busy machine holds up everything. What all
waits of a training take together is compared with what delayed those in as many steps.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import TextIO

from daemon_session import Driver, end_with_parent, guardians_of, skip_without_root, until

FOUND = 210_000
GENEROUS = 3.0
PATIENCE = 0.5  # with a server that is away
SETTLING = 1.0  # the longest that finish() waits for the last energy readings, with a daemon or without
STEPS = 350
STEP = 0.01  # seconds that a step of the script sleeps
CPU_USE = "constant:350W"
STOPS = (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP)
WAYS = [(who, how) for who in ("daemon", "guardian", "server") for how in STOPS] + [("driver", "hang"), ("daemon", "full")]
# Each kind of training, with a server and without one.
UNDISTURBED = [(kind, is_served) for kind in ("run", "cpp") for is_served in (False, True)]
# Its calls are those that write: there, a program that does not read holds it up.
TRAINER = """
import signal, sys, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
waits = []
for step in range(int(sys.argv[1])):
    time.sleep(0.01)
    if asked:
        break
    before = time.monotonic()
    print("step", step, before, sum(waits), flush=True)
    waits.append(time.monotonic() - before)
print("calls", max(waits), 0, flush=True)
"""
WHOLE_STEP = re.compile(r"step \d+ [0-9.e-]+ [0-9.e-]+$")


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
        steps = [(at, float(line.split()[2])) for at, line in self.lines if WHOLE_STEP.match(line)]
        assert len(steps) > 1, self.lines
        return max([after[0] - before[0] for before, after in zip(steps, steps[1:])] + [at - printed for at, printed in steps])

    def waits(self) -> list:
        """With each step, for how long the training has waited in its calls so far."""
        return [float(line.split()[3]) for _, line in self.lines if WHOLE_STEP.match(line)]

    def delays(self) -> list:
        """With each step, by how much the steps so far have taken longer than their sleeps."""
        printed = [float(line.split()[2]) for _, line in self.lines if WHOLE_STEP.match(line)]
        return [at - printed[0] - number * STEP for number, at in enumerate(printed)]

    def last_step(self) -> float:
        return max(moment for moment, line in self.lines if line.startswith("step"))


class Control:
    """The training's script without Zeus, for as long as a `with`: what it waits for is due to the machine."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.process = subprocess.Popen([sys.executable, str(folder / "train.py"), "1000000"], text=True, stdout=subprocess.PIPE,
                                        preexec_fn=end_with_parent)
        self.reader = Reader(self.process)
        self.asked = None
        until(lambda: len(self.reader.lines) > 5, "the control prints")

    def __enter__(self) -> "Control":
        return self

    def ask_to_end(self) -> None:
        self.asked = time.monotonic()
        self.process.terminate()

    def __exit__(self, *_) -> None:
        if self.asked is None:
            self.ask_to_end()
        self.process.wait()
        self.reader.thread.join()
        self.process.stdout.close()

    def result(self) -> dict:
        """Its longest wait, an end that was late included, and all that delayed it."""
        return {"control": max(self.reader.gap(), self.reader.last_step() - self.asked), "delays": self.reader.delays()}


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
        self.server_socket = self.folder / "serve.sock"
        self.started = 0

    def start_daemon(self) -> None:
        self.socket.unlink(missing_ok=True)
        self.started += 1
        log = open(self.folder / "zeusd.log", "ab")
        self.daemon = subprocess.Popen(
            [self.options.zeusd, "serve", "--socket-path", str(self.socket), "--admin-socket",
             str(self.folder / f"admin{self.started}" / "a.sock")], stdout=log, stderr=log, preexec_fn=end_with_parent)
        until(self.is_listening, "the daemon listens")

    def is_listening(self) -> bool:
        """The socket's file alone is there before."""
        with socket.socket(socket.AF_UNIX) as tried:
            return tried.connect_ex(str(self.socket)) == 0

    def start_server(self) -> None:
        with open(self.folder / "serve.log", "ab") as log:
            self.server = subprocess.Popen(
                [self.options.zeus, "serve", "--listen", f"unix:{self.server_socket}", "--database",
                 str(self.folder / "jobs.sqlite")],
                stdout=subprocess.PIPE, stderr=log, preexec_fn=end_with_parent)
        assert self.server.stdout.readline(), "the server listens"

    def begin(self, kind: str, is_served: bool) -> subprocess.Popen:
        server = f"unix:{self.server_socket}"
        words = [self.options.trainer, str(STEPS)] + ([server] if is_served else [])
        if kind == "run":
            words = [self.options.zeus, "run", "--profile-seconds", "0.4", "--grace", "10", "--step-regex", r"^step (\d+)"]
            if is_served:
                words += ["--job", "run", "--server", server, "--server-patience", str(PATIENCE), "--batch-sizes", "16",
                          "--beta", "inf"]
            words += ["--", sys.executable, str(self.folder / "train.py"), str(STEPS)]
        return subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                preexec_fn=end_with_parent,
                                env={**os.environ, "ZEUSD_SOCK_PATH": str(self.socket), "HOME": str(self.folder)})

    def strike(self, who: str, how) -> list:
        """What was stopped, to be continued."""
        if who == "none":
            return []
        if who == "driver":
            self.driver.fault("slow delay=3s call=nvmlDeviceSet* for=3s from=0s times=2")
            return []
        if how == "full":
            self.daemon.send_signal(signal.SIGSTOP)
            self.fill()
            return [self.daemon.pid]
        struck = {"guardian": guardians_of(self.folder / "state"), "daemon": [self.daemon.pid],
                  "server": [self.server.pid] if self.server else []}[who]
        for process in struck:
            with contextlib.suppress(ProcessLookupError):  # a guardian's parent ends when the guardian is in the background
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

    def round(self, kind: str, is_served: bool, who: str, how, comes_back: bool, asked: bool) -> dict:
        with Control(self.folder) as control:
            result = self.round_beside(control, kind, is_served, who, how, comes_back, asked)
        return result | control.result()

    def round_beside(self, control: Control, kind: str, is_served: bool, who: str, how, comes_back: bool, asked: bool) -> dict:
        self.connections = []
        self.server = None
        self.start_daemon()
        if is_served:
            self.start_server()
        training = self.begin(kind, is_served)
        reader = Reader(training)
        complaints = []
        listener = threading.Thread(target=lambda: complaints.append(training.stderr.read()))
        listener.start()
        until(lambda: len(reader.lines) > 5 or training.poll() is not None, "the training prints")
        if training.poll() is not None:
            reader.thread.join()
            listener.join()
            raise AssertionError(f"the training did not begin: {kind}, {is_served}, {reader.lines}, {complaints}")
        time.sleep(self.draws.uniform(0, 1.5))
        limit = self.driver.limit(0)
        stopped, struck = self.strike(who, how), time.monotonic()
        time.sleep(self.draws.uniform(0.5, 1.2))
        if comes_back:
            self.come_back(who, stopped)
        ended = None
        if asked:
            training.send_signal(signal.SIGTERM)
            control.ask_to_end()
            at = time.monotonic()
            until(lambda: training.poll() is not None or time.monotonic() - reader.last_step() > 0.5, "the signal is passed on")
            ended = max(reader.last_step() - at, 0.0)
        until(lambda: training.poll() is not None, "the training ends")
        over = time.monotonic()
        reader.thread.join()
        listener.join()
        late = over - reader.last_step()
        calls = next((line.split()[1:3] for _, line in reader.lines if line.startswith("calls")), None)
        assert calls, (reader.lines[-3:], complaints)
        result = {"kind": kind, "served": is_served, "who": who, "how": str(how), "back": comes_back, "asked": asked,
                  "code": training.returncode, "limit": limit, "gap": reader.gap(), "signal": ended, "late": late,
                  "waits": reader.waits(), "went_on": reader.last_step() - struck,
                  "calls": [float(one) for one in calls], "said": "".join(complaints)}
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
        if who == "server" and not stopped:
            self.end_server()
            self.start_server()

    def end_server(self) -> None:
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()

    def clean_up(self, stopped: list) -> None:
        self.driver.clear_faults()
        for connection in self.connections:
            connection.close()
        for process in stopped:
            try:
                os.kill(process, signal.SIGCONT)
            except ProcessLookupError:
                pass
        if self.server:
            self.end_server()
        if self.daemon.poll() is None:
            self.daemon.terminate()
            self.daemon.wait()
        restored = subprocess.run([self.options.zeus, "restore"], capture_output=True, text=True)
        if self.driver.limit(0) != FOUND:
            print(restored.stdout, restored.stderr, file=sys.stderr)


def rounds_of(options: argparse.Namespace) -> None:
    machine = Machine(options)
    if options.bound is not None:
        for kind, is_served in UNDISTURBED:
            print(json.dumps(machine.round(kind, is_served, "none", "", True, False)), flush=True)
    for number in range(options.rounds):
        everything = options.seed + number * options.sessions
        kind = ("run", "cpp")[everything % 2]
        who, how = WAYS[(everything // 2) % len(WAYS)]
        is_served = who == "server" or everything // 7 % 2 == 0
        print(json.dumps(machine.round(kind, is_served, who, how, everything // 3 % 2 == 0, everything // 5 % 2 == 0)), flush=True)


class Away(unittest.TestCase):
    def session(self, seed: int, rounds: int) -> tuple[subprocess.Popen, TextIO]:
        """With the file of its output: a pipe that is read later would stop it after a few rounds."""
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        state = pathlib.Path(held.name) / "state"
        state.mkdir(mode=0o700)
        words = [options.zeus, "virtual", "1xA100@limit=210", "--shared", "--load", CPU_USE, "--", sys.executable, __file__,
                 options.zeus, options.zeusd, options.trainer, "--inside", "--rounds", str(rounds), "--seed", str(seed),
                 "--sessions", str(options.sessions)] + ([] if options.bound is None else ["--bound", str(options.bound)])
        out = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.addCleanup(out.close)
        return subprocess.Popen(words, stdout=out, preexec_fn=end_with_parent,
                                env={**os.environ, "ZEUS_STATE_DIR": str(state)}), out

    def test_a_training_goes_on_while_others_go_away(self):
        each = -(-options.rounds // options.sessions)
        machines = [self.session(options.seed + number, each) for number in range(options.sessions)]
        rounds = []
        for machine, _ in machines:
            self.addCleanup(machine.kill)
        for machine, out in machines:
            self.assertEqual(machine.wait(timeout=1700), 0)
            out.seek(0)
            rounds += [json.loads(line) for line in out]
        for one in rounds:
            # Against as many steps of trainings that nothing happens to.
            steps = len(one["waits"])
            usual = [other["waits"][steps - 1] for other in rounds
                     if other["who"] == "none" and (other["kind"], other["served"]) == (one["kind"], one["served"])]
            beside = one["delays"][:steps][-1]
            one["grown"] = one["waits"][-1] - max(statistics.median(usual) if usual else 0.0, beside)
        for one in rounds:
            one["steps"] = len(one.pop("waits"))
            del one["delays"]
            print({name: value for name, value in one.items() if name != "said"}, file=sys.stderr)
        for one in rounds:
            undisturbed = [other["gap"] for other in rounds if other["who"] == "none" and other["kind"] == one["kind"]]
            if one["who"] == "none" or options.bound is None:
                bound = GENEROUS + one["control"]
            else:
                bound = options.bound + max([one["control"], *undisturbed])
            with self.subTest(**{name: one[name] for name in ("kind", "served", "who", "how", "back", "asked")}):
                self.assertEqual(one["after"], FOUND, one)
                self.assertLessEqual(one["gap"], bound, one)
                if not one["asked"]:
                    self.assertEqual((one["steps"], one["code"]), (STEPS, 0), one)
                if one["signal"] is not None:
                    self.assertLessEqual(one["signal"], bound, one)
                self.assertLessEqual(one["grown"], bound, one)
                self.assertLessEqual(one["calls"][1], bound + SETTLING, one)
                if not one["asked"]:
                    self.assertLessEqual(one["late"], bound + SETTLING + (PATIENCE if one["served"] else 0), one)
                if one["who"] == "daemon" and "power settings that a GPU refuses" in one["said"]:
                    self.fail(f"the GPU is blamed: {one}")
                # What a job holds is lost, and named, only after 3 s without the daemon; and the training must still set something.
                if (one["who"] == "daemon" and not one["back"] and not one["asked"] and not one["served"]
                        and one["went_on"] > 1.5):
                    self.assertIn("zeusd at", one["said"], one)
        self.report(rounds)

    def report(self, rounds: list) -> None:
        def most(name: str) -> str:
            known = [one[name] for one in rounds if one["who"] != "none" and one[name] is not None]
            return f"{max(known, default=0):.2f} s"
        struck = [one for one in rounds if one["who"] != "none"]
        kinds = dict(collections.Counter((one["kind"], one["who"]) for one in struck))
        print(f"{len(struck)} rounds {kinds}, {sum(one['limit'] != FOUND for one in struck)} under a changed limit, "
              f"{sum(not one['back'] for one in struck)} without a return: no output for {most('gap')}, the signal passed on "
              f"after {most('signal')}, ended {most('late')} after the last step at most; the waits of a training last "
              f"{max(one['calls'][0] for one in struck):.2f} s at most, and together {most('grown')} longer than without a strike; "
              f"the longest wait of the script without Zeus beside them: {most('control')}",
              file=sys.stderr)
        beyond = [max(one[name] - one["control"] for name in ("gap", "signal", "grown") if one[name] is not None) for one in struck]
        print(f"a training waits at most {max(beyond, default=0):.2f} s longer than the script beside it", file=sys.stderr)


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

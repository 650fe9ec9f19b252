"""`zeus run` in a real terminal, under a shell with job control: Ctrl-C, Ctrl-Z with `fg` and `bg`, and the terminal closed.

  terminal_test.py PROGRAM
"""

import json
import os
import pathlib
import pty
import re
import select
import signal
import sqlite3
import sys
import tempfile
import time
import unittest

program = ""
PROMPT = "ready> "
CTRL_C, CTRL_Z = b"\x03", b"\x1a"

TRAINER = """
import sys, time
for epoch in range(1, int(sys.argv[1]) + 1):
    for step in range(1, 11):
        time.sleep(0.005)
        print(f"step {step}/10", flush=True)
    print(f"epoch {epoch} accuracy {epoch / 100:.3f}", flush=True)
"""
LIMIT = """
import ctypes
v = ctypes.CDLL("libnvidia-ml.so.1")
d, l = ctypes.c_void_p(), ctypes.c_uint()
assert v.nvmlInit_v2() == 0 and v.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(d)) == 0
v.nvmlDeviceGetPowerManagementLimit(d, ctypes.byref(l))
print("limit", l.value // 1000)
"""


class Terminal:
    """A shell in its own terminal, on a virtual GPU."""

    def __init__(self, folder: pathlib.Path):
        self.seen = ""
        self.process, self.line = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            environment = {**os.environ, "PS1": PROMPT, "TERM": "dumb", "XDG_DATA_HOME": str(folder / "data"),
                           "XDG_RUNTIME_DIR": str(folder / "state"), "ZEUS_STATE_DIR": str(folder / "state")}
            os.execve(program, [program, "virtual", "1xV100", "--load", "constant:240W", "--",
                                "bash", "--norc", "--noprofile", "--noediting", "-i"], environment)
        self.expect(PROMPT)
        self.shell = os.tcgetpgrp(self.line)

    def read(self, seconds: float) -> str:
        ready, _, _ = select.select([self.line], [], [], seconds)
        try:
            return os.read(self.line, 65536).decode(errors="replace") if ready else ""
        except OSError:
            return ""

    def expect(self, pattern: str, timeout: float = 60) -> re.Match:
        """The next match; output before it is dropped."""
        deadline = time.monotonic() + timeout
        while not (found := re.search(pattern, self.seen)):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {pattern!r} in {self.seen[-2000:]!r}")
            self.seen += self.read(0.2)
        self.seen = self.seen[found.end():]
        return found

    def said_within(self, seconds: float) -> str:
        deadline, said = time.monotonic() + seconds, ""
        while (left := deadline - time.monotonic()) > 0:
            said += self.read(left)
        return said

    def wait_for_foreground(self):
        """Until the shell has given the terminal to a command."""
        deadline = time.monotonic() + 60
        while os.tcgetpgrp(self.line) == self.shell:
            assert time.monotonic() < deadline, "the shell keeps the terminal"
            time.sleep(0.01)

    def press(self, key: bytes):
        os.write(self.line, key)

    def type(self, text: str):
        os.write(self.line, text.encode() + b"\n")

    def code(self) -> int:
        self.expect(PROMPT)
        self.type("echo code=$?")
        return int(self.expect(r"code=(\d+)")[1])

    def close(self):
        os.close(self.line)
        os.waitpid(self.process, 0)


class InATerminal(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "state").mkdir(mode=0o700)
        (self.folder / "train.py").write_text(TRAINER, encoding="utf-8")
        (self.folder / "limit.py").write_text(LIMIT, encoding="utf-8")

    def script(self, *command: str):
        words = [program, "run", "--job", "job", "--target-metric", "0.5", "--max-epochs", "90", "--grace", "1",
                 "--power-limits", "150", "--profile-seconds", "0.05", "--metric-regex", "accuracy ([.0-9]+)",
                 "--epoch-regex", r"^epoch (\d+)", "--step-regex", r"^step (\d+)", "--", *command]
        quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
        (self.folder / "go").write_text(f"#!/bin/sh\nexec {quoted}\n", encoding="utf-8")
        (self.folder / "go").chmod(0o755)

    def started(self, *command: str) -> Terminal:
        self.script(*command)
        terminal = Terminal(self.folder)
        terminal.type("./go")
        return terminal

    def entries(self) -> list[dict]:
        with sqlite3.connect(self.folder / "data/zeus/jobs.sqlite") as store:
            return [json.loads(row[0]) for row in store.execute("SELECT body FROM entries ORDER BY job, sequence")]

    def assert_one_try_was_lost(self):
        kinds = [entry["kind"] for entry in self.entries()]
        self.assertEqual(kinds.count("started"), 1, "nothing is tried again")
        self.assertEqual([entry["outcome"] for entry in self.entries() if entry["kind"] == "finished"], ["lost"])
        self.assertEqual(kinds[-1], "given_up")

    def training(self) -> list[tuple[int, str]]:
        """The processes that train here, and their states."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                here = entry.name.isdigit() and os.readlink(entry / "cwd") == str(self.folder.resolve())
                if here and (entry / "cmdline").read_bytes().split(b"\0")[1:2] == [b"train.py"]:
                    found.append((int(entry.name), (entry / "stat").read_text().rpartition(")")[2].split()[0]))
            except OSError:
                continue
        return found

    def wait_for_no_training(self):
        deadline = time.monotonic() + 60
        while self.training() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.training(), [])

    def test_control_c_ends_the_training_and_gives_the_terminal_and_the_limit_back(self):
        terminal = self.started(sys.executable, "train.py", "1000")
        terminal.expect("epoch 2 ")
        terminal.press(CTRL_C)
        self.assertEqual(terminal.code(), 130)
        terminal.type(f"{sys.executable} limit.py")
        terminal.expect("limit 250")
        self.assertEqual(self.training(), [])
        terminal.close()
        self.assert_one_try_was_lost()

    def test_a_command_that_handles_control_c_ends_as_it_likes(self):
        terminal = self.started("sh", "-c", "trap 'echo saved its model; exit 7' INT; echo begun; while :; do sleep 0.05; done")
        terminal.expect("begun")
        terminal.press(CTRL_C)
        terminal.expect("saved its model")
        self.assertEqual(terminal.code(), 7)
        terminal.close()
        self.assert_one_try_was_lost()

    def test_a_second_control_c_ends_a_command_that_is_deaf_to_it(self):
        terminal = self.started("sh", "-c", "trap '' INT TERM; i=0; while :; do i=$((i + 1)); echo turn $i; sleep 0.05; done")
        terminal.expect("turn 5")
        terminal.press(CTRL_C)
        terminal.expect("turn 20")
        begun = time.monotonic()
        terminal.press(CTRL_C)
        self.assertIn(terminal.code(), (128 + signal.SIGINT, 128 + signal.SIGKILL))
        self.assertLess(time.monotonic() - begun, 20)
        terminal.close()
        self.assert_one_try_was_lost()

    def test_control_z_stops_the_training_until_fg_lets_it_go_on_to_its_end(self):
        terminal = self.started(sys.executable, "train.py", "60")
        terminal.expect("epoch 2 ")
        terminal.press(CTRL_Z)
        terminal.expect("Stopped")
        terminal.expect(PROMPT)
        self.assertEqual([state for _, state in self.training()], ["T"])
        self.assertNotIn("epoch", terminal.said_within(0.3))  # six epochs' worth
        terminal.type("fg")
        terminal.expect(r"epoch [2-5]\d ")
        terminal.press(CTRL_Z)
        terminal.expect("Stopped")
        terminal.expect(PROMPT)
        terminal.type("fg")
        terminal.expect("epoch 60 ")
        self.assertEqual(terminal.code(), 0)
        terminal.close()
        last = self.entries()[-1]
        self.assertEqual((last["kind"], last["outcome"], last["epochs"]), ("finished", "reached", 50))
        self.assertIn("suspended for a while", last["left_out"])

    def test_bg_lets_it_go_on_while_the_shell_has_the_terminal(self):
        terminal = self.started(sys.executable, "train.py", "60")
        terminal.expect("epoch 2 ")
        terminal.press(CTRL_Z)
        terminal.expect("Stopped")
        terminal.expect(PROMPT)
        terminal.type("bg; echo still mine")
        terminal.expect("\nstill mine")
        terminal.expect("epoch 60 ")
        terminal.expect("job #1: done")
        terminal.type("wait; echo waited")
        terminal.expect(f"(\n|{PROMPT})waited")
        terminal.close()
        self.assertEqual(self.entries()[-1]["outcome"], "reached")

    def test_fg_after_bg_gives_the_command_the_terminal_again(self):
        terminal = self.started(sys.executable, "train.py", "1000")
        terminal.expect("epoch 2 ")
        terminal.press(CTRL_Z)
        terminal.expect("Stopped")
        terminal.type("bg")
        terminal.expect(r"epoch [1-9]\d+ ")
        terminal.type("fg")
        terminal.wait_for_foreground()
        terminal.press(CTRL_C)
        self.assertEqual(terminal.code(), 130)
        terminal.close()
        self.assert_one_try_was_lost()

    def test_a_terminal_that_is_closed_ends_the_training(self):
        terminal = self.started(sys.executable, "train.py", "1000")
        terminal.expect("epoch 2 ")
        terminal.close()
        self.wait_for_no_training()
        deadline = time.monotonic() + 60
        while self.entries()[-1]["kind"] != "given_up" and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assert_one_try_was_lost()


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()

"""`zeus monitor` on terminals: keys, scrolling, colours, and what it leaves behind.

  monitor_test.py PROGRAM
"""

import fcntl
import json
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

COLOUR = re.compile(r"\x1b\[3\dm")
program = ""


class Terminal:
    """A terminal of 24 rows in which a command runs."""

    def __init__(self, command: list[str], columns: int = 80, **environment: str):
        self.seen = ""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")} | environment
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=variables,
                                        start_new_session=True, preexec_fn=self.take_terminal)

    @staticmethod
    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + 60
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {text!r} in {self.seen[-2000:]!r}")
            self.seen += os.read(self.master, 65536).decode(errors="replace")

    def end(self) -> int:
        """The exit code; all output is then in `seen`."""
        deadline = time.monotonic() + 60
        while self.process.poll() is None or select.select([self.master], [], [], 0.1)[0]:
            if time.monotonic() > deadline:
                self.process.kill()
                raise AssertionError(f"it does not end: {self.seen[-2000:]!r}")
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
        self.after = termios.tcgetattr(self.slave)
        os.close(self.master)
        os.close(self.slave)
        return self.process.returncode


def monitor(gpus: int, *flags: str) -> list[str]:
    return [program, "virtual", f"{gpus}xA100", "--load", "constant:390W", "--", program, "monitor", "--interval", "0.1", *flags]


class MonitoredEnergy(unittest.TestCase):
    def moments(self, gpu: str, *flags: str, faults: str = "") -> list[dict]:
        with tempfile.NamedTemporaryFile("w", suffix=".faults") as file:
            file.write(faults)
            file.flush()
            done = subprocess.run([program, "virtual", gpu, "--load", "constant:200W", "--faults", file.name, "--", program, "monitor",
                                   "--json", *flags], capture_output=True, text=True, check=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [{**line["gpus"][0], "elapsed_s": line["elapsed_s"]} for line in lines]

    def test_counts_from_the_start_however_short_the_intervals_are(self):
        # An A100's counter moves every 100 ms: single intervals of 20 ms are guesses at first.
        moments = self.moments("1xA100", "--interval", "20ms", "--duration", "2s")
        self.assertGreaterEqual(moments[-1]["elapsed_s"], 2)
        self.assertAlmostEqual(moments[-1]["energy_j"], 200 * moments[-1]["elapsed_s"], delta=12)

    def test_is_unknown_from_the_moment_on_when_a_part_of_it_is(self):
        # Faults count from the start of the session, which is some time before that of the monitor.
        for reset in (2, 10, 30):
            moments = self.moments("1xV100", "--interval", "0.4", "--duration", f"{reset + 2}s", faults=f"reset from={reset}s\n")
            if moments[0]["energy_j"] is not None:  # a busy machine may be later
                break
        self.assertIsNotNone(moments[0]["energy_j"])
        self.assertIsNone(moments[-1]["energy_j"])
        self.assertIsNotNone(moments[-1]["power_w"])
        self.assertIn("was reset", moments[-1]["reason"]["energy_j"])


class MonitorOnATerminal(unittest.TestCase):
    def test_q_quits_and_leaves_the_terminal_as_it_was(self):
        terminal = Terminal(monitor(1), TERM="xterm")
        terminal.wait_for("held back by")
        terminal.type("q")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(terminal.after, terminal.before)
        self.assertIn("\x1b[?1049h", terminal.seen)
        last = terminal.seen[terminal.seen.rindex("\x1b[?25h\x1b[?1049l"):]
        self.assertIn("held back by", last)  # the last picture stays
        self.assertNotIn("q quits", last)

    def test_sixty_four_gpus_scroll_in_twenty_four_rows(self):
        terminal = Terminal(monitor(64), TERM="xterm")
        terminal.wait_for("q quits, arrows scroll")
        terminal.wait_for("more GPUs\x1b[K")
        self.assertNotIn("\x1b[K\r\n 63  ", terminal.seen)
        terminal.type("\x1b[B")
        terminal.wait_for("... and 1 more above")
        terminal.type("\x1b[F")
        terminal.wait_for("more GPUs above")
        terminal.wait_for("\x1b[K\r\n 63  ")
        terminal.type("\x1b[15~xyq")  # unknown keys have no effect
        self.assertEqual(terminal.end(), 0)

    def test_an_interruption_ends_it_as_ever(self):
        terminal = Terminal(monitor(1), TERM="xterm")
        terminal.wait_for("held back by")
        terminal.type("\x03")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(terminal.after, terminal.before)

    def test_colours_are_for_terminals_that_have_them_and_people_who_want_them(self):
        for flags, environment, coloured in (((), {"TERM": "xterm"}, True), ((), {"TERM": "xterm", "NO_COLOR": "1"}, False),
                                             (("--color", "never"), {"TERM": "xterm"}, False),
                                             (("--color", "always"), {"TERM": "xterm", "NO_COLOR": "1"}, True)):
            with self.subTest(flags=flags, **environment):
                terminal = Terminal(monitor(1, "--duration", "0.3", *flags), columns=140, **environment)
                self.assertEqual(terminal.end(), 0)
                self.assertIn("\x1b[?1049h", terminal.seen)
                self.assertEqual(bool(COLOUR.search(terminal.seen)), coloured)

    def test_on_a_dumb_terminal_it_is_plain_and_no_wider_than_that(self):
        terminal = Terminal(monitor(1, "--duration", "0.3"), columns=60, TERM="dumb")
        self.assertEqual(terminal.end(), 0)
        self.assertIn("held back by", terminal.seen)
        self.assertNotIn("\x1b", terminal.seen)
        self.assertLessEqual(max(len(line) for line in terminal.seen.splitlines()), 60, terminal.seen)

    def test_in_a_pipe_it_is_plain_unless_colours_are_asked_for(self):
        for flags, coloured in ((), False), (("--color", "always"), True):
            with self.subTest(flags=flags):
                done = subprocess.run(monitor(1, "--duration", "0.3", *flags), capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(bool(COLOUR.search(done.stdout)), coloured)
                self.assertNotIn("\x1b[?1049h", done.stdout)

    def test_in_the_background_it_leaves_the_terminal_alone(self):
        # A program that changed the terminal from the background would be stopped.
        script = f"set -m; {shlex.join(monitor(1, '--duration', '0.5'))} & wait $!; echo code $?"
        terminal = Terminal(["bash", "--norc", "-c", script], TERM="xterm")
        self.assertEqual(terminal.end(), 0)
        self.assertIn("code 0", terminal.seen)
        self.assertEqual(terminal.after, terminal.before)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()

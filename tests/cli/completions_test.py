"""Completions in the shells that are installed: a line is typed into a real shell, with its completion key, and run.

  completions_test.py PROGRAM
"""

import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

program = ""

# The typed line, with "\t" for the key; and the words that the shell then runs.
TYPED = [
    ("zeus moni\t--interv\t1", ["monitor", "--interval", "1"]),
    ("zeus simu\tpap\t--rep\tx", ["simulate", "paper", "--report", "x"]),
    ("zeus demo --ste\t--rep\tx", ["demo", "--steady", "--report", "x"]),
    ("zeus demo --ht\tbro\t", ["demo", "--html", "broken.txt"]),
    ("zeus run --lr-scaling sq\t", ["run", "--lr-scaling", "sqrt"]),
    ("zeus jobs nightly exp\t--json", ["jobs", "nightly", "export", "--json"]),
    ("zeus virtual 1xA100 --faults bro\t", ["virtual", "1xA100", "--faults", "broken.txt"]),
    ("zeus completions zs\t", ["completions", "zsh"]),
    ("zeus measure --gpus 0 -- trai\tbro\t", ["measure", "--gpus", "0", "--", "train-a-network", "broken.txt"]),
]
# Replaces the program, so that nothing runs.
SHOW = "zeus() { printf '<%s>' \"$@\"; echo ' was run'; }\n"


class Shell:
    """An interactive shell on its own terminal."""

    def __init__(self, command: list[str], folder: pathlib.Path):
        self.seen = ""
        environment = {"HOME": str(folder), "PATH": f"{folder}:/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execve(command[0], command, environment)

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def wait_for(self, text: str, patience: float = 60) -> str:
        """The output up to and including the text."""
        deadline = time.monotonic() + patience
        while text not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {text!r} in {self.seen!r}")
            self.seen += os.read(self.terminal, 65536).decode(errors="replace")
        before, _, self.seen = self.seen.partition(text)
        return before

    def close(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)


class Completions(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        for name in ("train-a-network", "broken.txt"):
            (self.folder / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (self.folder / "train-a-network").chmod(0o755)

    def script(self, shell: str) -> str:
        done = subprocess.run([program, "completions", shell], capture_output=True, text=True, check=True)
        path = self.folder / f"zeus.{shell}"
        path.write_text(done.stdout, encoding="utf-8")
        return str(path)

    def start(self, shell: str, *flags: str) -> Shell:
        path = shutil.which(shell)
        if path is None:
            self.skipTest(f"there is no {shell} here")
        begun = Shell([path, *flags], self.folder)
        self.addCleanup(begun.close)
        return begun

    def complete(self, shell: Shell) -> None:
        for typed, words in TYPED:
            with self.subTest(typed):
                for part in typed.split("\t")[:-1]:
                    shell.type(part)
                    shell.type("\t")
                shell.type(typed.split("\t")[-1] + "\r")
                printed = shell.wait_for(" was run\r\n")
                # A value after an equals sign is accepted too: zsh writes it that way.
                self.assertTrue(printed.replace("=", "><").endswith("".join(f"<{word}>" for word in words)), printed)

    def test_bash_completes_commands_flags_words_and_files(self):
        shell = self.start("bash", "--norc", "--noprofile", "-i")
        shell.type(f"source {self.script('bash')}\n{SHOW}echo rea''dy\n")
        shell.wait_for("ready\r\n")
        self.complete(shell)

    def test_zsh_completes_commands_flags_words_and_files(self):
        shell = self.start("zsh", "-f", "-i")
        shell.type(f"autoload -U compinit; compinit -u -D\nsource {self.script('zsh')}\n{SHOW}echo rea''dy\n")
        shell.wait_for("ready\r\n")
        self.complete(shell)

    def test_fish_completes_commands_flags_words_and_files(self):
        if shutil.which("fish") is None:
            self.skipTest("there is no fish here")
        script = self.script("fish")
        for typed, words in TYPED:
            with self.subTest(typed):
                line = ""
                for part in typed.split("\t")[:-1]:
                    line += part
                    # The shell's own completion of the line: the only candidate, and its description.
                    done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C \"$argv\"", line],
                                          capture_output=True, text=True, check=True, cwd=self.folder,
                                          env={"HOME": str(self.folder), "PATH": f"{self.folder}:/usr/bin:/bin"})
                    candidates = {row.split("\t")[0] for row in done.stdout.splitlines()}
                    self.assertEqual(len(candidates), 1, (line, done.stdout, done.stderr))
                    line = line[:line.rfind(" ") + 1] + candidates.pop() + " "
                self.assertEqual((line + typed.split("\t")[-1]).split()[1:], words)

    def test_scripts_are_made_for_the_three_shells_and_no_other(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertIn("simulate", pathlib.Path(self.script(shell)).read_text(encoding="utf-8"))
        done = subprocess.run([program, "completions", "tcsh"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not one of bash, zsh, fish", done.stderr)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()

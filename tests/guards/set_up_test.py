"""packaging/set_up.sh does nothing when nothing is missing, and says exactly what to install where one is not root."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = [line for line in (ROOT / "packaging/debian.txt").read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")]


class SetUp(unittest.TestCase):
    def run_with(self, missing: set[str], user: int) -> subprocess.CompletedProcess:
        """Runs the set-up among programs that stand in for the system's: these packages missing, this user."""
        with tempfile.TemporaryDirectory() as folder:
            programs = pathlib.Path(folder)
            answers = "".join(f"{name}) echo not-installed;;\n" for name in missing)
            self.program(programs / "dpkg-query", f'for last; do :; done\ncase "$last" in\n{answers}*) echo installed;;\nesac')
            self.program(programs / "id", f"echo {user}")
            self.program(programs / "apt-get", 'echo "apt-get $*" >&2')
            environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
            return subprocess.run([ROOT / "packaging/set_up.sh"], env=environment, capture_output=True, text=True, check=False)

    @staticmethod
    def program(path: pathlib.Path, text: str) -> None:
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def test_nothing_missing_is_silence(self):
        done = self.run_with(set(), user=1000)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_without_root_it_names_the_command_and_stops(self):
        missing = {PACKAGES[2], PACKAGES[-1]}
        done = self.run_with(missing, user=1000)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"sudo apt-get install --no-install-recommends {PACKAGES[2]} {PACKAGES[-1]}\n", done.stderr)

    def test_as_root_it_installs_what_is_missing_and_no_more(self):
        done = self.run_with({PACKAGES[3]}, user=0)
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"apt-get install -y -qq --no-install-recommends {PACKAGES[3]}\n",
                      done.stderr + done.stdout.replace(">/dev/null", ""))


if __name__ == "__main__":
    unittest.main()

"""packaging/set_up.sh does nothing if nothing is missing, and names the packages to install if the user is not root, if there
is no network, and on another system."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = [line for line in (ROOT / "packaging/debian.txt").read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")]


class SetUp(unittest.TestCase):
    def run_with(self, missing: set[str], user: int, system: str = "ID=debian\nVERSION_ID=\"12\"\n",
                 network: bool = True) -> subprocess.CompletedProcess:
        """Runs the set-up in a folder with a space, among files and programs that replace the system's."""
        with tempfile.TemporaryDirectory(prefix="a folder ") as folder:
            programs = pathlib.Path(folder) / "programs"
            packaging = pathlib.Path(folder) / "zeus" / "packaging"
            programs.mkdir()
            packaging.mkdir(parents=True)
            (packaging.parent / "os-release").write_text(system, encoding="utf-8")
            shutil.copy(ROOT / "packaging/debian.txt", packaging)
            text = (ROOT / "packaging/set_up.sh").read_text(encoding="utf-8")
            self.assertEqual(text.count("/etc/os-release"), 1)
            (packaging / "set_up.sh").write_text(text.replace("/etc/os-release", "./os-release"), encoding="utf-8")
            answers = "".join(f"{name}) echo not-installed;;\n" for name in missing)
            self.program(programs / "dpkg-query", f'for last; do :; done\ncase "$last" in\n{answers}*) echo installed;;\nesac')
            self.program(programs / "id", f"echo {user}")
            self.program(programs / "apt-get", 'echo "apt-get $*" >&2' + ("" if network else "\nexit 100"))
            environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
            return subprocess.run(["bash", packaging / "set_up.sh"], env=environment, capture_output=True, text=True, check=False)

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

    def test_without_a_network_it_names_what_is_missing_and_stops(self):
        done = self.run_with({PACKAGES[3]}, user=0, network=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], f"could not install .* is there a network\\? .*: {PACKAGES[3]}$")

    def test_on_another_system_it_says_so_in_one_line_and_goes_on(self):
        for system in ('ID=ubuntu\nVERSION_ID="24.04"\n', "ID=debian\nVERSION_ID=\"13\"\n", "ID=arch\n", ""):
            with self.subTest(system):
                done = self.run_with(set(PACKAGES), user=0, system=system)
                self.assertEqual((done.returncode, done.stdout), (0, ""))
                self.assertRegex(done.stderr, r"^set-up: this is '[^'\n]+', not Debian 12; install what packaging/debian\.txt lists[^\n]*\n$")


if __name__ == "__main__":
    unittest.main()

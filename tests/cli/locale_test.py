"""A locale that is not English changes nothing: neither one that only stands in the environment, nor one that a process has
really taken, with decimal commas and its own messages of the system.

  locale_test.py PROGRAM CXX_COMPILER [PACKAGE]      PACKAGE: the folder with the Python package
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GERMAN = "de_DE.UTF-8"
# What a user's program does that takes its locale from the environment.
TAKES_THE_LOCALE = """
#include <locale.h>
#include <stdlib.h>

#include <locale>
__attribute__((constructor)) static void take() {
  if (setlocale(LC_ALL, "") == nullptr) abort();
  std::locale::global(std::locale{""});
}
"""
SCRIPT = """
import locale, time, warnings
warnings.simplefilter("ignore")
locale.setlocale(locale.LC_ALL, "")
assert locale.localeconv()["decimal_point"] == ",", locale.localeconv()
from zeus.monitor import ZeusMonitor
monitor = ZeusMonitor()
monitor.begin_window("größe")
time.sleep(0.1)
print(monitor.end_window("größe").details.total)
"""
PROFILE = "stage,instruction,frequency,time,energy\n" + "".join(
    f"{stage},{name},{frequency},{1000 / frequency:.4f},{frequency / 10 + 0.5:.1f}\n"
    for stage in (0, 1) for name in ("forward", "backward") for frequency in (1000, 1400))
program = cxx = package = ""


def without_times(done: subprocess.CompletedProcess) -> list[bytes]:
    """The output, with its form, but without how long the solver took."""
    return [re.sub(rb"( points in )\d+([.,])\d+ s\n", rb"\1?\2? s\n", text) for text in (done.stdout, done.stderr)]


class Locale(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        cls.addClassCleanup(held.cleanup)
        cls.folder = pathlib.Path(held.name)
        (cls.folder / "locales").mkdir()
        (cls.folder / "state").mkdir(mode=0o700)
        made = subprocess.run(["localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", cls.folder / "locales" / GERMAN],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            raise AssertionError(f"Debian's package locales is needed: {made.stderr}")
        (cls.folder / "profile.csv").write_text(PROFILE, encoding="utf-8")
        (cls.folder / "takes.cpp").write_text(TAKES_THE_LOCALE, encoding="utf-8")
        subprocess.run([cxx, "-shared", "-fPIC", "takes.cpp", "-o", "takes.so"], cwd=cls.folder, check=True)

    def run_with(self, variables: dict[str, str], *command: str) -> subprocess.CompletedProcess:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "ZEUS", "XDG_"))}
        environment = kept | {"LOCPATH": str(self.folder / "locales"), "ZEUS_STATE_DIR": str(self.folder / "state"),
                              "PYTHONPATH": f"{package}:{package}/zeus_cpp/front"} | variables
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, check=False, timeout=120)

    def taken(self) -> dict[str, str]:
        return {"LC_ALL": GERMAN, "LD_PRELOAD": str(self.folder / "takes.so")}

    def test_output_is_the_same_to_the_byte(self):
        store = ["--store", str(self.folder / "jobs.sqlite")]
        run = ["run", "--job", "größe", *store, "--batch-sizes", "8,16", "--default-batch-size", "8", "--target-metric", "0.5", "--", "true"]
        ran = self.run_with({}, program, "virtual", "1xV100", "--", program, *run)
        self.assertIn("größe", ran.stdout.decode() + ran.stderr.decode())
        for arguments in (["devices"], ["doctor"], ["pipeline", "--profile", "profile.csv", "--stages", "2", "--microbatches", "2"],
                          ["jobs", *store], ["jobs", "größe", *store], ["jobs", "größe", *store, "--json"],
                          ["simulate", "job", "--workload", "cifar100", "--gpu", "V100",
                           "--recurrences", "3", "--seeds", "1"],
                          ["measure", "--eta", "2", "--", "true"], ["pipeline", "--profile", "größe.csv"]):
            expected = self.run_with({"LC_ALL": "C.UTF-8"}, program, *arguments)
            others = {"of the environment": {"LC_ALL": GERMAN}, "of numbers": {"LC_NUMERIC": GERMAN}, "plain": {"LC_ALL": "C"},
                      "unknown": {"LC_ALL": "xx_YY.UTF-8"}, "taken": self.taken()}
            for name, variables in others.items():
                with self.subTest(arguments=arguments, locale=name):
                    done = self.run_with(variables, program, *arguments)
                    self.assertEqual((done.returncode, *without_times(done)), (expected.returncode, *without_times(expected)))

    def test_numbers_are_read_and_written_with_points(self):
        done = self.run_with(self.taken(), program, "virtual", "1xV100", "--load", "constant:150.5W", "--truth", "wahrheit-ä.json",
                             "--", program, "measure", "--json", "gemessen.json", "--", "sleep", "0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        measured = json.loads((self.folder / "gemessen.json").read_text(encoding="utf-8"))
        self.assertGreater(measured["time_s"], 0.1)
        self.assertTrue(json.loads((self.folder / "wahrheit-ä.json").read_text(encoding="utf-8"))["gpus"])

    def test_a_script_that_takes_its_locale_measures(self):
        if not package:
            self.skipTest("skipped: there is no Python package")
        for before in ([], [program, "virtual", "1xV100", "--load", "constant:150W", "--"]):
            with self.subTest(before):
                done = self.run_with({"LC_ALL": GERMAN}, *before, sys.executable, "-c", SCRIPT)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIsNone(re.search(rb"\d,\d", done.stdout), done.stdout)


if __name__ == "__main__":
    program, cxx = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2]
    package = str(pathlib.Path(sys.argv[3]).resolve()) if sys.argv[3:] and sys.argv[3] else ""
    unittest.main(argv=sys.argv[:1])

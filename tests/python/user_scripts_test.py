"""Scripts as people write them (user_scripts/*.py), run unchanged with our package and with the existing one, on virtual GPUs.

  user_scripts_test.py PROGRAM BUILD_FOLDER [--all]

Each prints one line of JSON: `same` is what must be the same with both packages, of the rest only the shape. `measured` are
windows and `watts` average powers of GPUs that draw 180 W (or what the script says in proportion to that): ours must be true.
Without --all, the scripts with the line `# every run`. `# needs: torch|pandas|notebook` takes real packages; torch is otherwise
the stand-in beside this file, since there is no CUDA. `# differs:` says what docs/python.md has as a difference and the script
meets; both packages print the same all the same, and afterwards the GPUs are looked at: ours leaves them as they were found.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
WATTS = 180.0
# Of a window: counters move in steps of some joules, and a busy machine looks at them late. Windows of about a second allow 50 ms.
JOULES_OFF, SHARE_OFF = 3.0, 0.04
# Runs a script and prints the limits that hold afterwards; ours are put back by then, or shortly after by the guardian.
AND_LOOK = """
import ctypes, subprocess, sys, time
code = subprocess.run(sys.argv[2:]).returncode
nvml = ctypes.CDLL("libnvidia-ml.so.1")
nvml.nvmlInit_v2()
def limits():
    found = []
    for index in range(2):
        handle, limit = ctypes.c_void_p(), ctypes.c_uint()
        nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        nvml.nvmlDeviceGetPowerManagementLimit(handle, ctypes.byref(limit))
        found.append(limit.value)
    return found
deadline = time.monotonic() + 60
while sys.argv[1] == "ours" and set(limits()) != {250000} and time.monotonic() < deadline:
    time.sleep(0.05)
print("limits afterwards:", *limits())
sys.exit(code)
"""
program = ""
build = pathlib.Path()
every = False


@dataclasses.dataclass
class Script:
    path: pathlib.Path
    marks: dict

    @classmethod
    def read(cls, path: pathlib.Path) -> "Script":
        lines = [line[2:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# ")]
        return cls(path, {name: rest for name, _, rest in (line.partition(": ") for line in lines)})

    @property
    def needs(self) -> list:
        return self.marks.get("needs", "").split()


@dataclasses.dataclass
class Outcome:
    code: int
    printed: dict
    limits: list
    said: str


def run(whose: str, python: pathlib.Path, path: str, script: Script) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        stand_in = FOLDER / ("stand_in_cuda" if "torch" in script.needs else "stand_in")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUS", "CUDA", "PYTHONPATH"))}
        environment = {**kept, "PYTHONPATH": os.pathsep.join(filter(None, [path, str(stand_in)])), "HOME": folder,
                       "ZEUS_STATE_DIR": os.path.join(folder, "state"), "OMP_NUM_THREADS": "1"}
        command = [program, "virtual", "2xV100", "--load", f"constant:{WATTS:g}W", "--", sys.executable, "-c", AND_LOOK, whose,
                   python, script.path]
        for _ in range(2):
            done = subprocess.run([str(word) for word in command], env=environment, cwd=folder, capture_output=True, text=True,
                                  check=False, timeout=300)
            # A notebook's kernel looks for free ports and binds them later: others may have one by then.
            if "Address already in use" not in done.stderr:
                break
    lines = done.stdout.splitlines()
    objects = [line for line in lines if line.startswith("{")]
    limits = [int(word) for line in lines if line.startswith("limits afterwards:") for word in line.split()[2:]]
    return Outcome(done.returncode, json.loads(objects[-1]) if objects else {}, limits, done.stderr[-2000:])


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def untruths(printed: dict) -> list:
    """What was printed of windows and powers, and is not so."""
    found = []
    for window in printed.get("measured", []):
        truth = WATTS * window["time"]
        found += [f"GPU {gpu} took {joules} J in {window['time']} s" for gpu, joules in window["gpu_energy"].items()
                  if not abs(joules - truth) <= JOULES_OFF + SHARE_OFF * truth]
    return found + [f"{watts} W on average" for watts in printed.get("watts", []) if not abs(watts - WATTS) <= 2 * SHARE_OFF * WATTS]


class UserScripts(unittest.TestCase):
    maxDiff = None

    def test_each_runs_as_with_the_existing_package_and_what_it_prints_is_true(self):
        scripts = [Script.read(path) for path in sorted((FOLDER / "user_scripts").glob("*.py"))]
        scripts = [script for script in scripts if every or "every run" in script.marks]
        theirs = python_environment.interpreter(build, "existing")
        ours = python_environment.interpreter(build, "trainers")
        package = os.environ["PYTHONPATH"]
        with concurrent.futures.ThreadPoolExecutor(2) as at_once:
            runs = [(script, at_once.submit(run, "ours", ours, package, script), at_once.submit(run, "theirs", theirs, "", script))
                    for script in scripts]
        untrue = started_late = 0
        for script, our_run, their_run in runs:
            with self.subTest(script.path.name):
                mine, other = our_run.result(), their_run.result()
                self.assertEqual(mine.code, 0, mine.said)
                self.assertEqual(untruths(mine.printed), [])
                self.assertEqual(mine.limits, [250_000, 250_000])
                if other.code and "failed to start within" in other.said:
                    started_late += 1  # its helper processes have ten seconds, which a busy machine may not have
                    continue
                untrue += bool(untruths(other.printed))
                self.assertEqual(other.code, 0, other.said)
                self.assertEqual(mine.printed.get("same"), other.printed.get("same"), mine.said)
                self.assertEqual(shape({**mine.printed, "same": None}), shape({**other.printed, "same": None}))
        print(f"{len(scripts)} scripts; with the existing package {untrue} of them print energies or powers that are not so, and "
              f"{started_late} did not start in time here")


if __name__ == "__main__":
    every = "--all" in sys.argv and not sys.argv.remove("--all")
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

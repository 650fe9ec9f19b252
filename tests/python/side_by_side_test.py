"""Our package beside the existing one: the same cases (side_by_side/*.py), each in its own interpreter on virtual GPUs.

  side_by_side_test.py PROGRAM BUILD_FOLDER

The existing package's own tests put stand-ins into its modules, so they cannot test another package: their cases are
rewritten with the public interface. A case states the promise, so either package may be wrong; ours must be right in each,
and the existing one's errors are printed.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from collections.abc import Sequence

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import existing_servers  # noqa: E402
import processors  # noqa: E402
import python_environment  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
program = ""
build = pathlib.Path()


class SideBySide(unittest.TestCase):
    maxDiff = None

    def run_cases(self, python, path: str, script: str, gpus: str, *arguments: str, before: Sequence = ()) -> dict:
        """Case to (whether it holds, observed value, promised value)."""
        with tempfile.TemporaryDirectory() as folder:
            kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUS", "CUDA", "PYTHONPATH"))}
            environment = {**kept, "PYTHONPATH": path, "ZEUS_STATE_DIR": os.path.join(folder, "state")}
            command = [*before, program, "virtual", gpus, "--load", "constant:180W", "--", str(python),
                       str(FOLDER / "side_by_side" / script), *arguments]
            done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        return {name: rest for name, *rest in json.loads(done.stdout.splitlines()[-1])}

    def compare(self, script: str, gpus: str, *arguments: str, before: Sequence = ()) -> tuple[dict, dict]:
        """The cases of ours and of the existing package."""
        python = python_environment.interpreter(build, "existing")
        stand_in = str(FOLDER / "stand_in")
        package = os.environ["PYTHONPATH"]
        with concurrent.futures.ThreadPoolExecutor() as both:
            ours_run = both.submit(self.run_cases, sys.executable, os.pathsep.join([package, stand_in]), script, gpus,
                                   *arguments, before=before)
            theirs = self.run_cases(python, stand_in, script, gpus, *arguments, before=before)
            ours = ours_run.result()
        wrong = {name: case for name, case in theirs.items() if not case[0]}
        print(f"{script}: {len(ours)} cases, {sum(holds for holds, _, _ in ours.values())} hold here, "
              f"{len(theirs) - len(wrong)} in the existing package, where these do not:")
        for name, (_, seen, promised) in wrong.items():
            print(f"  {name}: {seen}, not {promised}")
        self.assertEqual([name for name in theirs if name not in ours], [])
        self.assertEqual({name: case[1:] for name, case in ours.items() if not case[0]}, {})
        return ours, theirs

    def test_windows(self):
        self.compare("windows.py", "4xV100")

    def test_power_limit(self):
        self.compare("power_limit.py", "2xV100")

    def test_devices(self):
        self.compare("devices.py", "3xH100,1xP100")

    def test_rates(self):
        with unittest.mock.patch.dict(os.environ, {"TZ": "Europe/Berlin"}):
            # The existing package cannot end a window of carbon or cost where there are no CPU and memory to measure.
            ours, theirs = self.compare("rates.py", "2xV100", before=processors.before())
        for name, case in ours.items():
            if "percent off" in name:
                print(f"  {name}: {float(case[1]):+.3f} here, {theirs[name][1] if name in theirs else 'no answer'} there")

    def test_clients(self):
        with existing_servers.batch_size(build) as server:
            self.compare("clients.py", "2xV100", server.url)


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

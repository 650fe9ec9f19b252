"""The existing package's example scripts for the power limit, from its source archive, on virtual GPUs.

  examples_test.py PROGRAM BUILD_FOLDER

The archive is fetched from the registry; without it these tests are skipped. The scripts run unchanged: example_runner.py
stands in for their data sets and devices.
"""

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

RUNNER = pathlib.Path(__file__).resolve().parent / "example_runner.py"
program = ""
build = pathlib.Path()


def examples() -> pathlib.Path:
    """The folder of example scripts, fetched once per machine."""
    def fetch(folder: pathlib.Path) -> None:
        python_environment.download(folder, "zeus", "--no-binary", ":all:")
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive, tempfile.TemporaryDirectory(dir=folder) as taken:
            archive.extractall(taken, [each for each in archive.getmembers() if "/examples/" in each.name])
            next(pathlib.Path(taken).iterdir()).joinpath("examples").rename(folder / "examples")

    return python_environment.made_once(build, f"{python_environment.pin('zeus')}-examples", fetch) / "examples"


class PowerLimitExamples(unittest.TestCase):
    def run_example(self, name: str, ranks: int, images: int, *arguments: str) -> list:
        """The optimizer's results after each epoch, for each rank."""
        script = examples() / "power_limit_optimizer" / name
        python = python_environment.interpreter(build, "trainers")
        # The fully sharded example wants --local-rank, which only the older of the two launchers passes.
        launcher = "torch.distributed.launch" if "fsdp" in name else "torch.distributed.run"
        start = [python] if ranks == 1 else [python, "-m", launcher, "--standalone", "--nproc-per-node", ranks]
        with tempfile.TemporaryDirectory() as folder:
            states = os.path.join(folder, "states")
            command = [program, "virtual", "2xV100", "--load", "constant:180W", "--", *start, RUNNER, *arguments]
            environment = {**os.environ, "EXAMPLE_SCRIPT": str(script), "EXAMPLE_STATES": states, "EXAMPLE_IMAGES": str(images), "OMP_NUM_THREADS": "1",
                           "ZEUS_STATE_DIR": os.path.join(folder, "state")}
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=600,
                                  env=environment, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr[-4000:])
            self.said = done.stdout
            return [[json.loads(line) for line in pathlib.Path(f"{states}.{rank}").read_text().splitlines()]
                    for rank in range(ranks)]

    def check(self, ranks: list, measured: list) -> None:
        for seen in ranks:
            last = seen[-1]
            self.assertEqual((last["state"], last["unoptimized"]), ("Done", ""))
            self.assertEqual(last["measured"], measured)
            self.assertEqual(set(last["limits"]), {last["current"]})
        self.assertEqual(ranks, [[{**state} for state in ranks[0]]] * len(ranks), "ranks have decided differently")

    def test_single_gpu(self):
        seen = self.run_example("train_single.py", 1, 1600, "data", "--epochs", "2", "-b", "4", "-j", "0", "-p", "1000")
        self.check(seen, [250, 225, 200, 175, 150, 125, 100])
        accuracy = float(self.said.split("Top-1 accuracy: ")[-1].split()[0].replace("tensor(", "").strip(",)"))
        self.assertGreater(accuracy, 50)  # a quarter would be chance

    def test_data_parallel(self):
        seen = self.run_example("train_dp.py", 2, 3200, "data", "--epochs", "2", "-b", "8", "-j", "0", "-p", "1000")
        self.check(seen, [250, 225, 200, 175, 150, 125, 100])

    def test_fully_sharded(self):
        seen = self.run_example("train_fsdp.py", 2, 3200, "--epochs", "1", "--batch-size", "1")
        self.check(seen, [250, 225, 200, 175, 150, 125, 100])


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

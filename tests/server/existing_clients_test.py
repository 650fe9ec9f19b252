"""The existing package's own client, unmodified, and its published scripts, with our server: on virtual GPUs, on one GPU and
with two ranks, without a token and with one in the URL.

  existing_clients_test.py PROGRAM BUILD_FOLDER

The package and the scripts come from the registry; without it these tests are skipped. existing_runner.py stands in for data
sets
and devices.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import existing_session  # noqa: E402
import server_session  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import examples_test  # noqa: E402
import existing_servers  # noqa: E402
import python_environment  # noqa: E402

RUNNER = pathlib.Path(__file__).resolve().parent / "existing_runner.py"
# Some batch sizes reach the target in the first epochs, some never.
ARGUMENTS = ("--no-cuda", "--epochs", "3", "--target-accuracy", "0.6")
ALONE, TWO = 3, 1  # runs, each with the import of PyTorch in each of its ranks

program = ""
build = pathlib.Path()


class Run:
    """A training from its start to its end."""

    def __init__(self, script: str, ranks: int, job: str, url: str) -> None:
        python = python_environment.interpreter(build, "existing")
        path = examples_test.examples() / "batch_size_optimizer" / "mnist" / script
        start = [python] if ranks == 1 else [python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks]
        with tempfile.TemporaryDirectory() as folder:
            figures = os.path.join(folder, "figures")
            command = [program, "virtual", f"{ranks}xV100", "--load", "constant:180W", "--", *start, RUNNER, *ARGUMENTS]
            kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUS", "CUDA"))}
            environment = {**kept, "EXAMPLE_SCRIPT": str(path), "EXAMPLE_FIGURES": figures, "OMP_NUM_THREADS": "1",
                           "ZEUS_SERVER_URL": url, "ZEUS_JOB_ID": job, "ZEUS_STATE_DIR": os.path.join(folder, "state")}
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=300,
                                  env=environment, cwd=folder)
            self.code, self.said = done.returncode, done.stdout + done.stderr
            self.ranks = [self._read(pathlib.Path(f"{figures}.{rank}")) for rank in range(ranks)]

    def _read(self, path: pathlib.Path) -> list:
        assert path.exists(), self.said[-4000:]
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class ExistingClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        examples_test.build = build
        examples_test.examples()
        context = existing_session.ours(program)
        cls.server = context.__enter__()
        cls.addClassCleanup(context.__exit__, None, None, None)
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        key = server_session.write_key(pathlib.Path(held.name))
        context = existing_session.ours(program, "--signing-key-path", str(key))
        cls.guarded = context.__enter__()
        cls.addClassCleanup(context.__exit__, None, None, None)
        cls.token = server_session.token("ann", ["jobs-read", "jobs-write"])
        url = cls.guarded.url.replace("http://", f"http://ann:{cls.token}@")
        # Runs of one job follow one another, those of different jobs do not wait.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            alone = pool.submit(lambda: [Run("train_single_gpu.py", 1, "mnist-dev-1", cls.server.url) for _ in range(ALONE)]
                                + [Run("train_single_gpu.py", 1, "mnist-dev-1", url)])
            two = pool.submit(lambda: [Run("train_dp.py", 2, "mnist-dev-2", cls.server.url) for _ in range(TWO)]
                              + [Run("train_dp.py", 2, "mnist-dev-2", url)])
            *cls.alone, cls.alone_with_token = alone.result()
            *cls.two, cls.two_with_token = two.result()

    def tries(self, server, job: str, headers: dict | None = None) -> list:
        status, view = server.ask("GET", f"/api/v1/jobs/{urllib.parse.quote(job)}?all=true", headers=headers)
        self.assertEqual(status, 200, view)
        return sorted(view["tries"], key=lambda one: one["try"])

    def check(self, runs: list, tries: list) -> None:
        self.assertEqual([one["try"] for one in tries], list(range(1, len(runs) + 1)))
        for run, on_record in zip(runs, tries, strict=True):
            with self.subTest(trial=on_record["try"]):
                last = [seen[-1] for seen in run.ranks]
                for rank in last:
                    self.assertEqual((rank["trial"], rank["batch_size"]), (on_record["try"], on_record["batch_size"]), run.said[-2000:])
                    self.assertEqual(rank["finished"], True, run.said[-2000:])
                self.assertEqual([len(seen) for seen in run.ranks], [on_record["epochs"]] * len(run.ranks), "ranks stop in one epoch")
                reached = on_record["outcome"] == "reached"
                self.assertIn(on_record["outcome"], ("reached", "exhausted", "stopped"))
                self.assertEqual(run.code == 0, reached, run.said[-2000:])  # the client raises if it has failed
                # The rank that reported first is on record, to the last digit.
                energy, seconds = on_record["energy_j"]["value"], on_record["time_s"]
                same = [abs(rank["energy"] - energy) <= 1e-9 * energy and abs(rank["time"] - seconds) <= 1e-9 * seconds for rank in last]
                self.assertTrue(any(same), (last, on_record))
                self.assertGreater(energy, 0)

    def test_the_script_for_one_gpu(self):
        tries = self.tries(self.server, "mnist-dev-1")
        self.check(self.alone, tries)
        self.assertEqual([one["batch_size"] for one in tries][:2], [256, 64])

    def test_the_script_for_two_ranks(self):
        self.check(self.two, self.tries(self.server, "mnist-dev-2"))

    def test_with_a_token_in_the_url(self):
        for job, run in (("mnist-dev-1", self.alone_with_token), ("mnist-dev-2", self.two_with_token)):
            self.assertEqual(self.guarded.ask("GET", f"/api/v1/jobs/{job}")[0], 401)
            self.check([run], self.tries(self.guarded, job, server_session.bearer(self.token)))
        self.assertNotIn(self.token, self.guarded.log())


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

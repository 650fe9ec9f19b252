"""What `zeus llm bench --ml-energy` writes, read by the ML.ENERGY benchmark's own toolkit (mlenergy-data): its figures are those of
our JSON. Without the registry it is skipped with one line.

  ml_energy_test.py PROGRAM LAYOUT_WRITER BUILD_FOLDER
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "support"))
import python_environment  # noqa: E402
from llm_bench_test import WITH_SERVER  # noqa: E402

program = ""
writer = ""
build = pathlib.Path()

# Prints the figures of each run that is read, and the counts and times of its answers.
READ = """
import dataclasses, json, sys
from mlenergy.data.records import LLMRuns
print(json.dumps([{"run": dataclasses.asdict(run), "lengths": run.output_lengths(), "gaps": sorted(run.inter_token_latencies())}
                  for run in LLMRuns.from_raw_results(sys.argv[1], stable_only=False, n_workers=1)]))
"""


class Layout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def bench(self, *options: str, server: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
        serving = "|".join([str(FOLDER / "token_server.py"), str(self.folder / "log"), *server])
        return subprocess.run(
            [program, "virtual", "2xA100", "--", sys.executable, "-c", WITH_SERVER, serving, program, "llm", "bench", "--url", "URL",
             "--json", "-", "--ml-energy", str(self.folder / "runs"), "--parameters", "0.5", *options],
            capture_output=True, text=True, check=False, timeout=100)

    def read(self) -> list[dict]:
        python = python_environment.interpreter(build, "readers")
        done = subprocess.run([python, "-c", READ, str(self.folder / "runs")], capture_output=True, text=True, check=False, timeout=200,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def written(self, count: int) -> list[dict]:
        done = subprocess.run([writer, str(self.folder / "runs"), str(count)], capture_output=True, text=True, check=True, timeout=200)
        return sorted(map(json.loads, done.stdout.splitlines()), key=lambda run: run["seed"])

    def test_their_toolkit_reads_our_figures(self):
        ours = self.written(4)
        theirs = sorted(self.read(), key=lambda one: one["run"]["seed"])
        self.assertEqual(len(theirs), 4)
        worst = 0.0
        for run, read in zip(ours, theirs, strict=True):
            self.assertEqual([read["run"][key] for key in ("task", "model_id", "num_gpus", "max_num_seqs", "seed", "total_params_billions")],
                             ["chat", "local/tiny", len(run["gpus"]), run["in_flight"], run["seed"], 0.5])
            between = run["time_between_tokens_s"]
            expected = {
                "energy_per_token_joules": run["energy_per_output_token_j"]["value"],
                "energy_per_request_joules": run["energy_per_answer_j"]["value"],
                "output_throughput_tokens_per_sec": run["output_tokens_per_s"]["value"],
                "request_throughput_req_per_sec": run["answers_per_s"]["value"],
                "avg_power_watts": run["power_w"]["value"],
                "avg_batch_size": run["mean_in_flight"]["value"],
                "steady_state_energy_joules": run["steady_energy_j"]["value"],
                "steady_state_duration_seconds": run["steady_time_s"],
                "mean_itl_ms": 1000 * between["mean"]["value"],
                **{f"p{percent}_itl_ms": 1000 * between[f"p{percent}"]["value"] for percent in (50, 90, 95, 99)},
            }
            for key, value in expected.items():
                off = abs(read["run"][key] / value - 1)
                worst = max(worst, off)
                self.assertLess(off, 1e-6, f"{key}: {read['run'][key]} and {value}")
            self.assertEqual(len(read["lengths"]), run["answers"]["whole"])
            self.assertTrue(all(gap > 0 for gap in read["gaps"]))
        print(f"{len(expected)} figures of {len(ours)} runs, the farthest {worst:.1e} off")

    def test_settings_of_the_model_that_its_user_has_written_stay(self):
        info = self.folder / "runs" / "configs" / "vllm" / "chat" / "local" / "tiny" / "model_info.json"
        info.parent.mkdir(parents=True)
        info.write_text('{"total_parameters_billion": 7, "nickname": "mine"}', encoding="utf-8")
        self.written(1)
        self.assertEqual([(one["run"]["nickname"], one["run"]["total_params_billions"]) for one in self.read()], [("mine", 7.0)])

    # On a busy machine it may not be steady; then it is refused, with the reason.
    def test_a_run_of_the_command_is_read_or_refused_in_real_time(self):
        done = self.bench("--requests", "260", "--in-flight", "8", "--max-tokens", "30", "--seed", "7",
                          server=("--gpus", "0,1", "--dialect", "two_tokens_a_chunk"))
        ours = json.loads(done.stdout)
        if ours["energy_per_output_token_j"] is None:
            self.assertEqual(done.returncode, 1)
            self.assertIn(ours["why_no_energy_per_token"], done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        [read] = self.read()
        self.assertEqual([read["run"][key] for key in ("gpu_model", "num_gpus", "max_num_seqs", "seed")], ["A100", 2, 8, 7])
        self.assertAlmostEqual(read["run"]["energy_per_token_joules"] / ours["energy_per_output_token_j"]["value"], 1, delta=1e-6)
        self.assertEqual(read["lengths"], [30] * 260)

    def test_a_run_without_joules_per_token_is_refused_with_the_reason(self):
        done = self.bench("--requests", "20", "--in-flight", "8", "--max-tokens", "5")
        self.assertEqual(done.returncode, 1)
        self.assertIn("joules per output token are not known: the run is too short", done.stderr)
        self.assertEqual(list(self.folder.rglob("results.json")), [])
        json.loads(done.stdout)

    def test_a_folder_that_cannot_be_written_is_seen_before_the_run(self):
        (self.folder / "runs").write_text("a file", encoding="utf-8")
        done = self.bench("--requests", "200")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "log").read_text(encoding="utf-8"))


if __name__ == "__main__":
    program, writer, build = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    unittest.main()

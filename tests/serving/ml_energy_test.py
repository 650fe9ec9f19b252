"""What `zeus llm bench --ml-energy` writes, read by the ML.ENERGY benchmark's own toolkit (mlenergy-data): its figures are those of
our JSON. Without the registry it is skipped with one line.

  ml_energy_test.py PROGRAM BUILD_FOLDER
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

    def test_their_toolkit_reads_our_figures_in_real_time(self):
        done = self.bench("--requests", "260", "--in-flight", "8", "--max-tokens", "30", "--seed", "7",
                          server=("--gpus", "0,1", "--dialect", "two_tokens_a_chunk"))
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        ours = json.loads(done.stdout)
        runs = self.read()
        self.assertEqual(len(runs), 1)
        theirs = runs[0]["run"]
        self.assertEqual([theirs[key] for key in ("task", "model_id", "gpu_model", "num_gpus", "max_num_seqs", "seed", "total_params_billions")],
                         ["chat", "local/tiny", "A100", 2, 8, 7, 0.5])
        between = ours["time_between_tokens_s"]
        expected = {
            "energy_per_token_joules": ours["energy_per_output_token_j"]["value"],
            "energy_per_request_joules": ours["energy_per_answer_j"]["value"],
            "output_throughput_tokens_per_sec": ours["output_tokens_per_s"]["value"],
            "request_throughput_req_per_sec": ours["answers_per_s"]["value"],
            "avg_power_watts": ours["power_w"]["value"],
            "avg_batch_size": ours["mean_in_flight"]["value"],
            "steady_state_energy_joules": ours["steady_energy_j"]["value"],
            "steady_state_duration_seconds": ours["steady_time_s"],
            "mean_itl_ms": 1000 * between["mean"]["value"],
            **{f"p{percent}_itl_ms": 1000 * between[f"p{percent}"]["value"] for percent in (50, 90, 95, 99)},
        }
        worst = 0.0
        for key, value in expected.items():
            off = abs(theirs[key] / value - 1)
            worst = max(worst, off)
            self.assertLess(off, 1e-6, f"{key}: {theirs[key]} and {value}")
        print(f"{len(expected)} figures, the farthest {worst:.1e} off")
        self.assertEqual(runs[0]["lengths"], [30] * 260)
        self.assertTrue(all(gap > 0 for gap in runs[0]["gaps"]))

    def test_settings_of_the_model_that_its_user_has_written_stay(self):
        info = self.folder / "runs" / "configs" / "vllm" / "chat" / "local" / "tiny" / "model_info.json"
        info.parent.mkdir(parents=True)
        info.write_text('{"total_parameters_billion": 7, "nickname": "mine"}', encoding="utf-8")
        done = self.bench("--requests", "150", "--in-flight", "8", "--max-tokens", "30")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual([(one["run"]["nickname"], one["run"]["total_params_billions"]) for one in self.read()], [("mine", 7.0)])

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
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    unittest.main()

"""The existing package's own PipelineFrequencyOptimizer, unmodified, with the plans of `zeus serve --pipeline-plan`, on
virtual GPUs: two pipelines, and one of eight ranks.

  existing_pipelines_test.py PROGRAM BUILD_FOLDER STAGES [TEST...]      STAGES: of each of the two pipelines

The package comes from the registry; without it these tests are skipped.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import existing_session  # noqa: E402
import server_session  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

RANK = pathlib.Path(__file__).resolve().parent / "existing_pipeline_rank.py"

program = ""
build = pathlib.Path()
stages_each = 0


def plan_of(stages: int) -> list:
    """Clocks that differ between stages and between instructions."""
    return [[["forward", 1380 - 60 * stage], ["backward", 900 + 15 * stage]] for stage in range(stages)]


class ExistingPipelines(unittest.TestCase):
    def train(self, url: str, ranks: int, stages: int) -> list:
        python = python_environment.interpreter(build, "existing")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUS", "CUDA"))}
        with tempfile.TemporaryDirectory() as folder:
            command = [program, "virtual", f"{ranks}xA100", "--load", "constant:200W", "--", python, "-m", "torch.distributed.run",
                       "--standalone", "--nproc-per-node", ranks, RANK, url, stages]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=900,
                                  env={**kept, "OMP_NUM_THREADS": "1", "ZEUS_STATE_DIR": os.path.join(folder, "state")}, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return sorted(lines, key=lambda line: line["rank"])

    def check(self, ranks: list, plan: list, pipelines: int) -> None:
        self.assertEqual([line["rank"] for line in ranks], list(range(pipelines * len(plan))))
        self.assertEqual(len({line["job"] for line in ranks}), 1)
        for line in ranks:
            wanted = plan[line["stage"]]
            self.assertEqual(line["schedule"], wanted)
            clocks = [clock for _, clock in wanted]
            self.assertTrue(all(abs(a - b) <= 15 for a, b in zip(line["seen"], clocks, strict=True)), f"{line} instead of {clocks}")

    def test_two_pipelines_get_the_plan_of_a_literal_with_a_token_in_the_url(self):
        plan = plan_of(stages_each)
        with tempfile.TemporaryDirectory() as folder:
            literal = pathlib.Path(folder) / "freqs_pipeline_00042.py"
            rows = ",\n".join(str([tuple(pair) for pair in stage]) for stage in plan)
            literal.write_text(f"[\n{rows},\n]\n# Iteration 42: cost 7\n", encoding="utf-8")
            key = server_session.write_key(pathlib.Path(folder))
            with existing_session.ours(program, "--pipeline-plan", str(literal), "--signing-key-path", str(key)) as server:
                token = server_session.token("ann", ["pipelines"])
                self.assertEqual(server.ask("GET", "/info")[0], 401)
                self.check(self.train(server.url.replace("http://", f"http://ann:{token}@"), 2 * stages_each, stages_each), plan, 2)
                self.assertNotIn(token, server.log())

    def test_one_pipeline_of_eight_stages_gets_a_plan_of_zeus_pipeline(self):
        plan = plan_of(8)
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(folder) / "plan.json"
            written.write_text(json.dumps({"plans": [{"time_s": 1.0, "energy_j": 1.0, "frequencies": plan}]}), encoding="utf-8")
            with existing_session.ours(program, "--pipeline-plan", str(written)) as server:
                self.check(self.train(server.url, 8, 8), plan, 1)


if __name__ == "__main__":
    program, build, stages_each = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve(), int(sys.argv.pop(1))
    unittest.main()

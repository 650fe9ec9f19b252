"""Real pipelined trainings with PyTorch on virtual GPUs: profiled, planned and slowed down where it costs nothing, by
zeus.integrations.pipelining.

  torch_pipeline_test.py PROGRAM BUILD_FOLDER [--all] [TEST...]      --all, as in `make nightly`: 30 kills, and GPipe

Each rank of each training imports PyTorch, and so does its launcher: what one rank alone can show is in
one_rank_in_environment.py, and several of these trainings run nightly (CMakeLists.txt).

PyTorch comes from the registry; without it these tests are skipped.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "torch_pipeline" / "train.py"

program = ""
build = pathlib.Path()
everything = False


class Trainings(unittest.TestCase):
    of_one_process: list = []  # losses

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        self.python = str(python_environment.interpreter(build, "trainers"))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUS", "CUDA"))}
        self.environment = {**kept, "PYTHONPATH": str(build / "package"), "OMP_NUM_THREADS": "1", "ZEUS_STATE_DIR": str(self.out / "state")}

    def run_there(self, command: list, gpus: str, *options: str) -> subprocess.CompletedProcess:
        whole = [program, "virtual", gpus, *options, "--", *command] if gpus else command
        done = subprocess.run([str(word) for word in whole], capture_output=True, text=True, check=False, timeout=280, cwd=self.out,
                              env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        return done

    def launch(self, ranks: int) -> list:
        return [self.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks]

    def train(self, ranks: int, schedules: str, steps: int, *more: object, options: tuple = ()) -> dict:
        """What each rank has written, by schedule. Counters of a V100 move every 20 ms, so that profiles take less time."""
        self.run_there([*self.launch(ranks), HERE / "pipelined_rank.py", self.out, "--schedules", schedules, "--steps", steps, *more],
                       f"{ranks}xV100", *options)
        return {name: [json.loads((self.out / f"{name}-{rank}.json").read_text(encoding="utf-8")) for rank in range(ranks)]
                for name in schedules.split(",")}

    def single(self, steps: int) -> list:
        """Losses of the first steps, at most 10; trained once for all tests."""
        if not self.of_one_process:
            self.run_there([self.python, HERE / "pipelined_rank.py", self.out, "--single", "--steps", 10], "")
            self.of_one_process.extend(json.loads((self.out / "single.json").read_text(encoding="utf-8")))
        return self.of_one_process[:steps]

    def check_losses(self, ranks: list) -> None:
        losses = ranks[-1]["losses"]
        for seen, wanted in zip(losses, self.single(len(losses)), strict=True):
            self.assertAlmostEqual(seen, wanted, delta=1e-5)

    def check_plan(self, ranks: list, share: float) -> None:
        for rank in ranks:
            self.assertEqual((rank["trouble"], rank["warnings"]), ("", []))
            self.assertEqual(rank["plan"], ranks[0]["plan"])
        plan = ranks[0]["plan"]
        self.assertEqual(len(plan["frequencies"]), len(ranks))
        self.assertLess(plan["energy_j"], share * plan["fastest_energy_j"])
        self.assertRegex(ranks[0]["summary"], r"^the plan claims [\d.]+ % less energy .* profiling took .* regained after [\d,]+ iterations$")

    def check_blocking(self, ranks: list) -> None:
        for rank in ranks:
            self.assertAlmostEqual(rank["blocking"], 72.0, delta=2.0)

    def test_one_rank_alone(self):
        self.run_there([self.python, HERE / "one_rank_in_environment.py"], "1xV100", "--load", "constant:180W")

    def test_the_example_from_clone_to_picture(self):
        done = self.run_there([*self.launch(4), EXAMPLE, "--steps", 10, "--measure", 2], "4xA100")
        self.assertIn("the plan claims", done.stdout)
        losses = [float(loss) for loss in re.findall(r"step \d+: loss ([\d.]+)", done.stdout)]
        for seen, wanted in zip(losses, self.single(10), strict=True):
            self.assertAlmostEqual(seen, wanted, delta=1e-5)
        files = self.out / "pipeline"
        plan = json.loads((files / "plan.json").read_text(encoding="utf-8"))
        self.assertEqual([name for name, _ in plan["frequencies"][0]][:6], ["forward"] * 4 + ["backward", "forward"])
        shown = self.run_there([program, "pipeline", "--measured", files / "before.json", "--measured", files / "after.json", "--html",
                                self.out / "picture.html"], "")
        self.assertRegex(shown.stdout, r"[\d.]+ % less energy, .*; claimed by the plan: [\d.]+ % less energy, 0\.0 % more time")
        self.assertIn("forward 3.7", (self.out / "picture.html").read_text(encoding="utf-8"))
        planned = self.run_there([program, "pipeline", "--profile", files / "profile.csv", "--stages", 4, "--microbatches", 8, "--data-parallel",
                                  1, "--points", 1], "")
        self.assertIn("64 computations on 4 devices", planned.stdout)

    def test_one_forward_one_backward_and_gpipe_train_as_a_single_process_does(self):
        for name, ranks in self.train(4, "1f1b,gpipe", 4).items():
            with self.subTest(name):
                self.check_plan(ranks, 0.95)
                self.check_losses(ranks)
                self.check_blocking(ranks)
                order = [instruction for instruction, _ in ranks[0]["plan"]["frequencies"][0]]
                self.assertEqual(order[:5], ["forward"] * 4 + (["backward"] if name == "1f1b" else ["forward"]))

    def test_interleaved_stages_are_planned_and_a_split_backward_is_refused_with_one_sentence(self):
        trained = self.train(2, "interleaved,zero-bubble", 3, "--record", "/dev/null/away")
        # A folder that cannot be written costs the record, and not the plan.
        first = trained["interleaved"][0]
        self.assertEqual(len(first["warnings"]), 1)
        self.assertRegex(first["trouble"], "^the profile is not written: .*Not a directory")
        first.update(trouble="", warnings=[])
        self.check_plan(trained["interleaved"], 1.0)  # two ranks with as many layers each
        self.check_blocking(trained["interleaved"])
        self.assertEqual({row[0] for row in trained["interleaved"][1]["rows"]}, {1, 3})
        for ranks in trained.values():
            self.check_losses(ranks)
        for rank in trained["zero-bubble"]:
            self.assertIsNone(rank["plan"])
            self.assertEqual(len(rank["warnings"]), 1)
            self.assertIn("split the backward (zero-bubble) are not planned", rank["trouble"])

    def test_a_device_that_refuses_its_clock_is_named_to_all_and_the_training_goes_on(self):
        faults = self.out / "faults"
        faults.write_text("permission call=nvmlDeviceSetGpuLockedClocks gpu=1\n", encoding="utf-8")
        ranks = self.train(2, "interleaved", 3, options=("--faults", str(faults)))["interleaved"]
        self.check_losses(ranks)
        for rank in ranks:
            self.assertIsNone(rank["plan"])
            self.assertEqual(len(rank["warnings"]), 1)
            self.assertRegex(rank["trouble"], "no plan is followed: .*rank 1: the pipeline's instructions are not measured")

    def test_a_rank_that_does_not_take_part_costs_the_plan_and_not_the_training(self):
        first, _ = self.train(2, "interleaved", 3, "--absent", 1, "--patience", 2)["interleaved"]
        self.assertEqual(len(first["warnings"]), 1)
        self.assertRegex(first["trouble"], r"no plan is followed: .*waited 2 s .*without an answer")
        self.assertLess(first["seconds"], 60)

    def test_a_rank_that_comes_when_its_partner_has_given_up_costs_the_plan_and_not_the_training(self):
        ranks = self.train(2, "interleaved", 3, "--late", 1, "--patience", 2)["interleaved"]
        self.check_losses(ranks)
        for rank in ranks:
            self.assertIsNone(rank["plan"])
            self.assertEqual(len(rank["warnings"]), 1)
        self.assertLess(ranks[0]["seconds"], 60)

    def test_after_a_kill_clocks_are_put_back_and_the_others_end(self):
        # On a busy machine, the guardian may have to wait for a processor.
        put_back, ended = (1.0, 60.0) if everything else (20.0, 90.0)
        for turn in range(30 if everything else 2):
            with tempfile.TemporaryDirectory(dir=self.out) as folder:
                victim, when = turn % 4, ("profile", "follow")[turn % 2]
                done = self.run_there([self.python, HERE / "pipelined_kill.py", folder, 4, victim, when], "4xV100")
                found = json.loads(done.stdout)
                with self.subTest(turn=turn, when=when):
                    self.assertTrue(found["reached"], found)
                    self.assertIsNotNone(found["put_back_s"], found)
                    self.assertLess(found["put_back_s"], put_back, found)
                    self.assertLess(found["ended_s"], ended, found)


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    if "--all" in sys.argv:
        everything = True
        sys.argv.remove("--all")
    unittest.main()

"""Real pipelined trainings with PyTorch on virtual GPUs: profiled, planned and slowed down where it costs nothing, by
zeus.integrations.pipelining.

  torch_pipeline_test.py PROGRAM BUILD_FOLDER [--all] [TEST...]      --all, as in `make nightly`: 30 kills, and GPipe

Ranks are forked from one process that has imported PyTorch (trainings.py); nightly, torchrun starts those of the example. What
one rank alone can show is in one_rank_in_environment.py; several of these trainings run nightly (CMakeLists.txt).

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

GPUS = 4

program = ""
build = pathlib.Path()
everything = False


class Trainings(unittest.TestCase):
    of_one_process: list = []  # losses
    forker: subprocess.Popen

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.python = str(python_environment.interpreter(build, "trainers"))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUS", "CUDA"))}
        cls.environment = {**kept, "PYTHONPATH": str(build / "package"), "OMP_NUM_THREADS": "1", "ZEUS_STATE_DIR": os.path.join(folder.name, "state")}
        # Counters of a V100 move every 20 ms, so that profiles take less time.
        cls.forker = subprocess.Popen([program, "virtual", f"{GPUS}xV100", "--", cls.python, HERE / "trainings.py"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, cwd=folder.name, env=cls.environment)
        cls.addClassCleanup(cls.forker.communicate)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def run_there(self, command: list, gpus: str = "") -> subprocess.CompletedProcess:
        whole = [program, "virtual", gpus, "--", *command] if gpus else command
        done = subprocess.run([str(word) for word in whole], capture_output=True, text=True, check=False, timeout=280, cwd=self.out,
                              env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        return done

    def fork(self, module: str, ranks: int, *arguments: object) -> None:
        wanted = {"module": module, "ranks": ranks, "arguments": [str(word) for word in arguments], "folder": str(self.out),
                  "environment": {"ZEUS_STATE_DIR": str(self.out / "state")}}
        self.forker.stdin.write(json.dumps(wanted) + "\n")
        self.forker.stdin.flush()
        done = json.loads(self.forker.stdout.readline() or '{"codes": [], "said": "trainings.py has ended"}')
        self.assertEqual(done["codes"], [0] * ranks, done["said"])

    def train(self, ranks: int, schedules: str, steps: int, *more: object) -> dict:
        """What each rank has written, by schedule."""
        self.fork("pipelined_rank", ranks, self.out, "--schedules", schedules, "--steps", steps, *more)
        return {name: [json.loads((self.out / f"{name}-{rank}.json").read_text(encoding="utf-8")) for rank in range(ranks)]
                for name in schedules.split(",")}

    def single(self, steps: int) -> list:
        """Losses of the first steps, at most 10; trained once for all tests."""
        if not self.of_one_process:
            self.fork("pipelined_rank", 1, self.out, "--single", "--steps", 10)
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
        """That of waiting: kernels draw more than 200 W, and an idle GPU 25 W."""
        for rank in ranks:
            self.assertAlmostEqual(rank["blocking"], 72.0, delta=10.0)

    def test_one_rank_alone(self):
        self.fork("one_rank_in_environment", 1)

    def train_example(self) -> str:
        """What it prints. Nightly by its own command; else its ranks are forked, and layers and windows are shorter."""
        if everything:
            launch = [self.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", 4]
            return self.run_there([*launch, EXAMPLE, "--steps", 9, "--measure", 2], "4xA100").stdout
        self.fork("pipelined_rank", 4, self.out, "--example", "--steps", 9, "--measure", 2, "--layer", 0.002)
        return "".join((self.out / f"output-{rank}.txt").read_text(encoding="utf-8") for rank in range(4))

    def test_the_example_from_clone_to_picture(self):
        said = self.train_example()
        self.assertIn("the plan claims", said)
        losses = [float(loss) for loss in re.findall(r"step \d+: loss ([\d.]+)", said)]
        for seen, wanted in zip(losses, self.single(9), strict=True):
            self.assertAlmostEqual(seen, wanted, delta=1e-5)
        files = self.out / "pipeline"
        plan = json.loads((files / "plan.json").read_text(encoding="utf-8"))
        self.assertEqual([name for name, _ in plan["frequencies"][0]][:6], ["forward"] * 4 + ["backward", "forward"])
        shown = self.run_there([program, "pipeline", "--measured", files / "before.json", "--measured", files / "after.json", "--html",
                                self.out / "picture.html"])
        # What two iterations take depends on what else the machine does.
        self.assertRegex(shown.stdout, r"[\d.]+ % (less|more) energy, .*; claimed by the plan: [\d.]+ % less energy, 0\.0 % more time")
        self.assertIn("forward 3.7", (self.out / "picture.html").read_text(encoding="utf-8"))
        planned = self.run_there([program, "pipeline", "--profile", files / "profile.csv", "--stages", 4, "--microbatches", 8, "--data-parallel",
                                  1, "--points", 1])
        self.assertIn("64 computations on 4 devices", planned.stdout)

    def check_one_clock(self, ranks: list, one: int) -> None:
        """That rank is measured and planned at its clock alone, and others are slowed down beside it."""
        highest = max(row[2] for row in ranks[one]["rows"])
        self.assertEqual({row[2] for row in ranks[one]["rows"]}, {highest})
        self.assertEqual(len(ranks[one]["rows"]), len({(row[0], row[1]) for row in ranks[one]["rows"]}))
        planned = [[clock for _, clock in rank] for rank in ranks[0]["plan"]["frequencies"]]
        self.assertEqual(set(planned[one]), {highest})
        self.assertLess(min(clock for rank in planned for clock in rank), highest)

    def check_recomputation(self, ranks: list, which: int) -> None:
        """In a step under the plan, that rank's stages run their forward again in each backward."""
        for place, rank in enumerate(ranks):
            self.assertEqual(set(rank["works"]), {8 * (3 if place == which else 2)})

    def test_one_forward_one_backward_and_gpipe_train_as_a_single_process_does(self):
        for name, ranks in self.train(4, "1f1b,gpipe", 4).items():
            with self.subTest(name):
                self.check_plan(ranks, 0.95)
                self.check_losses(ranks)
                self.check_blocking(ranks)
                order = [instruction for instruction, _ in ranks[0]["plan"]["frequencies"][0]]
                self.assertEqual(order[:5], ["forward"] * 4 + (["backward"] if name == "1f1b" else ["forward"]))

    def test_one_forward_one_backward_and_gpipe_take_a_stage_that_recomputes_and_one_with_one_clock(self):
        for name, ranks in self.train(4, "1f1b,gpipe", 4, "--recompute", 1, "--one-clock", 3).items():
            with self.subTest(name):
                self.check_plan(ranks, 1.0)
                self.check_losses(ranks)
                self.check_one_clock(ranks, 3)
                self.check_recomputation(ranks, 1)

    def test_interleaved_stages_are_planned_where_one_rank_recomputes_and_has_one_clock(self):
        options = () if everything else ("--recompute", 1, "--one-clock", 1)  # nightly, both ranks are alike
        # A folder that cannot be written costs the record, and not the plan.
        ranks = self.train(2, "interleaved", 3, "--record", "/dev/null/away", *options)["interleaved"]
        self.assertEqual(len(ranks[0]["warnings"]), 1)
        self.assertRegex(ranks[0]["trouble"], "^the profile is not written: .*Not a directory")
        ranks[0].update(trouble="", warnings=[])
        self.check_plan(ranks, 1.0)
        self.check_losses(ranks)
        self.check_blocking(ranks)
        if options:
            self.check_one_clock(ranks, 1)
            self.check_recomputation(ranks, 1)
        self.assertEqual({row[0] for row in ranks[1]["rows"]}, {1, 3})

    def test_a_pipeline_that_refuses_its_plan_says_so_in_one_sentence_and_trains_on(self):
        fault = "permission call=nvmlDeviceSetGpuLockedClocks gpu=1 times=1"  # in mid-profile
        trained = self.train(2, "interleaved,zero-bubble", 3, "--fault", fault, "--one-clock", 0)
        for name, reason in (("interleaved", "no plan is followed: .*rank 1: the pipeline's instructions are not measured"),
                             ("zero-bubble", "no plan is followed: .*schedules that split the backward .zero-bubble. are not planned")):
            with self.subTest(name):
                self.check_losses(trained[name])
                for rank in trained[name]:
                    self.assertIsNone(rank["plan"])
                    self.assertEqual(len(rank["warnings"]), 1)
                    self.assertRegex(rank["trouble"], reason)

    def test_a_rank_that_does_not_take_part_costs_the_plan_and_not_the_training(self):
        first, _ = self.train(2, "interleaved", 3, "--absent", 1, "--patience", 2)["interleaved"]
        self.assertEqual(len(first["warnings"]), 1)
        self.assertRegex(first["trouble"], r"no plan is followed: .*waited 2 s .*without an answer")

    def test_a_rank_that_comes_when_its_partner_has_given_up_costs_the_plan_and_not_the_training(self):
        ranks = self.train(2, "interleaved", 3, "--late", 1, "--patience", 2)["interleaved"]
        self.check_losses(ranks)
        for rank in ranks:
            self.assertIsNone(rank["plan"])
            self.assertEqual(len(rank["warnings"]), 1)

    def test_after_a_kill_clocks_are_put_back_and_the_others_end(self):
        for turn in range(30 if everything else 2):
            # A guardian may still settle its record in the folder.
            with tempfile.TemporaryDirectory(dir=self.out, ignore_cleanup_errors=True) as folder:
                victim, when = turn % 4, ("profile", "follow")[turn // 4 % 2] if everything else ("profile", "follow")[turn]
                self.fork("pipelined_kill", 1, folder, 4, victim, when)
                found = json.loads((pathlib.Path(folder) / "killed.json").read_text(encoding="utf-8"))
                with self.subTest(turn=turn, when=when):
                    self.assertTrue(found["reached"], found)
                    self.assertIsNotNone(found["put_back_s"], found)
                    # On a busy machine, the guardian has to wait for a processor, as the process that looks has, and for the disk.
                    self.assertLess(found["put_back_s"], 1.0 + 10 * found["late_s"] if everything else 20, found)
                    self.assertTrue(found["ended"], found)
                    self.assertEqual(found["codes"][victim], -9)
                if everything:
                    print({name: value for name, value in found.items() if name != "said"}, file=sys.stderr)


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    if "--all" in sys.argv:
        everything = True
        sys.argv.remove("--all")
    unittest.main()

"""A pipeline of one rank in one process, for what does not take several: zeus.integrations.pipelining on a virtual GPU. Run by
torch_pipeline_test.py in a process of trainings.py.
"""

import itertools
import json
import pathlib
import sys
import time
import types
import unittest
import unittest.mock
import warnings

import torch
from torch import distributed, nn
from torch.distributed import device_mesh, pipelining, tensor
from torch.utils import checkpoint

from zeus.integrations import pipelining as pipelining_of_zeus

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "torch_pipeline"))
import virtual_work  # noqa: E402

from zeus_cpp.optimizer import _ranks  # noqa: E402

MICROBATCHES = 2


class LawfulProfiler:
    """Runs instructions as the native one does. What they take follows from their clock, however busy the machine is."""

    trouble = ""

    def __init__(self, device_id, window):
        self.rows = []

    def measure(self, stage, instruction, work, including):
        for clock in (1380.0, 1200.0, 1000.0):
            work(1)
            seconds = (0.01 if instruction == "forward" else 0.02) * (0.2 + 0.8 * 1380 / clock)
            self.rows.append((stage, instruction, clock, seconds, 0.0, seconds * (100 + 250 * (clock / 1380) ** 3), 0.0))

    def measure_beside(self, stage, instruction, clock, work, including):
        work(1)

    def close(self):
        pass


class OlderGPipe(pipelining.ScheduleGPipe):
    """Computes losses as PyTorch did before 2.13."""

    def _compute_loss(self, output, target):
        return self._loss_fn(output, target)

    def _maybe_compute_loss(self, stage, output, target_mbs, mb_index, *_):
        if stage.is_last and self._loss_fn is not None:
            self._internal_losses.append(self._compute_loss(output, target_mbs[mb_index]))


class Recomputing(nn.Module):
    """Keeps no activations of its middle part, which drops some: the backward runs it again."""

    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.first, self.middle = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 16), nn.Dropout(), nn.Linear(16, 4))
        self.reentrant = reentrant

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint.checkpoint(self.middle, self.first(x), use_reentrant=self.reentrant)


class OneRank(unittest.TestCase):
    def setUp(self):
        for patch in (unittest.mock.patch.object(pipelining_of_zeus._native, "PipelineProfiler", LawfulProfiler), warnings.catch_warnings()):
            patch.__enter__()
            self.addCleanup(patch.__exit__, None, None, None)
        warnings.simplefilter("ignore")  # windows are so short that GPUs' counters may not move
        torch.manual_seed(0)
        self.module = nn.Linear(4, 4)
        self.inputs, self.targets = torch.rand(8, 4), torch.rand(8, 4)

    def schedule(self, kind=pipelining.ScheduleGPipe, loss=nn.functional.mse_loss):
        stage = pipelining.PipelineStage(self.module, 0, 1, torch.device("cpu"))
        return kind(stage, MICROBATCHES, loss_fn=loss)

    def frequencies(self, schedule, gpu: int = 0, **more) -> pipelining_of_zeus.PipelineFrequencies:
        made = pipelining_of_zeus.PipelineFrequencies(schedule, gpu, **more)
        self.addCleanup(made.close)
        return made

    def step(self, schedule, **more) -> None:
        schedule.step(self.inputs, target=self.targets, **more)

    def check_plan(self, frequencies) -> None:
        self.assertEqual(frequencies.trouble, "")
        self.assertEqual([name for name, _ in frequencies.plan["frequencies"][0]], ["forward"] * MICROBATCHES + ["backward"] * MICROBATCHES)

    def test_losses_are_profiled_as_each_version_of_pytorch_computes_them(self):
        def scaled(output, target, scale):
            return scale * nn.functional.mse_loss(output, target)

        for name, schedule, more in (("older", self.schedule(OlderGPipe), {}),
                                     ("with arguments", self.schedule(loss=scaled), {"loss_kwargs": {"scale": 2.0}})):
            with self.subTest(name):
                frequencies = self.frequencies(schedule)
                self.step(schedule, **more)
                self.check_plan(frequencies)

    def train_recomputing(self, reentrant: bool, runs: list, with_zeus: bool) -> tuple:
        """Losses and gradients of three steps; notes each run of what is recomputed."""
        torch.manual_seed(0)
        self.module = Recomputing(reentrant)
        self.module.middle.register_forward_pre_hook(lambda *_: runs.append(None))
        schedule = self.schedule()
        frequencies = self.frequencies(schedule) if with_zeus else None
        losses: list = []
        for _ in range(3):
            seen: list = []
            self.step(schedule, losses=seen)
            losses += [float(each) for each in seen]
        if frequencies is not None:
            self.check_plan(frequencies)
        return losses, [each.grad.tolist() for each in self.module.parameters()]

    def test_a_stage_that_recomputes_is_measured_doing_so_and_trains_as_without_zeus(self):
        for reentrant in (False, True):
            runs: list = []
            each: dict = {}

            class Counting(LawfulProfiler):
                def measure(self, stage, instruction, work, including):
                    before = len(runs)
                    work(1)
                    each[instruction] = len(runs) - before
                    super().measure(stage, instruction, work, including)

            with self.subTest(reentrant=reentrant), unittest.mock.patch.object(pipelining_of_zeus._native, "PipelineProfiler", Counting):
                alone = self.train_recomputing(reentrant, [], with_zeus=False)
                self.assertEqual(self.train_recomputing(reentrant, runs, with_zeus=True), alone)
                self.assertEqual(each, {"forward": 1, "backward": 2})

    def check_refusal(self, reason: str, **more) -> None:
        """The training goes on, without a plan and without running anything more often than it did."""
        schedule = self.schedule()
        frequencies = self.frequencies(schedule, **more)
        with self.assertLogs("zeus.integrations.pipelining", "WARNING") as log:
            for _ in range(3):
                self.step(schedule)
        self.assertEqual(len(log.output), 1)
        self.assertRegex(frequencies.trouble, f"^no plan is followed: rank 0: .*{reason}")
        self.assertIsNone(frequencies.plan)

    def test_a_sharded_stage_is_refused_before_anything_runs_alone(self):
        mesh = device_mesh.init_device_mesh("cpu", (1,))
        tensor.distribute_module(self.module, mesh)
        self.inputs, self.targets = (tensor.distribute_tensor(each, mesh) for each in (self.inputs, self.targets))
        self.check_refusal("sharded")

    def test_an_optimizer_within_the_backward_is_refused_and_makes_its_own_steps_alone(self):
        updates = []
        self.module.bias.register_post_accumulate_grad_hook(updates.append)
        self.check_refusal("register_post_accumulate_grad_hook")
        self.assertEqual(len(updates), 3 * MICROBATCHES)

    def test_a_gpu_that_is_not_there_costs_the_plan_and_not_the_training(self):
        for measure in (0, 1):
            with self.subTest(measure=measure):
                self.check_refusal("there is no GPU 5", gpu=5, measure=measure)

    def test_a_gpu_that_may_not_be_set_costs_the_plan_and_not_the_training(self):
        with unittest.mock.patch.object(LawfulProfiler, "trouble", "it may not be set"):
            self.check_refusal("it may not be set")

    def evaluate(self, schedule) -> None:
        with torch.no_grad():
            schedule.eval(self.inputs, target=self.targets)

    def test_an_evaluation_before_the_first_step_is_not_what_is_planned(self):
        schedule = self.schedule()
        frequencies = self.frequencies(schedule)
        self.evaluate(schedule)
        self.assertIsNone(frequencies.plan)
        self.step(schedule)
        self.check_plan(frequencies)

    def test_an_evaluation_runs_without_the_plan_which_is_followed_again_after_it(self):
        schedule = self.schedule()
        frequencies = self.frequencies(schedule)
        self.step(schedule)
        followed = []
        self.module.register_forward_hook(lambda *_: followed.append(frequencies._following))
        for _ in range(2):
            self.evaluate(schedule)
            self.step(schedule)
        self.assertEqual([follows for follows, _ in itertools.groupby(followed)], [False, True, False, True])
        self.check_plan(frequencies)
        frequencies.pause()
        self.evaluate(schedule)
        self.assertFalse(frequencies._following)

    def test_evaluations_are_left_out_of_what_is_measured(self):
        schedule = self.schedule()
        frequencies = self.frequencies(schedule, measure=2)
        for _ in range(2):
            self.evaluate(schedule)
            self.step(schedule)
        self.evaluate(schedule)
        self.assertEqual(frequencies._measured.results, [])
        self.step(schedule)
        self.check_plan(frequencies)
        self.assertEqual([len(each["steps"]) for each in frequencies._measured.results], [2])
        for _ in range(10):
            self.step(schedule)
        self.assertEqual([len(each["steps"]) for each in frequencies._measured.results], [2, 2])

    def train_beside(self, *, place: int = 0, **told) -> tuple:
        """One step as if there were two ranks, of which the other has told these values: its frequencies and the store."""
        schedule = self.schedule()
        frequencies = self.frequencies(schedule, patience=0.01)
        frequencies._members, frequencies._place = [0, 1], place
        store = frequencies._ranks._store = distributed.HashStore()
        for key, value in told.items():
            store.set(key.replace("_", "/"), json.dumps(value))
        with self.assertLogs("zeus.integrations.pipelining", "WARNING") as log:
            self.step(schedule)
        self.assertEqual(len(log.output), 1)
        self.assertIsNone(frequencies.plan)
        return frequencies.trouble, store

    def test_the_first_rank_tells_all_which_rank_does_not_take_part(self):
        trouble, store = self.train_beside()
        self.assertRegex(trouble, "a rank does not take part: rank 0 waited [0-9.]+ s .*without an answer")
        self.assertIn(json.loads(store.get("plan/begin"))["trouble"], trouble)

    def test_the_first_rank_tells_all_what_is_wrong_with_another_before_any_profiles(self):
        trouble, store = self.train_beside(profile_begin_1={"trouble": "it may not set its GPU"})
        self.assertEqual(json.loads(store.get("plan/begin")), {"trouble": "rank 1: it may not set its GPU"})
        self.assertEqual(trouble, "no plan is followed: rank 0: rank 1: it may not set its GPU")
        self.assertFalse(store.check(["here/0"]))

    def test_a_rank_that_comes_when_its_partner_has_given_up_does_not_wait_for_it(self):
        _, store = self.train_beside(place=1, plan_begin={}, here_0=True, pair_0=False, plan_0={"trouble": "rank 0: it is over"})
        self.assertEqual(json.loads(store.get("profile/0/1"))["trouble"], "rank 0 did not wait for rank 1")

    def test_a_power_of_waiting_that_no_rank_knows_is_not_taken_for_zero(self):
        frequencies = self.frequencies(self.schedule(), patience=0.01)
        frequencies._members = [0, 1]
        store = frequencies._ranks._store = distributed.HashStore()
        frequencies._profiling_since = 0.0
        share = {"trouble": "", "steps": [["forward", 0, 0]], "rows": [], "blocking": None}
        store.set("profile/0/1", json.dumps(share))
        self.assertEqual(frequencies._plan_of(share, "0"), {"trouble": "no rank could measure what its GPU draws while it waits for another"})

    def test_a_rank_that_measures_shows_it_to_those_that_wait(self):
        schedule = self.schedule()
        frequencies = self.frequencies(schedule)
        store = frequencies._ranks._store = distributed.HashStore()
        self.step(schedule)
        self.check_plan(frequencies)
        self.assertGreater(store.add("instructions", 0), 0)

    def beside_another(self, ranks: _ranks.Ranks, key: str, value: object, *, advances: int, answers: int) -> types.SimpleNamespace:
        """The clock on which `ranks` look at the store, where another makes progress at so many looks, and answers at one."""
        clock = types.SimpleNamespace(now=0.0, monotonic=lambda: clock.now, sleep=lambda seconds: setattr(clock, "now", clock.now + seconds))
        store, looks = distributed.HashStore(), itertools.count()

        def check(keys: list) -> bool:
            look = next(looks)
            if look < advances:
                store.add("instructions", 1)
            if look == answers:
                store.set(key, json.dumps(value))
            return store.check(keys)

        ranks._store = types.SimpleNamespace(check=check, set=store.set, add=store.add, get=store.get)
        patch = unittest.mock.patch.object(_ranks, "time", clock)
        patch.start()
        self.addCleanup(patch.stop)
        return clock

    def test_a_rank_that_makes_no_progress_any_more_is_not_waited_for(self):
        ranks = _ranks.Ranks("waiting")
        clock = self.beside_another(ranks, "late", 7, advances=100, answers=1000)
        with self.assertRaisesRegex(_ranks.RankLost, "^rank 0 waited 1 s for 'late' without an answer: no rank makes progress$"):
            ranks.hear("late", 1.0, "instructions")
        self.assertAlmostEqual(clock.now, 100 * 0.2 + 1.0, delta=0.5)

    def test_profiles_and_the_plan_are_waited_for_as_long_as_a_rank_measures(self):
        for place, key in ((0, "profile/0/1"), (1, "plan/0")):
            frequencies = self.frequencies(self.schedule(), patience=1.0)
            frequencies._members, frequencies._place, frequencies._profiling_since = [0, 1], place, time.monotonic()
            clock = self.beside_another(frequencies._ranks, key, {"trouble": "it is over"}, advances=10_000, answers=10_000)
            with self.assertRaisesRegex(pipelining_of_zeus._Trouble, "it is over"):
                frequencies._agree({"trouble": ""}, "0")
            self.assertGreater(clock.now, 1000)

    def test_without_the_store_of_a_rank_that_died_nothing_more_is_measured_and_one_sentence_says_so(self):
        def gone(*_):
            raise distributed.DistNetworkError("Broken pipe")

        schedule = self.schedule()
        frequencies = self.frequencies(schedule)
        frequencies._ranks._store = types.SimpleNamespace(set=lambda *_: None, add=gone)
        with self.assertLogs("zeus.integrations.pipelining", "WARNING") as log:
            self.step(schedule)
        self.assertEqual(len(log.output), 1)
        self.assertEqual(frequencies.trouble, "no plan is followed: rank 0 does not reach the others any more: Broken pipe")
        frequencies._ranks._store = types.SimpleNamespace(set=gone, compare_set=gone)
        for call in (frequencies._ranks.tell, frequencies._ranks.settle):
            self.assertRaises(_ranks.RankLost, call, "key", 1)

    def test_ranks_that_contradict_one_another_are_named_and_get_no_plan(self):
        frequencies = self.frequencies(self.schedule(), patience=0.01)
        frequencies._members = [0, 1]
        store = frequencies._ranks._store = distributed.HashStore()
        frequencies._profiling_since = 0.0

        def share_of(stage: int, microbatches: int, seconds: float = 0.01) -> dict:
            rows = [[stage, "forward", 1380.0, seconds, 0.0, 3.0, 0.0]]
            return {"trouble": "", "steps": [["forward", stage, each] for each in range(microbatches)], "rows": rows, "blocking": 70.0}

        for other, trouble in ((share_of(1, 1), "rank 0 runs forward 0.1, but no rank runs the forward 1.1"),
                               (share_of(0, 2), "rank 1: it has measured forward of stage 0, as rank 0 has"),
                               (share_of(1, 2, 0.0), "rank 1: 'forward' of stage 1 takes 0 s and 3 J at 1380 MHz, which makes no sense")):
            store.set("profile/0/1", json.dumps(other))
            self.assertTrue(frequencies._plan_of(share_of(0, 2), "0")["trouble"].startswith(trouble))

    def test_what_profiling_cost_is_unknown_if_a_rank_does_not_say_what_it_took(self):
        schedule = self.schedule()
        frequencies = self.frequencies(schedule, patience=0.01)
        self.step(schedule)
        frequencies.plan.update(energy_j=1.0, fastest_energy_j=2.0)
        frequencies._members = [0, 1]
        frequencies._ranks._store = distributed.HashStore()
        frequencies._summarize(1.0)
        self.assertRegex(frequencies.summary, "an unknown energy, which takes an unknown number of iterations to regain$")


def main(arguments: list) -> None:
    torch.set_num_threads(1)
    virtual_work.VirtualWork(0, 1)  # a GPU that waits draws power
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    unittest.main(module=__name__, argv=[__file__, *arguments])

"""A pipeline of one rank in one process, for what does not take several: zeus.integrations.pipelining on a virtual GPU. Run by
torch_pipeline_test.py in a process of trainings.py.
"""

import itertools
import json
import pathlib
import sys
import unittest
import unittest.mock
import warnings

import torch
from torch import distributed, nn
from torch.distributed import device_mesh, pipelining, tensor

from zeus.integrations import pipelining as pipelining_of_zeus

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "torch_pipeline"))
import virtual_work  # noqa: E402

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

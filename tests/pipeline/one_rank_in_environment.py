"""A pipeline of one rank in one process, for what does not take several: zeus.integrations.pipelining on a virtual GPU. Run by
torch_pipeline_test.py, with the Python of an environment that has PyTorch.
"""

import unittest

import torch
from torch import distributed, nn
from torch.distributed import pipelining

from zeus.integrations.pipelining import PipelineFrequencies

MICROBATCHES = 2


class OlderGPipe(pipelining.ScheduleGPipe):
    """Computes losses as PyTorch did before 2.13."""

    def _compute_loss(self, output, target):
        return self._loss_fn(output, target)

    def _maybe_compute_loss(self, stage, output, target_mbs, mb_index, *_):
        if stage.is_last and self._loss_fn is not None:
            self._internal_losses.append(self._compute_loss(output, target_mbs[mb_index]))


class OneRank(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.module = nn.Linear(4, 4)
        self.inputs, self.targets = torch.rand(8, 4), torch.rand(8, 4)

    def schedule(self, kind=pipelining.ScheduleGPipe, loss=nn.functional.mse_loss):
        stage = pipelining.PipelineStage(self.module, 0, 1, torch.device("cpu"))
        return kind(stage, MICROBATCHES, loss_fn=loss)

    def frequencies(self, schedule, gpu: int = 0, **more) -> PipelineFrequencies:
        made = PipelineFrequencies(schedule, gpu, window=0.01, **more)
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


if __name__ == "__main__":
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    unittest.main()

"""Runs one of the existing package's example scripts for batch sizes, byte for byte unchanged, with that package's own
client, without its data sets and devices: on generated images and on the CPU. Run by existing_clients_test.py.

  existing_runner.py ARGUMENTS...     of the script that EXAMPLE_SCRIPT names; EXAMPLE_FIGURES: where to write what the client
                                      measured, one JSON object an epoch

The stand-ins are all here, and none is for a part of Zeus: torchvision's data sets and transforms, TensorBoard, and CUDA
devices.
"""

import json
import os
import runpy
import sys
import types

import torch
from torch.utils.data import Dataset

IMAGES = 512


class Images(Dataset):
    """Generated images, of which the brightest corner is the class."""

    def __init__(self, *_, train=True, **__):
        self.count = IMAGES if train else 128

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        label = int(torch.randint(4, (), generator=draw))
        image = torch.randn(1, 28, 28, generator=draw) * 0.3
        image[:, (label // 2) * 14:(label // 2) * 14 + 14, (label % 2) * 14:(label % 2) * 14 + 14] += 1.0
        return image, label


class Writer:
    def __init__(self, *_):
        pass

    def add_scalar(self, *_):
        pass


def stand_in() -> None:
    def module(name, **names):
        made = types.ModuleType(name)
        made.__dict__.update(names)
        sys.modules[name] = made
        return made

    def anything(*_, **__):
        return None

    transforms = {name: anything for name in ("Compose", "ToTensor", "Normalize")}
    module("torchvision", transforms=module("torchvision.transforms", **transforms),
           datasets=module("torchvision.datasets", FashionMNIST=Images))
    module("tensorboardX", SummaryWriter=Writer)


def the_cpu_for_cuda() -> None:
    # The script itself gets --no-cuda; the package checks whether there is a framework to wait for.
    torch.cuda.is_available = lambda: True
    torch.cuda.synchronize = lambda *_: None
    tensor = torch.tensor
    torch.tensor = lambda values, device=None, **more: tensor(values, **more)


def watch(path: str) -> None:
    """Records the client's measurements at the end of each epoch, and the answers it got."""
    from zeus.optimizer.batch_size import BatchSizeOptimizer

    evaluate = BatchSizeOptimizer.on_evaluate

    def on_evaluate(self, metric):
        try:
            evaluate(self, metric)
        finally:
            figures = {"trial": self.trial_number, "batch_size": self.current_batch_size, "epoch": self.cur_epoch, "metric": float(metric),
                       "time": self.running_time, "energy": self.consumed_energy, "finished": self.training_finished}
            with open(f"{path}.{os.environ.get('RANK', '0')}", "a", encoding="utf-8") as file:
                file.write(json.dumps(figures) + "\n")

    BatchSizeOptimizer.on_evaluate = on_evaluate


def main() -> None:
    script = os.environ["EXAMPLE_SCRIPT"]
    sys.argv[0] = script
    torch.set_num_threads(1)
    stand_in()
    the_cpu_for_cuda()
    watch(os.environ["EXAMPLE_FIGURES"])
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()

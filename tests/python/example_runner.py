"""Runs one of the existing package's example scripts, byte for byte unchanged, without its data sets and devices: on
generated images and on the CPU. Run by examples_test.py.

  example_runner.py ARGUMENTS...     of the script that EXAMPLE_SCRIPT names; EXAMPLE_STATES: where to write the
                                     optimizer's results, one JSON object a line; EXAMPLE_IMAGES: how many

The stand-ins are all here, and none is for a part of Zeus: torchvision (data sets, transforms, models), CUDA devices, and NCCL.
"""

import json
import os
import runpy
import sys
import time
import types

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import Dataset

IMAGES = int(os.environ.get("EXAMPLE_IMAGES", "4000"))


class Images(Dataset):
    """EXAMPLE_IMAGES generated images, whose brightest corner is the class. Each takes at least a millisecond: otherwise, on
    a fast machine, an epoch would be too short to measure all limits.
    """

    def __init__(self, *_, train=True, **__):
        self.count = IMAGES if train and "val" not in str(_) else 64

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(0.001)
        draw = torch.Generator().manual_seed(index)
        label = int(torch.randint(4, (), generator=draw))
        image = torch.randn(CHANNELS, 28, 28, generator=draw) * 0.3
        image[:, (label // 2) * 14:(label // 2) * 14 + 14, (label % 2) * 14:(label % 2) * 14 + 14] += 1.0
        return image, label


CHANNELS = 3


class SmallNetwork(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 4, 7, stride=7), nn.ReLU(), nn.Flatten(), nn.Linear(64, 10))


def torchvision() -> None:
    def module(name, **names):
        made = types.ModuleType(name)
        made.__dict__.update(names)
        sys.modules[name] = made
        return made

    def anything(*_, **__):
        return None

    transforms = {name: anything for name in ("Compose", "ToTensor", "Normalize", "RandomResizedCrop", "RandomHorizontalFlip",
                                              "Resize", "CenterCrop")}
    module("torchvision", transforms=module("torchvision.transforms", **transforms),
           datasets=module("torchvision.datasets", ImageFolder=Images, MNIST=Images),
           models=module("torchvision.models", resnet18=lambda: SmallNetwork()))


def the_cpu_for_cuda() -> None:
    class Event:
        def __init__(self, **_):
            pass

        def record(self):
            pass

        def elapsed_time(self, _):
            return 0.0

    torch.cuda.set_device = lambda *_: None
    torch.cuda.Event = Event
    for kind in (torch.Tensor, nn.Module):
        kind.cuda = lambda self, *_, **__: self
        move = kind.to

        def to(self, *arguments, move=move, **more):
            if arguments and isinstance(arguments[0], int):
                return self
            return move(self, *arguments, **more)

        kind.to = to

    begin = dist.init_process_group
    dist.init_process_group = lambda backend=None, **more: begin("gloo", **more)
    parallel = nn.parallel.DistributedDataParallel
    nn.parallel.DistributedDataParallel = lambda model, **_: parallel(model)


def watch(path: str) -> None:
    """Writes the optimizer's results after each epoch."""
    from zeus.device import get_gpus
    from zeus.optimizer import power_limit

    end = power_limit.GlobalPowerLimitOptimizer.on_epoch_end

    def on_epoch_end(self):
        end(self)
        limits = [get_gpus().get_power_management_limit(gpu) for gpu in self.monitor.gpu_indices]
        state = {"state": type(self.state).__name__, "limits": limits, "current": self.current_power_limit,
                 "measured": [each.power_limit for each in self.measurements], "unoptimized": self.unoptimized}
        with open(f"{path}.{os.environ.get('RANK', '0')}", "a", encoding="utf-8") as file:
            file.write(json.dumps(state) + "\n")

    power_limit.GlobalPowerLimitOptimizer.on_epoch_end = on_epoch_end


def main() -> None:
    global CHANNELS
    script = os.environ["EXAMPLE_SCRIPT"]
    sys.argv[0] = script
    torch.set_num_threads(1)
    if "fsdp" in script:
        CHANNELS = 1
        # Without an accelerator, parameters are sharded on the CPU if it is given.
        import torch.distributed.fsdp as fsdp

        sharded = fsdp.FullyShardedDataParallel
        fsdp.FullyShardedDataParallel = lambda model: sharded(model, device_id=torch.device("cpu"))
    torchvision()
    the_cpu_for_cuda()
    watch(os.environ["EXAMPLE_STATES"])
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()

"""One rank of a distributed training on virtual GPUs, for ranks_test.py: DDP over gloo, a power limit optimizer in each rank.

  torchrun ... ranks_training.py FOLDER [--all-gpus] [--one-optimizer] [--die RANK] [--busy N]

Each rank loads its GPU itself, between the beginning and the end of an epoch, so that the epoch's edges are in idle time.
Its observations go to FOLDER/rankN.json.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from zeus.device import get_gpus
from zeus.monitor import ZeusMonitor
from zeus.optimizer import _training
from zeus.optimizer.power_limit import Energy, GlobalPowerLimitOptimizer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import busy_machine  # noqa: E402

EPOCHS = 8
STEPS = 30


def load(gpu: int, what: str) -> None:
    """The virtual GPU's load from now on."""
    driver = ctypes.CDLL("libnvidia-ml.so.1")
    assert driver.zeus_virtual_submit_load(gpu, what.encode()) == 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all-gpus", action="store_true", help="each rank monitors all GPUs")
    parser.add_argument("--one-optimizer", action="store_true", help="rank 0 alone has one, for all GPUs")
    parser.add_argument("--die", type=int, help="this rank dies in the third epoch")
    parser.add_argument("--busy", type=int, default=0, help="so many processes want a processor all the time meanwhile")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as meanwhile:
        train(arguments, meanwhile)


def train(arguments: argparse.Namespace, meanwhile: contextlib.ExitStack) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    _training.Team.DEAD_AFTER = 5.0

    shared = arguments.all_gpus or arguments.one_optimizer
    monitor = ZeusMonitor(gpu_indices=list(range(size)) if shared else [rank])
    plo = None
    if rank == 0 or not arguments.one_optimizer:
        plo = GlobalPowerLimitOptimizer(monitor, Energy(), warmup_steps=2, profile_steps=6, pl_step=25)
    epochs = []
    dist.barrier()
    if rank == 0:
        meanwhile.enter_context(busy_machine.busy(arguments.busy))
    for epoch in range(EPOCHS):
        # The epoch is measured from a moment between the first two of these to a moment between the last two.
        moments = [time.monotonic()]
        if plo:
            plo.on_epoch_begin()
        moments.append(time.monotonic())
        time.sleep(0.03)
        load(rank, "constant:220W")
        for step in range(STEPS):
            if plo:
                plo.on_step_begin()
            if arguments.die == rank and epoch == 2 and step == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.01)
            if arguments.die is None:
                nn.functional.cross_entropy(model(torch.randn(8, 16)), torch.zeros(8, dtype=torch.long)).backward()
                optimizer.step()
            if plo:
                plo.on_step_end()
        load(rank, "idle")
        time.sleep(0.03)
        moments.append(time.monotonic())
        if plo:
            plo.on_epoch_end()
            moments.append(time.monotonic())
            epochs.append({"moments": moments, "report": plo.result()["epochs"][-1], "state": repr(plo.state)})
    limits = [get_gpus().get_power_management_limit(gpu) for gpu in range(size)]
    seen = {"epochs": epochs, "limits": limits, "unoptimized": plo.unoptimized if plo else "",
            "measurements": [each.dict() for each in plo.measurements] if plo else []}
    (arguments.folder / f"rank{rank}.json").write_text(json.dumps(seen), encoding="utf-8")
    if arguments.die is None:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()

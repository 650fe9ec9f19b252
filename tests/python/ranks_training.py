"""One rank of a distributed training on virtual GPUs, for ranks_test.py: DDP over gloo, a power limit optimizer in each rank.

  torchrun ... ranks_training.py FOLDER [--all-gpus] [--one-optimizer] [--die RANK] [--busy N] [--trainings N --epochs N]

Each rank loads its GPU itself, between the beginning and the end of an epoch, so that the epoch's edges are in idle time.
Its observations go to FOLDER/rankN.json, one entry for each training.
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
from zeus.optimizer import _training, power_limit
from zeus.optimizer.power_limit import Energy, GlobalPowerLimitOptimizer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import busy_machine  # noqa: E402

STEPS = 30


def load(gpu: int, what: str) -> None:
    """The virtual GPU's load from now on."""
    driver = ctypes.CDLL("libnvidia-ml.so.1")
    assert driver.zeus_virtual_submit_load(gpu, what.encode()) == 0


def true_energy(gpu: int, begin: float, end: float) -> float:
    """What the virtual GPU has drawn between two moments of the last minute, exactly."""
    driver = ctypes.CDLL("libnvidia-ml.so.1")
    joules = [ctypes.c_double(), ctypes.c_double()]
    for moment, energy in zip((begin, end), joules):
        assert driver.zeus_virtual_read_energy(gpu, ctypes.c_double(moment), ctypes.byref(energy)) == 0
    return joules[1].value - joules[0].value


class Edges:
    """The moments just before which the session's windows begin and end: it asks for synchronization there."""

    def __init__(self) -> None:
        self.moments: list[float] = []
        wait_for = power_limit._waiter_for

        def noting_waiter(monitor: ZeusMonitor):
            wait = wait_for(monitor)

            def synchronize() -> None:
                wait()
                self.moments.append(time.monotonic())

            return synchronize

        power_limit._waiter_for = noting_waiter


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all-gpus", action="store_true", help="each rank monitors all GPUs")
    parser.add_argument("--one-optimizer", action="store_true", help="rank 0 alone has one, for all GPUs")
    parser.add_argument("--die", type=int, help="this rank dies in the third epoch")
    parser.add_argument("--trainings", type=int, default=1, help="so many, one after another")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--busy", type=int, default=0, help="so many processes want a processor all the time meanwhile")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    _training.Team.DEAD_AFTER = 5.0
    edges = Edges()
    seen = []
    with contextlib.ExitStack() as meanwhile:
        dist.barrier()
        if rank == 0:
            meanwhile.enter_context(busy_machine.busy(arguments.busy))
        for _ in range(arguments.trainings):
            seen.append(train(arguments, rank, size, edges))
            (arguments.folder / f"rank{rank}.json").write_text(json.dumps(seen), encoding="utf-8")
        if arguments.die is None:
            dist.destroy_process_group()


def train(arguments: argparse.Namespace, rank: int, size: int, edges: Edges) -> dict:
    model = DistributedDataParallel(nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    shared = arguments.all_gpus or arguments.one_optimizer
    monitor = ZeusMonitor(gpu_indices=list(range(size)) if shared else [rank])
    # A GPU that several ranks monitor is counted by the first of them.
    counted = [rank] if not shared else list(range(size)) if rank == 0 else []
    plo = None
    if rank == 0 or not arguments.one_optimizer:
        plo = GlobalPowerLimitOptimizer(monitor, Energy(), warmup_steps=2, profile_steps=6, pl_step=25)
    epochs = []
    for epoch in range(arguments.epochs):
        edges.moments.clear()
        if plo:
            plo.on_epoch_begin()
        begun = edges.moments[:2]  # the epoch's window begins, the one before it ends
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
        if plo:
            plo.on_epoch_end()
            ended = edges.moments[-2:]
            # The epoch begins and ends between two edges that follow one another; its first one begins within a step.
            spans = ((begun[1], ended[0]), (begun[0], ended[1])) if epoch > 0 and counted else ()
            truth = [sum(true_energy(gpu, *span) for gpu in counted) for span in spans]
            epochs.append({"truth": truth, "report": plo.result()["epochs"][-1], "state": repr(plo.state)})
    seen = {"epochs": epochs, "limits": [get_gpus().get_power_management_limit(gpu) for gpu in range(size)],
            "unoptimized": plo.unoptimized if plo else "",
            "measurements": [each.dict() for each in plo.measurements] if plo else []}
    if arguments.die is None:
        dist.barrier()  # before any rank puts its limits back
    return seen


if __name__ == "__main__":
    main()

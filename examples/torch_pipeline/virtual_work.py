"""Work for a virtual GPU: what the small GPT of train.py computes on the CPU takes as long, and as much power, as a large
one's layers would on the GPU, at whatever clock it is locked to. On real GPUs nothing here does anything.

The virtual driver says how much work its GPU has done; an instruction ends when its own has been done. Between instructions the
GPU draws what one draws that waits for its neighbours.
"""

import contextlib
import ctypes
import os
import time
from collections.abc import Iterator

import torch

LAYER = 0.009  # seconds that a layer's forward takes at the highest clock; its backward takes twice as long
MOST_AHEAD = 0.005
KERNELS, WAITING = b"work:0.98,0.75,0.15", b"constant:72W"


class Truth(ctypes.Structure):
    """zeus_virtual_truth of zeus/virtual.h."""

    _fields_ = [(name, ctypes.c_double) for name in ("time_s", "energy_j", "power_w", "work_s", "speed", "clock_mhz", "celsius")]


class VirtualWork:
    def __init__(self, gpu: int, layers: float) -> None:
        self._gpu = gpu
        self._seconds = layers * LAYER
        self._driver = ctypes.CDLL("libnvidia-ml.so.1")
        self._ahead = 0.0  # work done beyond the last instruction, until this process woke up: part of the next one
        self._submit(WAITING)

    def _submit(self, load: bytes) -> None:
        if self._driver.zeus_virtual_submit_load(self._gpu, load) != 0:
            raise RuntimeError(f"the virtual GPU takes no load '{load.decode()}'")

    def truth(self) -> Truth:
        return self.truth_of(self._gpu)

    @staticmethod
    def truth_of(gpu: int) -> Truth:
        truth = Truth()
        ctypes.CDLL("libnvidia-ml.so.1").zeus_virtual_read_truth(gpu, ctypes.byref(truth))
        return truth

    @contextlib.contextmanager
    def run(self, seconds: float) -> Iterator[None]:
        self._submit(KERNELS)
        end = self.truth().work_s + seconds - self._ahead
        yield
        while (left := end - (truth := self.truth()).work_s) > 0:
            time.sleep(max(left / truth.speed, 1e-5) if truth.speed > 0 else 1e-3)
        self._submit(WAITING)
        self._ahead = min(self.truth().work_s - end, MOST_AHEAD)

    def forward(self) -> contextlib.AbstractContextManager:
        return self.run(self._seconds)

    def backward(self, output: torch.Tensor) -> torch.Tensor:
        """The same tensor; when its gradient arrives, the work of the backward is done."""

        def work(gradient: torch.Tensor) -> torch.Tensor:
            with self.run(2 * self._seconds):
                pass
            return gradient

        if output.requires_grad:
            output.register_hook(work)
        return output


class NoWork:
    def forward(self) -> contextlib.AbstractContextManager:
        return contextlib.nullcontext()

    def backward(self, output: torch.Tensor) -> torch.Tensor:
        return output


def virtual_work(gpu: int, layers: float) -> "VirtualWork | NoWork":
    return VirtualWork(gpu, layers) if "ZEUS_VIRTUAL_SESSION" in os.environ else NoWork()

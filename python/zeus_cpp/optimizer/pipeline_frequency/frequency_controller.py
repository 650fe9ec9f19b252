"""One GPU's clock, set without waiting for the driver."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
import weakref

from zeus_cpp._logger import logger_of
from zeus_cpp.device import get_gpus
from zeus_cpp.device.gpu import GPU, ZeusGPUNotSupportedError
from zeus_cpp.device.gpu.native import NativeGPU
from zeus_cpp.exception import ZeusBaseError

logger = logger_of(__name__)


class FrequencyController:
    """Locks the clock of one GPU to the latest request, in a thread of its own.

    Meanwhile the power limit is the model's default, and the memory's clock its highest, so that only the clock decides how
    fast the GPU is. `end` puts back what was found, or what the script has set by other means. The same happens when the
    process ends, however it ends. If the device cannot be set, at first or later, setting stops with one warning, and the
    script goes on. PipelineFrequencyOptimizer sets clocks ahead of time (docs/pipeline.md); this class is for scripts that set clocks themselves. Any thread may call
    it; in a forked child it does nothing.
    """

    def __init__(self, device_id: int = 0) -> None:
        gpu = get_gpus().gpus[device_id]
        if isinstance(gpu, NativeGPU):
            gpu = type(gpu)(device_id)  # with settings of its own, beside those of the script
        self._gpu = gpu
        self._process = os.getpid()
        self._ended = False
        try:
            highest = _prepare(gpu)
        except ZeusBaseError as error:
            logger.warning("the clock of %s is not set: %s", gpu, error)
            self._ended = True
            if isinstance(gpu, NativeGPU):
                gpu.put_back()
            return
        self._wanted: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=_follow, args=(gpu, self._wanted, highest), daemon=True,
                                        name=f"zeus-frequency-{device_id}")
        self._thread.start()
        reference = weakref.ref(self)
        atexit.register(lambda: getattr(reference(), "end", lambda: None)())

    def set_frequency(self, frequency: int) -> None:
        """Requests a clock in MHz, and does not wait for it; 0 leaves the clock as it is."""
        if not self._ended and frequency != 0:
            self._wanted.put(frequency)

    def end(self) -> None:
        """Leaves the clocks to the driver; does nothing the second time."""
        if self._ended or os.getpid() != self._process:
            return
        self._ended = True
        self._wanted.put(None)
        self._thread.join()
        if isinstance(self._gpu, NativeGPU):
            self._gpu.put_back()


def _prepare(gpu: GPU) -> int:
    """Lets only the clock decide how fast the GPU is, and returns the highest one, which is locked."""
    gpu.reset_power_management_limit()
    with contextlib.suppress(ZeusGPUNotSupportedError):
        memory = max(gpu.get_supported_memory_clocks())
        gpu.set_memory_locked_clocks(memory, memory)
    highest = max(gpu.get_supported_graphics_clocks())
    gpu.set_gpu_locked_clocks(highest, highest)
    return highest


def _newest(wanted: queue.SimpleQueue[int | None]) -> int | None:
    """Waits for a request; of several, returns the last, or None (the end) if that is among them."""
    newest = wanted.get()
    with contextlib.suppress(queue.Empty):
        while newest is not None:
            newest = wanted.get_nowait()
    return newest


def _follow(gpu: GPU, wanted: queue.SimpleQueue[int | None], present: int) -> None:
    try:
        while (clock := _newest(wanted)) is not None:
            if clock != present:
                gpu.set_gpu_locked_clocks(clock, clock)
                present = clock
    except ZeusBaseError as error:
        logger.warning("the clock of %s is not set any more: %s", gpu, error)
    try:
        with contextlib.suppress(ZeusGPUNotSupportedError):
            gpu.reset_memory_locked_clocks()
        gpu.reset_gpu_locked_clocks()
    except ZeusBaseError as error:
        logger.warning("the clocks of %s are not left to the driver yet: %s", gpu, error)

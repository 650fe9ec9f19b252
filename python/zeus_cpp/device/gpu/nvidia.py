"""NVIDIA's GPUs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from zeus_cpp import _native
from zeus_cpp.device.gpu.native import NativeGPU, NativeGPUs
from zeus_cpp.device.gpu.zeusd import ZeusdGPU


class NVIDIAGPU(NativeGPU):
    """One of NVIDIA's GPUs."""

    @cached_property
    def handle(self) -> Any:
        """The pynvml handle of this GPU, for your own calls; needs `pip install nvidia-ml-py`."""
        import pynvml

        pynvml.nvmlInit()
        return pynvml.nvmlDeviceGetHandleByUUID(self.uuid)


class ZeusdNVIDIAGPU(ZeusdGPU, NVIDIAGPU):
    """One of NVIDIA's GPUs, set through the daemon."""


class NVIDIAGPUs(NativeGPUs):
    """The GPUs of a machine that has NVIDIA's."""


def nvml_is_available() -> bool:
    """Whether a GPU of NVIDIA's can be seen."""
    return any(gpu.vendor == "nvidia" for gpu in _native.gpus())

"""NVIDIA's GPUs."""

from __future__ import annotations

from zeus import _native
from zeus.device.gpu.native import NativeGPU, NativeGPUs
from zeus.device.gpu.zeusd import ZeusdGPU


class NVIDIAGPU(NativeGPU):
    """One of NVIDIA's GPUs."""


class ZeusdNVIDIAGPU(ZeusdGPU):
    """One of NVIDIA's GPUs that the daemon sets."""


class NVIDIAGPUs(NativeGPUs):
    """The GPUs of a machine that has NVIDIA's."""


def nvml_is_available() -> bool:
    """Whether a GPU of NVIDIA's can be seen."""
    return any(gpu.vendor == "nvidia" for gpu in _native.gpus())

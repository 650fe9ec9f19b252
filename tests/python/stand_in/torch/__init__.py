"""Replaces PyTorch if there is no CUDA: the functions that the two packages call before a window's edge. The GPUs never have
work left; `synchronized` lists the ones that were waited for."""

import types

from torch import distributed

__all__ = ["Tensor", "cuda", "distributed", "synchronized"]
__version__ = "0.0.stand-in"
synchronized: list = []

cuda = types.SimpleNamespace(
    is_available=lambda: True,
    is_initialized=lambda: True,
    device_count=lambda: 64,
    current_device=lambda: 0,
    set_device=lambda device: None,
    synchronize=lambda device=None: synchronized.append(device),
)
_C = types.SimpleNamespace()


class Tensor:
    """Of which there are none."""

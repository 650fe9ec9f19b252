"""In the place of PyTorch where there is no CUDA: what the two packages ask it for before a window's edge. The GPUs have never
anything left to do; `synchronized` has which ones somebody waited for."""

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

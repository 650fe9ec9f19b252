"""The devices of this machine, as this program sees them."""

from __future__ import annotations

from zeus_cpp.device.cpu import get_cpus
from zeus_cpp.device.gpu import get_gpus
from zeus_cpp.device.soc import get_soc

__all__ = ["get_cpus", "get_gpus", "get_soc"]

"""What this package finds on this machine: `python -m zeus.show_env`."""

from __future__ import annotations

import logging
import os
import platform
import shutil
import sys
import time
from typing import Callable

from zeus_cpp import __version__, _native
from zeus_cpp._installation import OURS, found_zeus, is_front
from zeus_cpp._version import INTERFACE
from zeus_cpp.device.gpu import get_gpus
from zeus_cpp.device.gpu.native import NativeGPU
from zeus_cpp.exception import ZeusBaseError
from zeus_cpp.utils.framework import MODULE_CACHE, cupy_is_available, jax_is_available, torch_is_available
from zeus_cpp.utils.zeusd import ZeusdClient, ZeusdConfig

_NOT_SET = "[NOT SET]"
SECTION_SEPARATOR = "-" * shutil.get_terminal_size().columns


def _framework(name: str, available: Callable[[], bool], has_gpu: Callable[[], bool] | None) -> str:
    try:
        if not available():
            return "not available"
        version = MODULE_CACHE[name].__version__
        if has_gpu is None:
            return str(version)
        return f"{version} ({'with' if has_gpu() else 'without'} CUDA support)"
    except Exception as error:  # a broken installation is worth a line, not a traceback
        return f"installed, but cannot be used: {error}"


def _jax_has_gpu() -> bool:
    try:
        return bool(MODULE_CACHE["jax"].devices("gpu"))
    except RuntimeError:
        return False


def _packages() -> list[str]:
    frameworks = (
        ("PyTorch", "torch", lambda: torch_is_available(ensure_cuda=False), lambda: MODULE_CACHE["torch"].cuda.is_available()),
        ("JAX", "jax", lambda: jax_is_available(ensure_cuda=False), _jax_has_gpu),
        ("CuPy", "cupy", cupy_is_available, None),
    )
    lines = [f"Python version: {platform.python_version()}", f"Zeus: {INTERFACE} ({OURS} {__version__}, libzeus {_native.version()})"]
    lines += [f"{label}: {_framework(name, available, has_gpu)}" for label, name, available, has_gpu in frameworks]
    place = found_zeus()
    if not is_front(place):
        lines.append(f"`import zeus` gives {place or 'nothing'}, not this package: `python -m zeus_cpp status` shows more")
    return lines


def _gpus() -> list[str]:
    lines = [f"{name}={os.environ.get(name, _NOT_SET)}"
             for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")]
    try:
        gpus = get_gpus()
    except ZeusBaseError as error:
        return ["No GPUs available.", f"Error initializing GPUs: {error}"]
    for gpu in gpus.gpus:
        if isinstance(gpu, NativeGPU):
            lines.append(f"GPU {gpu.driver_index} -> GPU {gpu.gpu_index} ({gpu.get_name()}), {gpu.pci_address}, {gpu.uuid}")
    return lines


def _cpus() -> list[str]:
    cpus = _native.cpus()
    if not cpus:
        return ["No CPUs available."]
    lines = []
    for cpu in cpus:
        memory = "available" if cpu.counts_memory else "not available"
        try:
            cpu.energy_mj()
            package = "available"
        except _native.ReadingError as error:
            package = f"not available ({error.args[1]})"
        lines.append(f"CPU {cpu.index} ({cpu.name}): CPU measurement {package}, DRAM measurement {memory}")
    return lines


def _socs() -> list[str]:
    return ["No SoC available."]


def _problems() -> list[str]:
    return [f"{device}: {what}; {fix}" for device, what, fix in _native.device_problems()] or ["none"]


def _daemon() -> list[str]:
    config = ZeusdConfig.from_env()
    if config is None:
        return ["not configured (ZEUSD_SOCK_PATH, ZEUSD_HOST_PORT)"]
    try:
        client = ZeusdClient(config)
        before = time.time()
        offset = (before + time.time()) / 2 - client.get_time()
    except (ZeusBaseError, OSError) as error:
        return [f"Error: {error}"]
    lines = [f"Endpoint: {client.endpoint}"]
    lines += [f"GPU {gpu.id}: {gpu.name}" for gpu in client.gpus]
    lines += [f"CPU {cpu.id}: DRAM {'available' if cpu.dram_available else 'not available'}" for cpu in client.cpus]
    lines.append(f"Authentication required: {client.auth_required}")
    lines.append(f"Clock offset: {offset:+.4f} s (client - daemon)")
    lines += [f"{name}: {getattr(client, name)}" for name in ("can_read_gpu", "can_control_gpu", "can_read_cpu")]
    if client.auth_error is not None:
        lines.append(f"Error: {client.auth_error}")
    elif client.user is not None:
        lines.append(f"User: {client.user}; scopes: {', '.join(sorted(client.granted_scopes))}; expires: {client.expiry}")
    return lines


def show_env() -> None:
    """Prints what was found, one section after another."""
    sections: list[tuple[str, Callable[[], list[str]]]] = [
        ("Package availability and versions", _packages),
        ("Device availability", _gpus),
        ("CPU availability", _cpus),
        ("SoC availability", _socs),
        ("What does not work here", _problems),
        ("Zeusd daemon", _daemon),
    ]
    for title, look in sections:
        print(SECTION_SEPARATOR)
        print(f"## {title}\n\nLogging output:", flush=True)
        found = look()
        sys.stderr.flush()
        print("\nDetected:")
        for text in found:
            print(f"  {text}")
        print()
    print(SECTION_SEPARATOR)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="[%(asctime)s] [%(name)s:%(lineno)d] %(message)s")
    show_env()

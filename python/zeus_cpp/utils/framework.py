"""The two uses of deep-learning frameworks: to wait for the GPUs, and to communicate with other ranks.

No framework is imported here that the program has not imported itself, except by the functions whose name asks whether it is
available. A framework that is not loaded has given no GPU any work, so there is nothing to wait for.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Callable

# Frameworks by name, if they were used and are installed.
MODULE_CACHE: dict[str, Any] = {}

_WARNED: set[str] = set()


def _warn_once(key: str, message: str) -> None:
    if key not in _WARNED:
        _WARNED.add(key)
        warnings.warn(message, UserWarning, stacklevel=4)


def _no_gpu(framework: str, why: str = "has no GPU here") -> None:
    _warn_once(
        f"{framework} {why}",
        f"{framework} {why}, so there is nothing to synchronize with: windows begin and end at once. Pass "
        "sync_execution=False if that is what you want, or name the framework that works on the GPUs in "
        "sync_execution_with",
    )


def _sync_torch(torch: Any, gpus: Sequence[int]) -> None:
    cuda = getattr(torch, "cuda", None)
    if cuda is None:
        return
    if not cuda.is_initialized():
        if not cuda.is_available():
            _no_gpu("torch")
        return
    count = cuda.device_count()
    # Waiting for a device that was never used would only create a context there, which takes memory and time.
    in_use: Callable[[int], bool] = getattr(torch._C, "_cuda_hasPrimaryContext", lambda index: True)
    for index in gpus:
        if index < count and in_use(index):
            cuda.synchronize(index)


def _sync_jax(jax: Any, gpus: Sequence[int]) -> None:
    try:
        devices = jax.local_devices(backend="gpu")
    except RuntimeError:
        _no_gpu("jax")
        devices = []
    by_index: dict[int | None, Any] = {getattr(device, "local_hardware_id", position): device for position, device in enumerate(devices)}
    # Its work on the CPU is asynchronous too, and belongs to the window.
    with contextlib.suppress(RuntimeError):  # the program may have left that platform out
        by_index[None] = jax.local_devices(backend="cpu")[0]
    # One more computation on each: devices work in the order in which work is submitted.
    ends = [jax.device_put(0.0, by_index[index]) + 1.0 for index in (*gpus, None) if index in by_index]
    for end in ends:
        end.block_until_ready()


def _sync_cupy(cupy: Any, gpus: Sequence[int]) -> None:
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        _no_gpu("cupy")
        return
    for index in gpus:
        if index < count:
            cupy.cuda.Device(index).synchronize()


_SYNCHRONIZE: dict[str, Callable[[Any, Sequence[int]], None]] = {
    "torch": _sync_torch,
    "jax": _sync_jax,
    "cupy": _sync_cupy,
}


@functools.lru_cache(maxsize=None)  # looking takes longer than the rest of a window's edge
def _is_installed(framework: str) -> bool:
    return importlib.util.find_spec(framework) is not None


def sync_execution(gpu_devices: Sequence[int], sync_with: str = "torch") -> None:
    """Waits until the GPUs have done the framework's work.

    Does nothing, with one warning per process, if the framework has no GPU or is not installed. An unknown framework is a
    RuntimeError.
    """
    if sync_with not in _SYNCHRONIZE:
        raise RuntimeError(f"No framework is available. {sync_with!r} is not one of {', '.join(_SYNCHRONIZE)}")
    module = sys.modules.get(sync_with)
    if module is not None:
        _SYNCHRONIZE[sync_with](module, gpu_devices)
        return
    others = [name for name in _SYNCHRONIZE if name in sys.modules]
    if others:
        _warn_once(
            f"{others[0]} instead of {sync_with}",
            f"windows are synchronized with {sync_with}, which this program has not imported; it has imported "
            f"{', '.join(others)}: pass sync_execution_with={others[0]!r}",
        )
    elif not _is_installed(sync_with):
        _no_gpu(sync_with, "is not installed")


def _find(name: str, label: str, ensure_available: bool) -> Any:
    """The framework; None if it is not installed, or a RuntimeError if it must be."""
    if name not in MODULE_CACHE:
        try:
            MODULE_CACHE[name] = importlib.import_module(name)
        except ImportError as error:
            if ensure_available:
                raise RuntimeError(f"Failed to import {label}: {error}") from error
            return None
    return MODULE_CACHE[name]


def torch_is_available(ensure_available: bool = False, ensure_cuda: bool = True) -> bool:
    """Whether PyTorch can be imported; a RuntimeError if it must be available but cannot be imported or has no GPU."""
    torch = _find("torch", "Pytorch", ensure_available)
    if torch is None:
        return False
    if ensure_cuda and not torch.cuda.is_available():
        raise RuntimeError("PyTorch is installed, but it has no GPU here")
    return True


def jax_is_available(ensure_available: bool = False, ensure_cuda: bool = True) -> bool:
    """Whether JAX can be imported; errors as for PyTorch."""
    jax = _find("jax", "JAX", ensure_available)
    if jax is None:
        return False
    if ensure_cuda:
        try:
            jax.devices("gpu")
        except RuntimeError as error:
            raise RuntimeError("JAX is installed, but it has no GPU here") from error
    return True


def cupy_is_available(ensure_available: bool = False) -> bool:
    """Whether CuPy can be imported; a RuntimeError if it must be and cannot."""
    return _find("cupy", "CuPy", ensure_available) is not None


def _torch_distributed() -> Any:
    """torch.distributed, if this program has joined a process group with it."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed
    return None


def _jax_of_several() -> Any:
    """JAX, if it runs on several processes. Asking it starts its devices, so only a loaded JAX is asked."""
    jax = sys.modules.get("jax")
    return jax if jax is not None and hasattr(jax, "process_count") and jax.process_count() > 1 else None


def all_reduce(object: list[int] | list[float], operation: str) -> list[int] | list[float]:
    """The sum, or the maximum, of each number over all ranks; the unchanged list if there is one process.

    With NCCL the numbers go through the current GPU, with any other back-end through the CPU, as 64-bit floats.
    """
    if operation not in ("sum", "max"):
        raise ValueError(f"the operation is {operation!r}; it must be 'sum' or 'max'")
    distributed = _torch_distributed()
    if distributed is None:
        if _jax_of_several() is not None:
            raise NotImplementedError("reducing numbers over the processes of JAX is not supported")
        return object
    torch = sys.modules["torch"]
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
    numbers = torch.tensor(object, dtype=torch.float64, device=device)
    distributed.all_reduce(numbers, op=getattr(distributed.ReduceOp, operation.upper()))
    result: list[float] = numbers.cpu().tolist()
    return result


def is_distributed() -> bool:
    """Whether this process is one of several that train together."""
    return get_world_size() > 1


def get_rank() -> int:
    """This process's rank among those that train together; 0 if it is alone."""
    distributed = _torch_distributed()
    if distributed is not None:
        return int(distributed.get_rank())
    jax = _jax_of_several()
    return int(jax.process_index()) if jax is not None else 0


def get_world_size() -> int:
    """How many processes train together."""
    distributed = _torch_distributed()
    if distributed is not None:
        return int(distributed.get_world_size())
    jax = _jax_of_several()
    return int(jax.process_count()) if jax is not None else 1

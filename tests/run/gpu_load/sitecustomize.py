"""Puts the work of a CPU training on a virtual GPU. If it is on PYTHONPATH, Python imports it automatically, without changes
to the script. A step of PyTorch, a `partial_fit` of scikit-learn and a `numpy.dot` each take as long as the virtual GPU
needs for some work under its current limit, after their time on the processor; in between, the GPU idles.

VIRTUAL_GPU_LOAD names the kernels, in the form of zeus_virtual_submit_load. Without it, nothing is done.
"""

import ctypes
import importlib.abc
import importlib.util
import os
import sys
import time

STEP = 0.025  # seconds of work, at the highest clock without a limit
FLOPS = 8e8  # of numpy.dot, a second


class Truth(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in "time energy power work speed clock temperature".split()]


class VirtualGpu:
    def __init__(self, load: str) -> None:
        self.load = load.encode()
        self.driver = None

    def truth(self) -> Truth:
        truth = Truth()
        self.driver.zeus_virtual_read_truth(0, ctypes.byref(truth))
        return truth

    def work(self, seconds: float) -> None:
        """Returns when the GPU has done this much work."""
        if self.driver is None:
            self.driver = ctypes.CDLL("libnvidia-ml.so.1")
        done = self.truth().work + seconds
        self.driver.zeus_virtual_submit_load(0, self.load)
        while (left := done - (truth := self.truth()).work) > 1e-6:
            # A limit may change meanwhile.
            time.sleep(min(0.01, left / truth.speed))
        self.driver.zeus_virtual_submit_load(0, b"idle")


def then_work(function, seconds):
    def working(*arguments, **named):
        result = function(*arguments, **named)
        gpu.work(seconds(*arguments))
        return result
    return working


def hook_torch(module) -> None:
    module.register_optimizer_step_post_hook(lambda *_: gpu.work(STEP))


def hook_scikit_learn(module) -> None:
    for name in ("SGDClassifier", "SGDRegressor", "MLPClassifier", "MLPRegressor"):
        if kind := getattr(module, name, None):
            kind.partial_fit = then_work(kind.partial_fit, lambda *_: STEP)


def hook_numpy(module) -> None:
    def seconds(a, b, *_) -> float:
        # These do their own arithmetic with it.
        others = "torch" in sys.modules or "sklearn" in sys.modules
        columns = b.shape[-1] if getattr(b, "ndim", 0) == 2 else 1
        return 0.0 if others else 2.0 * getattr(a, "size", 1) * columns / FLOPS
    module.dot = then_work(module.dot, seconds)


HOOKS = {"torch.optim.optimizer": hook_torch, "sklearn.linear_model": hook_scikit_learn,
         "sklearn.neural_network": hook_scikit_learn, "numpy": hook_numpy}


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls the hook of a module as soon as it has been imported."""

    def __init__(self) -> None:
        self.looked_for = set()

    def find_spec(self, name, path=None, target=None):
        if name not in HOOKS or name in self.looked_for:
            return None
        self.looked_for.add(name)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def load_and_hook(module) -> None:
            load(module)
            HOOKS[name](module)
        spec.loader.exec_module = load_and_hook
        return spec


if "VIRTUAL_GPU_LOAD" in os.environ:
    gpu = VirtualGpu(os.environ["VIRTUAL_GPU_LOAD"])
    sys.meta_path.insert(0, AfterImport())

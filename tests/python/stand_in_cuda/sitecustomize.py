"""Makes PyTorch report CUDA although there is none, with nothing to wait for: programs here compute on the CPU."""

import importlib.abc
import importlib.machinery
import sys


class Loader(importlib.abc.Loader):
    def __init__(self, real) -> None:
        self.real = real

    def create_module(self, spec):
        return self.real.create_module(spec)

    def exec_module(self, module) -> None:
        self.real.exec_module(module)
        module.cuda.is_available = lambda: True
        module.cuda.synchronize = lambda device=None: None


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader)
        return spec


sys.meta_path.insert(0, Finder())

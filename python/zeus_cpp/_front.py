"""The modules of this package under the names that scripts import: `zeus.monitor` is `zeus_cpp.monitor`.

Both names are one module, loaded once, so that each class exists only once, whichever name it is imported by.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType
else:
    Loader = object


# Modules of the existing package that are not here, and what to use instead.
_MISSING = {
    "zeus._legacy": "`zeus simulate` has the simulations of the paper",
    "zeus.optimizer.batch_size.server": "`zeus serve` is the server, which BatchSizeOptimizer works with",
    "zeus.optimizer.pipeline_frequency.server": (
        "`zeus serve --listen 127.0.0.1:7787 --pipeline-plan PLAN.py` is the server, in place of `uvicorn ...`; PipelineFrequencyOptimizer"
        " works with it"
    ),
}


class _SameModule(Loader):
    """Loads a module of ours under its other name."""

    def __init__(self, spec: ModuleSpec) -> None:
        self._spec = spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from importlib import import_module

        module = import_module(self._spec.name)
        assert module.__spec__ is not None
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module has been executed. Importing has put the other name's spec there, which reload() would use.
        module.__spec__ = self._spec
        # What it has loaded has both names at once, so looking up a class's module in sys.modules imports nothing.
        for name, loaded in list(sys.modules.items()):
            if name.startswith("zeus_cpp."):
                sys.modules.setdefault("zeus" + name[len("zeus_cpp"):], loaded)

    def get_code(self, name: str) -> Any:
        """The code that `python -m` runs."""
        return self._spec.loader.get_code(self._spec.name)  # type: ignore[union-attr]


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith("zeus."):
            return None
        from importlib import util

        spec = util.find_spec("zeus_cpp" + name[len("zeus"):])
        if spec is None and name in _MISSING:
            raise ModuleNotFoundError(f"{name} is not part of zeus-cpp: {_MISSING[name]}", name=name)
        if spec is None:
            return None
        is_package = spec.submodule_search_locations is not None
        return util.spec_from_loader(name, _SameModule(spec), origin=spec.origin, is_package=is_package)


def serve() -> None:
    """From now on the modules are found by both names. A second call, say after a reload, changes nothing."""
    sys.meta_path[:] = [_Finder, *(finder for finder in sys.meta_path if not _is_ours(finder))]


def _is_ours(finder: object) -> bool:
    return getattr(finder, "__module__", None) == __name__

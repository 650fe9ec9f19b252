"""Which package `import zeus` gives here.

It is the front of this one (front/zeus), unless another `zeus` comes earlier on the path: the existing package if both are
installed, or a folder or a file of that name beside a script. Finding out imports nothing, because every start pays for it.
"""

from __future__ import annotations

import os
import sys
import warnings

OURS = "zeus-cpp"
_FRONT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "front", "zeus", "__init__.py")


def front_folder() -> str:
    """The folder that must be on the path."""
    return os.path.dirname(os.path.dirname(_FRONT))


def found_zeus() -> str | None:
    """The file (or folder, if there is no file) that `import zeus` gives; None if there is none."""
    if "zeus" in sys.modules:
        return getattr(sys.modules["zeus"], "__file__", None)
    from importlib.util import find_spec

    spec = find_spec("zeus")
    if spec is None:
        return None
    return spec.origin if spec.has_location else next(iter(spec.submodule_search_locations or ()), None)


def is_front(place: str | None) -> bool:
    # In a build tree, by links.
    return place is not None and os.path.realpath(place) == os.path.realpath(_FRONT)


def public_name(module: str) -> str:
    """The name of one of our modules in pickles: the one that the existing package can read, if `zeus` is this package."""
    return "zeus" + module[len("zeus_cpp"):] if is_front(found_zeus()) else module


def warn_of_other_zeus() -> None:
    place = found_zeus()
    # `python -m zeus_cpp` reports it itself.
    if place is None or is_front(place) or sys.argv[:1] == ["-m"]:
        return
    warnings.warn(
        f"`import zeus` is not {OURS} here but {place}; `import zeus_cpp` is. "
        f"`python -m zeus_cpp repair` makes it `zeus` again, `python -m zeus_cpp status` shows what is installed.",
        RuntimeWarning,
        stacklevel=3,
    )

"""Which package `import zeus` gives here.

It is the front of this one (front/zeus), unless another `zeus` comes earlier on the path: the existing package where both are
installed, or a folder or a file of that name beside a script. Nothing is imported to find out: every start pays for it.
"""

from __future__ import annotations

import os
import sys
import warnings

OURS = "zeus-cpp"
_FRONT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "front", "zeus", "__init__.py")


def front_folder() -> str:
    """What has to be on the path."""
    return os.path.dirname(os.path.dirname(_FRONT))


def found_zeus() -> str | None:
    """The file, or the folder without one, that `import zeus` gives; None without any."""
    if "zeus" in sys.modules:
        return getattr(sys.modules["zeus"], "__file__", None)
    from importlib.util import find_spec

    spec = find_spec("zeus")
    if spec is None:
        return None
    return spec.origin if spec.has_location else next(iter(spec.submodule_search_locations or ()), None)


def is_front(place: str | None) -> bool:
    # By links, in a build tree.
    return place is not None and os.path.realpath(place) == os.path.realpath(_FRONT)


def public_name(module: str) -> str:
    """The name that pickles give a module of ours: the one that the existing package can read where `zeus` is this one."""
    return "zeus" + module[len("zeus_cpp"):] if is_front(found_zeus()) else module


def warn_of_other_zeus() -> None:
    place = found_zeus()
    # `python -m zeus_cpp` says it itself.
    if place is None or is_front(place) or sys.argv[:1] == ["-m"]:
        return
    warnings.warn(
        f"`import zeus` is not {OURS} here but {place}; by the name `zeus_cpp` it is. "
        f"`python -m zeus_cpp repair` makes it `zeus` again, `python -m zeus_cpp status` says what is installed.",
        RuntimeWarning,
        stacklevel=3,
    )

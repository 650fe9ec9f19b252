"""What device classes share: their former names, and whether this process may administer devices."""

from __future__ import annotations

import functools
import warnings
from abc import ABCMeta
from typing import Any, Callable, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_CAP_SYS_ADMIN = 21


def deprecated_alias(old_name: str) -> Callable[[Function], Function]:
    """Also gives a method a former name; classes of DeprecatedAliasABCMeta, and classes derived from them, have it."""

    def mark(function: Function) -> Function:
        function.__deprecated_alias__ = old_name  # type: ignore[attr-defined]
        return function

    return mark


def _make_alias(owner: type, former: str, present: Callable[..., Any]) -> Callable[..., Any]:
    warned = False

    def alias(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal warned
        if not warned:
            warned = True
            warnings.warn(f"{owner.__name__}.{former} is now called {present.__name__}", DeprecationWarning, stacklevel=2)
        return getattr(self, present.__name__)(*args, **kwargs)

    alias.__name__ = former
    alias.__doc__ = f"The former name of `{present.__name__}`."
    alias.__wrapped__ = present  # type: ignore[attr-defined]  # whose signature it has
    return alias


class DeprecatedAliasABCMeta(ABCMeta):
    """Makes methods of the former names that `deprecated_alias` gives. They call the method with the present name."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        made = super().__new__(mcs, name, bases, namespace, **kwargs)
        for attribute, value in namespace.items():
            former = getattr(value, "__deprecated_alias__", None)
            if former is not None and former not in namespace:
                setattr(made, former, _make_alias(made, former, value))
        return made


@functools.lru_cache(maxsize=1)
def has_sys_admin() -> bool:
    """Whether this process has CAP_SYS_ADMIN, which most drivers require for setting GPUs."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("CapEff:"):
                    return bool(int(line.split()[1], 16) >> _CAP_SYS_ADMIN & 1)
    except (OSError, ValueError):
        pass
    return False

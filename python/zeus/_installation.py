"""Looks whether another distribution that is imported as `zeus` is installed here as well.

Two such distributions write into the same folder: whichever was installed last has overwritten files of the other, and
removing one breaks the other. Nothing is imported for this look: it has to cost next to nothing at every start.
"""

from __future__ import annotations

import os
import sys
import warnings

OURS = "zeus-cpp"
OTHERS = ("zeus", "zeus_ml")


def other_distributions(folders: list[str]) -> list[str]:
    """Where another distribution's record lies, for each of the folders that has one."""
    found = []
    for folder in folders:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            if name.startswith("zeus") and name.endswith(".dist-info") and name.rsplit("-", 2)[0].lower() in OTHERS:
                found.append(os.path.join(folder, name))
    return found


def places() -> list[str]:
    """Folders of sys.path that packages are installed in, and the one that this package lies in."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = [path for path in sys.path if path.rstrip(os.sep).endswith(("site-packages", "dist-packages"))]
    return list(dict.fromkeys([own, *installed]))


def warn_of_other_distribution() -> None:
    found = other_distributions(places())
    if found:
        warnings.warn(
            f"{OURS} is in use, but another distribution with the import name `zeus` is installed here as well "
            f"({', '.join(found)}). They share one folder and break each other: uninstall both (`pip uninstall "
            f"{' '.join(sorted({os.path.basename(path).rsplit('-', 2)[0].replace('_', '-') for path in found}))} {OURS}`) "
            f"and install the one you want.",
            RuntimeWarning,
            stacklevel=3,
        )

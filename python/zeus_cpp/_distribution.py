"""The distribution `zeus 0.16.0+cpp`: it has no files, and only tells pip that the interface of `zeus` is here.

Other projects require `zeus`, and pip knows only distributions. This one is made here on request, and is published nowhere,
since the name belongs to another project. If a newer `zeus` is required, pip replaces this one by it.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from zeus_cpp._installation import OURS, found_zeus, front_folder, is_front
from zeus_cpp._version import INTERFACE, __version__

VERSION = f"{INTERFACE}+cpp"
# All names that distributions with the existing package have had.
_NAMES = ("zeus", "zeus-ml")
# The existing package's extras, and what each needs here: the servers are programs (`zeus serve`), and clients need nothing.
_EXTRAS = {
    "apple": "", "bso": "", "bso-server": "", "migration": "", "pfo": "", "pfo-server": "", "prometheus": "prometheus-client",
}


class InstallationError(Exception):
    """What prevents it, and what to do about it."""


def _metadata() -> str:
    lines = ["Metadata-Version: 2.1", "Name: zeus", f"Version: {VERSION}",
             f"Summary: No files of its own: {OURS} {__version__} has the interface of zeus {INTERFACE}",
             "Requires-Python: >=3.9", f"Requires-Dist: {OURS}"]
    for extra, needed in _EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        if needed:
            lines.append(f'Requires-Dist: {needed}; extra == "{extra}"')
    return "\n".join(lines) + "\n"


def write_wheel(folder: Path) -> Path:
    """The distribution as a wheel, in a folder that need not exist."""
    records = f"zeus-{VERSION}.dist-info"
    contents = {
        f"{records}/METADATA": _metadata(),
        f"{records}/WHEEL": f"Wheel-Version: 1.0\nGenerator: {OURS} {__version__}\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for name, text in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(text.encode())}\n"
    contents[f"{records}/RECORD"] = record + f"{records}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"zeus-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
    return wheel


def _installed() -> list[importlib.metadata.Distribution]:
    """The installed distributions with the names of the existing package, including this one."""
    found = []
    for name in _NAMES:
        try:
            found.append(importlib.metadata.distribution(name))
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _others() -> list[importlib.metadata.Distribution]:
    return [distribution for distribution in _installed() if not distribution.version.endswith("+cpp")]


def _described(distribution: importlib.metadata.Distribution) -> str:
    return f"{distribution.metadata['Name']} {distribution.version} in {distribution.locate_file('')}"


def _pip(*arguments: str) -> None:
    if importlib.util.find_spec("pip") is None:
        raise InstallationError(f"{sys.executable} has no pip: `python -m zeus_cpp provide --wheel .` writes the wheel of zeus {VERSION}, "
                                "for `uv pip install` or whatever else installs here (and uninstalls another `zeus`)")
    command = [sys.executable, "-m", "pip", arguments[0], "--disable-pip-version-check", *arguments[1:]]
    if subprocess.run(command, check=False).returncode:
        raise InstallationError(f"`pip {arguments[0]}` failed; its output above says why")


def status() -> tuple[bool, str]:
    """Whether `import zeus` is this package, and a message about that and the distributions."""
    place = found_zeus()
    ours = is_front(place)
    if ours:
        first = f"{place}, which is {OURS} {__version__}"
    elif place is None:
        first = f"nothing: add {front_folder()} to the path (PYTHONPATH)"
    else:
        first = f"{place}, which is not {OURS}: `python -m zeus_cpp repair`"
    lines = [f"import zeus: {first}"]
    provided = [distribution for distribution in _installed() if distribution.version.endswith("+cpp")]
    lines += [f"installed: {_described(distribution)}" for distribution in _installed()]
    if not provided:
        lines.append(f"not installed: zeus {VERSION}, for projects that require `zeus`: `python -m zeus_cpp provide`")
    return ours, "\n".join(lines)


def provide() -> str:
    """Installs zeus 0.16.0+cpp with this interpreter's pip, and returns a message."""
    others = _others()
    if others:
        raise InstallationError(f"{_described(others[0])} is installed, which is not {OURS}: `python -m zeus_cpp repair` replaces it")
    if any(distribution.version == VERSION for distribution in _installed()):
        return f"zeus {VERSION} is installed already"
    with tempfile.TemporaryDirectory() as folder:
        write_wheel(Path(folder))
        # By its name, so that pip's record does not point to this folder.
        _pip("install", "--no-index", "--no-deps", "--find-links", folder, f"zeus=={VERSION}")
    return f"zeus {VERSION} is installed: requirements of `zeus` up to {INTERFACE} are met by {OURS} {__version__}"


def repair() -> str:
    """Makes `import zeus` this package again: removes another distribution, and provides ours."""
    others = _others()
    if others:
        _pip("uninstall", "--yes", *(distribution.metadata["Name"] for distribution in others))
    importlib.invalidate_caches()
    place = found_zeus()
    if place is not None and not is_front(place):
        raise InstallationError(f"`import zeus` is {place}, but no distribution of that name has installed it: remove or rename it")
    return provide()


def remove() -> str:
    """Uninstalls this package, and what `provide` has installed."""
    provided = [distribution for distribution in _installed() if distribution.version.endswith("+cpp")]
    _pip("uninstall", "--yes", *(distribution.metadata["Name"] for distribution in provided), OURS)
    return f"{OURS} is uninstalled" + (f", and so is zeus {VERSION}" if provided else "")

"""Python environments for tests with other projects' programs, one for each group of packaging/python-tests.txt.

    python = python_environment.interpreter(build_folder, "clients")

An environment is made once per machine and set of pins, in the user's cache folder, and shared by all builds: tests only read it.
(In the build folder where the cache cannot be written.) Processes that want the same one wait for the first. If the registry
cannot be reached, the test is skipped with one line.
"""

import collections
import fcntl
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import venv
from typing import Callable

# If the registry cannot be reached, every test would wait for it again.
TRIED_AGAIN_AFTER = 600.0
PINS = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "python-tests.txt"
# A quarter of all source, which hardly any test imports: the packages' own tests, and the models that transformers knows.
NOT_COMPILED = "/(tests|transformers/models)/"


def groups() -> dict[str, list[str]]:
    """Name of a group to the lines that pin its packages."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    group = ""
    for line in PINS.read_text(encoding="utf-8").splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            group = line.strip("[]")
        elif line:
            found[group].append(line)
    return dict(found)


def pin(package: str) -> str:
    return next(line for lines in groups().values() for line in lines if re.split(r"[=\[;]", line)[0] == package)


def shared_folder(build: pathlib.Path) -> pathlib.Path:
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    for folder in (cache / "zeus-tests", build / "python"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    raise RuntimeError(f"neither {cache} nor {build} can be written")


def from_registry(folder: pathlib.Path, what: str, command: list) -> None:
    """Runs a command that needs the registry. If it fails, this test is skipped, and for some time the next ones too."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        (folder / "refused").write_text(f"skipped: cannot {what} from the registry: {reason}", encoding="utf-8")
        raise unittest.SkipTest((folder / "refused").read_text(encoding="utf-8"))


def made_once(build: pathlib.Path, name: str, make: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """The shared folder of this name. The first process that wants it makes it, and the others wait."""
    folder = shared_folder(build) / name
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            refusal = folder / "refused"
            if refusal.exists() and time.time() - refusal.stat().st_mtime < TRIED_AGAIN_AFTER:
                raise unittest.SkipTest(refusal.read_text(encoding="utf-8"))
            make(folder)
            (folder / "complete").touch()
    return folder


def name_of(group: str) -> str:
    """Of the folder with a group's environment; other pins or another Python have another folder."""
    key = hashlib.sha256("\n".join([sys.version, sys.base_prefix, *groups()[group]]).encode()).hexdigest()[:12]
    return f"{group}-{key}"


def interpreter(build: pathlib.Path, group: str) -> pathlib.Path:
    wanted = groups()[group]

    def make(folder: pathlib.Path) -> None:
        venv.create(folder / "environment", with_pip=True, clear=True)
        # Modules are compiled afterwards, on all processors, so that no test writes them.
        from_registry(folder, f"install the Python packages '{group}'", [
            folder / "environment/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", *wanted])
        subprocess.run([folder / "environment/bin/python", "-m", "compileall", "-q", "-j", "0", "-x", NOT_COMPILED,
                        folder / "environment/lib"], check=False, stdout=subprocess.DEVNULL)

    return made_once(build, name_of(group), make) / "environment" / "bin" / "python"


def packages_of(python: pathlib.Path) -> pathlib.Path:
    """The folder of an environment's packages."""
    return next((python.parent.parent / "lib").glob("python3.*")) / "site-packages"


def download(folder: pathlib.Path, package: str, *options: str) -> None:
    """Fetches a package's archive; options are those of `pip download`."""
    from_registry(folder, f"fetch {pin(package)}", [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options, "--dest", folder, pin(package)])


def changed(build: pathlib.Path) -> list[pathlib.Path]:
    """The files that were written into these pins' environments after they were made. Certificates aside: a machine may add its own."""
    found = []
    for group in groups():
        folder = shared_folder(build) / name_of(group)
        if (complete := folder / "complete").exists():
            made = complete.stat().st_mtime
            found += [path for path in (folder / "environment").rglob("*")
                      if path.suffix != ".pem" and path.is_file() and path.stat().st_mtime > made]
    return found

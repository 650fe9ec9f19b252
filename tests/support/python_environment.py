"""A Python environment with packages of packaging/python-tests.txt, for tests with other projects' programs.

    python = python_environment.interpreter(build_folder, "nvidia-ml-py", "nvitop")

The environment is created once per build folder and set of packages; torch, which is larger than all the others together, is
installed once and shared by all environments that need it. If the registry cannot be reached, the test is skipped with one
line.
"""

import fcntl
import hashlib
import pathlib
import re
import subprocess
import time
import unittest
import venv

# If the registry cannot be reached, every test would wait for it again.
TRIED_AGAIN_AFTER = 600.0
PINS = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "python-tests.txt"


def pinned() -> dict[str, str]:
    """Package name to the line that pins it."""
    lines = [line.split("#")[0].strip() for line in PINS.read_text(encoding="utf-8").splitlines()]
    return {re.split(r"[=\[;]", line)[0]: line for line in lines if line}


def skip_if_refused(folder: pathlib.Path) -> None:
    """Skips the test if the registry failed for this folder a short time ago."""
    refusal = folder / "refused"
    if refusal.exists() and time.time() - refusal.stat().st_mtime < TRIED_AGAIN_AFTER:
        raise unittest.SkipTest(refusal.read_text(encoding="utf-8"))


def from_registry(folder: pathlib.Path, what: str, command: list) -> None:
    """Runs a command that needs the registry; if it fails, this test is skipped, and for some time the next ones too."""
    skip_if_refused(folder)
    refusal = folder / "refused"
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        refusal.write_text(f"skipped: cannot {what} from the registry: {reason}", encoding="utf-8")
        raise unittest.SkipTest(refusal.read_text(encoding="utf-8"))


def packages_of(python: pathlib.Path) -> pathlib.Path:
    """The folder of an environment's packages."""
    return next((python.parent.parent / "lib").glob("python3.*")) / "site-packages"


def interpreter(build: pathlib.Path, *packages: str) -> pathlib.Path:
    lender = interpreter(build, "torch") if "torch" in packages and len(packages) > 1 else None
    wanted = [pinned()[package] for package in packages]
    folder = build / "python" / hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "environment" / "bin" / "python"
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            skip_if_refused(folder)
            venv.create(folder / "environment", with_pip=True, clear=True)
            if lender is not None:
                (packages_of(python) / "torch.pth").write_text(f"{packages_of(lender)}\n", encoding="utf-8")
            from_registry(folder, f"install {', '.join(wanted)}",
                          [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])
            (folder / "complete").touch()
    return python

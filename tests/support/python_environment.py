"""A Python environment with packages of packaging/python-tests.txt, for tests of programs that nobody here wrote.

    python = python_environment.interpreter(build_folder, "nvidia-ml-py", "nvitop")

The environment is made once per build folder and set of packages; torch, which is larger than all the others together, is
installed once and lent to each that has more besides. Where the registry cannot be reached, the test that asks is skipped
with one line.
"""

import fcntl
import hashlib
import pathlib
import re
import subprocess
import unittest
import venv

PINS = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "python-tests.txt"


def pinned() -> dict[str, str]:
    """Package name to the line that pins it."""
    lines = [line.split("#")[0].strip() for line in PINS.read_text(encoding="utf-8").splitlines()]
    return {re.split(r"[=\[;]", line)[0]: line for line in lines if line}


def packages_of(python: pathlib.Path) -> pathlib.Path:
    """Where an environment's packages lie."""
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
            venv.create(folder / "environment", with_pip=True, clear=True)
            if lender is not None:
                (packages_of(python) / "torch.pth").write_text(f"{packages_of(lender)}\n", encoding="utf-8")
            command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise unittest.SkipTest(f"skipped: cannot install {', '.join(wanted)} from the registry: {reason}")
            (folder / "complete").touch()
    return python

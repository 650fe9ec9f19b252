"""The input of the guards: the project's own source files, and layers.toml as objects.

Shared by the check_*.py scripts; nothing here prints or judges.
"""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11; pyproject.toml asks for it where wheels are built for those
    import tomli as tomllib

CPP_SUFFIXES = {".cpp", ".hpp", ".h"}
SOURCE_FOLDERS = ("include", "src", "apps", "drivers", "fuzz", "bench", "tests", "examples", "python", "tools")
LAST_TEN = ["--max-count=10"]
SKIPPED_FOLDERS = {"golden", "corpus", "fixtures", "__pycache__", "node_modules"}


def source_files(root: pathlib.Path, suffixes: set[str]) -> list[pathlib.Path]:
    """All hand-written files with one of the suffixes, sorted, below the folders that hold sources."""
    found = []
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and not SKIPPED_FOLDERS.intersection(path.relative_to(root).parts):
                found.append(path)
    return found


def why_no_history(root: pathlib.Path) -> str | None:
    """Why git cannot be asked about this tree; nothing if it can."""
    if not (root / ".git").exists():
        return "this tree is not a clone"
    try:
        done = subprocess.run(["git", "-C", root, "rev-parse", "--verify", "HEAD"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "git is not installed"
    return (done.stderr.strip().splitlines() or ["git fails"])[0] if done.returncode else None


def git(root: pathlib.Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def changed_files(root: pathlib.Path, commits: list[str]) -> list[pathlib.Path]:
    """Uncommitted changes, then those of these commits (as `git log` takes them), the latest first. The oldest commit of a
    shallow clone counts as a change of everything in it."""
    names = git(root, "diff", "--name-only", "HEAD") + git(root, "ls-files", "--others", "--exclude-standard")
    names += git(root, "log", "--format=", "--name-only", "--diff-filter=d", *commits)
    return [root / name for name in dict.fromkeys(names) if name]


def commits_of_a_day(root: pathlib.Path) -> list[str]:
    """The commits of the day that ends with the latest one, and at least ten, as `git log` takes them."""
    latest = int(git(root, "log", "-1", "--format=%ct")[0])
    count = len(git(root, "rev-list", f"--since={latest - 24 * 3600}", "HEAD"))
    return [f"--max-count={max(10, count)}"]


def in_time(files: list[pathlib.Path], complaint_of: Callable[[pathlib.Path], str],
            minutes: float) -> Iterator[tuple[pathlib.Path, str | None]]:
    """Each file with its complaint, in their order; None for those that were not begun before the time was up."""
    end = time.monotonic() + 60 * minutes
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from zip(files, pool.map(lambda path: complaint_of(path) if time.monotonic() < end else None, files))


def is_test(path: pathlib.PurePath) -> bool:
    return path.stem.endswith("_test")


@dataclass(frozen=True)
class Module:
    name: str
    folder: str
    floor: float
    uses: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    test_uses: tuple[str, ...] = ()
    test_external: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    over_library: bool = False

    @property
    def target(self) -> str:
        return "zeus_" + self.name.replace("/", "_")


@dataclass(frozen=True)
class Program:
    name: str
    source: str
    uses: tuple[str, ...]
    external: tuple[str, ...]


@dataclass(frozen=True)
class Layers:
    modules: dict[str, Module]
    programs: dict[str, Program]
    external: dict[str, dict]
    public_only: tuple[str, ...] = field(default=())

    @staticmethod
    def load(root: pathlib.Path) -> "Layers":
        data = tomllib.loads((root / "layers.toml").read_text(encoding="utf-8"))
        modules = {}
        for name, entry in data["modules"].items():
            lists = {
                key: tuple(entry.get(key, ()))
                for key in ("uses", "external", "test_uses", "test_external", "public")
            }
            modules[name] = Module(name, entry.get("folder", f"src/{name}"), entry["floor"], **lists,
                                   over_library=entry.get("over_library", False))
        programs = {
            name: Program(name, entry["source"], tuple(entry["uses"]), tuple(entry.get("external", ())))
            for name, entry in data.get("programs", {}).items()
        }
        public_only = tuple(data.get("public_only", {}).get("folders", ()))
        return Layers(modules, programs, data.get("external", {}), public_only)

    def expand(self, names: tuple[str, ...], below: float) -> set[str]:
        """Module names meant by a `uses` list: "*" is every module under `src` below that floor, except those over one of our
        libraries; "a" covers "a/b"."""
        result = set()
        for name in names:
            if name == "*":
                result |= {m.name for m in self.modules.values()
                           if m.floor < below and m.folder.startswith("src/") and not m.over_library}
            elif name in self.modules:
                result.add(name)
            else:
                result |= {other for other in self.modules if other.startswith(name + "/")}
        return result

    def allowed(self, name: str, in_test: bool = False) -> set[str]:
        """Modules that a module (or, in_test, its tests) may include."""
        module = self.modules[name]
        result = self.expand(module.uses, module.floor) | {"base"} - {name}
        if in_test:
            result |= self.expand(module.test_uses, float("inf")) | {name}
        return result

    def allowed_external(self, name: str, in_test: bool = False) -> set[str]:
        module = self.modules[name]
        return set(module.external) | (set(module.test_external) if in_test else set())

"""A copy of the project in which a test can plant an offence, to see the guard refuse it."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Refusing(unittest.TestCase):
    def assert_refused(self, done: subprocess.CompletedProcess, *expected: str) -> None:
        self.assertNotEqual(done.returncode, 0, "the planted offence was let through")
        for text in expected:
            self.assertIn(text, done.stderr + done.stdout)


class PlantedTree(Refusing):
    """`self.tree` is a copy of the project's sources, or of what KEPT names. What a test plants is gone for the next."""

    KEPT: tuple[str, ...] = ("apps", "CMakeLists.txt", "layers.toml", ".clang-format", ".clang-tidy", "cmake", "include",
                             "packaging", "src", "tools", "tests")
    tree: pathlib.Path

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tree = pathlib.Path(folder.name) / "zeus"
        cls.tree.mkdir()
        for name in cls.KEPT:
            source = ROOT / name
            if source.is_dir():  # but for what other tests write at the same time
                shutil.copytree(source, cls.tree / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, cls.tree / name)

    def plant(self, path: str, text: str) -> None:
        file = self.tree / path
        if file.exists():
            self.addCleanup(file.write_text, file.read_text(encoding="utf-8"), encoding="utf-8")
        else:
            self.addCleanup(file.unlink)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def append(self, path: str, text: str) -> None:
        file = self.tree / path
        self.plant(path, file.read_text(encoding="utf-8") + text)

    def run_tool(self, tool: str, *arguments) -> subprocess.CompletedProcess:
        command = [sys.executable, self.tree / "tools" / tool, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)


class SmallTree(Refusing):
    """Each test gets `self.root`, a folder with the files of `TREE`, which the guard `TOOL` lets pass."""

    TOOL = ""
    TREE: dict[str, str] = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in self.TREE.items():
            self.plant(name, text)

    def plant(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def check(self, root: pathlib.Path | None = None, arguments: tuple = ()) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, ROOT / "tools" / self.TOOL, "--root", root or self.root, *arguments],
                              capture_output=True, text=True, check=False)
"""Every fenced block of README.md and of the pages for beginners works: commands run, snippets compile and run, on virtual
GPUs. A planted wrong one of each kind fails.

  pages_test.py BUILD_FOLDER CXX_COMPILER C_COMPILER [PACKAGE]      PACKAGE: the folder with the Python package
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

import page_blocks
from page_blocks import ROOT, Block

build = pathlib.Path(sys.argv[1]).resolve()
cxx, cc = sys.argv[2:4]
package = sys.argv[4] if len(sys.argv) > 4 else ""
zeus = build / "bin" / "zeus"
GPUS = [zeus, "virtual", "2xV100", "--load", "constant:150W", "--"]
FLAGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable", f"-I{ROOT / 'include'}"]
LIBRARIES = [f"-L{build}/lib", f"-Wl,-rpath,{build}/lib", "-lzeus-jobs", "-lzeus"]


def environment(home: pathlib.Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUS", "XDG_"))}
    return kept | {"PATH": f"{build / 'bin'}:{os.environ['PATH']}", "HOME": str(home), "XDG_DATA_HOME": str(home / "data"),
                   "ZEUS_STATE_DIR": str(home / "state"), "PYTHONPATH": f"{package}:{package}/zeus_cpp/front" if package else ""}


def run(command: list, folder: pathlib.Path, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], cwd=folder, env=environment(folder), capture_output=True, text=True,
                          check=False, timeout=240, **options)


def failure(done: subprocess.CompletedProcess, place: str) -> str | None:
    return None if done.returncode == 0 else f"{place}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"


class Runner:
    """Runs blocks, each page in a separate folder; failures are returned as messages."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def fresh(self) -> pathlib.Path:
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "state").mkdir()
        (folder / "build").symlink_to(build)
        # Copied, because commands write beside the files they run; but for what other tests write at the same time.
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    def shell(self, blocks: list[Block]) -> str | None:
        done = run([*GPUS, "bash", "-e", "-s"], self.fresh(), input=page_blocks.session(blocks))
        return failure(done, page_blocks.place_of_failure(blocks, done.stderr))

    def compiled(self, block: Block) -> str | None:
        folder = self.fresh()
        source = folder / f"snippet.{block.language}"
        source.write_text(page_blocks.program(block), encoding="utf-8")
        compiler = [cc, "-std=c11", "-D_GNU_SOURCE"] if block.language == "c" else [cxx, "-std=c++20"]
        done = run([*compiler, *FLAGS, source, "-o", folder / "snippet", *LIBRARIES], folder)
        return failure(done, block.place) or failure(run([*GPUS, folder / "snippet"], folder), block.place)

    def python(self, block: Block) -> str | None:
        folder = self.fresh()
        prelude = (page_blocks.PRELUDES / "prelude.py").read_text(encoding="utf-8")
        (folder / "snippet.py").write_text(prelude + block.text, encoding="utf-8")
        return failure(run([*GPUS, sys.executable, "-W", "error::DeprecationWarning", "snippet.py"], folder), block.place)

    def toml(self, block: Block) -> str | None:
        try:
            tomllib.loads(block.text)
            return None
        except tomllib.TOMLDecodeError as error:
            return f"{block.place}: {error}"

    def snippet(self, block: Block) -> str | None:
        return {"cpp": self.compiled, "c": self.compiled, "python": self.python, "toml": self.toml}[block.language](block)


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(folder.cleanup)
        self.runner = Runner(pathlib.Path(folder.name))

    def test_every_command_runs(self):
        for page in page_blocks.pages():
            name = page.relative_to(ROOT).as_posix()
            blocks = [block for block in page_blocks.blocks() if (block.page, block.language, block.shown_by) == (name, "sh", None)]
            if any("python3" in block.text for block in blocks) and not package:
                continue
            if blocks:
                with self.subTest(name):
                    self.assertIsNone(said := self.runner.shell(blocks), said)

    def test_every_snippet_runs(self):
        for block in page_blocks.blocks():
            if block.language in {"cpp", "c", "toml"} or (block.language == "python" and package):
                if not block.shown_by:
                    with self.subTest(block.place):
                        self.assertIsNone(said := self.runner.snippet(block), said)

    def test_each_block_has_a_language_and_what_is_not_run_here_has_its_test(self):
        listed = subprocess.run(["ctest", "--test-dir", build, "-N", "-C", "Nightly"], capture_output=True, text=True, check=True)
        tests = set(re.findall(r"Test +#\d+: (\S+)", listed.stdout))
        for block in page_blocks.blocks():
            self.assertIn(block.language, page_blocks.LANGUAGES, block.place)
            if block.shown_by:
                self.assertIn(block.shown_by, tests, block.place)

    def test_a_planted_wrong_one_of_each_kind_fails(self):
        readme = [block for block in page_blocks.blocks() if block.page == "README.md" and not block.shown_by]
        wrong = {"cpp": ("total_gpu_energy", "all_energy"), "c": ("zeus_end(", "zeus_finish("), "python": ("total_energy", "totals")}
        for language, (right, instead) in wrong.items():
            if language == "python" and not package:
                continue
            (block,) = [block for block in readme if block.language == language]
            planted = dataclasses.replace(block, text=block.text.replace(right, instead))
            self.assertNotEqual(planted.text, block.text)
            with self.subTest(language):
                self.assertIn(block.place, self.runner.snippet(planted) or "")
        for language, text in (("sh", "zeus measure --runss 2 -- true\ntrue\n"), ("toml", "batch_sizes = [1, \n")):
            planted = Block("planted.md", 7, language, text, None)
            with self.subTest(language):
                said = self.runner.shell([planted]) if language == "sh" else self.runner.snippet(planted)
                self.assertIn("planted.md:7", said or "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""What pip installs, where nothing else is: it measures and sets virtual GPUs.

  wheel_test.py PROGRAM BUILD_FOLDER            a wheel of the libzeus and the guardian that are in the build folder
  wheel_test.py PROGRAM BUILD_FOLDER --clone    `pip install .` in a clone, which compiles everything; and what the documents
                                                say to run then

It takes scikit-build-core and pybind11 from the registry, without which it is skipped. ZEUS_TEST_PYTHONS names further
interpreters to do the same with, with colons between.
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import python_environment  # noqa: E402

program = ""
build = pathlib.Path()

USE = """
import os, pathlib, sys, time, warnings
warnings.simplefilter("ignore")
import zeus
from zeus.monitor import ZeusMonitor
from zeus.device import get_gpus
monitor = ZeusMonitor()
monitor.begin_window("x")
time.sleep(0.3)
measured = monitor.end_window("x")
assert abs(measured.gpu_energy[0] - 180 * measured.time) < 4 * measured.details.gpu[0].uncertainty + 0.05, measured
gpus = get_gpus()
gpus.set_power_management_limit(0, 150_000)
assert gpus.get_power_management_limit(0) == 150_000
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libzeus.so" in line}
assert {str(pathlib.Path(path).parent) for path in loaded} == set(zeus.__path__), loaded
print(zeus.__version__, "%d.%d" % sys.version_info[:2])
"""

# What the documents leave to their reader.
BEFORE_DOCUMENTED = """
import time, warnings
warnings.simplefilter("ignore")
began = time.time()
ended = began + 0.1
def train():
    time.sleep(0.2)
"""


def interpreters() -> list[str]:
    return [sys.executable, *filter(None, os.environ.get("ZEUS_TEST_PYTHONS", "").split(":"))]


def run(*command, **options) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONPYCACHEPREFIX")}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, env=environment,
                          **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(str(part) for part in command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def on_virtual_gpus(python: pathlib.Path, code: str) -> str:
    return run(program, "virtual", "2xV100", "--load", "constant:180W", "--", python, "-c", code, cwd="/")


@functools.lru_cache(maxsize=None)
def make_wheel(python: str) -> pathlib.Path:
    """Built without isolation, so that it takes what is pinned; the same tools serve every version."""
    tools = python_environment.interpreter(build, "scikit-build-core", "pybind11")
    version = run(python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])").strip()
    folder = build / "python" / f"wheel-{version}"
    shutil.rmtree(folder / "made", ignore_errors=True)
    alone = pathlib.Path(python).resolve() == pathlib.Path(sys.executable).resolve()
    pip = [tools, "-m", "pip", "wheel", "--no-build-isolation"] if alone else [python, "-m", "pip", "wheel"]
    run(*pip, ROOT, "--no-deps", "--disable-pip-version-check", "--wheel-dir", folder / "made",
        f"--config-settings=build-dir={folder / 'compiled'}", f"--config-settings=cmake.define.ZEUS_BUILT={build}")
    (wheel,) = (folder / "made").glob(f"zeus_cpp-*-{version}-*.whl")
    return wheel


class Wheel(unittest.TestCase):
    def test_what_is_installed_measures_and_sets(self):
        for python in interpreters():
            with self.subTest(python):
                wheel = make_wheel(python)
                environment = build / "python" / f"installed-{wheel.name.split('-')[2]}"
                run(python, "-m", "venv", "--clear", environment)
                installed = environment / "bin" / "python"
                run(installed, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", wheel)
                version = run(installed, "-c", "import zeus; print(zeus.__version__)", cwd="/").strip()
                self.assertEqual(on_virtual_gpus(installed, USE).split()[0], version)

    def test_it_holds_what_it_should_and_needs_nothing(self):
        with zipfile.ZipFile(make_wheel(sys.executable)) as archive:
            names = archive.namelist()
            record = next(name for name in names if name.endswith("/METADATA"))
            metadata = archive.read(record).decode()
            executable = archive.getinfo("zeus/zeus_guardian").external_attr >> 16 & 0o111
        self.assertIn("Name: zeus-cpp\n", metadata)
        self.assertNotIn("Requires-Dist", metadata)
        self.assertTrue(executable)
        for needed in ("zeus/py.typed", "zeus/_native.pyi", "zeus/libzeus.so.0", "zeus/utils/framework.py"):
            self.assertIn(needed, names)
        folders = {name.split("/")[0] for name in names}
        self.assertEqual(len(folders), 2, folders)
        self.assertEqual([name for name in names if "__pycache__" in name or name.endswith((".hpp", ".cpp"))], [])
        sources = {path.relative_to(ROOT / "python").as_posix() for path in (ROOT / "python" / "zeus").rglob("*.py")}
        self.assertEqual(sources - set(names), set())


class Clone(unittest.TestCase):
    def test_pip_installs_a_clone_and_the_documents_lines_run(self):
        python_environment.interpreter(build, "scikit-build-core", "pybind11")  # is there a registry?
        if not (ROOT / ".git").exists():
            self.skipTest("skipped: this is no checkout of git's")
        with tempfile.TemporaryDirectory() as folder:
            clone, environment = pathlib.Path(folder) / "clone", pathlib.Path(folder) / "environment"
            run("git", "clone", "--quiet", ROOT, clone)
            run(sys.executable, "-m", "venv", environment)
            python = environment / "bin" / "python"
            run(python, "-m", "pip", "install", "--disable-pip-version-check", ".", cwd=clone)
            on_virtual_gpus(python, USE)
            shutil.rmtree(clone)  # what is installed needs nothing of it
            readme = re.findall(r"`(from zeus[^`]*)`", (ROOT / "README.md").read_text(encoding="utf-8"))
            blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)
            self.assertTrue(readme)
            self.assertTrue(blocks)
            for lines in (*readme, *blocks):
                with self.subTest(lines):
                    on_virtual_gpus(python, BEFORE_DOCUMENTED + lines)


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    kind = Clone if "--clone" in sys.argv else Wheel
    sys.argv = [word for word in sys.argv if word != "--clone"]
    unittest.main(defaultTest=kind.__name__)

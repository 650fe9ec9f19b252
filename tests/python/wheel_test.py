"""What pip installs, in an otherwise empty root: it measures and sets virtual GPUs.

  wheel_test.py PROGRAM BUILD_FOLDER            a wheel of the libzeus and the guardian that are in the build folder
  wheel_test.py PROGRAM BUILD_FOLDER --clone    `pip install .` in a clone, which compiles everything; then the documents' commands

It needs scikit-build-core and pybind11 from the registry; otherwise it is skipped. ZEUS_TEST_PYTHONS names further
interpreters to test, separated by colons.
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
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "docs")]
import page_blocks  # noqa: E402
import python_environment  # noqa: E402

program = ""
build = pathlib.Path()

USE = """
import os, sys, time, warnings
warnings.simplefilter("ignore")
import zeus, zeus_cpp
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
assert zeus_cpp.__file__.startswith(sys.prefix), zeus_cpp.__file__
print(zeus_cpp.__version__, "%d.%d" % sys.version_info[:2])
"""

# In a separate root; the first argument says whether it has GPUs.
ALONE = """
import site, sys, time, warnings
site.addsitedir("/site")
warnings.simplefilter("ignore")
import zeus.optimizer.power_limit, zeus.show_env, zeus_cpp
from zeus.monitor import ZeusMonitor
monitor = ZeusMonitor()
monitor.begin_window("x")
time.sleep(0.3)
measured = monitor.end_window("x")
assert 0.3 <= measured.time < 60, measured
if sys.argv[1] == "gpus":
    assert abs(measured.gpu_energy[0] - 180 * measured.time) < 4 * measured.details.gpu[0].uncertainty + 0.05, measured
    import zeus.device
    zeus.device.get_gpus().set_power_management_limit(0, 150_000)  # which starts the guardian
    assert zeus.device.get_gpus().get_power_management_limit(0) == 150_000
else:
    assert measured.gpu_energy == {}, measured
print("measured by", zeus_cpp.__file__)
"""

# The parts that the documents leave to their reader.
BEFORE_DOCUMENTED = """
import time, warnings
warnings.simplefilter("ignore")
began = time.time()
ended = began + 0.1
def train():
    time.sleep(0.2)
"""


def readme(language: str, shown_by: str | None) -> str:
    """The block of README.md, as it stands."""
    (block,) = [block for block in page_blocks.blocks() if (block.page, block.language, block.shown_by) == ("README.md", language, shown_by)]
    return block.text


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
    """Built without isolation, so that the pinned versions are used; the same tools serve every Python version. From a copy in
    a folder with spaces, as people have them."""
    tools = python_environment.interpreter(build, "clients")
    version = run(python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])").strip()
    folder = build / "python" / f"wheel-{version}"
    shutil.rmtree(folder / "made", ignore_errors=True)
    sources = folder / "a copy of the sources"
    shutil.rmtree(sources, ignore_errors=True)
    shutil.copytree(ROOT, sources, ignore=shutil.ignore_patterns("build", "build-*", ".git", "__pycache__"))
    alone = pathlib.Path(python).resolve() == pathlib.Path(sys.executable).resolve()
    pip = [tools, "-m", "pip", "wheel", "--no-build-isolation"] if alone else [python, "-m", "pip", "wheel"]
    run(*pip, sources, "--no-deps", "--disable-pip-version-check", "--wheel-dir", folder / "made",
        f"--config-settings=build-dir={folder / 'compiled'}", f"--config-settings=cmake.define.ZEUS_BUILT={build}")
    (wheel,) = (folder / "made").glob(f"zeus_cpp-*-{version}-*.whl")
    return wheel


def needed_by(files: list) -> set:
    """The libraries that programs and libraries load, recursively, and the loader."""
    listed = subprocess.run(["ldd", *files], capture_output=True, text=True, check=False).stdout
    return {pathlib.Path(path) for path in re.findall(r"^\s+(?:.* => )?(/\S+) \(0x", listed, re.MULTILINE)}


def copy(path: pathlib.Path, root: pathlib.Path) -> None:
    """To the same path in another root."""
    target = root / path.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target)


class FreshRoot:
    """A root with one Python, its standard library, the C libraries that it needs, and the unpacked wheel."""

    def __init__(self, folder: pathlib.Path, python: str, wheel: pathlib.Path):
        self.folder = folder
        self.python, library = map(pathlib.Path, run(python, "-c", "import os, sys; print(os.path.realpath(sys.executable), os.__file__)").split())
        left_out = shutil.ignore_patterns("__pycache__", "site-packages", "dist-packages", "test", "idlelib", "ensurepip", "config-*")
        shutil.copytree(library.parent, folder / library.parent.relative_to("/"), ignore=left_out)
        copy(self.python, folder)
        for path in needed_by([self.python, *(library.parent / "lib-dynload").glob("*.so")]):
            copy(path, folder)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "site")
        (folder / "site" / "zeus_cpp" / "zeus_guardian").chmod(0o755)
        for name in ("proc", "dev", "tmp", "run"):
            (folder / name).mkdir()

    def run(self, *before, code: str, argument: str) -> str:
        inside = 'mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" "$@"'
        return run(*before, "unshare", "--mount", "sh", "-c", inside, self.folder, self.python, "-c", code, argument, cwd="/")


class Wheel(unittest.TestCase):
    def test_what_is_installed_measures_and_sets(self):
        for python in interpreters():
            with self.subTest(python):
                wheel = make_wheel(python)
                environment = build / "python" / f"installed-{wheel.name.split('-')[2]}"
                run(python, "-m", "venv", "--clear", environment)
                installed = environment / "bin" / "python"
                run(installed, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", wheel)
                version = run(installed, "-c", "import zeus; print(zeus.__cpp_version__)", cwd="/").strip()
                self.assertEqual(on_virtual_gpus(installed, USE).split()[0], version)

    def test_it_holds_what_it_should_and_needs_nothing(self):
        with zipfile.ZipFile(make_wheel(sys.executable)) as archive:
            names = archive.namelist()
            record = next(name for name in names if name.endswith("/METADATA"))
            metadata = archive.read(record).decode()
            executable = archive.getinfo("zeus_cpp/zeus_guardian").external_attr >> 16 & 0o111
        self.assertIn("Name: zeus-cpp\n", metadata)
        self.assertNotIn("Requires-Dist", metadata)
        self.assertTrue(executable)
        for needed in ("py.typed", "_native.pyi", "utils/framework.py", "front/zeus/__init__.py",
                       "front/zeus/py.typed", "front/zeus/monitor/__init__.py"):
            self.assertIn(f"zeus_cpp/{needed}", names)
        # Nothing is installed in the place of another `zeus`.
        self.assertEqual({name.split("/")[0] for name in names}, {"zeus_cpp", "zeus_cpp.pth", record.split("/")[0]})
        self.assertEqual([name for name in names if "__pycache__" in name or name.endswith((".hpp", ".cpp"))], [])
        sources = {path.relative_to(ROOT / "python").as_posix() for path in (ROOT / "python" / "zeus_cpp").rglob("*.py")}
        self.assertEqual(sources - set(names), set())

    def test_it_measures_where_nothing_but_python_and_the_c_library_is(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
            self.skipTest("skipped: a root of its own takes root's rights")
        for python in interpreters():
            with self.subTest(python), tempfile.TemporaryDirectory() as folder:
                root = FreshRoot(pathlib.Path(folder), python, make_wheel(python))
                self.assertEqual([path.name for path in root.folder.rglob("lib*") if re.match(r"lib(stdc|gcc_s|fmt|spdlog)", path.name)], [])
                self.assertIn("measured by /site/", root.run(code=ALONE, argument="nothing"))
                as_readme_says = 'import site\nsite.addsitedir("/site")\n' + BEFORE_DOCUMENTED + readme("python", None)
                self.assertRegex(root.run(code=as_readme_says, argument=""), r"^0 None\n$")  # no GPU, no energy
                # The virtual driver has its own dependencies, like a vendor's.
                drivers = list((build / "lib" / "zeus" / "virtual").glob("*.so*"))
                for path in drivers:
                    copy(path, root.folder)
                for path in needed_by(drivers):
                    if not (root.folder / path.relative_to("/")).exists():
                        shutil.copy2(path, root.folder / drivers[0].parent.relative_to("/"))
                around = (program, "virtual", "1xV100", "--load", "constant:180W", "--")
                self.assertIn("measured by /site/", root.run(*around, code=ALONE, argument="gpus"))
                self.assertRegex(root.run(*around, code=as_readme_says, argument=""), r"^\d+\.\d+ \d+\.\d+\n$")


class Clone(unittest.TestCase):
    def test_pip_installs_a_clone_and_the_documents_lines_run(self):
        python_environment.interpreter(build, "clients")  # is there a registry?
        if not (ROOT / ".git").exists():
            self.skipTest("skipped: this is no checkout of git's")
        with tempfile.TemporaryDirectory(prefix="a folder ") as folder:
            clone, environment = pathlib.Path(folder) / "clone", pathlib.Path(folder) / "environment"
            run("git", "clone", "--quiet", ROOT, clone)
            run(sys.executable, "-m", "venv", environment)
            python = environment / "bin" / "python"
            run("bash", "-ec", f"source ../environment/bin/activate\n{readme('sh', 'python.wheel')}", cwd=clone)
            on_virtual_gpus(python, USE)
            shutil.rmtree(clone)  # the installed package needs nothing of it
            documented = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)
            self.assertTrue(documented)
            for lines in (readme("python", None), *documented):
                with self.subTest(lines):
                    on_virtual_gpus(python, BEFORE_DOCUMENTED + lines)


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    kind = Clone if "--clone" in sys.argv else Wheel
    sys.argv = [word for word in sys.argv if word != "--clone"]
    unittest.main(defaultTest=kind.__name__)

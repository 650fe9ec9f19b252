"""What pip installs, in an otherwise empty root: it measures and sets virtual GPUs.

  wheel_test.py PROGRAM BUILD_FOLDER            the wheel of `make wheels`, of what is in the build folder
  wheel_test.py PROGRAM BUILD_FOLDER --clone    `pip install .` in a clone, which compiles everything; then the documents' commands

It needs scikit-build-core from the registry; otherwise it is skipped. The wheel is tried with each CPython from 3.9 on that is
found here.
"""

import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("support", "docs", "packaging")]
import hardening  # noqa: E402
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
    """This one, and one of each other version."""
    found = {sys.version_info[1]: sys.executable}
    for minor in range(9, 16):
        for path in map(pathlib.Path, os.environ["PATH"].split(os.pathsep)):
            python = path / f"python3.{minor}"
            works = "import ctypes, sys, venv; print(sys.version_info[1])"  # a managers' shim may stand for none
            if minor not in found and python.exists() and subprocess.run([python, "-c", works], capture_output=True, text=True,
                                                                         check=False).stdout == f"{minor}\n":
                found[minor] = str(python)
    return [found[minor] for minor in sorted(found)]


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
def make_wheel() -> pathlib.Path:
    """As `make wheels` makes it, but without isolation, so that the pinned versions are used. From a copy in a folder with spaces,
    as people have them."""
    if not (build / "standalone" / "bin" / "zeus").exists():
        raise unittest.SkipTest("skipped: this build has no parts for a wheel, which takes Debian 12 and the release preset")
    tools = python_environment.interpreter(build, "clients")
    folder = build / "python" / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    sources = folder / "a copy of the sources"
    shutil.copytree(ROOT, sources, ignore=shutil.ignore_patterns("build", "build-*", ".git", "__pycache__"))
    (command,) = re.findall(r"_PYTHON_HOST_PLATFORM=(\S+) \S+/pip wheel", (ROOT / "Makefile").read_text(encoding="utf-8"))
    os.environ["_PYTHON_HOST_PLATFORM"] = command
    try:
        run(tools, "-m", "pip", "wheel", "--no-build-isolation", sources, "--no-deps", "--disable-pip-version-check", "--wheel-dir",
            folder / "made", f"--config-settings=build-dir={folder / 'compiled'}", f"--config-settings=cmake.define.ZEUS_BUILT={build}")
    finally:
        del os.environ["_PYTHON_HOST_PLATFORM"]
    (wheel,) = (folder / "made").glob("zeus_cpp-*-cp39-abi3-manylinux_2_28_x86_64.whl")
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
        for path in needed_by([folder / "site" / "zeus_cpp" / "_native.abi3.so"]):  # parts of the C library
            copy(path, folder)
        (folder / "site" / "zeus_cpp" / "zeus_guardian").chmod(0o755)
        for name in ("proc", "dev", "tmp", "run"):
            (folder / name).mkdir()

    def run(self, *before, code: str, argument: str) -> str:
        inside = 'mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" "$@"'
        return run(*before, "unshare", "--mount", "sh", "-c", inside, self.folder, self.python, "-c", code, argument, cwd="/")


class Wheel(unittest.TestCase):
    def test_one_wheel_installs_with_every_python_measures_sets_and_leaves_nothing(self):
        for python in interpreters():
            with self.subTest(python), tempfile.TemporaryDirectory() as folder:
                environment = pathlib.Path(folder) / "environment"
                run(python, "-m", "venv", environment)
                before = set(environment.rglob("*"))
                installed = environment / "bin" / "python"
                run(installed, "-m", "pip", "install", "--no-index", "--no-compile", "--disable-pip-version-check", make_wheel())
                version = run(installed, "-B", "-c", "import zeus; print(zeus.__cpp_version__)", cwd="/").strip()
                zeus = environment / "bin" / "zeus"
                self.assertEqual(run(zeus, "--version"), f"zeus {version}\n")
                used = run(zeus, "virtual", "2xV100", "--load", "constant:180W", "--", installed, "-B", "-c", USE, cwd="/")
                self.assertEqual(used.split(), [version, run(installed, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()])
                run(installed, "-m", "pip", "uninstall", "--yes", "zeus-cpp")
                self.assertEqual([path for path in set(environment.rglob("*")) - before if "__pycache__" not in path.parts], [])

    def test_its_program_measures_runs_and_keeps_jobs(self):
        with tempfile.TemporaryDirectory() as folder:
            environment, home = pathlib.Path(folder) / "environment", {"XDG_DATA_HOME": folder, "HOME": folder}
            run(sys.executable, "-m", "venv", environment)
            run(environment / "bin" / "python", "-m", "pip", "install", "--no-index", "--disable-pip-version-check", make_wheel())
            script = [sys.executable, ROOT / "examples" / "script" / "train.py", "--epochs", "2"]

            def zeus(*command) -> str:
                words = [environment / "bin" / "zeus", "virtual", "1xV100", "--load", "follow:work:1,1,0.85", "--",
                         environment / "bin" / "zeus", *command]
                done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd=folder, timeout=120,
                                      env={"PATH": os.environ["PATH"], **home})
                self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
                return done.stdout + done.stderr

            self.assertRegex(zeus("measure", "--", *script), r"\d ± [\d.]+ J +gpu 0")
            self.assertRegex(zeus("run", "--profile-seconds", "0.1", "--", *script), r"zeus: [\d.]+ k?J in ")
            self.assertRegex(zeus("doctor"), r"(?m)^ok +permissions")
            self.assertRegex(zeus("devices"), "V100")
            zeus("init", "nightly", "--accept", "--", *script, "--batch-size", "64")
            zeus("run", "@nightly", "--profile-seconds", "0.1", "--stop-at-target")
            self.assertRegex(zeus("jobs", "nightly"), "nightly")
            zeus("restore")
            refused = subprocess.run([environment / "bin" / "zeus", "jobs", "--store", "postgresql://localhost/jobs"], capture_output=True,
                                     text=True, check=False)
            self.assertRegex(refused.stderr, "no client of PostgreSQL.*use the Debian package")

    def test_it_holds_what_it_should_and_needs_nothing(self):
        with zipfile.ZipFile(make_wheel()) as archive, tempfile.TemporaryDirectory() as folder:
            names = archive.namelist()
            record = next(name for name in names if name.endswith("/METADATA"))
            metadata = archive.read(record).decode()
            self.assertTrue(archive.getinfo("zeus_cpp/zeus_guardian").external_attr >> 16 & 0o111)
            archive.extractall(folder)
            programs = [file for file in pathlib.Path(folder).rglob("*") if file.is_file() and hardening.is_elf(file)]
            self.assertEqual(len(programs), 7)
            for file in programs:
                self.assertEqual(hardening.faults_of(file), [], file)
                needed = set(re.findall(r"NEEDED.*\[(.*)\]", hardening.readelf("--dynamic", file)))
                unwinder = {"libgcc_s.so.1"} if file.name == "_native.abi3.so" else set()  # which glibc's own packages bring
                glibc = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
                self.assertLessEqual(needed, glibc | unwinder, file)
        self.assertIn("Name: zeus-cpp\n", metadata)
        self.assertNotIn("Requires-Dist", metadata)
        for needed in ("py.typed", "_native.pyi", "utils/framework.py", "front/zeus/__init__.py",
                       "front/zeus/py.typed", "front/zeus/monitor/__init__.py"):
            self.assertIn(f"zeus_cpp/{needed}", names)
        # Nothing is installed in the place of another `zeus`.
        about = record.split("/")[0]
        self.assertEqual({name.split("/")[0] for name in names},
                         {"zeus_cpp", "zeus_cpp.pth", about, about.replace(".dist-info", ".data")})
        self.assertEqual([name for name in names if "__pycache__" in name or name.endswith((".hpp", ".cpp"))], [])
        sources = {path.relative_to(ROOT / "python").as_posix() for path in (ROOT / "python" / "zeus_cpp").rglob("*.py")}
        self.assertEqual(sources - set(names), set())

    def test_auditwheel_finds_nothing_newer_than_its_name_says(self):
        tools = python_environment.interpreter(build, "wheels")
        said = run(tools, "-m", "auditwheel", "show", make_wheel())
        self.assertIn('is consistent with\nthe following platform tag: "manylinux_2_28_x86_64"', said)

    def test_it_measures_where_nothing_but_python_and_the_c_library_is(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
            self.skipTest("skipped: a root of its own takes root's rights")
        with tempfile.TemporaryDirectory() as folder:
            root = FreshRoot(pathlib.Path(folder), sys.executable, make_wheel())
            self.assertEqual([path.name for path in root.folder.rglob("lib*") if re.match(r"lib(stdc|fmt|spdlog)", path.name)], [])
            self.assertIn("measured by /site/", root.run(code=ALONE, argument="nothing"))
            as_readme_says = 'import site\nsite.addsitedir("/site")\n' + BEFORE_DOCUMENTED + readme("python", None)
            self.assertRegex(root.run(code=as_readme_says, argument=""), r"^0 None\n$")  # no GPU, no energy
            standalone = build / "standalone"
            for path in (standalone / "lib" / "zeus" / "virtual").iterdir():
                copy(path, root.folder)
            around = (standalone / "bin" / "zeus", "virtual", "1xV100", "--load", "constant:180W", "--")
            self.assertIn("measured by /site/", root.run(*around, code=ALONE, argument="gpus"))
            self.assertRegex(root.run(*around, code=as_readme_says, argument=""), r"^\d+\.\d+ \d+\.\d+\n$")


class Clone(unittest.TestCase):
    def test_pip_installs_a_clone_and_the_documents_lines_run(self):
        python_environment.interpreter(build, "clients")  # is there a registry?
        if not (ROOT / ".git").exists():
            self.skipTest("skipped: this is no checkout of git's")
        with tempfile.TemporaryDirectory(prefix="a folder ") as folder:
            clone, python = pathlib.Path(folder) / "clone", pathlib.Path(folder) / "zeus" / "bin" / "python"
            run("git", "clone", "--quiet", ROOT, clone)
            home = f'export XDG_CACHE_HOME="${{XDG_CACHE_HOME:-$HOME/.cache}}" HOME={shlex.quote(folder)}'
            run("bash", "-ec", f"{home}\n{readme('sh', 'python.wheel')}", cwd=clone)
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

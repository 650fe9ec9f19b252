"""The package beside another distribution whose import name is `zeus`, as pip installs and uninstalls them.

  distribution_test.py BUILD_FOLDER

The index is a temporary folder with our package from the build tree, and stand-ins for the existing one, for projects that
require it, and for their dependencies. One test uses the existing package itself, if the registry can be reached.
"""

import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import python_environment  # noqa: E402

build = pathlib.Path()

# What a program sees: whose `zeus` is imported, that ours works under its own name in any case, and the warnings.
LOOK = """
import json, warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import zeus_cpp.monitor
import zeus, zeus.monitor
print(json.dumps([zeus.__version__, hasattr(zeus, "__cpp_version__"), [str(each.message) for each in said]]))
"""
OURS = ["0.16.0", True, []]


def write_wheel(folder: pathlib.Path, name: str, version: str, files: dict, requires=(), extras=()) -> None:
    records = f"{name}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}",
                *(f"Requires-Dist: {each}" for each in requires), *(f"Provides-Extra: {each}" for each in extras)]
    contents = {**files, f"{records}/METADATA": "\n".join(metadata).encode() + b"\n",
                f"{records}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},,\n" for path in contents)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, content in {**contents, f"{records}/RECORD": f"{record}{records}/RECORD,,\n".encode()}.items():
            archive.writestr(path, content)


def our_files() -> dict:
    """As they are in a wheel (wheel_test.py checks the real one)."""
    package = build / "package"
    files = {"zeus_cpp.pth": (ROOT / "python" / "zeus_cpp.pth").read_bytes()}
    for folder, folders, names in os.walk(package / "zeus_cpp", followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = pathlib.Path(folder) / name
            files[path.relative_to(package).as_posix()] = path.read_bytes()
    return files


def their_files(version: str) -> dict:
    return {"zeus/__init__.py": f"__version__ = '{version}'\n".encode(), "zeus/monitor/__init__.py": b"theirs = True\n",
            "zeus/device/gpu/__init__.py": b""}


def write_index(folder: pathlib.Path) -> None:
    ours = our_files()
    write_wheel(folder, "zeus_cpp", "0.1.0", ours)
    write_wheel(folder, "zeus_cpp", "0.1.1", {**ours, "zeus_cpp/later.py": b""})
    for version in ("0.16.0", "0.17.0"):
        write_wheel(folder, "zeus", version, their_files(version), ['prometheus-client; extra == "prometheus"'], ["prometheus"])
    write_wheel(folder, "zeus_ml", "0.9.0", their_files("0.9.0"))
    write_wheel(folder, "prometheus_client", "0.20.0", {"prometheus_client.py": b""})
    write_wheel(folder, "bench", "1.0", {"bench.py": b"import zeus.monitor\n"}, ["zeus>=0.13.1"])
    write_wheel(folder, "gauges", "1.0", {"gauges.py": b"import prometheus_client, zeus\n"}, ["zeus[prometheus]>=0.13,<1"])
    write_wheel(folder, "newer", "1.0", {"newer.py": b""}, ["zeus>=0.17"])


class Environment:
    """A fresh Python environment whose pip only knows the index."""

    def __init__(self, folder: pathlib.Path, index: pathlib.Path, pip: pathlib.Path):
        self.folder, self.python = folder, folder / "bin" / "python"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
        self.variables = {**kept, "PYTHONPATH": str(pip), "PYTHONPYCACHEPREFIX": str(pip / "pycache"),
                          "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": os.devnull,
                          "PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def run(self, *arguments, **changed) -> subprocess.CompletedProcess:
        return subprocess.run([str(word) for word in (self.python, *arguments)], capture_output=True, text=True, check=False,
                              timeout=120, cwd=self.folder, env={**self.variables, **changed})

    def pip(self, *arguments) -> str:
        done = self.run("-m", "pip", *arguments)
        if done.returncode:
            raise AssertionError(f"pip {arguments}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout + done.stderr

    def zeus_cpp(self, *arguments) -> str:
        done = self.run("-m", "zeus_cpp", *arguments)
        if done.returncode:
            raise AssertionError(f"zeus_cpp {arguments}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout

    def look(self) -> list:
        done = self.run("-c", LOOK)
        if done.returncode:
            raise AssertionError(done.stderr[-2000:])
        return json.loads(done.stdout)

    def check(self) -> str:
        """The complaints of `pip check`."""
        done = self.run("-m", "pip", "check")
        return done.stdout if done.returncode else ""

    def installed(self) -> dict:
        """All but ours, by name."""
        code = "import importlib.metadata as m, json\nprint(json.dumps({each.name: each.version for each in m.distributions()}))"
        return {name: version for name, version in json.loads(self.run("-c", code).stdout).items() if name != "zeus-cpp"}


class Scenario(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = contextlib.ExitStack()
        cls.addClassCleanup(cls.kept.close)
        cls.folder = pathlib.Path(cls.kept.enter_context(tempfile.TemporaryDirectory()))
        cls.index = cls.folder / "index"
        cls.index.mkdir()
        write_index(cls.index)
        # One environment for all, and most scenarios begin with our package: creating environments takes longer than
        # any scenario.
        cls.pip = cls.folder / "pip"
        cls.pip.mkdir()
        (cls.pip / "pip").symlink_to(cls.any_pip())
        cls.with_ours = cls.folder / "with_ours"
        venv.create(cls.with_ours)
        Environment(cls.with_ours, cls.index, cls.pip).pip("install", "zeus-cpp==0.1.0")

    @classmethod
    def any_pip(cls) -> pathlib.Path:
        found = importlib.util.find_spec("pip")
        if found is not None:
            return pathlib.Path(found.origin).parent
        lender = cls.folder / "lender"
        venv.create(lender, with_pip=True)
        return python_environment.packages_of(lender / "bin" / "python") / "pip"

    def environment(self, *installed) -> Environment:
        folder = self.folder / self.id().rpartition(".")[2]
        if installed[0] == "zeus-cpp":
            shutil.copytree(self.with_ours, folder, symlinks=True)
        else:
            venv.create(folder)
        made = Environment(folder, self.index, self.pip)
        if installed != ("zeus-cpp",):
            made.pip("install", *installed)
        return made

    def assert_theirs(self, environment: Environment, version: str) -> None:
        """The existing package is intact, ours works under its own name, and one line says so."""
        seen, ours, said = environment.look()
        self.assertEqual((seen, ours, len(said)), (version, False, 1), said)
        self.assertIn("python -m zeus_cpp repair", said[0])
        self.assertEqual(environment.run("-c", "import zeus.monitor; assert zeus.monitor.theirs").returncode, 0)

    def test_ours_first_then_theirs_and_theirs_goes_again(self):
        environment = self.environment("zeus-cpp")
        self.assertEqual(environment.look(), OURS)
        environment.pip("install", "zeus==0.16.0")
        self.assert_theirs(environment, "0.16.0")
        self.assertEqual(environment.check(), "")
        environment.pip("uninstall", "--yes", "zeus")
        self.assertEqual(environment.look(), OURS)

    def test_theirs_first_then_ours_and_ours_goes_again(self):
        environment = self.environment("zeus==0.16.0")
        environment.pip("install", "zeus-cpp")
        self.assert_theirs(environment, "0.16.0")
        environment.pip("uninstall", "--yes", "zeus-cpp")
        self.assertEqual(environment.run("-c", "import zeus.monitor; assert zeus.monitor.theirs").returncode, 0)
        self.assertEqual([path.name for path in environment.folder.rglob("*zeus_cpp*")], [])

    def test_upgrades_of_either(self):
        environment = self.environment("zeus-cpp", "zeus==0.16.0")
        environment.pip("install", "--upgrade", "zeus-cpp", "zeus")
        self.assert_theirs(environment, "0.17.0")
        self.assertEqual(environment.run("-c", "import zeus_cpp.later").returncode, 0)
        environment.pip("uninstall", "--yes", "zeus")
        environment.pip("install", "zeus-cpp==0.1.0")
        self.assertEqual(environment.look(), OURS)
        self.assertEqual(environment.run("-c", "import zeus_cpp.later").returncode, 1)

    def test_a_requirement_brings_theirs_and_repair_takes_it_away(self):
        environment = self.environment("zeus-cpp", "zeus-ml")  # its older name
        environment.pip("install", "bench")
        self.assert_theirs(environment, "0.17.0")
        self.assertIn("zeus 0.17.0 in ", environment.run("-m", "zeus_cpp", "status").stdout)
        self.assertIn("repair", environment.run("-m", "zeus_cpp", "provide").stderr)
        self.assert_theirs(environment, "0.17.0")
        environment.zeus_cpp("repair")
        self.assertEqual(environment.look(), OURS)
        self.assertEqual(environment.check(), "")
        self.assertEqual(environment.installed(), {"bench": "1.0", "zeus": "0.16.0+cpp"})

    def test_requirements_are_met_once_it_is_provided(self):
        environment = self.environment("zeus-cpp")
        self.assertIn("not installed: zeus 0.16.0+cpp", environment.zeus_cpp("status"))
        environment.zeus_cpp("provide")
        environment.zeus_cpp("provide")  # as good as once
        self.assertIn("installed: zeus 0.16.0+cpp", environment.zeus_cpp("status"))
        said = environment.pip("install", "bench", "gauges", "zeus[apple,bso,bso-server,migration,pfo,pfo-server]")
        self.assertNotIn("WARNING", said)
        self.assertEqual(environment.look(), OURS)
        self.assertEqual(environment.check(), "")
        self.assertEqual(environment.run("-c", "import bench, gauges").returncode, 0)
        self.assertEqual(environment.installed(), {
            "bench": "1.0", "gauges": "1.0", "prometheus-client": "0.20.0", "zeus": "0.16.0+cpp"})
        self.assertIn("zeus==0.16.0+cpp\n", environment.pip("freeze"))  # no path of a removed file
        # A project that requires a newer version replaces it; ours comes back on request, and pip then reports what is
        # missing.
        environment.pip("install", "newer")
        self.assert_theirs(environment, "0.17.0")
        environment.zeus_cpp("repair")
        self.assertEqual(environment.look(), OURS)
        self.assertIn("newer 1.0 has requirement zeus>=0.17", environment.check())

    def test_a_wheel_installed_by_hand_and_what_it_requires_goes(self):
        environment = self.environment("zeus-cpp")
        wheel = pathlib.Path(environment.zeus_cpp("provide", "--wheel", environment.folder / "made").strip())
        environment.pip("install", wheel)
        self.assertIn("installed already", environment.zeus_cpp("provide"))
        environment.pip("uninstall", "--yes", "zeus-cpp")
        self.assertIn("requires zeus-cpp, which is not installed", environment.check())

    def test_removing_leaves_nothing(self):
        environment = self.environment("zeus-cpp")
        environment.zeus_cpp("provide")
        for provided in (True, False):
            with self.subTest(provided=provided):
                self.assertEqual("and so is zeus" in environment.zeus_cpp("remove"), provided)
                self.assertEqual(environment.installed(), {})
                self.assertEqual(environment.check(), "")
                for name in ("zeus", "zeus_cpp"):
                    self.assertNotEqual(environment.run("-c", f"import {name}").returncode, 0)
                if provided:
                    environment.pip("install", "zeus-cpp")

    def test_a_folder_that_no_package_installed_is_named(self):
        environment = self.environment("zeus-cpp")
        folder = environment.folder / "zeus"
        folder.mkdir()
        (folder / "__init__.py").touch()
        done = environment.run("-m", "zeus_cpp", "repair")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"`import zeus` is {folder / '__init__.py'}", done.stderr)
        self.assertIn("remove or rename it", done.stderr)

    def test_without_pip_it_says_how_else(self):
        environment = self.environment("zeus-cpp")
        done = environment.run("-m", "zeus_cpp", "provide", PYTHONPATH="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--wheel", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_the_existing_package_itself(self):
        folder = python_environment.made_once(build, f"{python_environment.pin('zeus')}-wheel",
                                              lambda made: python_environment.download(made, "zeus", "--only-binary", ":all:"))
        environment = self.environment("zeus-cpp")
        environment.pip("install", "--no-deps", next(folder.glob("*.whl")))
        before = environment.run("-c", "import zeus; print(zeus.__version__, zeus.__file__)").stdout
        self.assertIn("site-packages/zeus/__init__.py", before)
        self.assertEqual(environment.run("-W", "ignore", "-c", "import zeus_cpp.monitor").returncode, 0)
        environment.zeus_cpp("repair")
        self.assertEqual(environment.look(), OURS)


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

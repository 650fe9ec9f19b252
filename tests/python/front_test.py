"""The package under its two names, `zeus` and `zeus_cpp`: whatever programs do with modules, each exists once. No GPU is
needed."""

import importlib
import json
import logging
import multiprocessing
import os
import pathlib
import pickle
import pkgutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import zeus
import zeus.device.gpu.common
import zeus.monitor.energy
import zeus_cpp.device.gpu.common
import zeus_cpp.monitor.energy
from zeus.monitor import Measurement

NEED_FRAMEWORKS = ("._dataloader", "._pipeline_measured", "._pipeline_stage", "._power_limit_hf", ".huggingface", ".lightning", ".pipelining")


def run(code: str, *, path: str = "", arguments=()) -> subprocess.CompletedProcess:
    """A new interpreter with `path` first in its search path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH", "")]))}
    return subprocess.run([sys.executable, *(arguments or ["-c", code])], capture_output=True, text=True, check=False, timeout=60,
                          env=environment)


def run_by_workers(measurement: Measurement) -> tuple:
    """In another process: the object sent, and whether this process knows its class."""
    from zeus.monitor.energy import Measurement as theirs

    return measurement, type(measurement) is theirs is zeus_cpp.monitor.energy.Measurement


class OneModule(unittest.TestCase):
    def test_each_module_is_the_same_by_both_names(self):
        names = [found.name for found in pkgutil.walk_packages(zeus.__path__, "zeus.")
                 if not found.name.endswith(("__main__", *NEED_FRAMEWORKS))]
        self.assertGreater(len(names), 50)
        for name in names:
            with self.subTest(name):
                ours = importlib.import_module(name.replace("zeus", "zeus_cpp", 1))
                self.assertIs(importlib.import_module(name), ours)
                self.assertEqual(ours.__spec__.name, ours.__name__)

    def test_it_does_not_matter_which_name_comes_first(self):
        for first, second in (("zeus", "zeus_cpp"), ("zeus_cpp", "zeus")):
            done = run(f"import {first}.monitor.power, {second}.monitor.power\nimport sys\n"
                       "assert sys.modules['zeus.monitor.power'] is sys.modules['zeus_cpp.monitor.power']")
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_threads_that_import_by_both_names_at_once_get_the_same(self):
        done = run("import threading, importlib, sys\n"
                   "def load(name):\n    gate.wait(); got.append(importlib.import_module(name))\n"
                   "gate, got = threading.Barrier(8), []\n"
                   "threads = [threading.Thread(target=load, args=(n,)) for n in ('zeus.profile', 'zeus_cpp.profile') * 4]\n"
                   "[t.start() for t in threads]; [t.join(20) for t in threads]\n"
                   "assert len(got) == 8 and len(set(map(id, got))) == 1, got")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_others_have_loaded_is_an_attribute(self):
        done = run("import zeus.monitor\nprint(zeus.exception.ZeusBaseError.__name__)")
        self.assertEqual(done.stdout, "ZeusBaseError\n", done.stderr)

    def test_a_missing_module_is_reported_by_the_requested_name(self):
        for name in ("zeus.nothing", "zeus.device.nothing", "zeus.callback.nothing"):
            with self.assertRaises(ModuleNotFoundError) as refused:
                importlib.import_module(name)
            self.assertEqual(refused.exception.name, name)
        with self.assertRaisesRegex(AttributeError, "module 'zeus' has no attribute 'nothing'"):
            zeus.nothing

    def test_patches_by_either_name_hold_for_both(self):
        with mock.patch("zeus.device.gpu.common.GPU", "patched"):
            self.assertEqual(zeus_cpp.device.gpu.common.GPU, "patched")
        with mock.patch("zeus_cpp.monitor.energy.time", None):
            self.assertIsNone(zeus.monitor.energy.time)

    def test_modules_can_be_reloaded(self):
        done = run("import importlib, sys, zeus, zeus.monitor, zeus.monitor.power as power, zeus_cpp\n"
                   "finders = len(sys.meta_path)\n"
                   "for module in (power, zeus.monitor, zeus, zeus_cpp):\n    assert importlib.reload(module) is module\n"
                   "from zeus.monitor.power import PowerMonitor\n"
                   "assert PowerMonitor is sys.modules['zeus_cpp.monitor.power'].PowerMonitor\n"
                   "assert len(sys.meta_path) == finders")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_emptied_tables_of_modules_are_filled_again(self):
        for gone in ("name == 'zeus' or name.startswith('zeus.')", "name.startswith('zeus')"):
            done = run("import sys, zeus.monitor\nfinders = len(sys.meta_path)\n"
                       f"for name in [name for name in sys.modules if {gone}]:\n    del sys.modules[name]\n"
                       "import zeus.monitor.energy, zeus_cpp.monitor.energy\n"
                       "assert zeus.monitor.energy is zeus_cpp.monitor.energy\n"
                       "assert len(sys.meta_path) == finders")
            self.assertEqual((done.returncode, done.stderr), (0, ""), gone)

    def test_modules_run_as_programs(self):
        for name in ("zeus", "zeus_cpp"):
            done = run("", arguments=["-m", f"{name}.monitor", "--help"])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("energy,power", done.stdout)

    def test_loggers_have_the_names_that_scripts_set_up(self):
        self.assertIs(zeus_cpp.monitor.energy.logger, logging.getLogger("zeus.monitor.energy"))


class Pickles(unittest.TestCase):
    def test_measurements_go_to_processes_of_every_kind_and_back(self):
        measurement = Measurement(1.5, {0: 2.0, 1: 3.0})
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method), multiprocessing.get_context(method).Pool(1) as pool:
                self.assertEqual(pool.apply(run_by_workers, (measurement,)), (measurement, True))

    def test_errors_are_the_ones_that_can_be_caught(self):
        error = pickle.loads(pickle.dumps(zeus.device.gpu.common.ZeusGPUNotFoundError("GPU 7")))
        self.assertIsInstance(error, zeus_cpp.device.gpu.common.ZeusGPUNotFoundError)
        self.assertEqual(error.message, "GPU 7")

    def test_they_have_the_names_of_the_existing_package(self):
        self.assertIn(b"\x13zeus.monitor.energy", pickle.dumps(Measurement(1.5, {})))

    def test_those_of_the_existing_package_are_read(self):
        written = b"\x80\x04czeus.monitor.energy\nMeasurement\n)\x81}(\x8c\x04timeG?\xf8\0\0\0\0\0\0\x8c\ngpu_energy}K\0G@\0\0\0\0\0\0\0sub."
        self.assertEqual(pickle.loads(written), Measurement(1.5, {0: 2.0}))


class AnotherZeus(unittest.TestCase):
    """If `import zeus` imports another package, `zeus_cpp` works, and warns."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def other(self, name: str) -> str:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("whose = 'theirs'\n", encoding="utf-8")
        return str(file)

    def test_it_is_reported_once_with_what_to_do(self):
        for name in ("zeus/__init__.py", "zeus.py"):
            with self.subTest(name):
                other = self.other(name)
                done = run("import sys, zeus_cpp, zeus_cpp.monitor, zeus_cpp.device\nassert 'zeus' not in sys.modules\n"
                           "import zeus\nprint(zeus.whose)", path=str(self.folder))
                self.assertEqual((done.returncode, done.stdout), (0, "theirs\n"), done.stderr)
                self.assertEqual(done.stderr.count("RuntimeWarning"), 1, done.stderr)
                self.assertIn(other, done.stderr)
                self.assertIn("python -m zeus_cpp repair", done.stderr)
                os.unlink(other)

    def test_it_is_also_reported_if_the_other_is_already_imported(self):
        self.other("zeus/__init__.py")
        done = run("import zeus, zeus_cpp", path=str(self.folder))
        self.assertEqual((done.returncode, done.stderr.count("RuntimeWarning")), (0, 1), done.stderr)

    def test_a_folder_that_is_no_package_is_not_in_the_way(self):
        (self.folder / "zeus").mkdir()
        done = run("import zeus_cpp, zeus\nprint(zeus.__cpp_version__)", path=str(self.folder))
        self.assertEqual((done.stdout, done.stderr), (f"{zeus.__cpp_version__}\n", ""))

    def test_pickles_name_what_can_be_read_here(self):
        self.other("zeus/__init__.py")
        done = run("import pickle, warnings\nwarnings.simplefilter('ignore')\nfrom zeus_cpp.monitor import Measurement\n"
                   "print(pickle.loads(pickle.dumps(Measurement(1.5, {}))))", path=str(self.folder))
        self.assertIn("Measurement(time=1.5", done.stdout, done.stderr)

    def test_status_says_that_it_is_in_the_way(self):
        other = self.other("zeus/__init__.py")
        done = run("", path=str(self.folder), arguments=["-m", "zeus_cpp", "status"])
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn(other, done.stdout)

    def doctor(self, *folders: str) -> dict:
        """The doctor's line about Python, for a `python3` that finds these folders first."""
        (self.folder / "python3").unlink(missing_ok=True)
        (self.folder / "python3").symlink_to(sys.executable)
        path = os.pathsep.join([*folders, os.environ["PYTHONPATH"]])
        # From a folder with a module that must not be imported.
        self.other("hostile/zeus_cpp/__main__.py")
        done = subprocess.run([program, "doctor", "--json"], capture_output=True, text=True, check=True, cwd=self.folder / "hostile",
                              env={**os.environ, "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": path})
        return next(check for check in json.loads(done.stdout)["checks"] if check["what"] == "python3")

    def test_the_doctor_says_which_package_is_imported(self):
        ours = self.doctor()
        self.assertEqual((ours["state"], ours["fix"]), ("ok", None))
        self.assertRegex(ours["detail"], "^`import zeus` is .*, which is zeus-cpp ")
        other = self.other("theirs/zeus/__init__.py")
        theirs = self.doctor(str(self.folder / "theirs"))
        self.assertEqual(theirs["state"], "problem")
        self.assertIn(other, theirs["detail"])
        self.assertIn("`import zeus_cpp` is this package", theirs["fix"])


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()

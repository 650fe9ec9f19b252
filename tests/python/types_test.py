"""The interface of the Python package, and its types.

  types_test.py BUILD_FOLDER

The golden file is tests/golden/python/interface.txt; ZEUS_UPDATE_GOLDEN=1 writes it again. mypy and vermin come from the
registry; without it those tests are skipped.
"""

import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import imports_test  # noqa: E402
import python_environment  # noqa: E402

GOLDEN = ROOT / "tests" / "golden" / "python" / "interface.txt"
build = pathlib.Path()


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=280, **options)


class Interface(unittest.TestCase):
    maxDiff = None

    def test_it_is_as_it_was(self):
        done = run(sys.executable, pathlib.Path(__file__).with_name("interface.py"))
        self.assertEqual(done.returncode, 0, done.stderr)
        if os.environ.get("ZEUS_UPDATE_GOLDEN") == "1":
            GOLDEN.parent.mkdir(exist_ok=True)
            GOLDEN.write_text(done.stdout, encoding="utf-8")
        self.assertEqual(done.stdout, GOLDEN.read_text(encoding="utf-8"),
                         "the interface has changed: look at it, and run with ZEUS_UPDATE_GOLDEN=1 if it should have")


class Types(unittest.TestCase):
    def setUp(self):
        self.python = python_environment.interpreter(build, "clients")
        # The front's types, which are generated for the build tree; those of the package are in mypy's start folder.
        self.environment = {**os.environ, "PYTHONPATH": "", "MYPYPATH": str(build / "package" / "zeus_cpp" / "front")}

    def mypy(self, *arguments):
        cache = build / "python" / "mypy_cache"
        return run(self.python, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", cache, *arguments,
                   cwd=ROOT / "python", env=self.environment)

    def test_every_type_holds(self):
        done = self.mypy("zeus_cpp")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_programs_are_checked_against_them(self):
        program = build / "python" / "typed_program.py"
        program.write_text("from zeus.monitor import Measurement, ZeusMonitor\nfrom zeus.monitor.energy import MeasurementState\n"
                           "m = ZeusMonitor(gpu_indices=[0])\nreveal_type(m.end_window('x').gpu_energy)\n"
                           "with m.window('y') as w:\n    pass\nreveal_type(w.measurement)\n"
                           "ZeusMonitor(sync_execution_with='caffe')\n"
                           "@m.window('z')\ndef f(a: int) -> str: return ''\nreveal_type(f(1))\n"
                           # What scripts that were written without these types do.
                           "class Mine(ZeusMonitor):\n"
                           "    def begin_window(self, key: str, sync_execution: bool = True, restart: bool = False) -> None:\n"
                           "        super().begin_window(key + '!', sync_execution, restart)\n"
                           "states: dict[str, MeasurementState] = m.measurement_states\n", encoding="utf-8")
        done = self.mypy(program)
        for expected in ('"dict[int, float]"', "Measurement | None", 'incompatible type "Literal[\'caffe\']"', '"str"'):
            self.assertIn(expected, done.stdout.replace("builtins.", ""))
        self.assertIn("Found 1 error in 1 file", done.stdout)

    def test_checkers_find_every_name_that_scripts_import(self):
        program = build / "python" / "typed_imports.py"
        lines = [f"from {module} import {', '.join(names)}" for module, names in imports_test.NAMES.items() if module != "zeus.monitor.__main__"]
        program.write_text("\n".join([*lines, "import zeus", "reveal_type(zeus.__version__)", "reveal_type(zeus.__cpp_version__)"]),
                           encoding="utf-8")
        done = self.mypy(program)
        self.assertEqual([line for line in done.stdout.splitlines() if "error" in line], [], done.stderr)
        self.assertEqual(done.stdout.count('Revealed type is "builtins.str"') + done.stdout.count('Revealed type is "str"'), 2, done.stdout)

    def test_the_native_module_is_what_its_stub_says(self):
        # The test's own interpreter runs the extension, with mypy from the environment.
        path = os.pathsep.join([str(build / "package"), str(python_environment.packages_of(self.python))])
        allowed = build / "python" / "stubtest_allowed.txt"
        # Objects are made by __new__, for which the stub has the signature of __init__.
        allowed.write_text("zeus_cpp\\._native\\.(_Detail|[A-Z][A-Za-z]*\\.__init__)\n", encoding="utf-8")
        done = run(sys.executable, "-m", "mypy.stubtest", "zeus_cpp._native", "--ignore-unused-allowlist", "--allowlist", allowed,
                   env={**os.environ, "PYTHONPATH": path}, cwd=build)
        self.assertIn("Success: no issues found in 1 module", done.stdout, done.stdout + done.stderr)

    def test_python_3_9_understands_every_file(self):
        done = run(self.python.parent / "vermin", "--no-tips", "--eval-annotations", "--no-parse-comments", "--backport", "typing",
                   "-t=3.9-", "--violations", "--exclude", "asyncio.Task", ROOT / "python" / "zeus_cpp", ROOT / "python" / "write_types.py", env=self.environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

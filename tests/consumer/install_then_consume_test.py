"""Installs a build into an empty prefix and uses it from outside, by find_package and by pkg-config.

  install_then_consume_test.py BUILD_FOLDER
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = ": 10000 mJ; thrown by a consumer; caught by it too\n"
build = pathlib.Path()


def run(*command, **options) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class InstallThenConsume(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = pathlib.Path(cls.folder.name) / "prefix"
        run("cmake", "--install", build, "--prefix", cls.prefix)
        cls.libraries = next(cls.prefix.rglob("libzeus.so")).parent

    def check(self, program: pathlib.Path) -> None:
        output = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.libraries)})
        self.assertTrue(output.startswith("zeus ") and output.endswith(EXPECTED), output)

    def test_find_package(self):
        consumer = pathlib.Path(self.folder.name) / "by-cmake"
        run("cmake", "-S", HERE, "-B", consumer, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", consumer)
        self.check(consumer / "consumer")

    def test_pkg_config(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig"),
                       "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"}
        flags = run("pkg-config", "--define-variable", f"prefix={self.prefix}", "--cflags", "--libs", "zeus",
                    env=environment).split()
        program = pathlib.Path(self.folder.name) / "by-pkg-config"
        run("g++", "-std=c++20", HERE / "consumer.cpp", *flags, "-o", program)
        self.check(program)

    def test_the_program_runs_from_the_prefix(self):
        self.assertTrue(run(self.prefix / "bin" / "zeus", "--version").startswith("zeus "))

    def test_completions_are_where_the_shells_look_for_them(self):
        share = self.prefix / "share"
        for file in ("bash-completion/completions/zeus", "zsh/site-functions/_zeus", "fish/vendor_completions.d/zeus.fish"):
            self.assertIn("lr-scaling", (share / file).read_text(encoding="utf-8"))

    def test_the_library_shows_only_what_is_its_own(self):
        shown = run("nm", "-DC", "--defined-only", self.libraries / "libzeus.so").splitlines()
        names = [line.split(maxsplit=2)[2] for line in shown]
        self.assertIn("zeus::version()", names)
        foreign = [name for name in names if "zeus::" not in name and not name.startswith("zeus_")]
        self.assertEqual(foreign, [])


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

"""Installs a build into an empty prefix, and once more staged and then moved, and uses both trees from outside: in C++ and
in C, found by CMake and by pkg-config; and runs the program in place.

  install_then_consume_test.py BUILD_FOLDER
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = {"cpp": ["g++", "-std=c++20", HERE / "cpp/consumer.cpp"], "c": ["gcc", "-std=c11", HERE / "c/consumer.c"]}
EXPECTED = {"cpp": ": 10000 mJ; thrown by a consumer; caught by it too\n", "c": ": 1 GPUs measured from C\n"}
build = pathlib.Path()


def run(*command, **environment) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False,
                          env={**os.environ, **{name: str(value) for name, value in environment.items()}})
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def flags_of(found_by: pathlib.Path) -> list[str]:
    """The flags to compile and link with, from the zeus.pc of a folder."""
    return shlex.split(run("pkg-config", "--cflags", "--libs", "zeus", PKG_CONFIG_PATH=found_by))


class InstalledTree:
    """Checks for a tree, wherever it was installed or moved to."""

    prefix: pathlib.Path

    @classmethod
    def install(cls, folder: pathlib.Path) -> None:
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.install(cls.folder)
        cls.libraries = next(cls.prefix.rglob("libzeus.so")).parent
        cls.zeus = cls.prefix / "bin" / "zeus"

    def check(self, program: pathlib.Path, language: str) -> None:
        output = run(self.zeus, "virtual", "1xV100", "--", program, LD_LIBRARY_PATH=self.libraries)
        self.assertTrue(output.startswith("zeus ") and output.endswith(EXPECTED[language]), output)

    def test_find_package(self):
        for language in COMPILERS:
            with self.subTest(language):
                consumer = self.folder / f"{language}-by-cmake"
                run("cmake", "-S", HERE / language, "-B", consumer, f"-DCMAKE_PREFIX_PATH={self.prefix}")
                run("cmake", "--build", consumer)
                self.check(consumer / "consumer", language)

    def ask_for(self, wanted: str) -> None:
        project = self.folder / f"asks for {wanted}"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.16)\nproject(asks LANGUAGES NONE)\nfind_package(zeus {wanted} REQUIRED)\n",
            encoding="utf-8")
        run("cmake", "-S", project, "-B", project / "build", f"-Dzeus_DIR={self.libraries / 'cmake/zeus'}")

    def test_find_package_refuses_what_this_is_not(self):
        self.ask_for("0.1")
        for wanted in ("0.0.1", "0.99", "1.0", "0.1 COMPONENTS static"):
            with self.subTest(wanted), self.assertRaises(AssertionError):
                self.ask_for(wanted)

    def test_pkg_config(self):
        flags = flags_of(self.libraries / "pkgconfig")
        for language, compiler in COMPILERS.items():
            with self.subTest(language):
                program = self.folder / f"{language}-by-pkg-config"
                run(*compiler, *flags, "-o", program)
                self.check(program, language)

    def test_pkg_config_finds_this_tree(self):
        folders = [pathlib.Path(flag[2:]).resolve() for flag in flags_of(self.libraries / "pkgconfig") if flag[:2] in ("-I", "-L")]
        self.assertEqual(folders, [(self.prefix / "include").resolve(), self.libraries.resolve()])

    def test_a_pc_file_that_names_another_prefix_is_noticed(self):
        planted = self.folder / "planted"
        planted.mkdir()
        text = (self.libraries / "pkgconfig" / "zeus.pc").read_text(encoding="utf-8")
        (planted / "zeus.pc").write_text(text.replace("${pcfiledir}", "/opt/elsewhere/lib/pkgconfig"), encoding="utf-8")
        with self.assertRaisesRegex(AssertionError, r"zeus/zeus\.hpp"):
            run(*COMPILERS["cpp"], *flags_of(planted), "-o", self.folder / "none")

    def test_the_program_finds_what_belongs_to_it(self):
        self.assertTrue(run(self.zeus, "--version").startswith("zeus "))
        measured = run(self.zeus, "virtual", "1xV100", "--", self.zeus, "run", "--", "true", ZEUS_STATE_DIR=self.folder / "state")
        self.assertNotIn("guardian", measured)

    def test_completions_are_where_the_shells_look_for_them(self):
        share = self.prefix / "share"
        for file in ("bash-completion/completions/zeus", "zsh/site-functions/_zeus", "fish/vendor_completions.d/zeus.fish"):
            self.assertIn("lr-scaling", (share / file).read_text(encoding="utf-8"))


class AtItsPrefix(InstalledTree, unittest.TestCase):
    @classmethod
    def install(cls, folder):
        cls.prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", cls.prefix)

    def test_without_the_guardian_the_program_says_so(self):
        guardian = self.prefix / "libexec" / "zeus" / "zeus_guardian"
        aside = guardian.rename(self.folder / "guardian")
        self.addCleanup(aside.rename, guardian)
        with self.assertRaisesRegex(AssertionError, "guardian"):
            self.test_the_program_finds_what_belongs_to_it()


class StagedAndMoved(InstalledTree, unittest.TestCase):
    @classmethod
    def install(cls, folder):
        run("cmake", "--install", build, "--prefix", "/opt/zeus", DESTDIR=folder / "staged")
        cls.prefix = folder / "a second place"
        shutil.move(folder / "staged/opt/zeus", cls.prefix)


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

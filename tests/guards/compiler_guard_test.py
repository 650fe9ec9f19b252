"""Offences that only a compiler sees are refused too: headers that do not compile alone, warnings, bad names, bad
formatting."""

import shutil
import subprocess
import unittest

from planted import ROOT, PlantedTree

CLANG_TIDY = "clang-tidy-16"


class CompilerGuard(PlantedTree):
    def test_a_header_that_does_not_stand_alone_is_refused(self):
        header = self.tree / "src/base/leaning.hpp"
        self.plant("src/base/leaning.hpp", "// Leans on its includers.\n#pragma once\ninline std::string name();\n")
        done = self.run_tool("check_alone.py", "--root", self.tree, header)
        self.assert_refused(done, "src/base/leaning.hpp does not compile alone", "string")
        self.plant("src/base/leaning.hpp", "// Stands.\n#pragma once\n#include <string>\nstd::string name();\n")
        self.assertEqual(self.run_tool("check_alone.py", "--root", self.tree, header).returncode, 0)

    def test_a_test_that_leans_on_its_neighbours_is_refused(self):
        self.append("layers.toml", "\n[modules.planted]\nfloor = 1\n")
        self.plant("src/planted/CMakeLists.txt",
                   "zeus_module(planted SOURCES planted.cpp TESTS first_test.cpp second_test.cpp)\n")
        self.plant("src/planted/planted.cpp", "namespace zeus {}\n")
        self.plant("src/planted/first_test.cpp", "#include <list>\nstd::list<int> first();\n")
        self.plant("src/planted/second_test.cpp", "std::list<int> second();\n")
        shutil.copy(ROOT / "CMakePresets.json", self.tree)
        files = [self.tree / "src/planted" / f"{name}_test.cpp" for name in ("first", "second")]
        done = self.run_tool("check_alone.py", *files)
        self.assert_refused(done, "src/planted/second_test.cpp does not compile alone", "list")
        self.assertNotIn("first_test.cpp does not compile", done.stderr)

    def test_a_warning_is_an_error(self):
        self.append("layers.toml", "\n[modules.planted]\nfloor = 1\n")
        self.plant("src/planted/CMakeLists.txt", "zeus_module(planted SOURCES planted.cpp)\n")
        self.plant("src/planted/planted.cpp", "int truncate(double x) { int unused; return x; }\n")
        build = self.tree / "build"
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", build, "-DZEUS_PRECOMPILE=OFF", "-DZEUS_PIECES=1"],
                       capture_output=True, check=True)
        object_file = "src/planted/CMakeFiles/zeus_planted.dir/planted.cpp.o"  # and not what the module links
        done = subprocess.run(["cmake", "--build", build, "--target", object_file], capture_output=True, text=True, check=False)
        self.assert_refused(done, "Werror=unused-variable", "Werror=float-conversion")

    def test_a_badly_named_type_is_refused(self):
        if not shutil.which(CLANG_TIDY):
            self.skipTest(f"{CLANG_TIDY} is not installed")
        self.plant("src/base/bad.cpp", "struct bad_name {\n  int BadMember = 0;\n};\nvoid BadFunction(bad_name) {}\n")
        done = subprocess.run([CLANG_TIDY, "--quiet", self.tree / "src/base/bad.cpp", "--", "-std=c++20"],
                              capture_output=True, text=True, check=False)
        self.assert_refused(done, "invalid case style for struct 'bad_name'", "invalid case style for member 'BadMember'",
                            "invalid case style for function 'BadFunction'")

    def test_bad_formatting_is_refused_and_mended(self):
        self.plant("src/base/bad.cpp", "int  f( int x ){return x;}\n")
        self.assert_refused(self.run_tool("check_format.py", "--root", self.tree), "src/base/bad.cpp:1")
        self.assertEqual(self.run_tool("check_format.py", "--root", self.tree, "--fix").returncode, 0)
        self.assertEqual(self.run_tool("check_format.py", "--root", self.tree).returncode, 0)


if __name__ == "__main__":
    unittest.main()

"""tools/check_source.py refuses sources that are too large, badly named, or use the system directly."""

import unittest

from planted import ROOT, SmallTree

HEADER = "// A contract.\n#pragma once\n"


def function(lines: int) -> str:
    body = "".join(f"  total += {i};\n" for i in range(lines - 4))
    return f"int oversized(int first,\n              int total) {{\n{body}  return total;\n}}\n"


class SourceGuard(SmallTree):
    TOOL = "check_source.py"
    TREE = {"src/base/clock.hpp": HEADER, "src/base/clock.cpp": "int now() {\n  return 1;\n}\n", "tools/go.py": "print()\n"}

    def test_the_project_itself_passes(self):
        done = self.check(ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_sound_tree_passes(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_an_oversized_function_is_refused_and_a_long_one_only_listed(self):
        self.plant("src/base/long.cpp", function(120))
        done = self.check(arguments=("--longest",))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("  120  src/base/long.cpp:1\n", done.stdout)
        self.plant("src/base/long.cpp", function(121))
        self.assert_refused(self.check(), "src/base/long.cpp:1: the function has 121 lines; more than 120 are refused")

    def test_an_oversized_python_function_is_refused(self):
        self.plant("tools/long.py", "def oversized():\n" + "    print()\n" * 125)
        self.assert_refused(self.check(), "tools/long.py:1: the function has 126 lines")

    def test_an_oversized_file_is_refused(self):
        self.plant("src/base/long.cpp", "int x;\n" * 1001)
        self.assert_refused(self.check(), "the file has 1001 lines")

    def test_an_oversized_public_header_is_refused(self):
        self.plant("include/zeus/long.hpp", HEADER + "\n" * 300)
        self.assert_refused(self.check(), "the public header has 302 lines")

    def test_a_header_without_a_contract_is_refused(self):
        self.plant("src/base/mute.hpp", "#pragma once\n")
        self.assert_refused(self.check(), "src/base/mute.hpp:1: a header opens with a comment")

    def test_asking_the_system_outside_base_is_refused(self):
        for call in ('std::getenv("HOME")', "std::chrono::steady_clock::now()", 'popen("ls", "r")', 'system("ls")',
                     "clock_gettime(CLOCK_MONOTONIC, &time)", "::waitpid(-1, nullptr, 0)",
                     "::prctl(PR_SET_CHILD_SUBREAPER, 1)", "sigtimedwait(&set, nullptr, &time)",
                     'std::filesystem::read_symlink("/proc/self/exe")'):
            with self.subTest(call=call):
                self.plant("src/records/asks.cpp", f"void ask() {{ {call}; }}\n")
                self.assert_refused(self.check(), "src/records/asks.cpp:1: time, environment and processes")

    def test_randomness_of_the_standard_library_is_refused(self):
        self.plant("src/records/draws.cpp", "#include <random>\n")
        self.assert_refused(self.check(), "src/records/draws.cpp:1: randomness comes from base/random.hpp")

    def test_names_that_say_nothing_are_refused(self):
        self.plant("src/base/utils.hpp", HEADER)
        self.plant("src/records/common/energy.hpp", HEADER)
        self.plant("src/base/CamelCase.hpp", HEADER)
        self.assert_refused(self.check(), "'utils' says nothing", "'common' says nothing", "lower_snake")


if __name__ == "__main__":
    unittest.main()

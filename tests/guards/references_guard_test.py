"""tools/check_references.py refuses documents and comments that name missing files or symbols."""

import unittest

from planted import ROOT, SmallTree

TREE = {
    "README.md": "# Title\n\n## A part\n\nRead [the page](docs/page.md#two-words), [above](#a-part), `src/base/clock.hpp` and `Clock`.\n",
    "docs/page.md": "# Page\n\n## Two words\n\n`zeus::Clock::now`, `ClockTest.GoesOn`, `clock.hpp`, `src/*/clock.hpp`, decision 0001.\n",
    "docs/decisions/0001-time.md": "# Time\n\nOnce there was `Sundial`.\n",
    "src/base/clock.hpp": "// A contract (docs/page.md).\nclass Clock {\n  int now();  // as read_clock() does\n};\nint read_clock();\n",
    "src/base/clock_test.cpp": "TEST(ClockTest, GoesOn) {}\n",
    "tools/named_elsewhere.txt": "# Why.\ntrain.py  a user's\n",
    "tools/go.py": "# Runs train.py.\n",
}


class ReferencesGuard(SmallTree):
    TOOL = "check_references.py"
    TREE = TREE

    def test_the_project_itself_passes(self):
        done = self.check(ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_exists_passes(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_each_planted_reference_to_what_is_gone_is_refused(self):
        planted = {
            "a link": ("docs/page.md", "[there](gone.md)", "the link leads to gone.md"),
            "an anchor": ("docs/page.md", "[there](../README.md#gone)", "README.md has no heading #gone"),
            "an anchor of its own page": ("docs/page.md", "[there](#gone)", "docs/page.md has no heading #gone"),
            "an image": ("docs/page.md", "![there](gone.png)", "the link leads to gone.png"),
            "a path": ("docs/page.md", "`src/base/gone.hpp`", "there is no file src/base/gone.hpp"),
            "a path in the wrong folder": ("docs/page.md", "`src/other/clock.hpp`", "there is no file src/other/clock.hpp"),
            "a pattern of paths": ("docs/page.md", "`src/*/gone_*.hpp`", "there is no file src/*/gone_*.hpp"),
            "a symbol": ("docs/page.md", "`zeus::Clock::gone_by`", "there is no zeus::Clock::gone_by"),
            "a class": ("docs/page.md", "`SunDial`", "there is no SunDial"),
            "a test": ("docs/page.md", "`ClockTest.StandsStill`", "there is no test ClockTest.StandsStill"),
            "a decision": ("docs/page.md", "See decision 0002.", "there is no decision 0002"),
            "a file in a comment": ("src/base/more.cpp", "// As gone.hpp says.", "there is no file gone.hpp"),
            "a class in a comment": ("src/base/more.cpp", "/* A SunDial. */", "there is no SunDial"),
            "a function in a comment": ("src/base/more.cpp", "// See read_sun().", "there is no read_sun()"),
            "a decision in a comment": ("tools/more.py", "# docs/decisions/0003", "there is no decision 0003"),
            "a class in a docstring": ("tools/more.py", '"""A SunDial."""', "there is no SunDial"),
        }
        for kind, (name, text, expected) in planted.items():
            with self.subTest(kind):
                self.plant(name, TREE.get(name, "") + f"{text}\n")
                done = self.check()
                self.assertEqual(done.returncode, 1, "it was let through")
                self.assertRegex(done.stderr, rf"^{name}:\d+: ")
                self.assertIn(expected, done.stderr)
                self.plant(name, TREE.get(name, ""))

    def test_code_and_blocks_may_hold_anything(self):
        self.plant("src/base/more.cpp", 'const char* url = "https://gone.example/SunDial.hpp // SunDial";\n')
        self.plant("docs/more.md", "# More\n\n```cpp\nSunDial dial;  // [x](gone.md)\n```\n")
        self.assertEqual(self.check().stderr, "")

    def test_what_is_elsewhere_needs_a_reason_to_stay_listed(self):
        self.plant("tools/go.py", "# Runs nothing.\n")
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing names train.py any more", done.stderr)


if __name__ == "__main__":
    unittest.main()

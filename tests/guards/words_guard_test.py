"""tools/check_words.py refuses the words of docs/glossary.md in everything that people read."""

import unittest

from planted import ROOT, SmallTree

TREE = {
    "docs/glossary.md": "| use | not | for |\n|---|---|---|\n| so | `hence`, whence | a consequence |\n| never | `for ever` | no end |\n",
    "docs/page.md": "So it goes on.\n\n```sh\nhence\n```\n\n    hence\n\nThe option `hence`, and [a link](hence.md).\n",
    "tools/words.toml": "",
    "src/base/clock.hpp": "// So it goes on.\nclass Clock {\n  int hence = 0;\n  const char* key = \"hence\";\n};\n",
    "src/base/clock_test.cpp": "// So it goes on.\nconst char* said = \"and hence it goes on\";\n",
    "python/clock.py": '"""So it goes on."""\nhence = "hence"\n',
}


class WordsGuard(SmallTree):
    TOOL = "check_words.py"
    TREE = TREE

    def assert_refuses(self, *messages: str) -> None:
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines(), [*messages, f"{len(messages)} refused"])

    def test_the_project_itself_passes(self):
        done = self.check(ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_names_code_and_the_strings_of_tests_may_be_anything(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_each_planted_word_is_refused_with_its_place_and_what_to_use(self):
        planted = {
            "a document": ("docs/page.md", "First.\nHence it goes on.\n", "2: 'Hence'"),
            "a document's subfolder": ("docs/start/page.md", "hence\n", "1: 'hence'"),
            "a C++ comment": ("src/base/clock.cpp", "int a;  // hence b\n", "1: 'hence'"),
            "a C comment": ("include/zeus/clock.h", "/* First.\n * And hence\n * more. */\n", "2: 'hence'"),
            "a message": ("src/base/clock.cpp", 'fail("and hence it failed");\n', "1: 'hence'"),
            "a docstring": ("python/hours.py", 'def now():\n    """Now, and\n    hence."""\n', "3: 'hence'"),
            "a Python comment": ("python/hours.py", "a = 1  # hence b\n", "1: 'hence'"),
            "a Python message": ("python/hours.py", 'raise ValueError(f"and hence {a}")\n', "1: 'hence'"),
            "a comment of a test": ("tests/clock_test.cpp", "// And hence.\n", "1: 'hence'"),
            "a comment of a build": ("src/base/CMakeLists.txt", "# And hence.\n", "1: 'hence'"),
            "a unit file": ("packaging/clock.service", "# And hence.\n", "1: 'hence'"),
        }
        for what, (name, text, message) in planted.items():
            with self.subTest(what):
                former = TREE.get(name)
                self.plant(name, text)
                self.assert_refuses(f"{name}:{message}: use so (docs/glossary.md)")
                (self.root / name).unlink()
                if former is not None:
                    self.plant(name, former)

    def test_a_phrase_is_found_across_lines_and_literals(self):
        for name, text in (("src/a.cpp", "// It waits for\n// ever.\n"), ("src/a.cpp", 'log("it waits for "\n    "ever more");\n'),
                           ("docs/a.md", "It waits for\never.\n"), ("python/a.py", "# It waits for\n# ever.\n")):
            with self.subTest(text):
                self.plant(name, text)
                self.assert_refuses(f"{name}:1: 'for ever': use never (docs/glossary.md)")
                (self.root / name).unlink()

    def test_a_planted_test_name_is_refused(self):
        self.plant("tools/words.toml", '[test_names]\ntruth = "true value"\n')
        for name, text, line, word, better in (
            ("src/a_test.cpp", "\nTEST(Clock, WaitsAndHenceStops) {\n}\n", 2, "Hence", "so"),
            ("src/a_test.cpp", "TEST_F(Clock, WaitsForEver) {\n}\n", 1, "For Ever", "never"),
            ("src/a_test.cpp", "TEST_P(Clock, ShowsTheTruthOfUTC) {\n}\n", 1, "Truth", "true value"),
            ("src/a_test.cpp", "TYPED_TEST(Clock, StopsHence) {\n}\n", 1, "Hence", "so"),
            ("tests/a_test.py", "class A:\n    def test_it_stops_hence(self):\n        pass\n", 2, "hence", "so"),
        ):
            with self.subTest(text):
                self.plant(name, text)
                self.assert_refuses(f"{name}:{line}: '{word}' in the name of a test: use {better} (docs/glossary.md)")
                (self.root / name).unlink()

    def test_other_names_than_those_of_tests_may_be_anything(self):
        self.plant("src/a_test.cpp", "TEST(Hence, Waits) {\n  hence_and_truth();\n}\n")
        self.plant("tests/a_test.py", "def hence():\n    pass\n")
        self.assertEqual(self.check().returncode, 0)

    def test_words_without_backticks_are_for_the_ear(self):
        self.plant("docs/page.md", "Whence it comes.\n")
        self.assertEqual(self.check().returncode, 0)

    def test_what_is_allowed_is_allowed_there_alone_and_for_as_long_as_it_stands(self):
        self.plant("tools/words.toml", '[[allowed]]\nword = "hence"\nin = "src/"\nas = "six months hence"\nwhy = "law"\n')
        self.plant("src/base/clock.cpp", "// It ends six months hence.\n")
        self.assertEqual(self.check().returncode, 0)
        self.plant("src/base/clock.cpp", "// It ends six months hence, hence.\n")
        self.assert_refuses("src/base/clock.cpp:1: 'hence': use so (docs/glossary.md)")
        self.plant("src/base/clock.cpp", "// It ends.\n")
        self.assert_refuses("tools/words.toml: 'hence' is allowed in src/, where it no longer stands")

    def test_what_is_allowed_has_a_reason(self):
        self.plant("tools/words.toml", '[[allowed]]\nword = "hence"\nin = "src/"\n')
        self.plant("src/base/clock.cpp", "// And hence.\n")
        self.assert_refuses("tools/words.toml: 'hence' is allowed in src/ without a reason")


if __name__ == "__main__":
    unittest.main()

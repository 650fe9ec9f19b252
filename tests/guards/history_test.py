"""What asks git says in one line that it cannot, where there is nothing to ask: in an unpacked archive, without git, and where git
refuses. A clone without history has one commit, in which everything changed."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


class History(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(prefix="a folder ")
        self.addCleanup(held.cleanup)
        self.tree = pathlib.Path(held.name)
        # But for what other tests write at the same time.
        shutil.copytree(TOOLS, self.tree / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        (self.tree / "src").mkdir()
        (self.tree / "src" / "whole.hpp").write_text("#pragma once\n", encoding="utf-8")

    def run_tool(self, *command: str, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, self.tree / "tools" / command[0], *command[1:]], capture_output=True, text=True,
                              check=False, env={**os.environ, "PATH": path})

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", self.tree, "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments], check=True,
                       capture_output=True)

    def say_it(self, reason: str, **options) -> None:
        for command, code in ((("check_alone.py", "--changed"), 0), (("check_alone.py", "--minutes", "1"), 0), (("check_tidy.py",), 0),
                              (("check_tidy.py", "--minutes", "1"), 0), (("mutate.py", "--work", str(self.tree / "work")), 1)):
            with self.subTest(command):
                done = self.run_tool(*command, **options)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertRegex(done.stdout + done.stderr, f"^{reason}[^\n]*, [^\n]*\n$")

    def test_an_unpacked_archive(self):
        self.say_it("this tree is not a clone")

    def test_a_clone_where_git_is_not_installed(self):
        self.git("init", "--quiet")
        self.say_it("git is not installed", path=str(self.tree))

    def test_a_clone_without_a_commit(self):
        self.git("init", "--quiet")
        self.say_it("fatal: ")

    def test_a_clone_of_one_commit(self):
        self.git("init", "--quiet")
        self.git("add", "src")
        self.git("commit", "--quiet", "-m", "All there is")
        for header, code in (("#pragma once\n", 0), ("#pragma once\nUnknown broken;\n", 1)):
            (self.tree / "src" / "whole.hpp").write_text(header, encoding="utf-8")
            done = self.run_tool("check_alone.py", "--headers", "--changed")
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)

    def test_a_day_of_many_commits_is_checked_whole_and_the_day_before_is_not(self):
        self.git("init", "--quiet")
        for number in range(14):
            (self.tree / "src" / f"part_{number}.hpp").write_text("#pragma once\nUnknown broken;\n", encoding="utf-8")
            self.git("add", "src")
            day = "2024-05-01T10:00:00Z" if number == 0 else f"2024-05-02T12:{number:02}:00Z"
            with unittest.mock.patch.dict(os.environ, GIT_COMMITTER_DATE=day):
                self.git("commit", "--quiet", "-m", f"Part {number}")
        said = self.run_tool("check_alone.py", "--headers", "--minutes", "5").stderr
        self.assertEqual(re.findall("^src/part_(\\d+).hpp does not", said, re.MULTILINE), [str(number) for number in range(13, 0, -1)])


if __name__ == "__main__":
    unittest.main()

"""`zeus llm board` and `zeus llm compare` on files of results: what is shown is what the files say.

  llm_board_test.py PROGRAM
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULT = json.loads((ROOT / "fuzz" / "corpus" / "bench_result" / "whole").read_text(encoding="utf-8"))
program = ""


def llm(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([program, "llm", *words], capture_output=True, text=True, check=False)


class Boards(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "below").mkdir()
        for name, factor in (("a", 1.0), ("below/b", 2.0)):
            result = json.loads(json.dumps(RESULT))
            result["energy_per_output_token_j"]["value"] *= factor
            (self.folder / f"{name}.json").write_text(json.dumps(result), encoding="utf-8")
        (self.folder / "other.json").write_text("{}", encoding="utf-8")

    def test_every_number_of_the_page_is_that_of_a_file(self):
        page = self.folder / "board.html"
        done = llm("board", str(self.folder), "--html", str(page), "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("other.json is left out: this is not a result of zeus llm bench", done.stderr)
        results = json.loads(done.stdout)["results"]
        self.assertEqual([one["on_frontier"] for one in results], [True, False])
        cells = re.findall(r'data-key="([^"]+)" data-value="([^"]*)"', page.read_text(encoding="utf-8"))
        self.assertEqual(len(cells), 20)
        for key, value in cells:
            numbers = []
            for one in results:
                number = one["result"]
                for part in key.split("."):
                    number = number[part]
                numbers.append(number["value"] if isinstance(number, dict) else number)
            self.assertIn(float(value), numbers, key)

    def test_a_difference_has_its_interval(self):
        done = llm("compare", str(self.folder / "a.json"), str(self.folder / "below" / "b.json"), "--json")
        figures = {figure["key"]: figure for figure in json.loads(done.stdout)["figures"]}
        self.assertAlmostEqual(figures["energy_per_output_token_j"]["change"]["value"], 1.0)
        self.assertTrue(figures["energy_per_output_token_j"]["is_clear"])
        self.assertFalse(figures["power_w"]["is_clear"])
        self.assertIn("no clear difference", llm("compare", *[str(self.folder / "a.json")] * 2).stdout)

    def test_what_cannot_be_read_is_left_out(self):
        (self.folder / "folder.json").mkdir()
        (self.folder / "gone.json").symlink_to(self.folder / "nothing")
        os.mkfifo(self.folder / "pipe.json")
        done = subprocess.run([program, "llm", "board", str(self.folder), "/nonexistent.json"], capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("gone", "pipe", "other", "nonexistent"):
            self.assertIn(f"{name}.json is left out", done.stderr)
        self.assertNotIn("folder.json", done.stderr)
        self.assertEqual(done.stdout.count("\n"), 3)

    def test_foreign_words_cannot_move_the_cursor(self):
        result = {**RESULT, "model": "a\x1b[2Jb", "prompts": "p\x1b[1A"}
        foreign = self.folder / "c\x1b[3m.json"
        foreign.write_text(json.dumps(result), encoding="utf-8")
        for words in (("board", str(self.folder)), ("compare", str(self.folder / "a.json"), str(foreign))):
            with self.subTest(words=words):
                done = llm(*words)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("\x1b", done.stdout + done.stderr)
                self.assertIn("\\x1b[2J", done.stdout)

    def test_what_is_no_result_is_refused(self):
        other = str(self.folder / "other.json")
        for words in (("board", other), ("board", "/nonexistent.json"), ("compare", other, other)):
            with self.subTest(words=words):
                done = llm(*words)
                self.assertEqual(done.returncode, 1, done.stderr)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()

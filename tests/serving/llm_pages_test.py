"""The pages of `zeus llm` in a real Chromium, by keyboard alone, light and dark, wide and narrow: the arena from the question to both
votes, and the board's order. What is shown is what the files say. Skipped with one line without Chromium.

  llm_pages_test.py PROGRAM             ZEUS_SCREENSHOTS=FOLDER keeps pictures
"""

import json
import os
import pathlib
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "support"), str(FOLDER.parent / "report")]
import browser_test  # noqa: E402
import chromium  # noqa: E402
import llm_arena_test  # noqa: E402
import llm_board_test  # noqa: E402

SKIPPED = 77
# The page itself in place of the frame that reports are shown in.
MEASURE = browser_test.MEASURE.replace("const frame = document.querySelector('iframe');",
                                       "const frame = {contentDocument: document, contentWindow: window};")


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def look_at(self, page: chromium.Page, name: str) -> None:
        for scheme in browser_test.SCHEMES:
            for size, width in browser_test.WIDTHS.items():
                with self.subTest(page=name, scheme=scheme, size=size):
                    page.look_like(width, scheme)
                    page.value(f"(() => {{{MEASURE}}})()")
                    found = json.loads(page.value("(() => {const found = document.getElementById('found'); found.remove();"
                                                  " return found.textContent;})()"))
                    self.assertEqual((found["width"], found["dark"], found["problems"]), (width, scheme == "dark", []))
                    if folder := os.environ.get("ZEUS_SCREENSHOTS"):
                        page.picture(pathlib.Path(folder) / f"{name}_{scheme}_{size}.png")
        page.look_like(browser_test.WIDTHS["wide"], "light")

    def test_an_arena_is_used_by_keys_alone_in_real_time(self):
        arena = llm_arena_test.Arena(self.folder, a=("--gpus", "0", "--step", "0.02"),
                                     b=("--gpus", "1", "--step", "0.06", "--dialect", "two_tokens_a_chunk"))
        self.addCleanup(arena.close)
        with chromium.Browser() as browser:
            page = browser.page(f"http://127.0.0.1:{arena.port}/")
            self.look_at(page, "arena")
            self.assertEqual(page.value("document.activeElement.id"), "prompt")
            page.type("Why is <b>this</b> so?")
            page.tab_to("go")
            page.press("Enter")
            page.wait_for("!document.getElementById('better').hidden")
            self.assertEqual(page.value("document.activeElement.textContent"), "Left")
            self.look_at(page, "arena_answered")
            self.assertNotIn("tiny", page.value("document.body.textContent"))
            left_is_a = "é1 " in page.value("document.getElementById('left').textContent")
            # The focus is on "Left"; b, which took more, is the better one.
            for _ in range(2 if left_is_a else 0):
                page.press("Tab")
            page.press("Enter")
            page.wait_for("!document.getElementById('worth').hidden")
            self.look_at(page, "arena_voted")
            cells = page.value("Object.fromEntries([...document.querySelectorAll('#result td')].map(cell => [cell.dataset.key,"
                               " cell.textContent]))")
            page.press("Tab")
            page.press("Space")
            page.wait_for("document.getElementById('worth').hidden")
            self.assertEqual(page.value("document.activeElement.id"), "prompt")
        first, second = arena.kept()
        self.assertEqual((first["better"], second["worth"]), ("b", False))
        for place, side in (("left", "a" if left_is_a else "b"), ("right", "b" if left_is_a else "a")):
            one = first[side]
            self.assertEqual(cells[f"{place}.model"], one["model"])
            self.assertEqual(int(cells[f"{place}.tokens"]), one["output_tokens"])
            seconds, unit = cells[f"{place}.time"].split()
            self.assertEqual(unit, "s")
            self.assertAlmostEqual(float(seconds), one["time_s"], delta=0.06)
            value, _, half, unit = cells[f"{place}.energy"].split()
            self.assertEqual(unit, "J")
            self.assertAlmostEqual(float(value), one["energy_j"]["value"], delta=float(half))
            self.assertAlmostEqual(float(half), one["energy_j"]["uncertainty"], delta=0.1 * float(half))

    def test_what_models_write_is_shown_as_text(self):
        arena = llm_arena_test.Arena(self.folder, "--max-tokens", "1", a=("--gpus", "0", "--dialect", "markup"),
                                     b=("--gpus", "1", "--dialect", "markup"))
        self.addCleanup(arena.close)
        with chromium.Browser() as browser:
            page = browser.page(f"http://127.0.0.1:{arena.port}/")
            page.type("Why?")
            page.tab_to("go")
            page.press("Enter")
            page.wait_for("!document.getElementById('better').hidden")
            for place in ("left", "right"):
                self.assertEqual(page.value(f"document.getElementById('{place}').textContent"), "<b id='bold'>1</b> ")
            self.assertTrue(page.value("document.getElementById('bold') === null"))

    def test_a_failure_is_shown_with_its_reason(self):
        arena = llm_arena_test.Arena(self.folder, a=("--gpus", "0", "--trouble", "error_200", "--every", "1"),
                                     b=("--gpus", "1", "--trouble", "error_200", "--every", "1"))
        self.addCleanup(arena.close)
        with chromium.Browser() as browser:
            page = browser.page(f"http://127.0.0.1:{arena.port}/")
            page.type("Why?")
            page.tab_to("go")
            page.press("Enter")
            page.wait_for("!document.getElementById('go').disabled && document.getElementById('state').textContent.includes('answer:')")
            self.assertIn("out of memory", page.value("document.getElementById('state').textContent"))
            self.assertTrue(page.value("document.getElementById('better').hidden"))
            self.look_at(page, "arena_failed")

    def test_a_board_is_sorted_by_keys_alone(self):
        for number, factor in enumerate((2.0, 1.0, 3.0)):
            result = json.loads(json.dumps(llm_board_test.RESULT))
            result["energy_per_output_token_j"]["value"] *= factor
            (self.folder / f"{number}.json").write_text(json.dumps(result), encoding="utf-8")
        self.assertEqual(llm_board_test.llm("board", str(self.folder), "--html", str(self.folder / "board.html")).returncode, 0)
        with chromium.Browser() as browser:
            page = browser.page((self.folder / "board.html").as_uri())
            page.tab_to("by")
            for _ in range(20):
                if page.value("document.activeElement.selectedOptions[0].textContent") == "per token":
                    break
                page.press("ArrowDown")
            for table in (0, 1):
                rows = page.value(f"[...document.querySelectorAll('table')[{table}].querySelectorAll('tr[data-run]')]"
                                  ".map(row => row.dataset.run)")
                self.assertEqual(rows, ["1", "0", "2"])
            self.look_at(page, "board_sorted")


if __name__ == "__main__":
    if chromium.program() is None:
        print("skipped: no Chromium is installed")
        sys.exit(SKIPPED)
    llm_arena_test.program = llm_board_test.program = sys.argv.pop(1)
    unittest.main()

"""The reports in a real Chromium, light and dark, wide and narrow: no text overlaps another or leaves its place, nothing
makes the page scroll sideways, and all text contrasts with its background. Skipped with one line without Chromium.

  browser_test.py [PAGE.html ...]       without pages, those under tests/golden/report
                                        ZEUS_SCREENSHOTS=FOLDER keeps screenshots
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTHS = {"wide": 1280, "narrow": 390}
SCHEMES = {"dark": 0, "light": 1}
SKIPPED = 77

# Inspects the page in the frame and writes the findings into the document.
MEASURE = """
const frame = document.querySelector('iframe');
function boxes(doc, win) {
  const found = [];
  for (const text of doc.querySelectorAll('svg text')) {
    const box = text.getBoundingClientRect();
    if (box.width > 0) found.push({text: text.textContent, box, chart: text.closest('svg'), color:
    win.getComputedStyle(text).fill,
                                   inked: !!text.getAttribute('style')});
  }
  const walker = doc.createTreeWalker(doc.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest('svg,script,style') || !parent.checkVisibility()) continue;
    const range = doc.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects())
      if (box.width > 0) found.push({text: node.textContent.trim(), box, chart: null, parent, color:
      win.getComputedStyle(parent).color});
  }
  return found;
}
function luminance(color) {
  const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) /
  1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
function look() {
  const doc = frame.contentDocument, win = frame.contentWindow, problems = [];
  for (const folded of doc.querySelectorAll('details')) folded.open = true;
  const all = boxes(doc, win);
  const name = text => JSON.stringify(text.slice(0, 60));
  const panel = doc.querySelector('section') ? win.getComputedStyle(doc.querySelector('section')).backgroundColor :
  'rgb(255,255,255)';
  for (let i = 0; i < all.length; ++i) {
    const a = all[i];
    if (a.chart) {
      const frameBox = a.chart.getBoundingClientRect();
      if (a.box.left < frameBox.left - 1 || a.box.right > frameBox.right + 1 || a.box.top < frameBox.top - 1 || a.box.bottom
      > frameBox.bottom + 1)
        problems.push('outside its drawing: ' + name(a.text));
    } else {
      const scroller = a.parent.closest('.scroll');
      const right = scroller ? Infinity : doc.documentElement.clientWidth;
      if (a.box.left < -1 || a.box.right > right + 1) problems.push('outside the page: ' + name(a.text));
    }
    if (!a.inked && contrast(a.color, panel) < 4.0) problems.push('hard to read: ' + name(a.text) + ' ' + a.color + ' on ' +
    panel);
    for (let j = i + 1; j < all.length; ++j) {
      const b = all[j];
      if (a.chart !== b.chart) continue;
      const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (across > 1.5 && down > 3.5) problems.push('overlap: ' + name(a.text) + ' and ' + name(b.text));
    }
  }
  for (const one of doc.querySelectorAll('body *:not(svg, svg *)'))
    if (win.getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1)
      problems.push('a part scrolls sideways: ' + name(one.textContent));
  if (doc.documentElement.scrollWidth > doc.documentElement.clientWidth + 1) problems.push('the page scrolls sideways');
  const dark = win.matchMedia('(prefers-color-scheme: dark)').matches;
  const result = document.createElement('pre');
  result.id = 'found';
  result.textContent = JSON.stringify({width: win.innerWidth, dark, texts: all.length, charts:
  doc.querySelectorAll('svg').length, problems});
  document.body.appendChild(result);
}
look();
"""


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def run_browser(folder: pathlib.Path, scheme: str, *flags: str) -> str:
    profile = tempfile.mkdtemp(dir=folder)
    done = subprocess.run(
        [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         f"--user-data-dir={profile}", f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", *flags],
        capture_output=True, text=True, check=False, timeout=120)
    return done.stdout


def framed(page: pathlib.Path, width: int) -> str:
    content = html.escape(page.read_text(encoding="utf-8"), quote=True)
    # The whole page is laid out; it may be longer than any window.
    return ("<!doctype html><meta charset='utf-8'><style>body{margin:0}iframe{border:0;display:block}</style>"
            f"<iframe width='{width}' height='4000' srcdoc=\"{content}\"></iframe>"
            f"<script>window.addEventListener('load', () => {{{MEASURE}}});</script>")


class Reports(unittest.TestCase):
    def look_at(self, page: pathlib.Path, scheme: str, size: str) -> dict:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = pathlib.Path(name)
            copy = folder / "framed.html"
            copy.write_text(framed(page, WIDTHS[size]), encoding="utf-8")
            screenshots = os.environ.get("ZEUS_SCREENSHOTS")
            if screenshots:
                picture = pathlib.Path(screenshots) / f"{page.stem}_{scheme}_{size}.png"
                run_browser(folder, scheme, f"--window-size={max(WIDTHS[size], 500)},4000", f"--screenshot={picture}",
                            copy.as_uri())
            dom = run_browser(folder, scheme, "--window-size=1400,900", "--dump-dom", copy.as_uri())
        found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
        self.assertIsNotNone(found, "the page was not measured: " + dom[-500:])
        return json.loads(html.unescape(found[1]))

    def test_nothing_overlaps_or_leaves_its_place_and_all_can_be_read(self):
        for page in pages:
            for scheme in SCHEMES:
                for size, width in WIDTHS.items():
                    with self.subTest(page=page.name, scheme=scheme, size=size):
                        found = self.look_at(page, scheme, size)
                        self.assertEqual(found["width"], width)
                        self.assertEqual(found["dark"], scheme == "dark")
                        self.assertGreater(found["texts"], 20)
                        self.assertGreater(found["charts"], 0)
                        self.assertEqual(found["problems"], [])

    def test_what_does_overlap_or_leave_its_place_is_found(self):
        text = ("<!doctype html><section><svg width=300 height=100 viewBox='0 0 300 100'><text x=10 y=50>one label</text>"
                "<text x=30 y=52>another</text><text x=280 y=90>far outside</text></svg>"
                "<p style='color:#eee;background:#fff'>pale</p><div style='width:3000px'>wide</div>"
                "<div style='overflow-x:auto'><svg width=3000 height=20></svg>drawing</div></section>")
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "bad.html"
            page.write_text(text, encoding="utf-8")
            problems = " ".join(self.look_at(page, "light", "wide")["problems"])
        for kind in ("overlap", "outside its drawing", "hard to read", "the page scrolls sideways", "a part scrolls sideways"):
            self.assertIn(kind, problems)


if __name__ == "__main__":
    if chromium() is None:
        print("skipped: no Chromium is installed")
        sys.exit(SKIPPED)
    pages = [pathlib.Path(name) for name in sys.argv[1:]] or sorted((ROOT / "tests" / "golden" / "report").glob("*.html"))
    unittest.main(argv=sys.argv[:1])

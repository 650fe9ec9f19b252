"""The tables of docs/comparison.md on one fixed limit are what tools/fixed_limit_table.py prints of the published traces."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT.parent / "shared" / "traces"


class FixedLimit(unittest.TestCase):
    def test_the_page_has_the_rows_of_the_traces(self):
        if not TRACES.is_dir():
            self.skipTest("the published traces are not beside this checkout")
        page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
        for trace, highest in (("v100", "250"), ("a40", "300")):
            command = [sys.executable, ROOT / "tools" / "fixed_limit_table.py", TRACES / f"summary_power_{trace}.csv", highest]
            rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            self.assertEqual(rows.count("\n"), 6)
            self.assertIn(rows, page)


if __name__ == "__main__":
    unittest.main()

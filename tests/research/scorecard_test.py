"""The scorecard of `zeus simulate paper` is what scorecard.py works out from the page's JSON: from the built-in models, and from
the published traces where they lie beside the checkout. A planted wrong number, verdict or row is found.

  scorecard_test.py ZEUS
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import scorecard

TRACES = pathlib.Path(__file__).resolve().parents[3] / "shared" / "traces"
zeus = ""


def paper(*more: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "paper.json"
        subprocess.run([zeus, "simulate", "paper", "--quiet", "--json", page, *more], check=True, timeout=280)
        return json.loads(page.read_text(encoding="utf-8"))


class Scorecard(unittest.TestCase):
    def test_of_the_models_is_what_their_figures_say(self):
        page = paper("--seeds", "3")
        self.assertEqual(scorecard.differences(page), [])
        for plant, wanted in (
                (lambda rows: rows[0].update(value=rows[0]["value"] + 0.01), rows_name(page, 0)),
                (lambda rows: rows[1].update(verdict="too uncertain to say"), rows_name(page, 1)),
                (lambda rows: rows.pop(2), f"has no row {rows_name(page, 2)}")):
            wrong = copy.deepcopy(page)
            plant(wrong["scorecard"])
            self.assertIn(wanted, " ".join(scorecard.differences(wrong)))

    def test_of_one_seed_claims_nothing_that_scatters(self):
        page = paper("--seeds", "1")
        self.assertEqual(scorecard.differences(page), [])
        for row in page["scorecard"]:
            if "(one seed)" in row["here"]:
                self.assertEqual(row["verdict"], "too uncertain to say", row)

    def test_of_the_published_traces_is_what_their_figures_say(self):
        if not TRACES.is_dir():
            self.skipTest("published traces are not beside the checkout")
        power = [word for gpu in ("v100", "a40") for word in ("--power-trace", str(TRACES / f"summary_power_{gpu}.csv"))]
        page = paper("--seeds", "4", "--train-trace", str(TRACES / "summary_train.csv"), *power)
        self.assertEqual(scorecard.differences(page), [])
        rows = {row["key"]: row for row in page["scorecard"]}
        self.assertEqual([rows[key]["verdict"] for key in ("both_least", "both_most", "best_for_time", "best_for_energy")],
                         4 * ["agrees"])
        self.assertIn("74.7 %", rows["saved_most"]["reason"])
        self.assertIn("RTX6000, P100", rows["other_gpus"]["claim"])


def rows_name(page: dict, index: int) -> str:
    return f"'{page['scorecard'][index]['key']}'"


if __name__ == "__main__":
    zeus = sys.argv[1]
    unittest.main(argv=sys.argv[:1])

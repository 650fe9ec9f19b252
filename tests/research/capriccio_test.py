"""examples/capriccio: slices have the right tweets, by a check that does not use the slicer; damaged files are named with the line;
a classifier really learns each slice, and policies follow when the data drifts.

  capriccio_test.py ZEUS CAPRICCIO BUILD_FOLDER [--whole]      --whole: 1.6 million rows, 38 slices, 40 seeds
"""

import collections
import csv
import datetime
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "capriccio"
PAGE = (EXAMPLE.parents[1] / "docs" / "reproduce-nsdi23.md").read_text(encoding="utf-8")
GOOD = '"4","1","Fri May 01 10:00:00 PDT 2009","NO_QUERY","user","happy"\n'
zeus, capriccio, build, whole = pathlib.Path(), pathlib.Path(), pathlib.Path(), False


def python() -> str:
    """An interpreter with numpy."""
    return sys.executable if importlib.util.find_spec("numpy") else str(python_environment.interpreter(build, "clients"))


def run(script: str, *words) -> subprocess.CompletedProcess:
    return subprocess.run([python(), EXAMPLE / script, *map(str, words)], capture_output=True, text=True, check=False, timeout=900)


def rows_in_order(path: pathlib.Path) -> list[tuple[datetime.datetime, str, str, int]]:
    with open(path, encoding="latin-1", newline="") as file:
        rows = [(datetime.datetime.strptime(date.replace("PDT ", ""), "%a %b %d %H:%M:%S %Y"), date, text, int(mood))
                for mood, _, date, _, _, text in csv.reader(file)]
    return sorted(rows, key=lambda row: row[0])


class Capriccio(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tweets, self.slices = self.folder / "tweets.csv", self.folder / "slices"

    def generate(self, *more) -> None:
        done = run("generate.py", self.tweets, *more)
        self.assertEqual(done.returncode, 0, done.stderr)

    def tweets_of(self, number: int, part: str) -> list[tuple[str, str, int]]:
        lines = (self.slices / f"{number}_{part}.json").read_text(encoding="utf-8").splitlines()
        return [(one["date"], one["text"], one["label"]) for one in map(json.loads, lines)]

    def test_slices_have_the_tweets_from_each_day_on(self):
        self.generate("--rows", 6000, "--seed", 3)
        # Out of order, and a day without tweets.
        lines = [line for line in self.tweets.read_text().splitlines(keepends=True) if "May 05" not in line]
        self.tweets.write_text("".join(lines[::-1]))
        done = run("slices.py", self.tweets, self.slices, "--rows", 2000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_slices(done.stdout, 2000)

    def check_slices(self, said: str, size: int) -> None:
        """That the slices are right, without the slicer; of many, three."""
        rows = rows_in_order(self.tweets)
        starts = {}
        for place, row in enumerate(rows):
            if row[0].date() >= datetime.date(2009, 5, 1) and place + size <= len(rows):
                starts.setdefault(row[0].date(), place)
        self.assertEqual(said, f"{len(starts)} slices of {size} tweets\n")
        self.assertEqual(len(list(self.slices.iterdir())), 2 * len(starts))
        for number, start in enumerate(starts.values(), 1):
            if size > 10_000 and number not in (1, len(starts) // 2, len(starts)):
                continue
            train, held_out = self.tweets_of(number, "train"), self.tweets_of(number, "val")
            self.assertEqual((len(train), len(held_out)), (85 * size // 100, 15 * size // 100))
            self.assertEqual(collections.Counter(train + held_out), collections.Counter(row[1:] for row in rows[start:start + size]))
            self.assertNotEqual(train, sorted(train), "shuffled")

    def test_damaged_files_are_named_with_the_line(self):
        for content, wanted in (
                (GOOD.encode() + b'"4","1","NO_QUERY","user","happy"\n', ":2: a row has 6 columns, and this one 5"),
                (GOOD.encode() + GOOD.replace('"4"', '"2"').encode(), ":2: the mood is 0 or 4, and not '2'"),
                (GOOD.encode() + GOOD.replace("Fri May 01 10:00:00 PDT 2009", "").encode(), ":2: '' is not a date"),
                (GOOD.encode() + GOOD.replace("10:00:00", "25:00:00").encode(), ":2: 'Fri May 01 25:00:00 PDT 2009' is not a date"),
                (GOOD.encode() + b'"4","1","Fri May 01', ":2: this is not CSV"),
                (GOOD.encode() + GOOD.replace("happy", "café").encode("utf-8"), ":2: this is UTF-8"),
                (GOOD.encode("utf-16"), ":1: this is not Latin-1 text"),
                (GOOD.encode(), ": no day from 2009-05-01 on is followed by 500000 tweets"),
                (b"", ": no day from 2009-05-01 on")):
            with self.subTest(wanted):
                self.tweets.write_bytes(content)
                done = run("slices.py", self.tweets, self.slices)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
                self.assertIn(f"slices.py: {self.tweets}{wanted}", done.stderr)
                self.assertFalse(self.slices.exists())
        self.tweets.write_bytes(GOOD.replace("happy", "café").encode("latin-1") * 2)
        self.assertEqual(run("slices.py", self.tweets, self.slices, "--rows", 2).returncode, 0)

    def test_the_classifier_names_an_empty_slice_and_a_damaged_one(self):
        self.slices.mkdir()
        for content, wanted in (("", "1_train.json has no tweet"), ("{}\n", "1_train.json:1: this is not a line of slices.py")):
            (self.slices / "1_train.json").write_text(content)
            done = subprocess.run([capriccio, "epochs", self.slices], capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(wanted, done.stderr)

    def page_of(self, seeds: int, drift_day: int = 42) -> dict:
        """By the page's commands, literally, but for the seeds in the night and the day of the drift."""
        (block,) = [one for one in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "generate.py" in one]
        block = block.replace("--seeds 3", f"--seeds {seeds}").replace("--drift-day 42", f"--drift-day {drift_day}")
        for name, target in (("examples", EXAMPLE.parent), ("build", build)):
            if not (self.folder / name).exists():
                (self.folder / name).symlink_to(target)
        done = subprocess.run(["bash", "-e", "-c", block], cwd=self.folder, capture_output=True, text=True, check=False, timeout=1800,
                              env={**os.environ, "PATH": ":".join(
                                  (str(pathlib.Path(python()).parent), str(zeus.parent), os.environ["PATH"]))})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("38 slices of 20000 tweets", done.stdout)
        return json.loads((self.folder / "capriccio.json").read_text())

    def test_policies_follow_when_what_is_really_learned_drifts(self):
        seeds = 40 if whole else 3
        page = self.page_of(seeds)
        (section,) = [one for one in page["sections"] if one["title"].startswith("Slices of tweets")]
        (table,) = [figure for figure in section["figures"] if figure["kind"] == "table"]
        print(section["paragraphs"][0], *table["columns"], *(" | ".join(row) for row in table["rows"]), sep="\n")
        self.assertRegex(section["paragraphs"][0], "sets in with slice (9|1[0-9]|2[0-9])")
        samples = {figure["key"]: figure["values"] for figure in section["figures"] if figure["kind"] == "samples"}
        costs = {key: values[0] for key, values in samples.items()}
        for policy, row in zip(("zeus", "lookahead"), table["rows"][1:]):
            below = sum(a < b for a, b in zip(costs[f"slices_cost_of_{policy}"], costs["slices_cost_of_default"]))
            self.assertEqual(row[2], f"{below} of {seeds}")
            self.assertGreaterEqual(below, 0.95 * seeds if whole else seeds, policy)
            noticed = sum(0 < one <= 10 for one in costs[f"slices_until_another_of_{policy}"])
            self.assertEqual(row[4], f"{noticed} of {seeds}")
            self.assertGreaterEqual(noticed, 0.8 * seeds if whole else 2, policy)
            alone = sum(0 < one <= 10 for one in samples[f"slices_until_another_of_{policy}"][1])
            self.assertEqual(row[5], f"{alone} of {seeds}", "without drift")
            before, on_one_slice, _, _ = samples[f"slices_changes_of_{policy}"]
            self.assertLessEqual(sum(before), sum(on_one_slice), "no more changes without drift than without slices")
        self.assertEqual(alone, 0, "lookahead changes nothing without drift")
        for seed in ("1", "2", "3"):
            done = subprocess.run([build / "tests" / "slices_through_run", self.folder / "epochs.csv", "zeus", "10", seed],
                                  capture_output=True, text=True, check=True, timeout=120)
            (replay, through_run) = (line[8:].split() for line in done.stdout.splitlines())
            self.assertGreaterEqual(len(replay), 38)
            self.assertGreater(len(set(replay[10:])), 2, "after exploring, too")
            self.assertEqual(replay, through_run, "`zeus run` takes the decisions of its replay")
        (row,) = [row for row in page["scorecard"] if row["key"] == "capriccio"]
        self.assertEqual((row["verdict"], row["here"][:12]), ("not repeated", "an analogue:"))

    def test_a_slice_is_learned_as_a_command_too(self):
        self.generate("--rows", 6000)
        run("slices.py", self.tweets, self.slices, "--rows", 2000)
        done = subprocess.run([capriccio, "train", self.slices, "1", "16", "0"], capture_output=True, text=True, check=False, timeout=60)
        accuracies = [float(one) for one in re.findall(r"epoch \d+: accuracy ([\d.]+)", done.stdout)]
        self.assertEqual(done.returncode, 0 if accuracies[-1] >= 0.72 else 1)
        self.assertGreater(max(accuracies), 0.6)


class Whole(Capriccio):
    """With --whole alone: it writes 4 GB."""

    def test_slices_that_do_not_drift_lead_to_no_more_changes_than_one_slice(self):
        # Before the drift of the page's slices, where an epoch suffices, and after it, where epochs scatter.
        for day in (99, 0):
            page = self.page_of(40, day)
            samples = {figure["key"]: figure["values"] for section in page["sections"] for figure in section["figures"]
                       if figure["kind"] == "samples"}
            for policy in ("zeus", "lookahead"):
                _, _, on_slices, on_one_slice = samples[f"slices_changes_of_{policy}"]
                print(f"drift on day {day}, {policy}: {sum(on_slices) / 40:.2f} changes of batch size after the 10th of 38 recurrences, "
                      f"{sum(on_one_slice) / 40:.2f} on the first slice alone")
                self.assertLessEqual(sum(on_slices), sum(on_one_slice))

    def test_1600000_rows_take_a_minute_and_500_mb(self):
        self.generate()
        with open(self.folder / "said", "w+", encoding="utf-8") as said:
            child = subprocess.Popen([python(), EXAMPLE / "slices.py", self.tweets, self.slices], stdout=said)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            self.assertEqual(child.returncode, 0)
            self.check_slices(said.read(), 500_000)
        print(f"{used.ru_utime + used.ru_stime:.0f} s of a processor, {used.ru_maxrss / 1024:.0f} MiB")
        self.assertLess(used.ru_utime + used.ru_stime, 60)
        self.assertLess(used.ru_maxrss * 1024, 500e6)


if __name__ == "__main__":
    whole = "--whole" in sys.argv
    zeus, capriccio, build = (pathlib.Path(one).resolve() for one in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], "Whole" if whole else "Capriccio"])

"""`zeus demo` end to end: the same figures for the same seed, a report whose numbers are those of `zeus jobs --json`, and a
message if there is nothing to save.

  demo_test.py ZEUS
  demo_test.py ZEUS SEEDS     the story of each of so many seeds; and how long what is said to be settled stays so
"""

import concurrent.futures
import html.parser
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

zeus = ""


class Numbers(html.parser.HTMLParser):
    """The page's contents: the job's data, the cells of its tables, the points of its figures."""

    def __init__(self, text: str):
        super().__init__()
        self.cells: dict[str, float] = {}
        self.points: list[tuple[str, float, float]] = []
        self.job: dict = {}
        self.in_data = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "data-key" in values:
            self.cells[values["data-key"]] = float(values["data-value"])
        if "data-series" in values:
            self.points.append((values["data-series"], float(values["data-x"]), float(values["data-y"])))
        self.in_data = tag == "script" and values.get("id") == "job"

    def handle_data(self, data):
        if self.in_data:
            self.job = json.loads(data)
            self.in_data = False


SETTLED_NIGHTS = 5
NEXT_NIGHTS = 10


class Told:
    """What the lines of a demo say of its nights: the batch sizes that ran, and the one it had settled on."""

    def __init__(self, lines: str):
        self.ran: list[list[int]] = []
        self.settled: list[int | None] = []
        self.went_wrong: int | None = None
        self.cheapest: dict[tuple[int, int], list[int]] = {}  # by night and batch size: said to be, and then held
        now = None
        for line in lines.splitlines():
            if measured := re.match(r"night +(\d+): batch size +(\d+): \d+ power limits measured .* of which (\d+) W is cheapest", line):
                self.cheapest[int(measured[1]), int(measured[2])] = [int(measured[3])]
            elif over := re.match(r"night +(\d+): batch size +(\d+) at (\d+) W: (reached the target|stopped early|gave up)", line):
                self.begin(int(over[1]), now)
                self.ran[-1].append(int(over[2]))
                if over[4] == "reached the target":  # another may have ended with its measuring
                    self.cheapest.get((int(over[1]), int(over[2])), []).append(int(over[3]))
            elif settled := re.match(r"    it has settled on batch size (\d+)", line):
                now = self.settled[-1] = int(settled[1])
            elif line == "    it has not settled any more":
                now = self.settled[-1] = None
            elif line.startswith("    from this night on, two in five images"):
                self.went_wrong = len(self.ran) + 1

    def begin(self, night: int, settled: int | None):
        while len(self.ran) < night:
            self.ran.append([])
            self.settled.append(settled)


def check_story(test: unittest.TestCase, told: Told, said: str, record: dict):
    """Each claim about settling and about limits against the nights that ran."""
    for (night, batch_size), limits in told.cheapest.items():
        test.assertEqual(len(set(limits)), 1, f"night {night}, batch size {batch_size}: the cheapest limit is the one that is held")
    test.assertEqual(len(told.ran), len(record["nights"]))
    for number, settled in enumerate(told.settled):
        if settled is not None:
            last = told.ran[max(0, number + 1 - SETTLED_NIGHTS):number + 1]
            test.assertEqual(last, [[settled]] * SETTLED_NIGHTS, f"settled on night {number + 1}")
    test.assertEqual(told.went_wrong, record["labels_went_wrong"])
    if told.went_wrong:
        before = told.settled[told.went_wrong - 2]
        test.assertIn(f"on night {told.went_wrong}, the job had settled on batch size {before} at ", said)
    if told.settled[-1] is None:
        test.assertIsNone(record["settled"])
        again = " again" if told.went_wrong else ""
        test.assertIn(f"After {len(told.ran)} nights the job has not settled{again}; it ran batch size {told.ran[-1][-1]} at ",
                      said)
        return
    since = len(told.settled)
    while since > 1 and told.settled[since - 2] == told.settled[-1] and since - 1 != (told.went_wrong or 0) - 1:
        since -= 1
    test.assertEqual(record["settled"], since)
    if "there is nothing to save on it" not in said:
        test.assertIn(f"After {since} nights the job has settled on batch size {told.settled[-1]} at ", said)


def nights_after(told: Told) -> list[bool]:
    """Of the nights after the job settled, ten each time: whether they ran that batch size alone."""
    kept: list[bool] = []
    before = None
    for number, settled in enumerate(told.settled):
        if settled is not None and settled != before:
            end = len(told.ran)
            if told.went_wrong and number + 1 < told.went_wrong:
                end = told.went_wrong - 1
            kept += [ran[0] == settled for ran in told.ran[number + 1:end][:NEXT_NIGHTS]]
        before = settled
    return kept


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def demo(self, *flags: str, code: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run([zeus, "demo", *flags], capture_output=True, text=True, check=False, timeout=280,
                              env=dict(os.environ, TMPDIR=str(self.folder)), umask=0o022)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_the_quick_tour_settles_or_says_so_and_its_report_holds_the_numbers_of_zeus_jobs(self):
        page = self.folder / "demo.html"
        as_json = self.folder / "demo.json"
        done = self.demo("--quick", "--seed", "1", "--html", str(page), "--json", str(as_json))
        self.assertRegex(done.stdout, r"After \d+ nights the job has (settled on|not settled)")
        check_story(self, Told(done.stderr), done.stdout, json.loads(as_json.read_text(encoding="utf-8")))
        self.assertIn("power limits measured while it trained", done.stderr)
        self.assertIn("a wrong label", done.stderr)
        self.assertIn("stopped early", done.stderr)
        self.assertIn("CO2 at 480 g per kWh", done.stdout)
        self.assertEqual(stat.S_IMODE(page.stat().st_mode), 0o644)
        command = re.search(r"zeus (jobs \S+ --store \S+)", done.stdout)[1].split()
        printed = subprocess.run([zeus, *command, "--json"], capture_output=True, text=True, check=True).stdout
        job = json.loads(printed)
        numbers = Numbers(page.read_text(encoding="utf-8"))
        self.assertEqual(numbers.job, job)
        told = json.loads(as_json.read_text(encoding="utf-8"))
        self.assertEqual((told["job"], told["report"]), (job, str(page)))
        self.assertEqual(len(told["nights"]), len(job["recurrences"]))
        self.assertAlmostEqual(told["savings"]["energy_j"],
                               sum(night["default_energy_j"] - night["energy_j"] for night in told["nights"]), delta=1e-6)
        for what in ("energy_j", "time_s", "cost_j"):
            total = sum(night[what] for night in told["nights"])
            self.assertAlmostEqual(job["spent"][what], total, delta=1e-9 * total, msg="the demo's sums are the job's")
        self.assertIn(f"All {len(told['nights'])} nights", done.stdout)
        batch_sizes = {str(one["batch_size"]): one for one in job["batch_sizes"]}
        for key, value in numbers.cells.items():
            kind, _, rest = key.partition(".")
            if kind == "batch_sizes":
                name, _, what = rest.partition(".")
                self.assertEqual(value, batch_sizes[name][what], key)
            elif kind == "tries":
                number, _, what = rest.partition(".")
                known = next(one for one in job["tries"] if one["try"] == int(number))[what]
                self.assertEqual(value, known["value"] if isinstance(known, dict) else known, key)
            elif kind == "spent":
                self.assertEqual(value, job["spent"][rest], key)
            else:
                self.assertEqual(kind, "really_run_default", "what was really run stands there, and nothing expected beside it")
        costs = [(x, y) for series, x, y in numbers.points if series == "cost.reached"]
        self.assertEqual(len(costs), sum(one["state"] == "reached" for one in job["recurrences"]))
        unit = job["recurrences"][0]["cost_j"] / costs[0][1]
        for x, y in costs:
            self.assertAlmostEqual(y * unit, job["recurrences"][int(x) - 1]["cost_j"], delta=1e-6 * unit)
        self.assertEqual(len([1 for series, _, _ in numbers.points if series.startswith("choice.")]), len(job["tries"]))

    def test_the_same_seed_gives_the_same_tour_and_another_seed_another(self):
        def tour(seed: str) -> str:
            done = self.demo("--quick", "--steady", "--seed", seed)
            return re.sub(r"\S*zeus-demo-\S+", "PATH", done.stdout + done.stderr)

        first = tour("3")
        self.assertEqual(first, tour("3"))
        self.assertNotEqual(first, tour("4"))

    def test_a_default_that_is_the_best_is_reported_as_such(self):
        # Only time counts, so full power is best, and few batch sizes are faster.
        page = self.folder / "demo.html"
        done = self.demo("--quick", "--steady", "--eta", "0", "--default-batch-size", "64", "--quiet", "--report", str(page))
        self.assertIn("The default, batch size 64 at 250 W, is already the best that was found: there is nothing to save on it.",
                      done.stdout)
        last = re.search(r"The last \d+ nights\n(.*\n)(.*\n)", done.stdout)
        self.assertRegex(last[2], r"^  time .* the same\n")
        job = Numbers(page.read_text(encoding="utf-8")).job
        self.assertEqual((job["tries"][-1]["batch_size"], job["tries"][-1]["limit_w"]), (64, 250.0))

    def test_what_cannot_be_is_refused_in_one_line(self):
        for flags in (("--default-batch-size", "77"), ("--eta", "2"), ("--seed", "-1")):
            with self.subTest(flags=flags):
                done = subprocess.run([zeus, "demo", "--quick", *flags], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_report_that_cannot_be_written_is_refused_before_anything_is_done(self):
        for flag, report, code in (("--report", "/proc/demo.html", 1), ("--html", str(self.folder), 2),
                                   ("--json", str(self.folder), 2)):
            with self.subTest(flag=flag, report=report):
                done = self.demo(flag, report, code=code)
                self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))
                self.assertIn(report, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


def check_seeds(count: int) -> int:
    test = unittest.TestCase()
    kept: list[bool] = []

    def tour(seed: int) -> Told:
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "demo.json"
            done = subprocess.run([zeus, "demo", "--seed", str(seed), "--json", str(record)], capture_output=True, text=True,
                                  check=True, env=dict(os.environ, TMPDIR=folder))
            told = Told(done.stderr)
            check_story(test, told, done.stdout, json.loads(record.read_text(encoding="utf-8")))
            return told

    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for seed, told in enumerate(pool.map(tour, range(count))):
            after = nights_after(told)
            kept += after
            print(f"seed {seed}: {len(told.ran)} nights, {sum(after)} of {len(after)} after settling", flush=True)
    print(f"{sum(kept)} of {len(kept)} nights after the job settled ran that batch size")
    return 0 if len(kept) >= count and sum(kept) >= 0.9 * len(kept) else 1


if __name__ == "__main__":
    zeus = sys.argv[1]
    if len(sys.argv) > 2:
        sys.exit(check_seeds(int(sys.argv[2])))
    unittest.main(argv=sys.argv[:1])

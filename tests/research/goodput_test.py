"""Goodput is that of adaptdl, which is Pollux's own program, at random parameters; the batch size chosen is never worse by its
yardstick, nor the model fitted to what was seen. The section of the page is what its samples say.

  goodput_test.py ZEUS ANSWERS BUILD_FOLDER [--whole]      --whole: 20 seeds
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import scorecard

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "reproduce-nsdi23.md").read_text(encoding="utf-8")
DRAWS = 1000
CONNECTIONS = ("nvlink", "pcie", "ethernet")
# Runs with adaptdl: reads the questions' parameters, prints the answers by its own functions.
YARDSTICK = """
import json, sys
import numpy
numpy.int = int  # which its version of numpy had
from adaptdl import goodput
job = json.load(sys.stdin)
answers = {"goodput": [], "best": [], "fit": []}
def function(one):
    a, b, c, d, overlap, square, variance, reference, devices, nodes = one
    # Two kinds of connections, of which a job's slowest one counts.
    links = (1e-8, 1e-8, c, d) if nodes == 1 else (c, d, 1e-8, 1e-8)
    return goodput.GoodputFunction((a, b, *links, overlap), (square, variance), reference)
for one, share in job["goodput"]:
    answers["goodput"].append(float(function(one).evaluate(one[9], one[8], share, 0)))
for one, least, most, chosen in job["best"]:
    own = function(one).optimize(one[9], one[8], max_batch_size=most * one[8], atomic_bsz_range=(least, most))[0]
    answers["best"].append((own, float(function(one).evaluate(one[9], one[8], chosen, 0))))
for seen, fitted in job["fit"]:
    devices, shares, compute, step = (numpy.array(column) for column in zip(*seen))
    nodes = numpy.ones(len(seen))
    own = goodput.fit_perf_params(nodes, devices, shares, compute, step)
    a, b, c, d, overlap = fitted
    ours = goodput.PerfParams(a, b, own.alpha_n, own.beta_n, max(c, 1e-8), d, overlap)
    # On one node, what its model says of several costs both the same.
    loss = lambda model: float(goodput._obj_fn(model, nodes, devices, shares, compute, step))
    answers["fit"].append((loss(own), loss(ours)))
json.dump(answers, sys.stdout)
"""
zeus, answers_program, build, whole = "", "", pathlib.Path(), False


def adaptdl() -> pathlib.Path:
    """A folder with adaptdl and what its module of goodput imports beside numpy and scipy."""
    def fetch(folder: pathlib.Path) -> None:
        for package in ("adaptdl", "autograd"):
            python_environment.download(folder, package, "--only-binary", ":all:")
        for wheel in folder.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder / "packages")

    return python_environment.made_once(build, f"{python_environment.pin('adaptdl')}-wheel", fetch) / "packages"


def answers(questions: list[str]) -> list[list[float]]:
    done = subprocess.run([answers_program], input="\n".join(questions) + "\n", capture_output=True, text=True, check=True, timeout=120)
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


class Adaptdl(unittest.TestCase):
    def yardstick(self, job: dict) -> dict:
        python = python_environment.interpreter(build, "clients")
        done = subprocess.run([python, "-c", YARDSTICK], input=json.dumps(job), capture_output=True, text=True, check=False, timeout=280,
                              env={"PYTHONPATH": str(adaptdl()), "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return {"goodput": [], "best": [], "fit": [], **json.loads(done.stdout)}

    def test_goodput_is_adaptdls_and_the_choice_never_worse(self):
        draw = random.Random(41)
        jobs, shares = [], []
        for _ in range(DRAWS):
            devices = draw.randint(3, 16)
            jobs.append([10 ** draw.uniform(-3, 0), 10 ** draw.uniform(-4, -1), 10 ** draw.uniform(-3, 0), 10 ** draw.uniform(-4, -1),
                         draw.uniform(1, 10), 10 ** draw.uniform(-3, 1), 10 ** draw.uniform(-2, 3), draw.choice((8, 32, 100)), devices,
                         draw.choice((1, devices))])
            shares.append(draw.randint(-(-jobs[-1][7] // devices), 256))
        words = [" ".join(map(repr, one[:9])) for one in jobs]
        ours = [one for (one,) in answers([f"goodput {job} {share}" for job, share in zip(words, shares)])]
        ranges = [(-(-one[7] // one[8]), draw.choice((64, 192, 512))) for one in jobs]
        chosen = [int(one) for (one,) in answers([f"best {job} {least} {most}" for job, (least, most) in zip(words, ranges)])]
        theirs = self.yardstick({"goodput": list(zip(jobs, shares)),
                                 "best": [(job, *bounds, share) for job, bounds, share in zip(jobs, ranges, chosen)], "fit": []})
        off = max(abs(a / b - 1) for a, b in zip(ours, theirs["goodput"]))
        self.assertEqual(len(ours), DRAWS)
        self.assertLess(off, 1e-9)
        worse = max(own / here - 1 for own, here in theirs["best"])
        better = sum(here > own * (1 + 1e-9) for own, here in theirs["best"])
        self.assertLess(worse, 1e-12)
        print(f"goodput: at most {off:.1e} off in {DRAWS} draws; the choice is better in {better} of them, and worse in none")

    def test_the_model_fits_what_was_seen_no_worse(self):
        draw = random.Random(42)
        seen = []
        for _ in range(40):
            base, slope, exchange, further = (10 ** draw.uniform(*limits) for limits in ((-2, 0), (-4, -2), (-2, 0), (-4, -2)))
            overlap, rows = draw.uniform(1, 5), []
            for devices in draw.sample((1, 2, 4, 8), 3):
                for share in draw.sample((8, 16, 32, 64, 128), 3):
                    compute = (base + slope * share) * draw.lognormvariate(0, 0.02)
                    link = exchange + further * (devices - 2) if devices > 1 else 0.0
                    step = (compute ** overlap + link ** overlap) ** (1 / overlap) * draw.lognormvariate(0, 0.02)
                    rows.append((devices, share, compute, step))
            seen.append(rows)
        fitted = answers([f"fit {len(rows)} " + " ".join(repr(word) for row in rows for word in row) for rows in seen])
        losses = self.yardstick({"goodput": [], "best": [], "fit": list(zip(seen, fitted))})["fit"]
        worse = max(ours - own for own, ours in losses)
        better = sum(ours < own - 1e-3 for own, ours in losses)
        print(f"fit: at most {worse:.1e} above adaptdl's loss in {len(losses)} fits, better by more than 0.001 in {better}")
        self.assertLess(worse, 1e-4)


class Page(unittest.TestCase):
    def test_its_tables_and_scores_are_what_its_samples_say(self):
        # The page's command, literally; but for the seeds in the night.
        (command,) = re.findall(r"^zeus simulate paper --goodput.*$", PAGE, re.MULTILINE)
        seeds = 20 if whole else 3
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(command.replace("--seeds 3", f"--seeds {seeds}"), shell=True, cwd=folder, check=True, timeout=1800,
                           stderr=subprocess.DEVNULL, env={**os.environ, "PATH": f"{pathlib.Path(zeus).parent}:{os.environ['PATH']}"})
            content = json.loads((pathlib.Path(folder) / "goodput.json").read_text(encoding="utf-8"))
        (section,) = [one for one in content["sections"] if one["title"].startswith("Four GPUs")]
        samples = {one["key"]: one["values"] for one in section["figures"] if one["kind"] == "samples"}
        trainings, *tables = [one for one in section["figures"] if one["kind"] == "table"]
        for table in (trainings, *tables):
            print(table["title"], " | ".join(table["columns"]), *(" | ".join(row) for row in table["rows"]), sep="\n")
        self.assertEqual([row[1] for row in trainings["rows"]], 3 * [f"{seeds} of {seeds}"], "the target is reached")
        for connection, table in zip(CONNECTIONS, tables[::2]):
            for eta, row in enumerate(table["rows"]):
                columns = [samples[f"goodput_{of}_of_{policy}_{connection}"][eta] for policy in ("zeus", "lookahead") for of in ("time", "energy")]
                for cell, of_seeds in zip(row[1:], columns):
                    self.assertEqual(len(of_seeds), seeds)
                    _, low, high = scorecard.interval(of_seeds)
                    half = (high - low) / 2 / (seeds + 1) ** 0.5
                    for word, value in zip(cell.split(" ± "), (sum(of_seeds) / seeds, half)):
                        self.assertAlmostEqual(float(word), value, delta=0.0006 + 1e-3 * abs(value), msg=cell)
        for table in tables[2:4] if whole else ():
            for row in table["rows"]:
                self.assertIn(f"| {' | '.join(row)} |", PAGE)
        for of, paper in (("time", "1.12 times"), ("energy", "0.79 times")):
            (row,) = [one for one in content["scorecard"] if one["key"] == f"pollux_{of}"]
            self.assertEqual((row["verdict"], row["paper"], row["value"]), ("not repeated", paper, None))
            self.assertTrue(row["here"].startswith("an analogue gives "), row["here"])
            self.check_range(row["here"].removeprefix("an analogue gives "), samples[f"goodput_{of}_of_zeus_pcie"][2])
        self.assertEqual(scorecard.differences(content), [])

    def check_range(self, said: str, of_seeds: list[float]) -> None:
        for word, value in zip(said.replace("(", "").replace(")", "").replace("to ", "").split(), scorecard.interval(of_seeds)):
            self.assertAlmostEqual(float(word), value, delta=0.0006 + 1e-3 * abs(value), msg=said)


if __name__ == "__main__":
    whole = "--whole" in sys.argv
    zeus, answers_program = (str(pathlib.Path(one).resolve()) for one in sys.argv[1:3])
    build = pathlib.Path(sys.argv[3]).resolve()
    unittest.main(argv=[sys.argv[0], *(["Page"] if whole else [])])

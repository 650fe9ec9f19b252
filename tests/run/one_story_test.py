"""`zeus run` has the results that the simulator predicts: twenty scripts for a command at two batch sizes (epochs of given
lengths, a target reached after some epochs or never, NaN, a crash), each really run on a virtual GPU. The expected tries and
outcomes are computed from the script alone; the expected charges from the command's own clock and the load.

  one_story_test.py PROGRAM

Only time counts (eta 0). Each script ends its tries 20 % or more away from every budget, so that a busy machine does not
decide.
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest

program = ""
WATTS, MAX_POWER, BETA, MAX_EPOCHS, SEED = 240.0, 250.0, 2.0, 12, 7
# batch size: seconds of an epoch, epochs to the target (None: never), epochs before a crash (None: none)
DEFAULT = (0.8, 5, None)
OTHERS = [(0.8, 3, None), (0.8, 4, None), (0.4, 8, None), (0.4, 10, None), (0.2, 12, None),  # reach the target
          (0.2, 20, None), (0.2, None, None), (0.4, None, None), (0.45, 13, None), (0.3, 30, None),  # use up the epochs
          (5.6, 9, None), (5.6, None, None), (5.4, 3, None), (5.8, 2, None), (11.0, 1, None), (12.0, None, None),  # take long
          (0.4, 5, 0), (0.4, 5, 2), (1.0, None, 1), (0.4, 5, 4)]  # crash
TRAINER = textwrap.dedent("""
    import sys, time
    began = time.time()
    seconds, needed, crash, epochs = map(float, sys.argv[1:5])
    for epoch in range(1, int(epochs) + 1):
        if crash == epoch - 1:
            break
        time.sleep(seconds)
        print(f"epoch {epoch} accuracy {0.9 if 0 < needed <= epoch else 'nan' if epoch % 2 else 0.1}", flush=True)
        with open(sys.argv[5], "a") as own:
            own.write(f"{time.time() - began}\\n")
    sys.exit(9 if crash >= 0 else 0)
    """)


def foreseen(script: tuple, budget: float | None) -> tuple[str, int]:
    """The outcome of a try and its epochs, as computed by optimize::Judgement::foresee, with the budget in seconds."""
    seconds, needed, crash = script
    fit = MAX_EPOCHS if budget is None else min(MAX_EPOCHS, int(budget / seconds))
    if needed is not None and needed <= fit:
        outcome, epochs = "reached", needed
    else:
        outcome, epochs = "exhausted" if fit == MAX_EPOCHS else "stopped", fit
    # A crash counts as a miss at a batch size that never worked, if the default has.
    return ("exhausted", crash) if crash is not None and crash < epochs else (outcome, epochs)


class OneStory(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "train.py").write_text(TRAINER, encoding="utf-8")

    def recur(self, number: int, other: tuple) -> list[dict]:
        """The entries of a job's history, of two recurrences."""
        flat = {size: " ".join(str(-1 if value is None else value) for value in script)
                for size, script in ((10, DEFAULT), (20, other))}
        command = (f"if [ {{batch_size}} = 10 ]; then set -- {flat[10]}; else set -- {flat[20]}; fi; "
                   f"exec {sys.executable} train.py $1 $2 $3 {MAX_EPOCHS} own-{number}-{{seed}}")
        data = self.folder / str(number)
        environment = {**os.environ, "XDG_DATA_HOME": str(data), "XDG_RUNTIME_DIR": str(self.folder),
                       "ZEUS_STATE_DIR": str(self.folder)}
        for _ in range(2):
            subprocess.run(
                [program, "virtual", "1xV100", "--load", f"constant:{WATTS}W", "--", program, "run", "--job", "story",
                 "--batch-sizes", "10,20", "--default-batch-size", "10", "--target-metric", "0.9", "--max-epochs", str(MAX_EPOCHS),
                 "--eta", "0", "--beta", str(BETA), "--policy", "zeus", "--seed", str(SEED), "--power-limits", "250",
                 "--profile-seconds", "0.05", "--metric-regex", "accuracy ([-.0-9a-z]+)", "--epoch-regex", r"^epoch (\d+)",
                 "--stop-at-target", "--", "sh", "-c", command],
                capture_output=True, text=True, check=False, timeout=120, cwd=self.folder, env=environment)
        with sqlite3.connect(data / "zeus/jobs.sqlite") as store:
            return [json.loads(row[0]) for row in store.execute("select body from entries order by job, sequence")]

    def expect_charged(self, number: int, given: dict, end: dict):
        """The energy is that of the load over the time; the time is that of the command, by its own clock."""
        gpu = end["gpus"][0]["energy_j"]
        self.assertEqual(end["energy_j"], gpu["value"])
        self.assertAlmostEqual(gpu["value"], WATTS * end["time_s"], delta=2 * gpu["uncertainty"] + 0.5)
        own = self.folder / f"own-{number}-{given['seed']}"
        ticks = [float(line) for line in own.read_text().splitlines()] if own.exists() else []
        self.assertGreaterEqual(len(ticks), end["epochs"])
        if end["epochs"] > 0:
            self.assertGreater(end["time_s"], ticks[end["epochs"] - 1])
        if end["outcome"] != "stopped" and end["epochs"] > 0:
            # Besides the epochs: the start of the interpreter, and the time until the last line is read.
            self.assertAlmostEqual(end["time_s"], ticks[end["epochs"] - 1], delta=0.1 * end["time_s"] + 0.5)
        if end["outcome"] == "stopped":
            # The budget is checked every two seconds within an epoch.
            budget = given["budget_j"] / MAX_POWER
            self.assertGreater(end["time_s"], budget)
            self.assertLess(end["time_s"], budget + 3.0)

    def test_every_try_ends_as_the_closed_form_foresees(self):
        seen = set()
        for number, other in enumerate(OTHERS):
            with self.subTest(script=other):
                entries = self.recur(number, other)
                started = [entry for entry in entries if entry["kind"] == "started"]
                ended = [entry for entry in entries if entry["kind"] == "finished"]
                budget = BETA * DEFAULT[0] * DEFAULT[1]
                ends = {foreseen(other, budget * share) for share in (0.8, 1.0, 1.2)}
                self.assertEqual(len(ends), 1, "this script is too close to its budget")
                end = ends.pop()
                expected = [(0, 10, "reached", DEFAULT[1]), (1, 20, *end)]
                if end[0] != "reached":
                    expected.append((1, 10, "reached", DEFAULT[1]))
                self.assertEqual([(one["recurrence"], one["batch_size"], one["outcome"], one["epochs"]) for one in ended], expected)
                self.assertEqual([one["seed"] for one in started], [SEED + 1 + one["try"] for one in started])
                self.assertEqual({one["limit_w"] for one in ended if one["epochs"] > 0}, {MAX_POWER})
                for given, one in zip(started, ended):
                    self.expect_charged(number, given, one)
                spent = (started[1].get("budget_j") or 0) / (BETA * MAX_POWER)
                self.assertAlmostEqual(spent, ended[0]["time_s"], delta=1e-6 * spent, msg="the budget is beta times the least cost")
                seen.add(end[0])
        self.assertEqual(seen, {"reached", "stopped", "exhausted"})


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    del sys.argv[1:2]
    unittest.main()

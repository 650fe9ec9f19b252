"""`zeus run` tells the story that the simulator foresees: twenty scripts of what a command does at two batch sizes (epochs that
take so long, a target reached after so many or never, NaN, a crash), each run for real on a virtual GPU. What came of every
try is worked out from the script and from what the try was given, by the closed form, and so is what it cost.

  one_story_test.py PROGRAM

Only time counts (eta 0). Budgets are held to within 15 %, as the machine may be busy.
"""

import json
import math
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest

program = ""
MAX_POWER, BETA, MAX_EPOCHS = 250.0, 2.0, 12
# batch size: seconds of an epoch, epochs to the target (None: never), epochs before a crash (None: none)
DEFAULT = (0.2, 5, None)
OTHERS = [(0.2, 3, None), (0.2, 4, None), (0.1, 8, None), (0.1, 10, None), (0.05, 12, None),  # reach the target
          (0.05, 20, None), (0.05, None, None), (0.08, None, None), (0.06, 13, None), (0.04, 30, None),  # use up the epochs
          (0.85, 9, None), (0.85, None, None), (0.85, 3, None), (0.83, 12, None), (0.87, 4, None), (0.85, 2, None),  # take long
          (0.1, 5, 0), (0.1, 5, 2), (0.3, None, 1), (0.1, 5, 4)]  # crash
TRAINER = textwrap.dedent("""
    import sys, time
    seconds, needed, crash, epochs = map(float, sys.argv[1:])
    for epoch in range(1, int(epochs) + 1):
        if crash == epoch - 1:
            sys.exit(9)
        time.sleep(seconds)
        print(f"epoch {epoch} accuracy {0.9 if 0 < needed <= epoch else 'nan' if epoch % 2 else 0.1}", flush=True)
    """)


def foreseen(script: tuple, cap: int, budget: float | None, start: float) -> tuple[str, int]:
    """The end of a try and its epochs, as optimize::Judgement::foresee has it. Its start took `start` seconds."""
    seconds, needed, crash = script
    allowed = cap if budget is None else min(cap, max(0, math.floor((budget / MAX_POWER - start) / seconds)))
    if needed is not None and needed <= allowed:
        outcome, epochs = "reached", needed
    else:
        outcome, epochs = "stopped" if allowed < MAX_EPOCHS else "exhausted", allowed
    # At a batch size that never worked, where the default has, a crash counts as a miss.
    return ("exhausted", crash) if crash is not None and crash < epochs else (outcome, epochs)


class OneStory(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "train.py").write_text(TRAINER, encoding="utf-8")

    def recur(self, number: int, other: tuple, times: int) -> list[dict]:
        flat = {size: " ".join(str(-1 if value is None else value) for value in script)
                for size, script in ((10, DEFAULT), (20, other))}
        command = (f"if [ {{batch_size}} = 10 ]; then set -- {flat[10]}; else set -- {flat[20]}; fi; "
                   f"exec {sys.executable} train.py $1 $2 $3 {MAX_EPOCHS}")
        data = self.folder / str(number)
        environment = {**os.environ, "XDG_DATA_HOME": str(data), "XDG_RUNTIME_DIR": str(self.folder),
                       "ZEUS_STATE_DIR": str(self.folder)}
        for _ in range(times):
            subprocess.run(
                [program, "virtual", "1xV100", "--load", "constant:240W", "--", program, "run", "--job", "story", "--batch-sizes",
                 "10,20", "--default-batch-size", "10", "--target-metric", "0.9", "--max-epochs", str(MAX_EPOCHS), "--eta", "0",
                 "--beta", str(BETA), "--policy", "zeus", "--power-limits", "250", "--profile-seconds", "0.05", "--metric-regex",
                 "accuracy ([-.0-9a-z]+)", "--epoch-regex", r"^epoch (\d+)", "--stop-at-target", "--", "sh", "-c", command],
                capture_output=True, text=True, check=False, timeout=120, cwd=self.folder, env=environment)
        with sqlite3.connect(data / "zeus/jobs.sqlite") as store:
            return [json.loads(row[-1]) for row in store.execute("select * from entries order by 1, 2")]

    def test_every_try_ends_as_the_closed_form_foresees(self):
        seen = set()
        for number, other in enumerate(OTHERS):
            entries = self.recur(number, other, 2)
            started = {entry["try"]: entry for entry in entries if entry["kind"] == "started"}
            ended = [entry for entry in entries if entry["kind"] == "finished"]
            self.assertIn(20, {entry["batch_size"] for entry in ended}, other)
            first = ended[0]
            start = max(0.0, first["time_s"] - first["epochs"] * DEFAULT[0])
            for end in ended:
                with self.subTest(script=other, batch_size=end["batch_size"], number=end["try"]):
                    given = started[end["try"]]
                    script = DEFAULT if end["batch_size"] == 10 else other
                    budget = given.get("budget_j")
                    bounds = [None] if budget is None else [budget * share for share in (0.85, 1.0, 1.15)]
                    ends = [foreseen(script, given["max_epochs"], bound, start) for bound in bounds]
                    seen.add(end["outcome"])
                    self.assertIn((end["outcome"], end["epochs"]), ends)
                    took = end["epochs"] * script[0]
                    self.assertGreater(end["time_s"], took)
                    self.assertLess(end["time_s"], 1.3 * took + start + 1.0)
        self.assertEqual(seen, {"reached", "stopped", "exhausted"})


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    del sys.argv[1:2]
    unittest.main()

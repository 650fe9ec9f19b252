"""Runs recurring_training on a virtual GPU: it really trains at one batch size after another, and leaves the GPU as it was.

  recurring_test.py ZEUS RECURRING_TRAINING
"""

import json
import re
import shlex
import subprocess
import sys
import unittest

ROW = re.compile(r"^ +(\d+) +(\d+) +([\d.]+) +([\d.]+) s +([\d.]+) J \+- ([\d.]+) J.*(reached the target|stopped: too expensive|did not reach it)$",
                 re.MULTILINE)
zeus, program = "", ""


def on_a_virtual_gpu(*command: str) -> str:
    done = subprocess.run([zeus, "virtual", "1xV100", "--load", "follow:cifar100", "--", *command], capture_output=True,
                          text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class RecurringTraining(unittest.TestCase):
    def test_it_trains_at_every_batch_size_and_repeats_the_cheapest(self):
        text = on_a_virtual_gpu(program, "0.7")
        rows = ROW.findall(text)
        self.assertEqual([row[0] for row in rows[:5]], ["16", "64", "128", "256", "512"], text)
        self.assertEqual(len(rows), 6, text)
        reached = [row for row in rows if row[6] == "reached the target"]
        self.assertGreaterEqual(len(reached), 1, text)
        for batch_size, epochs, accuracy, time, energy, doubt, _ in reached:
            self.assertGreaterEqual(float(accuracy), 0.88, batch_size)
            self.assertGreater(int(epochs), 1)
            self.assertLess(float(doubt), float(energy))
            self.assertTrue(30 < float(energy) / float(time) < 260, "the power of a V100")
        best = re.search(r"^Batch size (\d+) is cheapest", text, re.MULTILINE)
        self.assertIsNotNone(best, text)
        self.assertEqual(best[1], rows[5][0])

    def test_without_a_gpu_it_trains_and_says_that_nothing_is_known_of_energy(self):
        done = subprocess.run([program, "0.1"], capture_output=True, text=True, check=False, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_it_leaves_the_limit_as_it_was(self):
        script = f'{shlex.quote(program)} 0.1 >/dev/null && {shlex.quote(zeus)} devices --json'
        limit = json.loads(on_a_virtual_gpu("sh", "-c", script))["gpus"][0]["power_limit_w"]
        self.assertEqual(limit["current"], limit["default"])


if __name__ == "__main__":
    zeus, program = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])

"""`zeus run` and scripts that print their steps in fourteen ways, as processes: seven ways, each with 5 and with 20 steps an
epoch, and epochs of 0.4, 1.6 and 6 s. The scripts sleep, so that an epoch takes as long under every power limit. Prints what
`zeus run` took an epoch for. No epoch may be known and more than 5 % off; on a quiet machine 12 of 14 ways are known, beside
four busy processes 9.

  ways_of_printing_test.py PROGRAM [TEST ...]
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import busy_machine  # noqa: E402

WAYS = ("from_0", "from_1", "hundreds", "over_all", "without_number", "every_fourth", "tqdm")
STEPS, EPOCHS = (5, 20), (0.4, 1.6, 6.0)
# They sleep most of the time.
BESIDE_ONE_ANOTHER = 4
TRAINING = """
import sys, time
way, steps, epoch, epochs = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
due, drawn = time.monotonic(), 0.0
def bar(done):
    global drawn
    drawn = time.monotonic()
    sys.stderr.write(f"\\r{100 * done // steps:3}%|{'#' * done}| {done}/{steps} [00:01<00:07,  3.14it/s]")
    sys.stderr.flush()
for number in range(epochs):
    if way == "tqdm":
        bar(0)
    for step in range(steps):
        due += epoch / steps
        time.sleep(max(0.0, due - time.monotonic()))
        line = {"from_0": f"step {step}", "from_1": f"step {step + 1}", "hundreds": f"step {100 * (step + 1)}",
                "over_all": f"step {number * steps + step + 1}", "without_number": "a step is done",
                "every_fourth": f"step {step + 1}" if step % 4 == 3 else ""}.get(way)
        if line:
            print(line, flush=True)
        elif way == "tqdm" and (step + 1 == steps or time.monotonic() - drawn >= 0.1):
            bar(step + 1)
    if way == "tqdm":
        sys.stderr.write("\\n")
    print(f"epoch {number} is over", flush=True)
"""
program = ""


def worst_error(way: str, steps: int, epoch: float) -> tuple[float | None, str]:
    """Over the limits that were measured; none if none was, with the last words of `zeus run`."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder, "XDG_RUNTIME_DIR": folder, "ZEUS_STATE_DIR": folder}
        run = subprocess.run([program, "virtual", "1xV100", "--load", "constant:80W", "--",
                              program, "run", "--job", "ways", "--epoch-regex", r"^epoch (\d+)", "--power-limits", "100,175,250",
                              "--", sys.executable, "-c", TRAINING, way, str(steps), str(epoch),
                              str(max(12, int(30 / epoch)))],
                             capture_output=True, text=True, check=True, timeout=300, env=environment)
        exported = subprocess.run([program, "jobs", "ways", "export"], capture_output=True, text=True, check=True, timeout=60,
                                  env=environment)
    entries = [json.loads(line) for line in exported.stdout.splitlines()]
    times = [limit["epoch_time_s"] for entry in entries if entry.get("kind") == "profiled" for limit in entry["limits"]]
    said = [line for line in run.stderr.splitlines() if line.startswith("zeus: ")]
    return max((abs(time / epoch - 1) for time in times), default=None), said[-1] if said else ""


class WaysOfPrintingTest(unittest.TestCase):
    def judge(self, least_known: int) -> None:
        with concurrent.futures.ThreadPoolExecutor(BESIDE_ONE_ANOTHER) as pool:
            cases = [(way, steps, epoch) for epoch in EPOCHS for way in WAYS for steps in STEPS]
            errors = dict(zip(cases, pool.map(lambda case: worst_error(*case), cases)))
        for (way, steps, epoch), (error, said) in errors.items():
            print(f"{way:14} {steps:3} steps {epoch:4} s", f"{error:7.1%}" if error is not None else f"unknown: {said}")
        self.assertEqual([case for case, (error, _) in errors.items() if error is not None and error > 0.05], [])
        for epoch in EPOCHS:
            known = sum(error is not None for case, (error, _) in errors.items() if case[2] == epoch)
            self.assertGreaterEqual(known, least_known, f"of epochs of {epoch} s")

    def test_on_a_quiet_machine(self):
        self.judge(12)

    def test_beside_four_busy_processes(self):
        with busy_machine.busy(4):
            self.judge(9)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()

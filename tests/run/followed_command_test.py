#!/usr/bin/env python3
"""What `zeus run -- CMD` states of a command that a virtual GPU slows down, beside what is true of that GPU.

  followed_command_test.py PROGRAM [--load LOAD] [--runs N] [--epochs E...] [--saves]

In real time, as a user sees it: `zeus virtual 1xV100 --load LOAD -- zeus run --profile-seconds 0.6 -- python3 train.py --epochs E`
in examples/script, N times for each E. The truth is the virtual GPU's own power and speed under the kept limit and under the
highest. In 95 % of the runs limits must have been compared to the end, and in 90 % the true changes of energy and of time lie in the
stated intervals. With --saves, as many must state that they save energy. Use a machine that does nothing else: what the processors
do to the script is scatter.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "examples/script"
HIGHEST = 250
# Prints the virtual GPU's power and speed.
LOOK = """
import ctypes, json, time
class Truth(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in "time energy power work speed clock temperature".split()]
driver, truth = ctypes.CDLL("libnvidia-ml.so.1"), Truth()
time.sleep(0.1)
driver.zeus_virtual_read_truth(0, ctypes.byref(truth))
print(json.dumps([truth.power, truth.speed]))
"""
LEAST_MEASURED, LEAST_TRUE = 0.95, 0.90
STATED = re.compile(r"at (?P<limit>\d+) W(?:: compared with \d+ W, a step takes |; no saving against \d+ W could be told from chance \()"
                    r"(?P<energy>[^,;]+? energy) and (?P<time>[^,;]+? time)")
CHANGE = re.compile(r"(?P<value>\S+) ± (?P<half>\S+) % (?P<sign>less|more)")


class Machine:
    def __init__(self, zeus: pathlib.Path, load: str, folder: pathlib.Path) -> None:
        self.zeus, self.load, self.folder = zeus, load, folder
        self.environment = {**os.environ, "XDG_DATA_HOME": str(folder), "XDG_RUNTIME_DIR": str(folder),
                            "ZEUS_STATE_DIR": str(folder), "HOME": str(folder)}

    def virtual(self, spec: str, command: list[str]) -> subprocess.CompletedProcess:
        return subprocess.run([self.zeus, "virtual", spec, "--load", self.load, "--", *command], cwd=SCRIPT,
                              env=self.environment, capture_output=True, text=True, check=True)

    def run(self, epochs: int) -> tuple[dict, str]:
        """The result of `zeus run`, and its last line."""
        result = self.folder / "result.json"
        run = self.virtual("1xV100", [str(self.zeus), "run", "--profile-seconds", "0.6", "--json", str(result), "--",
                                      "python3", "train.py", "--epochs", str(epochs)])
        said = [line for line in run.stderr.splitlines() if line.startswith("zeus: ")]
        return json.loads(result.read_text()), said[-1]

    def under(self, limit: int) -> tuple[float, float]:
        """Joules and seconds for a second's work at full speed."""
        power, speed = json.loads(self.virtual(f"1xV100@limit={limit}", [sys.executable, "-c", LOOK]).stdout)
        return power / speed, 1 / speed


def interval(text: str) -> tuple[float, float]:
    """The value and the half-width of a change, in percent."""
    found = CHANGE.match(text)
    return (-1 if found["sign"] == "less" else 1) * float(found["value"]), float(found["half"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--load", default="follow:cifar100")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--epochs", type=int, nargs="+", default=[25, 120])
    parser.add_argument("--saves", action="store_true", help="the runs must state that they save energy")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(options.program.resolve(), options.load, pathlib.Path(folder))
        runs = []
        for epochs in options.epochs:
            for _ in range(options.runs):
                result, said = machine.run(epochs)
                runs.append((result, said))
                print(f"{epochs} epochs, {len(result['training']['profile']['measurements'])} limits: {said}", flush=True)
        limits = {HIGHEST} | {int(optimum["limit_w"]) for result, _ in runs if (optimum := result["training"]["optimum"])}
        taken = {limit: machine.under(limit) for limit in sorted(limits)}
    true = {limit: [100 * (value / highest - 1) for value, highest in zip(one, taken[HIGHEST])] for limit, one in taken.items()}
    for limit, (energy, seconds) in true.items():
        print(f"{limit} W: {energy:+.1f} % energy, {seconds:+.1f} % time")
    measured = held = saved = 0
    for result, said in runs:
        training = result["training"]
        measured += bool(training["profile"]["complete"])
        stated = STATED.search(said)
        if not training["optimum"] or not stated:
            print("nothing is stated:", said)
            held += bool(training["optimum"]) and training["optimum"]["limit_w"] == HIGHEST
            continue
        changes = (interval(stated["energy"]), interval(stated["time"]))
        right = all(abs(value - truth) <= half for (value, half), truth in zip(changes, true[int(stated["limit"])]))
        held += right
        value, half = changes[0]
        saved += value + half < 0
        if not right:
            print("missed:", said)
    count = len(runs)
    print(f"limits compared to the end in {measured} of {count}; the true changes of energy and of time in their intervals in "
          f"{held} of {count}")
    print(f"a saving of energy is stated in {saved} of {count}")
    if measured < LEAST_MEASURED * count or held < LEAST_TRUE * count or (options.saves and saved < LEAST_TRUE * count):
        sys.exit(f"at least {LEAST_MEASURED:.0%} and {LEAST_TRUE:.0%} are required")


if __name__ == "__main__":
    main()

"""Sweeps in large: energies against the true ones, the rate beside GNU parallel over the same servers, how the time grows
with the queue, and the paper's own experiment from sweep to decision. In real time.

  population_test.py PROGRAM MODEL_SETTINGS [-k TEST]
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from sweep_stand import SSHD, Folder, ssh_hosts

program = model_settings = ""
BATCH_SIZES, LIMITS, SEEDS = (16, 32, 64, 128, 256), (100, 150, 200, 250), (1, 2)
ETA = 0.5

# A training whose epochs take as long as the model of the GPU says: its work is done by the virtual GPU, at the speed that
# the limit leaves it. Larger batches are faster, and the largest ones need more epochs.
TRAINING = """
import sys, time
batch_size, seed, speed = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
needed = {16: 4, 32: 4, 64: 4, 128: 6, 256: 9}[batch_size] + (seed == 2 and batch_size >= 128)
end = time.monotonic()
for epoch in range(1, needed + 1):
    end += (0.12 + 3.2 / batch_size) / speed
    time.sleep(max(0.0, end - time.monotonic()))
    print(f"epoch {epoch} accuracy {0.9 * epoch / needed:.4f}", flush=True)
"""


def true_energy(truth: list[list[float]], begin: float, end: float) -> float:
    """Joules between two moments, by the points of the true course, which is straight between them."""
    def at(moment: float) -> float:
        before = max((point for point in truth if point[0] <= moment), default=truth[0])
        after = min((point for point in truth if point[0] >= moment), default=truth[-1])
        if after[0] <= before[0]:
            return before[1]
        return before[1] + (after[1] - before[1]) * (moment - before[0]) / (after[0] - before[0])
    return at(end) - at(begin)


def devices(wrapper: pathlib.Path) -> list[dict]:
    return json.loads(subprocess.run([str(wrapper), "devices", "--json"], capture_output=True, text=True, check=True).stdout)["gpus"]


@unittest.skipIf(SSHD is None, "no sshd here (openssh-server of packaging/debian.txt)")
class Population(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="zeus-sweep-many-")
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name)

    def test_energies_hold_the_true_ones(self):
        with ssh_hosts(self.path / "ssh", 2) as hosts:
            wrappers = [hosts.with_gpus(program, number, "2xV100", "square:80-240W,200ms") for number in (1, 2)]
            folder = Folder(program, self.path / "sweep",
                            "".join(f"- hostname: h{i + 1}\n  slots: 2\n  zeus: {{program: {wrapper}}}\n" for i, wrapper in enumerate(wrappers)),
                            "- command: sleep {{ time }}\n  time: [0.3, 0.7, 1.1]\n"
                            "  zeus: {gpus: 1, power_limits: [120, 160, 200, 250], repetitions: 5}\n", hosts.environment)
            done = folder.run("queue", patience=400)
            self.assertEqual(done.returncode, 0, done.stderr)
            runs = folder.results()
            uuids = {(number, gpu["index"]): gpu["uuid"] for number, wrapper in enumerate(wrappers, 1) for gpu in devices(wrapper)}
        courses = {(f"h{number}", uuids[number, gpu["index"]]): gpu["energy_j"] for number in (1, 2)
                   for gpu in json.loads((hosts.folder / f"truth{number}.json").read_text(encoding="utf-8"))["gpus"]}
        held = 0
        for run in runs:
            (gpu,) = run["gpus"]
            self.assertEqual(gpu["limit_w"], float(run["parameters"]["power_limit"]))
            begin = run["start_monotonic_s"]
            true = true_energy(courses[run["host"], gpu["uuid"]], begin, begin + run["time_s"])
            held += abs(true - run["energy_j"]["value"]) <= run["energy_j"]["uncertainty"]
        print(f"{held} of {len(runs)} intervals hold the true energy")
        self.assertEqual(len(runs), 60)
        self.assertGreaterEqual(held, 54)

    @unittest.skipIf(shutil.which("parallel") is None, "no GNU parallel here")
    def test_the_rate_beside_gnu_parallel(self):
        count = 500
        with ssh_hosts(self.path / "ssh", 2) as hosts:
            folder = Folder(program, self.path / "sweep", f"- hostname: [h1, h2]\n  slots: 2\n  zeus: {{program: {program}}}\n",
                            f"- command: 'true'\n  zeus: {{repetitions: {count}}}\n", hosts.environment)
            began = time.monotonic()
            done = folder.run("queue", "--quiet", patience=500)
            ours = time.monotonic() - began
            self.assertEqual(done.returncode, 0, done.stderr)
            began = time.monotonic()
            subprocess.run(["parallel", "--will-cite", "--ssh", str(hosts.bin / "ssh"), "--sshlogin", "2/h1,2/h2", "-n0", "true", ":::",
                            *map(str, range(count))], check=True, env=folder.environment, stdin=subprocess.DEVNULL, timeout=500)
            theirs = time.monotonic() - began
        print(f"{count} runs of true: {ours:.1f} s, GNU parallel {theirs:.1f} s, rate {theirs / ours:.2f} of it")
        self.assertGreaterEqual(theirs / ours, 0.8)

    def test_the_time_grows_with_the_queue_in_proportion(self):
        took = []
        for count in (1_000, 10_000):
            folder = Folder(program, self.path / f"sweep{count}", "- hostname: h\n  slots: 2\n", "- 'true'\n" * count)
            began = time.monotonic()
            done = folder.run("queue", "--engine", "local", "--quiet", patience=3000)
            took.append(time.monotonic() - began)
            self.assertEqual(done.returncode, 0, done.stderr[-1000:])
            self.assertEqual(len(folder.results()), count)
        print(f"1,000 entries {took[0]:.1f} s, 10,000 entries {took[1]:.1f} s: {took[1] / took[0]:.2f} times as long")
        self.assertLess(abs(took[1] / took[0] - 10), 2)

    def test_from_a_sweep_to_the_decision(self):
        (self.path / "train.py").write_text(TRAINING, encoding="utf-8")
        lines = subprocess.run([model_settings, *map(str, LIMITS)], capture_output=True, text=True, check=True).stdout.splitlines()
        powers, speeds = ({int(line.split()[0]): float(line.split()[column]) for line in lines} for column in (1, 2))
        with ssh_hosts(self.path / "ssh", 2) as hosts:
            wrappers = [hosts.with_gpus(program, number, "2xV100", "work:1,1,0.85") for number in (1, 2)]
            cases = " ".join(f"{limit}) s={speed};;" for limit, speed in speeds.items())
            command = f"case {{{{ power_limit }}}} in {cases} esac; exec {sys.executable} {self.path}/train.py {{{{ batch_size }}}} {{{{ seed }}}} $s"
            folder = Folder(program, self.path / "sweep",
                            "".join(f"- hostname: h{i + 1}\n  slots: 2\n  zeus: {{program: {wrapper}}}\n" for i, wrapper in enumerate(wrappers)),
                            f"- command: \"{command}\"\n  batch_size: {list(BATCH_SIZES)}\n"
                            f"  zeus: {{gpus: 1, power_limits: {list(LIMITS)}, seeds: {list(SEEDS)}, epoch_regex: '^epoch', "
                            "metric_regex: 'accuracy ([0-9.]+)', target_metric: 0.9}\n", hosts.environment)
            done = folder.run("queue", patience=500)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(folder.results()), len(BATCH_SIZES) * len(LIMITS) * len(SEEDS))
        self.assertEqual(folder.run("traces", "--output", str(self.path)).returncode, 0)
        decided = subprocess.run([program, "simulate", "job", "--train-trace", str(self.path / "summary_train.csv"), "--power-trace",
                                  str(self.path / "summary_power_tesla_v100_pcie_32gb.csv"), "--dataset", "sweep", "--network", "sweep",
                                  "--optimizer", "sweep", "--target-metric", "0.9", "--max-epochs", "12", "--default-batch-size", "32",
                                  "--eta", str(ETA), "--json"], capture_output=True, text=True, check=True)
        optimum = json.loads(decided.stdout)["optimum"]

        def cost(batch_size: int, limit: int) -> float:
            needed = {16: 4, 32: 4, 64: 4, 128: 6.5, 256: 9.5}[batch_size]
            return needed * (0.12 + 3.2 / batch_size) / speeds[limit] * (ETA * powers[limit] + (1 - ETA) * LIMITS[-1])
        best = min(cost(batch_size, limit) for batch_size in BATCH_SIZES for limit in LIMITS)
        chosen = cost(optimum["batch_size"], int(optimum["power_limit_w"]))
        print(f"the traces' optimum {optimum['batch_size']}, {optimum['power_limit_w']} W costs {chosen / best:.4f} of the model's")
        self.assertLessEqual(chosen / best, 1.02)


if __name__ == "__main__":
    program, model_settings = (str(pathlib.Path(sys.argv.pop(1)).resolve()) for _ in range(2))
    unittest.main()

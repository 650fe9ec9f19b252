"""One number, one GPU: under each setting of the visibility variables, a number means the same GPU to every interface of
Zeus, and it is the one whose energy moves.

  numbering_test.py PROGRAM NUMBERED_GPUS PACKAGE
"""

import concurrent.futures
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

program = numbered_gpus = package = ""

# A busy GPU draws 240 W here, an idle one less than 100 W.
BUSY = 160.0
PYTHON = """
import time
from zeus.device import get_gpus
from zeus.monitor import ZeusMonitor
gpus, monitor = get_gpus(), ZeusMonitor()
monitor.begin_window("window")
time.sleep(0.2)
measured = monitor.end_window("window")
for number, energy in measured.gpu_energy.items():
    print("python", number, gpus.gpus[number].uuid, energy / measured.time)
"""

# The GPU under each number, as a list of (UUID, watts); None if an interface does not report it.
Seen = dict[str, list[tuple[str | None, float | None]]]


class Session:
    """Runs inside one session of virtual GPUs: the machine's first is busy, the others are idle."""

    def __init__(self, vendor: str, settings: list[dict]) -> None:
        self.driver = ctypes.CDLL("libnvidia-ml.so.1" if vendor == "nvidia" else "libamd_smi.so")
        assert self.driver.zeus_virtual_submit_load(0, b"constant:240W") == 0
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ["TMPDIR"]))
        self.settings = settings
        machine = json.loads(self.output({}, program, "devices", "--json"))["gpus"]
        self.uuids = [gpu["uuid"] for gpu in machine]

    def output(self, variables: dict, *command: str) -> str:
        environment = {**os.environ, **variables}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, f"{command} with {variables}: {done.stderr}"
        return done.stdout

    def devices(self, variables: dict, _count: int) -> Seen:
        seen = [gpu for gpu in json.loads(self.output(variables, program, "devices", "--json"))["gpus"]
                if gpu["visible_as"] is not None]
        seen.sort(key=lambda gpu: gpu["visible_as"])
        return {"devices": [(gpu["uuid"], gpu["power_w"]) for gpu in seen]}

    def measure(self, variables: dict, _count: int) -> Seen:
        together = json.loads(self.output(variables, program, "measure", "--json", "-", "--", "sleep", "0.2"))
        return {"measure": [(together["gpus"][number]["uuid"], together["gpu_energy_j"][number]["value"] / together["time_s"])
                            for number in sorted(together["gpus"], key=int)]}

    def measure_each(self, variables: dict, count: int) -> Seen:
        seen = []
        for number in map(str, range(count)):
            alone = json.loads(self.output(variables, program, "measure", "--gpus", number, "--json", "-", "--", "sleep", "0.2"))
            assert list(alone["gpus"]) == [number], alone
            seen.append((alone["gpus"][number]["uuid"], alone["gpu_energy_j"][number]["value"] / alone["time_s"]))
        return {"measure --gpus": seen}

    def monitor(self, variables: dict, _count: int) -> Seen:
        line = self.output(variables, program, "monitor", "--json", "--interval", "0.2", "--duration", "0.2")
        return {"monitor": [(gpu["uuid"], gpu["power_w"]) for gpu in json.loads(line)["gpus"]]}

    def run(self, variables: dict, count: int) -> Seen:
        seen = []
        for number in map(str, range(count)):
            store = tempfile.mktemp(suffix=".sqlite", dir=self.folder)
            self.output(variables, program, "run", "--job", "job", "--gpus", number, "--power-limits", "off", "--quiet",
                        "--store", store, "--", "sleep", "0.2")
            entries = map(json.loads, self.output(variables, program, "jobs", "job", "export", "--store", store).splitlines())
            finished = next(entry for entry in entries if entry.get("kind") == "finished")
            [gpu] = finished["gpus"]
            seen.append((gpu["gpu"], gpu["energy_j"]["value"] / finished["time_s"]))
        return {"run --gpus": seen}

    def restore(self, variables: dict, count: int) -> Seen:
        state = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for uuid in self.uuids:
            record = {"version": 1, "gpu": uuid, "gpu_name": "GPU 7 (another number)", "boot": "an earlier boot", "lease": 1,
                      "expires_monotonic_ns": 1, "holder": {"pid": 1, "started": 1, "command": "python3"},
                      "found": {"clocks": {}}}
            (state / f"{uuid}.lease.json").write_text(json.dumps(record), encoding="utf-8")
            (state / f"{uuid}.lease.json").chmod(0o600)
        seen = []
        for number in range(count):
            answer = self.output({**variables, "ZEUS_STATE_DIR": str(state)}, program, "restore", "--gpu", str(number), "--json")
            [gpu] = json.loads(answer)["gpus"]
            assert (gpu["index"], gpu["result"]) == (number, "past"), gpu
            seen.append((gpu["uuid"], None))
        return {"restore --gpu": seen}

    def languages(self, variables: dict, _count: int) -> Seen:
        text = self.output(variables, numbered_gpus)
        if package:
            text += self.output({**variables, "PYTHONPATH": package}, sys.executable, "-c", PYTHON)
        seen: Seen = {}
        for language, number, uuid, watts in map(str.split, text.splitlines()):
            of_language = seen.setdefault(language, [])
            assert int(number) == len(of_language), text
            of_language.append((None if uuid == "-" else uuid, float(watts)))
        return seen

    def look_at_all(self) -> dict:
        """All interfaces under all settings at once: most of the time is waiting."""
        looks: list[tuple[dict, concurrent.futures.Future]] = []
        with concurrent.futures.ThreadPoolExecutor(24) as together:
            for setting in self.settings:
                variables = {name: value.format(*self.uuids) for name, value in setting["variables"].items()}
                seen: Seen = {}
                setting["seen"] = seen
                for front in (self.devices, self.measure, self.measure_each, self.monitor, self.run, self.restore, self.languages):
                    looks.append((seen, together.submit(front, variables, len(setting["expected"]))))
        for seen, look in looks:
            seen |= look.result()
        return {"uuids": self.uuids, "seen": [setting["seen"] for setting in self.settings]}


class Numbering(unittest.TestCase):
    def look(self, spec: str, vendor: str, settings: list[tuple[dict, list[int]]]) -> None:
        """`settings`: the variables, in which {0} is the UUID of the machine's first GPU, and the machine's GPUs that
        programs then number 0, 1, ..."""
        asked = [{"variables": variables, "expected": expected} for variables, expected in settings]
        with tempfile.TemporaryDirectory() as folder:
            environment = {name: value for name, value in os.environ.items() if not name.endswith("_VISIBLE_DEVICES")}
            environment.pop("CUDA_DEVICE_ORDER", None)
            done = subprocess.run(
                [program, "virtual", spec, "--", sys.executable, __file__, program, numbered_gpus, package, "--inside", vendor,
                 json.dumps({"settings": asked})], env={**environment, "TMPDIR": folder}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(len(set(answer["uuids"])), 2)
        for (variables, expected), seen in zip(settings, answer["seen"], strict=True):
            self.assertEqual(len(seen), 9 if package else 8, seen)
            for front, gpus in seen.items():
                with self.subTest(spec=spec, variables=variables, front=front):
                    self.assertEqual(len(gpus), len(expected), gpus)
                    for (uuid, watts), position in zip(gpus, expected, strict=True):
                        self.assertIn(uuid, (answer["uuids"][position], None), gpus)
                        if watts is not None:
                            self.assertEqual(watts > BUSY, position == 0, gpus)

    def nvidia(self, spec: str, fastest_first: list[int]) -> None:
        self.look(spec, "nvidia", [
            ({}, fastest_first),
            ({"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, [0, 1]),
            ({"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "1,0"}, [1, 0]),
            ({"CUDA_VISIBLE_DEVICES": "1"}, fastest_first[1:]),
            ({"CUDA_VISIBLE_DEVICES": "{1},{0}"}, [1, 0]),
            ({"CUDA_DEVICE_ORDER": "FASTEST_FIRST", "CUDA_VISIBLE_DEVICES": "0,7,1"}, fastest_first[:1]),
        ])

    def test_the_faster_model_comes_second_on_the_machine(self):
        self.nvidia("1xV100,1xH100", [1, 0])

    def test_the_faster_model_comes_first_on_the_machine(self):
        self.nvidia("1xH100,1xV100", [0, 1])

    def test_amds_variables_number_amds_gpus(self):
        self.look("1xV100@amd,1xH100@amd", "amd", [
            ({"ROCR_VISIBLE_DEVICES": "1"}, [1]),
            ({"HIP_VISIBLE_DEVICES": "1,0"}, [1, 0]),
        ])


if __name__ == "__main__":
    program, numbered_gpus, package = sys.argv[1:4]
    if sys.argv[4:5] == ["--inside"]:
        print(json.dumps(Session(sys.argv[5], json.loads(sys.argv[6])["settings"]).look_at_all()))
    else:
        del sys.argv[1:4]
        unittest.main()

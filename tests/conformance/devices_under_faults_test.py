"""Real programs on virtual GPUs that misbehave: one clear message with a fix for each problem, and everything else works.

  devices_under_faults_test.py ZEUS
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

zeus = ""


def devices(faults: str, spec: str = "2xV100") -> dict:
    """The output of `zeus devices --json` for such GPUs while these faults are active."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "faults"
        file.write_text(faults + "\n", encoding="utf-8")
        done = subprocess.run([zeus, "virtual", spec, "--faults", file, "--", zeus, "devices", "--json"],
                              capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1, done.stdout
    return json.loads(done.stdout)


class DevicesUnderFaults(unittest.TestCase):
    def test_without_faults_everything_is_there(self):
        found = devices("# none")
        self.assertEqual([gpu["energy_counter"] for gpu in found["gpus"]], [True, True])
        self.assertTrue(all(gpu["power_w"] > 0 for gpu in found["gpus"]))

    def test_a_lost_gpu_is_named_with_its_fix_and_the_other_goes_on(self):
        found = devices("lost gpu=1")
        healthy = [gpu for gpu in found["gpus"] if gpu["power_w"] is not None]
        self.assertEqual(len(healthy), 1)
        broken = [problem for problem in found["problems"] if problem["device"].startswith("GPU 1")]
        lost = [gpu for gpu in found["gpus"] if gpu["power_w"] is None]
        self.assertEqual(len(broken) + len(lost), 1)
        for problem in broken:
            self.assertTrue(problem["fix"])
        for gpu in lost:
            self.assertIn("device lost", gpu["reason"]["power_w"])

    def test_what_is_refused_is_null_with_its_reason(self):
        for fault, reason in (("permission", "not permitted"), ("timeout", "timed out")):
            with self.subTest(fault=fault):
                found = devices(f"{fault} call=nvmlDeviceGetTotalEnergyConsumption\n{fault} call=nvmlDeviceGetFieldValues")
                for gpu in found["gpus"]:
                    self.assertIsNone(gpu["energy_counter"])
                    self.assertIn(reason, gpu["reason"]["energy_counter"])
                    self.assertIsNotNone(gpu["power_limit_w"]["current"])

    def test_an_unsupported_call_is_a_known_absence(self):
        found = devices("unsupported call=nvmlDeviceGetTemperature*")
        for gpu in found["gpus"]:
            self.assertIsNone(gpu["temperature_c"])
            self.assertFalse(gpu["features"]["temperature"])
            self.assertTrue(gpu["energy_counter"])

    def test_a_counter_that_stands_still_is_seen(self):
        found = devices("constant gpu=0")
        self.assertIsNone(found["gpus"][0]["update_period_s"])
        self.assertIn("stood still", found["gpus"][0]["reason"]["update_period_s"])
        self.assertIsNotNone(found["gpus"][1]["update_period_s"])

    def test_a_machine_of_both_vendors_shows_all_of_them(self):
        found = devices("# none", "1xA40@amd,1xV100")
        self.assertEqual(sorted(gpu["vendor"] for gpu in found["gpus"]), ["AMD", "NVIDIA"])
        self.assertEqual([gpu["index"] for gpu in found["gpus"]], [0, 1])

    def test_an_amd_counter_that_cannot_be_believed_is_left_out_with_its_reason(self):
        for fault, reason in (("constant gpu=0", "stands still"), ("unsupported gpu=0 call=amdsmi_get_energy_count", "not supported")):
            with self.subTest(fault=fault):
                broken, whole = devices(fault, "2xA100@amd")["gpus"]
                self.assertIsNone(broken["update_period_s"])
                self.assertIn(reason, broken["reason"]["update_period_s"])
                self.assertIsNotNone(broken["power_w"])
                self.assertTrue(whole["energy_counter"])


if __name__ == "__main__":
    zeus = sys.argv.pop(1)
    unittest.main()

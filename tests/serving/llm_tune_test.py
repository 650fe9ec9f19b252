"""`zeus llm tune` in real time against a small served model on virtual GPUs: what it recommends, and that the GPUs are put back
however it ends.

  llm_tune_test.py PROGRAM              ZEUS_TUNE_KILLS=N kills it N times
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
program = ""

# In one session: starts the server, then the command; kills it with SIGNAL after some seconds if there is one. Prints what
# the command printed, and whether the limits are those from before, within some time.
SESSION = """
import json, subprocess, sys, time
program, server, log, ending, seconds, *options = sys.argv[1:]
def limits():
    listed = json.loads(subprocess.run([program, "devices", "--json"], capture_output=True, text=True).stdout)
    return [(gpu["power_limit_w"]["current"], gpu["holder"]) for gpu in listed["gpus"]]
before = limits()
serving = subprocess.Popen([sys.executable, server, log, "--gpus", "1", "--step", "0.004"], stdout=subprocess.PIPE, text=True)
url = "http://127.0.0.1:" + serving.stdout.readline().strip()
tuning = subprocess.Popen([program, "llm", "tune", "--url", url, "--json", "-", *options], stdout=subprocess.PIPE, text=True)
changed = False
if ending != "0":
    deadline = time.monotonic() + 60
    while not (changed := any(held for _, held in limits())) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(float(seconds))
    tuning.send_signal(int(ending))
output = tuning.communicate(timeout=300)[0]
deadline = time.monotonic() + 60
while (after := limits()) != before and time.monotonic() < deadline:
    time.sleep(0.1)
serving.terminate()
print(json.dumps({"code": tuning.returncode, "output": output, "put_back": after == before, "held": changed}))
"""


class Tune(unittest.TestCase):
    def session(self, *options: str, ending: int = 0, seconds: float = 0) -> dict:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # beside a guardian that still settles its record
            done = subprocess.run(
                [program, "virtual", "2xA100", "--", sys.executable, "-c", SESSION, program, str(FOLDER / "token_server.py"),
                 str(pathlib.Path(folder) / "log"), str(ending), str(seconds), *options],
                capture_output=True, text=True, check=False, timeout=400,
                env={**os.environ, "ZEUS_STATE_DIR": str(pathlib.Path(folder) / "state")})
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout) | {"errors": done.stderr}

    def test_it_recommends_a_setting_within_the_bounds_that_takes_less_energy_in_real_time(self):
        ended = self.session("--slo", "itl=2s@50", "--steps", "2", "--requests", "500", "--max-tokens", "12")
        self.assertTrue(ended["put_back"], ended)
        result = json.loads(ended["output"])
        self.assertEqual(ended["code"], 0, result)
        self.assertEqual([gpu["index"] for gpu in result["tried"][0]["result"]["gpus"]], [1])
        limits = [one["limit_w"] for one in result["tried"]]
        self.assertEqual(limits[0], 400)
        self.assertEqual(limits, sorted(limits, reverse=True))
        within = [one for one in result["tried"] if one["within"]]
        energies = {one["limit_w"]: one["result"]["energy_per_output_token_j"] for one in within}
        least = min(energies.values(), key=lambda one: one["value"])
        chosen = energies[result["recommended"]["limit_w"]]
        self.assertLessEqual(chosen["value"] - chosen["uncertainty"], least["value"] + least["uncertainty"])
        self.assertLess(result["recommended"]["change"]["value"], 0)
        self.assertIn("nvidia-smi -i GPU-", result["recommended"]["command"])

    def test_the_gpus_are_put_back_however_it_ends_in_real_time(self):
        endings = [signal.SIGINT, signal.SIGKILL, signal.SIGTERM]
        for kill in range(int(os.environ.get("ZEUS_TUNE_KILLS", "3"))):
            ending = endings[kill % len(endings)]
            with self.subTest(kill=kill, ending=ending):
                ended = self.session("--slo", "itl=1s", "--requests", "100000", ending=int(ending),
                                     seconds=0.3 * (kill % 7))
                self.assertTrue(ended["held"], ended)
                self.assertTrue(ended["put_back"], ended)
                self.assertEqual(ended["code"], -9 if ending == signal.SIGKILL else 1, ended)
                if ending != signal.SIGKILL:
                    self.assertEqual(json.loads(ended["output"])["ended"], "interrupted")

    def test_a_file_without_prompts_to_measure_a_setting_again_ends_the_search_in_real_time(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as prompts:
            prompts.writelines(json.dumps({"prompt": f"{number} words"}) + "\n" for number in range(1000))
            prompts.flush()
            # 500 answers are too few to know the upper end of a percentile of 99 %, so the setting is to be measured again.
            ended = self.session("--slo", "ttft=30s@99", "--steps", "1", "--requests", "500", "--max-tokens", "12", "--prompts", prompts.name)
        self.assertIn(f"zeus: {prompts.name} has too few prompts left to measure 400 W again: the search ends with what is known\n", ended["errors"])
        result = json.loads(ended["output"])
        self.assertEqual((ended["code"], result["ended"]), (1, "complete"), result)
        self.assertEqual([(one["limit_w"], one["within"]) for one in result["tried"]], [(400, False)])

    def test_bounds_that_make_no_sense_are_refused(self):
        for bounds in ("ttft", "tpot=1s", "itl=1s@98", "itl=fast"):
            with self.subTest(bounds=bounds):
                done = subprocess.run([program, "llm", "tune", "--url", "http://127.0.0.1:9", "--slo", bounds],
                                      capture_output=True, text=True, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertNotIn("cannot reach", done.stderr)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()

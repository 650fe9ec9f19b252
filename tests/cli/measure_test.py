"""`zeus measure` and `zeus monitor` on virtual GPUs: energy against the true energy, exit codes, signals, process trees.

  measure_test.py PROGRAM
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

program = ""

# Words that command-line parsers may misinterpret.
ODD_WORDS = ["[1,2]", "", "--json", "a\nb", "--", "-h", "--gpus=7", "[", "]", "'", '"', "\\", "a b", "{batch}", "$HOME", "%s", "@x", "é"]
# In one session of three virtual GPUs: each way of naming them.
NAMING = """
import json, os, subprocess, sys
def zeus(*words, code=0, **variables):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True, env={**os.environ, **variables})
    assert done.returncode == code, (words, done)
    return done
def measured(names, **variables):
    return json.loads(zeus("measure", "--gpus", names, "--json", "-", "--", "true", **variables).stdout)["gpus"]
def refused(command, names, **variables):
    done = zeus(command, "--gpus", names, *([] if command == "monitor" else ["--", "true"]), code=2, **variables)
    assert done.stderr.count("\\n") == 1, done
    return done.stderr
uuids = [gpu["uuid"] for gpu in json.loads(zeus("devices", "--json").stdout)["gpus"]]
of = lambda gpus: {number: gpu["uuid"] for number, gpu in gpus.items()}
assert of(measured(uuids[2])) == {"2": uuids[2]}
assert of(measured("0," + uuids[2])) == {"0": uuids[0], "2": uuids[2]}
assert of(measured(uuids[2], CUDA_VISIBLE_DEVICES="2,0")) == {"0": uuids[2]}
line = json.loads(zeus("monitor", "--json", "--interval", "0.05", "--duration", "0.05", "--gpus", uuids[1] + ",2").stdout)
assert [(gpu["index"], gpu["uuid"]) for gpu in line["gpus"]] == [(1, uuids[1]), (2, uuids[2])], line
run = json.loads(zeus("run", "--gpus", "2," + uuids[0], "--quiet", "--json", "-", "--", "true").stdout)
assert sorted((gpu["index"], gpu["uuid"]) for gpu in run["gpus"]) == [(0, uuids[0]), (2, uuids[2])], run
for command in ("measure", "monitor", "run"):
    assert "GPU 1 (NVIDIA A100" in refused(command, "1," + uuids[1]), command
    assert "is named twice; name it once" in refused(command, "0,2,0"), command
    unknown = refused(command, uuids[0][:-1])
    assert "there is no GPU 'GPU-" in unknown and f"; there are 0 (NVIDIA A100-SXM4-40GB, {uuids[0]}), 1 (" in unknown, unknown
    hidden = refused(command, uuids[1], CUDA_VISIBLE_DEVICES="0")
    assert f"{uuids[1]} (NVIDIA A100-SXM4-40GB) is hidden from programs by the visibility variables; there is 0 (" in hidden, hidden
"""


def on_virtual(load: str, *command: str, spec: str = "1xA100", truth: pathlib.Path | None = None, **options):
    extra = ["--truth", str(truth)] if truth else []
    return subprocess.run([program, "virtual", spec, "--load", load, *extra, "--", *command], capture_output=True,
                          text=True, timeout=60, check=False, **options)


def measure(*command: str) -> list[str]:
    return [program, "measure", "--json", "-", "--", *command]


def result_of(done) -> dict:
    return json.loads(done.stdout.strip().splitlines()[-1])


class Measure(unittest.TestCase):
    def expect_power(self, result: dict, watts: float, gpu: str = "0"):
        energy = result["gpu_energy_j"][gpu]
        self.assertIsNotNone(energy, result)
        # Four times the half-width, which includes the delays of a busy machine; the interval itself covers 95 of 100.
        # Tests on virtual clocks (src/measure) check its coverage.
        self.assertAlmostEqual(energy["value"], watts * result["time_s"], delta=4 * energy["uncertainty"] + 0.05)

    def test_energy_is_that_of_the_time(self):
        with tempfile.TemporaryDirectory() as folder:
            truth = pathlib.Path(folder) / "truth.json"
            done = on_virtual("constant:200W", *measure("sleep", "0.3"), spec="2xA100", truth=truth)
            self.assertEqual(done.returncode, 0, done.stderr)
            result = result_of(done)
            self.expect_power(result, 200)
            self.expect_power(result, 200, "1")
            self.assertGreaterEqual(result["time_s"], 0.3)
            self.assertAlmostEqual(result["end_monotonic_s"] - result["start_monotonic_s"], result["time_s"], places=6)
            self.assertTrue(json.loads(truth.read_text())["gpus"])

    def test_gpus_go_by_number_and_by_uuid(self):
        done = on_virtual("constant:200W", sys.executable, "-c", NAMING, program, spec="3xA100")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_word_of_the_command_arrives_as_it_was_given(self):
        done = subprocess.run([program, "measure", "--", sys.executable, "-c", "import sys; print(sys.argv[1:])", *ODD_WORDS],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"{ODD_WORDS}\n")

    def test_exit_codes_are_the_commands(self):
        for command, code in ((["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137),
                              (["sh", "-c", "kill -TERM $$"], 143), (["/nonexistent"], 127), (["/etc/passwd"], 126)):
            with self.subTest(command=command):
                done = subprocess.run(measure(*command), capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, code)
                self.assertEqual(result_of(done)["exit_code"], code)

    def test_only_a_command_that_did_not_run_is_reported_as_not_found(self):
        self.assertIn("'/nonexistent' was not found", subprocess.run(measure("/nonexistent"), capture_output=True, text=True,
                                                                     check=False).stderr)
        for code in (126, 127):
            done = subprocess.run(measure("sh", "-c", f"exit {code}"), capture_output=True, text=True, check=False)
            self.assertNotRegex(done.stderr, "was not found|cannot be executed")

    def test_without_a_usable_library_time_and_exit_code_are_left(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("libnvidia-ml.so.1", "libamd_smi.so"):
                (pathlib.Path(folder) / name).write_text("no library")
            for search in ("/nonexistent", folder):
                with self.subTest(search=search):
                    environment = {**os.environ, "LD_LIBRARY_PATH": search}
                    done = subprocess.run(measure("sh", "-c", "exit 6"), capture_output=True, text=True, check=False,
                                          env=environment)
                    result = result_of(done)
                    self.assertEqual(done.returncode, 6)
                    self.assertEqual(result["gpu_energy_j"], {})
                    self.assertEqual(result["reason"]["total_gpu_energy_j"], "no GPU is measured")
                    self.assertGreater(result["time_s"], 0)

    def test_several_runs_have_a_mean_and_one_that_fails_ends_them(self):
        with tempfile.TemporaryDirectory() as folder:
            count = pathlib.Path(folder) / "count"
            script = f"echo >> {count}; sleep 0.1"
            done = on_virtual("constant:200W", program, "measure", "--runs", "3", "--json", "-", "--", "sh", "-c", script)
            self.assertEqual(done.returncode, 0, done.stderr)
            result = result_of(done)
            self.assertEqual(len(result["runs"]), 3)
            self.assertEqual(count.read_text(), "\n" * 3)
            times = [run["time_s"] for run in result["runs"]]
            self.assertAlmostEqual(result["mean"]["time_s"], sum(times) / 3, places=6)
            self.assertLessEqual(result["runs"][0]["end_monotonic_s"], result["runs"][1]["start_monotonic_s"])
            energies = [run["gpu_energy_j"]["0"]["value"] for run in result["runs"]]
            self.assertAlmostEqual(result["mean"]["gpu_energy_j"]["0"]["value"], sum(energies) / 3, places=3)

            count.unlink()
            script = f"echo >> {count}; test $(wc -l < {count}) != 3 || exit 7"
            done = on_virtual("constant:200W", program, "measure", "--runs", "9", "--", "sh", "-c", script)
            self.assertEqual(done.returncode, 7)
            self.assertIn("zeus: run 3 of 9 ended with exit code 7", done.stderr)
            self.assertIn("the mean of 2 runs", done.stderr)
            self.assertEqual(count.read_text(), "\n" * 3)

    def test_a_signal_ends_several_runs_and_the_one_it_hit_does_not_count(self):
        script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"
        child = subprocess.Popen([program, "measure", "--runs", "3", "--json", "-", "--", "sh", "-c", script], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        os.killpg(child.pid, signal.SIGTERM)
        out, err = child.communicate(timeout=60)
        self.assertIn("run 1 of 3 was asked to end and is the last", err)
        self.assertEqual((child.returncode, json.loads(out)["runs"]), (0, []))

    def test_jobs_of_the_shell_that_it_replaced_are_not_waited_for(self):
        done = on_virtual("constant:200W", "sh", "-c", f"sleep 30 >/dev/null 2>&1 & exec {program} measure --json - -- sleep 0.2")
        self.assertLess(result_of(done)["time_s"], 20)

    def test_own_failures_are_125(self):
        for flags in (["--gpus", "17"], ["--json", "/proc/nowhere/x"]):
            done = subprocess.run([program, "measure", *flags, "--", "true"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 125)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_tree_that_forks_and_execs_is_followed_to_its_end(self):
        script = "(sleep 0.4; exec sh -c true) & (sleep 0.1) & exit 3"
        done = on_virtual("constant:150W", *measure("sh", "-c", script))
        result = result_of(done)
        self.assertEqual(done.returncode, 3)
        self.assertGreaterEqual(result["time_s"], 0.4)
        self.expect_power(result, 150)

    def test_a_stopped_and_continued_command_is_measured_throughout(self):
        script = "kill -STOP $$; exit 5"
        child = subprocess.Popen([program, "virtual", "1xV100", "--load", "constant:120W", "--",
                                  *measure("sh", "-c", "echo $$ >&2; " + script)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pid = int(child.stderr.readline())
        while not pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].startswith(" T"):
            time.sleep(0.02)
        time.sleep(0.3)
        os.kill(pid, signal.SIGCONT)
        out, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 5)
        result = json.loads(out.strip().splitlines()[-1])
        self.assertGreaterEqual(result["time_s"], 0.3)
        self.expect_power(result, 120)

    def test_signals_are_passed_on(self):
        script = "trap 'exit 42' TERM; echo ready; while :; do sleep 0.05; done"
        child = subprocess.Popen(measure("sh", "-c", script), stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        child.send_signal(signal.SIGTERM)
        out, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 42)
        self.assertEqual(json.loads(out.strip().splitlines()[-1])["exit_code"], 42)

    def test_the_summary_is_on_stderr_and_plain_when_piped(self):
        done = on_virtual("constant:200W", program, "measure", "--", "echo", "result")
        self.assertEqual(done.stdout, "result\n")
        self.assertIn("gpu 0", done.stderr)
        self.assertNotIn("\x1b", done.stderr)

    def test_monitor_prints_a_line_of_json_for_each_interval(self):
        done = on_virtual("constant:200W", program, "monitor", "--interval", "0.3", "--duration", "0.9", "--json")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(lines), 3)
        last = lines[-1]["gpus"][0]
        # On a busy machine, one interval is long and those after it are short.
        begins = [0.0, *(line["elapsed_s"] for line in lines)]
        judged = [line["gpus"][0] for begin, line in zip(begins, lines) if line["elapsed_s"] - begin > 0.2]
        self.assertAlmostEqual(judged[-1]["power_w"], 200, delta=30)
        self.assertAlmostEqual(last["energy_j"], 200 * lines[-1]["elapsed_s"], delta=25)
        self.assertEqual(last["power_limit_w"], 400)

    def test_monitor_ends_well_when_interrupted(self):
        child = subprocess.Popen([program, "monitor", "--interval", "0.05"], stdout=subprocess.PIPE, text=True)
        self.assertIn("zeus monitor", child.stdout.readline())
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0)
        self.assertNotIn("\x1b", out)

    def test_monitor_refuses_an_interval_that_makes_no_sense(self):
        done = subprocess.run([program, "monitor", "--interval", "nan"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()

"""`zeus run` from the user's side: what goes into the command, what comes out, how it ends, and its messages when something
is wrong.

  run_command_test.py PROGRAM
"""

import json
import os
import pathlib
import pty
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import side_by_side  # noqa: E402

program = ""

# Prints the metric once an epoch, improving each time; a stand-in for a training script.
TRAINER = textwrap.dedent("""
    import sys, time
    batch, epochs = int(sys.argv[1]), int(sys.argv[2])
    for epoch in range(1, epochs + 1):
        for step in range(1, 11):
            time.sleep(0.005)
            print(f"step {step}/10", flush=True)
        print(f"epoch {epoch} accuracy {epoch * batch / 100:.3f}", flush=True)
    """)
# In a separate process: the limit in force on the virtual GPU.
LIMIT = textwrap.dedent("""
    import ctypes
    v = ctypes.CDLL("libnvidia-ml.so.1")
    d, l = ctypes.c_void_p(), ctypes.c_uint()
    assert v.nvmlInit_v2() == 0 and v.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(d)) == 0
    v.nvmlDeviceGetPowerManagementLimit(d, ctypes.byref(l))
    print("limit", l.value // 1000, flush=True)
    """)
SEEN = ["--metric-regex", r"accuracy ([-.0-9a-z]+)", "--epoch-regex", r"^epoch (\d+)", "--step-regex", r"^step (\d+)"]


class Runs(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.environment = {**os.environ, "XDG_DATA_HOME": str(self.folder / "data"),
                            "XDG_RUNTIME_DIR": str(self.folder / "state"), "ZEUS_STATE_DIR": str(self.folder / "state")}
        (self.folder / "state").mkdir(mode=0o700)
        (self.folder / "train.py").write_text(TRAINER, encoding="utf-8")

    def virtual(self, *flags: str) -> list[str]:
        return [program, "virtual", "1xV100", "--load", "constant:240W", *flags, "--"]

    def run_on(self, machine: list[str], *arguments: str, timeout: float = 120, **options) -> subprocess.CompletedProcess:
        options.setdefault("env", self.environment)
        return subprocess.run([*machine, program, "run", *arguments], capture_output=True, text=True, check=False,
                              timeout=timeout, cwd=self.folder, **options)

    def run_virtual(self, *arguments: str, **options) -> subprocess.CompletedProcess:
        return self.run_on(self.virtual(), *arguments, **options)

    def job(self, *more: str, name: str = "job", target: str = "0.6") -> list[str]:
        return ["--job", name, "--batch-sizes", "10,20", "--default-batch-size", "10", "--target-metric", target,
                "--max-epochs", "20", "--profile-seconds", "0.05", *SEEN, *more]

    def train(self, epochs: int = 8) -> list[str]:
        return ["--", sys.executable, "train.py", "{batch_size}", str(epochs)]

    def entries(self) -> list[dict]:
        with sqlite3.connect(self.folder / "data/zeus/jobs.sqlite") as store:
            return [json.loads(row[0]) for row in store.execute("select body from entries order by job, sequence")]

    def one_line(self, done: subprocess.CompletedProcess) -> str:
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr


class Commands(Runs):
    def test_values_go_into_the_command_and_its_environment(self):
        done = self.run_virtual(
            "--job", "fill", "--batch-sizes", "16", "--learning-rate", "8:0.5", "--lr-scaling", "linear", "--max-epochs",
            "3", "--quiet", "--", "sh", "-c",
            'echo "{batch_size} {learning_rate} {epochs} {other} $ZEUS_BATCH_SIZE $ZEUS_LEARNING_RATE $ZEUS_EPOCHS"')
        self.assertEqual((done.returncode, done.stdout), (0, "16 1 3 {other} 16 1 3\n"), done.stderr)

    def test_every_word_of_the_command_arrives_as_it_was_given(self):
        words = ["[1,2]", "", "--json", "a\nb", "--", "-h", "--gpus=7", "[", "]", "'", '"', "\\", "a b", "$HOME", "%s", "@x", "é"]
        for flags in (["--quiet"], ["--quiet", "--job", "words", "--batch-sizes", "8"]):
            done = self.run_virtual(*flags, "--", sys.executable, "-c", "import sys; print(sys.argv[1:])", *words)
            self.assertEqual(done.stdout, f"{words}\n", done.stderr)

    def test_output_is_passed_through_to_the_byte(self):
        code = "import os; os.write(1, bytes(range(256)) * 5000); os.write(2, b'\\xff\\x00'); raise SystemExit(7)"
        done = subprocess.run([*self.virtual(), program, "run", "--quiet", "--", sys.executable, "-c", code],
                              capture_output=True, check=False, timeout=120, env=self.environment)
        self.assertEqual(done.returncode, 7)
        self.assertEqual(done.stdout, bytes(range(256)) * 5000)
        self.assertTrue(done.stderr.startswith(b"\xff\x00"), done.stderr)

    def test_output_comes_at_once(self):
        with subprocess.Popen([*self.virtual(), program, "run", "--quiet", "--", sys.executable, "-c",
                               "print('now'); import time; time.sleep(60)"],
                              stdout=subprocess.PIPE, text=True, env=self.environment) as running:
            self.assertEqual(running.stdout.readline(), "now\n")
            running.terminate()

    def test_a_terminal_stays_a_terminal(self):
        leader, follower = pty.openpty()
        done = subprocess.run([*self.virtual(), program, "run", "--quiet", "--", "sh", "-c", "test -t 1 && test -t 2"],
                              stdout=follower, stderr=follower, check=False, timeout=120, env=self.environment)
        os.close(leader)
        os.close(follower)
        self.assertEqual(done.returncode, 0)

    def test_exit_codes_are_the_commands(self):
        for command, code in ((["sh", "-c", "exit 3"], 3), (["sh", "-c", "kill -TERM $$"], 143),
                              (["/nonexistent/train"], 127), (["/etc/passwd"], 126)):
            with self.subTest(command=command):
                done = self.run_virtual("--", *command)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(f"exit code {code}", done.stderr)
                self.assertEqual(self.run_virtual(*self.job(), "--", *command).returncode, code)

    def test_a_command_that_cannot_run_is_reported_and_teaches_nothing(self):
        done = self.run_virtual(*self.job(), "--", "/nonexistent/train", "{batch_size}")
        self.assertEqual(done.returncode, 127)
        self.assertIn("'/nonexistent/train' was not found", done.stderr)
        self.assertEqual(done.stderr.count("was not found"), 1, "`zeus virtual` ran `zeus run`, and does not blame it")
        ends = [entry for entry in self.entries() if entry["kind"] == "finished"]
        self.assertEqual([end["outcome"] for end in ends], ["lost"])

    def test_signals_are_passed_on_and_nothing_is_tried_again(self):
        script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"
        with subprocess.Popen([*self.virtual(), program, "run", *self.job(), "--", "sh", "-c", script],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment) as running:
            self.assertEqual(running.stdout.readline(), "ready\n")
            running.send_signal(signal.SIGTERM)
            out, _ = running.communicate(timeout=60)
        self.assertEqual((running.returncode, out), (0, ""))
        self.assertEqual([entry["outcome"] for entry in self.entries() if entry["kind"] == "finished"], ["lost"])

    def test_what_was_killed_is_shown_as_running_until_the_job_runs_again(self):
        with subprocess.Popen([*self.virtual(), program, "run", *self.job(), "--", "sh", "-c", "echo $PPID; exec sleep 600"],
                              stdout=subprocess.PIPE, text=True, env=self.environment) as running:
            os.kill(int(running.stdout.readline()), signal.SIGKILL)
            running.wait(timeout=60)
        written = self.entries()

        def recurrences() -> dict:
            shown = subprocess.run([program, "jobs", "job", "--json"], capture_output=True, text=True, check=True, timeout=60,
                                   env=self.environment)
            return {one["recurrence"]: one["state"] for one in json.loads(shown.stdout)["recurrences"]}

        self.assertEqual(recurrences(), {1: "running"})
        self.assertEqual(self.entries(), written, "`zeus jobs` only reads")
        self.run_virtual(*self.job(), *self.train())
        self.assertEqual(recurrences(), {1: "given_up", 2: "reached"})

    def test_reports_of_the_script_need_no_expression(self):
        script = ("for e in 1 2 3; do for s in 1 2 3 4 5; do sleep 0.02; echo step >> $ZEUS_PROGRESS; done; "
                  "echo epoch >> $ZEUS_PROGRESS; echo metric 0.$e >> $ZEUS_PROGRESS; done")
        done = self.run_virtual("--job", "reports", "--target-metric", "0.3", "--metric-regex", "never (x)", "--",
                                "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        last = self.entries()[-1]
        self.assertEqual((last["kind"], last["outcome"], last["epochs"], last["metric"]), ("finished", "reached", 3, 0.3))
        self.assertNotIn("matched none", done.stderr)


class Recurrences(Runs):
    def test_recurrences_are_recorded_and_say_what_was_saved(self):
        for number in range(3):
            done = self.run_virtual(*self.job(), *self.train())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"job #{number + 1}: batch size", done.stderr.splitlines()[-1])
        ends = [entry for entry in self.entries() if entry["kind"] == "finished"]
        self.assertGreaterEqual(len(ends), 3)
        for end in ends:
            self.assertGreater(end["energy_j"], 0)
            self.assertGreater(end["time_s"], 0)

    def test_limits_are_set_while_it_runs_and_put_back(self):
        (self.folder / "limit.py").write_text(LIMIT, encoding="utf-8")
        done = self.run_virtual("--job", "limit", "--power-limits", "150", "--quiet", "--", "sh", "-c",
                                f"for i in 1 2 3; do sleep 0.3; {sys.executable} limit.py; done")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "limit 150\n" * 3)
        session = [program, "virtual", "1xV100", "--"]
        inside = f"{program} run --job l2 --power-limits 125 --quiet -- true; {sys.executable} {self.folder}/limit.py"
        done = subprocess.run([*session, "sh", "-c", inside], capture_output=True, text=True, check=False, timeout=60,
                              env=self.environment)
        self.assertEqual(done.stdout, "limit 250\n", done.stderr)

    def test_a_try_that_misses_is_followed_by_another(self):
        # Only batch size 20 gets there within the epochs.
        done = self.run_virtual(*self.job("--policy", "zeus", target="1.5", name="miss"), *self.train(epochs=8))
        self.assertEqual(done.returncode, 0, done.stderr)
        ends = [(end["outcome"]) for end in self.entries() if end["kind"] == "finished"]
        self.assertEqual((ends[0], ends[-1]), ("exhausted", "reached"))
        self.assertIn("batch size 10 is short of the target after 8 epochs", done.stderr)

    def test_a_target_out_of_reach_costs_one_training_of_each_batch_size(self):
        for policy, tried in (("lookahead", [10, 20]), ("zeus", [10, 20]), ("grid", [10])):
            with self.subTest(policy=policy):
                flags = self.job("--policy", policy, target="5", name=policy)
                done = self.run_virtual(*flags, *self.train(epochs=4))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"never been reached: the closest was {tried[-1] * 4 / 100:g}, at batch size {tried[-1]};",
                              done.stderr.splitlines()[-1])
                entries = [entry for entry in self.entries() if entry["kind"] in ("finished", "given_up")]
                self.assertEqual([entry["batch_size"] for entry in entries[-len(tried) - 1:-1]], tried)
                self.assertEqual(entries[-1]["kind"], "given_up")

    def test_a_try_that_costs_too_much_is_stopped(self):
        (self.folder / "slow.py").write_text(
            TRAINER.replace("time.sleep(0.005)", "time.sleep(0.005 if batch == 10 else 0.1)")
            .replace("epoch * batch / 100", "epoch / 10 if batch == 10 else 0"), encoding="utf-8")
        train = ["--", sys.executable, "slow.py", "{batch_size}", "12"]
        outcomes = []
        for _ in range(6):
            done = self.run_virtual(*self.job("--policy", "zeus", name="slow"), *train)
            self.assertEqual(done.returncode, 0, done.stderr)
            outcomes = [(end["batch_size"], end["outcome"]) for end in self.entries() if end["kind"] == "finished"]
            if (20, "stopped") in outcomes:
                break
        self.assertIn((20, "stopped"), outcomes)
        self.assertIn("was stopped after", done.stderr)
        self.assertEqual(outcomes[-1], (10, "reached"))

    def test_a_batch_size_that_crashes_is_left_for_one_that_works(self):
        (self.folder / "crash.py").write_text(TRAINER + "\n", encoding="utf-8")
        crash = TRAINER.replace("for epoch in", "if batch == 20: sys.exit(9)\nfor epoch in")
        (self.folder / "crash.py").write_text(crash, encoding="utf-8")
        for _ in range(5):
            done = self.run_virtual(*self.job("--policy", "zeus", name="crash"),
                                    "--", sys.executable, "crash.py", "{batch_size}", "8")
            self.assertEqual(done.returncode, 0, done.stderr)
        ends = [(end["batch_size"], end["outcome"]) for end in self.entries() if end["kind"] == "finished"]
        self.assertIn((20, "exhausted"), ends)

    def test_the_command_goes_on_after_its_target_unless_it_is_to_stop(self):
        done = self.run_virtual(*self.job(name="on"), *self.train(epochs=12))
        self.assertIn("epoch 12", done.stdout)
        self.assertRegex(done.stderr, r"after its target the command went on for [\d.]+ s and took [\d.]+ J more, .*--stop-at-target")
        done = self.run_virtual(*self.job("--stop-at-target", name="stop"), *self.train(epochs=400), timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("epoch 100 ", done.stdout)
        self.assertNotIn("after its target", done.stderr)

    def test_a_command_without_a_target_does_not_go_on_after_it(self):
        self.assertNotIn("after its target", self.run_virtual("--job", "plain", "--", "true").stderr)

    def test_a_try_whose_limit_another_process_holds_is_recorded_under_that_limit(self):
        script = """
            "$0" run --quiet --power-limits 150 --profile-seconds 0.05 -- sh -c '
                i=0; while [ ! -e over ]; do i=$((i+1)); echo step $i; sleep 0.02; done' > /dev/null &
            until "$0" devices | grep -q 'enforced 150 W'; do sleep 0.05; done
            "$0" run --job held --power-limits 125,150,250 --profile-seconds 0.05 -- sh -c '
                for i in 1 2 3 4 5 6 7 8; do echo step $i; sleep 0.02; done'
            touch over
            wait
            """
        done = subprocess.run([*self.virtual(), "sh", "-c", script, program], capture_output=True, text=True, check=False,
                              timeout=120, env=self.environment, cwd=self.folder)
        self.assertIn("held #1: done at 150 W in the end", done.stderr)
        self.assertIn("nothing is learned from it", done.stderr)
        (finished,) = [entry for entry in self.entries() if entry["kind"] == "finished"]
        self.assertEqual(finished["limit_w"], 150)

    def test_overlapping_recurrences_get_numbers_of_their_own(self):
        command = [*self.virtual(), program, "run", *self.job(name="both"), *self.train()]
        both = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                 env=self.environment) for _ in range(2)]
        for one in both:
            _, err = one.communicate(timeout=120)
            self.assertEqual(one.returncode, 0, err)
        started = [entry["try"] for entry in self.entries() if entry["kind"] == "started"]
        self.assertEqual(sorted(started), list(range(len(started))))
        self.assertEqual(sorted(entry["recurrence"] for entry in self.entries() if entry["kind"] == "begun"), [0, 1])

    def test_observing_sets_nothing_for_good_and_predicts(self):
        (self.folder / "limit.py").write_text(LIMIT, encoding="utf-8")
        # With --observe, limits are tried in turns, which takes some time; passive mode sets nothing.
        for flag, steps in (("--observe", 3000), ("--observe=passive", 100)):
            with self.subTest(flag=flag):
                script = f"import time\nfor i in range({steps}):\n  time.sleep(0.005)\n  print('step', i)"
                words = [program, "run", flag, "--power-limits", "250,150", "--profile-seconds", "0.3", "--", sys.executable, "-c", script]
                then = f'"$@" && exec {sys.executable} limit.py'
                done = subprocess.run([*self.virtual(), "sh", "-c", then, "sh", *words], capture_output=True, text=True,
                                      check=False, timeout=300, cwd=self.folder, env=self.environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.endswith("limit 250\n"), done.stdout)
                self.assertIn("would have been" if flag == "--observe" else "nothing was saved", done.stderr)
        self.assertFalse((self.folder / "data").exists())

    def test_without_permission_it_says_so_once_and_trains(self):
        faults = self.folder / "faults"
        faults.write_text("permission\n", encoding="utf-8")
        done = self.run_on(self.virtual("--faults", str(faults)), *self.job(name="user"), *self.train())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("power limits stay as they are"), 1, done.stderr)
        last = self.entries()[-1]
        self.assertEqual((last["kind"], last["outcome"], last["limit_w"]), ("finished", "reached", 250.0))

    def test_without_a_gpu_it_trains_all_the_same(self):
        done = self.run_on([], *self.job(name="none"), *self.train())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("epoch 8", done.stdout)
        self.assertIn("no GPU can be seen", done.stderr)

    def test_power_limits_alone_need_no_job(self):
        done = self.run_virtual("--power-limits", "250,150", "--profile-seconds", "0.3", "--", "sh", "-c",
                                "for i in $(seq 400); do sleep 0.01; echo step $i; done")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^zeus: .* in .* at \d+ W")
        self.assertFalse((self.folder / "data").exists())


class AsJson(Runs):
    """`--json`: the last lines, for programs."""

    def record(self, done: subprocess.CompletedProcess) -> dict:
        return json.loads(done.stdout.splitlines()[-1])

    def test_a_recurrence_is_what_zeus_jobs_shows_of_it(self):
        for number in (1, 2):
            done = self.run_virtual(*self.job(), "--json", "-", *self.train())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("epoch 8", done.stdout)
            record = self.record(done)
            shown = json.loads(subprocess.run([program, "jobs", "job", "--json"], env=self.environment, capture_output=True,
                                              text=True, check=True).stdout)
            self.assertEqual(record["recurrence"], shown["recurrences"][-1])
            self.assertEqual(record["tries"], [one for one in shown["tries"] if one["recurrence"] == number])
            self.assertEqual((record["job"], record["exit_code"], record["training"]), ("job", 0, None))
            self.assertEqual(record["energy_j"], record["recurrence"]["energy_j"])
            self.assertEqual([gpu["index"] for gpu in record["gpus"]], [0])
            self.assertIn("training", record["reason"])

    def test_a_missed_target_is_reported_with_its_tries(self):
        path = self.folder / "run.json"
        done = self.run_virtual(*self.job(target="5"), "--json", str(path), *self.train(2))
        self.assertEqual(done.returncode, 1, done.stderr)
        record = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual((record["exit_code"], record["recurrence"]["state"]), (1, "given_up"))
        self.assertEqual([one["outcome"] for one in record["tries"]], ["exhausted", "exhausted"])

    def test_without_a_job_it_is_what_was_found_of_the_limits(self):
        steps = "sleep 2; for i in $(seq 400); do sleep 0.005; echo step $i; done"
        done = self.run_virtual("--power-limits", "250,150", "--profile-seconds", "0.05", "--json", "-", "--price", "0.36EUR",
                                "--carbon", "360g", "--", "sh", "-c", steps)
        record = self.record(done)
        self.assertEqual((record["job"], record["recurrence"], record["tries"]), (None, None, []))
        self.assertEqual(record["reason"], {"job": "no job was named", "recurrence": "no job was named"})
        self.assertLessEqual({one["limit_w"] for one in record["training"]["profile"]["measurements"]}, {150, 250})
        self.assertAlmostEqual(record["energy_j"] / record["time_s"], 200, delta=60)
        self.assertGreaterEqual(record["time_s"], record["training"]["time_s"] + 1, "its start belongs to the command")
        # A kilowatt-hour is 3.6 MJ.
        for key, per_joule in (("cost", 1e-7), ("carbon_g", 1e-4)):
            self.assertAlmostEqual(record[key]["value"], record["energy_j"] * per_joule, places=12)
            self.assertAlmostEqual(record[key]["uncertainty"], record["uncertainty_j"] * per_joule, places=12)
        self.assertEqual(record["cost"]["currency"], "EUR")
        self.assertRegex(done.stderr, r"(?m)^zeus: .* k?J \(0\.000\S* ± \S+ EUR, \d+\.\d+ ± \S+ g of CO2\) in ")

    def test_what_is_not_known_says_why(self):
        record = self.record(self.run_on([], "--json", "-", "--price", "0.36EUR", "--", "sh", "-c", "exit 3"))
        self.assertEqual((record["exit_code"], record["energy_j"], record["gpus"]), (3, None, []))
        self.assertEqual([record["reason"][key] for key in ("energy_j", "cost")], ["no GPU can be seen"] * 2)
        self.assertGreater(record["time_s"], 0)


class Wrong(Runs):
    def test_bad_usage_is_one_line_and_code_2(self):
        for flags in (["--batch-sizes", "8,16", "--default-batch-size", "8"],
                      ["--job", "x", "--batch-sizes", "8,16"],
                      ["--job", "x", "--batch-sizes", "8,16", "--default-batch-size", "32"],
                      ["--metric-regex", "accuracy [0-9"],
                      ["--metric-regex", "accuracy"],
                      ["--step-regex", "(?=x)"],
                      ["--learning-rate", "0.1"],
                      ["--power-limits", "loud"],
                      ["--power-limits", "20"],
                      ["--eta", "2"],
                      ["--observe=never"],
                      ["--job", "x", "--policy", "guess"],
                      ["--max-slowdown", "0.5"],
                      ["--higher-is-better", "--lower-is-better"]):
            with self.subTest(flags=flags):
                done = self.run_virtual(*flags, "--", "echo", "ran")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.one_line(done)
        done = self.run_virtual("--", "echo", "{learning_rate}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("give --learning-rate", self.one_line(done))

    def test_an_expression_that_never_matches_is_one_clear_line(self):
        flags = self.job(name="blind")
        flags[flags.index("--metric-regex") + 1] = "precision ([0-9.]+)"
        done = self.run_virtual(*flags, *self.train(epochs=3))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("--metric-regex 'precision ([0-9.]+)' matched none of"), 1, done.stderr)
        self.assertEqual([end["outcome"] for end in self.entries() if end["kind"] == "finished"], ["lost"])

    def test_a_metric_that_is_not_a_number_is_reported(self):
        script = "for e in 1 2 3; do echo epoch $e accuracy nan; done"
        done = self.run_virtual(*self.job("--policy", "default", name="nan"), "--", "sh", "-c", script)
        self.assertIn("NaN or infinite", done.stderr)
        script = "for e in 1 2 3; do echo epoch $e accuracy high; done"
        done = self.run_virtual(*self.job("--policy", "default", name="word"), "--", "sh", "-c", script)
        self.assertIn("matched 'high', which is not a number", done.stderr)

    def test_a_command_that_dies_at_once_is_not_tried_again(self):
        done = self.run_virtual(*self.job(name="dead"), "--", "sh", "-c", "exit 5")
        self.assertEqual(done.returncode, 5)
        self.assertEqual(len([entry for entry in self.entries() if entry["kind"] == "started"]), 1)

    def test_a_command_that_ignores_its_end_is_killed(self):
        script = ("trap '' TERM; i=0; while :; do i=$((i+1)); sleep 0.02; echo step 1; echo epoch $i accuracy 0.1; done")
        begun = time.monotonic()
        done = self.run_virtual("--job", "deaf", "--target-metric", "0.5", "--max-epochs", "2", "--grace", "0.05",
                                "--power-limits", "off", "--profile-seconds", "0.05", *SEEN, "--", "sh", "-c", script)
        # With its target out of reach; 128 + 9 was the command's own exit code.
        self.assertEqual(done.returncode, 1, done.stderr[-600:])
        self.assertEqual(done.stdout.count("epoch 1 "), 1, "it is not tried again")
        self.assertLess(time.monotonic() - begun, 100)

    def test_megabytes_without_a_line_end_are_passed_and_bounded(self):
        code = "import sys; sys.stdout.write('x' * 30_000_000); print(); print('epoch 1 accuracy 0.9')"
        done = self.run_virtual(*self.job(name="long"), "--", sys.executable, "-c", code)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout), 30_000_000 + len("\nepoch 1 accuracy 0.9\n"))
        self.assertIn("longer than 16384 bytes", done.stderr)
        self.assertEqual(self.entries()[-1]["outcome"], "reached")

    def test_a_job_run_again_differently_is_refused(self):
        self.assertEqual(self.run_virtual(*self.job(), *self.train()).returncode, 0)
        done = self.run_virtual(*self.job(target="0.7"), *self.train())
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("its target is", self.one_line(done))

    def test_a_store_that_cannot_be_used_is_gone_on_without_or_refused(self):
        store = self.folder / "store.sqlite"
        makers = {
            "corrupt": lambda: store.write_bytes(b"this is no database, and never was\n" * 100),
            "newer": lambda: self.make_newer(store),
            "elsewhere": lambda: None,
        }
        for name, make in makers.items():
            with self.subTest(store=name):
                store.unlink(missing_ok=True)
                make()
                where = "/proc/nowhere/jobs.sqlite" if name == "elsewhere" else str(store)
                before = store.read_bytes() if store.exists() else None
                done = self.run_virtual(*self.job("--store", where, name="s"), *self.train())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("epoch 8", done.stdout)
                self.assertEqual(done.stderr.count("not recorded"), 1, done.stderr)
                done = self.run_virtual(*self.job("--store", where, "--on-store-error", "refuse", name="s"), *self.train())
                self.assertEqual((done.returncode, done.stdout), (125, ""))
                self.one_line(done)
                self.assertEqual(store.read_bytes() if store.exists() else None, before)

    def make_newer(self, store: pathlib.Path):
        self.run_virtual(*self.job("--store", str(store), name="s"), *self.train())
        with sqlite3.connect(store) as opened:
            opened.execute("insert into zeus_store (migration) values (1000000)")
        opened.close()

    def test_without_descriptors_for_watching_a_command_it_is_not_begun_and_the_limit_is_named(self):
        for number in (5, 8, 11):
            with self.subTest(number):
                limited = [*self.virtual("--shared"), "sh", "-c", f'ulimit -n {number}; exec "$@"', "limited"]
                done = self.run_on(limited, "--", "touch", "begun")
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertRegex(done.stderr.splitlines()[-1], r"Too many open files; raise the limit of open files \(ulimit -n\)$")
                self.assertFalse((self.folder / "begun").exists())

    def test_with_little_memory_it_trains_or_names_the_limit(self):
        ends = {"run": [], "measure": []}
        for command, codes in ends.items():
            for kib in range(18_000, 66_000, 4_000):
                with self.subTest(command, kib=kib):
                    limited = ["sh", "-c", f'ulimit -v {kib}; exec "$@"', "limited", program, command, "--", "echo", "trained"]
                    done = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=120, env=self.environment)
                    if "while loading shared libraries" in done.stderr:
                        continue  # the program itself does not fit
                    codes.append(done.returncode)
                    self.assertNotIn("a defect", done.stderr)
                    if done.returncode == 0:
                        self.assertIn("trained\n", done.stdout)
                    else:
                        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
                        self.assertRegex(done.stderr.splitlines()[-1], r"^zeus: .*\(`ulimit -v`")
            self.assertEqual(set(codes), {0, 125}, command)

    def test_a_full_disk_lets_the_training_go_on_unrecorded(self):
        # For a writing process, a file-size limit is like a full disk.
        store = self.folder / "store.sqlite"
        self.run_virtual(*self.job("--store", str(store), name="full"), *self.train())
        script = f'ulimit -f {max(1, store.stat().st_size // 1024)}; trap "" XFSZ; exec "$@"'
        limited = [*self.virtual(), "bash", "-c", script, "limited"]
        # The number of recurrences that still fit depends on the measurements.
        for _ in range(40):
            done = self.run_on(limited, *self.job("--store", str(store), name="full"), *self.train())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("epoch 8", done.stdout)
            if "not recorded" in done.stderr:
                break
        self.assertIn("not recorded", done.stderr)


class FullDisk(Runs):
    """A disk with room for the first recurrence, then filled up by other data."""

    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        mounted = os.geteuid() == 0 and not subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", self.disk],
                                                           capture_output=True, check=False).returncode
        if not mounted:
            self.skipTest("no small disk can be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.disk], check=False)
        self.store = self.disk / "jobs.sqlite"

    def fill(self) -> None:
        with open(self.disk / "rest", "wb", buffering=0) as rest:
            for size in (65536, 4096, 1):
                try:
                    while rest.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass

    def jobs(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([program, "jobs", *arguments, "--store", str(self.store)], capture_output=True, text=True, check=False,
                              timeout=60, cwd=self.folder, env=self.environment)

    def recur(self, *flags: str) -> subprocess.CompletedProcess:
        return self.run_virtual(*self.job("--store", str(self.store), *flags), *self.train())

    def test_jobs_are_listed_shown_and_exported(self):
        self.assertEqual(self.recur().returncode, 0)
        questions = (["--json"], ["job", "--json"], ["job", "export"])
        before = [self.jobs(*question).stdout for question in questions]
        self.fill()
        for question, answer in zip(questions, before, strict=True):
            done = self.jobs(*question)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, answer)

    def test_what_would_write_fails_with_one_line_and_leaves_the_store_whole(self):
        self.assertEqual(self.recur().returncode, 0)
        exported = self.jobs("job", "export").stdout
        (self.folder / "job.jsonl").write_text(exported, encoding="utf-8")
        self.fill()
        refused = [self.jobs(f"copy{number}", "import", "--file", str(self.folder / "job.jsonl")) for number in range(40)][-1]
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, r"^zeus: the disk that has the store \S+ (is|fails, or is) full[^\n]*\n$")
        self.assertEqual(self.jobs("job", "export").stdout, exported)

    def test_a_run_trains_on_and_says_what_was_not_recorded(self):
        self.assertEqual(self.recur().returncode, 0)
        before = self.jobs("job", "export").stdout
        self.fill()
        done = self.recur("--json", str(self.folder / "run.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("epoch 8", done.stdout)
        said = [line for line in done.stderr.splitlines() if "not recorded" in line]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], r"^zeus: the disk that has the store \S+ (is|fails, or is) full.*; the training goes on, and is not "
                                  "recorded$")
        told = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        self.assertIn("full", told["reason"]["recurrence"])
        self.assertTrue(self.jobs("job", "export").stdout.startswith(before.rpartition("\n{")[0]), "what was there is whole")

    def test_a_run_that_is_to_refuse_ends_before_it_trains(self):
        self.assertEqual(self.recur().returncode, 0)
        self.fill()
        done = self.recur("--on-store-error", "refuse")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertRegex(done.stderr, r"^zeus: the disk that has the store \S+ (is|fails, or is) full[^\n]*\n$")


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    side_by_side.main(4)

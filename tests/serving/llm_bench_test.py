"""`zeus llm bench` in real time against a small served model on virtual GPUs: joules per token against the true ones, whose GPUs
are measured, dialects, servers that fail in every way, interrupts, and keys.

  llm_bench_test.py PROGRAM             ZEUS_BENCH_RUNS=N repeats the comparison with the true energy
"""

import bisect
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
program = ""

# Within `zeus virtual`: starts the server, runs the rest of the words with its URL in place of URL, and ends it.
WITH_SERVER = """
import contextlib, subprocess, sys, urllib.request
server, rest = sys.argv[1].split("|"), sys.argv[2:]
started = subprocess.Popen([sys.executable, *server], stdout=subprocess.PIPE, text=True)
url = "http://127.0.0.1:" + started.stdout.readline().strip()
done = subprocess.run([word.replace("URL", url) for word in rest])
with contextlib.suppress(OSError):  # a server that is gone; one that answers this has logged what was before
    urllib.request.urlopen(url + "/v1/models", timeout=60).read()
started.terminate()
started.wait()
sys.exit(done.returncode)
"""

# The same with several at once: the third word has what stands in place of NAME in each.
WITH_SERVER_AT_ONCE = """
import contextlib, subprocess, sys, urllib.request
server, names, rest = sys.argv[1].split("|"), sys.argv[2].split("|"), sys.argv[3:]
started = subprocess.Popen([sys.executable, *server], stdout=subprocess.PIPE, text=True)
url = "http://127.0.0.1:" + started.stdout.readline().strip()
running = [subprocess.Popen([word.replace("URL", url).replace("NAME", name) for word in rest]) for name in names]
for one in running:
    one.wait()
with contextlib.suppress(OSError):  # a server that is gone; one that answers this has logged what was before
    urllib.request.urlopen(url + "/v1/models", timeout=60).read()
started.terminate()
started.wait()
"""


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.log = pathlib.Path(self.folder.name) / "log"

    def words(self, *options: str, server: tuple[str, ...] = (), spec: str = "1xA100", virtual: tuple[str, ...] = ()) -> list[str]:
        serving = "|".join([str(FOLDER / "token_server.py"), str(self.log), *server])
        return [program, "virtual", spec, *virtual, "--", sys.executable, "-c", WITH_SERVER, serving,
                program, "llm", "bench", "--url", "URL", *options]

    def bench(self, *options: str, code: int | None = 0, **where) -> dict:
        done = subprocess.run(self.words(*options, "--json", "-", **where), capture_output=True, text=True, timeout=300,
                              check=False)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stderr + done.stdout)
            return json.loads(done.stdout)
        # 0 says that the run is complete and has a steady part, which it may lack on a busy machine.
        result = json.loads(done.stdout)
        expected = int(result["ended"] != "complete" or result["steady_begin_s"] is None)
        self.assertEqual(done.returncode, expected, done.stderr + done.stdout)
        return result

    def expect_unsteady(self, result: dict, figure: str):
        """Nothing else may be why it is unknown."""
        self.assertIsNone(result[figure], result)
        self.assertRegex(result["reason"][figure], "^the run never became steady: ")

    def benches(self, names: tuple[str, ...], *options: str, server: tuple[str, ...]) -> dict[str, dict]:
        """Of one server, at the same time, each of the model of that name."""
        serving = "|".join([str(FOLDER / "token_server.py"), str(self.log), *server])
        results = pathlib.Path(self.folder.name)
        subprocess.run([program, "virtual", "1xA100", "--", sys.executable, "-c", WITH_SERVER_AT_ONCE, serving, "|".join(names), program, "llm",
                        "bench", "--url", "URL", "--model", "NAME", *options, "--json", str(results / "NAME.json")],
                       stdout=subprocess.DEVNULL, timeout=300, check=True)
        return {name: json.loads((results / f"{name}.json").read_text(encoding="utf-8")) for name in names}

    def logged(self, kind: str) -> list[dict]:
        lines = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines() if line.endswith("}}")]
        return [line[kind] for line in lines if kind in line]

    def true_joules_per_token(self, result: dict) -> float:
        steps = self.logged("step")
        times = [step["time"] for step in steps]
        begin = result["start_monotonic_s"] + result["steady_begin_s"]
        first = bisect.bisect_left(times, begin)
        last = bisect.bisect_left(times, begin + result["steady_time_s"])
        return (steps[last]["energy"] - steps[first]["energy"]) / (steps[last]["tokens"] - steps[first]["tokens"])

    def test_joules_per_token_are_those_of_the_gpu_that_the_server_uses_in_real_time(self):
        runs, judged = int(os.environ.get("ZEUS_BENCH_RUNS", "1")), 0
        for run in range(runs):
            with self.subTest(run=run):
                result = self.bench("--requests", "150", "--in-flight", "8", "--max-tokens", "40", spec="2xA100", code=None,
                                    server=("--gpus", "1"), virtual=("--load", "constant:150W"))
                self.assertEqual([gpu["index"] for gpu in result["gpus"]], [1], result)
                self.assertEqual(result["answers"]["whole"], 150)
                self.assertEqual(result["answers"]["output_tokens"], 150 * 40)
                energy = result["energy_per_output_token_j"]
                if energy is None:
                    self.expect_unsteady(result, "energy_per_output_token_j")
                    print("per token:", result["reason"]["energy_per_output_token_j"])
                    continue
                truth = self.true_joules_per_token(result)
                print(f"per token: {energy['value']:.4f} ± {energy['uncertainty']:.4f} J, truly {truth:.4f} J")
                # Four half-widths, for a busy machine; the interval itself is judged on a virtual clock.
                self.assertAlmostEqual(energy["value"], truth, delta=4 * energy["uncertainty"], msg=result)
                self.assertLess(energy["uncertainty"], 0.5 * energy["value"])
                self.assertAlmostEqual(result["mean_in_flight"]["value"], 8, delta=2)
                judged += 1
        self.assertGreaterEqual(judged, runs // 2)

    def test_requests_that_come_at_a_rate_are_counted_from_when_they_were_due(self):
        result = self.bench("--requests", "20", "--rate", "40", "--in-flight", "1", "--max-tokens", "10", code=None)
        self.assertGreater(result["answers"]["late"], 5, result)
        self.assertEqual(result["answers"]["whole"], 20)

    def test_counts_of_tokens_are_the_servers_in_each_dialect(self):
        chat = ("usage_last", "usage_with_finish", "usage_in_each", "null_usage", "crlf_and_comments", "named_events",
                "two_tokens_a_chunk", "reasoning", "without_done", "one_write")
        for api, dialects in (("chat", chat), ("completions", ("usage_last", "usage_in_each"))):
            results = self.benches(dialects, "--requests", "12", "--in-flight", "6", "--max-tokens", "9", "--api", api, server=("--step", "0.002"))
            for dialect, result in results.items():
                with self.subTest(dialect=dialect, api=api):
                    answers = [one for one in self.logged("answer") if one["asked"]["model"] == dialect]
                    self.assertEqual(len(answers), 12)
                    self.assertEqual(result["answers"]["output_tokens"], sum(one["output_tokens"] for one in answers))
                    self.assertEqual(result["answers"]["prompt_tokens"], sum(one["prompt_tokens"] for one in answers))
                    self.assertEqual(result["answers"]["finish_reasons"], [{"what": "length", "count": 12}])

    def test_without_counts_of_the_server_tokens_are_unknown_with_the_reason(self):
        result = self.bench("--requests", "200", "--in-flight", "4", "--max-tokens", "12", code=None,
                            server=("--dialect", "no_usage", "--step", "0.02"))
        self.assertIsNone(result["answers"]["output_tokens"])
        self.assertIsNone(result["energy_per_output_token_j"])
        if result["energy_per_answer_j"] is None:
            self.expect_unsteady(result, "energy_per_answer_j")
        else:
            self.assertIn("no 'usage'", result["reason"]["energy_per_output_token_j"])

    def test_each_request_has_a_bound_a_seed_of_its_own_and_asks_for_counts(self):
        self.bench("--requests", "10", "--max-tokens", "5", "--seed", "7", code=None, server=("--owner", "vllm"))
        asked = [one["asked"] for one in self.logged("answer")]
        self.assertEqual(sorted(one["seed"] for one in asked), list(range(7, 17)))
        for one in asked:
            self.assertEqual((one["max_tokens"], one["stream"], one["stream_options"], one["ignore_eos"], one["model"]),
                             (5, True, {"include_usage": True}, True, "tiny"))

    def test_every_failure_is_counted_and_the_run_goes_on(self):
        kinds = {"429": "status 429", "500": "status 500", "cut": "broke off", "half_json": "not JSON",
                 "error_event": "error in the stream", "error_200": "status 200 without a stream",
                 "silent": "took too long", "redirect": "status 307", "endless": "took too long", "not_http": "not HTTP"}
        results = {}
        for too_long, bound in ((True, "5s"), (False, "60s")):
            names = tuple(trouble for trouble, kind in kinds.items() if (kind == "took too long") == too_long)
            results |= self.benches(names, "--requests", "20", "--in-flight", "10", "--max-tokens", "6", "--answer-time", bound,
                                    server=("--every", "10", "--step", "0.002"))
        for trouble, kind in kinds.items():
            with self.subTest(trouble=trouble):
                result = results[trouble]
                self.assertEqual([(one["what"], one["count"]) for one in result["answers"]["failures"]], [(kind, 2)], result)
                self.assertEqual((result["answers"]["whole"], result["answers"]["failed"]), (18, 2))
                self.assertEqual(result["ended"], "complete")

    def test_a_server_that_fails_always_is_given_up(self):
        result = self.bench("--requests", "500", "--in-flight", "8", code=1, server=("--trouble", "500", "--every", "1"))
        self.assertEqual(result["ended"], "gave_up")
        self.assertLess(result["answers"]["sent"], 50)
        self.assertIsNone(result["energy_per_output_token_j"])

    def test_an_interrupt_ends_the_run_and_shows_the_numbers_so_far(self):
        for after in (0.3, 1.5):
            with self.subTest(after=after), subprocess.Popen(
                    self.words("--requests", "100000", "--in-flight", "8", "--max-tokens", "20", "--json", "-"),
                    stdout=subprocess.PIPE, text=True, start_new_session=True) as running:
                deadline = time.monotonic() + 60
                while not (self.log.exists() and self.log.stat().st_size > 0) and time.monotonic() < deadline:
                    time.sleep(0.02)
                time.sleep(after)
                began = time.monotonic()
                for process in self.benches_of(running.pid):
                    os.kill(process, signal.SIGINT)
                result = json.loads(running.communicate(timeout=120)[0])
                self.assertEqual(running.returncode, 1)
                self.assertLess(time.monotonic() - began, 60)
                self.assertEqual(result["ended"], "interrupted")
                self.assertEqual(result["answers"]["failed"], 0, result)
                self.assertGreater(result["answers"]["unfinished"], 0)
            self.log.unlink()

    @staticmethod
    def benches_of(session: int) -> list[int]:
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = path.read_bytes().split(b"\0")
                if words[1:3] == [b"llm", b"bench"] and os.getsid(int(path.parent.name)) == session:
                    found.append(int(path.parent.name))
        return found

    def test_a_gpu_that_is_lost_leaves_the_times(self):
        result = self.bench("--requests", "90", "--in-flight", "8", "--max-tokens", "40", code=None, server=("--lost-at", "60"))
        self.assertIsNone(result["energy_per_output_token_j"])
        self.assertIn("energy_per_output_token_j", result["reason"])
        self.assertEqual(result["answers"]["whole"], 90)

    def test_a_key_is_sent_and_shown_nowhere(self):
        done = subprocess.run(self.words("--requests", "5", "--max-tokens", "3", "--json", "-"), capture_output=True, text=True,
                              check=False, env={**os.environ, "OPENAI_API_KEY": "sk-hidden"}, timeout=60)
        self.assertNotIn("sk-hidden", done.stdout + done.stderr)
        json.loads(done.stdout)

    def test_what_cannot_be_asked_is_refused_at_once(self):
        prompts = pathlib.Path(self.folder.name) / "prompts.jsonl"
        prompts.write_text('{"prompt":"one"}\n{"prompt":2}\n', encoding="utf-8")
        for options, message in ((("--prompts", str(prompts), "--requests", "2"), "prompts.jsonl: line 2 is not a prompt"),
                                 (("--gpus", "3"), "there is no GPU '3'")):
            with self.subTest(message=message):
                done = subprocess.run(self.words(*options), capture_output=True, text=True, check=False, timeout=60)
                self.assertIn(message, done.stderr)
                self.assertNotEqual(done.returncode, 0)
        for options, message in ((("--url", "http://127.0.0.1:9"), "cannot reach"), (("--url", "ftp://x"), "begins with none of"),
                                 (("--url", "http://127.0.0.1:9", "--repeat-prompts"), "needs a file of prompts")):
            with self.subTest(message=message):
                done = subprocess.run([program, "llm", "bench", *options], capture_output=True, text=True, check=False, timeout=60)
                self.assertIn(message, done.stderr)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_file_of_prompts_is_not_repeated_unless_asked(self):
        prompts = pathlib.Path(self.folder.name) / "prompts.jsonl"
        prompts.write_text('{"prompt":"one two"}\n\n{"messages":[{"role":"user","content":"a b c"}],"max_tokens":2}\n',
                           encoding="utf-8")
        done = subprocess.run(self.words("--prompts", str(prompts), "--requests", "3"), capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertIn("has 2 prompts for 3 requests", done.stderr)
        self.bench("--prompts", str(prompts), "--requests", "4", "--max-tokens", "5", "--repeat-prompts", code=None)
        self.assertEqual(sorted((one["prompt_tokens"], one["output_tokens"]) for one in self.logged("answer")),
                         [(2, 5), (2, 5), (3, 2), (3, 2)])


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()

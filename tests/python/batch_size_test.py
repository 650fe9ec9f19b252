"""zeus.optimizer.batch_size against the existing package's real server and against ours, on virtual GPUs (see CMakeLists.txt).

  batch_size_test.py BUILD_FOLDER PROGRAM
"""

import json
import math
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
import existing_servers  # noqa: E402
import existing_session  # noqa: E402
import python_environment  # noqa: E402
import server_session  # noqa: E402

from zeus.monitor import ZeusMonitor  # noqa: E402
from zeus.optimizer.batch_size import BatchSizeOptimizer, JobSpec  # noqa: E402
from zeus.optimizer.batch_size.common import CreatedJob, ReportResponse, TrainingResult, ValidationError  # noqa: E402
from zeus.optimizer.batch_size.exceptions import (  # noqa: E402
    ZeusBSOBadOperationError,
    ZeusBSOConfigError,
    ZeusBSOOperationOrderError,
    ZeusBSORuntimError,
    ZeusBSOTrainFailError,
)

build = pathlib.Path()
program = ""


def spec(job_id: str = "mnist-1", **more) -> JobSpec:
    values = dict(job_id=job_id, job_id_prefix="mnist", default_batch_size=64, batch_sizes=[128, 32, 64], target_metric=0.9)
    return JobSpec(**{**values, **more})


class JobSpecs(unittest.TestCase):
    def test_defaults_are_those_of_the_interface(self):
        made = spec()
        self.assertEqual(made.batch_sizes, [32, 64, 128])
        self.assertEqual((made.eta_knob, made.beta_knob, made.max_epochs, made.num_pruning_rounds), (0.5, 2.0, 100, 2))
        self.assertEqual((made.window_size, made.mab_num_explorations, made.mab_seed), (0, 2, None))
        self.assertIs(made.higher_is_better_metric, True)

    def test_it_has_the_methods_that_scripts_call(self):
        made = spec(beta_knob=None)
        self.assertEqual(JobSpec.parse_obj(made.dict()), made)
        self.assertEqual(JobSpec.parse_raw(made.json()), made)
        made.max_epochs = 7
        self.assertEqual(made.copy(update={"mab_seed": 3}).dict()["max_epochs"], 7)
        self.assertEqual(dict(made), made.dict())
        self.assertEqual(list(made.dict(include={"eta_knob", "beta_knob"}).items()), [("eta_knob", 0.5), ("beta_knob", None)])
        self.assertEqual(made.dict(exclude={"eta_knob"}).keys(), made.dict().keys() - {"eta_knob"})
        self.assertNotIn("beta_knob", json.loads(made.json(exclude_none=True, indent=2)))
        twin = made.copy(deep=True)
        twin.batch_sizes.append(1024)
        self.assertEqual(made.batch_sizes, [32, 64, 128])

    def test_what_cannot_be_is_refused_by_name(self):
        wrong = {
            "job_id": {"job_id": "other-1"},
            "default_batch_size": {"default_batch_size": 48},
            "batch_sizes": {"batch_sizes": []},
            "eta_knob": {"eta_knob": 1.5},
            "beta_knob": {"beta_knob": 0},
            "max_epochs": {"max_epochs": 0},
            "target_metric": {"target_metric": math.nan},
            "mab_seed": {"mab_seed": -1},
        }
        for field, values in wrong.items():
            with self.subTest(field), self.assertRaises(ValidationError) as caught:
                spec(**values)
            self.assertIsInstance(caught.exception, ValueError)
            self.assertEqual([error["loc"] for error in caught.exception.errors()], [(field,)])
        with self.assertRaisesRegex(ValidationError, "job_id_prefix: is missing"):
            JobSpec(batch_sizes=[1], default_batch_size=1)
        for sizes in ([0, 64], [64, 64], "64", [64.5], None):
            with self.subTest(sizes), self.assertRaises(ValidationError):
                spec(batch_sizes=sizes)

    def test_unknown_fields_are_ignored(self):
        answer = ReportResponse.parse_obj({"stop_train": True, "converged": False, "message": "m", "later": 1})
        self.assertEqual(answer.dict(), {"stop_train": True, "converged": False, "message": "m"})


class WithoutAServer(unittest.TestCase):
    def test_a_missing_server_is_reported_after_some_tries(self):
        begun = time.monotonic()
        with self.assertRaisesRegex(ZeusBSORuntimError, "nothing listens there"):
            BatchSizeOptimizer(ZeusMonitor(gpu_indices=[0]), "http://127.0.0.1:9", spec(), attempts=3)
        self.assertGreater(time.monotonic() - begun, 0.7)  # it waited between the tries

    def test_a_url_that_is_none_is_refused(self):
        with self.assertRaisesRegex(ZeusBSOConfigError, "http://"):
            BatchSizeOptimizer(ZeusMonitor(gpu_indices=[0]), "localhost:8000", spec())

    def test_a_server_that_never_answers_is_given_up(self):
        import socket

        with socket.socket() as mute:
            mute.bind(("127.0.0.1", 0))
            mute.listen()
            url = f"http://127.0.0.1:{mute.getsockname()[1]}"
            with self.assertRaisesRegex(ZeusBSORuntimError, "no answer within 0.2 s"):
                BatchSizeOptimizer(ZeusMonitor(gpu_indices=[0]), url, spec(), timeout=0.2, attempts=2)

    def test_a_server_of_another_kind_is_reported(self):
        import http.server

        class Page(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"<html>hello</html>")

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with self.assertRaisesRegex(ZeusBSORuntimError, "not JSON"):
                BatchSizeOptimizer(ZeusMonitor(gpu_indices=[0]), f"http://127.0.0.1:{server.server_port}", spec())
            server.shutdown()

    def test_no_gpus_are_nothing_to_optimize(self):
        with self.assertRaises(ZeusBSOConfigError):
            BatchSizeOptimizer(ZeusMonitor(gpu_indices=[]), "http://127.0.0.1:9", spec())


class AnyServer:
    """What every script may rely on, with any of the servers."""

    jobs = 0

    @classmethod
    def serve(cls, context):
        cls.server = context.__enter__()
        cls.addClassCleanup(context.__exit__, None, None, None)

    def setUp(self):
        type(self).jobs += 1
        self.job_id = f"mnist-{self.jobs}"
        self.monitor = ZeusMonitor(gpu_indices=[0, 1])

    def optimizer(self, **more) -> BatchSizeOptimizer:
        return BatchSizeOptimizer(self.monitor, self.server.url, spec(self.job_id, **more))

    def train(self, metrics, **more) -> BatchSizeOptimizer:
        optimizer = self.optimizer(**more)
        optimizer.get_batch_size()
        optimizer.on_train_begin()
        for metric in metrics:
            time.sleep(0.05)
            optimizer.on_evaluate(metric)
        return optimizer

    def test_a_run_reaches_its_target_and_its_cost_is_kept(self):
        optimizer = self.train([0.5, 0.95])
        self.assertTrue(optimizer.training_finished)
        self.assertEqual(optimizer.cur_epoch, 2)
        [(number, size, status, converged, energy, seconds)] = self.trials()
        self.assertEqual((number, size, status, converged), (1, 64, "Succeeded", 1))
        self.assertAlmostEqual(energy, optimizer.consumed_energy)
        self.assertAlmostEqual(seconds, optimizer.running_time)
        self.assertGreater(seconds, 0.1)
        self.assertGreater(energy, 1)
        optimizer.on_evaluate(0.1)  # after the end, nothing
        self.assertEqual(len(self.trials()), 1)

    def test_the_job_is_registered_with_what_its_gpus_are(self):
        job = self.optimizer().job
        self.assertIsInstance(job, CreatedJob)
        self.assertEqual((job.max_power, job.number_of_gpus), (500.0, 2))
        self.assertIn("V100", job.gpu_model)
        self.optimizer()  # the same again is the same job
        with self.assertRaisesRegex(ZeusBSORuntimError, "409"):
            self.optimizer(eta_knob=0.7)

    def test_without_a_job_id_the_server_makes_one(self):
        optimizer = BatchSizeOptimizer(self.monitor, self.server.url, spec(None))
        self.assertRegex(optimizer.job.job_id, r"^mnist-[0-9a-f]{8}$")
        self.assertIsNone(optimizer.job_spec.job_id)

    def test_batch_sizes_are_explored_from_the_default_down_and_then_up(self):
        sizes = []
        for _ in range(3):
            optimizer = self.train([0.95], beta_knob=None)  # none is too expensive, however long its time is
            sizes.append(optimizer.current_batch_size)
            self.assertEqual(optimizer.get_batch_size(), sizes[-1])  # asking again is not another trial
        self.assertEqual(sizes, [64, 32, 128])

    def test_a_run_that_never_gets_there_fails(self):
        optimizer = self.optimizer(max_epochs=2)
        optimizer.get_batch_size()
        optimizer.on_train_begin()
        optimizer.on_evaluate(0.2)
        with self.assertRaisesRegex(ZeusBSOTrainFailError, "max_epoch"):
            optimizer.on_evaluate(0.2)
        self.assertTrue(optimizer.training_finished)
        self.assertEqual(self.trials()[0][2:4], ("Succeeded", 0))

    def test_a_metric_that_is_not_a_number_reaches_no_target(self):
        for better, metric in ((True, math.nan), (False, math.nan), (True, -math.inf), (False, math.inf)):
            self.job_id += "n"
            optimizer = self.optimizer(higher_is_better_metric=better)
            optimizer.get_batch_size()
            optimizer.on_train_begin()
            optimizer.on_evaluate(metric)
            self.assertFalse(optimizer.training_finished)
            self.monitor.end_window("BatciSizeOptimizerClient")

    def test_the_order_of_calls_is_held(self):
        optimizer = self.optimizer()
        with self.assertRaises(ZeusBSOOperationOrderError):
            optimizer.on_evaluate(0.5)
        optimizer.get_batch_size()
        with self.assertRaises(ZeusBSOOperationOrderError):
            optimizer.on_evaluate(0.5)
        other_rank = BatchSizeOptimizer(self.monitor, self.server.url, spec(self.job_id), rank=1)
        with self.assertRaises(ZeusBSOBadOperationError):
            other_rank.get_batch_size()

    def test_a_server_that_goes_away_in_mid_training_is_outlasted(self):
        optimizer = BatchSizeOptimizer(self.monitor, self.server.url, spec(self.job_id), attempts=2)
        optimizer.get_batch_size()
        optimizer.on_train_begin()
        optimizer.on_evaluate(0.1)
        self.server.stop()
        with self.assertLogs("zeus.optimizer.batch_size.client", "WARNING"):
            optimizer.on_evaluate(0.2)
        self.assertFalse(optimizer.training_finished)
        self.server.start()
        optimizer.on_evaluate(0.95)
        self.assertTrue(optimizer.training_finished)
        [(_, _, status, converged, energy, _)] = self.trials()
        self.assertEqual((status, converged), ("Succeeded", 1))
        self.assertAlmostEqual(energy, optimizer.consumed_energy)  # of the unreported epoch too

    def run_script(self, script: str) -> subprocess.CompletedProcess:
        text = PREAMBLE.format(url=self.server.url, job_id=self.job_id) + script
        return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120)

    def test_a_process_that_ends_without_a_result_has_failed(self):
        done = self.run_script("sys.exit('crash')")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.trials()[0][2], "Failed")

    def test_a_forked_child_that_ends_is_not_the_training(self):
        done = self.run_script(
            "pid = os.fork()\n"
            "if pid == 0: sys.exit(0)\n"
            "os.waitpid(pid, 0)\n"
            "optimizer.on_evaluate(0.95)\n"
            "print(optimizer.training_finished)"
        )
        self.assertEqual(done.stdout, "True\n", done.stderr)
        self.assertEqual(self.trials()[0][2:4], ("Succeeded", 1))

    def test_ranks_have_one_job_and_stop_together(self):
        python = python_environment.interpreter(build, "trainers")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "train.py"
            path.write_text(TWO_RANKS, encoding="utf-8")
            command = [python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", path]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=600,
                                  env={**os.environ, "SERVER": self.server.url})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        said = sorted(line.split() for line in done.stdout.splitlines() if line.startswith("rank"))
        self.assertEqual([line[:2] + line[3:] for line in said], [["rank", str(rank), "64", "2", "True"] for rank in range(2)])
        self.job_id = said[0][2]
        self.assertEqual(said[1][2], self.job_id, "each rank has a job of its own")
        self.assertEqual([trial[1:4] for trial in self.trials()], [(64, "Succeeded", 1)])

    def test_results_are_as_the_interface_spells_them(self):
        fields = list(TrainingResult(job_id="a", batch_size=1, trial_number=1, time=1, energy=2, metric=3, current_epoch=4).dict())
        self.assertEqual(set(fields), {"job_id", "batch_size", "trial_number", "time", "energy", "metric", "current_epoch"})


class TheExistingServer(AnyServer, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve(existing_servers.batch_size(build))

    def trials(self) -> list:
        with sqlite3.connect(self.server.folder / "jobs.db") as database:
            rows = database.execute(
                "select trial_number, batch_size, status, converged, energy, time from Trial where job_id = ? order by 1",
                (self.job_id,),
            )
            return rows.fetchall()


class OurServer(AnyServer, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.serve(existing_session.ours(program))

    def trials(self) -> list:
        status, view = self.server.ask("GET", f"/api/v1/jobs/{self.job_id}?all=true")
        self.assertEqual(status, 200, view)
        ends = {None: ("Dispatched", None), "reached": ("Succeeded", 1), "exhausted": ("Succeeded", 0), "stopped": ("Succeeded", 0),
                "lost": ("Failed", None)}
        return [(one["try"], one["batch_size"], *ends[one["outcome"]], (one["energy_j"] or {}).get("value"), one["time_s"])
                for one in sorted(view["tries"], key=lambda one: one["try"])]

    def beats(self, job_id: str) -> list:
        """The statuses of the answers to its beats."""
        lines = [json.loads(line) for line in self.server.log().splitlines()]
        return [line["status"] for line in lines if line.get("path", "").startswith(f"/api/v1/jobs/{job_id}/") and line["path"].endswith("/beat")]

    def until(self, holds) -> None:
        deadline = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    @staticmethod
    def beating() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "zeus-beats"}

    def test_a_training_sends_beats_until_it_is_over(self):
        with unittest.mock.patch("zeus.optimizer.batch_size._beats.BETWEEN_BEATS", 0.05):
            optimizer, before = self.optimizer(), self.beating()
            optimizer.get_batch_size()
            optimizer.on_train_begin()
            self.until(lambda: len(self.beats(self.job_id)) >= 3)
            self.assertEqual(set(self.beats(self.job_id)), {200})
            self.assertEqual(len(self.beating() - before), 1)  # others may end meanwhile
            optimizer.on_evaluate(0.95)
            self.until(lambda: self.beating() <= before)

    def test_asking_for_a_batch_size_is_repeated_where_its_answer_was_lost(self):
        optimizer = self.optimizer()
        ask, lost = optimizer._server.ask, []

        def lose_the_first(method, path, **request):
            answer = ask(method, path, **request)
            if path == "/jobs/batch_size" and not lost:
                lost.append(answer.value["trial_number"])
                return ask(method, path, **request)  # as _http does for a broken connection
            return answer

        with unittest.mock.patch.object(optimizer._server, "ask", lose_the_first):
            optimizer.get_batch_size()
        self.assertEqual([optimizer.trial_number], lost)
        self.assertEqual(len(self.trials()), 1)
        optimizer._ending()


class WithATokenFromTheEnvironmentOrTheUrl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        key = server_session.write_key(pathlib.Path(held.name))
        context = existing_session.ours(program, "--signing-key-path", str(key))
        cls.server = context.__enter__()
        cls.addClassCleanup(context.__exit__, None, None, None)
        cls.token = server_session.token("ann", ["jobs-read", "jobs-write"])
        cls.monitor = ZeusMonitor(gpu_indices=[0])

    def test_without_one_it_is_refused(self):
        with self.assertRaisesRegex(ZeusBSORuntimError, "401"):
            BatchSizeOptimizer(self.monitor, self.server.url, spec())

    def train(self, url: str, job_id: str) -> BatchSizeOptimizer:
        optimizer = BatchSizeOptimizer(self.monitor, url, spec(job_id))
        optimizer.get_batch_size()
        optimizer.on_train_begin()
        optimizer.on_evaluate(0.95)
        self.assertTrue(optimizer.training_finished)
        return optimizer

    def test_it_is_taken_from_the_environment(self):
        with unittest.mock.patch.dict(os.environ, {"ZEUS_TOKEN": self.token}):
            self.train(self.server.url, "mnist-environment")

    def test_it_is_sent_without_blanks_around_it_and_shown_in_no_error(self):
        with unittest.mock.patch.dict(os.environ, {"ZEUS_TOKEN": self.token + "\n"}):
            self.train(self.server.url, "mnist-blanks")
        with unittest.mock.patch.dict(os.environ, {"ZEUS_TOKEN": f"two\n{self.token}"}):
            with self.assertRaisesRegex(ZeusBSOConfigError, "the token contains characters that cannot be sent") as caught:
                BatchSizeOptimizer(self.monitor, self.server.url, spec())
        self.assertNotIn(self.token, str(caught.exception))

    def test_it_is_taken_from_the_url_and_shown_nowhere(self):
        url = self.server.url.replace("http://", f"http://ann:{self.token}@")
        with self.assertLogs("zeus", "INFO") as said:
            optimizer = self.train(url, "mnist-url")
        self.assertEqual(optimizer.server_url, self.server.url)
        self.assertNotIn(self.token, str(said.output))
        with self.assertRaises(ZeusBSORuntimError) as caught:
            BatchSizeOptimizer(self.monitor, url + "/elsewhere", spec("mnist-url"))
        self.assertNotIn(self.token, str(caught.exception))


class AnotherServer(unittest.TestCase):
    """A server that does not identify itself, and records its requests."""

    def test_it_is_asked_as_ever(self):
        import http.server

        asked = []

        class Recorder(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked.append((self.command, self.path, dict(self.headers)))
                said = {"/jobs": body, "/report": b'{"stop_train": true, "converged": true, "message": ""}'}
                content = said.get(self.path, b'{"job_id": "mnist-1", "batch_size": 64, "trial_number": 1}')
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Recorder) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            monitor = ZeusMonitor(gpu_indices=[0])
            with unittest.mock.patch("zeus.optimizer.batch_size._beats.BETWEEN_BEATS", 0.01):
                others = set(threading.enumerate())
                optimizer = BatchSizeOptimizer(monitor, f"http://127.0.0.1:{server.server_port}", spec())
                optimizer.get_batch_size()
                optimizer.on_train_begin()
                self.assertLessEqual(set(threading.enumerate()), others)
                optimizer.on_evaluate(0.95)
            server.shutdown()
        self.assertEqual([path for _, path, _ in asked], ["/jobs", "/jobs/batch_size?job_id=mnist-1", "/report"])
        for _, _, headers in asked:
            self.assertFalse({"Zeus-Gives", "Idempotency-Key", "Authorization"} & set(headers), headers)


PREAMBLE = """
import os, sys
from zeus.monitor import ZeusMonitor
from zeus.optimizer.batch_size import BatchSizeOptimizer, JobSpec
job = JobSpec(job_id="{job_id}", job_id_prefix="mnist", default_batch_size=64, batch_sizes=[32, 64, 128], target_metric=0.9)
optimizer = BatchSizeOptimizer(ZeusMonitor(gpu_indices=[0, 1]), "{url}", job)
optimizer.get_batch_size()
optimizer.on_train_begin()
"""

# Rank 1 sees a different metric from rank 0; by its own it would go on.
TWO_RANKS = """
import os, sys, torch, torch.distributed as dist
from zeus.monitor import ZeusMonitor
from zeus.optimizer.batch_size import BatchSizeOptimizer, JobSpec
dist.init_process_group("gloo")
rank = dist.get_rank()
job = JobSpec(job_id_prefix="ranks", default_batch_size=64, batch_sizes=[32, 64], target_metric=0.9)
bso = BatchSizeOptimizer(ZeusMonitor(gpu_indices=[rank]), os.environ["SERVER"], job, rank=rank)
assert bso.get_batch_size() in (32, 64)
bso.on_train_begin()
for epoch in range(5):
    dist.all_reduce(torch.ones(1))
    bso.on_evaluate(0.95 if rank == 0 and epoch == 1 else 0.1)
    if bso.training_finished:
        break
# In one piece, because both ranks write to one pipe, unbuffered.
sys.stdout.write(f"rank {rank} {bso.job.job_id} {bso.current_batch_size} {bso.cur_epoch} {bso.training_finished}\\n")
dist.barrier()
dist.destroy_process_group()
"""

if __name__ == "__main__":
    build, program = pathlib.Path(os.path.abspath(sys.argv.pop(1))), sys.argv.pop(1)
    unittest.main()

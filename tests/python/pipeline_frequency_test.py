"""zeus.optimizer.pipeline_frequency: with the existing package's real server, and with a plan from a file, on virtual GPUs.

  pipeline_frequency_test.py BUILD_FOLDER
"""

import asyncio
import csv
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import existing_servers  # noqa: E402
import python_environment  # noqa: E402

from zeus.device import get_gpus  # noqa: E402
from zeus.optimizer.pipeline_frequency import PipelineFrequencyOptimizer  # noqa: E402
from zeus.optimizer.pipeline_frequency.common import (  # noqa: E402
    FrequencySchedule,
    InstructionProfilingResult,
    JobInfo,
    ProfilingResult,
    RankInfo,
    ValidationError,
    load_prof,
    load_ranks,
    load_sched,
    save_prof,
    save_ranks,
    save_sched,
)
from zeus.optimizer.pipeline_frequency.frequency_controller import FrequencyController  # noqa: E402

build = pathlib.Path()

PLAN = [["forward", 1380], ["forward", 1200], ["backward", 900], ["backward", 1380]]


def alone(**more) -> dict:
    """The arguments of a pipeline of one rank."""
    ones = dict(dp_degree=1, pp_degree=1, tp_degree=1, world_size=1)
    return {**dict(rank=0, dp_rank=0, pp_rank=0, tp_rank=0, device_id=0), **ones, **more}


def sm_clock(gpu: int = 0) -> int:
    """The driver's values, read without our library."""
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    handle, clock = ctypes.c_void_p(), ctypes.c_uint()
    nvml.nvmlInit_v2()
    nvml.nvmlDeviceGetHandleByIndex_v2(gpu, ctypes.byref(handle))
    nvml.nvmlDeviceGetClockInfo(handle, 1, ctypes.byref(clock))
    return clock.value


def clock_once_near(wanted: int) -> int:
    """The SM clock once it is that one, or after a minute."""
    deadline = time.monotonic() + 60
    while abs((clock := sm_clock()) - wanted) > 15 and time.monotonic() < deadline:
        time.sleep(0.005)
    return clock


class Call(ctypes.Structure):
    """zeus_virtual_call of the virtual drivers."""

    _fields_ = [("number", ctypes.c_uint64), ("time_s", ctypes.c_double), ("process", ctypes.c_int32), ("gpu", ctypes.c_int32),
                ("result", ctypes.c_int32), ("entry_point", ctypes.c_char * 64)]


def calls_that_succeeded(entry_point: str) -> int:
    log, count = (Call * 4096)(), ctypes.c_uint(4096)
    assert ctypes.CDLL("libnvidia-ml.so.1").zeus_virtual_read_calls(ctypes.c_uint64(0), log, ctypes.byref(count)) == 0
    return sum(call.entry_point.decode() == entry_point and call.result == 0 for call in log[: count.value])


def plan_file(folder: str, *plans) -> str:
    path = os.path.join(folder, "plan.json")
    found = [{"time_s": seconds, "energy_j": joules, "frequencies": rows} for seconds, joules, rows in plans]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"frontier": [], "plans": found, "solve_s": 0.1}, file)
    return path


class ByAPlanFromAFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def follow(self, plan=None, **more) -> PipelineFrequencyOptimizer:
        path = plan_file(self.folder.name, (1.0, 100.0, [plan or PLAN]))
        optimizer = PipelineFrequencyOptimizer(**alone(), plan=path, **more)
        self.addCleanup(optimizer.close)
        return optimizer

    def run_iteration(self, optimizer, each: float) -> None:
        for name, _ in optimizer.schedule:
            optimizer.on_instruction_begin(name)
            time.sleep(each)
            optimizer.on_instruction_end(name)
        optimizer.on_step_end()

    def expect_clocks(self, optimizer, each: float, wanted: list) -> None:
        """Every instruction takes at least `each` seconds, and comes to its clock."""
        for (name, planned), clock in zip(optimizer.schedule, wanted):
            optimizer.on_instruction_begin(name)
            begun = time.monotonic()
            self.assertAlmostEqual(clock_once_near(clock), clock, delta=15, msg=name)
            time.sleep(max(0.0, begun + each - time.monotonic()))
            if not planned:
                self.assertAlmostEqual(sm_clock(), clock, delta=15, msg=name)
            optimizer.on_instruction_end(name)
        optimizer.on_step_end()

    def test_every_computation_runs_at_its_clock(self):
        optimizer = self.follow()
        for _ in range(3):
            # Longer than the longest lead, with which a busy machine's faster clocks come.
            self.expect_clocks(optimizer, 0.6, [clock for _, clock in PLAN])
        self.assertGreater(optimizer.latency, 0)
        self.assertLess(optimizer.latency, 5)

    def test_a_faster_clock_is_there_when_its_computation_begins(self):
        optimizer = self.follow([["forward", 900], ["backward", 1380]], lead=0.05)
        early = []
        for _ in range(8):
            optimizer.on_instruction_begin("forward")
            time.sleep(0.2)
            early.append(sm_clock())
            optimizer.on_instruction_end("forward")
            optimizer.on_instruction_begin("backward")
            time.sleep(0.1)
            optimizer.on_instruction_end("backward")
            optimizer.on_step_end()
        # The first time, the duration of the forward is unknown; from then on it is 50 ms early, apart from the delays
        # of a busy machine.
        self.assertGreaterEqual(sum(abs(clock - 1380) <= 15 for clock in early[1:]), 4, early)

    def test_what_was_found_is_put_back(self):
        before = sm_clock()
        optimizer = self.follow([["forward", 900]])
        optimizer.on_instruction_begin("forward")
        self.assertAlmostEqual(clock_once_near(900), 900, delta=15)
        self.assertGreater(before, 915)
        optimizer.close()
        self.assertEqual(sm_clock(), before)

    def test_what_was_found_is_put_back_after_a_kill(self):
        before = sm_clock()
        path = plan_file(self.folder.name, (1.0, 100.0, [[["forward", 900]]]))
        script = (
            "import os, signal\n"
            "from zeus.optimizer.pipeline_frequency import PipelineFrequencyOptimizer\n"
            f"optimizer = PipelineFrequencyOptimizer(**{alone()!r}, plan={path!r})\n"
            "optimizer.on_instruction_begin('forward')\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        self.assertEqual(subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode, -9)
        deadline = time.monotonic() + 60
        while sm_clock() != before and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(sm_clock(), before)

    def test_the_training_never_waits_for_the_driver(self):
        optimizer = self.follow()
        begun = time.perf_counter()
        for _ in range(200):
            for name, _ in PLAN:
                optimizer.on_instruction_begin(name)
                optimizer.on_instruction_end(name)
            optimizer.on_step_end()
        each = (time.perf_counter() - begun) / 800
        # A change of the clock takes at least this long; an upper bound that holds on busy machines too.
        self.assertLess(each, 0.005)

    def test_the_plans_order_is_held(self):
        optimizer = self.follow()
        with self.assertRaisesRegex(RuntimeError, "'backward' begins where the plan has 'forward'"):
            optimizer.on_instruction_begin("backward")
        with self.assertRaisesRegex(RuntimeError, "ends after 0 of the plan's 4"):
            optimizer.on_step_end()
        with self.assertRaisesRegex(RuntimeError, "ends without having begun"):
            optimizer.on_instruction_end("forward")
        for name, _ in PLAN:
            optimizer.on_instruction_begin(name)
            optimizer.on_instruction_end(name)
        with self.assertRaises(RuntimeError):
            optimizer.on_instruction_begin("forward")
        optimizer.on_step_end()
        optimizer.on_instruction_begin("forward")

    def test_meanwhile_the_power_limit_is_the_default_and_the_memory_is_locked_to_its_highest_clock(self):
        gpu = get_gpus().gpus[0]  # an A100; the V100 of rank 1 below cannot lock its memory
        self.addCleanup(gpu.put_back)
        gpu.set_power_management_limit(300_000)
        locked = calls_that_succeeded("nvmlDeviceSetMemoryLockedClocks")
        optimizer = PipelineFrequencyOptimizer(**alone(), plan=plan_file(self.folder.name, (1.0, 100.0, [PLAN])))
        self.addCleanup(optimizer.close)
        self.assertEqual(gpu.get_power_management_limit(), 400_000)
        self.assertEqual(calls_that_succeeded("nvmlDeviceSetMemoryLockedClocks"), locked + 1)
        optimizer.close()
        self.assertEqual(gpu.get_power_management_limit(), 300_000)
        self.assertEqual(optimizer.trouble, "")

    def test_a_clock_that_is_refused_while_training_shows_on_the_object_and_in_logging(self):
        optimizer = self.follow([["forward", 900], ["backward", 1380]])
        refusal = b"permission call=nvmlDeviceSetGpuLockedClocks gpu=0 times=1"
        self.assertEqual(ctypes.CDLL("libnvidia-ml.so.1").zeus_virtual_add_fault(refusal), 0)
        with self.assertLogs("zeus.optimizer.pipeline_frequency.optimizer", "WARNING") as said:
            deadline = time.monotonic() + 20
            while not optimizer.trouble and time.monotonic() < deadline:
                self.run_iteration(optimizer, 0.02)
            for _ in range(3):
                self.run_iteration(optimizer, 0.0)
            optimizer.close()
        self.assertEqual(len(said.output), 1, said.output)
        self.assertRegex(said.output[0], r"rank 0, GPU 0: .* no longer followed: the clock could not be locked to (900|1380) MHz")

    def test_without_the_right_to_set_clocks_the_training_goes_on_with_one_warning(self):
        path = plan_file(self.folder.name, (1.0, 100.0, [PLAN]))
        os.chmod(self.folder.name, 0o755)
        script = (
            "import logging; logging.basicConfig(format='LOGGED %(name)s %(message)s')\n"
            "from zeus.optimizer.pipeline_frequency import PipelineFrequencyOptimizer\n"
            "from zeus.optimizer.pipeline_frequency.frequency_controller import FrequencyController\n"
            f"optimizer = PipelineFrequencyOptimizer(**{alone()!r}, plan={path!r})\n"
            "for _ in range(3):\n"
            "    for name, _clock in optimizer.schedule:\n"
            "        optimizer.on_instruction_begin(name); optimizer.on_instruction_end(name)\n"
            "    optimizer.on_step_end()\n"
            "assert 'power limit' in optimizer.trouble or 'clocks' in optimizer.trouble, optimizer.trouble\n"
            "controller = FrequencyController(0); controller.set_frequency(900); controller.end()\n"
            "print('trained')\n"
        )
        command = [build / "bin/zeus", "virtual", "1xA100@root-only", "--shared", "--load", "constant:200W", "--", "setpriv", "--reuid",
                   "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all", sys.executable, "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120,
                              env={**os.environ, "HOME": self.folder.name})
        self.assertEqual((done.returncode, done.stdout), (0, "trained\n"), done.stderr[-3000:])
        logged = [line.split()[1].rsplit(".", 1)[1] for line in done.stderr.splitlines() if line.startswith("LOGGED")]
        self.assertEqual(logged, ["optimizer", "frequency_controller"], done.stderr)
        self.assertNotIn("zeus: warning", done.stderr)

    def test_a_plan_of_the_existing_tool_is_read_as_a_literal(self):
        literal = "[\n[('forward', 1380), ('backward', 900)],\n[('forward', 1200), ('backward', 1380)],\n]\n# Iteration 42: cost 7\n"
        path = os.path.join(self.folder.name, "freqs_pipeline_00042.py")
        pathlib.Path(path).write_text(literal, encoding="utf-8")
        shape = dict(pp_degree=2, world_size=2)
        by_stage = dict(pp_degree=2, dp_degree=2, world_size=4)
        for place, first in ((dict(rank=1, pp_rank=1, **shape), 1200), (dict(rank=2, pp_rank=0, dp_rank=1, **by_stage), 1380)):
            optimizer = PipelineFrequencyOptimizer(**alone(**place), plan=path)
            self.assertEqual(optimizer.schedule[0], ("forward", first))
            optimizer.close()
        by_rank = "[[('forward', 1380)], [('forward', 1200)], [('forward', 900)], [('forward', 600)]]"
        pathlib.Path(path).write_text(by_rank, encoding="utf-8")
        optimizer = PipelineFrequencyOptimizer(**alone(rank=2, pp_rank=0, dp_rank=1, **by_stage), plan=path)
        self.assertEqual(optimizer.schedule, [("forward", 900)])
        optimizer.close()

    def test_a_file_that_is_no_literal_is_refused_and_nothing_in_it_runs(self):
        path = os.path.join(self.folder.name, "freqs.py")
        witness = os.path.join(self.folder.name, "witness")
        for content in (f"[[('forward', open({witness!r}, 'w').close() or 900)]]", "[[('forward', clock) for clock in (900,)]]", "[" * 10_000_000,
                        "[" * 5000, "-" * 100_000 + "1", "[[('forward', 900.5)]]", "[[('forward', -1)]]", "[[('', 900)]]", "[[]]", "[]", "",
                        "[[('forward', 900)]", "{[]: 1}", "import os"):
            pathlib.Path(path).write_text(content, encoding="utf-8")
            with self.subTest(content[:80]), self.assertRaises(ValueError) as refused:
                PipelineFrequencyOptimizer(**alone(), plan=path)
            self.assertIn(path, str(refused.exception))
            self.assertLess(len(str(refused.exception)), 600)
        self.assertFalse(os.path.exists(witness))

    def test_zero_leaves_the_clock_as_it_is(self):
        optimizer = self.follow([["forward", 900], ["send", 0], ["backward", 1200]])
        self.expect_clocks(optimizer, 0.2, [900, 900, 1200])

    def test_of_several_plans_the_thriftiest_that_is_fast_enough_is_followed(self):
        rows = [[[["forward", clock]]] for clock in (1380, 1200, 900)]
        path = plan_file(self.folder.name, (1.0, 100.0, rows[0]), (1.1, 90.0, rows[1]), (1.5, 70.0, rows[2]))
        with self.assertRaisesRegex(ValueError, "iteration_time"):
            PipelineFrequencyOptimizer(**alone(), plan=path)
        with self.assertRaisesRegex(ValueError, "no plan of 0.5 s"):
            PipelineFrequencyOptimizer(**alone(), plan=path, iteration_time=0.5)
        optimizer = PipelineFrequencyOptimizer(**alone(), plan=path, iteration_time=1.2)
        self.addCleanup(optimizer.close)
        self.assertEqual(optimizer.schedule, [("forward", 1200)])

    def test_plans_that_make_no_sense_are_refused(self):
        path = os.path.join(self.folder.name, "bad.json")
        for content in ("", "{", "[]", "{}", '{"plans": []}', '{"plans": 3}', '{"time_s": 1, "energy_j": 1, "frequencies": 5}',
                        '{"time_s": 1, "energy_j": 1, "frequencies": [[["forward", -5]]]}',
                        '{"time_s": 1, "energy_j": 1, "frequencies": [[]]}'):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            with self.subTest(content), self.assertRaises(ValueError):
                PipelineFrequencyOptimizer(**alone(), plan=path)
        with self.assertRaisesRegex(ValueError, "absent.json"):
            PipelineFrequencyOptimizer(**alone(), plan="absent.json")
        with self.assertRaises(ValueError):
            PipelineFrequencyOptimizer(**alone())
        good = plan_file(self.folder.name, (1, 1, [PLAN]))
        with self.assertRaisesRegex(ValueError, "none for rank 1"):
            PipelineFrequencyOptimizer(**alone(pp_rank=1, pp_degree=2, world_size=2), plan=good)
        with self.assertRaisesRegex(ValueError, "3 is not 2 x 1 x 1"):
            PipelineFrequencyOptimizer(**alone(pp_degree=2, world_size=3), plan=good)

    def test_what_zeus_pipeline_writes_is_followed(self):
        profile = os.path.join(self.folder.name, "profile.csv")
        works = {"forward": 1.0, "backward": 2.0, "recomputation": 1.0, "forward_backward": 3.0}
        with open(profile, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["stage", "instruction", "frequency", "time", "energy"])
            for stage in range(2):
                for instruction, work in works.items():
                    for clock in (1380, 1200, 900):
                        seconds = work * (1 + stage) * 1380 / clock / 10
                        rows.writerow([stage, instruction, clock, seconds, 70 * seconds + work * (clock / 1380) ** 2 * 20])
        path = os.path.join(self.folder.name, "plan.json")
        program = build / "bin" / "zeus"
        for schedule, order in (("1f1b", ["forward", "forward", "backward", "backward"]),
                                ("early-recomputation", ["forward", "forward", "forward_backward", "recomputation", "backward"])):
            command = [program, "pipeline", "--profile", profile, "--stages", "2", "--microbatches", "2", "--points", "1", "--schedule", schedule,
                       "--json", path]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
            optimizer = PipelineFrequencyOptimizer(**alone(pp_degree=2, world_size=2), plan=path)
            self.addCleanup(optimizer.close)
            self.assertEqual([name for name, _ in optimizer.schedule], order)
            self.assertEqual((optimizer.server_url, optimizer.rank, optimizer.dp_rank, optimizer.pp_rank, optimizer.tp_rank),
                             (None, 0, 0, 0, 0))
            self.run_iteration(optimizer, 0.02)
            optimizer.close()
            self.assertEqual(optimizer.trouble, "")

class ByOnesOwnScript(unittest.TestCase):
    def wait_for(self, clock: int) -> None:
        self.assertAlmostEqual(clock_once_near(clock), clock, delta=15)

    def test_the_clock_is_what_was_asked_for_last_and_then_what_it_was(self):
        before = sm_clock()
        controller = FrequencyController(0)
        self.addCleanup(controller.end)
        for clock in (900, 1380, 0, 1200):
            controller.set_frequency(clock)
        self.wait_for(1200)
        controller.set_frequency(900)
        self.wait_for(900)
        controller.end()
        controller.end()
        self.assertEqual(sm_clock(), before)
        controller.set_frequency(900)
        time.sleep(0.05)
        self.assertEqual(sm_clock(), before)

    def test_what_the_script_has_set_itself_is_there_again_afterwards(self):
        gpu = get_gpus().gpus[0]
        self.addCleanup(gpu.put_back)
        gpu.set_power_management_limit(200_000)
        gpu.set_gpu_locked_clocks(1305, 1305)
        controller = FrequencyController(0)
        self.addCleanup(controller.end)
        self.assertEqual(gpu.get_power_management_limit(), 400_000)
        controller.set_frequency(900)
        self.wait_for(900)
        controller.end()
        self.assertEqual(gpu.get_power_management_limit(), 200_000)
        self.wait_for(1305)

    def test_a_clock_that_is_refused_ends_it_with_one_warning(self):
        before = sm_clock()
        controller = FrequencyController(0)
        self.addCleanup(controller.end)
        refusal = b"permission call=nvmlDeviceSetGpuLockedClocks gpu=0 times=1"
        self.assertEqual(ctypes.CDLL("libnvidia-ml.so.1").zeus_virtual_add_fault(refusal), 0)
        with self.assertLogs("zeus.optimizer.pipeline_frequency.frequency_controller", "WARNING") as said:
            controller.set_frequency(900)
            deadline = time.monotonic() + 60
            while not said.output and time.monotonic() < deadline:
                time.sleep(0.01)
            controller.set_frequency(900)
            controller.end()
        self.assertEqual(len(said.output), 1, said.output)
        self.assertEqual(sm_clock(), before)


class ByTheExistingServer(unittest.TestCase):
    def test_one_rank_gets_its_schedule(self):
        with existing_servers.pipeline_frequency(build, [[("forward", 1200), ("backward", 900)]]) as server:
            optimizer = PipelineFrequencyOptimizer(**alone(), server_url=server.url, job_metadata="test")
            self.addCleanup(optimizer.close)
            self.assertEqual(optimizer.schedule, [("forward", 1200), ("backward", 900)])
            for name in ("forward", "backward"):
                optimizer.on_instruction_begin(name)
                optimizer.on_instruction_end(name)
            optimizer.on_step_end()

    def test_ranks_of_a_group_get_one_job_and_a_schedule_each(self):
        python = python_environment.interpreter(build, "trainers")
        plans = [[("forward", 1380 - 60 * rank), ("backward", 900 + 60 * rank)] for rank in range(2)]
        script = (
            "import os, sys, torch.distributed as dist\n"
            "dist.init_process_group('gloo')\n"
            "from zeus.optimizer.pipeline_frequency import PipelineFrequencyOptimizer\n"
            "rank = dist.get_rank()\n"
            "optimizer = PipelineFrequencyOptimizer(rank=rank, dp_rank=0, pp_rank=rank, tp_rank=0, device_id=rank,\n"
            "    dp_degree=1, pp_degree=2, tp_degree=1, world_size=2, server_url=os.environ['SERVER'])\n"
            "for name in ('forward', 'backward'):\n"
            "    optimizer.on_instruction_begin(name); optimizer.on_instruction_end(name)\n"
            "optimizer.on_step_end()\n"
            "optimizer.close()\n"
            "sys.stdout.write(f'rank {rank} {optimizer.schedule}\\n')\n"  # in one piece
            "dist.destroy_process_group()\n"
        )
        with existing_servers.pipeline_frequency(build, plans) as server, tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "train.py"
            path.write_text(script, encoding="utf-8")
            command = [python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", path]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600,
                                  env={**os.environ, "SERVER": server.url})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertEqual(sorted(line for line in done.stdout.splitlines() if line.startswith("rank")),
                         [f"rank {rank} {plans[rank]}" for rank in range(2)])

    def test_a_server_that_refuses_is_quoted(self):
        # A plan for two ranks, and a job of one: the server's scheduler fails, and the waiting rank gets an error.
        with existing_servers.pipeline_frequency(build, [[("forward", 1200)]] * 2) as server:
            with self.assertRaisesRegex(RuntimeError, "the server answered [45]00"):
                PipelineFrequencyOptimizer(**alone(), server_url=server.url)

    def test_a_missing_server_is_reported(self):
        with self.assertRaisesRegex(RuntimeError, "nothing listens there"):
            PipelineFrequencyOptimizer(**alone(), server_url="http://127.0.0.1:9")

    def test_several_ranks_need_a_process_group(self):
        with self.assertRaisesRegex(RuntimeError, "torch.distributed"):
            PipelineFrequencyOptimizer(**alone(pp_degree=2, world_size=2), server_url="http://127.0.0.1:9")


class WhatGoesOverTheWire(unittest.TestCase):
    def test_a_job_is_a_product(self):
        with self.assertRaisesRegex(ValidationError, "4 is not 2 x 1 x 1"):
            JobInfo(pp_degree=2, dp_degree=1, tp_degree=1, world_size=4)
        with self.assertRaises(ValidationError):
            JobInfo(job_id="mine", pp_degree=1, dp_degree=1, tp_degree=1, world_size=1)
        job = JobInfo(pp_degree=2, dp_degree=1, tp_degree=1, world_size=2, job_metadata="gpt")
        job.set_job_id("PointSolution")
        self.assertRegex(job.job_id, r"^\d{4}(-\d\d){5}\+dp1\+pp2\+tp1\+PointSolution\+gpt$")

    def test_schedules_and_profiles_are_read_as_they_are_dumped(self):
        schedule = FrequencySchedule.parse_raw('{"rank": 1, "frequencies": [["forward", 1740]]}')
        self.assertEqual(schedule.frequencies, [("forward", 1740)])
        profile = ProfilingResult.parse_raw('{"rank": 0, "iter_time": [1.5], "iter_energy": [300]}')
        self.assertEqual((profile.iter_energy, profile.time_breakdown), ([300.0], {}))

    def test_what_a_server_keeps_is_kept_and_found(self):
        ranks = [RankInfo(rank=0, dp_rank=0, pp_rank=0, tp_rank=0, available_frequencies=[1380, 900])]
        schedules = [FrequencySchedule(rank=0, frequencies=[("forward", 900)])]
        profiles = [ProfilingResult(rank=0, iter_time=[1.5], iter_energy=[300.0])]
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(save_ranks(ranks, folder))
            asyncio.run(save_sched(schedules, folder, 2))
            asyncio.run(save_prof(profiles, folder, 2))
            self.assertEqual(sorted(os.listdir(folder)), ["2.prof.json", "2.sched.json", "ranks.json"])
            self.assertEqual((load_ranks(folder), load_sched(folder, 2), load_prof(folder, 2)), (ranks, schedules, profiles))

    def test_offline_profiles_become_the_csv_that_zeus_pipeline_reads(self):
        by_clock = {1380: 0.1, 900: 0.15}
        result = InstructionProfilingResult.parse_obj([
            dict(rank=3, dp_rank=0, pp_rank=1, tp_rank=1, forward_time=by_clock, forward_energy={1380: 20, 900: 18},
                 backward_time=by_clock, backward_energy={1380: 40, 900: 35})
        ])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile.csv")
            result.to_csv(filepath=path)
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            with self.assertRaises(ValueError):
                result.to_csv(os.path.join(folder, "profile.txt"))
        self.assertEqual(lines[0], "rank,dp_rank,pp_rank,tp_rank,stage,instruction,frequency,time,energy")
        self.assertEqual(lines[1], "3,0,1,1,1,forward,1380,0.1,20.0")
        self.assertEqual(len(lines), 5)


if __name__ == "__main__":
    build = pathlib.Path(os.path.abspath(sys.argv.pop(1)))
    unittest.main()

"""Callbacks, profiling, replaying and the small tools, on one virtual V100 that draws 200 W."""

import asyncio
import csv
import ctypes
import http.server
import io
import json
import logging
import os
import pathlib
import socketserver
import sys
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock
from urllib.parse import parse_qs, urlsplit

from zeus import profile
from zeus.callback import Callback, CallbackSet
from zeus.device.cpu.common import CpuDramMeasurement, ZeusCPUInitError
from zeus.device.cpu.rapl import ZeusdRAPLCPU
from zeus.device.exception import ZeusdError
from zeus.device.gpu.nvidia import NVIDIAGPUs, ZeusdNVIDIAGPU
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Done, Energy, GlobalPowerLimitOptimizer
from zeus.utils import framework
from zeus.utils.async_utils import create_task
from zeus.utils.env import get_env
from zeus.utils.logging import FileAndConsole
from zeus.utils.lr_scaler import LinearScaler, SquareRootScaler
from zeus.utils.metric import avg_power, energy, zeus_cost
from zeus.utils.multiprocessing import warn_if_global_in_subprocess
from zeus.utils.testing import ReplayZeusMonitor
from zeus.utils.zeusd import (
    CpuDramPower,
    CpuEnergyResult,
    ZeusdAuthError,
    ZeusdCapabilityError,
    ZeusdClient,
    ZeusdConfig,
    ZeusdConnectionError,
    require_capabilities,
)

EVENTS = {"on_train_begin": (), "on_train_end": (), "on_epoch_begin": (), "on_epoch_end": (), "on_step_begin": (),
          "on_step_end": (), "on_evaluate": (0.5,), "on_instruction_begin": ("forward",),
          "on_instruction_end": ("forward",)}


class Callbacks(unittest.TestCase):
    def test_every_event_reaches_every_callback_in_order(self):
        told = []
        recorders = []
        for name in ("first", "second"):
            recorder = Callback()
            for event in EVENTS:
                setattr(recorder, event, lambda *args, event=event, name=name: told.append((name, event, args)))
            recorders.append(recorder)
        for event, args in EVENTS.items():
            told.clear()
            getattr(CallbackSet(recorders), event)(*args)
            self.assertEqual(told, [("first", event, args), ("second", event, args)])
            self.assertIsNone(getattr(Callback(), event)(*args))

    def test_what_one_raises_reaches_the_caller(self):
        broken = Callback()
        broken.on_step_end = lambda: 1 / 0
        with self.assertRaises(ZeroDivisionError):
            CallbackSet([broken, Callback()]).on_step_end()


class Profile(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def test_energy_of_a_call_is_power_times_its_time(self):
        trial = profile.measure(lambda: time.sleep(0.01), ZeusMonitor(), 2.0, 0.01, num_calibration_iterations=10)
        self.assertGreater(trial.iterations, 1)
        self.assertAlmostEqual(trial.energy_per_iter, 200 * trial.time_per_iter, delta=0.05 * 200 * trial.time_per_iter)
        self.assertAlmostEqual(trial.total_time, trial.iterations * trial.time_per_iter)
        self.assertTrue(20 < trial.temperature_before < 100 and 20 < trial.temperature_after < 100)

    def test_sweeps_cover_their_ranges(self):
        options = dict(num_trials=2, num_warmup_trials=1, num_warmup_iterations=1, num_calibration_iterations=3)
        reports = profile.profile_parameters(lambda: time.sleep(0.005), ZeusMonitor(), [0.05, 0.1], [0.01, 0.02], **options,
                                             trial_stddev_threshold=1e9)
        swept = [(report.sweep_param, report.fixed_param, len(report.entries)) for report in reports]
        self.assertEqual(swept, [(("measurement_duration", [0.05, 0.1]), ("cooldown_duration", 0.02), 2),
                                 (("cooldown_duration", [0.01, 0.02]), ("measurement_duration", 0.1), 2)])
        self.assertTrue(all(entry.is_valid and len(entry.trials) == 2 for report in reports for entry in report.entries))
        self.assertEqual(str(reports[0]).count(" (VALID)"), 2)
        one = profile.profile_measurement_duration(lambda: None, ZeusMonitor(), [0.05], 0.0, 1, 0, 0.0, 0, 1, 0.01)
        self.assertEqual((one.entries[0].energy_std, one.entries[0].is_valid), (0.0, False))

    def test_misuse_is_refused(self):
        with self.assertRaisesRegex(ValueError, "measures no GPU"):
            profile.measure(lambda: None, ZeusMonitor(gpu_indices=[]), 1, 1)
        with self.assertRaisesRegex(ValueError, "must not be negative"):
            profile.measure(lambda: None, ZeusMonitor(), 1, 1, warmup_settle_duration=-1)


class Replay(unittest.TestCase):
    def log(self, text: str) -> pathlib.Path:
        path = pathlib.Path(self.folder.name) / "log.csv"
        path.write_text(text, encoding="utf-8")
        return path

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        warnings.simplefilter("ignore", ResourceWarning)

    def test_what_one_monitor_logged_another_repeats(self):
        path = pathlib.Path(self.folder.name) / "real.csv"
        real = ZeusMonitor(log_file=path)
        measured = []
        for name in ("a", "b, with a comma"):
            real.begin_window(name, sync_execution=False)
            time.sleep(0.05)
            measured.append(real.end_window(name, sync_execution=False))
        replay = ReplayZeusMonitor(log_file=path)
        self.assertEqual(replay.gpu_indices, [0])
        for name, measurement in zip(("a", "b, with a comma"), measured):
            replay.begin_window(name)
            self.assertEqual(list(replay.measurement_states), [name])
            again = replay.end_window(name)
            self.assertEqual((again.time, again.gpu_energy), (measurement.time, measurement.gpu_energy))
        replay.begin_window("more")
        with self.assertRaisesRegex(RuntimeError, "no more lines"):
            replay.end_window("more")

    def test_logs_of_the_existing_package_are_read(self):
        path = self.log("start_time,window_name,elapsed_time,gpu0_energy,gpu3_energy\n"
                        "1663959000.5,epoch,2.5,100.25,50.0\n1663959003.0,step,0.5,1.0\n")
        replay = ReplayZeusMonitor(log_file=path, ignore_sync_execution=True, match_window_name=False)
        replay.begin_window("x")
        with self.assertRaisesRegex(RuntimeError, "already ongoing"):
            replay.begin_window("x")
        replay.begin_window("x", restart=True)
        self.assertEqual(replay.end_window("x").gpu_energy, {0: 100.25, 3: 50.0})
        replay.begin_window("y")
        self.assertEqual(replay.end_window("y", cancel=True).gpu_energy, {0: 0.0, 3: 0.0})
        replay.begin_window("z")
        with self.assertRaisesRegex(RuntimeError, "4 columns"):
            replay.end_window("z")
        with self.assertRaisesRegex(RuntimeError, "not ongoing"):
            replay.end_window("z")

    def test_names_must_match_and_a_log_is_needed(self):
        replay = ReplayZeusMonitor(log_file=self.log("start_time,window_name,elapsed_time,gpu0_energy\n0,a,1,2\n"))
        replay.begin_window("b")
        with self.assertRaisesRegex(RuntimeError, "'a' next"):
            replay.end_window("b")
        with self.assertRaises(ValueError):
            ReplayZeusMonitor()


class Tools(unittest.TestCase):
    def test_environment_variables_have_types(self):
        with mock.patch.dict(os.environ, {"N": "3", "F": "1.5", "YES": "True", "ODD": "maybe"}):
            self.assertEqual([get_env("N", int), get_env("F", float), get_env("YES", bool), get_env("ABSENT", int, 7),
                              get_env("N", str)], [3, 1.5, True, 7, "3"])
            for name, kind in (("ODD", bool), ("ABSENT", int), ("F", int)):
                with self.assertRaisesRegex(ValueError, name):
                    get_env(name, kind)

    def test_learning_rates_scale(self):
        self.assertEqual(SquareRootScaler(bs=16, lr=0.1).compute_lr(new_bs=64), 0.2)
        self.assertEqual(LinearScaler(bs=64, lr=0.01).compute_lr(new_bs=128), 0.02)

    def test_cost_and_recorded_energy(self):
        self.assertEqual(zeus_cost(energy=100, time=2, eta_knob=0.5, max_power=300), 350)
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "power.csv"
            log.write_text("Time,Power\n2023-01-01 00:00:00.0,100000\n2023-01-01 00:00:01.0,100000\n"
                           "2023-01-01 00:00:02.0,300000\n2023-01-01 00:00:03.0,300000\n2023-01-01 00:00:04", "utf-8")
            self.assertEqual(energy(log), 100 + 200 + 300)
            self.assertEqual([energy(log, 1, 2), energy(log, -1), energy(log, end=-2)], [200, 300, 100])
            self.assertEqual([avg_power(log), avg_power(log, start=2)], [200, 300])
            with self.assertRaises(ValueError):
                avg_power(log, 5)

    def test_output_goes_to_both(self):
        with tempfile.TemporaryDirectory() as folder:
            console = io.StringIO()
            with mock.patch.object(sys, "stdout", console):
                both = FileAndConsole(pathlib.Path(folder) / "out")
            print("said", file=both)
            both.flush()
            both.file.close()
            self.assertEqual((console.getvalue(), (pathlib.Path(folder) / "out").read_text()), ("said\n", "said\n"))

    def test_a_task_that_fails_is_logged(self):
        async def fail():
            raise KeyError("lost")

        async def run():
            await asyncio.gather(create_task(fail()), return_exceptions=True)

        with self.assertLogs("zeus.utils.async_utils", logging.ERROR) as logged:
            asyncio.run(run())
        self.assertIn("lost", logged.output[0])

    def test_only_a_spawned_import_is_warned_of(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn_if_global_in_subprocess(self)
            exec(compile("warn(obj)", "main.py", "exec"),
                 {"__name__": "__mp_main__", "warn": warn_if_global_in_subprocess, "obj": self})
        self.assertEqual(["Tools is made by a spawned process" in str(each.message) for each in caught], [True])

    def test_alone_numbers_are_reduced_to_themselves(self):
        self.assertEqual(framework.all_reduce([1.5, 2.5], "sum"), [1.5, 2.5])
        self.assertEqual((framework.is_distributed(), framework.get_rank(), framework.get_world_size()), (False, 0, 1))
        with self.assertRaises(ValueError):
            framework.all_reduce([1], "mean")

    def test_whether_a_framework_is_installed_is_looked_up_once(self):
        framework._is_installed.cache_clear()
        self.addCleanup(framework._is_installed.cache_clear)
        others = {name: module for name, module in sys.modules.items() if name not in ("torch", "jax", "cupy")}
        with mock.patch.dict(sys.modules, others, clear=True), \
                mock.patch.object(framework.importlib.util, "find_spec", return_value=object()) as found:
            for _ in range(3):
                framework.sync_execution([0])
        found.assert_called_once_with("torch")

    def test_a_missing_required_framework_is_reported(self):
        with mock.patch.dict(sys.modules, {"cupy": None}):
            self.assertFalse(framework.cupy_is_available())
            with self.assertRaisesRegex(RuntimeError, "Failed to import CuPy"):
                framework.cupy_is_available(ensure_available=True)


class Daemon(http.server.BaseHTTPRequestHandler):
    """Answers like the daemon, and records its requests."""

    discovery = {}
    asked = []
    does = staticmethod(lambda path, query: None)
    answers = {
        "/gpu/get_power": {"timestamp_ms": 5, "power_mw": {"0": 150000}},
        "/gpu/get_cumulative_energy": {"0": {"energy_mj": 500000}},
        "/gpu/get_power_limit": {"0": {"power_limit_mw": 250000}},
        "/gpu/get_power_limit_constraints": {"0": {"min_power_limit_mw": 100000, "max_power_limit_mw": 300000}},
        "/gpu/get_persistence_mode": {"0": {"enabled": True}},
        "/cpu/get_cumulative_energy": {"0": {"cpu_energy_uj": 123, "dram_energy_uj": None}},
        "/cpu/get_power": {"timestamp_ms": 6, "power_mw": {"0": {"cpu_mw": 85000, "dram_mw": None}}},
        "/time": {"timestamp_ms": 1795231401845},
        "/auth/whoami": {"sub": "ann", "scopes": ["gpu-read"], "exp": 1795235062},
    }

    def do_GET(self):
        url = urlsplit(self.path)
        type(self).asked.append((self.command, url.path, {k: v[0] for k, v in parse_qs(url.query).items()},
                                 self.headers.get("Authorization")))
        found = self.discovery if url.path == "/discover" else self.answers.get(url.path)
        status = 200
        if url.path == "/auth/whoami" and self.headers.get("Authorization") != "Bearer good":
            found, status = {"error": "no"}, 401
        if self.command == "POST":
            found = None
            self.does(url.path, parse_qs(url.query))
            if "999" in url.query:
                found, status = {"errors": {"0": "out of range"}}, 400
        body = b"" if found is None else json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if body:
            self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *args):
        pass


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def get_request(self):
        request, _ = super().get_request()
        return request, ("local", 0)


class DaemonClient(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = os.path.join(folder.name, "zeusd.sock")
        self.server = UnixServer(self.socket, Daemon)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        here = NVIDIAGPUs().gpus[0].pci_address
        Daemon.discovery = {"gpus": [{"id": 0, "name": "V100", "pci_address": here.upper(),
                                      "cumulative_energy_available": True}],
                            "cpus": [{"id": 0, "dram_available": False}],
                            "enabled_api_groups": ["gpu-control", "gpu-read", "cpu-read"], "auth_required": False}
        Daemon.asked = []

    def client(self, **options) -> ZeusdClient:
        return ZeusdClient(ZeusdConfig.uds(self.socket, **options))

    def test_it_knows_what_the_daemon_has(self):
        client = self.client()
        self.assertEqual((client.endpoint, client.gpu_ids, client.cpu_ids, client.dram_available), (self.socket, [0], [0], [False]))
        self.assertEqual((client.can_read_gpu, client.can_control_gpu, client.can_read_cpu), (True, True, True))
        self.assertEqual(client.get_gpu_energy([0]), {0: 500000})
        self.assertEqual(client.get_gpu_power().power_mw, {0: 150000})
        self.assertEqual(client.get_power_limit(), {0: 250000})
        self.assertEqual(client.get_power_limit_constraints([0]), {0: (100000, 300000)})
        self.assertEqual(client.get_persistence_mode(), {0: True})
        self.assertEqual(client.get_cpu_energy(dram=False), {0: CpuEnergyResult(123, None)})
        self.assertEqual(Daemon.asked[-1], ("GET", "/cpu/get_cumulative_energy", {"cpu": "true", "dram": "false"}, None))
        self.assertEqual(client.get_cpu_power([0]).power_mw, {0: CpuDramPower(85000, None)})
        self.assertEqual(client.get_time(), 1795231401.845)

    def test_setters_travel_in_the_query(self):
        client = self.client()
        client.set_power_limit([0, 1], 200000, block=False)
        client.set_gpu_locked_clocks([0], 500, 900)
        client.reset_locked_clocks([0])
        self.assertEqual([(method, path, query) for method, path, query, _ in Daemon.asked[1:]], [
            ("POST", "/gpu/set_power_limit", {"gpu_ids": "0,1", "power_limit_mw": "200000", "block": "false"}),
            ("POST", "/gpu/set_gpu_locked_clocks",
             {"gpu_ids": "0", "min_clock_mhz": "500", "max_clock_mhz": "900", "block": "true"}),
            ("POST", "/gpu/reset_locked_clocks", {"gpu_ids": "0", "block": "true"})])
        with self.assertRaisesRegex(ZeusdError, "set_power_limit.*HTTP 400.*out of range"):
            client.set_power_limit([0], 999)

    def test_a_released_daemon_is_asked_by_the_drivers_numbers(self):
        Daemon.discovery["gpus"] = [{"id": 0, "name": "V100"}]
        with mock.patch.dict(os.environ, {"ZEUSD_SOCK_PATH": self.socket}):
            gpu = NVIDIAGPUs().gpus[0]
        gpu.set_power_management_limit(gpu.get_power_management_limit() - 50_000)
        gpu.reset_locked_clocks()
        self.assertEqual([(method, path, query["gpu_ids"]) for method, path, query, _ in Daemon.asked[1:]], [
            ("POST", "/gpu/set_power_limit", "0"), ("POST", "/gpu/reset_mem_locked_clocks", "0"),
            ("POST", "/gpu/reset_gpu_locked_clocks", "0")])

    def test_tokens_are_shown_and_what_they_allow_is_known(self):
        Daemon.discovery["auth_required"] = True
        none, bad, good = self.client(), self.client(token="bad"), self.client(token="good")
        self.assertIn("no token was provided", none.auth_error)
        self.assertIn("Token rejected", bad.auth_error)
        self.assertEqual((good.auth_error, good.granted_scopes, good.can_read_gpu, good.can_control_gpu),
                         (None, frozenset({"gpu-read"}), True, False))
        self.assertEqual(Daemon.asked[-1][3], "Bearer good")
        with self.assertRaises(ZeusdAuthError):
            require_capabilities(bad, read_gpu=True)
        with self.assertRaisesRegex(ZeusdCapabilityError, "lacks required scope gpu-control; GPU indices \\[4\\]"):
            require_capabilities(good, read_gpu=True, control_gpu=True, gpu_ids=[0, 4])
        require_capabilities(good, read_gpu=True, gpu_ids=[0])

    def test_an_api_group_that_is_not_enabled_is_reported(self):
        Daemon.discovery["enabled_api_groups"] = ["gpu-read"]
        with self.assertRaisesRegex(ZeusdCapabilityError, "cpu-read is not enabled"):
            require_capabilities(self.client(), read_cpu=True)

    def test_a_daemon_that_is_away_or_too_old_is_reported(self):
        with self.assertRaisesRegex(ZeusdConnectionError, "Cannot reach Zeusd at /nonexistent"):
            ZeusdClient(ZeusdConfig.uds("/nonexistent"))
        Daemon.discovery["gpus"] = [{"name": "without a number"}]
        with self.assertRaisesRegex(ZeusdConnectionError, "Upgrade zeusd"):
            self.client()
        with mock.patch.dict(os.environ, clear=True), self.assertRaisesRegex(ZeusdConnectionError, "No Zeusd connection"):
            ZeusdClient()

    def test_the_environment_says_where_it_is(self):
        with mock.patch.dict(os.environ, {"ZEUSD_HOST_PORT": "host:1", "ZEUSD_TOKEN": "t"}):
            config = ZeusdConfig.from_env()
            self.assertEqual((config.endpoint, config.token, config.url("/x")), ("host:1", "t", "http://host:1/x"))
            with mock.patch.dict(os.environ, {"ZEUSD_SOCK_PATH": "/s"}):
                self.assertEqual((ZeusdConfig.from_env().endpoint, ZeusdConfig.from_env().url("/x")),
                                 ("/s", "http://localhost/x"))
            with mock.patch.dict(os.environ, {"ZEUSD_SOCK_PATH": ""}):
                self.assertIsNone(ZeusdConfig.from_env())
        with self.assertRaises(ValueError):
            ZeusdConfig().endpoint
        with mock.patch.dict(os.environ, {"ZEUSD_SOCK_PATH": "", "ZEUSD_HOST_PORT": "host:1"}):
            self.assertIsNone(ZeusdConfig.from_env())

    def test_a_token_is_sent_without_blanks_around_it_and_shown_in_no_error(self):
        Daemon.discovery["auth_required"] = True
        with mock.patch.dict(os.environ, {"ZEUSD_SOCK_PATH": self.socket, "ZEUSD_TOKEN": "good\n"}):
            self.assertIsNone(ZeusdClient().auth_error)
        self.assertIsNone(self.client(token=" good\r\n").auth_error)
        for token in ("sec\nret", "sec\u00e9ret"):
            with self.subTest(token=token), self.assertRaisesRegex(ZeusdConnectionError, "cannot be sent") as caught:
                self.client(token=token)
            self.assertNotIn("sec", str(caught.exception).replace(self.socket, ""))

    def test_an_address_that_is_none_is_an_address_where_no_daemon_is(self):
        for address in ("http://node1", "node1:port"):
            with self.subTest(address), mock.patch.dict(os.environ, {"ZEUSD_HOST_PORT": address}):
                with self.assertRaisesRegex(ZeusdConnectionError, f"Cannot reach Zeusd at {address}: nonnumeric port"):
                    ZeusdClient()
                with self.assertLogs("zeus.device.daemon", logging.WARNING):
                    self.assertEqual(len(NVIDIAGPUs()), 1)

    def test_an_optimizer_leases_like_any_program_where_the_daemon_gives_leases(self):
        self.assertFalse(self.client().gives_leases)
        Daemon.discovery["zeusd"] = {"version": "0.1.0", "api": 1, "instance": "i"}
        self.assertTrue(self.client().gives_leases)

    def test_a_configuration_is_printed_without_its_token(self):
        self.assertNotIn("s3cret", repr(ZeusdConfig.tcp("node1", 4938, token="s3cret")))

    def test_a_token_that_root_mounted_may_be_read_by_others(self):
        if os.geteuid() != 0:
            self.skipTest("only root has files of root")
        with tempfile.TemporaryDirectory() as folder:
            path, link = os.path.join(folder, "token"), os.path.join(folder, "link")
            with open(path, "w", encoding="ascii") as file:
                file.write("good\n")
            os.symlink(path, link)
            named = {"ZEUSD_HOST_PORT": "host:1", "ZEUSD_TOKEN_FILE": link}
            with mock.patch.dict(os.environ, named, clear=True), mock.patch.object(os, "geteuid", lambda: 1000):
                os.chmod(path, 0o444)
                self.assertEqual(ZeusdConfig.from_env().token, "good")
                os.chmod(path, 0o464)
                with self.assertRaisesRegex(ZeusdConnectionError, "written by users other than its owner"):
                    ZeusdConfig.from_env()

    def test_a_token_file_must_be_readable_by_its_owner_only(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")
            with open(path, "w", encoding="ascii") as file:
                file.write("good\n")
            named = {"ZEUSD_HOST_PORT": "host:1", "ZEUSD_TOKEN_FILE": path}
            with mock.patch.dict(os.environ, named, clear=True):
                os.chmod(path, 0o640)
                with self.assertRaisesRegex(ZeusdConnectionError, "may be read or written by users other.*chmod 600"):
                    ZeusdConfig.from_env()
                os.chmod(path, 0o600)
                self.assertEqual(ZeusdConfig.from_env().token, "good")
                with mock.patch.dict(os.environ, {"ZEUSD_TOKEN": "other"}):
                    self.assertEqual(ZeusdConfig.from_env().token, "other")
                with open(path, "w", encoding="ascii") as file:
                    file.write("\n")
                with self.assertRaisesRegex(ZeusdConnectionError, "contains no token"):
                    ZeusdConfig.from_env()
                os.unlink(path)
                with self.assertRaisesRegex(ZeusdConnectionError, "cannot read the token"):
                    ZeusdConfig.from_env()

    def test_it_says_what_this_projects_daemon_tells_besides(self):
        self.assertEqual((self.client().instance, self.client().api), (None, None))
        Daemon.discovery["zeusd"] = {"version": "0.1.0", "api": 1, "instance": "abc"}
        Daemon.discovery["gpus"][0].update(uuid="GPU-1", vendor="nvidia", driver="550")
        client = self.client()
        self.assertEqual((client.instance, client.api), ("abc", 1))

    def test_a_daemon_that_goes_away_is_one_error(self):
        client = self.client()
        self.server.shutdown()
        self.server.server_close()
        os.unlink(self.socket)
        with self.assertRaisesRegex(ZeusdConnectionError, "Cannot reach Zeusd"):
            client.get_gpu_power()

    def test_gpus_are_set_by_it_and_read_here(self):
        with mock.patch.dict(os.environ, {"ZEUSD_SOCK_PATH": self.socket}):
            gpu = NVIDIAGPUs().gpus[0]
        self.assertIsInstance(gpu, ZeusdNVIDIAGPU)
        self.assertTrue(gpu.supports_nonblocking_setters)
        self.assertEqual(gpu.get_power_management_limit(), 250_000)
        gpu.set_power_management_limit(200_000, block=False)
        self.assertEqual(Daemon.asked[-1][1:3], ("/gpu/set_power_limit",
                                                 {"gpu_ids": "0", "power_limit_mw": "200000", "block": "false"}))
        self.assertEqual(gpu.get_power_management_limit(), 250_000)

    def test_an_optimizer_goes_through_it_where_this_process_may_not_set(self):
        nvml, handle = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
        nvml.nvmlInit_v2()
        nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle))

        def limit() -> int:
            found = ctypes.c_uint()
            nvml.nvmlDeviceGetPowerManagementLimit(handle, ctypes.byref(found))
            return found.value

        def set_limit(path: str, query: dict) -> None:
            if path == "/gpu/set_power_limit":
                nvml.nvmlDeviceSetPowerManagementLimit(handle, int(query["power_limit_mw"][0]))

        found = limit()
        with mock.patch.object(Daemon, "does", staticmethod(set_limit)), mock.patch("zeus.device.gpu._gpus", None), \
                mock.patch.dict(os.environ, {"ZEUSD_SOCK_PATH": self.socket}), \
                mock.patch("zeus.optimizer.power_limit.has_sys_admin", return_value=False), \
                self.assertLogs("zeus.optimizer.power_limit", logging.WARNING) as told:
            optimizer = GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[0]), Energy(), warmup_steps=1, profile_steps=4, pl_step=75)
            in_force = set()
            for _ in range(20):
                optimizer.on_step_begin()
                time.sleep(0.03)
                in_force.add(limit())
            self.assertIsInstance(optimizer.state, Done)
            self.assertEqual(limit(), optimizer.state.optimal_power_limit)
            optimizer.close()
        asked = {int(query["power_limit_mw"]) for _, path, query, _ in Daemon.asked if path == "/gpu/set_power_limit"}
        self.assertEqual(in_force - {found}, asked - {found}, "a limit came to the GPU without the daemon")
        self.assertEqual({each.power_limit * 1000 for each in optimizer.measurements}, set(optimizer.power_limits))
        self.assertEqual(limit(), found)
        self.assertEqual(len(told.output), 1)
        self.assertIn("which has no leases", told.output[0])

    def test_it_reads_packages_for_who_may_not(self):
        package = ZeusdRAPLCPU(0, self.client())
        self.assertEqual(package.get_total_energy_consumption(), CpuDramMeasurement(0.123, None))
        self.assertFalse(package.supports_get_dram_energy_consumption())
        with self.assertRaisesRegex(ZeusCPUInitError, "CPU package 3 cannot be read through the daemon: CPU indices"):
            ZeusdRAPLCPU(3, self.client())
        Daemon.discovery["cpus"] = [{"id": 0, "dram_available": True}]
        with self.assertRaisesRegex(ZeusdError, "does not report the energy of CPU package 0"):
            ZeusdRAPLCPU(0, self.client()).get_total_energy_consumption()

    def test_without_it_gpus_are_measured_all_the_same(self):
        with mock.patch.dict(os.environ, {"ZEUSD_SOCK_PATH": "/nonexistent"}), \
                self.assertLogs("zeus.device.daemon", logging.WARNING):
            self.assertEqual(len(NVIDIAGPUs()), 1)


if __name__ == "__main__":
    unittest.main()

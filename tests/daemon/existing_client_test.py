"""The existing package, unmodified, with a zeusd that it finds through its environment, on the Unix socket and over TCP with
a token: its whole client, its streams, its devices and monitor, and its power-limit optimizer. Its user has no rights, is in
the socket's group, and is refused without the daemon.

  zeus virtual '2xA100@root-only@limit=300' --shared --load constant:180W -- existing_client_test.py ZEUSD BUILD_FOLDER client
  zeus virtual '2xV100@root-only@limit=200' --shared -- existing_client_test.py ZEUSD BUILD_FOLDER optimizer [--rounds N]

With --rounds, the optimizer's limit must be within 3 % of the best in each round; otherwise windows are short, and the cost
is printed. (It measures a step by two readings of the counter, which a V100 updates more often; memory clocks need an A100.)
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import another_user  # noqa: E402
import daemon_session  # noqa: E402
import python_environment  # noqa: E402
from daemon_session import ALL_GROUPS, KEY, Daemon, token_of, until  # noqa: E402
from moving_tree import MovingTree  # noqa: E402

SCRIPT = pathlib.Path(__file__).with_name("existing_client.py")
# The package asks a framework to wait for the GPU.
STAND_IN = pathlib.Path(__file__).resolve().parents[1] / "python" / "stand_in"
GROUP = 4711
WATTS = 180
TOKEN = token_of("ann", *ALL_GROUPS)
GET = ("gpu/get_power", "gpu/get_cumulative_energy", "gpu/get_power_limit", "gpu/get_power_limit_constraints",
       "gpu/get_persistence_mode", "gpu/stream_power", "cpu/get_cumulative_energy", "cpu/get_power", "cpu/stream_power", "discover",
       "time", "auth/whoami")
SET = ("set_power_limit", "set_persistence_mode", "set_gpu_locked_clocks", "reset_gpu_locked_clocks", "set_mem_locked_clocks",
       "reset_mem_locked_clocks", "reset_locked_clocks")
# Memory-bound: the highest limit costs 15 % more than the best.
LOAD, ETA, NEAR = "work:0.8,1,0.7", 0.5, 0.03
OPERATORS = 0  # milliwatts, as found
rounds = 0


class Part:
    """A part of existing_client.py that runs as a user without rights."""

    def __init__(self, tree: MovingTree, environment: dict, *words: object, groups=(GROUP,)) -> None:
        command = another_user.words(python, SCRIPT, *words, groups=groups, mounts=tree.mounts,
                                     readable=[python.parents[1], SCRIPT, sys.base_prefix, os.environ["LD_LIBRARY_PATH"].split(":")[0]])
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUSD", "CUDA"))}
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/",
                                      env={**kept, "PYTHONPATH": str(STAND_IN), "PYTHONDONTWRITEBYTECODE": "1", **environment})

    def told(self) -> dict:
        line = self.child.stdout.readline()
        assert line, f"it ended with {self.child.wait()}"
        return json.loads(line)

    def go_on(self) -> None:
        self.child.stdin.write("\n")
        self.child.stdin.flush()

    def __enter__(self) -> "Part":
        return self

    def __exit__(self, failed, *_) -> None:
        if failed:
            self.child.kill()
        self.child.communicate()
        assert failed or self.child.returncode == 0, self.child.returncode


class OnOneTransport:
    """A daemon whose log has only the requests on this transport."""

    def setUp(self):
        self.resources = contextlib.ExitStack()
        self.addCleanup(self.resources.close)
        self.tree = self.resources.enter_context(MovingTree(until_wrap=4.0, between=0.01))
        self.daemon = self.resources.enter_context(self.new_daemon())
        self.found = driver.settings()
        self.assertEqual({each[:2] for each in self.found}, {(OPERATORS, 0)})

    def holds_what_was_found(self) -> bool:
        """Clocks are unlocked again, if not identical: kernels run slower on a warm GPU."""
        return [(*now[:2], now[2] > 900) for now in driver.settings()] == [(*found[:2], True) for found in self.found]

    def new_daemon(self, **more) -> Daemon:
        return Daemon(sys.argv[1], modes="uds,tcp", key=KEY, rapl=True, folder=self.tree.folder.name, permissions="660",
                      arguments=["--socket-gid", str(GROUP)], **more)

    def part(self, *words: object, **more) -> Part:
        return Part(self.tree, self.environment(), *words, **more)

    def expect_limits(self, *limits: int) -> None:
        until(lambda: [driver.limit(0), driver.limit(1)] == list(limits), f"the limits are {limits}")

    def expect_count(self, told: dict, zone: str, value: float, step: float = 0.0) -> None:
        """A reading (in microjoules) lies between the tree's values at these times."""
        low, high = self.tree.seen(zone, told["before"], told["after"])
        self.assertTrue(low - step <= value <= high + step, (zone, low, value, high))

    def least_power(self) -> int:
        """0, or less if the zones have stood still for about as long as power is averaged over."""
        return -1 if self.tree.longest_pause() > 0.05 else 0

    def zones(self, cpu: object) -> tuple[str, str]:
        return f"intel-rapl:{cpu}", f"intel-rapl:{cpu}/intel-rapl:{cpu}:0"


class Client:
    def test_each_method_and_route(self):
        with self.part("capabilities", "+", "streams", 3, "+", "client", TOKEN) as part:
            self.look_at_capabilities(part.told())
            self.look_at_streams(part)
            self.look_at_readings(part)
            self.look_at_settings(part)
            self.assertEqual(part.told()["who"], {"sub": "ann", "scopes": list(ALL_GROUPS)})
        log = self.daemon.log()
        routes = [f"GET /{name} 200" for name in GET] + [f"POST /gpu/{name} 200" for name in SET]
        self.assertEqual([route for route in routes if route not in log], [])
        self.end_of_settings()

    def look_at_readings(self, part: Part) -> None:
        known = part.told()
        self.assertEqual([gpu for gpu, name in known["gpus"] if "A100" in name], [0, 1])
        self.assertEqual((known["gpu_ids"], known["cpu_ids"], known["dram"]), ([0, 1], [0, 1], [True, True]))
        self.assertEqual((known["cpus"], known["endpoint"]), ([[0, True], [1, True]], next(iter(self.environment().values()))))
        told = part.told()
        for gpu in (0, 1):
            self.assertTrue(told["energy"]["before"][gpu] <= told["energy"]["told"][str(gpu)] <= told["energy"]["after"][gpu], told)
            for power in (told["power"], told["all_power"]):
                self.assertAlmostEqual(power[str(gpu)], driver.power(gpu), delta=1000)
            self.assertEqual(told["limit"][str(gpu)], driver.limit(gpu))
            self.assertEqual(told["constraints"][str(gpu)], list(driver.range(0)))
            self.assertEqual(told["persistence"][str(gpu)], bool(driver.persistence(gpu)))
        self.assertLess(abs(told["wall"]["told"][0] - told["wall"]["told"][1]), 0.01 + told["wall"]["after"] - told["wall"]["before"])
        for domains in ((True, True), (True, False), (False, True)):
            told = part.told()["cpu_energy"]
            for cpu, values in told["told"].items():
                for zone, value, asked in zip(self.zones(cpu), values, domains, strict=True):
                    if asked:
                        self.expect_count(told, zone, value)
                    else:
                        self.assertIsNone(value)
        told = part.told()["cpu_power"]
        for cpu, values in told["told"].items():
            for zone, milliwatts in zip(self.zones(cpu), values, strict=True):
                # It is averaged over at least a tenth of a second.
                low, high = (self.tree.seen(zone, told[when], told[when])[0] for when in ("before", "after"))
                self.assertTrue(self.least_power() < milliwatts * 0.1 <= (high - low) / 1000 + 1000, (zone, milliwatts, high - low))

    def look_at_settings(self, part: Part) -> None:
        first = driver.next_call()
        seen = {}
        for number in range(10):
            told = part.told()
            if number == 3:  # did not wait
                self.expect_limits(175_000, 150_000)
            elif number == 8:
                until(lambda: max(driver.clock(0), driver.clock(1)) <= 900, "the clocks are locked")
            seen[number] = (told["set"], [driver.limit(gpu) for gpu in (0, 1)], driver.persistence(1), driver.clock(1) <= 900)
            part.go_on()
        self.assertEqual(told, {"set": "reset_locked_clocks", "status": 200})
        self.assertEqual([seen[number][2] for number in (0, 1)], [1, 0])
        self.assertEqual(seen[2][1], [175_000, 175_000])
        self.assertEqual([seen[number][3] for number in (3, 4, 5, 8, 9)], [False, True, False, True, False])
        calls = {(call.entry_point.decode(), call.gpu, call.result) for call in driver.calls(first)}
        for name in ("Set", "Reset"):
            self.assertIn((f"nvmlDevice{name}MemoryLockedClocks", 1, 0), calls)

    def look_at_streams(self, part: Part) -> None:
        told = part.told()
        self.assertEqual(told["threads"], ["cpu-power", "gpu-power"])
        for heard in told["heard"]:
            self.assertEqual(set(heard["cpu"]), {"0", "1"})
            for watts in heard["gpu"].values():
                self.assertAlmostEqual(watts, WATTS, delta=2)
            for cpu, both in heard["cpu"].items():
                for watts in both:
                    self.assertTrue(self.least_power() < watts < 20 * 90 * max(1.0, self.tree.longest_pause()), (cpu, both))
        driver.load(1, "constant:120W")
        until(lambda: abs(driver.power(1) - 120_000) < 1000, "the driver says so")
        part.go_on()
        told = part.told()
        self.assertEqual(set(told["later"]["gpu"]), {"0", "1"})
        self.assertAlmostEqual(told["snapshot"]["gpu"]["0"], WATTS, delta=2)
        one = part.told()["one"]
        self.assertEqual((set(one["gpu"]), one["cpu"]), ({"1"}, {}))
        self.assertAlmostEqual(one["gpu"]["1"], 120, delta=2)
        self.assertIn("ValueError: GPU indices [7]", part.told()["missing"])
        driver.load(1, f"constant:{WATTS}W")
        until(lambda: abs(driver.power(1) - WATTS * 1000) < 1000, "the driver says so")
        part.go_on()

    def look_at_capabilities(self, told: dict) -> None:
        self.assertEqual((told["error"], told["may"], told["all"], told["these"]), (None, [True] * 3, "none", "none"))
        self.assertIn("ZeusdCapabilityError", told["others"])
        self.assertIn("GPU indices [7] not available", told["others"])
        self.assertIn("CPU indices [8] not available", told["others"])

    def test_devices_by_environment_alone(self):
        with self.part("devices") as part:
            told = part.told()
            self.assertEqual((told["kinds"], told["waits"]), (["ZeusdNVIDIAGPU"] * 2, [True] * 2))
            for number, holds in enumerate((lambda: driver.persistence(1) == 1, lambda: driver.limit(0) == 175_000,
                                            lambda: driver.limit(1) == 150_000, lambda: driver.clock(1) <= 900,
                                            lambda: driver.clock(1) > 900, lambda: driver.limit(0) == driver.range(0)[1])):
                told = part.told()
                until(holds, f"{number}: {told}")
                if number != 2:  # which did not wait
                    self.assertEqual((told["limit"], told["persistence"]), ([driver.limit(gpu) for gpu in (0, 1)], True))
                part.go_on()
            told = part.told()
            self.assertEqual(told["kinds"], ["ZeusdRAPLCPU"] * 2)
            for both in told["energy"]:
                for cpu, reading in enumerate(both):
                    for zone, millijoules in zip(self.zones(cpu), reading["told"], strict=True):
                        self.expect_count(reading, zone, millijoules * 1000, step=1)
        self.end_of_settings()

    def test_its_monitor(self):
        with self.part("monitor", 1.0) as part:
            self.assertEqual(part.told()["cpus"], [0, 1])
            told = part.told()
        begin, end = told["begin"]["told"], told["end"]["told"]
        window = end["told"]
        for gpu in (0, 1):
            low = told["end"]["before"][gpu] - told["begin"]["after"][gpu]
            high = told["end"]["after"][gpu] - told["begin"]["before"][gpu]
            self.assertTrue(low - 1 <= window["gpu_energy"][str(gpu)] * 1000 <= high + 1, (low, window, high))
        for cpu in (0, 1):
            for zone, joules in zip(self.zones(cpu), (window["cpu_energy"], window["dram_energy"]), strict=True):
                first = self.tree.seen(zone, begin["before"], begin["after"])
                last = self.tree.seen(zone, end["before"], end["after"])
                self.assertTrue(last[0] - first[1] - 1 <= joules[str(cpu)] * 1e6 <= last[1] - first[0] + 1, (zone, joules))


class Optimizer:
    def test_its_limit_is_near_the_best(self):
        for gpu in (0, 1):
            driver.load(gpu, LOAD)
        costs = driver.costs(ETA)
        best = min(costs.values())
        self.assertGreater(costs[OPERATORS] / best - 1, 2 * NEAR, "the operator's limit must not be the best")
        for _ in range(rounds or 1):
            with self.part("optimizer", 0.01, *((25, 10, 160) if rounds else (50, 2, 12))) as part:
                told = part.told()
                self.assertEqual([driver.limit(gpu) for gpu in (0, 1)], [told["limit"]] * 2)
                part.go_on()
            excess = costs[told["limit"]] / best - 1
            print(f"{type(self).__name__}: a limit of {told['limit'] // 1000} W costs {excess:+.1%} of the best", flush=True)
            if rounds:
                self.assertLessEqual(excess, NEAR, told["profile"])
            self.end_of_settings(put_back_by_itself=True)


class OnTheUnixSocket(OnOneTransport):
    def environment(self) -> dict:
        return {"ZEUSD_SOCK_PATH": self.daemon.socket}

    def end_of_settings(self, put_back_by_itself: bool = False) -> None:
        until(lambda: self.holds_what_was_found(), "its settings end with it")


class ClientOnTheUnixSocket(OnTheUnixSocket, Client, unittest.TestCase):
    def test_who_is_not_in_the_group_is_refused(self):
        with Part(self.tree, self.environment(), "refused", groups=()) as part:
            told = part.told()
        self.assertIn("ZeusdConnectionError", told["connect"])
        self.assertIn("ZeusGPUInitError", told["limit"])
        self.assertIn("ZeusCPUInitError", told["energy"])


class OptimizerOnTheUnixSocket(OnTheUnixSocket, Optimizer, unittest.TestCase):
    pass


class OverTcp(OnOneTransport):
    token = TOKEN

    def environment(self) -> dict:
        return {"ZEUSD_HOST_PORT": "{}:{}".format(*self.daemon.tcp), "ZEUSD_TOKEN": self.token}

    def part(self, *words: object) -> Part:
        return super().part(*words, groups=())  # the socket's group does not matter

    def end_of_settings(self, put_back_by_itself: bool = False) -> None:
        """A token's settings end an hour after its last request, or with the daemon."""
        if put_back_by_itself:
            self.expect_limits(*[driver.range(0)[1]] * 2)  # as the package leaves them
        self.daemon.stop()
        self.assertTrue(self.holds_what_was_found(), driver.settings())
        self.daemon.start()


class OptimizerOverTcp(OverTcp, Optimizer, unittest.TestCase):
    pass


class ClientOverTcp(OverTcp, Client, unittest.TestCase):
    def told_with(self, token: str) -> dict:
        self.token = token
        with self.part("capabilities") as part:
            return part.told()

    def test_without_a_scope_or_a_token(self):
        told = self.told_with(token_of("ann", "gpu-read", "cpu-read"))
        self.assertEqual((told["may"], told["scopes"]), ([True, False, True], ["cpu-read", "gpu-read"]))
        self.assertRegex(told["all"], "ZeusdCapabilityError.*Token lacks required scope 'gpu-control'")
        self.assertRegex(self.told_with("")["all"], "ZeusdAuthError.*no token was provided")
        self.assertRegex(self.told_with(f"{TOKEN}x")["all"], "ZeusdAuthError.*Token rejected")
        self.daemon.stop()
        self.daemon.words[self.daemon.words.index("unshare"):] = [
            word.replace("gpu-control,gpu-read,cpu-read", "gpu-read") for word in self.daemon.words]
        self.daemon.start()
        told = self.told_with(TOKEN)
        self.assertEqual((told["may"], told["scopes"]), ([True, False, False], sorted(ALL_GROUPS)))
        self.assertIn("API group 'gpu-control' is not enabled", told["all"])
        self.assertIn("API group 'cpu-read' is not enabled", told["all"])


class ClientWithoutTheDaemon(unittest.TestCase):
    def test_it_is_refused(self):
        driver.expect_refused_without_the_daemon()
        with MovingTree() as tree, Part(tree, {}, "refused") as part:
            told = part.told()
        self.assertIn("ZeusdConnectionError", told["connect"])
        self.assertIn("ZeusGPUNoPermissionError", told["limit"])
        self.assertIn("ZeusCPUNoPermissionError", told["energy"])
        self.assertIn("SYS_ADMIN", told["optimizer"])
        self.assertEqual([each[:2] for each in driver.settings()], [(OPERATORS, 0)] * 2)


if __name__ == "__main__":
    daemon_session.skip_without_root()
    try:
        python = python_environment.interpreter(pathlib.Path(sys.argv[2]).resolve(), "existing")
    except unittest.SkipTest as reason:
        print(reason)
        sys.exit(77)
    driver = daemon_session.Driver()
    OPERATORS = driver.limit(0)
    if "--rounds" in sys.argv:
        rounds = int(sys.argv.pop(sys.argv.index("--rounds") + 1))
        sys.argv.remove("--rounds")
        os.nice(-20)  # the optimizer should not measure the machine's other load
    unittest.main(argv=[sys.argv[0], "-k", sys.argv[3].capitalize(), *sys.argv[4:]])

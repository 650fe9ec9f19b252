"""Our Python package's GPUs with a zeusd, as a user without rights: its setters and `lease()` hold leases of the daemon.

  zeus virtual '2xV100@root-only@limit=200' --shared --load constant:180W --
    python_devices_test.py ZEUSD PACKAGE_FOLDER nvidia [--bound SECONDS]
  zeus virtual '2xA100@amd@root-only@limit=200' --shared -- python_devices_test.py ZEUSD PACKAGE_FOLDER amd

The settings of a GPU are read through the driver's library, never from the daemon. Without --bound, the time until a limit
was in force again is printed but not judged.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import another_user
import daemon_session
from daemon_session import Daemon, until

SCRIPT = pathlib.Path(__file__).with_name("python_devices.py")
PYTHON_SOURCES = pathlib.Path(__file__).resolve().parents[2] / "python"
GROUP = 4711
FOUND = [200_000, 200_000]
POLICY = """[[rule]]
who = ["everyone"]
gpus = ["all"]
may = ["read", "set_power_limit"]
power_limit = {{{bounds}}}
"""
bound = None


class User:
    """A Python program of a user without rights, which takes orders."""

    def __init__(self, environment: dict) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUSD", "CUDA", "ZEUS_STATE"))}
        readable = [package, PYTHON_SOURCES, SCRIPT, sys.base_prefix, kept["LD_LIBRARY_PATH"].split(":")[0]]
        words = another_user.words(sys.executable, SCRIPT, groups=[GROUP], readable=readable)
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      cwd="/", env={**kept, "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1", **environment})
        self.kinds = json.loads(self.child.stdout.readline())

    def does(self, expression: str) -> dict:
        self.child.stdin.write(expression + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def end(self) -> str:
        """Its output."""
        return self.child.communicate(timeout=daemon_session.PATIENCE)[1]

    def __enter__(self) -> "User":
        return self

    def __exit__(self, *_) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.communicate()


class Devices:
    def setUp(self):
        self.resources = contextlib.ExitStack()
        self.addCleanup(self.resources.close)
        self.daemon = self.resources.enter_context(
            Daemon(sys.argv[1], permissions="660", arguments=["--socket-gid", str(GROUP)], groups=("gpu-control", "gpu-read")))
        self.user = self.new_user()
        self.assertEqual(self.limits(), FOUND)

    def new_user(self, **environment: str) -> User:
        return self.resources.enter_context(User(environment or {"ZEUSD_SOCK_PATH": self.daemon.socket}))

    def done(self, expression: str) -> dict:
        told = self.user.does(expression)
        self.assertIsNone(told["failure"])
        return told

    def done_at_last(self, expression: str) -> None:
        """For a daemon's first setting: on a busy machine its guardian may take longer to start than a setter waits."""
        until(lambda: self.user.does(expression)["failure"] is None, expression)

    def holders(self) -> dict[int, str]:
        """The kind of lease that holds each GPU."""
        return {gpu["id"]: lease["kind"] for lease in self.daemon.get("/v1/leases").json["leases"] for gpu in lease["gpus"]}

    def test_without_it_setters_are_refused(self):
        told = self.new_user(ZEUSD_SOCK_PATH="").does("gpus[0].set_power_management_limit(150_000)")
        self.assertIn("ZeusGPUNoPermissionError", told["failure"])
        self.assertEqual(self.limits(), FOUND)


class NvidiaDevices(Devices, unittest.TestCase):
    def limits(self) -> list[int]:
        return [driver.limit(gpu) for gpu in (0, 1)]

    def test_setters_hold_a_lease_until_the_process_ends(self):
        self.assertEqual(self.user.kinds, ["ZeusdNVIDIAGPU"] * 2)
        self.done_at_last("gpus[0].set_power_management_limit(150_000)")
        self.done("gpus[1].set_persistence_mode(True)")
        self.done("gpus[0].set_gpu_locked_clocks(600, 900)")
        self.assertEqual((self.limits(), driver.persistence(1)), ([150_000, 200_000], 1))
        self.assertLessEqual(driver.clock(0), 900)
        self.assertEqual(self.holders(), {0: "explicit", 1: "explicit"})
        self.done("gpus[0].reset_gpu_locked_clocks()")
        self.assertGreater(driver.clock(0), 900)
        said = self.user.end()
        until(lambda: (self.limits(), driver.persistence(1)) == (FOUND, 0), "all is put back")
        self.assertNotIn("Traceback", said)
        self.assertEqual(said.count("end with it and are put back"), 1, said)

    def test_setters_need_not_be_waited_for(self):
        self.addCleanup(driver.clear_faults)
        for _ in range(5):
            driver.fault("slow call=nvmlDeviceSetPowerManagementLimit delay=700ms times=2")
            before = [self.user.does(f"gpus[0].set_power_management_limit({limit}, block=False)") for limit in (150_000, 175_000)]
            self.assertEqual([each["failure"] for each in before], [None, None])
            if (limits := self.limits()) == FOUND:
                break
            # On a busy machine, they may have been done before this has looked.
            until(lambda: self.limits()[0] == 175_000, "both are done")
            until(lambda: self.user.does("gpus[0].set_power_management_limit(200_000)")["failure"] is None, "it is set")
        self.assertEqual(limits, FOUND, "it was waited for")
        # After those before it, which on a busy machine may last longer than it is waited for.
        until(lambda: self.user.does("gpus[0].set_power_management_limit(125_000)")["failure"] is None, "it is set")
        self.assertEqual(self.limits(), [125_000, 200_000])
        self.done("gpus[0].set_power_management_limit(1_000_000, block=False)")
        self.assertIn("could not be set", self.user.end())

    def test_a_lease_ends_before_the_process(self):
        self.assertEqual(self.done("take(1, 150.0)")["value"], 150.0)
        self.assertEqual(self.limits(), [200_000, 150_000])
        self.done("gpus[1].set_power_management_limit(125_000)")
        self.done("let_go()")
        self.assertEqual(self.limits(), [200_000, 125_000], "the setter's is the latest remaining setting")
        other = self.new_user()
        self.assertIn("ZeusConflictError", other.does("gpus[1].set_power_management_limit(100_000)")["failure"])
        self.assertIn("ZeusConflictError", other.does("take(1, 100.0)")["failure"])
        self.assertEqual(self.done("forked(1, 100_000)")["value"], 0, "its child borrows")
        until(lambda: self.limits() == [200_000, 125_000], "the child's end brings back what its parent has set")
        self.user.child.kill()
        until(lambda: self.limits() == FOUND, "it is put back")
        self.assertIsNone(other.does("take(1, 100.0)")["failure"])

    def test_a_training_tries_the_limits_that_the_policy_allows(self):
        policy = self.daemon.folder / "policy.toml"
        self.daemon.words += ["--policy", str(policy)]
        for bounds, tried, reason in (("minimum_w = 120, maximum_w = 180", [175, 150, 125], ""),
                                      ("minimum_w = 101, maximum_w = 124", [], "the node's policy allows none of the power limits")):
            policy.write_text(POLICY.format(bounds=bounds), encoding="utf-8")
            self.daemon.stop()
            self.daemon.start()
            told = self.new_user(ZEUSD_SOCK_PATH=self.daemon.socket).does("trained()")
            self.assertIsNone(told["failure"])
            self.assertEqual(told["value"]["tried"], tried)
            self.assertIn(reason, told["value"]["unoptimized"] or "")
            until(lambda: self.limits() == FOUND, "it is put back")

    def test_what_was_set_is_set_again_after_a_restart(self):
        self.done_at_last("gpus[0].set_power_management_limit(150_000)")
        for how in (signal.SIGTERM, signal.SIGKILL):
            for _ in range(5):
                self.daemon.process.send_signal(how)
                self.daemon.process.wait(daemon_session.PATIENCE)
                until(lambda: self.limits() == FOUND, "what the daemon held is put back")
                self.daemon.start()
                began = time.monotonic()
                try:
                    until(lambda: self.limits() == [150_000, 200_000], "it is set again", 10.0)
                    break
                except AssertionError:  # on a busy machine, it was without the daemon for so long that its lease is lost
                    until(lambda: self.user.does("gpus[0].set_power_management_limit(150_000)")["failure"] is None, "it is set")
            else:
                self.fail("what was set is not set again after a restart")
            took = time.monotonic() - began
            print(f"set again after a restart: {took:.2f} s")
            if bound is not None:
                self.assertLessEqual(took, bound)
        self.assertIn("was restarted", self.user.end())

    def test_a_lease_ended_by_the_administrator_is_noticed_and_may_be_taken_again(self):
        self.done_at_last("gpus[0].set_power_management_limit(150_000)")
        listed = subprocess.run([sys.argv[1], "leases", "--json", "--admin-socket", self.daemon.admin], capture_output=True, text=True,
                                check=True)
        subprocess.run([sys.argv[1], "leases", "--end", json.loads(listed.stdout)["leases"][0]["id"], "--admin-socket",
                        self.daemon.admin], capture_output=True, check=True)
        until(lambda: self.limits() == FOUND, "it is put back")
        until(lambda: self.done("gpus[0].is_set")["value"] is False, "it is noticed")
        self.done("gpus[0].set_power_management_limit(125_000)")
        self.assertEqual(self.limits(), [125_000, 200_000])
        self.assertIn("are no longer in force", self.user.end())


class AmdDevices(Devices, unittest.TestCase):
    def limits(self) -> list[int]:
        """The driver library's values for a process without a daemon."""
        with User({"ZEUSD_SOCK_PATH": ""}) as reader:
            return [reader.does(f"gpus[{gpu}].get_power_management_limit()")["value"] for gpu in (0, 1)]

    def test_setters_and_leases_hold_leases_of_it(self):
        self.assertEqual(self.user.kinds, ["ZeusdAMDGPU"] * 2)
        self.done_at_last("gpus[0].set_power_management_limit(150_000)")
        self.done("gpus[0].set_gpu_locked_clocks(600, 900)")
        self.done("gpus[0].reset_locked_clocks()")
        self.assertEqual(self.done("take(1, 125.0)")["value"], 125.0)
        self.assertEqual(self.limits(), [150_000, 125_000])
        self.assertEqual(self.holders(), {0: "explicit", 1: "explicit"})
        self.done("let_go()")
        self.assertEqual(self.limits(), [150_000, 200_000])
        self.done("gpus[0].set_power_management_limit(125_000, block=False)")
        until(lambda: self.limits() == [125_000, 200_000], "it is set")
        self.user.end()
        until(lambda: self.limits() == FOUND, "it is put back")


if __name__ == "__main__":
    daemon_session.skip_without_root()
    package = str(pathlib.Path(sys.argv[2]).resolve())
    vendor = sys.argv.pop(3)
    driver = daemon_session.Driver() if vendor == "nvidia" else None
    if "--bound" in sys.argv:
        bound = float(sys.argv.pop(sys.argv.index("--bound") + 1))
        sys.argv.remove("--bound")
    unittest.main(argv=[sys.argv[0], "-k", vendor.capitalize(), *sys.argv[3:]])

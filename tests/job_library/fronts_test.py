"""What measures and limits a try is the same for `zeus run` and for zeus::Job: on the same GPU under the same policy both record
the same device and train under the same limit.

  fronts_test.py ZEUS ZEUSD LIVE_JOB

Needs root, for a daemon whose policy bounds what another user may set.
"""

import argparse
import functools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

for folder in "daemon", "support":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / folder))
import another_user  # noqa: E402
import daemon_session  # noqa: E402
import side_by_side  # noqa: E402

GPU = "1xV100@root-only@limit=200"
POLICY = """[[rule]]
who = ["everyone"]
gpus = ["all"]
may = ["read", "set_power_limit"]
power_limit = {minimum_w = 120, maximum_w = 180}
"""
# What live_job does in its own loop.
COMMAND = "for i in 1 2 3 4 5 6 7 8; do sleep 0.4; echo acc 0.$i; while [ $i = 4 ] && [ -e hold ]; do sleep 0.05; done; done"
LONG = "i=0; while [ -e hold ] || [ $i -lt 100 ]; do i=$((i + 1)); sleep 0.02; echo step $i; done"
RUN = ["--power-limits", "100,175,250", "--target-metric", "0.5", "--metric-regex", "acc ([0-9.]+)", "--max-epochs", "60",
       "--profile-seconds", "0.2", "--policy", "zeus", "--beta", "inf", "--stop-at-target", "--", "sh", "-c", COMMAND]
options = argparse.Namespace()


class Fronts(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.home = pathlib.Path(held.name)
        self.home.chmod(0o777)
        (self.home / "state").mkdir(mode=0o700)
        os.chown(self.home / "state", another_user.NOBODY, another_user.NOBODY)

    def start_as_user(self, *command) -> subprocess.Popen:
        words = another_user.words(*command, readable=[pathlib.Path(options.zeus).parents[1]])
        environment = os.environ | {"HOME": str(self.home), "XDG_DATA_HOME": str(self.home / "data"),
                                    "XDG_RUNTIME_DIR": str(self.home / "state"), "ZEUS_STATE_DIR": str(self.home / "state"),
                                    "ZEUSD_SOCK_PATH": self.daemon.socket}
        running = subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                                   cwd=self.home)
        self.addCleanup(running.kill)
        return running

    def as_user(self, *command) -> str:
        running = self.start_as_user(*command)
        out, err = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 0, out + err)
        return out

    @functools.cached_property
    def daemon(self) -> daemon_session.Daemon:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        policy = pathlib.Path(held.name) / "policy.toml"
        policy.write_text(POLICY, encoding="utf-8")
        daemon = daemon_session.Daemon(options.zeusd, ["--policy", str(policy)]).start()
        self.addCleanup(daemon.close)
        return daemon

    def job(self, name: str) -> dict:
        return json.loads(self.as_user(options.zeus, "jobs", name, "--json"))

    def first_try(self, front: str, how: str = "epochs") -> str:
        """The name of a new job with one try, in which the daemon answered in time: a busy machine's may not, and another job is begun."""
        for number in range(4):
            name = f"{front}{number}"
            self.as_user(*((options.live_job, name, how) if front == "loop" else (options.zeus, "run", "--job", name, *RUN)))
            if "zeusd at" not in (self.job(name)["tries"][0]["left_out"] or ""):
                break
        return name

    def test_record_the_device_that_a_nodes_policy_leaves_and_train_under_its_limit(self):
        loop, command = (self.job(self.first_try(front)) for front in ("loop", "command"))
        self.assertEqual(loop["device"], command["device"])
        self.assertEqual(loop["device"]["power_limits_w"], [175])
        self.assertEqual([one["limit_w"] for one in loop["tries"]], [175])
        self.assertEqual([one["limit_w"] for one in command["tries"]], [175])

    def start_while_the_daemon_is_stopped(self, first_line: str, *command) -> subprocess.Popen:
        """The daemon goes on when the training has begun without it."""
        self.daemon.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.daemon.process.send_signal, signal.SIGCONT)
        running = self.start_as_user(*command)
        self.assertEqual(running.stdout.readline(), first_line)
        self.assertEqual(daemon_session.Driver().limit(0), 200_000)
        self.daemon.process.send_signal(signal.SIGCONT)
        return running

    def test_a_command_that_begins_while_the_daemon_is_stopped_gets_its_limit_when_that_is_back(self):
        hold = self.home / "hold"  # so that the command ends after the daemon is asked again
        hold.touch()
        running = self.start_while_the_daemon_is_stopped(
            "step 1\n", options.zeus, "run", "--profile-seconds", "0.2", "--step-regex", r"^step (\d+)", "--", "sh", "-c", LONG)
        driver, limits, deadline = daemon_session.Driver(), set(), time.monotonic() + 60
        while running.poll() is None and running.stdout.readline():
            limits.add(driver.limit(0) // 1000)
            if len(limits) > 2 or time.monotonic() > deadline:
                hold.unlink(missing_ok=True)
        _, err = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 0, err)
        self.assertTrue(limits - {200}, err)
        self.assertTrue(all(limit == 200 or 120 <= limit <= 180 for limit in limits), limits)
        self.assertIn("zeusd at", err)

    def test_a_recurrence_that_begins_while_the_daemon_is_stopped_gets_the_limit_that_its_job_knows(self):
        loop = self.first_try("loop", "steps")
        running = self.start_while_the_daemon_is_stopped("begins\n", options.live_job, loop, "steps", "begins")
        out, err = running.communicate(timeout=120)
        self.assertEqual((running.returncode, out), (0, "175\n"), err)
        self.assertIn("zeusd at", err)
        command = self.first_try("command")
        hold = self.home / "hold"  # so that the command ends after the daemon is asked again
        hold.touch()
        running = self.start_while_the_daemon_is_stopped("acc 0.1\n", options.zeus, "run", "--job", command, *RUN)
        deadline = time.monotonic() + 60
        while daemon_session.Driver().limit(0) != 175_000 and time.monotonic() < deadline:
            time.sleep(0.02)
        hold.unlink()
        _, err = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 0, err)
        for name in loop, command:
            job = self.job(name)
            self.assertEqual([one["limit_w"] for one in job["tries"]], [175, 175], (name, job["tries"]))
            self.assertIn("zeusd at", job["tries"][1]["left_out"], name)
            self.assertEqual(job["device"]["power_limits_w"], [175], name)

    def test_nothing_is_learned_from_a_try_whose_daemon_was_killed_shortly_before_its_end(self):
        loop, command_job = self.first_try("loop"), self.first_try("command")
        for name, line, command in ((loop, "begins\n", [options.live_job, loop, "epochs", "begins"]),
                                    (command_job, "acc 0.4\n", [options.zeus, "run", "--job", command_job, *RUN])):
            hold = self.home / "hold"  # so that the target is not reached before the daemon is killed
            hold.touch()
            running = self.start_as_user(*command)
            until_line = running.stdout.readline()
            while until_line and until_line != line:
                until_line = running.stdout.readline()
            self.daemon.process.kill()
            self.daemon.process.wait()
            hold.unlink()
            _, err = running.communicate(timeout=120)
            self.assertEqual(running.returncode, 0, err)
            # A pause of a busy machine may be taken for a suspension, which is named first.
            self.assertRegex(self.job(name)["tries"][1]["left_out"], "zeusd at|it was suspended", err)
            self.daemon.start()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("zeus", "zeusd", "live_job"):
        parser.add_argument(name, type=os.path.abspath)
    options, rest = parser.parse_known_args()
    if "ZEUS_TEST_INSIDE" not in os.environ:
        daemon_session.skip_without_root()
        if rest:
            os.execve(options.zeus, [options.zeus, "virtual", GPU, "--shared", "--load", "constant:180W", "--", sys.executable,
                                     *sys.argv], os.environ | {"ZEUS_TEST_INSIDE": "1"})
    sys.argv[1:] = rest
    side_by_side.main(2)

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
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "daemon"))
import another_user  # noqa: E402
import daemon_session  # noqa: E402

GPU = "1xV100@root-only@limit=200"
POLICY = """[[rule]]
who = ["everyone"]
gpus = ["all"]
may = ["read", "set_power_limit"]
power_limit = {minimum_w = 120, maximum_w = 180}
"""
# What live_job does in its own loop.
COMMAND = "for i in 1 2 3 4 5 6 7 8; do sleep 0.4; echo acc 0.$i; done"
RUN = ["--power-limits", "100,175,250", "--target-metric", "0.5", "--metric-regex", "acc ([0-9.]+)", "--max-epochs", "60",
       "--profile-seconds", "0.2", "--policy", "zeus", "--stop-at-target", "--", "sh", "-c", COMMAND]
options = argparse.Namespace()


class Fronts(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.home = pathlib.Path(held.name)
        self.home.chmod(0o777)
        (self.home / "state").mkdir(mode=0o700)
        os.chown(self.home / "state", another_user.NOBODY, another_user.NOBODY)

    def as_user(self, *command) -> str:
        words = another_user.words(*command, readable=[pathlib.Path(options.zeus).parents[1]])
        environment = os.environ | {"HOME": str(self.home), "XDG_DATA_HOME": str(self.home / "data"),
                                    "XDG_RUNTIME_DIR": str(self.home / "state"), "ZEUS_STATE_DIR": str(self.home / "state"),
                                    "ZEUSD_SOCK_PATH": self.daemon.socket}
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, env=environment, cwd=self.home)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

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

    def test_record_the_device_that_a_nodes_policy_leaves_and_train_under_its_limit(self):
        self.as_user(options.live_job, "loop", "epochs")
        self.as_user(options.zeus, "run", "--job", "command", *RUN)
        loop, command = self.job("loop"), self.job("command")
        self.assertEqual(loop["device"], command["device"])
        self.assertEqual(loop["device"]["power_limits_w"], [175])
        self.assertEqual([one["limit_w"] for one in loop["tries"]], [175])
        self.assertEqual([one["limit_w"] for one in command["tries"]], [175])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("zeus", "zeusd", "live_job"):
        parser.add_argument(name, type=os.path.abspath)
    options, rest = parser.parse_known_args()
    if "ZEUS_TEST_INSIDE" not in os.environ:
        daemon_session.skip_without_root()
        os.execve(options.zeus, [options.zeus, "virtual", GPU, "--shared", "--load", "constant:180W", "--", sys.executable, *sys.argv],
                  os.environ | {"ZEUS_TEST_INSIDE": "1"})
    unittest.main(argv=[sys.argv[0], *rest])

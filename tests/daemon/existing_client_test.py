"""The existing package's own client, unmodified, asks zeusd for everything it knows, on the Unix socket and over TCP.

  zeus virtual '2xA100@root-only@limit=300' --shared --load constant:200W -- existing_client_test.py ZEUSD BUILD_FOLDER
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import daemon_session  # noqa: E402
import python_environment  # noqa: E402
from daemon_session import ALL_GROUPS, KEY, Daemon, token_of, until  # noqa: E402

SCRIPT = pathlib.Path(__file__).with_name("existing_client.py")
GET = ("gpu/get_power", "gpu/get_cumulative_energy", "gpu/get_power_limit", "gpu/get_power_limit_constraints",
       "gpu/get_persistence_mode", "cpu/get_cumulative_energy", "cpu/get_power", "discover", "time")
SET = ("power_limit", "persistence_mode", "gpu_locked_clocks", "mem_locked_clocks")


class ExistingClient(unittest.TestCase):
    def play(self, daemon: Daemon, environment: dict) -> None:
        found = driver.settings()
        child = subprocess.Popen([str(python), str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, **environment})
        told = json.loads(child.stdout.readline())
        self.assertIn("250000", repr([driver.limit(0), driver.limit(1)]))
        self.assertEqual((driver.limit(1), driver.persistence(1)), (250_000, 1))
        self.assertIn("200000", told["get_gpu_power"])
        self.assertIn("300000", told["get_power_limit"])
        child.communicate("x")
        self.assertEqual(child.returncode, 0)
        log = daemon.log()
        for route in [f"GET /{name} 200" for name in GET] + [f"POST /gpu/set_{name} 200" for name in SET]:
            self.assertIn(route, log)
        if "ZEUSD_SOCK_PATH" in environment:
            until(lambda: driver.settings() == found, "its settings end with it")

    def test_on_the_unix_socket(self):
        with Daemon(sys.argv[1], rapl=True) as daemon:
            self.play(daemon, {"ZEUSD_SOCK_PATH": daemon.socket})

    def test_over_tcp_with_a_token(self):
        with Daemon(sys.argv[1], modes="uds,tcp", key=KEY, rapl=True) as daemon:
            where = f"{daemon.tcp[0]}:{daemon.tcp[1]}"
            self.play(daemon, {"ZEUSD_HOST_PORT": where, "ZEUSD_TOKEN": token_of("ann", *ALL_GROUPS)})
            self.assertIn("GET /auth/whoami 200", daemon.log())


if __name__ == "__main__":
    daemon_session.skip_without_root()
    try:
        python = python_environment.interpreter(pathlib.Path(sys.argv[2]), "zeus", "nvidia-ml-py")
    except unittest.SkipTest as reason:
        print(reason)
        sys.exit(77)
    driver = daemon_session.Driver()
    driver.expect_refused_without_the_daemon()
    unittest.main(argv=sys.argv[:1])

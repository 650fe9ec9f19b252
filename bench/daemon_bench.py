#!/usr/bin/env python3
"""How long a client of zeusd waits, on one virtual GPU, beside an echo over a Unix socket."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

build = pathlib.Path(sys.argv[1])


def under_virtual_gpus(folder: pathlib.Path) -> int:
    """With a daemon of its own, in a session of `zeus virtual`."""
    path = folder / "zeusd.sock"
    environment = {**os.environ, "ZEUS_STATE_DIR": str(folder / "state")}
    (folder / "state").mkdir(mode=0o700)
    daemon = subprocess.Popen([build / "bin" / "zeusd", "serve", "--socket-path", path, "--admin-socket", folder / "admin.sock",
                               "--enable", "gpu-read,gpu-control"], env=environment, stdout=subprocess.DEVNULL)
    try:
        while not path.exists() and daemon.poll() is None:
            time.sleep(0.05)
        return subprocess.run([build / "bench" / "daemon_round_trips", path, "200000", "210000"], check=False).returncode
    finally:
        daemon.terminate()
        daemon.wait()


if len(sys.argv) > 2:
    sys.exit(under_virtual_gpus(pathlib.Path(sys.argv[2])))
if os.geteuid() != 0:
    print("  skipped: setting GPUs needs root")
    sys.exit(0)
with tempfile.TemporaryDirectory() as temporary:
    sys.exit(subprocess.run([build / "bin" / "zeus", "virtual", "1xA100", "--load", "constant:200W", "--", sys.executable,
                             __file__, build, temporary], check=False).returncode)

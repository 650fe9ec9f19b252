#!/usr/bin/env python3
"""How long clients of zeusd wait, each on a virtual GPU, beside an echo over a Unix socket, or beside another zeusd.

  daemon_bench.py BUILD [--beside ZEUSD] [--audit-log]
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("build", type=pathlib.Path)
parser.add_argument("--beside", help="the program zeusd of another version, in place of the echo")
parser.add_argument("--audit-log", action="store_true", help="each zeusd writes one")
parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
options = parser.parse_args()


@contextlib.contextmanager
def serving(zeusd, folder: pathlib.Path):
    """The socket of a daemon in this folder."""
    (folder / "state").mkdir(mode=0o700, parents=True)
    path = folder / "zeusd.sock"
    audit = ["--audit-log", folder / "audit.log"] if options.audit_log else []
    daemon = subprocess.Popen([zeusd, "serve", "--socket-path", path, "--admin-socket", folder / "admin.sock", "--enable",
                               "gpu-read,gpu-control", *audit], env={**os.environ, "ZEUS_STATE_DIR": str(folder / "state")},
                              stdout=subprocess.DEVNULL)
    try:
        while not path.exists() and daemon.poll() is None:
            time.sleep(0.05)
        yield path
    finally:
        daemon.terminate()
        daemon.wait()


def under_virtual_gpus() -> int:
    """In a session of `zeus virtual`."""
    with contextlib.ExitStack() as daemons:
        paths = [daemons.enter_context(serving(zeusd, options.folder / name))
                 for name, zeusd in (("ours", options.build / "bin" / "zeusd"), ("other", options.beside)) if zeusd]
        return subprocess.run([options.build / "bench" / "daemon_round_trips", "200000", "210000", *paths], check=False).returncode


if options.folder:
    sys.exit(under_virtual_gpus())
if os.geteuid() != 0:
    print("  skipped: setting GPUs needs root")
    sys.exit(0)
with tempfile.TemporaryDirectory() as temporary:
    sys.exit(subprocess.run([options.build / "bin" / "zeus", "virtual", "2xA100", "--shared", "--load", "constant:200W", "--",
                             sys.executable, __file__, *sys.argv[1:], "--folder", temporary], check=False).returncode)

#!/usr/bin/env python3
"""The savings of a training session on virtual GPUs: 1000 runs of each built-in workload (docs/train.md)."""

import os
import pathlib
import subprocess
import sys

# Leases are written durably, thousands of times: use memory if there is such a folder.
environment = {**os.environ, "TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else None
program = pathlib.Path(sys.argv[1]) / "bench" / "train_table"
sys.exit(subprocess.run([program, *sys.argv[2:]], check=False, env=environment).returncode)

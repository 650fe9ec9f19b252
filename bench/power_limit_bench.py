#!/usr/bin/env python3
"""The adaptive power-limit plan beside the full sweep, over 1000 seeds of each workload (docs/power_limit.md)."""

import pathlib
import subprocess
import sys

sys.exit(subprocess.run([pathlib.Path(sys.argv[1]) / "bench" / "power_limit_table", *sys.argv[2:]], check=False).returncode)

#!/usr/bin/env python3
"""The cost of the sampler with 8 GPUs, through the driver: its own share of a core, and the driver's beside it.

  measure_sampler_bench.py BUILD_FOLDER
"""

import pathlib
import subprocess
import sys

build = pathlib.Path(sys.argv[1])
done = subprocess.run([build / "bin/zeus", "virtual", "8xA100", "--load", "square:80-300W,200ms", "--",
                       build / "bench/measure_sampler"], check=False)
many = subprocess.run([build / "bench/measure_many_windows"], check=False)
print("\n  accuracy on the virtual clock", flush=True)
tables = subprocess.run([build / "bench/measure_accuracy", "500"], check=False)
# 500 windows a line are too few to judge intervals by, which is what 1 says.
sys.exit(done.returncode or many.returncode or tables.returncode > 1)

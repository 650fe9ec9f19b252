"""Run by python_devices_test.py as a user without rights: our Python package's GPUs, which the daemon sets.

Reads expressions line by line and prints the value or failure of each as a line of JSON. In them `gpus` are the GPUs, and
`other` is a separate lease after `take`.
"""

import json
import logging
import os
import sys
import time

from zeus_cpp.device import get_gpus
from zeus_cpp.monitor import ZeusMonitor
from zeus_cpp.optimizer.power_limit import GlobalPowerLimitOptimizer

logging.basicConfig()
gpus = get_gpus().gpus
leases = []


def take(gpu: int, watts: float) -> float:
    leases.append(gpus[gpu].lease(60.0))
    return leases[-1].set_power_limit(watts)


def let_go() -> None:
    leases.pop().release()


def forked(gpu: int, milliwatts: int) -> int:
    """The exit code of a child that sets it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            gpus[gpu].set_power_management_limit(milliwatts)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def trained() -> dict:
    """The limits that a training has tried, and why it did not set any."""
    optimizer = GlobalPowerLimitOptimizer(ZeusMonitor(), warmup_steps=2, profile_steps=20)
    for _ in range(10):
        optimizer.on_epoch_begin()
        for _ in range(100):
            optimizer.on_step_begin()
            time.sleep(0.006)
            optimizer.on_step_end()
        optimizer.on_epoch_end()
        if str(optimizer.state) == "Done":
            break
    told = {"tried": [each.power_limit for each in optimizer.measurements], "unoptimized": optimizer.unoptimized}
    optimizer.close()
    return told


print(json.dumps([type(gpu).__name__ for gpu in gpus]), flush=True)
for line in sys.stdin:
    began = time.monotonic()
    try:
        told = {"value": eval(line), "failure": None}  # noqa: S307: the test's own words
    except Exception as error:  # noqa: BLE001: its name is what is told
        told = {"value": None, "failure": f"{type(error).__name__}: {error}"}
    print(json.dumps({**told, "took": time.monotonic() - began}), flush=True)

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


print(json.dumps([type(gpu).__name__ for gpu in gpus]), flush=True)
for line in sys.stdin:
    began = time.monotonic()
    try:
        told = {"value": eval(line), "failure": None}  # noqa: S307: the test's own words
    except Exception as error:  # noqa: BLE001: its name is what is told
        told = {"value": None, "failure": f"{type(error).__name__}: {error}"}
    print(json.dumps({**told, "took": time.monotonic() - began}), flush=True)

"""Kills one rank of the training of pipelined_rank.py, and looks at what becomes of its GPU and of the others. Runs within
`zeus virtual`; prints one line of JSON: seconds from the kill to the clocks being put back, and to the end of the training.

  pipelined_kill.py OUT RANKS VICTIM profile|follow
"""

import ctypes
import json
import pathlib
import signal
import subprocess
import sys
import time
import os

RANK = pathlib.Path(__file__).resolve().parent / "pipelined_rank.py"


class Call(ctypes.Structure):
    """zeus_virtual_call of zeus/virtual.h."""

    _fields_ = [("number", ctypes.c_uint64), ("time_s", ctypes.c_double), ("process", ctypes.c_int32), ("gpu", ctypes.c_int32),
                ("result", ctypes.c_int32), ("entry_point", ctypes.c_char * 64)]


def calls(entry_point: str, gpu: int) -> list:
    """The moments of those that succeeded."""
    log, count = (Call * 4096)(), ctypes.c_uint(4096)
    driver = ctypes.CDLL("libnvidia-ml.so.1")
    assert driver.zeus_virtual_read_calls(ctypes.c_uint64(0), log, ctypes.byref(count)) == 0
    return [call.time_s for call in log[: count.value]
            if call.entry_point.decode() == entry_point and call.gpu == gpu and call.result == 0]


def wait_until(there, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while not there():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def main() -> None:
    out, ranks, victim, when = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks, RANK, out, "--steps", 100000, "--window", 0.02]
    training = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if when == "profile":
        reached = wait_until(lambda: len(calls("nvmlDeviceSetGpuLockedClocks", victim)) > 5, 120)
    else:
        reached = wait_until((out / f"follows-{victim}").exists, 180)
    time.sleep(0.3)
    killed = time.monotonic()
    os.kill(int((out / f"pid-{victim}").read_text(encoding="ascii")), signal.SIGKILL)

    def put_back() -> list:
        return [moment - killed for moment in calls("nvmlDeviceResetGpuLockedClocks", victim) if moment > killed]

    wait_until(put_back, 30)
    try:
        said = training.communicate(timeout=90)[1]
    except subprocess.TimeoutExpired:
        training.kill()
        said = "it hangs"
    print(json.dumps({"reached": reached, "put_back_s": min(put_back(), default=None), "ended_s": time.monotonic() - killed,
                      "code": training.returncode, "said": said[-3000:]}))


if __name__ == "__main__":
    main()

"""Kills one rank of the training of pipelined_rank.py, and looks at what becomes of its GPU and of the others. Run by
torch_pipeline_test.py in a process of trainings.py; writes one line of JSON into OUT/killed.json: seconds from the kill to the
clocks being put back, by the driver's log, and to the end of the other ranks, which nothing else ends; and as controls, how late
this process was to wake meanwhile, and how long the training took to come to where its rank was killed.
"""

import ctypes
import json
import os
import pathlib
import signal
import time

import trainings


class Call(ctypes.Structure):
    """zeus_virtual_call of zeus/virtual.h."""

    _fields_ = [("number", ctypes.c_uint64), ("time_s", ctypes.c_double), ("process", ctypes.c_int32), ("gpu", ctypes.c_int32),
                ("result", ctypes.c_int32), ("entry_point", ctypes.c_char * 64)]


class Log:
    """The driver's calls that set a clock or put it back, and succeeded. The driver keeps some thousands of calls, so read often."""

    def __init__(self) -> None:
        self._driver = ctypes.CDLL("libnvidia-ml.so.1")
        self._next = 0
        self._clocks: list = []  # (entry point, GPU, process, moment)

    def moments(self, entry_point: str, gpu: int, process: int = 0) -> list:
        """Of one process, if it is given."""
        page, count = (Call * 4096)(), ctypes.c_uint(4096)
        while count.value == len(page):
            assert self._driver.zeus_virtual_read_calls(ctypes.c_uint64(self._next), page, ctypes.byref(count)) == 0
            for call in page[: count.value]:
                self._next = call.number + 1
                if call.result == 0 and b"GpuLockedClocks" in call.entry_point:
                    self._clocks.append((call.entry_point.decode(), call.gpu, call.process, call.time_s))
        return [moment for name, where, who, moment in self._clocks if (name, where) == (entry_point, gpu) and process in (0, who)]


def wait_until(there, patience: float) -> tuple:
    """Whether it came, and how late this process woke at most."""
    deadline = time.monotonic() + patience
    late = 0.0
    while not there():
        asleep = time.monotonic()
        if asleep > deadline:
            return False, late
        time.sleep(0.02)
        late = max(late, time.monotonic() - asleep - 0.02)
    return True, late


def main(arguments: list) -> None:
    """`arguments`: OUT, RANKS, VICTIM, and the moment: profile or follow."""
    out, ranks, victim, when = pathlib.Path(arguments[0]), int(arguments[1]), int(arguments[2]), arguments[3]
    begun = time.monotonic()
    # Before this process opens the driver, which does not outlive a fork. Ranks that profile wait so long for one that was killed.
    patience = "5" if when == "profile" else "60"
    processes = trainings.start("pipelined_rank", ranks, [str(out), "--steps", "100000", "--window", "0.02", "--patience", patience], {}, out)
    pid = processes[victim].pid
    log = Log()
    if when == "profile":
        reached, _ = wait_until(lambda: len(log.moments("nvmlDeviceSetGpuLockedClocks", victim, pid)) > 5, 120)
    else:
        reached, _ = wait_until((out / f"follows-{victim}").exists, 180)
    started = time.monotonic() - begun
    time.sleep(0.3)
    killed = time.monotonic()
    os.kill(pid, signal.SIGKILL)

    def put_back() -> list:
        return [moment - killed for moment in log.moments("nvmlDeviceResetGpuLockedClocks", victim) if moment > killed]

    _, late = wait_until(put_back, 30)
    # Ranks profile on, then wait for the other as long as that took.
    ended = trainings.wait_for(processes, 60.0 + 6 * started)
    said = [trainings.output_of(out, rank).read_text(encoding="utf-8")[-1500:] for rank in range(ranks)]
    (out / "killed.json").write_text(json.dumps({
        "reached": reached, "put_back_s": min(put_back(), default=None), "late_s": late, "ended": ended,
        "ended_s": time.monotonic() - killed, "started_s": started, "codes": [process.exitcode for process in processes],
        "said": said}), encoding="utf-8")

"""Makes the machine busy on purpose: processes that only count, for as long as a test or a benchmark needs them.

    with busy_machine.busy(8):
        ...
    with busy_machine.busy(8, pinned=True):     # spread evenly over the processors, each pinned to one
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

# It ends with its parent, however that ends.
COUNTING = """
import os, sys
parent, processor = int(sys.argv[1]), sys.argv[2]
if processor:
    os.sched_setaffinity(0, {int(processor)})
while os.getppid() == parent:
    for _ in range(1000000):
        pass
"""


@contextlib.contextmanager
def busy(processes: int, pinned: bool = False) -> Iterator[None]:
    processors = sorted(os.sched_getaffinity(0))
    counting = [subprocess.Popen([sys.executable, "-c", COUNTING, str(os.getpid()),
                                  str(processors[number % len(processors)]) if pinned else ""])
                for number in range(processes)]
    try:
        yield
    finally:
        for process in counting:
            process.kill()
        for process in counting:
            process.wait()

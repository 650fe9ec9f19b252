"""A copy of a recorded powercap tree (fixtures/rapl) whose counters move, and that only root may read, like the kernel's."""

import bisect
import contextlib
import os
import pathlib
import random
import shutil
import tempfile
import threading
import time

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "rapl"
MEMORY = pathlib.Path("/dev/shm")
BETWEEN_STEPS = 0.0008  # a millisecond with the step, as processors count
AT = "/sys/class/powercap"
ABOUT_TO_WRAP = 10_000_000  # microjoules


class Zone:
    def __init__(self, folder: pathlib.Path, watts: float) -> None:
        self.file = folder / "energy_uj"
        self.began = int(self.file.read_text())
        self.range = int((folder / "max_energy_range_uj").read_text())
        self.watts = watts

    def total(self, seconds: float) -> int:
        """Its count after this time, as if it never wrapped."""
        return self.began + int(self.watts * 1e6 * seconds)

    def write(self, seconds: float) -> None:
        """In one piece, so that no reader sees a part of it."""
        other = self.file.with_name(".next")
        other.write_text(f"{self.total(seconds) % self.range}\n")
        other.chmod(0o400)
        other.replace(self.file)


class MovingTree:
    """`with MovingTree() as tree:` moves it; `mounts` are for processes that should see it.

    Each zone draws a different power. A zone that was recorded shortly before its wrap wraps `until_wrap` seconds after it
    began to move.
    """

    def __init__(self, recorded: str = "two_sockets", until_wrap: float = 0.0, between: float = BETWEEN_STEPS) -> None:
        self.between = between
        # Files on a disk would not move so fast.
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        self.root = pathlib.Path(self.folder.name) / "powercap"
        shutil.copytree(FIXTURES / recorded / "sys" / "class" / "powercap", self.root)
        self.mounts = {str(self.root): AT}
        self.zones: dict[str, Zone] = {}
        draw = random.Random(1)
        for file in sorted(self.root.glob("**/energy_uj")):
            name = "/".join(part for part in file.parent.relative_to(self.root).parts[1:])
            zone = self.zones[name] = Zone(file.parent, round(draw.uniform(20, 90), 1))
            if zone.range - zone.began < ABOUT_TO_WRAP:
                zone.began = min(zone.began, zone.range - int(zone.watts * 1e6 * until_wrap))
            zone.write(0.0)
        self.steps: list[float] = []  # of the monotonic clock, when each began
        self.ended: list[float] = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.move, daemon=True)

    def move(self) -> None:
        with contextlib.suppress(OSError):  # before all others, as hardware is
            os.sched_setscheduler(threading.get_native_id(), os.SCHED_FIFO, os.sched_param(1))
        while not self.stopping.wait(self.between):
            self.steps.append(time.monotonic())
            for zone in self.zones.values():
                zone.write(self.steps[-1] - self.steps[0])
            self.ended.append(time.monotonic())

    def seen(self, name: str, earliest: float, latest: float) -> tuple[int, int]:
        """The totals (without wraps) between which a reading between these times must lie."""
        first, last = bisect.bisect_right(self.ended, earliest) - 1, bisect.bisect_right(self.steps, latest) - 1
        total = self.zones[name].total
        return tuple(total(self.steps[step] - self.steps[0]) if step >= 0 else total(0) for step in (first, last))

    def spent(self, name: str, begin: float, end: float) -> float:
        """Joules that were drawn between these times."""
        return self.zones[name].watts * (end - begin)

    def longest_pause(self) -> float:
        """For so long a zone may have stood still."""
        return max((end - begin for begin, end in zip(self.steps, self.ended[1:])), default=0.0)

    def packages(self) -> dict[str, str]:
        """The zones that are packages, by their names."""
        return {(zone.file.parent / "name").read_text().strip(): name for name, zone in self.zones.items() if "/" not in name}

    def has_come_round(self) -> bool:
        """Whether one of them has wrapped."""
        passed = self.steps[-1] - self.steps[0] if self.steps else 0.0
        return any(zone.total(passed) >= zone.range for zone in self.zones.values())

    def __enter__(self) -> "MovingTree":
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stopping.set()
        self.thread.join()
        self.folder.cleanup()

"""CPU packages with energy counters in the kernel's powercap interface (RAPL)."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from zeus_cpp import _native
from zeus_cpp.device.cpu.common import CPU, CPUs, CpuDramMeasurement, ZeusCPUInitError, ZeusCPUNoPermissionError
from zeus_cpp.device.daemon import named_daemon
from zeus_cpp.device.exception import ZeusBaseCPUError, ZeusdError

if TYPE_CHECKING:
    from zeus_cpp.utils.zeusd import ZeusdClient


class ZeusRAPLNotSupportedError(ZeusBaseCPUError):
    """This machine has no such zone."""


class ZeusRAPLFileInitError(ZeusBaseCPUError):
    """A file of a zone is missing."""


class ZeusRAPLPermissionError(ZeusBaseCPUError):
    """A file of a zone may not be read."""


# What the most powerful package adds to its counter in a tenth of a second, in microjoules.
RAPL_COUNTER_MAX_INCREASE = 1000 * 1e6 * 0.1

# No counter wraps twice in so many seconds: the smallest holds 65 kJ, and packages draw at most 1 kW.
_LOOK_EVERY = 10.0


class RaplWraparoundTracker:
    """Counts how often one counter file has wrapped, as long as this object lives. Any thread may call it.

    Reading and counting happen together, under one lock, so that both always see the same wraps.
    """

    def __init__(self, rapl_file_path: str | Path, max_energy_uj: float) -> None:
        self._path = Path(rapl_file_path)
        self._range = max_energy_uj
        self._lock = threading.Lock()
        self._wraps = 0
        self._last = 0.0
        self.energy_uj()
        ended = threading.Event()
        weakref.finalize(self, ended.set)
        threading.Thread(target=_look, args=(weakref.ref(self), ended), daemon=True, name="zeus-rapl").start()

    def energy_uj(self) -> float:
        """The counter as if it never wrapped."""
        with self._lock:
            now = float(self._path.read_text(encoding="ascii"))
            self._wraps += now < self._last
            self._last = now
            return now + self._wraps * self._range

    @property
    def last_uj(self) -> float:
        """The counter's value at the last reading."""
        return self._last

    def get_num_wraparounds(self) -> int:
        self.energy_uj()
        return self._wraps


def _look(tracker: weakref.ref[RaplWraparoundTracker], ended: threading.Event) -> None:
    while not ended.wait(_LOOK_EVERY):
        alive = tracker()
        if alive is not None:
            with contextlib.suppress(OSError, ValueError):
                alive.energy_uj()
        del alive


class RAPLFile:
    """The counter of one zone's folder. RAPLCPU reads packages without a Python thread; this is for other zones."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.name = (self.path / "name").read_text(encoding="ascii").strip()
            self.max_energy_range_uj = float((self.path / "max_energy_range_uj").read_text(encoding="ascii"))
            self._tracker = RaplWraparoundTracker(self.path / "energy_uj", self.max_energy_range_uj)
        except PermissionError as error:
            raise ZeusCPUNoPermissionError(f"{self.path} may not be read: {error}") from error
        except (OSError, ValueError) as error:
            raise ZeusRAPLFileInitError(f"{self.path} is not a zone that counts energy: {error}") from error

    @property
    def energy_uj_path(self) -> Path:
        return self.path / "energy_uj"

    @property
    def last_energy(self) -> float:
        """The counter's value at the last reading, in microjoules."""
        return self._tracker.last_uj

    def read(self) -> float:
        """mJ."""
        return self._tracker.energy_uj() / 1000.0


def _failure(error: _native.ReadingError) -> ZeusBaseCPUError:
    reason, text = error.args
    return (ZeusCPUNoPermissionError if reason == "permission" else ZeusBaseCPUError)(text)


# Where the kernel has the counters, and where a container may have them.
RAPL_DIR = "/sys/class/powercap/intel-rapl"
CONTAINER_RAPL_DIR = "/zeus_sys/class/powercap/intel-rapl"


class RAPLCPU(CPU):
    """One package, and the memory behind it.

    Energies count from the first reading in this process. Reading keeps the library's sampler running, which sees every
    wrap of the counters.
    """

    def __init__(self, cpu_index: int, rapl_dir: str = RAPL_DIR) -> None:
        super().__init__(cpu_index)
        self.rapl_dir = rapl_dir  # kept unused: the library finds the counters by itself
        self._native = _native.cpus()[cpu_index]

    @property
    def name(self) -> str:
        """"package-0"."""
        return self._native.name

    @property
    def path(self) -> Path:
        """The package's folder in `rapl_dir`."""
        folder = Path(self.rapl_dir)
        named = (zone for zone in sorted(folder.glob("intel-rapl:*")) if _name_of(zone) == self.name)
        return next(named, folder / f"intel-rapl:{self.cpu_index}")

    @cached_property
    def rapl_file(self) -> RAPLFile:
        """The package's counter as a file; from now on a Python thread counts its wraps."""
        return RAPLFile(self.path)

    @cached_property
    def dram(self) -> RAPLFile | None:
        """The same for the memory behind it; None if that has no counter."""
        zones = (zone for zone in sorted(self.path.glob("intel-rapl:*")) if _name_of(zone) == "dram")
        return next(map(RAPLFile, zones), None)

    def get_total_energy_consumption(self) -> CpuDramMeasurement:
        try:
            memory = self._native.memory_energy_mj() if self._native.counts_memory else None
            return CpuDramMeasurement(self._native.energy_mj(), memory)
        except _native.ReadingError as error:
            raise _failure(error) from None

    def supports_get_dram_energy_consumption(self) -> bool:
        return self._native.counts_memory


class ZeusdRAPLCPU(RAPLCPU):
    """One package, read through the daemon for users who may not read it themselves."""

    def __init__(self, cpu_index: int, client: ZeusdClient) -> None:
        CPU.__init__(self, cpu_index)
        from zeus_cpp.utils.zeusd import ZeusdAuthError, ZeusdCapabilityError, require_capabilities

        try:
            require_capabilities(client, read_cpu=True, cpu_ids=[cpu_index])
        except (ZeusdAuthError, ZeusdCapabilityError) as error:
            raise ZeusCPUInitError(f"CPU package {cpu_index} cannot be read through the daemon: {error}") from error
        self.rapl_dir = RAPL_DIR
        self.dram_available = client.dram_available[client.cpu_ids.index(cpu_index)]
        self._client = client

    @property
    def name(self) -> str:
        return f"package-{self.cpu_index}"

    def get_total_energy_consumption(self) -> CpuDramMeasurement:
        energy = self._client.get_cpu_energy([self.cpu_index])[self.cpu_index]
        if energy.cpu_energy_uj is None or (self.dram_available and energy.dram_energy_uj is None):
            raise ZeusdError(f"Zeusd at {self._client.endpoint} does not report the energy of CPU package {self.cpu_index}")
        memory = energy.dram_energy_uj / 1000.0 if energy.dram_energy_uj is not None else None
        return CpuDramMeasurement(energy.cpu_energy_uj / 1000.0, memory)

    def supports_get_dram_energy_consumption(self) -> bool:
        return self.dram_available


class RAPLCPUs(CPUs):
    """The packages of this machine."""

    def __init__(self) -> None:
        self.rapl_dir = RAPL_DIR
        known = _native.cpus()
        if not known:
            problems = [f"{device}: {what}; {fix}" for device, what, fix in _native.device_problems()]
            denied = [text for text in problems if "permitted" in text or "permission" in text]
            client = named_daemon() if denied else None
            if client is not None:
                self._cpus: Sequence[RAPLCPU] = [ZeusdRAPLCPU(index, client) for index in client.cpu_ids]
                return
            if denied and rapl_is_available():
                raise ZeusCPUNoPermissionError("; ".join(denied))
            raise ZeusCPUInitError("the energy of no CPU package can be read here: " + "; ".join(problems))
        self._cpus = [RAPLCPU(cpu.index) for cpu in known]

    @property
    def cpus(self) -> Sequence[CPU]:
        return self._cpus


def _name_of(zone: Path) -> str:
    try:
        return (zone / "name").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def rapl_is_available() -> bool:
    """Whether the kernel shows energy counters of CPU packages, readable or not."""
    return any(Path("/sys/class/powercap").glob("intel-rapl:*"))


def _topology_of(pid: int | str) -> Path:
    """The package of the core that a process runs on at this moment."""
    process = "self" if pid == "current" else str(pid)
    stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    # The fields after the command, which may contain anything, begin with the third.
    core = stat.rpartition(")")[2].split()[39 - 3]
    return Path(f"/sys/devices/system/cpu/cpu{core}/topology")


def _package_in(topology: Path) -> int:
    return int((topology / "physical_package_id").read_text(encoding="ascii"))


def get_current_rapl_zone_id(pid: int | str = "current") -> int:
    """The index of the package that a process, or this one, runs on at this moment."""
    topology = _topology_of(pid)
    package = _package_in(topology)
    names = [f"package-{package}"]
    die = topology / "die_id"
    if die.exists():
        names.append(f"package-{package}-die-{die.read_text(encoding='ascii').strip()}")
    for cpu in _native.cpus():
        if cpu.name in names:
            return cpu.index
    raise ZeusRAPLNotSupportedError(f"no energy is counted for {' or '.join(names)}")


def get_current_cpu_index(pid: int | Literal["current"] = "current") -> int:
    """The same; if the package's energy is not counted, the machine's number of the package."""
    try:
        return get_current_rapl_zone_id(pid)
    except ZeusRAPLNotSupportedError:
        return _package_in(_topology_of(pid))

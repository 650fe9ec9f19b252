"""The right to set one GPU, whose settings are put back when it ends."""

from __future__ import annotations

from types import TracebackType

from zeus_cpp import _native
from zeus_cpp.device.gpu.failure import gpu_errors


class GPULease:
    """Settings of one GPU that are put back to what was found when the lease ends.

    It ends when it is released, when its `with` block ends, when the process dies (however that happens), or when nothing has
    been set or renewed for `term` seconds. One process may have a GPU at a time; another one gets a ZeusConflictError that
    names the holder. Within a process there may be many leases, including those of setters, optimizers and clock followers:
    the latest setting holds. When a lease ends, the latest setting of the remaining ones holds, or what was found first. The
    longest term counts for all. In a forked child a lease is dead.
    """

    def __init__(self, native: _native.Gpu, term: float = 60.0) -> None:
        with gpu_errors():
            self._lease = native.lease(term)

    def set_power_limit(self, watts: float) -> float:
        """Sets the power limit and returns the enforced one, in W: lower if something else limits as well."""
        with gpu_errors():
            return self._lease.set_power_limit_mw(watts * 1000.0) / 1000.0

    def lock_clocks(self, minimum_mhz: int, maximum_mhz: int, domain: str = "graphics") -> None:
        """Locks the clock of "graphics" or "memory" to a range."""
        with gpu_errors():
            self._lease.lock_clocks(domain, minimum_mhz, maximum_mhz)

    def unlock_clocks(self, domain: str = "graphics") -> None:
        with gpu_errors():
            self._lease.unlock_clocks(domain)

    def set_persistence_mode(self, enabled: bool) -> None:
        with gpu_errors():
            self._lease.set_persistence_mode(enabled)

    @property
    def overruled(self) -> str:
        """Why the power limit or the clocks are no longer as they were when this lease last set or restored something: another
        lease of this process has changed them. Empty otherwise."""
        with gpu_errors():
            return self._lease.overruled

    def restore(self) -> None:
        """Withdraws what this lease has set, and keeps the lease."""
        with gpu_errors():
            self._lease.restore()

    def renew(self) -> None:
        """Reports that the holder makes progress."""
        with gpu_errors():
            self._lease.renew()

    def release(self) -> None:
        """Withdraws what this lease has set, and ends it; does nothing the second time."""
        with gpu_errors():
            self._lease.release()

    def __enter__(self) -> GPULease:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.release()

"""A client of the daemon that reads and sets GPUs for users who may not.

A client may be used by several threads at once, and by forked children: each request has a connection of its own.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from zeus_cpp._tokens import sendable
from zeus_cpp.device.exception import ZeusdError
from zeus_cpp.exception import ZeusBaseError

_TIMEOUT_S = 10.0
# A setter that waits may be an administrator's command, which has a minute and may be one of several.
_SETTER_TIMEOUT_S = 600.0
_LONGEST_ANSWER = 16 * 1024 * 1024
_LONGEST_TOKEN = 64 * 1024


class ZeusdConnectionError(ZeusBaseError):
    """The daemon cannot be reached, or speaks an older protocol."""


class ZeusdAuthError(ZeusBaseError):
    """The daemon does not know this user."""


class ZeusdCapabilityError(ZeusBaseError):
    """The daemon does not offer a needed operation, or does not allow it to this user."""


@dataclass(frozen=True)
class GpuInfo:
    id: int
    name: str
    # Daemons up to 0.5.0 do not report PCI addresses, and number GPUs as the driver does.
    pci_address: str = ""
    cumulative_energy_available: bool = True


@dataclass(frozen=True)
class CpuInfo:
    id: int
    dram_available: bool


@dataclass(frozen=True)
class GpuPowerSnapshot:
    timestamp_ms: int
    power_mw: dict[int, int]


@dataclass(frozen=True)
class CpuDramPower:
    cpu_mw: int
    dram_mw: int | None


@dataclass(frozen=True)
class CpuPowerSnapshot:
    timestamp_ms: int
    power_mw: dict[int, CpuDramPower]


@dataclass(frozen=True)
class CpuEnergyResult:
    cpu_energy_uj: int | None
    dram_energy_uj: int | None


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _token_of_file(path: str) -> str:
    """The token in a file that only its owner may read, or in one of root's that only root may write."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise ZeusdConnectionError(f"cannot read the token in {path} (ZEUSD_TOKEN_FILE): {error.strerror}") from error
    with open(file, "rb") as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise ZeusdConnectionError(f"{path} (ZEUSD_TOKEN_FILE) is not a plain file")
        # Who may read a file of root's, such as a mounted secret, root has decided.
        if status.st_mode & (0o022 if status.st_uid == 0 != os.geteuid() else 0o077):
            raise ZeusdConnectionError(f"{path} (ZEUSD_TOKEN_FILE) may be read or written by users other than its owner: "
                                       f"chmod 600 {path}, or mount it with mode 0400")
        content = opened.read(_LONGEST_TOKEN + 1)
    token = content.decode("ascii", "replace").strip()
    if not token or len(content) > _LONGEST_TOKEN or not token.isascii() or any(each <= " " for each in token):
        raise ZeusdConnectionError(f"{path} (ZEUSD_TOKEN_FILE) contains no token")
    return token


def _token_of_environment() -> str | None:
    token, path = os.environ.get("ZEUSD_TOKEN", "").strip(), os.environ.get("ZEUSD_TOKEN_FILE")
    return _token_of_file(path) if not token and path else token or None


@dataclass(frozen=True)
class ZeusdConfig:
    """The address of a daemon, the token for it, and which of its devices to use."""

    host_port: str | None = None
    socket_path: str | None = None
    token: str | None = field(default=None, repr=False)
    gpu_indices: list[int] | None = None
    cpu_indices: list[int] | None = None

    @classmethod
    def tcp(cls, host: str, port: int, *, token: str | None = None, gpu_indices: list[int] | None = None,
            cpu_indices: list[int] | None = None) -> ZeusdConfig:
        return cls(f"{host}:{port}", None, token, gpu_indices, cpu_indices)

    @classmethod
    def uds(cls, socket_path: str, *, token: str | None = None, gpu_indices: list[int] | None = None,
            cpu_indices: list[int] | None = None) -> ZeusdConfig:
        return cls(None, socket_path, token, gpu_indices, cpu_indices)

    @classmethod
    def from_env(cls) -> ZeusdConfig | None:
        """From ZEUSD_SOCK_PATH or else ZEUSD_HOST_PORT; None if neither is set, or if the first that is set is empty.

        The token is that of ZEUSD_TOKEN, or in the file that ZEUSD_TOKEN_FILE names, which only its owner may be able to read; a file of
        root's, such as a mounted secret, others may read too.
        """
        path, address = os.environ.get("ZEUSD_SOCK_PATH"), os.environ.get("ZEUSD_HOST_PORT")
        if path is not None:
            return cls(socket_path=path, token=_token_of_environment()) if path else None
        return cls(host_port=address, token=_token_of_environment()) if address else None

    @property
    def endpoint(self) -> str:
        """The socket's path, or HOST:PORT."""
        endpoint = self.socket_path or self.host_port
        if endpoint is None:
            raise ValueError("neither a socket nor a host and port is given")
        return endpoint

    def url(self, path: str) -> str:
        return f"http://localhost{path}" if self.socket_path else f"http://{self.endpoint}{path}"

    def headers(self) -> dict[str, str]:
        if not self.token:
            return {}
        try:
            return {"Authorization": f"Bearer {sendable(self.token, f'the token for Zeusd at {self.endpoint}')}"}
        except ValueError as error:
            raise ZeusdConnectionError(str(error)) from None

    def make_client(self, timeout_s: float = _TIMEOUT_S) -> http.client.HTTPConnection:
        """A connection of its own, for requests one after another. No wait on it is longer than `timeout_s`."""
        if self.socket_path:
            return _UnixConnection(self.socket_path, timeout_s)
        return http.client.HTTPConnection(self.endpoint, timeout=timeout_s)


def _joined(ids: Iterable[int]) -> str:
    return ",".join(str(each) for each in ids)


def _flag(value: bool) -> str:
    return "true" if value else "false"


class ZeusdClient:
    """A client of one daemon. The constructor asks it for its devices, and whether it knows the user.

    An unknown user is not an error: `auth_error` says so, and `require_capabilities` refuses.
    """

    def __init__(self, config: ZeusdConfig | None = None) -> None:
        config = config or ZeusdConfig.from_env()
        if config is None:
            raise ZeusdConnectionError("No Zeusd connection is configured: pass one, or set ZEUSD_SOCK_PATH or ZEUSD_HOST_PORT")
        self._config = config
        found = self._discover()
        try:
            self.gpus = [GpuInfo(gpu["id"], gpu["name"], gpu.get("pci_address", ""), gpu.get("cumulative_energy_available", True))
                         for gpu in found.get("gpus", [])]
            self.cpus = [CpuInfo(cpu["id"], cpu["dram_available"]) for cpu in found.get("cpus", [])]
            identity = found.get("zeusd") or {}
            # The daemon's description of itself, if it is this project's: the run since its start, and what it can do.
            self.instance: str | None = identity.get("instance")
            self.api: int | None = identity.get("api")
        except (KeyError, TypeError, AttributeError) as error:
            raise ZeusdConnectionError(f"the daemon at {self.endpoint} does not describe its devices ({error}). "
                                       "Upgrade zeusd") from None
        # Whether settings end with a lease; daemons of other packages have no leases.
        self.gives_leases = isinstance(found.get("zeusd"), dict)
        self._enabled = frozenset(found.get("enabled_api_groups", ()))
        self.auth_required = bool(found.get("auth_required", False))
        self.auth_error: str | None = None
        self.granted_scopes: frozenset[str] = frozenset()
        self.user: str | None = None
        self.expiry: int | None = None
        if self.auth_required:
            self._ask_who()

    # The connection

    def ask(self, method: str, path: str, parameters: dict[str, str] | None = None,
            timeout_s: float = _TIMEOUT_S) -> tuple[int, Any]:
        """(status, content of the body); a ZeusdConnectionError if there is no answer."""
        connection = None
        try:
            connection = self._config.make_client(timeout_s)
            target = f"{path}?{urlencode(parameters, safe=',')}" if parameters else path
            connection.request(method, target, headers=self._config.headers())
            answer = connection.getresponse()
            body = answer.read(_LONGEST_ANSWER + 1)
        except (OSError, http.client.HTTPException) as error:
            why = f"no answer within {timeout_s:g} s" if isinstance(error, socket.timeout) else error
            raise ZeusdConnectionError(f"Cannot reach Zeusd at {self.endpoint}: {why}") from error
        finally:
            if connection is not None:
                connection.close()
        if len(body) > _LONGEST_ANSWER:
            raise ZeusdConnectionError(f"the answer of Zeusd at {self.endpoint} is longer than 16 MiB")
        try:
            return answer.status, json.loads(body) if body else None
        except ValueError:
            return answer.status, body.decode(errors="replace")

    def _discover(self) -> dict[str, Any]:
        status, found = self.ask("GET", "/discover")
        if status != 200 or not isinstance(found, dict):
            raise ZeusdConnectionError(f"Zeusd at {self.endpoint} answers HTTP {status}: {found}")
        return found

    def _ask_who(self) -> None:
        if not self._config.token:
            self.auth_error = f"Zeusd at {self.endpoint} requires a token, but no token was provided"
            return
        status, who = self.ask("GET", "/auth/whoami")
        if status == 401:
            self.auth_error = f"Token rejected by Zeusd at {self.endpoint}: {who}"
        elif status != 200 or not isinstance(who, dict):
            self.auth_error = f"Zeusd at {self.endpoint} answers HTTP {status}: {who}"
        else:
            self.granted_scopes = frozenset(who.get("scopes", ()))
            self.user = who.get("sub")
            self.expiry = who.get("exp")

    def _call(self, name: str, method: str, path: str, parameters: dict[str, str], timeout_s: float = _TIMEOUT_S) -> Any:
        status, answer = self.ask(method, path, parameters, timeout_s)
        if status != 200:
            raise ZeusdError(f"{name}: Zeusd at {self.endpoint} answers HTTP {status}: {answer}")
        return answer

    def _by_gpu(self, name: str, path: str, gpu_ids: Iterable[int] | None) -> dict[int, Any]:
        answer = self._call(name, "GET", path, {} if gpu_ids is None else {"gpu_ids": _joined(gpu_ids)})
        return {int(each): value for each, value in answer.items()}

    def _set(self, name: str, gpu_ids: Iterable[int], block: bool, **parameters: str) -> None:
        self._call(name, "POST", f"/gpu/{name}", {"gpu_ids": _joined(gpu_ids), **parameters, "block": _flag(block)},
                   _SETTER_TIMEOUT_S if block else _TIMEOUT_S)

    # Identity and permissions

    @property
    def endpoint(self) -> str:
        return self._config.endpoint

    @property
    def gpu_ids(self) -> list[int]:
        return [gpu.id for gpu in self.gpus]

    @property
    def cpu_ids(self) -> list[int]:
        return [cpu.id for cpu in self.cpus]

    @property
    def dram_available(self) -> list[bool]:
        return [cpu.dram_available for cpu in self.cpus]

    def _may(self, scope: str) -> bool:
        return scope in self._enabled and (not self.auth_required or scope in self.granted_scopes)

    @property
    def can_read_gpu(self) -> bool:
        return self._may("gpu-read")

    @property
    def can_control_gpu(self) -> bool:
        return self._may("gpu-control")

    @property
    def can_read_cpu(self) -> bool:
        return self._may("cpu-read")

    def make_client(self) -> http.client.HTTPConnection:
        return self._config.make_client()

    def url(self, path: str) -> str:
        return self._config.url(path)

    # Readings

    def get_gpu_energy(self, gpu_ids: Iterable[int]) -> dict[int, int]:
        """mJ."""
        answer = self._by_gpu("get_gpu_energy", "/gpu/get_cumulative_energy", gpu_ids)
        return {gpu: value["energy_mj"] for gpu, value in answer.items()}

    def get_gpu_power(self, gpu_ids: Iterable[int] | None = None) -> GpuPowerSnapshot:
        answer = self._call("get_gpu_power", "GET", "/gpu/get_power",
                            {} if gpu_ids is None else {"gpu_ids": _joined(gpu_ids)})
        return GpuPowerSnapshot(answer["timestamp_ms"], {int(gpu): mw for gpu, mw in answer["power_mw"].items()})

    def get_power_limit(self, gpu_ids: Iterable[int] | None = None) -> dict[int, int]:
        """mW."""
        answer = self._by_gpu("get_power_limit", "/gpu/get_power_limit", gpu_ids)
        return {gpu: value["power_limit_mw"] for gpu, value in answer.items()}

    def get_power_limit_constraints(self, gpu_ids: Iterable[int] | None = None) -> dict[int, tuple[int, int]]:
        """The lowest and the highest limit, in mW."""
        answer = self._by_gpu("get_power_limit_constraints", "/gpu/get_power_limit_constraints", gpu_ids)
        return {gpu: (value["min_power_limit_mw"], value["max_power_limit_mw"]) for gpu, value in answer.items()}

    def get_persistence_mode(self, gpu_ids: Iterable[int] | None = None) -> dict[int, bool]:
        answer = self._by_gpu("get_persistence_mode", "/gpu/get_persistence_mode", gpu_ids)
        return {gpu: value["enabled"] for gpu, value in answer.items()}

    def get_cpu_energy(self, cpu_ids: Iterable[int] | None = None, cpu: bool = True,
                       dram: bool = True) -> dict[int, CpuEnergyResult]:
        parameters = {} if cpu_ids is None else {"cpu_ids": _joined(cpu_ids)}
        answer = self._call("get_cpu_energy", "GET", "/cpu/get_cumulative_energy",
                            {**parameters, "cpu": _flag(cpu), "dram": _flag(dram)})
        return {int(each): CpuEnergyResult(value.get("cpu_energy_uj"), value.get("dram_energy_uj"))
                for each, value in answer.items()}

    def get_cpu_power(self, cpu_ids: Iterable[int] | None = None) -> CpuPowerSnapshot:
        answer = self._call("get_cpu_power", "GET", "/cpu/get_power",
                            {} if cpu_ids is None else {"cpu_ids": _joined(cpu_ids)})
        return CpuPowerSnapshot(answer["timestamp_ms"],
                                {int(each): CpuDramPower(value["cpu_mw"], value.get("dram_mw"))
                                 for each, value in answer["power_mw"].items()})

    def get_time(self) -> float:
        """The daemon's clock, in seconds since 1970."""
        answer = self._call("get_time", "GET", "/time", {})
        try:
            return float(answer["timestamp_ms"]) / 1000.0
        except (KeyError, TypeError, ValueError):
            raise ZeusdError(f"get_time: Zeusd at {self.endpoint} answers {str(answer)[:200]!r}, which has no time") from None

    # Settings

    def set_power_limit(self, gpu_ids: Iterable[int], power_limit_mw: int, block: bool = True) -> None:
        self._set("set_power_limit", gpu_ids, block, power_limit_mw=str(power_limit_mw))

    def set_persistence_mode(self, gpu_ids: Iterable[int], enabled: bool, block: bool = True) -> None:
        self._set("set_persistence_mode", gpu_ids, block, enabled=_flag(enabled))

    def set_gpu_locked_clocks(self, gpu_ids: Iterable[int], min_clock_mhz: int, max_clock_mhz: int,
                              block: bool = True) -> None:
        self._set("set_gpu_locked_clocks", gpu_ids, block, min_clock_mhz=str(min_clock_mhz),
                  max_clock_mhz=str(max_clock_mhz))

    def reset_gpu_locked_clocks(self, gpu_ids: Iterable[int], block: bool = True) -> None:
        self._set("reset_gpu_locked_clocks", gpu_ids, block)

    def set_mem_locked_clocks(self, gpu_ids: Iterable[int], min_clock_mhz: int, max_clock_mhz: int,
                              block: bool = True) -> None:
        self._set("set_mem_locked_clocks", gpu_ids, block, min_clock_mhz=str(min_clock_mhz),
                  max_clock_mhz=str(max_clock_mhz))

    def reset_mem_locked_clocks(self, gpu_ids: Iterable[int], block: bool = True) -> None:
        self._set("reset_mem_locked_clocks", gpu_ids, block)

    def reset_locked_clocks(self, gpu_ids: Iterable[int], block: bool = True) -> None:
        self._set("reset_locked_clocks", gpu_ids, block)


def require_capabilities(client: ZeusdClient, *, read_gpu: bool = False, control_gpu: bool = False,
                         read_cpu: bool = False, gpu_ids: Iterable[int] | None = None,
                         cpu_ids: Iterable[int] | None = None) -> None:
    """A ZeusdAuthError, or one ZeusdCapabilityError with everything that is missing, unless all of it is there."""
    if client.auth_error is not None:
        raise ZeusdAuthError(client.auth_error)
    missing = []
    for scope, needed in (("gpu-read", read_gpu), ("gpu-control", control_gpu), ("cpu-read", read_cpu)):
        if needed and scope not in client._enabled:
            missing.append(f"{scope} is not enabled on Zeusd at {client.endpoint}")
        elif needed and not client._may(scope):
            missing.append(f"the token lacks required scope {scope}")
    for kind, wanted, there in (("GPU", gpu_ids, client.gpu_ids), ("CPU", cpu_ids, client.cpu_ids)):
        absent = [each for each in wanted or () if each not in there]
        if absent:
            missing.append(f"{kind} indices {absent} are not among those of Zeusd at {client.endpoint}: {there}")
    if missing:
        raise ZeusdCapabilityError("; ".join(missing))

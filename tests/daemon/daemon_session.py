"""Shared by the tests of zeusd: the driver's library, a daemon in its own folder, and other users.

The settings of a GPU are read through the driver's library, never from the daemon. The tests run as root, in the command of
`zeus virtual ... --shared`.
"""

import argparse
import base64
import contextlib
import ctypes
import dataclasses
import encodings.idna  # noqa: F401: imported by sockets, when other users may not read it any more
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import pickle
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from guardians import guardians_of  # noqa: E402

PATIENCE = 60.0
SM_CLOCK = 1
SOMEBODY = 31337  # a user that no file of this machine mentions
KEY = b"a key of the test, of more than thirty-two bytes"
NO_PERMISSION = 4  # NVML_ERROR_NO_PERMISSION
ALL_GROUPS = ("gpu-control", "gpu-read", "cpu-read")


def skip_without_root() -> None:
    """Prints one line and exits with the code that ctest counts as skipped."""
    if os.geteuid() != 0:
        print("skipped: zeusd takes root to set GPUs")
        sys.exit(77)


def end_with_parent() -> None:
    """For a process that is about to be executed: a test that is killed leaves nothing behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class DriverCall(ctypes.Structure):
    _fields_ = [("number", ctypes.c_uint64), ("time", ctypes.c_double), ("process", ctypes.c_int32),
                ("gpu", ctypes.c_int32), ("result", ctypes.c_int32), ("entry_point", ctypes.c_char * 64)]


class Truth(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("time", "energy", "power", "work", "speed", "clock", "temperature")]


class Driver:
    """The virtual GPUs, as any program sees them, and the extras of a virtual driver: faults, loads, a log of calls."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        assert self.library.nvmlInit_v2() == 0
        count = ctypes.c_uint()
        assert self.library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
        self.handles = []
        for index in range(count.value):
            handle = ctypes.c_void_p()
            assert self.library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) == 0
            self.handles.append(handle)

    def ask(self, name: str, gpu: int, *arguments: int) -> int:
        """A number that the driver has, or the negative of its return code."""
        value = ctypes.c_uint()
        code = getattr(self.library, name)(self.handles[gpu], *arguments, ctypes.byref(value))
        return -code if code else value.value

    def tell(self, name: str, gpu: int, *arguments: int) -> int:
        return getattr(self.library, name)(self.handles[gpu], *arguments)

    def limit(self, gpu: int) -> int:
        return self.ask("nvmlDeviceGetPowerManagementLimit", gpu)

    def persistence(self, gpu: int) -> int:
        return self.ask("nvmlDeviceGetPersistenceMode", gpu)

    def clock(self, gpu: int) -> int:
        return self.ask("nvmlDeviceGetClockInfo", gpu, SM_CLOCK)

    def power(self, gpu: int) -> int:
        return self.ask("nvmlDeviceGetPowerUsage", gpu)

    def range(self, gpu: int) -> tuple[int, int]:
        """The limits that the GPU accepts."""
        least, most = ctypes.c_uint(), ctypes.c_uint()
        assert self.library.nvmlDeviceGetPowerManagementLimitConstraints(
            self.handles[gpu], ctypes.byref(least), ctypes.byref(most)) == 0
        return least.value, most.value

    def costs(self, eta: float) -> dict[int, float]:
        """For the same work under each limit, by the model of virtual GPU 0 under its present load; the limits are not left
        set."""
        found, (least, most) = self.limit(0), self.range(0)
        costs = {}
        for limit in range(least, most + 1, 5_000):
            assert self.tell("nvmlDeviceSetPowerManagementLimit", 0, limit) == 0
            truth = self.truth(0)
            costs[limit] = (eta * truth.power + (1 - eta) * most / 1000) / truth.speed
        assert self.tell("nvmlDeviceSetPowerManagementLimit", 0, found) == 0
        return costs

    def truth(self, gpu: int) -> Truth:
        """The true state of a virtual GPU."""
        truth = Truth()
        assert self.library.zeus_virtual_read_truth(gpu, ctypes.byref(truth)) == 0
        return truth

    def energy(self, gpu: int) -> int:
        value = ctypes.c_ulonglong()
        assert self.library.nvmlDeviceGetTotalEnergyConsumption(self.handles[gpu], ctypes.byref(value)) == 0
        return value.value

    def settings(self, gpus=None) -> list[tuple[int, int, int]]:
        """Power limit, persistence mode, and the clock, which a constant load keeps high if it is unlocked; by default of
        all GPUs."""
        return [(self.limit(gpu), self.persistence(gpu), self.clock(gpu))
                for gpu in (range(len(self.handles)) if gpus is None else gpus)]

    def fault(self, line: str) -> None:
        assert self.library.zeus_virtual_add_fault(line.encode()) == 0, line

    def clear_faults(self) -> None:
        assert self.library.zeus_virtual_clear_faults() == 0

    def load(self, gpu: int, load: str) -> None:
        assert self.library.zeus_virtual_submit_load(gpu, load.encode()) == 0

    def calls(self, first: int = 0) -> list[DriverCall]:
        count = ctypes.c_uint(65536)
        calls = (DriverCall * count.value)()
        assert self.library.zeus_virtual_read_calls(ctypes.c_uint64(first), calls, ctypes.byref(count)) == 0
        return list(calls[: count.value])

    def next_call(self) -> int:
        """The number that the next call of the log will have at least."""
        calls = self.calls()
        return calls[-1].number + 1 if calls else 0

    def expect_refused_without_the_daemon(self) -> None:
        """Neither a user without rights, nor root without capabilities, can set anything through the driver."""
        before = self.settings()
        codes = as_user(SOMEBODY, refused_codes)
        assert set(codes) == {NO_PERMISSION}, codes
        assert self.settings() == before


def refused_codes() -> list[int]:
    driver = Driver()
    return [driver.tell("nvmlDeviceSetPowerManagementLimit", gpu, 200_000) for gpu in range(len(driver.handles))] + [
        driver.tell("nvmlDeviceSetPersistenceMode", 0, 1), driver.tell("nvmlDeviceSetGpuLockedClocks", 0, 600, 900)]


def as_user(user: int, work, *arguments):
    """The result of `work` in a process of that user; its exception is raised here."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            try:
                told = (True, work(*arguments))
            except BaseException as error:  # noqa: BLE001: told to the parent
                told = (False, RuntimeError(f"{type(error).__name__}: {error}"))
            with os.fdopen(write, "wb") as pipe:
                pipe.write(pickle.dumps(told))
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    done, value = pickle.loads(text)
    if not done:
        raise value
    return value


def until(condition, what: str, patience: float = PATIENCE):
    """The value of `condition` once it is true."""
    deadline = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(0.005)
    return value


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(claims: dict, key: bytes = KEY, header: dict | None = None, digest=hashlib.sha256) -> str:
    parts = [base64url(json.dumps(part).encode()) for part in (header or {"typ": "JWT", "alg": "HS256"}, claims)]
    signed = ".".join(parts)
    return f"{signed}.{base64url(hmac.new(key, signed.encode(), digest).digest())}"


def token_of(subject: str, *scopes: str, **more) -> str:
    return token({"sub": subject, "scopes": list(scopes), **more})


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float = PATIENCE) -> None:
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def connection_to(where, timeout: float = PATIENCE) -> http.client.HTTPConnection:
    """`where` is the path of a socket, or (host, port)."""
    return UnixConnection(where, timeout) if isinstance(where, str) else http.client.HTTPConnection(*where, timeout=timeout)


def ask(where, method: str, target: str, bearer: str | None = None, headers: dict | None = None, body=None,
        timeout: float = PATIENCE, connection: http.client.HTTPConnection | None = None) -> Answer:
    own = connection or connection_to(where, timeout)
    try:
        sent = dict(headers or {})
        if bearer is not None:
            sent["Authorization"] = f"Bearer {bearer}"
        own.request(method, target, body=body, headers=sent)
        answer = own.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        if connection is None:
            own.close()


class RaplTree:
    """Zones of two packages, the second without DRAM, and a platform zone, as files: the daemon sees them in its own mount
    namespace."""

    RANGE = 262_143_328_850

    def __init__(self, folder: pathlib.Path) -> None:
        self.root = folder
        self.zone("intel-rapl:0", "package-0")
        self.zone("intel-rapl:0/intel-rapl:0:0", "dram")
        self.zone("intel-rapl:1", "package-1")
        self.zone("intel-rapl:2", "psys")

    def zone(self, path: str, name: str) -> None:
        folder = self.root / "intel-rapl" / path
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{name}\n")
        (folder / "max_energy_range_uj").write_text(f"{self.RANGE}\n")
        self.put(path, 1_000_000)

    def put(self, path: str, microjoules: int) -> None:
        """Replaced in one piece, so that no reader sees a part of it."""
        file = self.root / "intel-rapl" / path / "energy_uj"
        other = file.with_name(".next")
        other.write_text(f"{microjoules}\n")
        other.replace(file)

    def get(self, path: str) -> int:
        return int((self.root / "intel-rapl" / path / "energy_uj").read_text())


class Daemon:
    """One zeusd in its own folder. Its log is followed while it starts."""

    def __init__(self, zeusd: str, arguments=(), modes: str = "uds", groups=ALL_GROUPS, key: bytes | None = None,
                 rapl: bool = False, folder: str | None = None, permissions: str = "666",
                 faults_at_start: bool = False, environment: dict | None = None) -> None:
        self.temporary = None
        if folder is None:
            self.temporary = tempfile.TemporaryDirectory(prefix="zeusd-test-")
            folder = self.temporary.name
        self.folder = pathlib.Path(folder)
        self.folder.chmod(0o755)
        self.state = self.folder / "state"
        self.state.mkdir(mode=0o700, exist_ok=True)
        self.socket = str(self.folder / "s.sock")
        self.admin = str(self.folder / "admin" / "a.sock")
        self.audit_log = self.folder / "audit.log"
        self.log_file = self.folder / "log"
        self.rapl = None
        self.zeusd = zeusd
        self.words = [zeusd, "serve", "--socket-path", self.socket, "--admin-socket", self.admin, "--socket-permissions",
                      permissions, "--audit-log", str(self.audit_log), "--log-requests", "--enable", ",".join(groups),
                      "--mode", modes, *arguments]
        if "tcp" in modes:
            self.words += ["--tcp-bind-address", "127.0.0.1:0"]
        if key is not None:
            file = self.folder / "key"
            file.write_bytes(key)
            file.chmod(0o600)
            self.words += ["--signing-key-path", str(file)]
        if rapl:
            if not (self.folder / "powercap").exists():
                self.rapl = RaplTree(self.folder / "powercap")
            quoted = " ".join(f"'{word}'" for word in self.words)
            self.words = ["unshare", "-m", "sh", "-c",
                          "mount -t tmpfs none /sys/class && mkdir /sys/class/powercap && "
                          f"mount --bind {self.folder}/powercap /sys/class/powercap && exec {quoted}"]
        self.environment = {**os.environ, "ZEUS_STATE_DIR": str(self.state), **(environment or {})}
        self.tcp: tuple[str, int] | None = None
        self.process: subprocess.Popen | None = None

    def start(self, wait: bool = True) -> "Daemon":
        with open(self.log_file, "ab") as log:
            begin = log.tell()
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            env=self.environment, preexec_fn=end_with_parent)
        if wait:
            until(lambda: self.process.poll() is not None or "info: ready\n" in self.log(begin), "zeusd is ready")
            assert self.process.poll() is None, self.log(begin)
            found = re.findall(r"listening on 127\.0\.0\.1:(\d+)", self.log(begin))
            self.tcp = ("127.0.0.1", int(found[-1])) if found else None
        return self

    def log(self, begin: int = 0) -> str:
        return self.log_file.read_bytes()[begin:].decode() if self.log_file.exists() else ""

    def audit(self) -> list[dict]:
        if not self.audit_log.exists():
            return []
        whole, _, _ = self.audit_log.read_text().rpartition("\n")  # without a line that is being written
        return [json.loads(line) for line in whole.splitlines()]

    def stop(self) -> int:
        """Its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def setter(self) -> int:
        """The process with the rights to set GPUs, which zeusd has started."""
        (found,) = until(lambda: setters_of(self.process.pid), "zeusd has a setter")
        return found

    def kill_whole(self) -> None:
        """zeusd and its setter, at one moment: neither sees the other's end before its own."""
        both = (self.process.pid, self.setter())
        for how in (signal.SIGSTOP, signal.SIGKILL):
            for process in both:
                os.kill(process, how)
        self.process.wait()
        until(lambda: not is_running(both[1]), "the setter has ended")

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            setters = setters_of(self.process.pid)  # which write in the folder as well
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            until(lambda: not any(is_running(one) for one in setters), "the setter ends")
        until(lambda: not guardians_of(self.state), f"the guardian ends; {self.log()}")
        if self.temporary is not None:
            until(self.cleaned_up, "nothing writes in the folder any more")  # as the setter of a zeusd that did not start may

    def cleaned_up(self) -> bool:
        try:
            self.temporary.cleanup()
        except OSError:
            return False
        return True

    def __enter__(self) -> "Daemon":
        return self.start()

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.stop()
        self.close()

    def ask(self, method: str, target: str, **more) -> Answer:
        return ask(self.socket, method, target, **more)

    def get(self, target: str, **more) -> Answer:
        return self.ask("GET", target, **more)

    def post(self, target: str, **more) -> Answer:
        return self.ask("POST", target, **more)

    def posted(self, target: str, **more) -> Answer:
        """The answer once none is late: on a busy machine a guardian may take longer to start than a setter waits."""
        return until(lambda: (one := self.post(target, **more)).status not in (503, 504) and one, target)


def kill_guardian(process: int) -> None:
    """It may have been seen as its parent, which ends when the guardian is in the background."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def unmount(folder: pathlib.Path) -> None:
    """A process that has no command any more, which is all that tests see of its end, may still close its files."""
    until(lambda: subprocess.run(["umount", str(folder)], stderr=subprocess.DEVNULL, check=False).returncode == 0, f"{folder} is free")


def is_running(process: int) -> bool:
    """False for one that has ended, even if it was not waited for."""
    try:
        return ") Z " not in pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def setters_of(zeusd: int) -> list[int]:
    """`zeusd` may also be the process that started it in namespaces of its own."""
    found = []
    for task in pathlib.Path(f"/proc/{zeusd}/task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except OSError:  # a thread that has just ended
            continue
        for child in children:
            try:
                name = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]
                if name.endswith((b"zeus_setter", b"zeus_command_setter")):
                    found.append(int(child))
                elif name.endswith(b"zeusd"):
                    found += setters_of(int(child))
            except OSError:  # it has just ended
                continue
    return found


class EventReader:
    """A stream of server-sent events, read line by line as it arrives."""

    def __init__(self, where, target: str, bearer: str | None = None) -> None:
        self.connection = connection_to(where)
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        self.connection.request("GET", target, headers=headers)
        self.answer = self.connection.getresponse()

    def line(self) -> str:
        return self.answer.readline().decode()

    def event(self) -> tuple[str, dict | None]:
        """The name before the colon, and the value of data."""
        text = self.line()
        assert self.line() == "\n", text
        name, _, value = text.rstrip("\n").partition(":")
        return name, json.loads(value) if name == "data" else None

    def data(self) -> dict:
        while (event := self.event())[0] != "data":
            pass
        return event[1]

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


class Point0(unittest.TestCase):
    """The check that every test of zeusd imports and runs first."""

    def test_0_users_are_refused_by_the_driver_without_the_daemon(self):
        Driver().expect_refused_without_the_daemon()


def begin(options: argparse.Namespace, *more: tuple[str, dict]) -> tuple[Driver, list[str]]:
    """The GPUs with the operator's settings, and the words for unittest.main(). The other words always include the daemon's
    program; `more` are arguments of argparse."""
    parser = argparse.ArgumentParser()
    parser.add_argument("zeusd")
    for name, words in more:
        parser.add_argument(name, **words)
    rest = parser.parse_known_args(namespace=options)[1]
    skip_without_root()
    driver = Driver()
    driver.tell("nvmlDeviceSetPersistenceMode", 0, 1)
    return driver, [sys.argv[0], *rest]

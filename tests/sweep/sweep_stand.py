"""A sweep's folder for tests, and hosts for it: this machine, or servers of OpenSSH on loopback addresses, each of which
may have virtual GPUs of its own."""

import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

PATIENCE = 60.0
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin")


class Folder:
    def __init__(self, program: str, path: pathlib.Path, hosts: str, queue: str, environment: dict[str, str] | None = None):
        self.program, self.path = program, path
        self.environment = {**os.environ, **(environment or {})}
        path.mkdir(parents=True, exist_ok=True)
        (path / "hosts.yaml").write_text(hosts, encoding="utf-8")
        (path / "queue.yaml").write_text(queue, encoding="utf-8")

    def words(self, *words: str, before: tuple[str, ...] = ()) -> list[str]:
        return [*before, self.program, "sweep", *words, "--folder", str(self.path)]

    def run(self, *words: str, before: tuple[str, ...] = (), patience: float = 120.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.words(*words, before=before), capture_output=True, text=True, check=False, timeout=patience,
                              env=self.environment, stdin=subprocess.DEVNULL)

    def start(self, *words: str, cwd: pathlib.Path | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(self.words(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=self.environment, start_new_session=True, cwd=cwd)

    def results(self) -> list[dict]:
        done = self.run("results", "--json", "-")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["runs"]

    def output(self, run: int) -> str:
        return (self.path / "output" / f"{run:06}.log").read_text(encoding="utf-8")

    def ledger(self) -> list[dict]:
        lines = (self.path / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines[1:]]


def wait_until(holds, patience: float = PATIENCE) -> bool:
    """Whether it came to hold in time; it is asked again and again."""
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def free_port(address: str) -> int:
    """Below those that the system gives to connections, so that no other program's takes it before it is bound."""
    while True:
        port = random.randrange(20000, 32000)
        with contextlib.suppress(OSError), socket.socket() as asked:
            asked.bind((address, port))
            return port


def answers(address: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=1):
        return True
    return False


class SshHosts:
    """Servers `h1`, `h2` ... on 127.0.0.1, 127.0.0.2 ...; `environment` makes `ssh` find them by these names."""

    def __init__(self, folder: pathlib.Path, count: int):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
        self.servers: list[subprocess.Popen[bytes]] = []
        self.ports: list[int] = []
        configuration = []
        for number in range(1, count + 1):
            self._serve(number)
            configuration.append(f"Host h{number}\n  HostName 127.0.0.{number}\n  Port {self.ports[-1]}\n")
        configuration.append(f"Host *\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n"
                             f"  UserKnownHostsFile {folder}/known\n  StrictHostKeyChecking accept-new\n")
        (folder / "config").write_text("".join(configuration), encoding="utf-8")
        self.bin = folder / "bin"
        self.bin.mkdir()
        wrapper = self.bin / "ssh"
        wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/config "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        self.environment = {"PATH": f"{self.bin}:{os.environ['PATH']}"}

    def _serve(self, number: int) -> None:
        address, folder = f"127.0.0.{number}", self.folder
        self.ports.append(free_port(address))
        file = folder / f"sshd{number}.conf"
        file.write_text(
            f"ListenAddress {address}\nPort {self.ports[-1]}\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {folder}/user.pub\nStrictModes no\nPasswordAuthentication no\n"
            f"KbdInteractiveAuthentication no\nMaxStartups 200\nMaxSessions 100\n", encoding="utf-8")
        with (folder / f"sshd{number}.log").open("wb") as log:
            self.servers.append(subprocess.Popen([SSHD or "sshd", "-D", "-e", "-f", str(file)], stderr=log,
                                                 stdin=subprocess.DEVNULL))
        assert wait_until(lambda: answers(address, self.ports[-1])), "sshd does not listen"

    def with_gpus(self, program: str, number: int, spec: str, load: str) -> pathlib.Path:
        """A program of Zeus that sees virtual GPUs, which are that host's for as long as the stand lives."""
        session = f"sweep-{os.getpid()}-h{number}"
        truth = self.folder / f"truth{number}.json"
        held = subprocess.Popen(
            [program, "virtual", spec, "--session", session, "--load", load, "--truth", str(truth), "--", "cat"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.servers.append(held)
        wrapper = self.folder / f"zeus{number}"
        wrapper.write_text(f'#!/bin/sh\nexec {program} virtual {spec} --session {session} -- {program} "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)
        return wrapper

    def close(self) -> None:
        for server in self.servers:
            if server.stdin:
                server.stdin.close()
                server.wait()
            server.terminate()
            server.wait()


@contextlib.contextmanager
def ssh_hosts(folder: pathlib.Path, count: int) -> Iterator[SshHosts]:
    hosts = SshHosts(folder, count)
    try:
        yield hosts
    finally:
        hosts.close()


def processes_with(text: str) -> list[int]:
    """Those that have it in their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and text.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found

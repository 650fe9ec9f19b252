"""Compares what zeusd, its setter and its guardian use with what the shipped unit allows: system calls, recorded by strace while clients
use the daemon and die, and the capabilities of each thread.

  confinement_test.py ZEUS ZEUSD UNIT -k SystemCalls [--rounds N]      few requests and faults without --rounds
  zeus virtual '1xA100@root-only@limit=300' --shared -- confinement_test.py ZEUS ZEUSD UNIT -k Capabilities

If strace or systemd-analyze is missing, or tracing is not permitted, the first is skipped with one line.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import daemon_session
from daemon_session import Daemon, guardians_of, until

here = pathlib.Path(__file__).resolve().parent
options = argparse.Namespace()
SYS_ADMIN = 1 << 21
# The capabilities that the setter keeps, by what is served. All its threads and the guardian have the same; zeusd itself,
# which strangers talk to, has none.
CAPABILITIES = {
    ("gpu-read",): 0,
    ("gpu-control",): SYS_ADMIN,
    ("cpu-read",): 0,
    ("gpu-control", "gpu-read"): SYS_ADMIN,
    ("gpu-read", "cpu-read"): 0,
    ("gpu-control", "cpu-read"): SYS_ADMIN,
    ("gpu-control", "gpu-read", "cpu-read"): SYS_ADMIN,
}
# Only needed if systemd has not opened the socket, as it does for the unit.
OWN_SOCKET = {"chown"}


def why_nothing_is_traced() -> str | None:
    if not shutil.which("strace"):
        return "strace is not installed"
    if not shutil.which("systemd-analyze"):
        return "systemd-analyze is not installed"
    done = subprocess.run(["strace", "-D", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 and not done.stderr else "this process may not trace others"


def calls_in(group: str) -> set[str]:
    """The system calls of a group, or the call itself."""
    if not group.startswith("@"):
        return {group}
    text = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True).stdout
    members = [line.strip() for line in text.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(calls_in(member) for member in members))


def allowed_by(unit: str) -> set[str]:
    allowed: set[str] = set()
    for words in re.findall(r"^SystemCallFilter=(.*)$", unit, re.MULTILINE):
        named = set().union(*(calls_in(word) for word in words.removeprefix("~").split()))
        allowed = allowed - named if words.startswith("~") else allowed | named
    return allowed


class SystemCalls(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.folder.chmod(0o755)
        self.wrapper = self.folder / "zeusd"
        self.wrapper.write_text(f"#!/bin/sh\nexec strace -D -ff -qq -e signal=none -o {self.folder}/calls.$$ {shlex.quote(options.zeusd)} \"$@\"\n")
        self.wrapper.chmod(0o755)

    def made_in(self, gpus: int, *test: str) -> dict[str, str]:
        """System calls made in a test, each with an example line."""
        done = subprocess.run(
            [options.zeus, "virtual", f"{gpus}xA100@root-only@limit=300", "--shared", "--load", "constant:200W", "--", sys.executable,
             str(here / test[0]), str(self.wrapper), *test[1:]], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        made = {}
        files = list(self.folder.glob("calls.*"))
        for file in files:
            for line in file.read_text(errors="replace").splitlines():
                if call := re.match(r"(?:<\.\.\. )?(\w+)(?:\(| resumed)", line):
                    made.setdefault(call[1], line)
        text = "".join(file.read_text(errors="replace") for file in files)
        self.assertIn("zeus_guardian", text, "the guardian is traced as well")
        self.assertIn("zeus_setter", text, "and the setter")
        return made

    def expect_allowed(self, made: dict[str, str]):
        allowed = allowed_by(pathlib.Path(options.unit).read_text())
        self.assertTrue({"read", "capset"} <= allowed and not {"mount", "ptrace", "bpf"} & allowed, "the filter is read")
        beyond = {call: line for call, line in made.items() if call not in allowed and call not in OWN_SOCKET}
        print(f"{len(made)} system calls, {len(allowed)} allowed: {' '.join(sorted(made))}", flush=True)
        self.assertEqual(beyond, {})

    def test_of_clients(self):
        self.expect_allowed(self.made_in(2, "protocol_test.py", *options.protocol))

    def test_of_faults(self):
        self.expect_allowed(self.made_in(4, "fault_test.py", "--rounds", str(options.rounds), *options.faults))


class Capabilities(unittest.TestCase):
    @staticmethod
    def of(pid: int) -> set[tuple[str, str, int]]:
        """Of each thread: its name, which set, and what is in it."""
        found = set()
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            try:
                status = (task / "status").read_text()
            except OSError:  # it has just ended
                continue
            name = re.search(r"^Name:\t(.*)$", status, re.MULTILINE)[1]
            found |= {(name, kind, int(bits, 16)) for kind, bits in re.findall(r"^Cap(Eff|Prm|Bnd|Amb):\t(\w+)$", status, re.MULTILINE)}
        return found

    def expect_at_most(self, pid: int, kept: int, who: str):
        before = self.of(os.getpid())
        had = {kind: bits for _, kind, bits in before}
        for name, kind, bits in self.of(pid):
            expected = 0 if kind == "Amb" else kept & had[kind]
            self.assertEqual(bits, expected, f"{who}, thread {name}, Cap{kind}: {bits:x} is not {expected:x}")

    def test_are_those_of_the_groups(self):
        for groups, kept in CAPABILITIES.items():
            with self.subTest(groups):
                with Daemon(options.zeusd, groups=groups, rapl=True) as daemon:
                    daemon.get("/time")
                    self.expect_at_most(daemon.process.pid, 0, "zeusd")
                    self.expect_at_most(daemon.setter(), kept, "the setter")
                    if "gpu-control" in groups:
                        lease = daemon.post("/v1/leases/take?gpu_ids=0&term_s=60")
                        self.assertEqual(lease.status, 200, lease.body)
                        (guardian,) = until(lambda: guardians_of(daemon.state), "a guardian watches")
                        self.expect_at_most(guardian, kept, "the guardian")
                        daemon.post(f"/v1/leases/release?lease={lease.json['id']}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("zeusd")
    parser.add_argument("unit")
    parser.add_argument("--rounds", type=int, default=0)
    rest = parser.parse_known_args(namespace=options)[1]
    daemon_session.skip_without_root()
    if "SystemCalls" in rest and (why := why_nothing_is_traced()):
        print(f"skipped: {why}")
        sys.exit(77)
    full = options.rounds > 0
    options.protocol = () if full else ("-k", "rows", "-k", "in_their_order", "-k", "weak_11", "-k", "weak_13")
    # Without tests that start a daemon after a kill: strace keeps the dead one's socket open for a moment.
    faults = ("clients", "stopped", "sigterm", "lost", "hang") if full else ("clients_are_killed", "daemon_is_stopped", "sigterm")
    options.faults = tuple(word for name in faults for word in ("-k", name))
    options.rounds = options.rounds or 1
    for name in ("zeus", "zeusd", "unit"):
        setattr(options, name, str(pathlib.Path(getattr(options, name)).resolve()))
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

"""A sweep over two servers of OpenSSH with virtual GPUs, of which one part is killed at a random moment: the sweep itself,
an `ssh`, the server's end of a connection, the part of Zeus at the host, or a command. After a second start every run is
in the ledger once, no process is left, and limits are what they were.

  kill_test.py PROGRAM [DRAINS] [SEED]
"""

import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from sweep_stand import SSHD, Folder, SshHosts, processes_with, ssh_hosts, wait_until

RUNS = 8
FOUND_W = 250.0
VICTIMS = ("sweep", "ssh", "server", "host", "command")
program = ""
drains, seed = 4, 1


def parents() -> dict[int, int]:
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError, ValueError):
            found[int(entry.name)] = int((entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    return found


def descendants(ancestor: int) -> list[int]:
    known = parents()
    found = {ancestor}
    while new := {pid for pid, parent in known.items() if parent in found} - found:
        found |= new
    return sorted(found - {ancestor})


def limits(hosts: SshHosts, wrappers: list[pathlib.Path]) -> list[float]:
    found = []
    for wrapper in wrappers:
        done = subprocess.run([str(wrapper), "devices", "--json"], capture_output=True, text=True, check=True)
        found += [gpu["power_limit_w"]["enforced"] for gpu in json.loads(done.stdout)["gpus"]]
    return found


@unittest.skipIf(SSHD is None, "no sshd here (openssh-server of packaging/debian.txt)")
class Kills(unittest.TestCase):
    def victims(self, who: str, sweep: subprocess.Popen, hosts: SshHosts, mark: str) -> list[int]:
        servers = [pid for server in hosts.servers[:2] for pid in descendants(server.pid)]
        if who == "sweep":
            return [sweep.pid]
        if who == "ssh":
            return processes_with(f"{hosts.folder}/config")
        if who == "server":
            return [pid for pid in processes_with("sshd") if pid in servers]
        if who == "host":
            return [pid for pid in processes_with("sweep\0run") if pid in servers]
        return processes_with(mark)

    def drain(self, hosts: SshHosts, wrappers: list[pathlib.Path], path: pathlib.Path, draw: random.Random) -> str:
        mark = f"sweep-kill-mark-{os.getpid()}-{path.name}"
        file = "".join(f"- hostname: h{i + 1}\n  slots: 2\n  zeus: {{program: {wrapper}}}\n" for i, wrapper in enumerate(wrappers))
        folder = Folder(program, path, file, f"- command: exec sh -c 'sleep 0.3; true' {mark}\n"
                                             f"  zeus: {{gpus: 1, power_limits: [150], repetitions: {RUNS // 2}}}\n" * 2, hosts.environment)
        sweep = folder.start("queue", "--quiet")
        self.assertTrue(wait_until(lambda: (path / "output").exists() or sweep.poll() is not None))
        time.sleep(draw.uniform(0, 2.0))
        who = draw.choice(VICTIMS)
        victims = self.victims(who, sweep, hosts, mark)
        if victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(draw.choice(victims), signal.SIGKILL)
        sweep.communicate(timeout=120)
        again = folder.run("queue", "--quiet")
        self.assertIn(again.returncode, (0, 1), again.stderr)
        events = folder.ledger()
        started = [(event["entry"], event["task"]) for event in events if event["kind"] == "started"]
        self.assertEqual(sorted(started), [(entry, task) for entry in (1, 2) for task in range(RUNS // 2)])
        ended = [event["run"] for event in events if event["kind"] == "ended"]
        self.assertEqual(sorted(ended), list(range(1, RUNS + 1)))
        self.assertEqual((path / "queue.yaml").read_text(encoding="utf-8"), "")
        self.assertEqual((path / "consumed.yaml").read_text(encoding="utf-8").count("command:"), 2)
        self.assertTrue(wait_until(lambda: not processes_with(mark)), processes_with(mark))
        self.assertTrue(wait_until(lambda: limits(hosts, wrappers) == [FOUND_W] * 4), limits(hosts, wrappers))
        states = [run["state"] for run in folder.results()]
        return f"{who} {'killed' if victims else 'was not there'}: " + ", ".join(f"{states.count(s)} {s}" for s in ("done", "failed", "lost"))

    def test_every_run_is_in_the_ledger_once_and_nothing_is_left(self):
        draw = random.Random(seed)
        with tempfile.TemporaryDirectory(prefix="zeus-sweep-kill-") as temporary, ssh_hosts(pathlib.Path(temporary) / "ssh", 2) as hosts:
            wrappers = [hosts.with_gpus(program, number, "2xV100", "constant:300W") for number in (1, 2)]
            for number in range(drains):
                with self.subTest(drain=number):
                    print(number, self.drain(hosts, wrappers, pathlib.Path(temporary) / f"drain{number}", draw), flush=True)
            self.assertTrue(wait_until(lambda: not processes_with(f"{temporary}/ssh/config")), "an ssh is left")


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    drains, seed = numbers[0] if numbers else drains, numbers[1] if len(numbers) > 1 else seed
    unittest.main(argv=sys.argv[:1])

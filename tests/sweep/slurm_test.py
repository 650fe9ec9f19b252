"""`zeus sweep` over a real Slurm of two nodes, started here: the same results as on this machine, GPUs by lease, and what
comes of runs whose node, sweep or job is killed.

  slurm_test.py PROGRAM [-k TEST]
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from sweep_stand import Folder, free_port, processes_with, wait_until

program = ""
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
MISSING = [name for name in PROGRAMS if not shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")]
QUEUE = """- command: echo {{ a }} {{ b }}; exit {{ a }}
  a: [0, 1, 3]
  b: [x, "two words"]
- command: printf 'slots %s, seed %s' {{ slots }} {{ seed }}
  slots: [1, 2]
  zeus: {seeds: [4, 5]}
- command: for e in 1 2 3; do echo epoch $e acc 0.$e; done
  zeus: {epoch_regex: ^epoch, metric_regex: 'acc ([0-9.]+)', repetitions: 2}
"""


def is_of_task(pid: int, number: int) -> bool:
    with contextlib.suppress(OSError):
        return f"SLURM_ARRAY_TASK_ID={number}\0".encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    return False


class Cluster:
    """munged, slurmctld and two slurmd, with a configuration of their own in `folder`; `environment` has it."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir()
        (folder / "munge.key").write_bytes(os.urandom(64))
        (folder / "munge.key").chmod(0o400)
        ports = [free_port("127.0.0.1") for _ in range(3)]
        nodes = "".join(f"NodeName=n{i} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[i]} CPUs=2 Gres=gpu:2\n" for i in (1, 2))
        (folder / "slurm.conf").write_text(
            f"ClusterName=sweep\nSlurmctldHost={socket.gethostname()}(127.0.0.1)\nSlurmctldPort={ports[0]}\nSlurmUser=root\n"
            f"AuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\nStateSaveLocation={folder}/state\n"
            f"SlurmdSpoolDir={folder}/spool-%n\nSlurmctldPidFile={folder}/ctld.pid\nSlurmdPidFile={folder}/%n.pid\n"
            f"SlurmctldLogFile={folder}/ctld.log\nSlurmdLogFile={folder}/%n.log\nProctrackType=proctrack/linuxproc\n"
            "TaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nGresTypes=gpu\nReturnToService=2\n"
            f"MailProg=/bin/true\nSlurmdTimeout=30\n{nodes}PartitionName=all Nodes=n1,n2 Default=YES State=UP\n", encoding="utf-8")
        # Slurm counts devices by their files, and tells a job the numbers of those that are its own.
        (folder / "gres.conf").write_text(f"NodeName=n[1-2] Name=gpu File={folder}/gpu[0-1]\n", encoding="utf-8")
        for number in (0, 1):
            (folder / f"gpu{number}").touch()
        (folder / "state").mkdir()
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
        self.servers: dict[str, subprocess.Popen[bytes]] = {}
        self.serve("munged", "munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key",
                   f"--pid-file={folder}/munge.pid", f"--seed-file={folder}/munge.seed", f"--log-file={folder}/munge.log")
        assert wait_until((folder / "munge.socket").exists), "munged does not serve"
        self.serve("slurmctld", "slurmctld", "-D")
        for node in ("n1", "n2"):
            self.start_node(node)
        if not wait_until(lambda: self.ask("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == "2", 120):
            self.close()
            raise AssertionError("the nodes do not come up: " + (folder / "n1.log").read_text(encoding="utf-8"))

    def serve(self, name: str, *words: str) -> None:
        with (self.folder / f"{name}.out").open("wb") as out:
            self.servers[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                  env={**os.environ, **self.environment})

    def start_node(self, node: str) -> None:
        self.serve(node, "slurmd", "-D", "-N", node)

    def ask(self, *words: str) -> str:
        return subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **self.environment}).stdout

    def close(self) -> None:
        self.ask("scancel", "--full", "--state=RUNNING", f"--user={os.environ.get('USER', 'root')}")
        for name in ("n1", "n2", "slurmctld", "munged"):
            server = self.servers[name]
            server.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(10)
            server.kill()
            server.wait()


@unittest.skipIf(MISSING, f"no {', '.join(MISSING)} here (slurm-wlm of packaging/debian.txt)")
@unittest.skipIf(os.geteuid() != 0, "slurmd requires root")
class SlurmSweep(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="zeus-sweep-slurm-")
        cls.addClassCleanup(temporary.cleanup)
        cls.path = pathlib.Path(temporary.name)
        cls.cluster = Cluster(cls.path / "cluster")
        cls.addClassCleanup(cls.cluster.close)

    def folder(self, queue: str, name: str, hosts: str = "- h\n") -> Folder:
        return Folder(program, self.path / name, hosts, queue, self.cluster.environment)

    def test_one_task(self):
        folder = self.folder("- echo hi; exit 3\n", "one")
        done = folder.run("queue", "--engine", "slurm", patience=300)
        self.assertEqual(done.returncode, 1, done.stderr)
        (run,) = folder.results()
        self.assertEqual((run["state"], run["exit_code"], folder.output(1)), ("failed", 3, "hi\n"))
        self.assertIn(run["host"], ("n1", "n2"))

    def test_many_give_the_same_results_as_here(self):
        found = []
        for engine in ("local", "slurm"):
            folder = self.folder(QUEUE, f"many-{engine}", "- hostname: h\n  slots: 2\n")
            done = folder.run("queue", "--engine", engine)
            self.assertEqual(done.returncode, 1, done.stderr)
            found.append([(run["command"], run["state"], run["exit_code"], run["epochs"], run["metric"], folder.output(run["run"]))
                          for run in folder.results()])
        self.assertEqual(len(found[0]), 12)
        self.assertEqual(*found)

    def test_runs_have_their_gpus_by_lease(self):
        folder = self.folder("- command: sleep 0.5\n  zeus: {gpus: 1, power_limits: [120, 160], repetitions: 2}\n", "gpus")
        done = folder.run("queue", "--engine", "slurm", before=(program, "virtual", "2xV100", "--load", "constant:300W", "--"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for run in folder.results():
            limit = float(run["parameters"]["power_limit"])
            self.assertEqual(run["gpus"][0]["limit_w"], limit)
            self.assertAlmostEqual(run["energy_j"]["value"], limit * run["time_s"], delta=0.03 * limit * run["time_s"])

    def test_a_sweep_that_was_killed_collects_what_ended_without_it(self):
        folder = self.folder("- command: sleep 2; echo {{ x }}\n  x: [1, 2]\n", "killed")
        sweep = folder.start("queue", "--engine", "slurm")
        self.assertTrue(wait_until(lambda: list(folder.path.glob("slurm/*/job"))))
        sweep.kill()
        sweep.communicate()
        self.assertEqual([run["state"] for run in folder.results()], ["running"] * 2)
        refused = folder.run("queue", "--engine", "local")
        self.assertIn("run 1 is in Slurm; `zeus sweep queue --engine slurm` goes on with it", refused.stderr)
        time.sleep(3)
        done = folder.run("queue", "--engine", "slurm")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(run["state"], folder.output(run["run"])) for run in folder.results()], [("done", "1\n"), ("done", "2\n")])

    def test_what_slurm_ends_is_failed_and_what_dies_silently_is_lost(self):
        mark = f"slurm-mark-{os.getpid()}"
        folder = self.folder(f"- command: sh -c 'sleep 600; true' {mark}-{{{{ x }}}}\n  x: [cancelled, silent]\n", "ended")
        sweep = folder.start("queue", "--engine", "slurm")
        self.assertTrue(wait_until(lambda: processes_with(f"{mark}-cancelled") and processes_with(f"{mark}-silent")))
        (job,) = (file.read_text(encoding="utf-8").split(";")[0].strip() for file in folder.path.glob("slurm/*/job"))
        self.cluster.ask("scancel", f"{job}_0")
        # The first is the run's own; the one that it has started watches over the command, and ends it.
        os.kill(min(pid for pid in processes_with("sweep\0run") if is_of_task(pid, 1)), signal.SIGKILL)
        _, errors = sweep.communicate(timeout=100)
        self.assertEqual(sweep.returncode, 1, errors)
        cancelled, silent = folder.results()
        self.assertEqual(cancelled["state"], "failed", cancelled)
        self.assertEqual(silent["state"], "lost", silent)
        self.assertIn("Slurm has it no longer", silent["why"])
        self.assertTrue(wait_until(lambda: not processes_with(mark)), processes_with(mark))

    def test_a_node_that_dies_loses_its_runs_and_no_other(self):
        nap = f"15.{os.getpid()}"
        folder = self.folder(f"- command: sleep {nap}; echo {{{{ x }}}}\n  x: [1, 2, 3, 4]\n", "node")
        sweep = folder.start("queue", "--engine", "slurm")
        self.assertTrue(wait_until(lambda: len(processes_with(f"sleep\0{nap}")) == 4))
        victim = self.cluster.servers["n2"]
        for pid in [victim.pid, *processes_with("slurmstepd"), *processes_with("sweep\0run")]:
            with contextlib.suppress(OSError):
                if pid == victim.pid or b"SLURMD_NODENAME=n2\0" in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                    os.kill(pid, signal.SIGKILL)
        victim.wait()
        _, errors = sweep.communicate(timeout=110)
        self.cluster.start_node("n2")
        states = [run["state"] for run in folder.results()]
        self.assertEqual((sweep.returncode, sorted(states)), (1, ["done", "done", "lost", "lost"]), errors)
        self.assertTrue(wait_until(lambda: self.cluster.ask("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == "2"))

    def test_what_sbatch_refuses_is_given_in_its_own_words(self):
        folder = self.folder("- command: echo\n  zeus: {gpus: 7}\n", "refused")
        done = folder.run("queue", "--engine", "slurm")
        self.assertEqual(done.returncode, 1)
        self.assertIn("sbatch refuses: sbatch: error: Batch job submission failed", done.stderr)
        # They are submitted at the next start.
        self.assertEqual([run["state"] for run in folder.results()], ["running"])


# `sbatch` for a test: the sweep gets a Ctrl-C while it submits.
INTERRUPTED = """#!/bin/sh
while [ ! -s {path}/pid ]; do sleep 0.02; done
kill -INT $(cat {path}/pid)
echo 1
"""


class SlowSlurm(unittest.TestCase):
    def test_an_interrupt_submits_nothing_more(self):
        with tempfile.TemporaryDirectory(prefix="zeus-sweep-slurm-") as name:
            path = pathlib.Path(name)
            (path / "sbatch").write_text(INTERRUPTED.format(path=path), encoding="utf-8")
            (path / "sbatch").chmod(0o755)
            folder = Folder(program, path / "sweep", "- h\n", "- echo one\n- echo two\n", {"PATH": f"{path}:{os.environ['PATH']}"})
            sweep = folder.start("queue", "--engine", "slurm")
            (path / "pid.new").write_text(str(sweep.pid), encoding="utf-8")
            (path / "pid.new").rename(path / "pid")
            _, errors = sweep.communicate(timeout=60)
            self.assertEqual(sweep.returncode, 1, errors)
            self.assertIn("1 runs stay in Slurm", errors)
            self.assertIn("echo two", (folder.path / "queue.yaml").read_text(encoding="utf-8"))

    def test_a_task_that_a_signal_reaches_after_its_command_writes_its_end(self):
        with tempfile.TemporaryDirectory(prefix="zeus-sweep-slurm-") as name:
            path, nap = pathlib.Path(name), f"60.{os.getpid()}"
            (path / "sbatch").write_text("#!/bin/sh\necho 1\n", encoding="utf-8")
            (path / "sbatch").chmod(0o755)
            folder = Folder(program, path / "sweep", "- h\n", f"- exec sleep {nap}\n",
                            {"PATH": f"{path}:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": "0"})
            sweep = folder.start("queue", "--engine", "slurm")
            self.assertTrue(wait_until(lambda: list(folder.path.glob("slurm/*/job"))))
            sweep.send_signal(signal.SIGINT)
            sweep.communicate(timeout=60)
            (array,) = folder.path.glob("slurm/*")
            # Slurm sends its signal to one process of a job after another.
            for milliseconds in range(0, 40, 8):
                task = subprocess.Popen((program, "virtual", "1xA100", "--load", "constant:200W", "--", program, "sweep", "run",
                                         "--task", str(array)), env=folder.environment)
                self.assertTrue(wait_until(lambda: processes_with(f"sleep\0{nap}")))
                os.kill(*processes_with(f"sleep\0{nap}"), signal.SIGTERM)
                time.sleep(milliseconds / 1000)
                task.terminate()
                task.wait()
                self.assertIn('"exit_code":143', (array / "0.end").read_text(encoding="utf-8"), f"{milliseconds} ms later")
                (array / "0.end").unlink()


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()

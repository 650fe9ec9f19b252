"""`zeus sweep` on this machine and over real servers of OpenSSH: what runs where, what is measured, and what is refused.

  sweep_test.py PROGRAM
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from sweep_stand import SSHD, Folder, processes_with, ssh_hosts, wait_until

program = ""

# The four shapes of queues that users know.
CROSSED_HOSTS = "- hostname: [h1, h2]\n  container: [gpu0, gpu1]\n"
CROSSED_QUEUE = "- command:\n    - echo run {{ container }} --bs {{ bs }}\n  bs: [8, 16, 32, 64]\n"
NAP_HOSTS = "- hostname: [h1, h2]\n  nap: [1]\n- hostname: [h3]\n  nap: [2]\n"
NAP_QUEUE = """- echo hi from {{ hostname }}
- command:
    - for i in $(seq {{ low }} {{ high }}); do echo $i; sleep 0.0{{ nap }}; done
    - echo bye from {{ hostname }}
  low: [1, 2]
  high: [3, 4]
"""
GPU_QUEUE = """- command: "sleep 0.3; echo sees $CUDA_VISIBLE_DEVICES; {program} devices --json"
  zeus: {{gpus: 1, power_limits: [125, 150, 175], repetitions: 2}}
"""


def overlap(folder: Folder) -> int:
    """The most runs that were under way at a time."""
    now = most = 0
    for event in folder.ledger():
        now += {"started": 1, "ended": -1}.get(event["kind"], 0)
        most = max(most, now)
    return most


class SweepCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="zeus-sweep-test-")
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name)

    def folder(self, hosts: str, queue: str, name: str = "sweep", environment: dict[str, str] | None = None) -> Folder:
        return Folder(program, self.path / name, hosts, queue, environment)

    def shapes(self, hosts_key: str, *words: str, environment: dict[str, str] | None = None):
        crossed = self.folder(CROSSED_HOSTS.replace("]\n  cont", "]\n" + hosts_key + "  cont"), CROSSED_QUEUE, "crossed", environment)
        done = crossed.run("queue", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = crossed.results()
        self.assertEqual({re.sub(r"gpu\d", "", run["command"]) for run in runs}, {f"echo run  --bs {bs}" for bs in (8, 16, 32, 64)})
        self.assertEqual(len({run["place"] for run in runs}), 4)
        self.assertEqual(overlap(crossed), 4)

        napping = self.folder(NAP_HOSTS.replace("]\n  nap", "]\n" + hosts_key + "  nap"), NAP_QUEUE, "napping", environment)
        done = napping.run("queue", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = napping.results()
        self.assertEqual(len(runs), 9)
        for run in runs:
            if "seq" in run["command"]:
                low, high = (int(run["parameters"][name]) for name in ("low", "high"))
                self.assertEqual(napping.output(run["run"]), "".join(f"{i}\n" for i in range(low, high + 1)))
            else:
                self.assertIn(f"from {run['host']}\n", napping.output(run["run"]))
        self.assertEqual(overlap(napping), 3)

        broadcast = self.folder(NAP_HOSTS.replace("]\n  nap", "]\n" + hosts_key + "  nap"), "- echo one {{ hostname }}\n- echo two\n", "broadcast",
                                environment)
        done = broadcast.run("broadcast", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([run["command"] for run in broadcast.results()], ["echo one h1", "echo one h2", "echo one h3"] + ["echo two"] * 3)
        events = [(event["kind"], event["run"]) for event in broadcast.ledger() if "run" in event]
        self.assertLess(max(events.index(("ended", run)) for run in (1, 2, 3)), min(events.index(("started", run)) for run in (4, 5, 6)))


class LocalSweep(SweepCase):
    def test_the_shapes_that_users_know(self):
        self.shapes("", "--engine", "local")

    def test_a_run_has_its_gpu_and_limit_for_itself_and_leaves_nothing_set(self):
        folder = self.folder("- hostname: h\n  slots: 3\n", GPU_QUEUE.format(program=program))
        truth = self.path / "truth.json"
        script = f"{' '.join(folder.words('queue', '--engine', 'local'))} && exec {program} devices --json"
        done = subprocess.run([program, "virtual", "2xV100", "--load", "constant:300W", "--truth", str(truth), "--", "sh", "-c", script],
                              capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        for gpu in json.loads(done.stdout)["gpus"]:
            self.assertEqual(gpu["power_limit_w"]["enforced"], 250)
        runs = folder.results()
        self.assertEqual(len(runs), 6)
        used = {}
        for run in runs:
            with self.subTest(run=run["run"]):
                (gpu,) = run["gpus"]
                limit = float(run["parameters"]["power_limit"])
                self.assertEqual(gpu["limit_w"], limit)
                seen, _, devices = folder.output(run["run"]).partition("\n")
                self.assertEqual(seen, f"sees {gpu['uuid']}")
                (own,) = [one for one in json.loads(devices)["gpus"] if one["visible_as"] is not None]
                self.assertEqual((own["uuid"], own["power_limit_w"]["enforced"]), (gpu["uuid"], limit))
                energy = run["energy_j"]
                self.assertAlmostEqual(energy["value"], limit * run["time_s"], delta=0.02 * limit * run["time_s"] + 3 * energy["uncertainty"])
                used.setdefault(gpu["uuid"], []).append(run["started"])
        self.assertEqual(len(used), 2)

    def test_a_run_sees_no_gpu_of_the_vendor_that_it_has_none_of(self):
        up = f"{self.path}/up"
        # Each has one of the three, at the same time.
        apart = f"touch {up}-{{{{ x }}}}; while [ ! -e {up}-1 -o ! -e {up}-2 -o ! -e {up}-3 ]; do sleep 0.02; done; {program} devices --json"
        folder = self.folder("- hostname: h\n  slots: 3\n", f"- command: {apart}\n  x: [1, 2, 3]\n  zeus: {{gpus: 1}}\n"
                                                          f"- command: {program} devices --json\n  zeus: {{gpus: 3}}\n")
        done = folder.run("queue", "--engine", "local", before=(program, "virtual", "1xV100,2xH100@amd", "--"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for run in folder.results():
            with self.subTest(run=run["run"]):
                visible = [gpu["uuid"] for gpu in json.loads(folder.output(run["run"]))["gpus"] if gpu["visible_as"] is not None]
                self.assertEqual(sorted(visible), sorted(gpu["uuid"] for gpu in run["gpus"]))

    def test_a_second_sweep_on_the_host_waits_and_names_the_process(self):
        # The first goes on once the second has said that it waits.
        up, go, said = (self.path / name for name in ("up", "go", "said"))
        first = self.folder("- h\n", f"- command: touch {up}; while [ ! -e {go} ]; do sleep 0.05; done\n  zeus: {{gpus: 1}}\n", "first")
        second = self.folder("- h\n", "- command: 'true'\n  zeus: {gpus: 1}\n", "second")
        script = (f"{' '.join(first.words('queue', '--engine', 'local'))} & while [ ! -e {up} ]; do sleep 0.05; done; "
                  f"{' '.join(second.words('queue', '--engine', 'local'))} 2>{said} & second=$!; "
                  f"timeout 60 sh -c 'while ! grep -q waits {said}; do sleep 0.05; done'; touch {go}; "
                  f"wait $second; code=$?; wait; cat {said} >&2; exit $code")
        done = subprocess.run([program, "virtual", "1xV100", "--load", "constant:100W", "--", "sh", "-c", script], capture_output=True,
                              text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"zeus: run 1 on h waits: .*GPU 0.*process \d+ \(zeus\)")
        self.assertEqual([run["state"] for run in first.results() + second.results()], ["done", "done"])

    def test_a_metric_is_that_of_the_epoch_whose_line_it_follows(self):
        commands = ("for e in 1 2 3; do echo epoch $e; echo acc 0.$e; done", "for e in 1 2 3; do echo acc 0.$e; echo epoch $e; done; echo acc 0.9")
        folder = self.folder("- hostname: h\n", "".join(
            f"- command: {command}\n  zeus: {{epoch_regex: '^epoch', metric_regex: 'acc ([0-9.]+)'}}\n" for command in commands))
        self.assertEqual(folder.run("queue", "--engine", "local").returncode, 0)
        ends = [event["figures"]["metrics"] for event in folder.ledger() if event["kind"] == "ended"]
        self.assertEqual(ends, [[0.1, 0.2, 0.3]] * 2)

    def test_runs_that_share_a_gpu_are_named(self):
        folder = self.folder("- hostname: h\n  slots: 2\n", f"- command: touch {self.path}/{{{{ x }}}}; while [ ! -e {self.path}/1 -o ! -e "
                             f"{self.path}/2 ]; do sleep 0.02; done\n  x: [1, 2]\n- command: 'true'\n  slots: 2\n")
        subprocess.run([program, "virtual", "1xV100", "--", *folder.words("queue", "--engine", "local", "--quiet")], check=True, timeout=120)
        self.assertEqual([run["runs_beside"] for run in folder.results()], [[2], [1], []])
        self.assertIn("  2 runs shared a GPU with others at the same time, and have the energy of these in theirs", folder.run("results").stdout)

    def test_epochs_and_metrics_become_traces(self):
        script = "for e in 1 2 3; do sleep 0.1; echo epoch $e acc 0.{{ batch_size }}$e; done"
        folder = self.folder("- h\n", f"- command: {script}\n  batch_size: [4, 8]\n  zeus: {{gpus: 1, power_limits: [100, 200], "
                                      "epoch_regex: '^epoch', metric_regex: 'acc ([0-9.]+)', target_metric: 0.82}\n")
        done = folder.run("queue", "--engine", "local", before=(program, "virtual", "1xV100", "--load", "constant:300W", "--"))
        self.assertEqual(done.returncode, 0, done.stderr)
        traces = folder.run("traces", "--output", str(self.path))
        self.assertEqual(traces.returncode, 0, traces.stderr)
        train = (self.path / "summary_train.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(train[1:], ["sweep,sweep,4,sweep,0,1,0.82,", "sweep,sweep,4,sweep,0,2,0.82,", "sweep,sweep,8,sweep,0,1,0.82,2",
                                     "sweep,sweep,8,sweep,0,2,0.82,2"])
        power = self.path / "summary_power_tesla_v100_pcie_32gb.csv"
        rows = [line.split(",") for line in power.read_text(encoding="utf-8").splitlines()[1:]]
        self.assertEqual([(row[2], row[4]) for row in rows], [("4", "100"), ("4", "200"), ("8", "100"), ("8", "200")])
        for row in rows:
            # An epoch of 0.1 s has wide edges on a machine that pauses.
            self.assertAlmostEqual(float(row[6]), float(row[4]), delta=0.3 * float(row[4]), msg=folder.results())
        decided = subprocess.run([program, "simulate", "job", "--train-trace", str(self.path / "summary_train.csv"), "--power-trace",
                                  str(power), "--dataset", "sweep", "--network", "sweep", "--optimizer", "sweep", "--target-metric",
                                  "0.82", "--max-epochs", "3", "--default-batch-size", "8", "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(decided.returncode, 0, decided.stderr)
        self.assertEqual(json.loads(decided.stdout)["optimum"]["batch_size"], 8)

    def test_failures_and_losses_differ_and_the_rest_goes_on(self):
        folder = self.folder("- h\n", "- exit 3\n- kill -9 $$\n- kill -9 $PPID; sleep 5\n- echo fine\n")
        done = folder.run("queue", "--engine", "local")
        self.assertEqual(done.returncode, 1)
        runs = folder.results()
        self.assertEqual([(run["state"], run["exit_code"]) for run in runs], [("failed", 3), ("failed", 137), ("lost", None), ("done", 0)])
        self.assertIn("its process at the host ended with code 137 and no result", runs[2]["why"])
        again = folder.run("queue", "--engine", "local")
        self.assertEqual((again.returncode, len(folder.results())), (0, 4))

    def test_stop_at_failure_leaves_the_rest_in_the_queue(self):
        folder = self.folder("- h\n", "- exit 3\n- echo later\n")
        self.assertEqual(folder.run("queue", "--engine", "local", "--stop-at-failure").returncode, 1)
        self.assertEqual((folder.path / "queue.yaml").read_text(encoding="utf-8"), "- command: echo later\n")

    def test_an_interrupt_starts_nothing_more_and_a_second_one_ends_the_runs(self):
        mark = f"sweep-mark-{os.getpid()}"
        folder = self.folder("- h\n", f"- sh -c 'sleep 600' {mark} & setsid sh -c 'sleep 600' {mark} & sleep 600\n- echo later\n")
        sweep = folder.start("queue", "--engine", "local")
        self.assertTrue(wait_until(lambda: len(processes_with(mark)) >= 2))
        sweep.send_signal(signal.SIGINT)
        self.assertIn("nothing more is started; 1 runs go on", sweep.stderr.readline())
        sweep.send_signal(signal.SIGINT)
        _, errors = sweep.communicate(timeout=60)
        self.assertEqual(sweep.returncode, 1, errors)
        self.assertTrue(wait_until(lambda: not processes_with(mark)), processes_with(mark))
        (run,) = folder.results()
        self.assertEqual((run["state"], run["why"]), ("lost", "the sweep was told to end"))
        self.assertIn("later", (folder.path / "queue.yaml").read_text(encoding="utf-8"))

    def test_an_interrupt_lets_runs_end_also_if_a_failure_has_stopped_the_sweep_before(self):
        folder = self.folder("- hostname: h\n  slots: 2\n", "- while [ ! -e go ]; do sleep 0.02; done\n- exit 3\n- echo later\n")
        sweep = folder.start("queue", "--engine", "local", "--stop-at-failure", cwd=self.path)
        self.assertIn("run 2 on h failed", sweep.stderr.readline())
        sweep.send_signal(signal.SIGINT)
        self.assertIn("nothing more is started; 1 runs go on", sweep.stderr.readline())
        (self.path / "go").touch()
        _, errors = sweep.communicate(timeout=60)
        self.assertEqual([run["state"] for run in folder.results()], ["done", "failed"], errors)

    def test_a_run_that_was_over_before_the_end_was_asked_for_is_whole(self):
        whole, left = (f"sweep-{name}-{os.getpid()}" for name in ("whole", "left"))
        # What it leaves behind is given a second.
        script = f"setsid sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' {left} & sleep 0.3; exit 3 # {whole}"
        folder = self.folder("- h\n", f"- {json.dumps(script)}\n")
        sweep = folder.start("queue", "--engine", "local")
        # A busy machine may look only when that second is over too.
        self.assertTrue(wait_until(lambda: not processes_with(whole) and (processes_with(left) or sweep.poll() is not None)))
        sweep.send_signal(signal.SIGTERM)
        _, errors = sweep.communicate(timeout=60)
        (run,) = folder.results()
        self.assertEqual((run["state"], run["why"]), ("failed", "its command exited with 3"), errors)
        self.assertEqual(sweep.returncode, 1)

    def test_the_queue_may_be_edited_and_locked_while_it_is_drained(self):
        folder = self.folder("- h\n", "- while [ ! -e go ]; do sleep 0.02; done\n- echo removed\n")
        sweep = subprocess.Popen(folder.words("queue", "--engine", "local"), cwd=self.path, stderr=subprocess.PIPE, text=True)
        self.assertTrue(wait_until(lambda: (folder.path / "output" / "000001.log").exists()))
        with subprocess.Popen(["flock", str(folder.path / "queue.lock"), "sh", "-c", "echo held; exec cat"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as editor:
            self.assertEqual(editor.stdout.readline(), "held\n")
            (folder.path / "queue.yaml").write_text("- echo added\n", encoding="utf-8")
            (self.path / "go").touch()
            self.assertIn("run 1 on h is done", sweep.stderr.readline())
            self.assertIn("queue.lock is held", sweep.stderr.readline())
            editor.stdin.close()
        _, errors = sweep.communicate(timeout=60)
        self.assertEqual(sweep.returncode, 0, errors)
        self.assertEqual([run["command"] for run in folder.results()][1:], ["echo added"])

    def test_commands_arrive_as_they_are_written(self):
        words = ["echo \"a 'b' $((1 + 1))\"", "printf 'x\\ny\\n'", "cat; echo end", "echo \\{\\{"]
        folder = self.folder("- h\n", "".join(f"- {json.dumps(word)}\n" for word in words) + "- |\n  echo one\n  echo two\n")
        self.assertEqual(folder.run("queue", "--engine", "local").returncode, 0)
        self.assertEqual([folder.output(run) for run in range(1, 6)], ["a 'b' 2\n", "x\ny\n", "end\n", "{{\n", "one\ntwo\n"])

    def test_what_cannot_be_is_refused_in_a_sentence_and_the_queue_left_as_it_was(self):
        cases = {
            "- {{ x }}\n": "a key is not a word",
            "- echo {{ size }}\n": "no parameter is called 'size'",
            "- &a x\n- *a\n": "anchors and aliases are not read here",
            "- command: a\n  slots: 2\n": "asks for 2 slots, and no host has more than 1",
            "- command: a\n  zeus: {power_limits: [100]}\n": "asks for power limits or clocks, and for no GPU",
            "- command: a\n  zeus: {epoch_regex: '('}\n": "is not a regular expression",
        }
        for number, (queue, message) in enumerate(cases.items()):
            with self.subTest(queue=queue):
                folder = self.folder("- h\n", queue, f"case{number}")
                done = folder.run("queue", "--engine", "local")
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual((folder.path / "queue.yaml").read_text(encoding="utf-8"), queue)
        empty = self.path / "empty"
        empty.mkdir()
        done = subprocess.run([program, "sweep", "queue", "--folder", str(empty)], capture_output=True, text=True, check=False)
        self.assertIn("there is no queue.yaml", done.stderr)

    def test_more_gpus_than_the_host_has_and_none_at_all_fail_the_run(self):
        folder = self.folder("- h\n", "- command: a\n  zeus: {gpus: 3}\n")
        folder.run("queue", "--engine", "local", before=(program, "virtual", "2xV100", "--"))
        (run,) = folder.results()
        self.assertEqual((run["state"], run["exit_code"]), ("failed", None))
        self.assertIn("the run asks for 3 GPUs, and this host shows 2", run["why"])


# `ssh` for a test: the host `h1` starts no run and answers its second question only once the test allows it, with a refusal.
DYING = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
case "$2:$3" in
h1:*--version)
  [ -e {path}/asked ] || {{ touch {path}/asked; exec sh -c "$3"; }}
  touch {path}/asked-again
  while [ ! -e {path}/known ]; do sleep 0.02; done
  echo no route to it >&2
  exit 255 ;;
h1:*run) exit 255 ;;
*:?*) exec sh -c "$3" ;;
esac
"""


class DyingHost(SweepCase):
    def test_the_others_go_on_while_it_is_found_out_whether_a_host_is_away(self):
        (self.path / "ssh").write_text(DYING.format(path=self.path), encoding="utf-8")
        (self.path / "ssh").chmod(0o755)
        go = self.path / "go"
        folder = self.folder("".join(f"- hostname: {host}\n  zeus: {{program: {program}}}\n" for host in ("h1", "h2")),
                             f"- echo one\n- while [ ! -e {go} ]; do sleep 0.02; done\n- echo three\n",
                             environment={"PATH": f"{self.path}:{os.environ['PATH']}"})
        sweep = folder.start("queue")
        self.assertTrue(wait_until((self.path / "asked-again").exists))
        go.touch()
        try:
            self.assertTrue(wait_until(lambda: [event["run"] for event in folder.ledger() if event["kind"] == "ended"] == [1, 2, 3]))
        finally:
            (self.path / "known").touch()
            _, errors = sweep.communicate(timeout=100)
        self.assertIn("the host h1 is left out from here on: it cannot be reached: no route to it", errors)
        self.assertEqual([(run["host"], run["state"]) for run in folder.results()], [("h1", "lost"), ("h2", "done"), ("h2", "done")])


@unittest.skipIf(SSHD is None, "no sshd here (openssh-server of packaging/debian.txt)")
class SshSweep(SweepCase):
    def test_the_shapes_that_users_know(self):
        with ssh_hosts(self.path / "ssh", 3) as hosts:
            self.shapes(f"  zeus: {{program: {program}}}\n", environment=hosts.environment)
        # A process that was ended shows its command for a moment still.
        self.assertTrue(wait_until(lambda: not [pid for pid in processes_with(str(self.path)) if pid != os.getpid()]))

    def test_a_lost_connection_loses_the_run_and_ends_it_at_the_host(self):
        mark = f"sweep-mark-{os.getpid()}"
        with ssh_hosts(self.path / "ssh", 1) as hosts:
            folder = self.folder(f"- hostname: h1\n  zeus: {{program: {program}}}\n", f"- sh -c 'sleep 600; true' {mark}\n- echo next\n",
                                 environment=hosts.environment)
            sweep = folder.start("queue")
            self.assertTrue(wait_until(lambda: processes_with(mark)))
            listener = hosts.servers[0].pid
            for connection in pathlib.Path(f"/proc/{listener}/task/{listener}/children").read_text(encoding="ascii").split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(connection), signal.SIGKILL)
            _, errors = sweep.communicate(timeout=100)
            self.assertTrue(wait_until(lambda: not processes_with(mark)), processes_with(mark))
            runs = folder.results()
            self.assertEqual([run["state"] for run in runs], ["lost", "done"], errors)

    def test_hosts_that_cannot_be_used_are_left_out_with_the_reason(self):
        with ssh_hosts(self.path / "ssh", 4) as hosts:
            (self.path / "old").write_text("#!/bin/sh\necho zeus 0.0.9\n", encoding="utf-8")
            (self.path / "old").chmod(0o755)
            known = self.path / "ssh" / "known"
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.path / "other")], check=True)
            key = (self.path / "other.pub").read_text(encoding="utf-8")
            known.write_text(f"[127.0.0.4]:{hosts.ports[3]} {key}", encoding="utf-8")
            folder = self.folder(f"- hostname: h1\n  zeus: {{program: {program}}}\n- hostname: h2\n  zeus: {{program: {self.path}/old}}\n"
                                 f"- hostname: h3\n  zeus: {{program: /nowhere/zeus}}\n- h4\n- no-such-host.invalid\n",
                                 "- echo one\n- echo two\n", environment=hosts.environment)
            done = folder.run("queue")
        self.assertEqual(done.returncode, 1)
        for host, reason in {"h2": "says 'zeus 0.0.9'", "h3": "has no program '/nowhere/zeus'", "h4": "it cannot be reached: .*[Hh]ost key",
                             "no-such-host.invalid": "it cannot be reached: .*resolve"}.items():
            self.assertRegex(done.stderr, rf"zeus: the host {host} is left out: .*{reason}")
        self.assertEqual([(run["host"], run["state"]) for run in folder.results()], [("h1", "done")] * 2)

    def test_without_a_host_the_queue_is_left_as_it_was(self):
        with ssh_hosts(self.path / "ssh", 1) as hosts:
            folder = self.folder("- no-such-host.invalid\n", "- echo one\n", environment=hosts.environment)
            done = folder.run("queue")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no host can be used; the queue is as it was", done.stderr)
        self.assertEqual((folder.path / "queue.yaml").read_text(encoding="utf-8"), "- echo one\n")


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()

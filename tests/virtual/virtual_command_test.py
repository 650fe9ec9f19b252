"""`zeus virtual` from the user's side: the command's exit code, signals, true energies, errors, named sessions, and the
speed of a followed workload.

  virtual_command_test.py PROGRAM          ZEUS_UPDATE_GOLDEN=1 writes the golden file again
"""

import contextlib
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "cli" / "virtual_errors.txt"
program = ""

# Refusals, each with its exit code and the one line on stderr, relative to a folder with the files of `setUp`.
BAD = [
    ["1000000xA100", "--", "true"],
    ["2xB9000", "--", "true"],
    ["", "--", "true"],
    ["1xA100@gain=loud", "--", "true"],
    ["1xA100", "--load", "square:300-80W,200ms", "--", "true"],
    ["1xA100", "--load", "constant:-5W", "--", "true"],
    ["1xA100", "--load", "missing.csv", "--", "true"],
    ["1xA100", "--load", "broken.csv", "--", "true"],
    ["1xA100", "--load", "follow:dreaming", "--", "true"],
    ["1xA100", "--faults", "missing.txt", "--", "true"],
    ["1xA100", "--faults", "broken.txt", "--", "true"],
    ["1xA100", "--truth", "/dev/null", "--", "true"],
    ["1xA100", "--session", "a/b", "--", "true"],
    ["1xA100"],
]

# Sets the limit of the first GPU to this many watts, unless that is 0, and prints it; in a grandchild without our
# files.
LIMIT = """
import subprocess, sys
subprocess.run([sys.executable, "-c", '''
import ctypes
v = ctypes.CDLL("libnvidia-ml.so.1")
d, l = ctypes.c_void_p(), ctypes.c_uint()
assert v.nvmlInit_v2() == 0
assert v.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(d)) == 0
if {0}: assert v.nvmlDeviceSetPowerManagementLimit(d, {0} * 1000) == 0
v.nvmlDeviceGetPowerManagementLimit(d, ctypes.byref(l))
print(l.value)
'''], check=True)
"""

# Prints the results of each vendor's library for initialising, reading the limit of its first GPU, and setting it: for
# us, and then for another user without our files.
BOTH_USERS = """
import ctypes, os
def show():
    v = ctypes.CDLL("libnvidia-ml.so.1")
    d, l = ctypes.c_void_p(), ctypes.c_uint()
    print(v.nvmlInit_v2(), v.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(d)),
          v.nvmlDeviceGetPowerManagementLimit(d, ctypes.byref(l)), l.value,
          v.nvmlDeviceSetPowerManagementLimit(d, 150000), v.nvmlDeviceResetGpuLockedClocks(d), flush=True)
    v = ctypes.CDLL("libamd_smi.so")
    s, p, n = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint(1)
    print(v.amdsmi_init(ctypes.c_uint64(2)), v.amdsmi_get_socket_handles(ctypes.byref(n), ctypes.byref(s)),
          v.amdsmi_get_processor_handles(s, ctypes.byref(n), ctypes.byref(p)),
          v.amdsmi_set_power_cap(p, 0, ctypes.c_uint64(150000000)), flush=True)
for user in (0, 65534):
    if os.fork() == 0:
        if user:
            os.closerange(3, 1024)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        show()
        os._exit(0)
    os.wait()
"""
MAY = ["0 0 0 220000 0 0", "0 0 0 0"]
MAY_READ = ["0 0 0 150000 4 4", "0 0 0 10"]


def virtual(*arguments: str, folder: str | None = None, timeout: float = 60) -> subprocess.CompletedProcess:
    return subprocess.run([program, "virtual", *arguments], capture_output=True, text=True, check=False, cwd=folder,
                          timeout=timeout)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


class VirtualCommand(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        (pathlib.Path(self.folder) / "broken.csv").write_text("seconds,watts\n0,80\n0,90\n", encoding="utf-8")
        (pathlib.Path(self.folder) / "broken.txt").write_text("lost gpu=0\nslow\n", encoding="utf-8")

    def test_bad_input_is_one_line_with_the_fix(self):
        lines = []
        for arguments in BAD:
            done = virtual(*arguments, folder=self.folder)
            with self.subTest(arguments=arguments):
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertEqual(done.stdout, "")
            shown = done.stderr.replace(os.path.realpath(self.folder), "FOLDER").replace(self.folder, "FOLDER")
            lines.append(f"$ zeus virtual {' '.join(arguments)}\n{shown}-> {done.returncode}\n")
        actual = "".join(lines)
        if os.environ.get("ZEUS_UPDATE_GOLDEN"):
            GOLDEN.write_text(actual, encoding="utf-8")
        self.assertEqual(GOLDEN.read_text(encoding="utf-8"), actual, "if the change is meant, run `make golden`")

    def test_exits_with_the_commands_code(self):
        self.assertEqual(virtual("1xA100", "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(virtual("1xA100", "--", "sh", "-c", "kill -TERM $$").returncode, 128 + signal.SIGTERM)
        self.assertEqual(virtual("1xA100", "--", "no-such-command").returncode, 127)
        self.assertEqual(virtual("1xA100", "--", "./broken.csv", folder=self.folder).returncode, 126)

    def test_passes_signals_on(self):
        # It waits for the signal itself: one that comes between a handler's last turn and a sleep would not end that sleep.
        code = ("import signal,sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, [15])\nprint('ready', flush=True)\n"
                "sys.exit(9 if signal.sigtimedwait([15], 60) else 1)")
        with subprocess.Popen([program, "virtual", "1xA100", "--", *python(code)], stdout=subprocess.PIPE) as running:
            running.stdout.readline()
            running.send_signal(signal.SIGTERM)
            self.assertEqual(running.wait(timeout=60), 9)

    def test_passes_standard_streams_through(self):
        done = subprocess.run([program, "virtual", "1xA100", "--", "cat"], input="text", capture_output=True, text=True,
                              check=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("text", ""))

    def test_writes_the_true_values(self):
        path = pathlib.Path(self.folder) / "truth.json"
        before = time.monotonic()
        done = virtual("1xV100", "--load", "constant:200W", "--truth", str(path), "--", "sleep", "0.5")
        after = time.monotonic()
        self.assertEqual(done.returncode, 0, done.stderr)
        (gpu,) = json.loads(path.read_text(encoding="utf-8"))["gpus"]
        points = gpu["energy_j"]
        self.assertEqual(points, sorted(points))
        self.assertTrue(before <= points[0][0] < points[-1][0] <= after)
        # 25 W until the command begins, 200 W from then on.
        loaded = [(j - i) / (b - a) for (a, i), (b, j) in zip(points, points[1:]) if b - a > 1e-3]
        for power in loaded:
            self.assertTrue(abs(power - 200) < 0.1 or abs(power - 25) < 0.1, loaded)
        self.assertGreater(points[-1][1], 200 * 0.45)

    def test_a_named_session_is_shared_and_kept_from_others(self):
        name = f"test-{os.getpid()}"
        with subprocess.Popen([program, "virtual", "1xV100", "--session", name, "--", "cat"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as first:
            first.stdin.write("ready\n")
            first.stdin.flush()
            first.stdout.readline()
            joined = virtual("1xV100", "--session", name, "--", *python(LIMIT.format(150)))
            again = virtual("1xV100", "--session", name, "--", *python(LIMIT.format(0)))
            other = virtual("2xV100", "--session", name, "--", "true")
            loaded = virtual("1xV100", "--session", name, "--load", "constant:90W", "--", "true")
            first.stdin.close()
        self.assertEqual((joined.returncode, joined.stderr), (0, ""))
        self.assertEqual(again.stdout, "150000\n", again.stderr)
        self.assertEqual(other.returncode, 125)
        self.assertIn(f"the session '{name}' is running with 1xV100, not 2xV100; ask for the same GPUs", other.stderr)
        self.assertEqual(loaded.returncode, 125)
        self.assertIn("leave --load, --faults and --shared out", loaded.stderr)
        self.assertEqual(virtual("2xV100", "--session", name, "--", "true").returncode, 0)

    def test_each_vendors_library_is_there_for_its_own_gpus_only(self):
        code = ("import ctypes\n"
                "print(ctypes.CDLL('libnvidia-ml.so.1').nvmlInit_v2(), ctypes.CDLL('libamd_smi.so').amdsmi_init(2))")
        for spec, answers in (("1xV100", "0 34\n"), ("1xA100@amd", "9 0\n"), ("1xA100@amd,1xV100", "0 0\n")):
            self.assertEqual(virtual(spec, "--", *python(code)).stdout, answers)

    def test_nothing_is_left_of_a_session(self):
        before = set(os.listdir("/dev/shm"))
        done = virtual("1xV100", "--", "sh", "-c", "echo $ZEUS_VIRTUAL_SESSION")
        process, _, _ = done.stdout.partition(":")
        self.assertFalse(os.path.exists(f"/proc/{process}"))
        left = set(os.listdir("/dev/shm")) - before  # other tests, at the same time, may have folders of their own there
        self.assertEqual([entry for entry in left if "zeus" in entry and not entry.startswith(("zeus-test-", "zeusd-"))], [])

    def test_a_command_that_follows_a_workload_runs_at_its_speed(self):
        """Its processor time shows it: at half the speed, it is half of the elapsed time. A busy machine can only reduce it."""
        code = ("import ctypes,os,time\n"
                "v=ctypes.CDLL('libnvidia-ml.so.1')\n"
                "class Truth(ctypes.Structure):\n"
                "  _fields_=[(n,ctypes.c_double) for n in 'time energy power work speed clock temperature'.split()]\n"
                "v.nvmlInit_v2()\n"
                "d=ctypes.c_void_p()\n"
                "v.nvmlDeviceGetHandleByIndex_v2(0,ctypes.byref(d))\n"
                "v.nvmlDeviceSetPowerManagementLimit(d,100000)\n"
                "time.sleep(0.2)\n"
                "a=Truth(); v.zeus_virtual_read_truth(0,ctypes.byref(a))\n"
                "ran=time.process_time()\n"
                "begin=time.monotonic()\n"
                "while time.monotonic()-begin<2.5: pass\n"
                "ran=(time.process_time()-ran)/(time.monotonic()-begin)\n"
                "b=Truth(); v.zeus_virtual_read_truth(0,ctypes.byref(b))\n"
                "print((b.work-a.work)/(b.time-a.time), ran, b.speed)\n")
        done = virtual("1xV100", "--load", "follow:cifar100", "--", *python(code))
        self.assertEqual(done.returncode, 0, done.stderr)
        work, ran, speed = map(float, done.stdout.split())
        self.assertLess(speed, 0.95)
        self.assertAlmostEqual(work, speed, delta=0.02)
        self.assertLess(ran, (speed + 1) / 2)

    def test_a_shell_with_job_control_does_not_see_its_commands_stop(self):
        process, terminal = pty.fork()
        if process == 0:
            os.execv(program, [program, "virtual", "1xV100@limit=100", "--load", "follow:cifar100", "--", "bash", "--norc", "-i"])
        os.write(terminal, f"'{program}' measure -- sh -c 'sleep 1; sleep 0.2'\nsleep 0.5\necho all $((1 + 1)) ran\nexit 3\n".encode())
        shown = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(terminal, 4096):
                shown += piece
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 3, shown)
        self.assertIn(b"all 2 ran", shown)
        self.assertNotIn(b"Stopped", shown)

    def test_a_followed_command_goes_on_when_we_are_killed(self):
        code = "import os,time\nprint(os.getpid(), flush=True)\ntime.sleep(60)"
        with subprocess.Popen([program, "virtual", "1xV100", "--load", "follow:cifar100", "--", *python(code)],
                              stdout=subprocess.PIPE, text=True) as running:
            process = int(running.stdout.readline())
            running.kill()
            running.wait()
        deadline = time.monotonic() + 60
        state = "T"
        while state == "T" and time.monotonic() < deadline:
            state = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            time.sleep(0.01)
        os.kill(process, signal.SIGKILL)
        self.assertNotEqual(state, "T")

    def test_what_is_root_only_may_be_read_by_others_and_set_by_root(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        spec = "1xA100@root-only@limit=220,1xA100@amd@root-only"
        done = virtual(spec, "--shared", "--", *python(BOTH_USERS))
        self.assertEqual(done.stdout.splitlines(), [*MAY, *MAY_READ], done.stderr)
        done = virtual(spec.replace("@root-only", ""), "--shared", "--", *python(BOTH_USERS))
        self.assertEqual(done.stdout.splitlines()[2:], ["0 0 0 150000 0 0", "0 0 0 0"], done.stderr)

    def test_a_session_that_is_not_shared_is_its_users_alone(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        done = virtual("1xA100@limit=220,1xA100@amd", "--", *python(BOTH_USERS))
        self.assertEqual(done.stdout.splitlines()[:2], MAY, done.stderr)
        self.assertTrue(done.stdout.splitlines()[2].startswith("9 "), "there is no driver: " + done.stdout)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()

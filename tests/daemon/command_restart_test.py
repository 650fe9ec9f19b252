"""A daemon without rights sets through commands, which ask a privileged helper. When it is killed, the settings stay, since
its guardian cannot run commands, until the next start or `zeusd restore` with the same options puts them back through
commands.

  zeus virtual '4xA100@root-only@limit=300' --shared --load constant:200W -- command_restart_test.py ZEUSD
    [--rounds N] [--seed S] [-k NAME]
"""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import fault_session
from daemon_session import NO_PERMISSION, SOMEBODY, ask, as_user, connection_to, guardians_of, refused_codes, until
from fault_session import GPUS, FaultCase, Process, WatchedDaemon, options

AS_SOMEBODY = ["setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups"]
COMMAND = """
[set_power_limit]
commands = ['''bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo "$0 $1" >&3 && read -r code <&3 && [ "$code" = 0 ]'
{{gpu_id}} {{power_limit_mw}}''']
timeout_s = 5
"""


class Helper:
    """Sets a GPU for every client: as root, which the daemon is not."""

    def __init__(self, driver) -> None:
        self.driver, self.calls = driver, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def finish(self) -> None:
        """Returns once all that has come until now is done: connections are served one after the other."""
        with socket.create_connection(("127.0.0.1", self.port)) as last:
            last.shutdown(socket.SHUT_WR)
            last.recv(1)

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                words = connection.recv(100).decode().split()
                if len(words) == 2:
                    gpu, limit = map(int, words)
                    self.calls.append((gpu, limit))
                    code = self.driver.tell("nvmlDeviceSetPowerManagementLimit", gpu, limit)
                    try:
                        connection.sendall(f"{code}\n".encode())
                    except OSError:
                        pass  # killed meanwhile


def set_limits(where, gpu: int) -> None:
    connection, limit = connection_to(where), 150
    while True:
        limit = 150 + (limit + 7) % 140
        try:
            ask(where, "POST", f"/gpu/set_power_limit?gpu_ids={gpu}&block=true&power_limit_mw={limit}000", connection=connection)
        except (OSError, fault_session.daemon_session.http.client.HTTPException):
            connection.close()
            time.sleep(0.05)


def is_run_for(port: int) -> bool:
    """Whether a command still runs that asks this helper."""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                if f"/dev/tcp/127.0.0.1/{port} ".encode() in (entry / "cmdline").read_bytes():
                    return True
    return False


class Commands(FaultCase):
    def daemon(self, helper: Helper) -> WatchedDaemon:
        daemon = WatchedDaemon(options.zeusd, groups=("gpu-control", "gpu-read"))
        for folder in (daemon.folder, daemon.state):
            os.chown(folder, SOMEBODY, SOMEBODY)
        self.overrides = daemon.folder / "overrides.toml"
        self.overrides.write_text(COMMAND.format(port=helper.port))
        daemon.words += ["--gpu-command-overrides", str(self.overrides)]
        daemon.words = [*AS_SOMEBODY, *daemon.words]
        self.addCleanup(lambda: daemon.__exit__())
        return self.look_at(daemon.start())

    def restore(self, daemon: WatchedDaemon) -> None:
        done = subprocess.run([*AS_SOMEBODY, options.zeusd, "restore", "--enable", "gpu-control,gpu-read",
                               "--gpu-command-overrides", str(self.overrides)], env=daemon.environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_after_a_kill_the_next_start_puts_back_by_commands(self):
        self.assertEqual(set(as_user(SOMEBODY, refused_codes)), {NO_PERMISSION}, "the driver refuses the daemon's user")
        helper = Helper(self.driver)
        self.addCleanup(helper.listener.close)
        daemon = self.daemon(helper)
        for number in range(options.rounds):
            self.clients = [Process(set_limits, daemon.socket, gpu) for gpu in range(GPUS)]
            until(lambda: all(now != before for now, before in zip(self.driver.settings(), self.found)), "they are set")
            time.sleep(self.random.uniform(0.0, 0.3))
            daemon.kill_whole()
            self.end_clients()
            until(lambda: not is_run_for(helper.port), "the commands are gone as well")
            helper.finish()
            time.sleep(0.3)  # the guardian's time
            self.assertTrue(all(now != before for now, before in zip(self.driver.settings(), self.found)),
                            "the guardian cannot run commands")
            self.changed += 1
            before = len(helper.calls)
            if number % 2 == 0:
                self.restore(daemon)
                self.assertEqual(self.driver.settings(), self.found, "after `zeusd restore`")
            daemon.start()
            self.assertEqual(self.driver.settings(), self.found, "before the next start answers")
            self.assertEqual(sorted(helper.calls[before:]), [(gpu, self.found[gpu][0]) for gpu in range(GPUS)],
                             "each by one command")
            left = [one for one in daemon.lines_of_runs()[-1] if one["outcome"] == "noted"]
            self.assertEqual(len(left), GPUS, "and it is noted")
            until(lambda: not guardians_of(daemon.state), "the guardian that could do nothing ends")
        self.assertEqual([one for one in self.log.all() if one.done and one.process != os.getpid()
                          and one.begun >= daemon.runs[0].begun], [], "nobody but the helper has set anything")
        self.report("zeusd and its setter are killed, and the commands with them")
        self.expect_nothing_left(daemon)
        self.assertEqual(daemon.stop(), 0)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    fault_session.main()

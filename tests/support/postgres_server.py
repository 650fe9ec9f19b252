"""A test's own PostgreSQL: in a temporary folder, only on a Unix socket, flushing as it would for users. If the test is
root, the server runs as another user, since it refuses to run as root.

  postgres_server.py          starts one and prints the folder of its socket; then, for each line of its input, does that:
                              "kill" (all its processes, by SIGKILL), "start", "stop" and "cont" (SIGSTOP, SIGCONT), and
                              prints "done". Ends, and the server with it, when its input does.

User zeus, who may do everything, needs no password; all others do.
"""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
PATIENCE_S = 60
# After a crash all of its files are flushed together, not one by one.
QUICKLY = ("-c", "recovery_init_sync_method=syncfs")


class PostgresServer:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zeus_postgres_"))
        self.as_whom = {}
        self.process = None
        if os.geteuid() == 0:
            other = pwd.getpwnam("nobody")
            self.as_whom = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
            os.chown(self.folder, other.pw_uid, other.pw_gid)
        self.folder.chmod(0o755)  # other users connect as well
        try:
            self.data = self.folder / "data"
            # This only affects the empty template; the server flushes all later writes.
            self.run("initdb", "--no-sync", "--username", "zeus", "--encoding", "UTF8", "--locale", "C", "--pgdata", self.data)
            rules = self.data / "pg_hba.conf"
            rules.write_text("local all zeus trust\nlocal all all scram-sha-256\n", encoding="ascii")
            self.start()
        except BaseException:
            self.remove()
            raise

    def run(self, program: str, *arguments) -> None:
        done = subprocess.run([PROGRAMS / program, *arguments], cwd=self.folder, capture_output=True, text=True, check=False,
                              timeout=PATIENCE_S, **self.as_whom)
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")

    def address(self, database: str, user: str = "zeus") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def create_database(self, name: str) -> str:
        self.run("createdb", "--host", self.folder, "--username", "zeus", name)
        return self.address(name)

    def sql(self, database: str, statement: str) -> None:
        self.run("psql", "--no-psqlrc", "--host", self.folder, "--username", "zeus", "--set", "ON_ERROR_STOP=1", "--command",
                 statement, database)

    def start(self) -> None:
        status = self.data / "postmaster.pid"
        # A killed server has left this file; its content is outdated.
        status.unlink(missing_ok=True)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            with open(self.folder / "log", "ab") as log:
                self.process = subprocess.Popen(
                    [PROGRAMS / "postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses=", "-c", "fsync=on",
                     "-c", "max_connections=50", "-c", "shared_buffers=16MB", *QUICKLY],
                    cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.as_whom)
            while self.process.poll() is None and time.monotonic() < deadline:
                try:
                    if "ready" in status.read_text(encoding="ascii").splitlines()[7]:
                        return
                except (FileNotFoundError, IndexError):
                    pass
                time.sleep(0.01)
            # The last processes of a killed server may still hold its shared memory.
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text(encoding="utf-8", errors="replace"))

    def processes(self) -> list[int]:
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        try:
            return [self.process.pid, *map(int, children.read_text(encoding="ascii").split())]
        except OSError:
            return [self.process.pid]

    def signal(self, number: int) -> None:
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait()

    def remove(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "PostgresServer":
        return self

    def __exit__(self, *_) -> None:
        self.remove()


def main() -> None:
    # Ending the test ends its processes too; this one ends with its input, and cleans up.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with PostgresServer() as server:
        work = {"kill": server.kill, "start": server.start, "stop": lambda: server.signal(signal.SIGSTOP),
                "cont": lambda: server.signal(signal.SIGCONT)}
        print(server.folder, flush=True)
        for line in sys.stdin:
            work[line.strip()]()
            print("done", flush=True)


if __name__ == "__main__":
    main()

"""zeus::Job and the C interface with a job that a server keeps: decided as in a store, and recorded once whenever the server
is killed, while the training goes on.

  kept_job_test.py ZEUS KEPT_JOB KEPT_JOB_IN_C [--kills N]
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import postgres_server  # noqa: E402

PATIENCE_S = 120
DEFAULTS = {"c++": 64, "c": 32}  # batch sizes of the two programs
zeus, programs, kills = "", {}, 3


class Server:
    """Restarted at the same address."""

    def __init__(self, folder: pathlib.Path, database: str = "", options: tuple[str, ...] = ()):
        self.folder, self.process, self.options = folder, None, options
        self.url = f"unix:{folder}/serve.sock"
        self.database = database or str(folder / "served.sqlite")
        self.start()

    def start(self) -> None:
        with open(self.folder / "serve.log", "ab") as log:
            self.process = subprocess.Popen([zeus, "serve", "--listen", self.url, "--database", self.database, *self.options],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout.readline(), (self.folder / "serve.log").read_text(encoding="utf-8")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(timeout=PATIENCE_S)
            self.process.stdout.close()
            self.process = None


class KeptJob(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.environment = {**{name: value for name, value in os.environ.items() if name not in ("ZEUS_SERVER", "ZEUS_TOKEN")},
                            "HOME": held.name, "XDG_DATA_HOME": str(self.folder / "data")}

    def serve(self, database: str = "", options: tuple[str, ...] = ()) -> Server:
        server = Server(self.folder, database, options)
        self.addCleanup(server.kill)
        return server

    def start(self, language: str, where: str, recurrences: int, *pace: str) -> subprocess.Popen:
        running = subprocess.Popen([programs[language], where, "job", str(recurrences), *pace], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(self.end, running)
        return running

    def end(self, running: subprocess.Popen) -> None:
        running.kill()
        with contextlib.suppress(ValueError):  # its output was read to the end
            running.communicate()

    def finish(self, running: subprocess.Popen, code: int = 0) -> tuple[list[str], str]:
        out, err = running.communicate(timeout=PATIENCE_S)
        self.assertEqual(running.returncode, code, err)
        return out.splitlines(), err

    def view(self, where: str) -> dict:
        done = subprocess.run([zeus, "jobs", "job", "--all", "--json", "--server" if ":" in where else "--store", where],
                              capture_output=True, text=True, check=False, env=self.environment, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def said(self, line: str) -> list[int]:
        word, *numbers = line.split()
        self.assertEqual(word, "epoch", line)
        return [int(number) for number in numbers]

    def forget(self, server: Server) -> None:
        subprocess.run([zeus, "jobs", "job", "forget", "--yes", "--server", server.url], check=True, capture_output=True,
                       env=self.environment)

    def decided(self, language: str, where: str) -> tuple[list[str], list[list]]:
        """What eight recurrences say, and what is on record."""
        said, _ = self.finish(self.start(language, where, 8, "0"))
        view = self.view(where)
        self.check_tries(view, said)
        keys = ("batch_size", "purpose", "outcome", "limit_w", "epochs", "cost_j")
        return said, [[one[key] for key in keys] for one in view["tries"]]

    def check_tries(self, view: dict, said: list[str], unrecorded: int = 0) -> None:
        """What the program says that it trained is on record, once and in order: all but trainings whose limits were measured
        and whose batch size was not the choice, and but for so many recurrences of which it says that they are not."""
        trained = []
        for line in said:
            if line.startswith("epoch"):
                batch_size, epoch = self.said(line)
                if epoch == 1:
                    trained.append([batch_size, 0])
                trained[-1][1] = epoch
        rest = iter(trained)
        for one in view["tries"]:
            self.assertIn([one["batch_size"], one["epochs"]], rest, trained)
        self.assertEqual([one["try"] for one in view["tries"]], list(range(1, len(view["tries"]) + 1)))
        ends = [line.split()[1] for line in said if line.startswith("recurrence")]
        # A server may record a beginning whose answer did not arrive.
        states = [one["state"] for one in view["recurrences"] if one["tries"] or not unrecorded]
        self.assertEqual(len(states) + unrecorded, len(ends))
        rest = iter(ends)
        for state in states:
            self.assertIn(state, rest)

    def test_it_is_decided_as_in_a_store(self):
        server = self.serve()
        for language in programs:
            with self.subTest(language):
                store = str(self.folder / f"{language}.sqlite")
                here = self.decided(language, store)
                for _ in range(5):
                    served = self.decided(language, server.url)
                    self.forget(server)
                    if served == here:
                        break  # if not, a busy server may have answered after half a second, for which no training waits
                self.assertEqual(served, here)

    def test_it_trains_on_while_the_server_is_away(self):
        for language in programs:
            with self.subTest(language):
                folder = self.folder / language
                folder.mkdir()
                server = Server(folder)
                self.addCleanup(server.kill)
                running = self.start(language, server.url, 1)
                said = [running.stdout.readline()]
                # From before the limits are measured, so that the decision within the training is missed too, until the user
                # has the model.
                server.kill()
                while not said[-1].startswith("model"):
                    running.stdin.write("\n")
                    running.stdin.flush()
                    said.append(running.stdout.readline())
                self.assertEqual([self.said(line)[1] for line in said[:-1]], list(range(1, len(said))))
                server.start()
                out, err = running.communicate("\n" * 1000, timeout=PATIENCE_S)
                self.assertEqual(running.returncode, 0, err)
                self.check_tries(self.view(server.url), [*(line.strip() for line in said), *out.splitlines()])

    def check_kills(self, language: str, rounds: int, database: str = "") -> None:
        server = self.serve(database)
        draws = random.Random(17)
        running = self.start(language, server.url, 4 + 2 * rounds, "20")
        for _ in range(rounds):
            time.sleep(draws.uniform(0.1, 1.2))
            server.kill()
            time.sleep(draws.uniform(0, 0.6))
            server.start()
        said, err = self.finish(running)
        view = self.view(server.url)
        # A recurrence that begins while the server is away for longer than a few seconds trains unrecorded, and says so.
        self.check_tries(view, said, unrecorded=len(re.findall("the training goes on, but is not recorded", err)))
        self.assertNotIn(None, [one["outcome"] for one in view["tries"]])
        exported = subprocess.run([zeus, "jobs", "job", "export", "--server", server.url], capture_output=True, text=True,
                                  check=True, env=self.environment).stdout
        kinds = [json.loads(line).get("kind") for line in exported.splitlines()]
        self.assertEqual(kinds.count("finished"), len(view["tries"]))

    def test_nothing_is_lost_or_recorded_twice_if_the_server_is_killed(self):
        self.check_kills("c++", kills)

    def test_nor_from_c(self):
        self.check_kills("c", max(1, kills // 3))

    def test_nor_on_postgresql(self):
        if not postgres_server.PROGRAMS.exists():
            self.skipTest("PostgreSQL is not installed")
        with postgres_server.PostgresServer() as database:
            self.check_kills("c++", max(1, kills // 3), database.create_database("jobs"))

    def test_it_trains_unrecorded_if_the_server_is_away_when_it_is_opened(self):
        for language in programs:
            with self.subTest(language):
                said, err = self.finish(self.start(language, f"unix:{self.folder}/none.sock", 1, "0"))
                self.assertEqual([line.split()[:2] for line in said[:-2]], [["epoch", str(DEFAULTS[language])]] * len(said[:-2]))
                self.assertGreater(len(said), 3)
                self.assertEqual(said[-2:], ["model", "recurrence reached"])
                self.assertEqual(len(err.splitlines()), 1, err)
                self.assertRegex(err, r"none\.sock.*the training goes on, but is not recorded")

    def test_it_trains_unrecorded_if_the_server_refuses_its_token(self):
        key = self.folder / "key"
        key.touch(0o600)
        key.write_bytes(bytes(range(64)))
        self.serve(options=("--signing-key-path", str(key)))
        for language in programs:
            with self.subTest(language):
                said, err = self.finish(self.start(language, f"unix:{self.folder}/serve.sock", 1, "0"))
                self.assertEqual(said[-2:], ["model", "recurrence reached"])
                self.assertEqual(len(err.splitlines()), 1, err)
                self.assertRegex(err, "token.*ZEUS_TOKEN.*the training goes on, but is not recorded")

    def test_it_is_recorded_again_once_the_server_is_back(self):
        for language in programs:
            with self.subTest(language):
                folder = self.folder / language
                folder.mkdir()
                running = self.start(language, f"unix:{folder}/serve.sock", 2)
                first = self.said(running.stdout.readline().strip())
                self.assertEqual(first, [DEFAULTS[language], 1])
                server = Server(folder)
                self.addCleanup(server.kill)
                out, err = running.communicate("\n" * 1000, timeout=PATIENCE_S)
                self.assertEqual(running.returncode, 0, err)
                self.assertIn("not recorded", err)
                view = self.view(server.url)
                self.assertEqual([one["state"] for one in view["recurrences"]], ["reached"])
                said = out.splitlines()
                self.check_tries(view, said[said.index("recurrence reached") + 1:])

    def test_the_environment_names_a_server_too(self):
        server = self.serve()
        self.environment["ZEUS_SERVER"] = server.url
        for language in programs:
            with self.subTest(language):
                self.finish(self.start(language, "", 1, "0"))
                self.assertEqual(len(self.view(server.url)["recurrences"]), 1)
                subprocess.run([zeus, "jobs", "job", "forget", "--yes"], check=True, capture_output=True, env=self.environment)

    def test_a_job_that_is_defined_differently_is_refused(self):
        server = self.serve()
        self.finish(self.start("c++", server.url, 1, "0"))
        _, err = self.finish(self.start("c", server.url, 1, "0"), code=1)
        self.assertIn("was defined differently", err)
        self.assertEqual(len(self.view(server.url)["recurrences"]), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("program")
    parser.add_argument("program_in_c")
    parser.add_argument("--kills", type=int, default=kills)
    asked, rest = parser.parse_known_args()
    zeus, kills = asked.zeus, asked.kills
    programs = {"c++": asked.program, "c": asked.program_in_c}
    unittest.main(argv=sys.argv[:1] + rest)

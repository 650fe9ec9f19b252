"""`zeus serve --pipeline-plan` as a process: what it refuses at the start, and what its end means for ranks that wait.

  pipelines_test.py PROGRAM
"""

import http.client
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import server_session as session

ZEUS = sys.argv.pop(1)
PLAN = "[[('forward', 1410), ('backward', 1200)], [('forward', 1305)]]"


class Pipelines(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "plan.py").write_text(PLAN, encoding="utf-8")

    def serve(self) -> session.Server:
        return session.Server(ZEUS, self.folder, "--pipeline-plan", str(self.folder / "plan.py"))

    def waiting_rank(self, server: session.Server) -> tuple[str, list, threading.Thread]:
        """A training of two ranks, one of which waits for the other: its ID, and the answer once it is there."""
        shape = {"job_id": "", "pp_degree": 2, "dp_degree": 1, "tp_degree": 1, "world_size": 2, "job_metadata": None}
        training = server.ask("POST", "/register_job", shape).json()
        place = {"rank": 0, "dp_rank": 0, "pp_rank": 0, "tp_rank": 0, "available_frequencies": [1410, 1200]}
        self.assertEqual(server.ask("POST", f"/register_rank/{training}", place).status, 200)
        answers: list = []
        sent = threading.Event()

        def wait() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=session.PATIENCE)
            try:
                connection.request("GET", f"/schedule/{training}?rank=0")
                sent.set()
                answer = connection.getresponse()
                answers.append((answer.status, answer.read().decode()))
            except (http.client.HTTPException, OSError) as error:
                answers.append((0, type(error).__name__))
            finally:
                connection.close()

        thread = threading.Thread(target=wait)
        thread.start()
        self.addCleanup(thread.join, session.PATIENCE)
        self.assertTrue(sent.wait(session.PATIENCE))
        self.assertEqual(server.ask("GET", "/healthz").status, 200)  # read after the rank's request, so that one waits now
        return training, answers, thread

    def test_a_file_that_is_no_plan_is_refused_with_one_line_and_nothing_in_it_runs(self) -> None:
        witness = self.folder / "witness"
        plan = {"time_s": 1, "energy_j": 1, "frequencies": [[["forward", 900]]]}
        for content in (f"[[('forward', open({str(witness)!r}, 'w').close() or 900)]]", "[[('forward', clock) for clock in (900,)]]",
                        "[" * 10_000_000, json.dumps({"plans": [plan, plan]}), "[[]]", "", "import os"):
            path = self.folder / "bad.py"
            path.write_text(content, encoding="utf-8")
            done = subprocess.run([ZEUS, "serve", "--database", self.folder / "jobs.sqlite", "--pipeline-plan", path], capture_output=True,
                                  text=True, check=False, timeout=60)
            with self.subTest(content[:60]):
                self.assertEqual(done.returncode, 1, done.stderr[-2000:])
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr[-2000:])
                self.assertIn("bad.py", done.stderr)
                self.assertLess(len(done.stderr), 1000)
        self.assertFalse(witness.exists())

    def test_results_may_have_more_than_a_mebibyte(self) -> None:
        with self.serve() as server:
            shape = {"job_id": "", "pp_degree": 2, "dp_degree": 1, "tp_degree": 1, "world_size": 2, "job_metadata": None}
            training = server.ask("POST", "/register_job", shape).json()
            place = {"rank": 0, "dp_rank": 0, "pp_rank": 0, "tp_rank": 0, "available_frequencies": [1410, 1200]}
            self.assertEqual(server.ask("POST", f"/register_rank/{training}", place).status, 200)
            runs = {"forward": [[0.0123456789012345] * 16] * 4_000, "backward": [[0.0123456789012345] * 16] * 4_000}
            result = {"rank": 0, "iter_time": [1.5], "iter_energy": [3.0], "time_breakdown": runs, "energy_breakdown": runs}
            body = json.dumps(result).encode()
            self.assertGreater(len(body), 3 << 20)
            sent = {"Content-Type": "application/json"}
            answer = server.ask("POST", f"/result/{training}", body, sent)
            self.assertEqual((answer.status, answer.json()), (200, None), answer)
            cut = server.ask("POST", f"/result/{training}", body[:-1], sent)
            self.assertEqual((cut.status, "not JSON" in cut.json()["detail"]), (400, True), cut)
            other = server.ask("POST", f"/result/{training}", body.replace(b'"rank": 0', b'"rank": 1'), sent)
            self.assertEqual(other.status, 409, other)

    def test_a_rank_that_waits_hears_of_the_end_of_the_server(self) -> None:
        with self.serve() as server:
            _, answers, thread = self.waiting_rank(server)
            server.process.send_signal(signal.SIGTERM)
            thread.join(session.PATIENCE)
            self.assertEqual(answers[0][0], 409, answers)
            self.assertIn("the server stops", answers[0][1])
            self.assertEqual(server.process.wait(session.PATIENCE), 0)

    def test_after_a_kill_a_rank_does_not_hang_and_a_new_server_says_what_to_do(self) -> None:
        with self.serve() as server:
            training, answers, thread = self.waiting_rank(server)
            server.kill()
            thread.join(session.PATIENCE)
            self.assertEqual(answers[0][0], 0, answers)
        with self.serve() as server:
            answer = server.ask("GET", f"/schedule/{training}?rank=0")
            self.assertEqual(answer.status, 404)
            self.assertIn("begin the training again", answer.body.decode())


if __name__ == "__main__":
    unittest.main()

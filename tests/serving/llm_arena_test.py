"""`zeus llm arena` in real time, with small served models on virtual GPUs: what its page may know before and after a vote, servers
that fail, several visitors at once, votes that outlive a kill, and requests that it refuses.

  llm_arena_test.py PROGRAM
"""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from typing import Callable

FOLDER = pathlib.Path(__file__).resolve().parent
program = ""

# Within `zeus virtual`: starts the servers and the arena, prints its port, process and the servers' processes and URLs, and ends them all
# when its input ends.
SESSION = """
import json, subprocess, sys
program, servers, options = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
started = [subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) for words in servers]
urls = ["http://127.0.0.1:" + one.stdout.readline().strip() for one in started]
arena = subprocess.Popen([program, "llm", "arena", "--a", urls[0], "--b", urls[1], "--listen", "127.0.0.1:0", *options],
                         stdout=subprocess.PIPE, text=True)
print(json.dumps({"said": arena.stdout.readline(), "arena": arena.pid, "servers": [one.pid for one in started], "urls": urls}), flush=True)
sys.stdin.read()
arena.terminate()
code = arena.wait()
for one in started:
    one.terminate()
    one.wait()
print(code, flush=True)
"""


class Arena:
    """One that runs until close()."""

    def __init__(self, folder: pathlib.Path, *options: str, a: tuple[str, ...] = (), b: tuple[str, ...] = (), spec: str = "2xA100") -> None:
        self.votes = folder / "votes.jsonl"
        self.logs = [folder / "log_a", folder / "log_b"]
        servers = [[str(FOLDER / "token_server.py"), str(log), *words] for log, words in zip(self.logs, (a, b))]
        for name, value in (("--max-tokens", "12"), ("--votes", str(self.votes))):
            options += () if name in options else (name, value)
        self.session = subprocess.Popen(
            [program, "virtual", spec, "--", sys.executable, "-c", SESSION, program, json.dumps(servers), json.dumps(options)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        begun = json.loads(self.session.stdout.readline())
        self.process, self.servers, self.urls = begun["arena"], begun["servers"], begun["urls"]
        assert begun["said"], "the arena does not begin"
        self.port = int(begun["said"].split(";")[0].rsplit(":", 1)[1])

    def close(self) -> int:
        with self.session:
            return int(self.session.communicate(timeout=60)[0].split()[-1])

    def request(self, method: str, path: str, body: object = None, headers: dict | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
            connection.request(method, path, data, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def ask(self, prompt: str = "Why?") -> list[dict]:
        status, text = self.request("POST", "/ask", {"prompt": prompt})
        assert status == 200, text
        return [json.loads(event[6:]) for event in text.split("\n\n") if event]

    def ask_and_read_a_piece(self, then: Callable[[], None] = lambda: None) -> None:
        """Leaves while the models answer, after `then`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", "/ask", b'{"prompt":"a"}')
            with connection.getresponse() as answer:
                answer.read(200)
                then()

    def vote(self, **what: object) -> tuple[int, dict]:
        status, text = self.request("POST", "/vote", what)
        return status, json.loads(text)

    def logged(self, side: int, kind: str) -> list[dict]:
        # A server sends an answer's end before it logs it; one that answers this has logged what was before.
        urllib.request.urlopen(f"{self.urls[side]}/v1/models", timeout=60).close()
        lines = [json.loads(line) for line in self.logs[side].read_text(encoding="utf-8").splitlines() if line.endswith("}}")]
        return [line[kind] for line in lines if kind in line]

    def kept(self) -> list[dict]:
        return [json.loads(line) for line in self.votes.read_text(encoding="utf-8").splitlines()]


class Visits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def arena(self, *options: str, **servers: tuple[str, ...]) -> Arena:
        arena = Arena(self.folder, *options, **servers)
        self.addCleanup(lambda: arena.session.poll() is None and arena.close())
        return arena

    def test_names_and_amounts_are_shown_after_the_vote_alone_in_real_time(self):
        arena = self.arena(a=("--gpus", "0", "--step", "0.02", "--owner", "owner-a"),
                           b=("--gpus", "1", "--step", "0.06", "--dialect", "two_tokens_a_chunk"))
        _, page = arena.request("GET", "/")
        events = arena.ask()
        self.assertNotIn("tiny", page + json.dumps(events))
        self.assertNotIn("energy_j", json.dumps(events))
        texts = {place: "".join(event["text"] for event in events if event.get("place") == place) for place in ("left", "right")}
        # The one with every token in a piece of its own is a.
        left_is_a = "é1 " in texts["left"]
        self.assertEqual(texts["left" if left_is_a else "right"], "".join(f"é{n} " for n in range(1, 13)))
        self.assertEqual(texts["right" if left_is_a else "left"], "".join(f"é{n} " for n in range(2, 13, 2)))
        identity = events[-1]["id"]
        # b took three times as long, and so more energy.
        status, shown = arena.vote(id=identity, better="right" if left_is_a else "left")
        self.assertEqual(status, 200, shown)
        self.assertTrue(shown["asks_for_worth"], shown)
        self.assertEqual(arena.vote(id=identity, worth=True), (200, {}))
        first, second = arena.kept()
        self.assertEqual((first["kind"], first["better"], first["id"]), ("better", "b", identity))
        self.assertEqual(second, {"kind": "worth", "id": identity, "worth": True})
        for side, place in ((0, "left" if left_is_a else "right"), (1, "right" if left_is_a else "left")):
            one = first["ab"[side]]
            self.assertEqual({key: shown[place][key] for key in one}, one)
            self.assertEqual(one["output_tokens"], 12)
            self.assertEqual(one["model"], "tiny")
            steps = arena.logged(side, "step")
            truth = steps[-1]["energy"] - steps[0]["energy"]
            lasted = steps[-1]["time"] - steps[0]["time"]
            # The window also has the first step and what waiting took.
            self.assertGreater(one["time_s"], lasted)
            doubt = 4 * one["energy_j"]["uncertainty"]
            self.assertGreater(one["energy_j"]["value"], truth - doubt)
            self.assertLess(one["energy_j"]["value"], truth * (1 + 1.5 * (one["time_s"] / lasted - 1)) + doubt)
        self.assertEqual(arena.close(), 0)

    def test_servers_that_share_a_gpu_answer_in_turn_and_others_at_once_in_real_time(self):
        for gpu, in_turn in (("0", True), ("1", False)):
            with self.subTest(gpu=gpu):
                # Answers of seconds, so that two at once overlap however late a busy machine begins one.
                arena = self.arena("--max-tokens", "200", "--gpus-a", "0", "--gpus-b", gpu, a=("--gpus", "0"), b=("--gpus", gpu))
                arena.ask()
                spans = sorted((steps[0]["time"], steps[-1]["time"]) for steps in (arena.logged(0, "step"), arena.logged(1, "step")))
                self.assertEqual(spans[0][1] < spans[1][0], in_turn, spans)
                arena.close()

    def test_two_visitors_at_once_are_served_one_after_the_other_in_real_time(self):
        arena = self.arena("--max-tokens", "200", a=("--gpus", "0"), b=("--gpus", "1"))
        events: list[list[dict]] = [[], []]
        threads = [threading.Thread(target=lambda i=i: events[i].extend(arena.ask(f"prompt {i}"))) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(one[0]["waits"] for one in events), [False, True])
        identities = {one[-1]["id"] for one in events}
        self.assertEqual(len(identities), 2)
        for identity in identities:
            self.assertEqual(arena.vote(id=identity, better="neither")[0], 200)
        # Each server had one request at a time, so that each window has one answer.
        self.assertEqual([len(arena.logged(side, "answer")) for side in (0, 1)], [2, 2])
        tokens = [step["tokens"] for step in arena.logged(0, "step")]
        self.assertEqual(tokens, list(range(1, 401)))

    def test_a_server_that_fails_is_named_by_its_place_and_nothing_is_voted(self):
        for trouble, why in (("500", "status 500, too busy"), ("cut", "broke off"), ("silent", "took too long"), ("half_json", "not JSON"),
                             ("error_event", "the engine is dead"), ("error_200", "out of memory"), ("redirect", "status 307"),
                             ("not_http", "not HTTP"), ("endless", "took too long")):
            with self.subTest(trouble=trouble):
                # The test waits for it only here and there; whole answers of a busy machine need not end in seconds.
                patience = "8s" if why == "took too long" else "60s"
                arena = self.arena("--answer-time", patience, a=("--gpus", "0"), b=("--gpus", "1", "--trouble", trouble, "--every", "2"))
                self.assertIn("id", arena.ask()[-1])
                events = arena.ask()
                self.assertIn(why, events[-1]["failure"])
                self.assertIn(events[-1]["failure"].split(":")[0], ("There is no left answer", "There is no right answer"))
                self.assertNotIn("id", events[-1])
                self.assertIn("id", arena.ask()[-1])
                self.assertEqual(arena.close(), 0)

    def test_a_server_that_is_gone_is_a_failure(self):
        arena = self.arena(a=("--gpus", "0"), b=("--gpus", "1"))
        os.kill(arena.servers[1], signal.SIGKILL)
        self.assertIn("no connection", arena.ask()[-1]["failure"])

    def test_an_answer_that_its_visitor_has_left_ends(self):
        arena = self.arena("--max-tokens", "100000", a=("--gpus", "0"), b=("--gpus", "1"))
        arena.ask_and_read_a_piece()
        deadline = time.monotonic() + 30
        while len(arena.logged(0, "answer") + arena.logged(1, "answer")) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([one["whole"] for side in (0, 1) for one in arena.logged(side, "answer")], [False, False])

    def test_an_interrupt_ends_it_while_models_answer(self):
        arena = self.arena("--max-tokens", "100000", a=("--gpus", "0"), b=("--gpus", "1"))
        arena.ask_and_read_a_piece(lambda: os.kill(arena.process, signal.SIGINT))
        self.assertEqual(arena.close(), 0)

    def test_requests_of_other_sites_and_names_are_refused(self):
        arena = self.arena(a=("--gpus", "0"), b=("--gpus", "1"))
        here = f"127.0.0.1:{arena.port}"
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}, {"Host": "192.0.2.1"},
                        {"Sec-Fetch-Site": "cross-site"}, {"Host": here, "Origin": "http://127.0.0.1:1"}):
            for method, path, body in (("GET", "/", None), ("POST", "/ask", {"prompt": "a"}), ("POST", "/vote", {"id": "a"})):
                with self.subTest(headers=headers, path=path):
                    self.assertEqual(arena.request(method, path, body, headers)[0], 403)
        for headers in ({"Host": here, "Origin": f"http://{here}", "Sec-Fetch-Site": "same-origin"}, {"Host": f"localhost:{arena.port}"}):
            self.assertEqual(arena.request("GET", "/", headers=headers)[0], 200)
        self.assertEqual(arena.logged(0, "answer"), [])

    def test_what_is_no_prompt_or_no_vote_is_refused_with_the_reason(self):
        arena = self.arena(a=("--gpus", "0"), b=("--gpus", "1"))
        for path, body, status in (("/ask", b"{", 400), ("/ask", {"prompt": 1}, 400), ("/ask", {"prompt": " \n"}, 400), ("/ask", {}, 400),
                                   ("/ask", {"prompt": "a" * 300_000}, 413), ("/vote", b"[]", 400), ("/vote", {"id": "unknown"}, 404),
                                   ("/vote", {"id": "unknown", "better": "both"}, 400), ("/other", {}, 404)):
            with self.subTest(path=path, body=str(body)[:30]):
                got, text = arena.request("POST", path, body)
                self.assertEqual(got, status, text)
                self.assertTrue(json.loads(text)["error"])
        identity = arena.ask()[-1]["id"]
        self.assertEqual(arena.vote(id=identity)[0], 409)
        self.assertEqual(arena.vote(id=identity, worth=True)[0], 409)
        self.assertEqual(arena.vote(id=identity, better="neither")[0], 200)
        self.assertEqual(arena.vote(id=identity, better="left")[0], 409)
        self.assertEqual(arena.vote(id=identity, worth=True)[0], 409)
        self.assertEqual(len(arena.kept()), 1)

    def test_a_vote_that_was_answered_outlives_a_kill(self):
        identities = []
        for _ in range(4):
            arena = self.arena("--max-tokens", "2", a=("--gpus", "0"), b=("--gpus", "1"))
            identities.append(arena.ask()[-1]["id"])
            self.assertEqual(arena.vote(id=identities[-1], better="left")[0], 200)
            os.kill(arena.process, signal.SIGKILL)
            arena.close()
        self.assertEqual([vote["id"] for vote in arena.kept()], identities)
        done = subprocess.run([program, "llm", "board", str(self.folder), "--json", "-"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The models have one name, so that the servers' ports tell them apart.
        self.assertEqual(sum(one["first_better"] + one["second_better"] for one in json.loads(done.stdout)["votes"]), 4)

    def test_a_vote_that_cannot_be_written_is_refused_and_may_be_repeated(self):
        arena = self.arena("--votes", "/dev/full", a=("--gpus", "0"), b=("--gpus", "1"))
        identity = arena.ask()[-1]["id"]
        for _ in range(2):
            status, body = arena.vote(id=identity, better="left")
            self.assertEqual(status, 500)
            self.assertIn("/dev/full", body["error"])

    def test_it_does_not_begin_where_others_could_come_or_without_its_servers(self):
        server = subprocess.Popen([program, "virtual", "1xA100", "--", sys.executable, str(FOLDER / "token_server.py"),
                                   str(self.folder / "log")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.__exit__, None, None, None)
        self.addCleanup(server.terminate)
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        for words, message in ((("--a", "http://127.0.0.1:9", "--b", url), "server a: cannot reach"),
                               (("--a", url, "--b", url, "--listen", "0.0.0.0:0"), "can be reached from other machines"),
                               (("--a", url, "--b", url, "--listen", "127.0.0.1:0", "--votes", str(self.folder)), "for votes"),
                               (("--a", url, "--b", url, "--listen", "127.0.0.1:0", "--votes", str(self.folder / "votes")), "--gpus-a")):
            with self.subTest(message=message):
                done = subprocess.run([program, "llm", "arena", *words], capture_output=True, text=True, check=False, timeout=60)
                self.assertNotEqual(done.returncode, 0, done.stderr)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()

"""Jobs and recurrences over HTTP: their operations, what is refused, and the answers to repeated requests."""

import json
import pathlib
import sys
import tempfile
import unittest

import server_session as session

ZEUS = sys.argv.pop(1)


class ServerCase(unittest.TestCase):
    server: session.Server

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.server = session.Server(ZEUS, pathlib.Path(cls.folder.name))
        cls.addClassCleanup(cls.server.kill)

    def define(self, name: str, **changes) -> str:
        answer = self.server.ask("PUT", session.job_path(name), session.definition(**changes))
        self.assertEqual(answer.status, 201, answer)
        return name

    def assert_refused(self, answer: session.Answer, status: int, *words: str) -> None:
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers["content-type"], "application/problem+json")
        problem = answer.json()
        self.assertEqual(problem["status"], status)
        for word in words:
            self.assertIn(word, problem["detail"] + " " + problem.get("advice", ""))
        for inner in ("/tmp", "sqlite", "SELECT", "INSERT"):
            self.assertNotIn(inner, answer.body.decode())


class Jobs(ServerCase):
    def test_is_defined_once_and_the_same_again(self) -> None:
        name = "a/b 'c'; DROP TABLE jobs; --"
        self.define(name)
        self.assertEqual(self.server.ask("PUT", session.job_path(name), session.definition()).status, 200)
        other = self.server.ask("PUT", session.job_path(name), session.definition(eta=0.7))
        self.assert_refused(other, 409, "its eta is 0.5, not 0.7")
        self.assertEqual(self.server.get(session.job_path(name))["name"], name)

    def test_is_redefined_and_says_what_follows(self) -> None:
        name = self.define("redefined")
        answer = self.server.ask("POST", session.job_path(name, "redefine"), session.definition(eta=0.7))
        changes = answer.json()["changes"]
        self.assertEqual([(one["key"], one["was"], one["now"]) for one in changes], [("eta", "0.5", "0.7")])
        self.assertEqual(self.server.get(session.job_path(name))["definition"]["eta"], 0.7)

    def test_is_taken_elsewhere_whole(self) -> None:
        name = self.define("exported")
        session.Recurrence(self.server, name).train()
        text = self.server.ask("GET", session.job_path(name, "export"))
        self.assertEqual(text.headers["content-type"], "application/x-ndjson")
        taken = self.server.ask("POST", session.job_path("taken in", "import"), text.body,
                                {"Content-Type": "application/x-ndjson"})
        self.assertEqual(taken.status, 201, taken)
        again = self.server.ask("POST", session.job_path("taken in", "import"), text.body)
        self.assert_refused(again, 409)
        by_key = {"Idempotency-Key": "take in", "Content-Type": "application/x-ndjson"}
        for _ in range(2):
            taken_again = self.server.ask("POST", session.job_path("by key", "import"), text.body, by_key)
            self.assertEqual((taken_again.status, taken_again.json()["entries"]), (201, taken.json()["entries"]))
        other = self.server.ask("POST", session.job_path("by key", "import"), text.body.replace(b'"exported"', b'"another"', 1), by_key)
        self.assert_refused(other, 400, "another request with this key")
        cut = self.server.ask("POST", session.job_path("cut", "import"), text.body[:-20])
        self.assert_refused(cut, 400)
        mine, theirs = (self.server.get(session.job_path(one)) for one in (name, "taken in"))
        self.assertEqual(mine["tries"], theirs["tries"])

    def test_is_forgotten_and_made_again(self) -> None:
        name = self.define("forgotten")
        recurrence = session.Recurrence(self.server, name)
        self.assertEqual(self.server.ask("DELETE", session.job_path(name), headers={"Idempotency-Key": "once"}).status, 204)
        self.assertEqual(self.server.ask("DELETE", session.job_path(name), headers={"Idempotency-Key": "once"}).status, 204)
        self.assert_refused(self.server.ask("DELETE", session.job_path(name)), 404)
        self.assert_refused(recurrence.say("next", {}), 404)
        self.define(name, eta=0.9)
        self.assertEqual(self.server.get(session.job_path(name))["entries"], 0)

    def test_are_listed_page_by_page(self) -> None:
        for number in range(7):
            self.define(f"listed {number}")
        names, path = [], "/api/v1/jobs?limit=3"
        while path:
            page = self.server.get(path)
            names += [job["name"] for job in page["jobs"]]
            path = page["next"] and f"/api/v1/jobs?limit=3&cursor={session.urllib.parse.quote(page['next'], safe='')}"
        self.assertEqual(names, sorted(names))
        self.assertTrue({f"listed {number}" for number in range(7)} <= set(names))
        self.assert_refused(self.server.ask("GET", "/api/v1/jobs?cursor=nonsense"), 400)

    def test_have_savings_by_day_and_nodes_by_beats(self) -> None:
        name = self.define("saving")
        for _ in range(3):
            session.Recurrence(self.server, name).train()
        running = session.Recurrence(self.server, name)
        gpu = {"gpu": "GPU-1", "name": "NVIDIA A100", "power_w": 250.5, "limit_w": 300.0, "clock_mhz": 1410.0,
               "temperature_c": 60.0, "throttled_by": ["power_cap"]}
        running.must("beat", {"gpus": [gpu]})
        node = next(one for one in self.server.get("/api/v1/nodes")["nodes"] if one["host"] == "node1")
        mine = next(one for one in node["recurrences"] if one["job"] == name)
        self.assertEqual((mine["recurrence"], mine["gpus"]), (running.number, [gpu]))
        saved = self.server.get("/api/v1/savings")
        if saved["in_all"] is not None:
            self.assertEqual(sum(day["savings"]["recurrences"] for day in saved["days"]), saved["in_all"]["recurrences"])
        self.assert_refused(self.server.ask("GET", "/api/v1/savings?from=2026-02-30"), 400)


class Recurrences(ServerCase):
    def test_end_with_a_model(self) -> None:
        name = self.define("ends")
        recurrence = session.Recurrence(self.server, name)
        step = recurrence.must("next", {})
        self.assertEqual((step["kind"], step["try"], step["batch_size"]), ("run", 1, 64))
        self.assertFalse(step["known"]["has_worked"])
        recurrence.must("epochs", {"try": 1, "epochs": 1, "metric": 0.5, "gpus": session.gpus(100), "time_s": 2.0})
        limits = [{"limit_w": 150.0, "epoch_time_s": 1.6, "average_power_w": 100.0},
                  {"limit_w": 300.0, "epoch_time_s": 1.5, "average_power_w": 200.0}]
        known = recurrence.must("profiled", {"batch_size": 64, "limits": limits, "charged": [], "time_s": 0})
        self.assertEqual(known["best_limit_w"], 150.0)
        ended = {"try": 1, "outcome": "reached", "epochs": 3, "gpus": session.gpus(600), "time_s": 6.0, "limit_w": 150.0,
                 "metric": 0.95, "exit_code": 0, "left_out": None}
        self.assertEqual(recurrence.must("finished", ended), {"recurrence": 1, "state": "reached"})
        self.assert_refused(recurrence.say("finished", ended), 409)
        self.assert_refused(recurrence.say("next", {}), 409)
        view = self.server.get(session.job_path(name))
        self.assertEqual([one["outcome"] for one in view["tries"]], ["reached"])
        self.assertEqual(view["recurrences"][0]["state"], "reached")
        self.assertEqual([one["try"] for one in self.server.get(session.job_path(name, "tries"))["tries"]], [1])
        self.assertEqual(self.server.get(session.job_path(name, "recurrences?limit=1"))["next"], None)

    def test_refuse_what_cannot_be(self) -> None:
        name = self.define("refuses")
        recurrence = session.Recurrence(self.server, name)
        told = {"try": 1, "epochs": 2, "metric": 0.5, "gpus": session.gpus(100), "time_s": 2.0}
        self.assert_refused(recurrence.say("epochs", told), 400, "no try")
        self.assertEqual(recurrence.must("next", {})["try"], 1)
        self.assert_refused(recurrence.say("next", {}), 400, "is running")
        recurrence.must("epochs", told)
        self.assert_refused(recurrence.say("epochs", told | {"epochs": 1}), 400)
        self.assert_refused(recurrence.say("epochs", told | {"gpus": session.gpus(90)}), 400)
        self.assert_refused(recurrence.say("epochs", told | {"try": 2}), 409)
        self.assert_refused(recurrence.say("claim", {"batch_size": 48}), 400, "48 is not a batch size")
        other = [{"limit_w": 26.0, "epoch_time_s": 1.0, "average_power_w": 1.0}]
        self.assert_refused(recurrence.say("profiled", {"batch_size": 64, "limits": other, "charged": [], "time_s": 0}), 400,
                            "26 W is not one of the power limits of these devices: 150, 300 W")
        whole = {"limit_w": 26.0, "count": 2, "time_s": 1.0, "energy_j": 1.0, "time_deviation_s": 0.1, "energy_deviation_j": 0.1,
                 "start_time_s": 0.0, "start_energy_j": 0.0, "beside_steps": 0.0}
        ended = told | {"outcome": "stopped", "limit_w": 210.0, "exit_code": None, "left_out": None}
        self.assert_refused(recurrence.say("finished", ended | {"whole_epochs": whole}), 400, "26 W is not one")
        self.assert_refused(recurrence.say("finished", ended | {"limit_w": 1e26}), 400, "'limit_w'")
        recurrence.must("finished", ended)  # which limit was in force is a fact, whatever the devices can have
        recurrence.must("give_up", {"reason": "enough"})
        self.assert_refused(recurrence.say("epochs", told), 409)
        self.assert_refused(recurrence.say("beat", {"gpus": []}), 409)
        strong = {"device": session.DEVICE | {"max_power_w": 9e18}, "owner": session.OWNER}
        self.assert_refused(self.server.ask("POST", session.job_path(name, "recurrences"), strong), 400, "'device.max_power_w'")
        nobody = self.server.ask("POST", session.job_path(name, "recurrences", 99, "next"), {})
        self.assert_refused(nobody, 404)

    def test_do_once_what_is_asked_twice(self) -> None:
        name = self.define("twice")
        begin = {"device": session.DEVICE, "owner": session.OWNER}
        key = {"Idempotency-Key": "one"}
        first = self.server.ask("POST", session.job_path(name, "recurrences"), begin, key)
        self.server.kill()
        self.server.start()
        again = self.server.ask("POST", session.job_path(name, "recurrences"), begin, key)
        self.assertEqual((first.status, first.body), (again.status, again.body))
        other = self.server.ask("POST", session.job_path(name, "recurrences"), begin | {"lease_s": 60}, key)
        self.assert_refused(other, 400, "key")
        path = session.job_path(name, "recurrences", 1)
        steps = [self.server.ask("POST", f"{path}/next", {}, {"Idempotency-Key": "two"}) for _ in range(2)]
        self.assertEqual(steps[0].body, steps[1].body)
        ended = {"try": 1, "outcome": "stopped", "epochs": 3, "gpus": session.gpus(600), "time_s": 6.0, "limit_w": 150.0,
                 "metric": 0.5, "exit_code": 0, "left_out": None}
        for _ in range(2):
            self.assertEqual(self.server.ask("POST", f"{path}/finished", ended, {"Idempotency-Key": "three"}).status, 200)
        self.assertEqual(self.server.ask("POST", f"{path}/next", {}, {"Idempotency-Key": "four"}).json()["try"], 2)
        # A repeated request gets its first answer, whatever came after.
        self.assertEqual(self.server.ask("POST", f"{path}/finished", ended, {"Idempotency-Key": "three"}).status, 200)
        self.assertEqual(self.server.ask("POST", f"{path}/next", {}, {"Idempotency-Key": "two"}).body, steps[0].body)
        self.assertEqual(len(self.server.get(session.job_path(name))["tries"]), 2)


class BadInput(ServerCase):
    def test_is_refused_with_one_sentence(self) -> None:
        name = self.define("input")
        path = session.job_path(name)
        deep = b"[" * 100000
        for body in (b"", b"{", b"null", b"[]", b"{}", deep, b'{"eta": NaN}', b'{"eta": 1e999}', b"\xff\xfe",
                     b'{"batch_sizes": "x"}'):
            with self.subTest(body=body[:20]):
                self.assert_refused(self.server.ask("PUT", path, body), 400)
        for change in ({"batch_sizes": [64, 64]}, {"batch_sizes": [0, 64]}, {"default_batch_size": 48}, {"seed": -1},
                       {"max_epochs": 0}, {"eta": 2}, {"policy": "none"}, {"unknown": 1}):
            with self.subTest(change=change):
                answer = self.server.ask("PUT", session.job_path("never made"), session.definition(**change))
                self.assert_refused(answer, 400)
        twice = json.dumps(session.definition()).encode()[:-1] + b', "eta": 0.7}'
        self.assert_refused(self.server.ask("PUT", session.job_path("never made"), twice), 400, "it has 'eta' twice")
        no_limits = session.definition()["device"] | {"power_limits_w": []}
        self.assert_refused(self.server.ask("PUT", session.job_path("never made"), session.definition(device=no_limits)), 400,
                            "'device.power_limits_w' is not a list of 1 to 4096")
        self.assert_refused(self.server.ask("GET", session.job_path("never made")), 404)
        self.assert_refused(self.server.ask("PUT", session.job_path("x" * 201), session.definition()), 400)
        self.assert_refused(self.server.ask("GET", "/api/v1/jobs/a%00b"), 400)
        self.assert_refused(self.server.ask("GET", "/api/v1/jobs/%zz"), 400)
        self.assert_refused(self.server.ask("GET", f"{path}/tries?limit=0"), 400)
        self.assert_refused(self.server.ask("GET", f"{path}/tries?limit=1&limit=1"), 400)
        self.assert_refused(self.server.ask("GET", f"{path}/tries?nothing=1"), 400)
        for nowhere in ("/nowhere", "/", "/docs"):
            self.assert_refused(self.server.ask("GET", nowhere), 404, "/api/v1/openapi.json lists all paths")
        wrong = self.server.ask("POST", path, {})
        self.assert_refused(wrong, 405)
        self.assertEqual(set(wrong.headers["allow"].split(", ")), {"PUT", "GET", "DELETE"})
        typed = self.server.ask("PUT", path, session.json.dumps(session.definition()).encode(), {"Content-Type": "text/plain"})
        self.assert_refused(typed, 415)
        self.assert_refused(self.server.ask("PUT", path, b" " * (1 << 20) + b"{}"), 413)
        self.assertEqual(self.server.ask("GET", path).status, 200)


if __name__ == "__main__":
    unittest.main()

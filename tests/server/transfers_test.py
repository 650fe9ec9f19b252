"""Long jobs are imported and exported completely without being held in the server's memory; an interrupted transfer leaves
nothing."""

import http.client
import json
import pathlib
import re
import sys
import tempfile
import unittest

import server_session as session

ZEUS = sys.argv.pop(1)
ENTRIES = 24_000
LINES = {"Content-Type": "application/x-ndjson"}
MOST_MORE_MIB = 12.0  # the file has 5, and in memory it took 30


def long_text(server: session.Server) -> bytes:
    """A job whose first recurrence, given up in its first try, is repeated."""
    server.ask("PUT", session.job_path("short"), session.definition())
    recurrence = session.Recurrence(server, "short")
    recurrence.must("next", {})
    recurrence.must("give_up", {"reason": "r"})
    heading, *entries, _ = server.ask("GET", session.job_path("short", "export")).body.decode().splitlines()
    lines = [heading]
    for number in range(ENTRIES // len(entries)):
        for entry in map(json.loads, entries):
            entry["sequence"] = len(lines)
            entry |= {name: number for name in ("recurrence", "try") if name in entry}
            if "seed" in entry:
                entry["seed"] = number
            lines.append(json.dumps(entry, separators=(",", ":")))
    lines.append(json.dumps({"end": len(lines) - 1}, separators=(",", ":")))
    return ("\n".join(lines) + "\n").encode()


def peak_mib(server: session.Server) -> float:
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


class Transfers(unittest.TestCase):
    def test_a_long_job_is_what_it_was_and_takes_little_memory(self) -> None:
        with tempfile.TemporaryDirectory() as text, session.Server(ZEUS, pathlib.Path(text)) as server:
            body = long_text(server)
            before = peak_mib(server)
            answer = server.ask("POST", session.job_path("long", "import"), body, LINES)
            self.assertEqual((answer.status, answer.json()["entries"]), (201, ENTRIES))
            exported = server.ask("GET", session.job_path("long", "export"))
            self.assertEqual(exported.headers["content-type"], "application/x-ndjson")
            self.assertEqual(exported.body.splitlines()[1:], body.splitlines()[1:])
            self.assertLess(peak_mib(server) - before, MOST_MORE_MIB)
            self.assertGreater(len(body), 4 << 20)

    def test_what_breaks_off_leaves_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as text, session.Server(ZEUS, pathlib.Path(text)) as server:
            body = long_text(server)
            half = body[:len(body) // 2]
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=session.PATIENCE)
            connection.putrequest("POST", session.job_path("cut", "import"))
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders()
            connection.send(half)
            connection.close()
            answer = server.ask("POST", session.job_path("short of it", "import"), half, LINES)
            self.assertEqual((answer.status, "cut short" in answer.json()["detail"]), (400, True), answer)
            wrong = half + b"{}\n" + body[len(half):]
            self.assertEqual(server.ask("POST", session.job_path("wrong", "import"), wrong, LINES).status, 400)
            jobs = [job["name"] for job in server.get("/api/v1/jobs")["jobs"]]
            self.assertEqual(jobs, ["short"])


if __name__ == "__main__":
    unittest.main()

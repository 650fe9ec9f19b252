"""The interface matches its OpenAPI document: a property-based tester sends each operation everything that the document
allows, and much that it does not; no answer is a 5xx, and each is as documented. Every operation answers 2xx at least
once."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import server_session as session

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment

# What only reads has few parameters, and gets a fifth of the examples.
READS = """[[operations]]
include-method = "GET"
generation.max-examples = {examples}
"""
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def walk_through(server: session.Server) -> None:
    """Calls each changing operation successfully once."""
    name = "tested"
    server.ask("PUT", session.job_path(name), session.definition())
    session.Recurrence(server, name).train()
    assert server.ask("POST", session.job_path(name, "recurrences", 1, "leave_out"), {"reason": "wrong"}).status == 200
    recurrence = session.Recurrence(server, name)
    step = recurrence.must("next", {})
    recurrence.must("epochs", {"try": step["try"], "epochs": 1, "metric": None, "gpus": [], "time_s": 1.0})
    limits = [{"limit_w": 150.0, "epoch_time_s": 2.0, "average_power_w": 100.0}]
    recurrence.must("profiled", {"batch_size": step["batch_size"], "limits": limits, "charged": [], "time_s": 0.0})
    recurrence.must("beat", {"gpus": []})
    recurrence.must("give_up", {"reason": "enough"})
    session.Recurrence(server, name).must("claim", {"batch_size": 64})
    text = server.ask("GET", session.job_path(name, "export")).body
    for taken in ("taken in", "forgotten"):
        assert server.ask("POST", session.job_path(taken, "import"), text).status == 201
    assert server.ask("POST", session.job_path("taken in", "redefine"), session.definition(eta=0.9)).status == 200
    assert server.ask("DELETE", session.job_path("forgotten")).status == 204
    walk_as_existing_clients_do(server)
    walk_as_pipelines_do(server)
    for path in ("/api/v1", "/api/v1/openapi.json", "/api/v1/nodes", "/api/v1/savings", "/readyz", session.job_path(name),
                 session.job_path(name, "recurrences"), session.job_path(name, "tries"), session.job_path(name, "next"),
                 "/healthz", "/api/v1/jobs", "/metrics"):
        assert server.ask("GET", path).status == 200, path
    for path in ("/api/v1/events", session.job_path(name, "events?after=0")):
        reader = session.EventReader(server.port, path)
        with reader.changed:
            assert reader.changed.wait_for(lambda: reader.comments > 0, session.PATIENCE)
        reader.close()


def walk_as_existing_clients_do(server: session.Server) -> None:
    spec = {"job_id": "existing", "job_id_prefix": "existing", "batch_sizes": [32, 64], "default_batch_size": 64,
            "max_power": 300.0, "number_of_gpus": 1, "gpu_model": "NVIDIA A100"}
    assert server.ask("POST", "/jobs", spec).status == 201
    trial = server.get("/jobs/batch_size?job_id=existing")
    assert server.ask("POST", "/report", trial | {"time": 1.0, "energy": 100.0, "metric": 0.1, "current_epoch": 1}).status == 200
    assert server.ask("PATCH", "/trials", trial).status == 200
    assert server.ask("DELETE", "/jobs?job_id=existing").status == 200


def walk_as_pipelines_do(server: session.Server) -> None:
    assert server.ask("GET", "/info").status == 200
    shape = {"job_id": "", "pp_degree": 1, "dp_degree": 1, "tp_degree": 1, "world_size": 1, "job_metadata": None}
    training = server.ask("POST", "/register_job", shape).json()
    place = {"rank": 0, "dp_rank": 0, "pp_rank": 0, "tp_rank": 0, "available_frequencies": [1410]}
    assert server.ask("POST", f"/register_rank/{training}", place).status == 200
    assert server.get(f"/schedule/{training}?rank=0") == {"rank": 0, "frequencies": [["forward", 1410]]}
    result = {"rank": 0, "iter_time": [1.0], "iter_energy": [2.0], "time_breakdown": {"forward": [[0.5]]}, "energy_breakdown": {}}
    assert server.ask("POST", f"/result/{training}", result).status == 200


class Interface(unittest.TestCase):
    def test_is_as_documented(self) -> None:
        python = python_environment.interpreter(ARGUMENTS.build, "clients")
        with tempfile.TemporaryDirectory() as text:
            folder = pathlib.Path(text)
            (folder / "plan.py").write_text("[[('forward', 1410)]]", encoding="utf-8")
            with session.Server(ARGUMENTS.zeus, folder, "--pipeline-plan", str(folder / "plan.py")) as server:
                walk_through(server)
                operations = {operation["operationId"] for path in server.get("/api/v1/openapi.json")["paths"].values()
                              for operation in path.values()}
                answered = set(re.findall(r'requests_total\{operation="(\w+)",status="2\d\d"\}',
                                          server.ask("GET", "/metrics").body.decode()))
                self.assertEqual(operations - answered, set())
                (folder / "schemathesis.toml").write_text(READS.format(examples=-(-ARGUMENTS.examples // 5)), encoding="utf-8")
                # Streams have no end; events_test.py is about them.
                command = [python.absolute().parent / "schemathesis", "run", f"{server.url}/api/v1/openapi.json", "--exclude-path-regex",
                           "/events$", "--phases", ARGUMENTS.phases, "--seed", "1", "--max-examples", str(ARGUMENTS.examples),
                           "--generation-database", "none", "--no-shrink", "--checks", CHECKS, "--continue-on-failure",
                           "--warnings", "off", "--request-timeout", "30", "--no-color"]
                hooks = {"SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(pathlib.Path(__file__).parent)}
                done = subprocess.run([str(word) for word in command], cwd=folder, env=os.environ | hooks,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
                print(re.search(r"\d+ generated, \d+ passed", done.stdout)[0])
                self.assertEqual(server.ask("GET", "/readyz").status, 200)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--phases", default="fuzzing")
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])

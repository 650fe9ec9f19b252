"""Cases of the clients: of a daemon that answers like released ones, and of the existing package's batch-size server.

  clients.py URL     of that server, with no jobs
"""

import dataclasses
import http.server
import itertools
import json
import os
import sys
import threading
import time
from urllib.parse import parse_qsl, urlsplit

from cases import Cases
from zeus.device.exception import ZeusdError
from zeus.monitor import ZeusMonitor
from zeus.optimizer.batch_size import BatchSizeOptimizer, JobSpec
from zeus.optimizer.batch_size.common import CreatedJob, GpuConfig, JobParams, ReportResponse, TrainingResult, TrialId
from zeus.optimizer.pipeline_frequency import common as pipeline
from zeus.utils.zeusd import CpuEnergyResult, ZeusdClient, ZeusdConfig, require_capabilities

GROUPS = ("gpu-control", "gpu-read", "cpu-read")
cases = Cases()


class Daemon(http.server.ThreadingHTTPServer):
    """Has three GPUs and two CPU packages; `broken` maps paths to the status of their answers."""

    daemon_threads = True

    def __init__(self, groups=GROUPS, scopes=None, broken=()) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.groups, self.scopes, self.broken, self.asked = groups, scopes, dict(broken), []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def config(self) -> ZeusdConfig:
        return ZeusdConfig.tcp("127.0.0.1", self.server_port)

    def client(self, token=None) -> ZeusdClient:
        return ZeusdClient(ZeusdConfig.tcp("127.0.0.1", self.server_port, token=token))


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        self.server.asked.append([self.command, url.path, query, self.headers.get("Authorization")])
        status, body = self.server.broken.get(url.path), "broken"
        if status is None:
            status, body = 200, json.dumps(self.answer(url.path, query))
        if url.path == "/auth/whoami" and self.headers.get("Authorization") != "Bearer right":
            status = 401
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    do_POST = do_GET

    def answer(self, path: str, query: dict) -> object:
        gpus = [int(each) for each in query.get("gpu_ids", "0,1,2").split(",")]
        cpus = [int(each) for each in query.get("cpu_ids", "0,1").split(",")]
        return {
            "/discover": {"gpus": [{"id": gpu, "name": f"GPU of {gpu}"} for gpu in range(3)],
                          "cpus": [{"id": cpu, "dram_available": cpu == 1} for cpu in range(2)],
                          "enabled_api_groups": list(self.server.groups), "auth_required": self.server.scopes is not None},
            "/auth/whoami": {"sub": "ann", "scopes": list(self.server.scopes or ()), "exp": 2000000000},
            "/time": {"timestamp_ms": 1234567},
            "/gpu/get_power": {"timestamp_ms": 99, "power_mw": {str(gpu): 50_000 + gpu for gpu in gpus}},
            "/gpu/get_cumulative_energy": {str(gpu): {"energy_mj": 700 + gpu} for gpu in gpus},
            "/gpu/get_power_limit": {str(gpu): {"power_limit_mw": 250_000 + gpu} for gpu in gpus},
            "/gpu/get_power_limit_constraints": {
                str(gpu): {"min_power_limit_mw": 100_000, "max_power_limit_mw": 300_000 + gpu} for gpu in gpus},
            "/gpu/get_persistence_mode": {str(gpu): {"enabled": gpu == 1} for gpu in gpus},
            "/cpu/get_power": {"timestamp_ms": 98, "power_mw": {
                str(cpu): {"cpu_mw": 60_000 + cpu, "dram_mw": 9000 if cpu else None} for cpu in cpus}},
            "/cpu/get_cumulative_energy": {
                str(cpu): {"cpu_energy_uj": 5 + cpu if query.get("cpu") == "true" else None,
                           "dram_energy_uj": 7 if cpu and query.get("dram") == "true" else None} for cpu in cpus},
        }.get(path, "ok")

    def log_message(self, *arguments) -> None:
        pass


def check_configuration() -> None:
    with cases.scenario("configuration"):
        tcp = ZeusdConfig.tcp("there", 4938, token="t", gpu_indices=[1], cpu_indices=[])
        cases.expect("by address", dataclasses.astuple(tcp), ("there:4938", None, "t", [1], []))
        cases.expect("by address, URL", (tcp.url("/time"), tcp.endpoint), ("http://there:4938/time", "there:4938"))
        cases.expect("by address, nothing else given", dataclasses.astuple(ZeusdConfig.tcp("a", 1)),
                     ("a:1", None, None, None, None))
        uds = ZeusdConfig.uds("/run/some.sock", token="t")
        cases.expect("by socket", dataclasses.astuple(uds), (None, "/run/some.sock", "t", None, None))
        cases.expect("by socket, URL", (uds.url("/time"), uds.endpoint), ("http://localhost/time", "/run/some.sock"))
        cases.expect("is a value", (uds == ZeusdConfig.uds("/run/some.sock", token="t"), uds == tcp), (True, False))
        cases.expect_error("is not changed", "AttributeError", setattr, uds, "token", "u")
        names = ("ZEUSD_SOCK_PATH", "ZEUSD_HOST_PORT", "ZEUSD_TOKEN")
        values = {"ZEUSD_SOCK_PATH": "/s", "ZEUSD_HOST_PORT": "h:1", "ZEUSD_TOKEN": "t"}
        for given in itertools.product((False, True), repeat=3):
            chosen = {name: values[name] for name, is_given in zip(names, given) if is_given}
            for name in names:
                os.environ.pop(name, None)
            os.environ.update(chosen)
            found = ZeusdConfig.from_env()
            token = chosen.get("ZEUSD_TOKEN")
            promised = ((None, "/s", token, None, None) if given[0] else ("h:1", None, token, None, None) if given[1] else None)
            cases.expect(f"from {chosen}", found and dataclasses.astuple(found), promised)
        for name in names:
            os.environ.pop(name, None)
        cases.expect_error("none at all", "ZeusdConnectionError", ZeusdClient)
        cases.expect_error("nobody listens", "ZeusdConnectionError", ZeusdClient, ZeusdConfig.tcp("127.0.0.1", 9))
        cases.expect_error("no such socket", "ZeusdConnectionError", ZeusdClient,
                           ZeusdConfig.uds(os.path.join(cases.folder, "no.sock")))
        for status in (400, 404, 500, 503):
            cases.expect_error_with(f"answers {status}", "ZeusdConnectionError", f"HTTP {status}",
                                    Daemon(broken={"/discover": status}).client)


def check_capabilities() -> None:
    with cases.scenario("capabilities"):
        client = Daemon().client()
        cases.expect("what there is", (client.gpu_ids, client.cpu_ids, client.dram_available), ([0, 1, 2], [0, 1], [False, True]))
        cases.expect("names", [(gpu.id, gpu.name) for gpu in client.gpus], [(gpu, f"GPU of {gpu}") for gpu in range(3)])
        cases.expect("packages", [dataclasses.astuple(cpu) for cpu in client.cpus], [(0, False), (1, True)])
        cases.expect("no token needed", (client.auth_required, client.auth_error, client.granted_scopes),
                     (False, None, frozenset()))
        for count in range(4):
            for groups in itertools.combinations(GROUPS, count):
                client = Daemon(groups).client()
                can = [group in groups for group in ("gpu-read", "gpu-control", "cpu-read")]
                cases.expect(f"with {groups}", [client.can_read_gpu, client.can_control_gpu, client.can_read_cpu], can)
                client = Daemon(scopes=groups).client("right")
                cases.expect(f"with a token for {groups}", (
                    [client.can_read_gpu, client.can_control_gpu, client.can_read_cpu], client.auth_required, client.auth_error,
                    client.granted_scopes), (can, True, None, frozenset(groups)))
                for need, group in (("read_gpu", "gpu-read"), ("control_gpu", "gpu-control"), ("read_cpu", "cpu-read")):
                    if group in groups:
                        cases.expect(f"{need} with {groups}", require_capabilities(client, **{need: True}), None)
                    else:
                        cases.expect_error_with(f"{need} with a token for {groups}", "ZeusdCapabilityError", "lacks required scope",
                                                require_capabilities, client, **{need: True})
                        cases.expect_error_with(f"{need} of a daemon with {groups}", "ZeusdCapabilityError", "is not enabled",
                                                require_capabilities, Daemon(groups).client(), **{need: True})
        for name, token, broken in (("no token", None, {}), ("a wrong token", "wrong", {}),
                                    ("a server in trouble", "right", {"/auth/whoami": 500})):
            client = Daemon(scopes=GROUPS, broken=broken).client(token)
            cases.expect(f"{name}: is said", bool(client.auth_error), True)
            cases.expect(f"{name}: may nothing", [client.can_read_gpu, client.can_control_gpu, client.can_read_cpu], [False] * 3)
            cases.expect_error(f"{name}: refused", "ZeusdAuthError", require_capabilities, client, read_gpu=True)
        client = Daemon().client()
        cases.expect("nothing needed", require_capabilities(client), None)
        cases.expect("all there", require_capabilities(client, read_gpu=True, control_gpu=True, read_cpu=True, gpu_ids=[0, 2],
                                                       cpu_ids=[1]), None)
        cases.expect_error_with("a GPU that is not there", "ZeusdCapabilityError", "GPU indices", require_capabilities, client,
                                gpu_ids=[0, 7])
        cases.expect_error_with("a package that is not there", "ZeusdCapabilityError", "CPU indices", require_capabilities,
                                client, cpu_ids=[2])
        cases.expect_error_with("several at once", "ZeusdCapabilityError", "; ", require_capabilities, client, gpu_ids=[9],
                                cpu_ids=[9])


def check_requests() -> None:
    with cases.scenario("requests"):
        daemon = Daemon(scopes=GROUPS)
        client = daemon.client("right")

        def ask(name: str, answer: object, method: str, path: str, query: dict, *arguments, **more) -> None:
            found = getattr(client, name)(*arguments, **more)
            cases.expect(f"{name}{arguments}{more or ''}: answer",
                         dataclasses.astuple(found) if dataclasses.is_dataclass(found) else found, answer)
            cases.expect(f"{name}{arguments}{more or ''}: request", daemon.asked[-1], [method, path, query, "Bearer right"])

        for gpus in ([0], [2, 0], [0, 1, 2]):
            text = ",".join(map(str, gpus))
            ask("get_gpu_energy", {gpu: 700 + gpu for gpu in gpus}, "GET", "/gpu/get_cumulative_energy", {"gpu_ids": text}, gpus)
            for chosen in (gpus, None) if gpus == [0] else (gpus,):
                of = [0, 1, 2] if chosen is None else chosen
                query = {} if chosen is None else {"gpu_ids": text}
                ask("get_gpu_power", (99, {gpu: 50_000 + gpu for gpu in of}), "GET", "/gpu/get_power", query, chosen)
                ask("get_power_limit", {gpu: 250_000 + gpu for gpu in of}, "GET", "/gpu/get_power_limit", query, chosen)
                ask("get_power_limit_constraints", {gpu: (100_000, 300_000 + gpu) for gpu in of}, "GET",
                    "/gpu/get_power_limit_constraints", query, chosen)
                ask("get_persistence_mode", {gpu: gpu == 1 for gpu in of}, "GET", "/gpu/get_persistence_mode", query, chosen)
            for block, said in ((True, "true"), (False, "false")):
                ask("set_power_limit", None, "POST", "/gpu/set_power_limit",
                    {"gpu_ids": text, "power_limit_mw": "200000", "block": said}, gpus, 200_000, block)
                ask("set_persistence_mode", None, "POST", "/gpu/set_persistence_mode",
                    {"gpu_ids": text, "enabled": said, "block": said}, gpus, block, block)
                for of in ("gpu", "mem"):
                    ask(f"set_{of}_locked_clocks", None, "POST", f"/gpu/set_{of}_locked_clocks",
                        {"gpu_ids": text, "min_clock_mhz": "300", "max_clock_mhz": "900", "block": said},
                        gpus, 300, 900, block=block)
                    ask(f"reset_{of}_locked_clocks", None, "POST", f"/gpu/reset_{of}_locked_clocks",
                        {"gpu_ids": text, "block": said}, gpus, block=block)
        for cpu, dram in itertools.product((True, False), repeat=2):
            for chosen in ([0, 1], [1], None):
                of = [0, 1] if chosen is None else chosen
                query = {"cpu": str(cpu).lower(), "dram": str(dram).lower()}
                if chosen is not None:
                    query["cpu_ids"] = ",".join(map(str, chosen))
                energies = {each: CpuEnergyResult(5 + each if cpu else None, 7 if each and dram else None) for each in of}
                ask("get_cpu_energy", energies, "GET", "/cpu/get_cumulative_energy", query, chosen, cpu, dram)
        for chosen in ([1], None):
            of = [0, 1] if chosen is None else chosen
            ask("get_cpu_power", (98, {each: (60_000 + each, 9000 if each else None) for each in of}), "GET", "/cpu/get_power",
                {} if chosen is None else {"cpu_ids": "1"}, chosen)
        ask("get_time", 1234.567, "GET", "/time", {})
        cases.expect("where it is", (client.endpoint, client.url("/x")),
                     (f"127.0.0.1:{daemon.server_port}", f"http://127.0.0.1:{daemon.server_port}/x"))
        for name, path, arguments in (("get_gpu_power", "/gpu/get_power", ()),
                                      ("get_gpu_energy", "/gpu/get_cumulative_energy", ([0],)),
                                      ("set_power_limit", "/gpu/set_power_limit", ([0], 1)),
                                      ("get_cpu_power", "/cpu/get_power", ()),
                                      ("get_cpu_energy", "/cpu/get_cumulative_energy", ()), ("get_time", "/time", ()),
                                      ("set_gpu_locked_clocks", "/gpu/set_gpu_locked_clocks", ([0], 1, 2))):
            for status in (400, 403, 500):
                broken = Daemon(broken={path: status}).client()
                cases.expect_error_with(f"{name} answered by {status}", ZeusdError.__name__, name, getattr(broken, name),
                                        *arguments)


JOB = {"job_id_prefix": "cases", "default_batch_size": 64, "batch_sizes": [128, 32, 64]}


def check_records() -> None:
    with cases.scenario("job specifications"):
        made = JobSpec(**JOB)
        cases.expect("defaults", made.dict(), {
            "job_id": None, "job_id_prefix": "cases", "default_batch_size": 64, "batch_sizes": [32, 64, 128], "eta_knob": 0.5,
            "beta_knob": 2.0, "target_metric": 0.5, "higher_is_better_metric": True, "max_epochs": 100, "num_pruning_rounds": 2,
            "window_size": 0, "mab_prior_mean": 0.0, "mab_prior_precision": 0.0, "mab_num_explorations": 2, "mab_seed": None})
        for name, value in (("batch_sizes", []), ("default_batch_size", 65), ("default_batch_size", 0), ("eta_knob", -0.1),
                            ("eta_knob", 1.1), ("beta_knob", 0), ("beta_knob", -1), ("max_epochs", 0), ("num_pruning_rounds", -1),
                            ("mab_num_explorations", -1), ("job_id", "others-1"), ("batch_sizes", "64"), ("max_epochs", "many"),
                            ("default_batch_size", None), ("job_id_prefix", None)):
            cases.expect_error(f"{name}={value!r}", "ValueError", JobSpec, **{**JOB, name: value})
        for name in JOB:
            cases.expect_error(f"without {name}", "ValueError", JobSpec,
                               **{key: value for key, value in JOB.items() if key != name})
        for name, value in (("beta_knob", None), ("mab_seed", 7), ("eta_knob", 0), ("eta_knob", 1), ("window_size", 10),
                            ("higher_is_better_metric", False), ("job_id", "cases-1"), ("later_than_this", 1)):
            cases.expect(f"with {name}={value!r}", JobSpec(**{**JOB, name: value}).dict().get(name),
                         value if name != "later_than_this" else None)
        cases.expect("there and back", JobSpec.parse_obj(made.dict()), made)
        cases.expect("by JSON", JobSpec.parse_raw(made.json()), made)
        cases.expect("copied", made.copy(update={"max_epochs": 3}).max_epochs, 3)
        made.max_epochs = 5
        cases.expect("assigned to", made.dict()["max_epochs"], 5)
    with cases.scenario("records"):
        for kind, values in ((TrialId, {"job_id": "j", "batch_size": 32, "trial_number": 1}),
                             (TrainingResult, {"job_id": "j", "batch_size": 32, "trial_number": 1, "time": 1.5, "energy": 2.0,
                                               "metric": 0.5, "current_epoch": 3}),
                             (ReportResponse, {"stop_train": True, "converged": False, "message": "why"}),
                             (GpuConfig, {"max_power": 250.0, "number_of_gpus": 2, "gpu_model": "V100"}),
                             (JobParams, {**JOB, "job_id": "cases-1"}),
                             (CreatedJob, {**JOB, "job_id": "cases-1", "max_power": 1.0, "number_of_gpus": 1, "gpu_model": "V"}),
                             (pipeline.RankInfo, {"rank": 0, "dp_rank": 0, "pp_rank": 1, "tp_rank": 0,
                                                  "available_frequencies": [900, 300]}),
                             (pipeline.FrequencySchedule, {"rank": 0, "frequencies": [("forward", 900), ("backward", 300)]}),
                             (pipeline.OfflineProfilingResult, {
                                 "rank": 0, "dp_rank": 0, "pp_rank": 0, "tp_rank": 0, "forward_time": {900: 1.0},
                                 "forward_energy": {900: 2.0},
                                 "backward_time": {900: 3.0}, "backward_energy": {900: 4.0}})):
            found = kind(**values)
            cases.expect(f"{kind.__name__} has what it is given",
                         {name: found.dict()[name] for name in values if name != "batch_sizes"},
                         {name: value for name, value in values.items() if name != "batch_sizes"})
            cases.expect(f"{kind.__name__} by JSON", kind.parse_raw(found.json()), found)
            for name in values:
                cases.expect_error(f"{kind.__name__} without {name}", "ValueError", kind,
                                   **{key: value for key, value in values.items() if key != name})
        degrees = {"pp_degree": 2, "dp_degree": 3, "tp_degree": 1, "world_size": 6}
        job = pipeline.JobInfo(**degrees)
        job.set_job_id("scheduler")
        cases.expect("a job's name", job.job_id.partition("+")[2], "dp3+pp2+tp1+scheduler")
        for name, value in (("world_size", 5), ("pp_degree", 0), ("job_id", "given"), ("tp_degree", -1)):
            cases.expect_error(f"JobInfo with {name}={value!r}", "ValueError", pipeline.JobInfo, **{**degrees, name: value})


def check_batch_sizes(url: str) -> None:
    """One job on the server, through its first trials."""
    with cases.scenario("batch sizes"):
        monitor = ZeusMonitor(gpu_indices=[0])
        spec = JobSpec(**{**JOB, "job_id": f"cases-{os.getpid()}", "max_epochs": 3, "target_metric": 0.9, "beta_knob": None})
        first = BatchSizeOptimizer(monitor, url, spec)
        cases.expect("nothing is known yet",
                     (first.current_batch_size, first.trial_number, first.training_finished, first.cur_epoch),
                     (0, 0, False, 0))
        cases.expect("the job as it was made",
                     (first.job.job_id, first.job.batch_sizes, first.job.max_power, first.job.number_of_gpus),
                     (spec.job_id, [32, 64, 128], 250.0, 1))
        cases.expect("the GPU as it is", first.job_spec.gpu_model, monitor.gpus.get_name(0))
        cases.expect_error("out of order", "ZeusBSOOperationOrderError", first.on_evaluate, 0.5)
        cases.expect("the default first", (first.get_batch_size(), first.trial_number, first.get_batch_size()), (64, 1, 64))
        cases.expect_error("only rank 0 asks", "ZeusBSOBadOperationError",
                           BatchSizeOptimizer(monitor, url, spec, rank=1).get_batch_size)
        cases.expect_error("the same name, another job", "ZeusBSORuntimError", BatchSizeOptimizer, monitor, url,
                           spec.copy(update={"eta_knob": 0.25}))
        first.on_train_begin()
        cases.expect("its window", list(monitor.measurement_states), ["BatciSizeOptimizerClient"])
        time.sleep(0.05)
        first.on_evaluate(0.5)
        cases.expect("goes on below the target", (first.training_finished, first.cur_epoch, list(monitor.measurement_states)),
                     (False, 1, ["BatciSizeOptimizerClient"]))
        first.on_evaluate(0.95)
        cases.expect("ends at the target", (first.training_finished, list(monitor.measurement_states)), (True, []))
        first.on_evaluate(0.99)
        cases.expect("says nothing more after that", first.cur_epoch, 2)
        cases.expect("has counted", (first.running_time > 0, first.consumed_energy >= 0), (True, True))

        second = BatchSizeOptimizer(monitor, url, spec)
        cases.expect("the next smaller one then", (second.get_batch_size(), second.trial_number), (32, 2))
        second.on_train_begin()
        second.on_evaluate(0.1)
        second.on_evaluate(0.1)
        cases.expect_error("a size that does not converge", "ZeusBSOTrainFailError", second.on_evaluate, 0.1)
        cases.expect("has finished", second.training_finished, True)
        third = BatchSizeOptimizer(monitor, url, spec)
        cases.expect("the larger one then", third.get_batch_size(), 128)
        cases.expect_error("a server that is not there", "Exception", BatchSizeOptimizer, monitor, "http://127.0.0.1:9", spec)


def main() -> None:
    for work in (check_configuration, check_capabilities, check_requests, check_records):
        cases.in_a_process_of_its_own(work)
    check_batch_sizes(sys.argv[1])
    cases.print()


if __name__ == "__main__":
    main()

"""The promises of the existing daemon's interface, sentence by sentence, checked on zeusd with plain requests; and the
existing daemon's weak points, which zeusd must not have.

  zeus virtual '2xA100@root-only@limit=300' --shared --load constant:200W -- protocol_test.py ZEUSD [-k NAME]

Rows are requests and their expected answers. The numbers before them are of the sections that describe the existing daemon's
requests (4), queries (5), routes (6), errors (7), streams (8) and tokens (9); "+" marks deliberate differences.
"""

import argparse
import dataclasses
import email.utils
import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import tempfile
import time
import unittest
from typing import Callable

import daemon_session
from daemon_session import (KEY, SOMEBODY, Daemon, EventReader, Point0, as_user, ask, base64url, token,  # noqa: F401: Point0 is found
                            token_of, until)
from fault_session import Held

options = argparse.Namespace()
driver: daemon_session.Driver
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
CHALLENGE = 'Bearer realm="zeusd"'
BEGINS = "Query deserialize error: "
READ = token_of("ann", "gpu-read")
CONTROL = token_of("carl", "gpu-control")
CPU = token_of("cora", "cpu-read")
ALL = token_of("zoe", *daemon_session.ALL_GROUPS)


@dataclasses.dataclass
class Row:
    """A sentence, the request that tests it, and the expected answer."""

    says: str
    method: str
    target: str
    status: int
    kind: str | None = None  # the content type; "" for an empty body with its length
    has: tuple[str, ...] = ()
    bearer: str | None = None
    headers: dict = dataclasses.field(default_factory=dict)
    body: str | None = None
    check: Callable[[daemon_session.Answer], bool] | None = None
    answer_headers: dict = dataclasses.field(default_factory=dict)


def wrong_with(row: Row, answer: daemon_session.Answer) -> str | None:
    told = f"{answer.status} {answer.headers} {answer.body[:400]!r}"
    if answer.status != row.status:
        return f"status is not {row.status}: {told}"
    if abs(email.utils.parsedate_to_datetime(answer.headers["date"]).timestamp() - time.time()) > 60:
        return f"another time than ours: {told}"
    kind = row.kind if row.kind is not None else JSON
    if kind == "":
        if answer.body or answer.headers.get("content-length") != "0" or "content-type" in answer.headers:
            return f"it is not empty: {told}"
    elif answer.headers.get("content-type") != kind:
        return f"it is no {kind}: {told}"
    for name, value in row.answer_headers.items():
        if answer.headers.get(name) != value:
            return f"{name} is not {value}: {told}"
    if answer.status == 401 and answer.headers.get("www-authenticate") != CHALLENGE:
        return f"no challenge: {told}"
    if answer.status != 401 and "www-authenticate" in answer.headers:
        return f"a challenge without 401: {told}"
    if answer.status >= 400 and kind == JSON and not ({"error", "errors"} & set(answer.json)):
        return f"no reason in JSON: {told}"
    for piece in row.has:
        if piece not in answer.text:
            return f"'{piece}' is not in it: {told}"
    if row.check is not None and not row.check(answer):
        return f"its body is wrong: {told}"
    return None


def encoded(part) -> str:
    return base64url(json.dumps(part).encode())


def tampered() -> str:
    head, _, signature = READ.split(".")
    return ".".join([head, encoded({"sub": "eve", "scopes": ["gpu-control"]}), signature])


def now() -> int:
    return int(time.time())


LIMIT = "/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=250000"

# 4: what is checked, and in which order.
CONTROL_ALONE = [  # gpu-control alone, on a Unix socket, no key
    Row("4 a group that is not enabled is 404, which names it", "GET", "/gpu/get_power", 404, has=("gpu-read",)),
    Row("4 so is an unknown path under its prefix", "POST", "/gpu/zzz", 404, has=("gpu-read",)),
    Row("4 so are CPUs", "GET", "/cpu/get_power", 404, has=("cpu-read",)),
    Row("4 so is an unknown path of CPUs", "GET", "/cpu/zzz", 404, has=("cpu-read",)),
    Row("4 whatever the token", "GET", "/gpu/get_power", 404, has=("gpu-read",), bearer="nonsense"),
    Row("4 whatever the method", "DELETE", "/gpu/get_power", 404, has=("gpu-read",)),
    Row("4 set_ and reset_ are control: an unknown one is an unknown route", "POST", "/gpu/set_zzz", 404, kind=""),
    Row("4 the enabled group is served", "POST", "/gpu/set_power_limit", 400, kind=TEXT),
    Row("4 without tokens /auth/ is 404 with a reason", "GET", "/auth/whoami", 404),
    Row("4 whatever follows /auth/", "POST", "/auth/zzz", 404),
    Row("4 an unknown route is 404 without a body", "GET", "/zzz", 404, kind=""),
    Row("4 so is the root", "GET", "/", 404, kind=""),
    Row("6 /discover has GPUs where a GPU group is enabled, and no CPUs", "GET", "/discover", 200,
        check=lambda a: len(a.json["gpus"]) == 2 and a.json["cpus"] == [] and not a.json["auth_required"]
        and a.json["enabled_api_groups"] == ["gpu-control"]),
]
READING_ALONE = [  # cpu-read and gpu-read, over TCP, no key
    Row("4 control that is not enabled is 404", "POST", LIMIT, 404, has=("gpu-control",)),
    Row("4 so is what begins with reset_", "POST", "/gpu/reset_zzz", 404, has=("gpu-control",)),
    Row("4 so is a lease, ours", "POST", "/v1/leases/take?gpu_ids=0&term_s=30", 404, has=("gpu-control",)),
    Row("4 without a key nothing is asked for", "GET", "/gpu/get_power", 200),
    Row("4 and what is sent is not looked at", "GET", "/gpu/get_power", 200, bearer="nonsense"),
    Row("6 groups are in the order of the command line, and no token is asked for", "GET", "/discover", 200,
        check=lambda a: a.json["enabled_api_groups"] == ["cpu-read", "gpu-read"] and not a.json["auth_required"]),
]
OVER_TCP = [  # all groups, over TCP, with a key
    Row("4 /discover asks for no token", "GET", "/discover", 200, check=lambda a: a.json["auth_required"] is True),
    Row("4 /discover takes a bad one", "GET", "/discover", 200, bearer="nonsense"),
    Row("4 /time asks for no token", "GET", "/time", 200),
    Row("4 no token is 401", "GET", "/gpu/get_power", 401),
    Row("4 nor is one of another scheme", "GET", "/gpu/get_power", 401, headers={"Authorization": "Basic YTpi"}),
    Row("4 the scheme is written with a capital", "GET", "/gpu/get_power", 401,
        headers={"Authorization": f"bearer {READ}"}),
    Row("4 after it comes a space", "GET", "/gpu/get_power", 401, headers={"Authorization": f"Bearer:{READ}"}),
    Row("4 and one alone", "GET", "/gpu/get_power", 401, headers={"Authorization": f"Bearer  {READ}"}),
    Row("4 a bad token is 401", "GET", "/gpu/get_power", 401, bearer="nonsense", has=("Invalid token: ",)),
    Row("4 a token without the scope is 403", "POST", LIMIT, 403, bearer=READ, has=("ann", "gpu-control", "gpu-read")),
    Row("4 resetting needs gpu-control", "POST", "/gpu/reset_locked_clocks?gpu_ids=0&block=true", 403, bearer=READ),
    Row("4 other paths of GPUs need gpu-read", "GET", "/gpu/get_power", 403, bearer=CONTROL,
        has=("carl", "gpu-read", "gpu-control")),
    Row("4 so do unknown ones", "GET", "/gpu/zzz", 403, bearer=CONTROL),
    Row("4 paths of CPUs need cpu-read", "GET", "/cpu/get_power", 403, bearer=READ, has=("cpu-read",)),
    Row("4 with the scope it is served", "GET", "/gpu/get_power", 200, bearer=READ),
    Row("4 so are CPUs", "GET", "/cpu/get_cumulative_energy?cpu=true&dram=true", 200, bearer=CPU),
    Row("4 anything else wants a token", "GET", "/zzz", 401),
    Row("4 of no scope", "GET", "/zzz", 404, kind="", bearer=token_of("nil")),
    Row("4 the wrong method is 404 without a body, never 405", "POST", "/gpu/get_power", 404, kind="", bearer=ALL),
    Row("4 so it is of a setter", "GET", LIMIT, 404, kind="", bearer=ALL),
    Row("4 so it is of /discover", "PUT", "/discover", 404, kind=""),
    Row("4 so it is of /time", "DELETE", "/time", 404, kind=""),
    Row("4 a scope is looked at before the method", "PATCH", "/gpu/get_power", 403, bearer=CONTROL),
    Row("4 a token is looked at before the query", "GET", "/gpu/get_power?zzz=1", 401),
    Row("6 whoami", "GET", "/auth/whoami", 200, bearer=token_of("ann", "gpu-read", exp=now() + 3600),
        check=lambda a: list(a.json) == ["sub", "scopes", "exp"] and a.json["sub"] == "ann"
        and a.json["scopes"] == ["gpu-read"] and abs(a.json["exp"] - now() - 3600) < 600),
    Row("6 whoami has no exp where the token has none", "GET", "/auth/whoami", 200, bearer=READ,
        check=lambda a: a.json == {"sub": "ann", "scopes": ["gpu-read"]}),
    Row("6 whoami takes any valid token", "GET", "/auth/whoami", 200, bearer=token_of("nil"),
        check=lambda a: a.json["scopes"] == []),
    Row("6 and no other", "GET", "/auth/whoami", 401),
    # 9: tokens
    Row("9 the header needs no typ", "GET", "/gpu/get_power", 200,
        bearer=token({"sub": "a", "scopes": ["gpu-read"]}, header={"alg": "HS256"})),
    Row("9 another key", "GET", "/gpu/get_power", 401, has=("InvalidSignature",),
        bearer=token({"sub": "a", "scopes": ["gpu-read"]}, key=b"another key")),
    Row("9 claims that were changed", "POST", LIMIT, 401, has=("InvalidSignature",), bearer=tampered()),
    Row("9 no algorithm", "GET", "/gpu/get_power", 401, has=("InvalidAlgorithm",),
        bearer=f"{encoded({'alg': 'none'})}.{encoded({'sub': 'a', 'scopes': ['gpu-read']})}."),
    Row("9 HS384", "GET", "/gpu/get_power", 401, has=("InvalidAlgorithm",),
        bearer=token({"sub": "a", "scopes": ["gpu-read"]}, header={"alg": "HS384"}, digest=hashlib.sha384)),
    Row("9 HS512", "GET", "/gpu/get_power", 401, has=("InvalidAlgorithm",),
        bearer=token({"sub": "a", "scopes": ["gpu-read"]}, header={"alg": "HS512"}, digest=hashlib.sha512)),
    Row("9 an algorithm of public keys", "GET", "/gpu/get_power", 401, has=("InvalidAlgorithm",),
        bearer=token({"sub": "a", "scopes": ["gpu-read"]}, header={"alg": "RS256"})),
    Row("9 the signature is looked at before the claims", "GET", "/gpu/get_power", 401, has=("InvalidSignature",),
        bearer=token({"sub": "a", "exp": 1}, key=b"another key")),
    Row("9 sub lacks", "GET", "/gpu/get_power", 401, has=("JSON error: ",), bearer=token({"scopes": ["gpu-read"]})),
    Row("9 sub is a number", "GET", "/gpu/get_power", 401, has=("JSON error: ",),
        bearer=token({"sub": 7, "scopes": ["gpu-read"]})),
    Row("9 scopes lack", "GET", "/gpu/get_power", 401, has=("JSON error: ",), bearer=token({"sub": "a"})),
    Row("9 scopes are a text", "GET", "/gpu/get_power", 401, has=("JSON error: ",),
        bearer=token({"sub": "a", "scopes": "gpu-read"})),
    Row("9 an unknown scope spoils the others", "GET", "/gpu/get_power", 401, has=("JSON error: ",),
        bearer=token_of("a", "gpu-read", "gpu-fly")),
    Row("9 exp is a text", "GET", "/gpu/get_power", 401, has=("Invalid token: ",),
        bearer=token_of("a", "gpu-read", exp="soon")),
    Row("9 expired 30 s ago it still works", "GET", "/gpu/get_power", 200,
        bearer=token_of("a", "gpu-read", exp=now() + 570)),  # put back to 30 s before it is sent
    Row("9 expired 90 s ago it does not", "GET", "/gpu/get_power", 401, has=("expired",),
        bearer=token_of("a", "gpu-read", exp=now() - 90)),
    Row("9 aud is refused", "GET", "/gpu/get_power", 401, has=("InvalidAudience",),
        bearer=token_of("a", "gpu-read", aud="zeusd")),
    Row("9 nbf is not looked at", "GET", "/gpu/get_power", 200, bearer=token_of("a", "gpu-read", nbf=now() + 9999)),
    Row("9 iss is not looked at", "GET", "/gpu/get_power", 200, bearer=token_of("a", "gpu-read", iss="x")),
    Row("9 other claims are not looked at", "GET", "/gpu/get_power", 200, bearer=token_of("a", "gpu-read", zzz=[1])),
    Row("9 two parts", "GET", "/gpu/get_power", 401, has=("InvalidToken",), bearer=READ.rsplit(".", 1)[0]),
    Row("9 four parts", "GET", "/gpu/get_power", 401, has=("InvalidToken",), bearer=f"{READ}.x"),
    Row("9 padding", "GET", "/gpu/get_power", 401, has=("Invalid token: ",), bearer=f"{READ}="),
    Row("9 none at all", "GET", "/gpu/get_power", 401, headers={"Authorization": "Bearer "}),
    # What browsers send.
    Row("+ a foreign Host is refused", "GET", "/discover", 403, headers={"Host": "evil.example"}),
    Row("+ an Origin is refused", "GET", "/discover", 403, headers={"Origin": "http://evil.example"}),
]
ON_UNIX = [  # the same daemon, on its Unix socket
    Row("+ no token is asked for where the kernel says who asks", "GET", "/discover", 200,
        check=lambda a: a.json["auth_required"] is False),
    Row("+ so it is served", "GET", "/gpu/get_power", 200),
    Row("+ a token that is sent is looked at", "GET", "/gpu/get_power", 401, bearer="nonsense"),
    Row("+ and its scope", "GET", "/gpu/get_power", 403, bearer=CONTROL),
    Row("+ whoami is as without tokens", "GET", "/auth/whoami", 404),
    Row("4 any Host is taken there", "GET", "/gpu/get_power", 200, headers={"Host": "anything.example:80"}),
    Row("4 none is needed for HTTP/1.0 clients either", "GET", "/time", 200),
    # 5: queries
    Row("5 an unknown parameter", "GET", "/gpu/get_power?zzz=1", 400, kind=TEXT, has=(BEGINS, "unknown field")),
    Row("5 of a setter too", "POST", LIMIT + "&zzz=1", 400, kind=TEXT, has=(BEGINS, "unknown field")),
    Row("5 a repeated one", "GET", "/gpu/get_power?gpu_ids=0&gpu_ids=1", 400, kind=TEXT, has=(BEGINS, "duplicate field")),
    Row("5 no gpu_ids", "POST", "/gpu/set_power_limit?block=true&power_limit_mw=250000", 400, kind=TEXT,
        has=(BEGINS, "missing field", "gpu_ids")),
    Row("5 no block", "POST", "/gpu/set_power_limit?gpu_ids=0&power_limit_mw=250000", 400, kind=TEXT,
        has=(BEGINS, "missing field", "block")),
    Row("5 no limit", "POST", "/gpu/set_power_limit?gpu_ids=0&block=true", 400, kind=TEXT,
        has=(BEGINS, "missing field", "power_limit_mw")),
    Row("5 nothing", "POST", "/gpu/set_power_limit", 400, kind=TEXT, has=(BEGINS, "missing field")),
    Row("5 a number is no truth value", "POST", LIMIT.replace("true", "1"), 400, kind=TEXT,
        has=(BEGINS, "invalid", "true", "false")),
    Row("5 True neither", "POST", LIMIT.replace("true", "True"), 400, kind=TEXT, has=(BEGINS, "true", "false")),
    Row("5 an empty one neither", "POST", LIMIT.replace("true", ""), 400, kind=TEXT, has=(BEGINS,)),
    Row("5 enabled=yes neither", "POST", "/gpu/set_persistence_mode?gpu_ids=0&block=true&enabled=yes", 400, kind=TEXT,
        has=(BEGINS, "true", "false")),
    Row("5 a negative limit", "POST", LIMIT.replace("250000", "-1"), 400, kind=TEXT, has=(BEGINS, "invalid")),
    Row("5 a fraction", "POST", LIMIT.replace("250000", "250000.5"), 400, kind=TEXT, has=(BEGINS, "invalid")),
    Row("5 an exponent", "POST", LIMIT.replace("250000", "25e4"), 400, kind=TEXT, has=(BEGINS, "invalid")),
    Row("5 one beyond 32 bits", "POST", LIMIT.replace("250000", "4294967296"), 400, kind=TEXT, has=(BEGINS, "invalid")),
    Row("5 one beyond all bits", "POST", LIMIT.replace("250000", "9" * 40), 400, kind=TEXT, has=(BEGINS, "invalid")),
    Row("5 none", "POST", LIMIT.replace("250000", ""), 400, kind=TEXT, has=(BEGINS, "invalid")),
    Row("5 a word", "POST", LIMIT.replace("250000", "NaN"), 400, kind=TEXT, has=(BEGINS, "invalid")),
    Row("5 clocks likewise", "POST", "/gpu/set_gpu_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=x&max_clock_mhz=900",
        400, kind=TEXT, has=(BEGINS, "invalid")),
    Row("5 both clocks are needed", "POST", "/gpu/set_mem_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=600", 400,
        kind=TEXT, has=(BEGINS, "missing field", "max_clock_mhz")),
    Row("5 a bad percent", "GET", "/gpu/get_power?gpu_ids=%zz", 400, kind=TEXT, has=(BEGINS,)),
    Row("5 half a percent", "GET", "/gpu/get_power?gpu_ids=0%2", 400, kind=TEXT, has=(BEGINS,)),
    Row("5 parameters in a body do not count", "POST", "/gpu/set_power_limit", 400, kind=TEXT, has=("missing field",),
        headers={"Content-Type": "application/x-www-form-urlencoded"}, body="gpu_ids=0&block=true&power_limit_mw=250000"),
    Row("5 cpu and dram are both needed", "GET", "/cpu/get_cumulative_energy?cpu=true", 400, kind=TEXT,
        has=(BEGINS, "missing field", "dram")),
    Row("5 both", "GET", "/cpu/get_cumulative_energy?dram=true", 400, kind=TEXT, has=(BEGINS, "missing field")),
    Row("5 commas may be encoded", "GET", "/gpu/get_power?gpu_ids=0%2C1", 200,
        check=lambda a: list(a.json["power_mw"]) == ["0", "1"]),
    Row("5 spaces around numbers", "GET", "/gpu/get_power?gpu_ids=%201%20,%200", 200,
        check=lambda a: list(a.json["power_mw"]) == ["0", "1"]),
    Row("5 numbers are sorted, each once", "GET", "/gpu/get_power?gpu_ids=1,0,1,1", 200,
        check=lambda a: list(a.json["power_mw"]) == ["0", "1"]),
    Row("5 no number", "GET", "/gpu/get_power?gpu_ids=", 400),
    Row("5 an empty item", "GET", "/gpu/get_power?gpu_ids=0,,1", 400),
    Row("5 a comma at the end", "GET", "/gpu/get_power?gpu_ids=0,", 400),
    Row("5 a word", "GET", "/gpu/get_power?gpu_ids=a", 400),
    Row("5 a negative number", "GET", "/gpu/get_power?gpu_ids=-1", 400),
    Row("5 a fraction of a number", "GET", "/gpu/get_power?gpu_ids=0.5", 400),
    Row("5 a number too large", "GET", "/gpu/get_power?gpu_ids=99999999999999999999", 400),
    Row("5 of a setter too", "POST", LIMIT.replace("gpu_ids=0", "gpu_ids="), 400),
    Row("5 of CPUs too", "GET", "/cpu/get_power?cpu_ids=0,", 400),
    # 6: routes
    Row("6 a number beyond the GPUs is text for a setter", "POST", LIMIT.replace("gpu_ids=0", "gpu_ids=0,2"), 400, kind=TEXT),
    Row("6 and JSON for a read", "GET", "/gpu/get_power?gpu_ids=2", 400, has=("error",)),
    Row("6 for each read", "GET", "/gpu/get_persistence_mode?gpu_ids=7", 400, has=("error",)),
    Row("6 and for a stream, with what there is", "GET", "/gpu/stream_power?gpu_ids=7", 400, has=("7", "0", "1")),
    Row("6 so it is of CPUs", "GET", "/cpu/get_power?cpu_ids=2", 400, has=("error",)),
    Row("6 and their stream", "GET", "/cpu/stream_power?cpu_ids=2", 400, has=("2", "0", "1")),
    Row("6 present and empty is not absent", "GET", "/gpu/stream_power?gpu_ids=", 400),
    Row("6 /discover has these keys in this order first", "GET", "/discover", 200,
        check=lambda a: list(a.json)[:4] == ["gpus", "cpus", "enabled_api_groups", "auth_required"]
        and all(list(gpu)[:4] == ["id", "name", "pci_address", "cumulative_energy_available"] for gpu in a.json["gpus"])
        and all(list(cpu)[:2] == ["id", "dram_available"] for cpu in a.json["cpus"])),
    Row("6 ids are 0 to n-1", "GET", "/discover", 200,
        check=lambda a: [g["id"] for g in a.json["gpus"]] == [0, 1] and [c["id"] for c in a.json["cpus"]] == [0, 1]),
    Row("6 an address is dddd:bb:dd.f in lower case", "GET", "/discover", 200,
        check=lambda a: all(re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", g["pci_address"])
                            for g in a.json["gpus"])),
    Row("6 energy and memory are told", "GET", "/discover", 200,
        check=lambda a: all(g["cumulative_energy_available"] for g in a.json["gpus"])
        and [c["dram_available"] for c in a.json["cpus"]] == [True, False]),
    Row("+ UUID, vendor and driver beside", "GET", "/discover", 200,
        check=lambda a: all(g["uuid"].startswith("GPU-") and g["vendor"] == "nvidia" and g["driver"] for g in a.json["gpus"])),
    Row("6 /time is civil time in ms", "GET", "/time", 200,
        check=lambda a: list(a.json) == ["timestamp_ms"] and abs(a.json["timestamp_ms"] / 1000 - time.time()) < 5),
    Row("6 get_power is the driver's", "GET", "/gpu/get_power", 200,
        check=lambda a: list(a.json) == ["timestamp_ms", "power_mw"] and a.json["power_mw"] == {"0": 200000, "1": 200000}
        and abs(a.json["timestamp_ms"] / 1000 - time.time()) < 5),
    Row("6 of those asked for", "GET", "/gpu/get_power?gpu_ids=1", 200, check=lambda a: list(a.json["power_mw"]) == ["1"]),
    Row("6 get_cumulative_energy is the driver's", "GET", "/gpu/get_cumulative_energy", 200,
        check=lambda a: list(a.json) == ["0", "1"]
        and all(0 <= driver.energy(int(i)) - one["energy_mj"] < 30e6 for i, one in a.json.items())),
    Row("6 get_power_limit is the driver's", "GET", "/gpu/get_power_limit", 200,
        check=lambda a: a.json == {str(i): {"power_limit_mw": driver.limit(i)} for i in (0, 1)}),
    Row("6 get_power_limit_constraints", "GET", "/gpu/get_power_limit_constraints", 200,
        check=lambda a: a.json["1"] == {"min_power_limit_mw": 100000, "max_power_limit_mw": 400000}),
    Row("6 get_persistence_mode is the driver's", "GET", "/gpu/get_persistence_mode", 200,
        check=lambda a: a.json == {str(i): {"enabled": bool(driver.persistence(i))} for i in (0, 1)}),
    Row("6 CPU energy has both keys", "GET", "/cpu/get_cumulative_energy?cpu=true&dram=true", 200,
        check=lambda a: set(a.json) == {"0", "1"} and all(set(one) == {"cpu_energy_uj", "dram_energy_uj"}
                                                          for one in a.json.values())),
    Row("6 null where it is not available", "GET", "/cpu/get_cumulative_energy?cpu=true&dram=true", 200,
        check=lambda a: a.json["0"]["dram_energy_uj"] is not None and a.json["1"]["dram_energy_uj"] is None),
    Row("6 null where it is not asked for", "GET", "/cpu/get_cumulative_energy?cpu=false&dram=true&cpu_ids=0", 200,
        check=lambda a: a.json["0"]["cpu_energy_uj"] is None and a.json["0"]["dram_energy_uj"] is not None),
    Row("6 CPU power", "GET", "/cpu/get_power", 200,
        check=lambda a: list(a.json) == ["timestamp_ms", "power_mw"] and set(a.json["power_mw"]) == {"0", "1"}
        and a.json["power_mw"]["1"]["dram_mw"] is None and a.json["power_mw"]["0"]["cpu_mw"] >= 0),
    Row("6 limits that the driver refuses are errors of the GPU", "POST", LIMIT.replace("250000", "1000"), 400,
        check=lambda a: list(a.json["errors"]) == ["0"]),
    Row("6 so is a range that is none", "POST", "/gpu/set_gpu_locked_clocks?gpu_ids=1&block=true&min_clock_mhz=900"
        "&max_clock_mhz=600", 400, check=lambda a: list(a.json["errors"]) == ["1"]),
    # Ours
    Row("+ somebody else's lease, or none", "POST", "/v1/leases/release?lease=0123456789abcdef", 404),
    Row("+ parts that there are none of", "GET", "/v1/readings?gpu_ids=0&parts=energy,colour", 400, has=("supported_clocks",)),
    Row("+ a lease without a term", "POST", "/v1/leases/take?gpu_ids=0", 400, kind=TEXT, has=("missing field", "term_s")),
    Row("+ a term out of range", "POST", "/v1/leases/take?gpu_ids=0&term_s=1e9", 400, kind=TEXT),
    Row("+ no term at all", "POST", "/v1/leases/take?gpu_ids=0&term_s=0", 400),
]


class Protocol(unittest.TestCase):
    def expect(self, where, rows: list[Row]) -> None:
        for row in rows:
            with self.subTest(row.says):
                bearer = row.bearer
                if "expired 30 s ago" in row.says:
                    bearer = token_of("a", "gpu-read", exp=now() - 30)
                def answered(row=row, bearer=bearer):
                    one = ask(where, row.method, row.target, bearer=bearer, headers=row.headers, body=row.body)
                    # On a busy machine a guardian that is traced may take longer to start than a setter waits.
                    return one.status not in (503, 504) and one

                answer = until(answered, row.says)
                wrong = wrong_with(row, answer)
                self.assertIsNone(wrong, f"{row.says}: {row.method} {row.target}: {wrong}")

    def setUp(self):
        driver.clear_faults()
        # Sensors lag behind the true values.
        until(lambda: {driver.ask("nvmlDeviceGetPowerUsage", gpu) for gpu in (0, 1)} == {200_000}, "power is as loaded")
        self.found = driver.settings()
        self.addCleanup(self.expect_all_as_it_was)  # once the daemons have ended

    def expect_all_as_it_was(self):
        driver.clear_faults()
        until(lambda: driver.settings() == self.found, f"all is as it was: {self.found}")

    def daemon(self, *arguments, **more) -> Daemon:
        daemon = Daemon(options.zeusd, arguments, **more)
        daemon.start()
        self.addCleanup(lambda: daemon.__exit__())
        return daemon

    # Requests, queries, routes and tokens, row by row.

    def test_rows_with_control_alone(self):
        self.expect(self.daemon(groups=("gpu-control",)).socket, CONTROL_ALONE)

    def test_rows_with_reading_alone_over_tcp(self):
        self.expect(self.daemon(modes="tcp", groups=("cpu-read", "gpu-read")).tcp, READING_ALONE)

    def test_rows_over_tcp_and_on_the_unix_socket_at_once(self):
        before = driver.settings()
        daemon = self.daemon(modes="uds,tcp", key=KEY, rapl=True)
        self.expect(daemon.tcp, OVER_TCP)
        self.expect(daemon.socket, ON_UNIX)
        self.assertEqual(driver.settings(), before, "refused rows set nothing")
        count = sum(len(rows) for rows in (CONTROL_ALONE, READING_ALONE, OVER_TCP, ON_UNIX))
        self.assertGreaterEqual(count, 80)
        print(f"{count} rows", flush=True)

    def test_a_setter_sets_and_answers_with_nothing(self):
        daemon = self.daemon(modes="uds,tcp", key=KEY)
        found = driver.settings()

        def set_all() -> None:
            def post(target: str) -> None:
                row = Row("6 a setter answers 200 with an empty body", "POST", target, 200, kind="")
                wrong = wrong_with(row, daemon.post(target))
                assert wrong is None, f"{target}: {wrong}"

            here = daemon_session.Driver()
            until(lambda: daemon.post(LIMIT.replace("250000", "260000")).status == 200, "there is a guardian, whose start may take long")
            post("/gpu/set_power_limit?gpu_ids=0,1&block=true&power_limit_mw=250000")
            assert [here.limit(0), here.limit(1)] == [250_000, 250_000]
            post("/gpu/set_persistence_mode?gpu_ids=1&block=true&enabled=true")
            assert [here.persistence(0), here.persistence(1)] == [found[0][1], 1]
            post("/gpu/set_gpu_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=600&max_clock_mhz=900")
            assert here.clock(0) <= 900 < here.clock(1), (here.clock(0), here.clock(1))
            post("/gpu/reset_gpu_locked_clocks?gpu_ids=0&block=true")
            assert here.clock(0) == found[0][2]
            post("/gpu/set_mem_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=1215&max_clock_mhz=1215")
            post("/gpu/reset_mem_locked_clocks?gpu_ids=0&block=true")
            post("/gpu/set_gpu_locked_clocks?gpu_ids=1&block=true&min_clock_mhz=600&max_clock_mhz=900")
            post("/gpu/reset_locked_clocks?gpu_ids=0,1&block=true")
            assert here.clock(1) == found[1][2]
            post("/gpu/set_power_limit?gpu_ids=0&block=false&power_limit_mw=240000")
            until(lambda: here.limit(0) == 240_000, "a setter that nobody waits for is done")

        as_user(SOMEBODY, set_all)
        until(lambda: driver.settings() == found, "a setting ends with its holder")
        # Over TCP it belongs to the token.
        until(lambda: ask(daemon.tcp, "POST", LIMIT, bearer=ALL).status == 200, "it is set")
        self.assertEqual(driver.limit(0), 250_000)

    def test_ids_beyond_the_gpus_set_nothing(self):
        daemon = self.daemon()
        first = driver.next_call()
        self.assertEqual(daemon.post(LIMIT.replace("gpu_ids=0", "gpu_ids=0,1,2")).status, 400)
        self.assertEqual([c.entry_point for c in driver.calls(first) if b"Set" in c.entry_point], [])

    def test_requests_of_one_client_are_done_in_their_order(self):
        daemon = self.daemon()
        connection = daemon_session.connection_to(daemon.socket)
        # On a busy machine a traced guardian may take longer than a setter waits.
        until(lambda: daemon.post(LIMIT, connection=connection).status == 200, "the lease is taken")
        told = lambda: [o["status"] for o in daemon.get("/v1/outcomes").json["outcomes"]]  # noqa: E731
        before = len(told())
        driver.fault("slow delay=100ms call=nvmlDeviceSetPowerManagementLimit gpu=0")
        for watts in (210, 220, 230):
            target = f"/gpu/set_power_limit?gpu_ids=0&block=false&power_limit_mw={watts}000"
            self.assertEqual(daemon.post(target, connection=connection).status, 200)
        until(lambda: len(told()) == before + 3 and None not in told(), "all three are done")
        self.assertEqual(driver.limit(0), 230_000, "the last one stays in force")
        connection.close()

    # 7: errors of devices.

    def test_status_of_several_devices_is_the_largest(self):
        daemon = self.daemon()
        driver.fault("unsupported call=nvmlDeviceSetPowerManagementLimit gpu=0")
        driver.fault("lost gpu=1")
        answer = daemon.posted(LIMIT.replace("gpu_ids=0", "gpu_ids=0,1"))
        self.assertEqual((answer.status, sorted(answer.json["errors"])), (500, ["0", "1"]))
        driver.clear_faults()

    def test_a_failing_device_leaves_the_others_set_and_is_alone_in_the_answer(self):
        daemon = self.daemon()
        driver.fault("unsupported call=nvmlDeviceSetPowerManagementLimit gpu=0")
        answer = daemon.posted(LIMIT.replace("gpu_ids=0", "gpu_ids=0,1"))
        self.assertEqual((answer.status, list(answer.json["errors"])), (400, ["0"]))
        self.assertEqual((driver.limit(0), driver.limit(1)), (300_000, 250_000))

    def test_statuses_of_what_the_driver_says(self):
        daemon = self.daemon()
        for fault, target, method, status in (
            ("unsupported call=nvmlDeviceGetTotalEnergyConsumption gpu=0", "/gpu/get_cumulative_energy", "GET", 400),
            ("unsupported call=nvmlDeviceGetPersistenceMode gpu=0", "/gpu/get_persistence_mode", "GET", 400),
            ("permission call=nvmlDeviceSetPowerManagementLimit gpu=0", LIMIT, "POST", 403),
            ("lost gpu=0", "/gpu/get_power_limit", "GET", 500),
            ("lost gpu=0", "/gpu/get_power", "GET", 500),
        ):
            with self.subTest(fault):
                driver.fault(fault)
                answer = (daemon.posted if method == "POST" else daemon.get)(target)
                self.assertEqual((answer.status, list(answer.json["errors"])), (status, ["0"]), answer.body)
                driver.clear_faults()
                until(lambda: daemon.get("/gpu/get_power").status == 200, "it goes on")

    # 8: streams.

    def test_a_stream_has_these_headers_and_one_event_for_a_sample_of_a_device(self):
        daemon = self.daemon(rapl=True)
        reader = EventReader(daemon.socket, "/gpu/stream_power")
        headers = {name.lower(): value for name, value in reader.answer.getheaders()}
        self.assertEqual(reader.answer.status, 200)
        self.assertEqual(headers["content-type"], "text/event-stream")
        self.assertEqual(headers["cache-control"], "no-cache")
        self.assertEqual(headers["transfer-encoding"], "chunked")
        seen = {}
        while len(seen) < 2:
            event = reader.data()
            self.assertEqual(list(event), ["timestamp_ms", "gpu_id", "power_mw"])
            seen[event["gpu_id"]] = event["power_mw"]
        self.assertEqual(set(seen), {0, 1})
        driver.load(1, "constant:120W")
        self.addCleanup(driver.load, 1, "constant:200W")
        until(lambda: (event := reader.data())["gpu_id"] == 1 and event["power_mw"] == 120_000, "a change is told")
        reader.close()
        cpus = EventReader(daemon.socket, "/cpu/stream_power?cpu_ids=1")
        event = cpus.data()
        self.assertEqual(list(event), ["timestamp_ms", "cpu_id", "cpu_mw", "dram_mw"])
        self.assertEqual((event["cpu_id"], event["dram_mw"]), (1, None))
        cpus.close()

    def test_a_stream_of_no_device_stays_open(self):
        daemon = self.daemon(groups=("cpu-read", "gpu-read"))
        reader = EventReader(daemon.socket, "/cpu/stream_power")
        self.assertEqual(reader.answer.status, 200)
        for _ in range(2):
            self.assertEqual(reader.event()[0], "", "a comment, no sample")
        reader.close()

    # 5.1: the existing daemon's weak points, by number; zeusd must do the opposite.

    def slow_setters(self, daemon: Daemon, gpu: int = 0, seconds: float = 3.0):
        """A setter of that GPU hangs for this long; returns once it hangs, with the client's socket."""
        driver.fault(f"slow delay={seconds:g}s call=nvmlDeviceSetPowerManagementLimit gpu={gpu} times=1")
        hung = socket.socket(socket.AF_UNIX)
        hung.connect(daemon.socket)
        target = f"/gpu/set_power_limit?gpu_ids={gpu}&block=true&power_limit_mw=250000"
        hung.sendall(f"POST {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.addCleanup(hung.close)
        until(lambda: [one for lease in daemon.get("/v1/leases").json["leases"] for one in lease["gpus"]
                       if one["id"] == gpu and one["asked"]], "the setter is called")
        return hung

    def test_weak_1_a_setter_that_hangs_holds_up_no_other_device(self):
        daemon = self.daemon(rapl=True)
        for _ in range(3):
            begun = time.monotonic()
            hung = self.slow_setters(daemon)
            self.assertEqual(daemon.post(LIMIT.replace("gpu_ids=0", "gpu_ids=1")).status, 200)
            self.assertEqual(daemon.get("/gpu/get_power?gpu_ids=1").status, 200)
            self.assertEqual(daemon.get("/cpu/get_power").status, 200)
            self.assertEqual(daemon.get("/discover").status, 200)
            self.assertLess(time.monotonic() - begun, 3.0, "longer than the hang lasts")
            answer = http.client.HTTPResponse(hung)
            answer.begin()
            answer.read()
            again = daemon.post(LIMIT.replace("250000", "240000"))
            if (answer.status, again.status) == (504, 503):
                break
            # On a busy machine the hang may be over before both are answered.
            until(lambda: daemon.post(LIMIT.replace("250000", "240000")).status == 200, "it is not stuck any more")
        self.assertEqual(answer.status, 504, "driver calls have a timeout")
        self.assertEqual((again.status, "retry-after" in again.headers), (503, True), "it is known to be stuck")
        until(lambda: driver.limit(0) == 250_000, "what hung is done")
        until(lambda: daemon.post(LIMIT.replace("250000", "240000")).status == 200, "it is not stuck any more")

    def test_weak_1_sigterm_ends_a_daemon_with_a_stuck_driver(self):
        daemon = self.daemon()
        until(lambda: daemon.post(LIMIT.replace("gpu_ids=0", "gpu_ids=1")).status == 200, "it is set")
        begun = time.monotonic()
        self.slow_setters(daemon, seconds=14.0)
        self.assertEqual(daemon.stop(), 0)
        self.assertLess(time.monotonic() - begun, 14.0, "it would have to wait for the driver")
        self.assertEqual(driver.limit(1), 300_000)

    def test_weak_2_reads_do_not_wait_for_setters(self):
        daemon = self.daemon()
        begun = time.monotonic()
        self.slow_setters(daemon, seconds=5.0)
        for target in ("/gpu/get_power?gpu_ids=0", "/gpu/get_power_limit", "/gpu/get_cumulative_energy"):
            self.assertEqual(daemon.get(target).status, 200)
        self.assertLess(time.monotonic() - begun, 5.0, "longer than the hang lasts")

    def test_weak_3_queues_have_an_end_and_drop_who_has_gone(self):
        daemon = self.daemon()
        begun = time.monotonic()
        self.slow_setters(daemon, seconds=1.5)
        gone = []
        for watts in range(101, 121):
            one = socket.socket(socket.AF_UNIX)
            one.connect(daemon.socket)
            target = f"/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw={watts}000"
            one.sendall(f"POST {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            gone.append(one)
        time.sleep(0.2)
        for one in gone:
            one.close()
        are_gone_in_time = time.monotonic() - begun < 1.0
        first = driver.next_call()
        until(lambda: driver.limit(0) == 250_000, "what hung is done")
        statuses = []
        driver.fault("slow delay=500ms call=nvmlDeviceSetPowerManagementLimit gpu=0")
        connection = daemon_session.connection_to(daemon.socket)
        for _ in range(300):
            statuses.append(daemon.post(LIMIT.replace("true", "false"), connection=connection).status)
        connection.close()
        # Where the machine paused meanwhile, a call of half a second is late, and those after it get 503.
        self.assertEqual(set(statuses) - {503}, {200, 429}, "too many requests get 429")
        driver.clear_faults()
        calls = [c for c in driver.calls(first) if c.entry_point == b"nvmlDeviceSetPowerManagementLimit"]
        outcomes = daemon.get("/v1/outcomes").json["outcomes"]
        if are_gone_in_time:  # before the hang ended
            self.assertFalse({o["asked"].get("power_limit_w") for o in outcomes if o["status"] == 200} & set(range(101, 121)),
                             f"nobody waited for it any more: {len(calls)}")

    def test_weak_4_an_outcome_without_a_waiting_client_can_be_read(self):
        daemon = self.daemon()
        driver.fault("permission call=nvmlDeviceSetPowerManagementLimit gpu=1")
        answer = daemon.post("/gpu/set_power_limit?gpu_ids=0,1&block=false&power_limit_mw=250000")
        self.assertEqual(answer.status, 200, answer.body)
        outcomes = lambda: daemon.get("/v1/outcomes").json["outcomes"]  # noqa: E731
        until(lambda: len(outcomes()) == 2 and None not in [o["status"] for o in outcomes()], "both are known")
        told = {o["gpu_id"]: o for o in outcomes()}
        self.assertEqual((told[0]["status"], told[0]["enforced"]), (200, {"power_limit_w": 250.0}))
        self.assertEqual((told[1]["status"], told[1]["asked"]), (403, {"power_limit_w": 250.0}))
        self.assertTrue(told[1]["error"])

    def test_weak_5_the_first_sample_is_fresh(self):
        daemon = self.daemon()
        first = EventReader(daemon.socket, "/gpu/stream_power?gpu_ids=0")
        first.data()
        first.close()
        time.sleep(1.5)
        before = time.time()
        second = EventReader(daemon.socket, "/gpu/stream_power?gpu_ids=0")
        self.assertGreaterEqual(second.data()["timestamp_ms"] / 1000, before - 0.01)
        second.close()

    def test_weak_6_constant_power_is_no_silence(self):
        daemon = self.daemon()
        reader = EventReader(daemon.socket, "/gpu/stream_power?gpu_ids=0")
        reader.data()
        times = [time.monotonic()]
        for _ in range(3):
            reader.event()
            times.append(time.monotonic())
        self.assertLess(max(after - before for before, after in zip(times, times[1:])), 5.0)
        reader.close()

    def test_weak_7_nothing_is_read_for_a_client_that_has_gone(self):
        daemon = self.daemon(rapl=True)

        def sockets() -> int:
            return Held.by(daemon.process.pid).descriptors["socket"]

        before = sockets()
        for target in ("/gpu/stream_power", "/cpu/stream_power"):
            reader = EventReader(daemon.socket, target)
            reader.data()
            reader.close()

        def quiet() -> bool:
            first = driver.next_call()
            time.sleep(0.5)
            return not [c for c in driver.calls(first) if c.process == daemon.process.pid]

        until(quiet, "no more calls for a stream that nobody reads")
        until(lambda: sockets() <= before, "no socket is left")

    def test_weak_8_power_of_cpus_is_over_the_time_that_passed(self):
        daemon = self.daemon(rapl=True)
        reader = EventReader(daemon.socket, "/cpu/stream_power?cpu_ids=0")
        reader.data()
        # A stall: the sample after it is neither a spike nor a zero.
        begin, watts, powers = time.monotonic(), 50.0, []
        base = daemon.rapl.get("intel-rapl:0")
        daemon.process.send_signal(signal.SIGSTOP)
        stopped = True
        last, longest = begin, 0.0
        while time.monotonic() - begin < 3.0 or len(powers) < 10:
            now = time.monotonic()
            daemon.rapl.put("intel-rapl:0", base + int((now - begin) * watts * 1e6))
            last, longest = now, max(longest, now - last)
            if stopped and time.monotonic() - begin > 1.0:
                daemon.process.send_signal(signal.SIGCONT)
                stopped = False
            if not stopped:
                powers.append(reader.data()["cpu_mw"])
        reader.close()
        # The test's counter moves in steps, over a tenth of a second or, on a busy machine, over longer.
        self.assertLess(max(powers), 50_000 * (4 + 10 * longest), "a spike as from samples without a pause")

    def test_weak_9_power_without_the_instantaneous_field(self):
        driver.fault("unsupported call=nvmlDeviceGetFieldValues gpu=0")
        daemon = self.daemon()
        answer = daemon.get("/gpu/get_power?gpu_ids=0")
        self.assertEqual((answer.status, answer.json.get("power_mw")), (200, {"0": 200_000}), answer.body)
        self.assertLess(daemon.log().count("warning"), 3, daemon.log())

    def test_weak_10_counters_of_cpus_go_on_over_a_restart_and_over_wraps(self):
        daemon = self.daemon(rapl=True)
        energy = lambda: daemon.get("/cpu/get_cumulative_energy?cpu=true&dram=true").json["0"]["cpu_energy_uj"]  # noqa: E731
        top = daemon_session.RaplTree.RANGE
        daemon.rapl.put("intel-rapl:0", top - 1000)
        first = energy()
        daemon.rapl.put("intel-rapl:0", 5000)
        second = energy()
        self.assertTrue(5990 <= second - first <= 6010, (first, second))
        self.assertEqual(daemon.stop(), 0)
        daemon.rapl.put("intel-rapl:0", 9000)
        daemon.start()
        self.assertEqual(energy() - second, 4000)

    def test_weak_11_the_socket_is_not_for_everybody(self):
        with tempfile.TemporaryDirectory() as folder:
            plain = Daemon(options.zeusd, folder=folder)
            where = plain.words.index("--socket-permissions")
            del plain.words[where:where + 2]
            plain.start()
            self.addCleanup(lambda: plain.__exit__())
            self.assertEqual(stat.S_IMODE(os.stat(plain.socket).st_mode), 0o660)

            def refused() -> str:
                try:
                    ask(plain.socket, "GET", "/discover")
                    return ""
                except PermissionError as error:
                    return type(error).__name__

            self.assertEqual(as_user(SOMEBODY, refused), "PermissionError")
            self.assertEqual(stat.S_IMODE(os.stat(plain.admin).st_mode), 0o600)
            plain.__exit__()
        refused = Daemon(options.zeusd, modes="tcp")
        refused.start(wait=False)
        self.assertNotEqual(refused.process.wait(daemon_session.PATIENCE), 0, "no control over TCP without a key")
        self.assertIn("--signing-key-path", refused.log())
        self.assertLessEqual(len(refused.log().strip().splitlines()), 2)
        refused.close()

    def test_weak_12_one_holder_for_each_gpu_and_all_is_put_back(self):
        daemon = self.daemon()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.setresuid(SOMEBODY, SOMEBODY, SOMEBODY)
            while (status := daemon.post(LIMIT).status) in (503, 504):  # the machine is busy
                pass
            os.write(write, str(status).encode())
            time.sleep(60)
            os._exit(0)
        self.assertEqual(os.read(read, 3), b"200")
        second = daemon.post(LIMIT.replace("250000", "200000"))
        self.assertEqual((second.status, driver.limit(0)), (409, 250_000), second.body)
        self.assertIn(str(child), second.text, "the answer names the holder")
        lease = daemon.post("/v1/leases/take?gpu_ids=0,1&term_s=30")
        self.assertEqual((lease.status, lease.json["holder"]["uid"], lease.json["holder"]["pid"]), (409, SOMEBODY, child))
        self.assertEqual(driver.limit(1), 300_000)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        until(lambda: driver.settings() == self.found, "it is put back when its holder dies")
        until(lambda: daemon.post(LIMIT).status == 200, "the GPU is free again")
        self.assertEqual(driver.limit(0), 250_000)
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(driver.settings(), self.found, "it is put back when the daemon stops")

    def test_weak_13_tokens_are_revoked_and_keys_retired_without_a_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            keys = pathlib.Path(folder) / "keys"
            keys.mkdir(mode=0o700)
            for name, text in (("2025", b"old key\n"), ("2026", b"new key\n")):
                (keys / name).write_bytes(text)
                (keys / name).chmod(0o600)
            daemon = self.daemon("--signing-key-path", str(keys), modes="uds,tcp")
            claims = {"sub": "ann", "scopes": ["gpu-read"]}

            def status(bearer: str) -> int:
                return ask(daemon.tcp, "GET", "/gpu/get_power", bearer=bearer).status

            old = token(claims, key=b"old key\n")
            self.assertEqual(status(old), 200, "a token of the existing daemon has no key id")
            self.assertEqual(status(token(claims, key=b"old key")), 200, "with or without the line's end")
            self.assertEqual(status(token(claims, key=b"new key\n", header={"alg": "HS256", "kid": "2026"})), 200)
            issue = [options.zeusd, "token", "issue", "--signing-key-path", str(keys), "--user", "ann", "--scope",
                     "gpu-read", "--expires", "1h"]
            issued = subprocess.run(issue, capture_output=True, text=True, check=True).stdout.strip()
            self.assertEqual(status(issued), 200)
            told = ask(daemon.tcp, "GET", "/auth/whoami", bearer=issued).json
            self.assertEqual((told["sub"], told["scopes"]), ("ann", ["gpu-read"]))
            stolen = pathlib.Path(folder) / "stolen"
            stolen.write_text(issued)
            subprocess.run([options.zeusd, "token", "revoke", "--signing-key-path", str(keys), "--token-file", str(stolen),
                            "--admin-socket", daemon.admin], capture_output=True, check=True)
            self.assertEqual(status(issued), 401, "revoked")
            (keys / "2025").unlink()
            subprocess.run([options.zeusd, "reload", "--admin-socket", daemon.admin], capture_output=True, check=True)
            self.assertEqual((status(old), status(token(claims, key=b"new key\n"))), (401, 200), "a retired key")
            self.assertNotIn(issued, daemon.log(), "no token is logged")
            self.assertNotIn("new key", daemon.log())

    def test_weak_14_a_socket_never_has_wider_rights_and_a_stale_one_is_replaced(self):
        daemon = self.daemon(permissions="600")
        self.assertEqual(stat.S_IMODE(os.stat(daemon.socket).st_mode), 0o600)
        second = Daemon(options.zeusd)
        self.addCleanup(second.close)
        second.words[second.words.index("--socket-path") + 1] = daemon.socket
        second.start(wait=False)
        self.assertNotEqual(second.process.wait(daemon_session.PATIENCE), 0)
        self.assertEqual(daemon.get("/time").status, 200, "the first one still listens")
        daemon.process.kill()
        daemon.process.wait()
        self.assertTrue(os.path.exists(daemon.socket))
        daemon.start()
        self.assertEqual(daemon.get("/time").status, 200, "a stale one is replaced")
        self.assertEqual(daemon.stop(), 0)
        self.assertFalse(os.path.exists(daemon.socket), "and removed at the end")

    def test_weak_15_commands_are_killed_whole_and_their_file_must_be_trusted(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            file = pathlib.Path(folder) / "commands.toml"
            pids = pathlib.Path(folder) / "pids"
            file.write_text(f"[set_power_limit]\ncommands = [\"sh -c 'sleep 300 & echo $! >> {pids}; read x; echo $? >> "
                            f"{pids}; trap \\\"\\\" TERM; while true; do sleep 1; done'\"]\ntimeout_s = 3\n")
            file.chmod(0o644)
            daemon = self.daemon("--gpu-command-overrides", str(file))
            since = time.monotonic()
            answer = daemon.post(LIMIT)
            self.assertEqual(answer.status, 504 if answer.status == 504 else 500, answer.body)
            until(lambda: pids.exists() and len(pids.read_text().split()) == 2, "stdin is closed: read ends at once")
            child, read_code = pids.read_text().split()
            self.assertNotEqual(read_code, "0")
            until(lambda: not daemon_session.is_running(int(child)), "the whole group is killed")
            print(f"killed whole within {time.monotonic() - since:.1f} s", flush=True)
            self.assertEqual(driver.limit(0), 300_000)
            for mode, owner in ((0o666, 0), (0o664, 0), (0o644, SOMEBODY)):
                file.chmod(mode)
                os.chown(file, owner, 0)
                other = Daemon(options.zeusd, ("--gpu-command-overrides", str(file)))
                other.start(wait=False)
                self.assertNotEqual(other.process.wait(daemon_session.PATIENCE), 0, oct(mode))
                self.assertIn("commands.toml", other.log())
                other.close()

    def test_weak_16_zones_that_are_no_packages_and_malformed_ones(self):
        daemon = Daemon(options.zeusd, rapl=True)
        self.addCleanup(lambda: daemon.__exit__())
        (daemon.folder / "powercap/intel-rapl/intel-rapl:0/intel-rapl:0:0/energy_uj").write_text("rubbish\n")
        (daemon.folder / "powercap/intel-rapl/intel-rapl:0/intel-rapl:0:1").mkdir()
        daemon.start()
        self.assertEqual(len(daemon.get("/discover").json["cpus"]), 2, "psys is no package")
        answer = daemon.get("/cpu/get_cumulative_energy?cpu=true&dram=false")
        self.assertEqual((answer.status, answer.json["0"]["cpu_energy_uj"] is not None), (200, True), answer.body)

    def test_weak_16_a_node_without_rapl(self):
        daemon = self.daemon()
        self.assertEqual(daemon.get("/discover").json["cpus"], [])
        self.assertEqual(daemon.get("/cpu/get_cumulative_energy?cpu=true&dram=true").json, {})
        self.assertEqual(daemon.get("/cpu/get_power").json["power_mw"], {})

    def test_weak_17_the_driver_is_opened_once(self):
        first = driver.next_call()
        daemon = self.daemon()
        for _ in range(5):
            daemon.get("/gpu/get_power")
        opened = [c for c in driver.calls(first) if c.process == daemon.process.pid and b"nvmlInit" in c.entry_point]
        self.assertLessEqual(len(opened), 2, "however many GPUs")

    def test_weak_18_a_line_of_the_log_is_of_its_own_request(self):
        daemon = self.daemon()
        self.slow_setters(daemon)
        daemon.get("/gpu/get_power?gpu_ids=1")
        lines = until(lambda: len(found := [line for line in daemon.log().splitlines() if "/gpu/" in line]) > 1 and found,
                      "both are answered")
        self.assertEqual([sum(text in line for line in lines) for text in ("GET /gpu/get_power 200", "POST /gpu/set_power_limit 504")],
                         [1, 1], lines)

    def test_weak_19_a_lost_gpu_keeps_its_number_and_comes_back(self):
        daemon = self.daemon()
        driver.fault("lost gpu=0")
        self.assertEqual(daemon.get("/gpu/get_power?gpu_ids=0").status, 500)
        self.assertEqual(daemon.get("/gpu/get_power?gpu_ids=1").status, 200)
        self.assertEqual([gpu["id"] for gpu in daemon.get("/discover").json["gpus"]], [0, 1])
        driver.clear_faults()
        until(lambda: daemon.get("/gpu/get_power?gpu_ids=0").status == 200, "it is opened anew, without a restart")
        until(lambda: daemon.post(LIMIT).status == 200, "and can be set")
        self.assertEqual(driver.limit(0), 250_000)

    def test_weak_20_what_commands_print_is_not_shown_to_clients(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            file = pathlib.Path(folder) / "commands.toml"
            file.write_text("[set_power_limit]\ncommands = [\"sh -c 'echo secret-word; echo secret-error >&2; exit 3' name\"]\n")
            file.chmod(0o644)
            daemon = self.daemon("--gpu-command-overrides", str(file))
            answer = daemon.post(LIMIT)
            self.assertEqual((answer.status, list(answer.json["errors"])), (500, ["0"]))
            for word in ("secret", "sh -c", "exit 3"):
                self.assertNotIn(word, answer.text)
                self.assertNotIn(word, daemon.get("/v1/outcomes").text)


if __name__ == "__main__":
    driver, words = daemon_session.begin(options)
    unittest.main(argv=words)

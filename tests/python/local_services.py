"""Local servers that speak the interfaces of ElectricityMaps, OpenEI and the Pushgateway, and misbehave as they are told to.

  local_services.py WAY      a gateway, whose address it prints
"""

import contextlib
import http.server
import json
import pathlib
import ssl
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone


def hour_now() -> datetime:
    return datetime.fromtimestamp(time.time(), timezone.utc).replace(minute=0, second=0, microsecond=0)


def electricity_maps(value=400.0) -> dict:
    """The last 24 hours, this one included, all with this value."""
    hours = [hour_now() - timedelta(hours=ago) for ago in range(23, -2, -1)]
    return {"/v3/carbon-intensity/latest": {"carbonIntensity": value},
            "/v3/carbon-intensity/history": {"history": [
                {"datetime": hour.isoformat().replace("+00:00", "Z"), "carbonIntensity": value} for hour in hours]}}


class Service(http.server.ThreadingHTTPServer):
    """`answers` maps a path, without its query, to a value that is sent as JSON; `way` is how. `requests` has each one's method,
    path with query, headers and body."""

    daemon_threads = True

    def __init__(self, answers: dict) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.way = "well"
        self.requests: list = []
        self.released = threading.Event()  # ends what hangs
        self.url = f"http://127.0.0.1:{self.server_port}"

    def use_certificate(self, folder: pathlib.Path, hosts: tuple) -> None:
        """One that signs itself, in `folder`/certificate."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key", "-out", folder / "certificate",
                        "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts)],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "certificate", folder / "key")
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address) -> None:
        pass  # a client that goes away


class Handler(http.server.BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        service = self.server
        length = int(self.headers.get("Content-Length") or 0)
        service.requests.append((self.command, self.path, dict(self.headers), self.rfile.read(length)))
        answer = service.answers.get(self.path.partition("?")[0])
        content = json.dumps(answer).encode()
        if service.way == "hang":
            service.released.wait(60.0)
        if service.way == "fail" or answer is None:
            self.send_error(500 if service.way == "fail" else 404)
            return
        self.send_response(200)
        if service.way == "endless":
            self.send_header("Content-Length", str(10 * 1024**3))
            self.end_headers()
            while not service.released.is_set():
                self.wfile.write(b" " * 65536)
        elif service.way == "dribble":
            self.end_headers()
            for byte in content:
                if service.released.wait(1.0):
                    return
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
        else:
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    do_PUT = do_POST = do_GET

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        pass


@contextlib.contextmanager
def running(answers: dict, certificate_in=None, hosts=("localhost",)):
    service = Service(answers)
    if certificate_in is not None:
        service.use_certificate(pathlib.Path(certificate_in), hosts)
    thread = threading.Thread(target=service.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.released.set()
        service.shutdown()
        service.server_close()


@contextlib.contextmanager
def in_a_process(way: str):
    """The address of a gateway that does not share this interpreter's lock."""
    with subprocess.Popen([sys.executable, __file__, way], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


if __name__ == "__main__":
    with running({}) as gateway:
        gateway.way = sys.argv[1]
        gateway.answers = {"/metrics/job/" + sys.argv[1]: {}}
        print(gateway.url, flush=True)
        threading.Event().wait()

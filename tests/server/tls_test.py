"""Clients of `zeus serve` by TLS, through Debian's nginx as docs/server.md sets it up, with certificates of an authority of
their own: what is accepted, what is refused and how that is said, and that a training goes on whatever the server does.

  tls_test.py ZEUS ZEUSD KEPT_JOB KEPT_JOB_IN_C PACKAGE
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import server_session as session

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 120
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
zeus, zeusd, package, programs = "", "", "", {}
TRAINER = textwrap.dedent("""
    import sys
    print("training", flush=True)
    for epoch in range(1, 4):
        if len(sys.argv) > 1:
            sys.stdin.readline()
        print(f"epoch {epoch} accuracy {epoch / 3:.3f}", flush=True)
    """)
CLIENT = """
import sys
from zeus.monitor import ZeusMonitor
from zeus.optimizer.batch_size import BatchSizeOptimizer, JobSpec
job = JobSpec(job_id="in Python", job_id_prefix="in Python", batch_sizes=[32, 64], default_batch_size=32, max_epochs=5,
              target_metric=0.9)
print(BatchSizeOptimizer(ZeusMonitor(), sys.argv[1], job).get_batch_size())
"""


def openssl(folder: pathlib.Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


class Certificates:
    """An authority, and servers of its own and of others."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        for authority in ("ca", "other"):
            self.sign_itself(authority, "/CN=an authority")
        self.sign("good", "ca", "DNS:localhost,IP:127.0.0.1")
        self.sign("wrong", "ca", "DNS:other.example")
        self.sign("expired", "ca", "DNS:localhost", days=-1)
        self.sign("unknown", "other", "DNS:localhost")
        self.sign_itself("alone", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=CA:FALSE")

    def sign_itself(self, name: str, subject: str, *more: str) -> None:
        openssl(self.folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key",
                "-out", f"{name}.pem", "-days", "2", "-subj", subject, *more)

    def sign(self, name: str, authority: str, names: str, days: int = 2) -> None:
        openssl(self.folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out",
                f"{name}.csr", "-subj", "/CN=a server", "-addext", f"subjectAltName={names}")
        openssl(self.folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
                "-CAcreateserial", "-days", str(days), "-copy_extensions", "copy", "-out", f"{name}.pem")


def documented() -> str:
    """The proxy's configuration of docs/server.md."""
    page = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    return textwrap.dedent(re.search(r"^    # nginx:.*\n((?:    .*\n)+)", page, re.MULTILINE)[1])


class Nginx:
    """The documented proxy before a server of jobs; beside it, others that differ in their certificate or protocol."""

    def __init__(self, folder: pathlib.Path, certificates: Certificates, backend: str):
        self.folder, self.process = folder, None
        names = ("good", "wrong", "expired", "unknown", "alone", "old")
        self.ports = dict(zip(names, session.free_ports(len(names))))
        text = re.sub(r"(server 10\.0\.0\.\d:8470; )+", f"server {backend}; ", documented())
        blocks = [self.block(text, "good", certificates)]
        of_server = text[text.index("server {"):]
        for name in names[1:]:
            blocks.append(self.block(of_server, name, certificates))
        rest = "".join(f"{what}_temp_path {folder}/{what};\n" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;\nevents {{}}\n"
            f"http {{ access_log off;\n{rest}{''.join(blocks)} }}\n", encoding="utf-8")
        self.start()

    def block(self, text: str, name: str, certificates: Certificates) -> str:
        certificate = certificates.folder / ("good" if name == "old" else name)
        text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{self.ports[name]} ssl;")
        text = re.sub(r"ssl_certificate \S+;", f"ssl_certificate {certificate}.pem;", text)
        text = re.sub(r"ssl_certificate_key \S+;", f"ssl_certificate_key {certificate}.key;", text)
        if name == "old":
            text = text.replace("server {", "server { ssl_protocols TLSv1 TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;", 1)
        return text

    def url(self, name: str, host: str = "localhost") -> str:
        return f"https://{host}:{self.ports[name]}"

    def start(self) -> None:
        self.process = subprocess.Popen([NGINX, "-p", self.folder, "-c", self.folder / "nginx.conf", "-e", self.folder / "error.log"],
                                        stdin=subprocess.DEVNULL)
        for port in self.ports.values():
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    assert self.process.poll() is None, (self.folder / "error.log").read_text(encoding="utf-8")
                    time.sleep(0.1)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Mute:
    """Accepts connections, sends these bytes, and then neither answers nor closes."""

    def __init__(self, words: bytes):
        self.words, self.socket, self.held = words, socket.create_server(("127.0.0.1", 0)), []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while True:
            try:
                one, _ = self.socket.accept()
                one.recv(1)
                one.sendall(self.words)
            except OSError:
                return
            self.held.append(one)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.socket.getsockname()[1]}"

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()
        for one in self.held:
            one.close()


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = pathlib.Path(held.name)
        cls.certificates = Certificates(cls.folder)
        cls.key = session.write_key(cls.folder)
        cls.server = session.Server(zeus, cls.folder, "--behind-proxy", "--signing-key-path", str(cls.key))
        cls.addClassCleanup(cls.server.kill)
        cls.nginx = Nginx(cls.folder, cls.certificates, f"127.0.0.1:{cls.server.port}")
        cls.addClassCleanup(cls.nginx.kill)
        (cls.folder / "state").mkdir(mode=0o700)
        (cls.folder / "train.py").write_text(TRAINER, encoding="utf-8")
        token = session.token("ann", ["jobs-read", "jobs-write", "jobs-admin"], 3600)
        cls.environment = session.environment() | {
            "HOME": held.name, "XDG_DATA_HOME": f"{held.name}/data", "XDG_RUNTIME_DIR": f"{held.name}/state",
            "ZEUS_STATE_DIR": f"{held.name}/state", "ZEUS_TOKEN": token, "ZEUS_CA_FILE": f"{held.name}/ca.pem"}

    def start_run(self, url: str, *flags: str, by_line: bool = False, **variables: str) -> subprocess.Popen:
        running = subprocess.Popen(
            [zeus, "virtual", "1xV100", "--load", "constant:240W", "--", zeus, "run", "--server", url, "--job", "nightly/a b",
             "--batch-sizes", "10", "--default-batch-size", "10", "--target-metric", "0.9", "--metric-regex", r"accuracy (\S+)",
             "--epoch-regex", r"^epoch (\d+)", "--power-limits", "off", *flags, "--", sys.executable, "train.py",
             *(["by line"] if by_line else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
            env=self.environment | variables)
        self.addCleanup(self.end, running)
        return running

    def end(self, running: subprocess.Popen) -> None:
        running.kill()
        running.wait()
        for stream in (running.stdin, running.stdout, running.stderr):
            stream.close()

    def finish(self, running: subprocess.Popen) -> tuple[int, str, str]:
        out, err = running.communicate(timeout=PATIENCE_S)
        return running.returncode, out, err

    def jobs(self, url: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run([zeus, "jobs", "--server", url, *arguments], capture_output=True, text=True, check=False,
                              env=self.environment | variables, timeout=PATIENCE_S)

    def tries(self, job: str) -> list[tuple[str, int]]:
        shown = self.jobs(self.nginx.url("good"), job, "--all", "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return [(one["outcome"], one["epochs"]) for one in json.loads(shown.stdout)["tries"]]

    def forget(self, job: str) -> None:
        self.assertEqual(self.jobs(self.nginx.url("good"), job, "forget", "--yes").returncode, 0)

    def test_a_command_and_lists_through_the_documented_proxy(self):
        code, out, err = self.finish(self.start_run(self.nginx.url("good")))
        self.assertEqual((code, out.count("epoch")), (0, 3), err)
        self.assertNotIn("recorded", err)
        self.assertEqual(self.tries("nightly/a b"), [("reached", 3)])
        by_name, by_address = (self.jobs(self.nginx.url("good", host)).stdout for host in ("localhost", "127.0.0.1"))
        self.assertIn("nightly/a b", by_name)
        self.assertEqual(by_name.replace("localhost", "127.0.0.1"), by_address)
        self.forget("nightly/a b")

    def test_loops_in_cpp_and_c(self):
        for language, program in programs.items():
            done = subprocess.run([program, self.nginx.url("good"), f"loop in {language}", "1", "0"], capture_output=True, text=True,
                                  check=False, env=self.environment, timeout=PATIENCE_S)
            self.assertEqual((done.returncode, done.stderr), (0, ""), language)
            self.assertIn("recurrence reached", done.stdout)
            self.assertIn("reached", [outcome for outcome, _ in self.tries(f"loop in {language}")])

    def test_the_client_in_python(self):
        def register(name: str, **variables: str) -> subprocess.CompletedProcess:
            return subprocess.run([zeus, "virtual", "1xV100", "--", sys.executable, "-c", CLIENT, self.nginx.url(name)],
                                  capture_output=True, text=True, check=False, timeout=PATIENCE_S,
                                  env=self.environment | {"PYTHONPATH": package} | variables)
        good = register("good")
        self.assertEqual((good.returncode, good.stdout), (0, "32\n"), good.stderr)
        for name, variables, words in (("wrong", {}, "its certificate is refused: Hostname mismatch"),
                                       ("expired", {}, "its certificate is refused: certificate has expired"),
                                       ("alone", {}, "its certificate is refused: self-signed certificate"),
                                       ("good", {"ZEUS_CA_FILE": ""}, "its certificate is refused: unable to get local issuer"),
                                       ("old", {}, "no secure connection"),
                                       ("good", {"ZEUS_CA_FILE": "/nowhere"}, "the certificates in '/nowhere' cannot be read")):
            with self.subTest(name, **variables):
                refused = register(name, **variables)
                self.assertEqual((refused.returncode, refused.stdout), (1, ""))
                self.assertIn(words, refused.stderr)

    def refused(self) -> dict[str, tuple[str, str]]:
        """Addresses, and what is said of them."""
        nginx, other = self.nginx, "certificate of localhost:{} "
        plain = self.server.port
        said = {
            "wrong": other + "is not for 'localhost', but for other.example; name the server as its certificate does",
            "expired": other + r"expired on \d{{4}}-\d\d-\d\d; check this machine's clock, or ask",
            "alone": other + "is self-signed; to trust it, set ZEUS_CA_FILE to a copy of it",
            "unknown": other + "is signed by an authority that this machine does not trust; set ZEUS_CA_FILE to the authority's certificate",
            "old": "localhost:{} offers neither TLS 1.2 nor 1.3; ask the server's administrator to allow one of them",
        }
        found = {name: (nginx.url(name), words.format(nginx.ports[name])) for name, words in said.items()}
        found["no TLS"] = (f"https://127.0.0.1:{plain}", f"127.0.0.1:{plain} does not answer with TLS; check the port, and write http://")
        found["plain HTTP"] = (nginx.url("good").replace("https", "http"), "answers 400 Bad Request .* https://")
        return found

    def test_each_refusal_names_what_to_do_and_the_training_goes_on(self):
        running = {name: self.start_run(url) for name, (url, _) in self.refused().items()}
        for name, (url, words) in self.refused().items():
            with self.subTest(name):
                listed = self.jobs(url)
                self.assertEqual(listed.returncode, 1, listed)
                self.assertRegex(listed.stderr, f"^zeus: .*{words}")
                self.assertEqual(listed.stderr.count("\n"), 1, listed.stderr)
                code, out, err = self.finish(running[name])
                self.assertEqual((code, out.count("epoch")), (0, 3), err)
                self.assertEqual(len(re.findall(f"{words}.*; the training goes on, and is not recorded", err)), 1, err)
        loops = {name: subprocess.Popen([programs["c++"], url, "refused", "1", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, stdin=subprocess.DEVNULL, env=self.environment)
                 for name, (url, _) in self.refused().items()}
        for name, loop in loops.items():
            with self.subTest(name):
                out, err = loop.communicate(timeout=PATIENCE_S)
                self.assertEqual(loop.returncode, 0, err)
                self.assertIn("epoch", out)
                self.assertRegex(err, f"{self.refused()[name][1]}.*the training goes on, but is not recorded")

    def test_a_certificate_that_is_given_is_trusted_and_the_systems_are_not_enough(self):
        alone = self.jobs(self.nginx.url("alone"), ZEUS_CA_FILE=str(self.folder / "alone.pem"))
        self.assertEqual((alone.returncode, alone.stderr), (0, ""))
        systems = self.jobs(self.nginx.url("good"), ZEUS_CA_FILE="")
        self.assertEqual(systems.returncode, 1)
        self.assertIn("is signed by an authority that this machine does not trust", systems.stderr)
        for wrong, why in (("none.pem", "No such file or directory"), ("train.py", "no certificate or crl found")):
            with self.subTest(wrong):
                code, out, err = self.finish(self.start_run(self.nginx.url("good"), ZEUS_CA_FILE=str(self.folder / wrong)))
                self.assertEqual((code, out), (2, ""), err)
                self.assertRegex(err, f"the certificates in '.*{wrong}' cannot be read: ({why}); set ZEUS_CA_FILE to ")

    def test_a_handshake_that_never_ends_delays_a_training_and_no_more(self):
        # Nothing, and the beginning of a record of 16 KiB.
        for words in (b"", b"\x16\x03\x03\x40\x00\x02"):
            mute = Mute(words)
            self.addCleanup(mute.close)
            running = self.start_run(mute.url)
            listed = self.jobs(mute.url)
            self.assertEqual(listed.returncode, 1)
            self.assertIn("did not answer in time", listed.stderr)
            code, out, err = self.finish(running)
            self.assertEqual((code, out.count("epoch")), (0, 3), err)
            self.assertIn("the training goes on, and is not recorded", err)

    def test_a_proxy_that_is_killed_and_one_that_hangs_while_a_training_runs(self):
        for how in ("killed", "stopped"):
            with self.subTest(how):
                running = self.start_run(self.nginx.url("good"), by_line=True)
                running.stdin.write("\n")
                running.stdin.flush()
                self.assertEqual(running.stdout.readline(), "training\n")
                self.assertTrue(running.stdout.readline().startswith("epoch 1"))
                if how == "killed":
                    self.nginx.kill()
                else:
                    self.nginx.process.send_signal(signal.SIGSTOP)
                # The training does not wait for it.
                running.stdin.write("\n\n")
                running.stdin.flush()
                for epoch in (2, 3):
                    self.assertTrue(running.stdout.readline().startswith(f"epoch {epoch}"))
                if how == "killed":
                    self.nginx.start()
                else:
                    self.nginx.process.send_signal(signal.SIGCONT)
                code, _, err = self.finish(running)
                self.assertEqual(code, 0, err)
                self.assertEqual(self.tries("nightly/a b"), [("reached", 3)])
                self.forget("nightly/a b")

    def test_nodes_are_watched_through_a_proxy(self):
        (self.folder / "node").mkdir()
        daemon = subprocess.Popen(
            [zeus, "virtual", "1xV100", "--load", "constant:240W", "--", zeusd, "serve", "--enable", "gpu-read", "--socket-path",
             "node/s.sock", "--admin-socket", "node/a.sock"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=self.environment)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        while not (self.folder / "node" / "s.sock").exists():
            self.assertIsNone(daemon.poll())
            time.sleep(0.05)
        (self.folder / "before").mkdir()
        proxy = Nginx(self.folder / "before", self.certificates, f"unix:{self.folder}/node/s.sock")
        self.addCleanup(proxy.kill)
        for duration in ("2.5", "10", "30"):  # the longer ones on a busy machine
            watched = subprocess.run([zeus, "watch", proxy.url("good"), "--duration", duration, "--json"], capture_output=True, text=True,
                                     check=False, env=self.environment, timeout=PATIENCE_S)
            if watched.returncode == 0 and "V100" in watched.stdout:
                break
        self.assertEqual(watched.returncode, 0, watched.stderr)
        self.assertIn("V100", watched.stdout)
        for duration in ("1", "5", "30"):
            refused = subprocess.run([zeus, "watch", proxy.url("wrong"), "--duration", duration], capture_output=True, text=True,
                                     check=False, env=self.environment, timeout=PATIENCE_S)
            if "is not for" in refused.stderr:
                break
        self.assertEqual(refused.returncode, 1)
        self.assertIn("is not for 'localhost', but for other.example", refused.stderr)


if __name__ == "__main__":
    if NGINX is None:
        print("skipped: nginx is not installed")
        sys.exit(77)
    zeus, zeusd, *rest, package = (str(pathlib.Path(program).absolute()) for program in sys.argv[1:6])
    programs = dict(zip(("c++", "c"), rest))
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])

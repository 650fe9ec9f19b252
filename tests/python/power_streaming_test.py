"""PowerStreamingClient on a real zeusd over two virtual GPUs, and on servers that misbehave.

  power_streaming_test.py ZEUSD        (with virtual GPUs around it)
"""

import asyncio
import os
import pathlib
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

from zeus.monitor import power_streaming
from zeus.monitor.power_streaming import CpuPowerReading, PowerReadings, PowerStreamingClient
from zeus.utils.zeusd import ZeusdConfig, ZeusdConnectionError

zeusd = ""


def wait_until(condition) -> None:
    """As long as this machine needs; a minute is too long for any machine."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "nothing came of it within a minute"
        time.sleep(0.01)


class RealDaemon(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.socket = str(self.folder / "s.sock")
        self.serve()
        self.addCleanup(self.end)

    def serve(self) -> None:
        self.log = open(self.folder / "log", "ab")  # noqa: SIM115
        self.process = subprocess.Popen(
            [zeusd, "serve", "--enable", "gpu-read", "--socket-path", self.socket, "--admin-socket", self.folder / "a.sock"],
            env={**os.environ, "ZEUS_STATE_DIR": str(self.folder / "state")}, stdout=self.log, stderr=self.log)
        self.log.close()
        wait_until(lambda: self.answers())

    def answers(self) -> bool:
        self.assertIsNone(self.process.poll(), (self.folder / "log").read_text())
        try:
            with socket.socket(socket.AF_UNIX) as one:
                one.connect(self.socket)
            return True
        except OSError:
            return False

    def end(self) -> None:
        """With SIGTERM, so that the daemon's helper, which writes in the folder as well, has ended too."""
        self.process.terminate()
        self.process.wait()

    def streaming(self, **options) -> PowerStreamingClient:
        client = PowerStreamingClient([ZeusdConfig.uds(self.socket, **options)], reconnect_delay_s=0.1)
        self.addCleanup(client.stop)
        return client

    def test_it_hears_every_gpu(self):
        client = self.streaming()
        for readings in client:
            if len(readings[self.socket].gpu_power_w) == 2:
                break
        self.assertEqual(set(readings[self.socket].gpu_power_w), {0, 1})
        self.assertLess(abs(readings[self.socket].timestamp_s - time.time()), 60)
        for watts in readings[self.socket].gpu_power_w.values():
            self.assertTrue(50 < watts < 320, watts)
        copied = client.get_power()
        copied[self.socket].gpu_power_w.clear()
        self.assertEqual(len(client.get_power()[self.socket].gpu_power_w), 2)

    def test_it_hears_those_that_were_chosen(self):
        client = self.streaming(gpu_indices=[1])
        seen = 0
        for readings in client:
            self.assertEqual(set(readings[self.socket].gpu_power_w), {1})
            seen += 1
            if seen == 3:
                break
        self.assertEqual(self.streaming(gpu_indices=[])._streams, [])
        with self.assertRaisesRegex(ValueError, r"GPU indices \[7\]"):
            self.streaming(gpu_indices=[7])

    def test_coroutines_hear_it_too(self):
        client = self.streaming()

        async def heard() -> int:
            count = 0
            async for _ in client:
                count += 1
                if count == 3:
                    client.stop()
            return count

        self.assertEqual(asyncio.run(heard()), 3)

    def test_it_takes_up_again_what_a_restart_broke_off(self):
        client = self.streaming()
        wait_until(client.get_power)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        with self.assertLogs(power_streaming.logger, "WARNING"):
            time.sleep(0.5)
            self.serve()
            before = client.get_power()[self.socket].timestamp_s
            wait_until(lambda: client.get_power()[self.socket].timestamp_s > before + 0.5)

    def test_stopping_takes_no_time_and_ends_who_iterates(self):
        client = self.streaming()
        heard = []
        reader = threading.Thread(target=lambda: heard.extend(client))
        reader.start()
        wait_until(lambda: heard)
        began = time.monotonic()
        client.stop()
        self.assertLess(time.monotonic() - began, 20)
        reader.join(60)
        self.assertFalse(reader.is_alive())
        self.assertTrue(heard)
        self.assertFalse(any(stream._thread.is_alive() for stream in client._streams))

    def test_what_cannot_be_is_refused_at_once(self):
        with self.assertRaisesRegex(ValueError, "named twice"):
            PowerStreamingClient([ZeusdConfig.uds("/a"), ZeusdConfig.uds("/a")])
        with self.assertRaises(ZeusdConnectionError):
            PowerStreamingClient([ZeusdConfig.uds("/nonexistent")])

    def test_readings_have_their_defaults(self):
        self.assertEqual((PowerReadings(), CpuPowerReading()), (PowerReadings(0.0, {}, {}), CpuPowerReading(0.0, None)))


AHEAD_S = 300  # by so much the clock of a misbehaving server is ahead
EVENT = b'data: {"timestamp_ms":%d,"gpu_id":0,"power_mw":%d}\n\n'


class Misbehaving(socketserver.BaseRequestHandler):
    """Streams once, and then as `then` says."""

    then = "silent"
    streams: list = []
    wrong_times: list = []  # answers to the first questions for the time

    def handle(self):
        while request := self.request.recv(65536):
            path = request.split(b" ")[1]
            if path == b"/discover":
                body = (b'{"gpus":[{"id":0,"name":"A100"}],"cpus":[],"enabled_api_groups":["gpu-read"],"auth_required":false,'
                        b'"zeusd":{"version":"0.1.0","api":1,"instance":"x"}}')
            elif path == b"/time" and Misbehaving.wrong_times:
                self.request.sendall(Misbehaving.wrong_times.pop())
                continue
            elif path == b"/time":
                body = b'{"timestamp_ms":%d}' % ((time.time() + AHEAD_S) * 1000)
            else:
                self.stream()
                return
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def stream(self):
        Misbehaving.streams.append(time.monotonic())
        if self.then == "refuses":
            self.request.sendall(b'HTTP/1.1 404 Not Found\r\nContent-Length: 22\r\n\r\n{"error":"not enabled"}'[:-1])
            return
        self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\ndata: nonsense\n\n")
        if self.then != "empty":
            self.request.sendall(EVENT % ((time.time() + AHEAD_S) * 1000, 150000 + len(self.streams)))
        if self.then == "silent":
            self.request.recv(1)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class OddServers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = folder.name + "/s"
        server = Server(self.socket, Misbehaving)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        Misbehaving.streams = []
        Misbehaving.wrong_times = []

    def streaming(self, then: str, delay_s: float = 0.1) -> PowerStreamingClient:
        Misbehaving.then = then
        client = PowerStreamingClient([ZeusdConfig.uds(self.socket)], delay_s)
        self.addCleanup(client.stop)
        return client

    def test_a_silent_connection_is_given_up(self):
        with mock.patch.object(power_streaming, "_SILENCE_S", 0.5), self.assertLogs(power_streaming.logger, "WARNING") as logs:
            self.streaming("silent")
            wait_until(lambda: len(Misbehaving.streams) > 1)
        self.assertTrue(any("fell silent" in line for line in logs.output), logs.output)
        self.assertTrue(any("not power" in line for line in logs.output), logs.output)

    def test_times_are_of_this_machines_clock(self):
        client = self.streaming("silent")
        wait_until(client.get_power)
        self.assertLess(abs(client.get_power()[self.socket].timestamp_s - time.time()), AHEAD_S / 5)

    def test_a_stream_that_ends_is_taken_up_after_pauses_that_grow(self):
        self.streaming("empty")
        wait_until(lambda: len(Misbehaving.streams) >= 4)
        first, second, third, fourth = Misbehaving.streams[:4]
        self.assertGreater(second - first, 0.09)
        self.assertGreater(third - second, 0.19)
        self.assertGreater(fourth - third, 0.39)

    def test_a_daemon_that_once_does_not_tell_the_time_is_asked_again(self):
        for answer, why in ((b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy", "HTTP 503: busy"),
                            (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "'{}', which has no time")):
            Misbehaving.wrong_times = [answer]
            with self.subTest(why), self.assertLogs(power_streaming.logger, "WARNING") as logs:
                wait_until(self.streaming("silent").get_power)
                self.assertIn(why, logs.output[0])

    def test_a_group_that_is_not_enabled_ends_the_stream(self):
        with self.assertLogs(power_streaming.logger, "ERROR") as logs:
            client = self.streaming("refuses")
            wait_until(lambda: not client._streams[0]._thread.is_alive())
        self.assertIn("HTTP 404", logs.output[0])
        self.assertEqual(len(Misbehaving.streams), 1)


if __name__ == "__main__":
    zeusd = sys.argv.pop(1)
    unittest.main()

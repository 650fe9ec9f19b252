"""Metrics for Prometheus, on two virtual V100s that draw 180 W each: pushed to Debian's Pushgateway, and scraped.

  metric_test.py [--speed | --prometheus]     the times of end_window beside misbehaving gateways; with Debian's Prometheus
"""

import contextlib
import errno
import gc
import json
import logging
import multiprocessing
import os
import pathlib
import queue
import re
import signal
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request
import warnings

import local_services
from prometheus_programs import free_port, gateway, get, key, running, samples

from zeus.metric import (
    EnergyCumulativeCounter, EnergyHistogram, PowerGauge, energy_monitoring_loop, power_monitoring_loop, serve_metrics)
from zeus.monitor import ZeusMonitor
from zeus_cpp import _exposition

ROOT = pathlib.Path(__file__).resolve().parents[2]
WATTS = 180.0
HISTOGRAM = "energy_monitor_gpu_energy_joules"
COUNTER = "energy_monitor_gpu_energy_joules_total"
GAUGE = "power_monitor_gpu_power_watts"


def pusher_with_a_sample(address: str, job: str, window: str = "w") -> _exposition.Pusher:
    registry = _exposition.registry_of(job, None)
    registry.family(COUNTER).add((window, "0"), 1.0)
    return _exposition.pusher_of(address, registry)


class Case(unittest.TestCase):
    def setUp(self):
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("ignore")


class Pushed(Case):
    def test_all_metrics_of_a_job_reach_a_gateway_together(self):
        with gateway() as address:
            job = "a/job with ümlaut"
            histogram = EnergyHistogram([], [0, 1], address, job, gpu_bucket_range=[1.0, 1e6])
            counter = EnergyCumulativeCounter([], [0], 1, f"http://{address}", job)
            gauge = PowerGauge([1], 1, address, job)
            gauge.begin_window("power")
            monitor = ZeusMonitor([0])
            began = time.monotonic()
            counter.begin_window("all")
            monitor.begin_window("all", sync_execution=False)
            between = time.monotonic() - began
            for name in ('odd "name"\\', "step", "step"):
                histogram.begin_window(name, sync_execution=False)
                time.sleep(0.4)
                histogram.end_window(name, sync_execution=False)
            ended = time.monotonic()
            counter.end_window("all")
            measured = monitor.end_window("all", sync_execution=False)
            between += time.monotonic() - ended
            while not gauge.registry.samples(GAUGE, {}):
                time.sleep(0.01)
            gauge.end_window("power")
            _exposition.flush(30.0)
            found = samples(get(f"http://{address}/metrics"), job)
        for gpu in (0, 1):
            self.assertEqual(found[key(f"{HISTOGRAM}_count", "step", gpu)], 2)
            self.assertEqual(found[key(f"{HISTOGRAM}_bucket", "step", gpu, le="1")], 0)
            self.assertEqual(found[key(f"{HISTOGRAM}_bucket", "step", gpu, le="+Inf")], 2)
            self.assertEqual(found[key(f"{HISTOGRAM}_count", 'odd \\"name\\"\\\\', gpu)], 1)
        # The counter's parts make up the whole, although a tick is in between: none of it is lost. A busy machine begins and ends
        # the two windows apart.
        self.assertAlmostEqual(found[key(COUNTER, "all", 0)], WATTS * measured.time,
                               delta=0.05 * WATTS * measured.time + 2.0 + WATTS * between)
        self.assertAlmostEqual(found[key(GAUGE, "power", 1)], WATTS, delta=0.05 * WATTS)

    def test_windows_do_not_wait_for_a_gateway_and_the_end_of_the_program_only_for_a_while(self):
        # The gateway answers in a minute, or once it is released.
        with local_services.running({}) as service, self.assertLogs("zeus.metric", logging.WARNING), \
                unittest.mock.patch.object(_exposition, "_TIMEOUT", 60.0):
            service.way = "hang"
            histogram = EnergyHistogram([], [0], service.url, "hanging")
            for _ in range(3):
                histogram.begin_window("w", sync_execution=False)
                histogram.end_window("w", sync_execution=False)
            self.assertFalse(histogram._pusher.flush(0.01))
            self.assertFalse(histogram._pusher._failing)  # so no push has ended yet
            service.released.set()  # it answers 404
            self.assertFalse(histogram._pusher.flush(60.0))
            self.assertTrue(histogram._pusher._failing)

    def test_pushes_carry_no_password_in_messages(self):
        with self.assertLogs("zeus.metric", logging.WARNING) as logs:
            counter = EnergyCumulativeCounter([], [0], 60, f"http://ann:secret@127.0.0.1:{free_port()}", "refused")
            counter.begin_window("w")
            counter.end_window("w")
            _exposition.flush(30.0)
        self.assertIn("nothing listens there", logs.output[0])
        self.assertNotIn("secret", "".join(logs.output))

    def test_a_push_needs_no_new_thread(self):
        """In an exit handler, CPython 3.12 refuses to start one."""
        pusher = pusher_with_a_sample(f"127.0.0.1:{free_port()}", "exit")
        with unittest.mock.patch("threading.Thread.start", side_effect=RuntimeError("can't create new thread at interpreter shutdown")):
            with unittest.mock.patch.object(pusher._server, "request") as request:
                pusher.push()
                self.assertTrue(pusher.flush(0.0))
            self.assertIn(COUNTER, request.call_args.kwargs["body"])
            with self.assertLogs("zeus.metric", logging.WARNING) as logs, \
                    unittest.mock.patch.object(pusher._server, "request", side_effect=OSError("unreachable")) as request:
                for _ in range(3):  # one that does not answer is waited for once
                    pusher.push()
            self.assertEqual((len(logs.output), request.call_count), (1, 1))

    def test_a_window_whose_name_is_not_text_is_pushed_like_any_other(self):
        with gateway() as address:
            pusher = pusher_with_a_sample(address, "bytes", os.fsdecode(b"step \xff"))
            pusher.push()
            pusher.flush(30.0)
            self.assertIn(key(COUNTER, "step ?", 0), samples(get(f"http://{address}/metrics"), "bytes"))

    def test_a_push_that_fails_in_any_way_is_tried_again(self):
        with gateway() as address, self.assertLogs("zeus.metric", logging.WARNING) as logs, \
                unittest.mock.patch.object(_exposition, "_PAUSE", 0.01):
            pusher = pusher_with_a_sample(address, "surprise")
            with unittest.mock.patch.object(pusher._server, "request", side_effect=ValueError("a surprise")):
                pusher.push()
                pusher.flush(30.0)
            for _ in range(1000):
                if samples(get(f"http://{address}/metrics"), "surprise"):
                    break
                time.sleep(0.01)
            self.assertIn(key(COUNTER, "w", 0), samples(get(f"http://{address}/metrics"), "surprise"))
        self.assertEqual([line.partition(": ")[2] for line in logs.output], ["a surprise"])

    def test_a_forked_child_does_not_wait_for_locks_of_its_parents_threads(self):
        with gateway() as address:
            pusher = pusher_with_a_sample(address, "forked")
            pusher.push()
            pusher.flush(30.0)
            held, released = threading.Event(), threading.Event()

            def hold() -> None:
                with _exposition._shared.lock, pusher._registry.lock, pusher._changed:
                    held.set()
                    released.wait()

            thread = threading.Thread(target=hold)
            thread.start()
            held.wait()
            child = os.fork()
            if child == 0:
                signal.alarm(30)  # ends a child that waits for a lock
                pusher_with_a_sample(address, "forked", "child").push()
                os._exit(0 if pusher.flush(30.0) else 1)
            released.set()
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertIn(key(COUNTER, "child", 0), samples(get(f"http://{address}/metrics"), "forked"))

    def test_the_functions_of_helper_processes_work_in_threads_and_processes(self):
        with gateway() as address:
            pipe = queue.Queue()
            thread = threading.Thread(target=power_monitoring_loop, args=("p", pipe, [0], 1, address, "thread"))
            thread.start()
            spawned = multiprocessing.get_context("spawn")
            process_pipe = spawned.Queue()
            process = spawned.Process(target=energy_monitoring_loop, args=("e", process_pipe, [], [0], 1, address, "process"))
            process.start()
            for _ in range(1200):
                text = get(f"http://{address}/metrics")
                if samples(text, "thread") and samples(text, "process"):
                    break
                time.sleep(0.05)
            pipe.put("stop")
            process_pipe.put("stop")
            thread.join()
            process.join()
            self.assertEqual(process.exitcode, 0)
            self.assertIn(key(GAUGE, "p", 0), samples(get(f"http://{address}/metrics"), "thread"))
            self.assertGreater(samples(get(f"http://{address}/metrics"), "process")[key(COUNTER, "e", 0)], 0.0)


class Scraped(Case):
    def test_a_page_has_all_jobs(self):
        first = EnergyHistogram([], [0], "", "first", gpu_bucket_range=[1.0])
        second = EnergyHistogram([], [0], "", "second", gpu_bucket_range=[2.0], grouping_key={"instance": "rank-1"})
        for each in (first, second):
            each.begin_window("w", sync_execution=False)
            time.sleep(0.4)  # in a shorter one, the energy may be unknown
            each.end_window("w", sync_execution=False)
        page = serve_metrics(0)
        try:
            text = get(page.url)
            with self.assertRaises(urllib.error.HTTPError):
                get(page.url.replace("/metrics", "/"))
        finally:
            page.close()
        self.assertEqual(text.count(f"# TYPE {HISTOGRAM} histogram\n"), 1)
        self.assertIn('job="second",instance="rank-1",window="w"', text)
        for job in ("first", "second"):
            self.assertEqual(samples(text, job)[key(f"{HISTOGRAM}_count", "w", 0)], 1)

    def test_a_window_may_have_a_number_for_its_name(self):
        histogram = EnergyHistogram([], [0], "", "numbers")
        counter = EnergyCumulativeCounter([], [0], 10, "", "numbers")
        gauge = PowerGauge([0], 0.01, "", "numbers")
        page = serve_metrics(0)
        self.addCleanup(page.close)
        for each in (histogram, counter, gauge):
            each.begin_window(7, sync_execution=False)
        expected = {key(f"{HISTOGRAM}_count", "7", 0), key(COUNTER, "7", 0), key(GAUGE, "7", 0)}
        time.sleep(0.4)  # in a shorter one, the energy may be unknown
        for each in (histogram, counter):
            each.end_window(7, sync_execution=False)
        for _ in range(1000):
            if expected <= samples(get(page.url), "numbers").keys():
                break
            time.sleep(0.01)
        gauge.end_window(7, sync_execution=False)
        self.assertLessEqual(expected, samples(get(page.url), "numbers").keys())

    def test_a_page_that_is_not_kept_serves_until_the_end(self):
        url = serve_metrics(0).url
        gc.collect()
        get(url)

    def test_a_page_has_an_address_of_either_version(self):
        try:
            page = serve_metrics(0, "::1")
        except OSError as error:
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise
            self.skipTest("skipped: this machine has no IPv6")
        self.addCleanup(page.close)
        self.assertIn("://[::1]:", page.url)
        get(page.url)

    def test_misuse_is_refused(self):
        EnergyHistogram([], [0], "", "twice", gpu_bucket_range=[1.0, 2.0])
        EnergyHistogram([], [0], "", "twice", gpu_bucket_range=[2.0, 1.0])
        with self.assertRaisesRegex(ValueError, r"has a histogram energy_monitor_gpu_energy_joules with the buckets \[1.0, 2.0\]"):
            EnergyHistogram([], [0], "", "twice", gpu_bucket_range=[3.0])
        for bucket in ("gpu", "cpu", "dram"):
            with self.assertRaisesRegex(ValueError, f"{bucket.upper()} bucket range must have"):
                EnergyHistogram([], [0], "", "none", **{f"{bucket}_bucket_range": []})
        for kind, unknown in ((EnergyCumulativeCounter([], [0], 1, "", "x"), ValueError), (PowerGauge([0], 1, "", "x"), KeyError)):
            kind.begin_window("w")
            with self.assertRaisesRegex(ValueError, "already exists"):
                kind.begin_window("w")
            kind.end_window("w")
            with self.assertRaisesRegex(unknown, "does not exist"):
                kind.end_window("w")
        with self.assertRaisesRegex(ValueError, "must be above 0 s"):
            PowerGauge([0], 0, "", "x")
        for label in ("job", "window", "index", "le"):
            with self.assertRaisesRegex(ValueError, f"must not have the label '{label}'"):
                PowerGauge([0], 1, "", "x", grouping_key={label: "1"})
        for label in ("", "my-rank", "a b", 'a="', "rank\n", "1st", "__name__", "rang\u00e9"):
            with self.subTest(label), self.assertRaisesRegex(ValueError, "is not a label"):
                PowerGauge([0], 1, "", "x", grouping_key={label: "1"})
        PowerGauge([0], 1, "", "x", grouping_key={"_rank_1": "1"})

    def test_a_group_is_the_same_in_any_order_of_its_labels(self):
        first, second = (PowerGauge([0], 1, "", "order", grouping_key=labels) for labels in ({"a": "1", "b": "2"}, {"b": "2", "a": "1"}))
        self.assertIs(first.registry, second.registry)

    def test_an_energy_outside_the_buckets_warns(self):
        histogram = EnergyHistogram([], [0], "", "outside", gpu_bucket_range=[1e5, 1e6])
        histogram.begin_window("w", sync_execution=False)
        with self.assertWarnsRegex(UserWarning, "GPU 0 in window 'w' is outside the buckets, which are from 100000 to 1e"):
            histogram.end_window("w", sync_execution=False)

    def test_every_name_is_in_one_list_with_those_of_the_daemon_and_the_service(self):
        declared = {each.name: each.kind for each in _exposition.CATALOGUE.values()}
        for source in ("src/daemon/daemon_metrics.cpp", "src/server/service_metrics.cpp"):
            for text in re.findall(r"constexpr Metric \w+\{(.*?)\};", (ROOT / source).read_text(encoding="utf-8"), re.DOTALL):
                kind = re.search(r"MetricType::(\w+)", text)
                name = re.search(r'\.name = "(\w+)"', text)[1]
                self.assertNotIn(name, declared)
                declared[name] = kind[1] if kind else "gauge"
        listed = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8"), re.MULTILINE))
        self.assertEqual(listed, declared)
        self.assertEqual([name for name, kind in declared.items() if (kind == "counter") != name.endswith("_total")], [])


class Prometheus(Case):
    def test_prometheus_scrapes_the_page_and_the_gateway(self):
        with gateway() as address, tempfile.TemporaryDirectory() as folder:
            page = serve_metrics(0)
            counter = EnergyCumulativeCounter([], [0], 0.2, address, "training")
            targets = [{"job_name": "page", "honor_labels": True, "static_configs": [{"targets": [page.url.split("/")[2]]}]},
                       {"job_name": "gateway", "honor_labels": True, "static_configs": [{"targets": [address]}]}]
            # JSON is YAML.
            (pathlib.Path(folder) / "prometheus.yml").write_text(json.dumps(
                {"global": {"scrape_interval": "1s"}, "scrape_configs": targets}), encoding="utf-8")
            mine = f"127.0.0.1:{free_port()}"
            with running("prometheus", f"http://{mine}/-/ready", f"--config.file={folder}/prometheus.yml",
                         f"--storage.tsdb.path={folder}/data", f"--web.listen-address={mine}"):
                counter.begin_window("all")
                time.sleep(3.0)
                counter.end_window("all")
                joules = samples(_exposition.text_of([counter.registry], True), "training")[key(COUNTER, "all", 0)]
                for _ in range(600):
                    found = json.loads(get(f"http://{mine}/api/v1/query?query={COUNTER}"))["data"]["result"]
                    scraped = [float(each["value"][1]) for each in found if each["metric"]["job"] == "training"]
                    if scraped == [joules, joules]:
                        break
                    time.sleep(0.1)
            page.close()
        self.assertGreater(joules, 0.9 * 3.0 * WATTS)
        self.assertEqual(scraped, [joules, joules])  # from the page and from the gateway


def print_times_of_end_window() -> None:
    """The 99th percentile of end_window beside each misbehaving gateway, and of a plain monitor's, alternating."""
    def timed(metric) -> float:
        metric.begin_window("w", sync_execution=False)
        began = time.perf_counter()
        metric.end_window("w", sync_execution=False)
        return time.perf_counter() - began

    warnings.simplefilter("ignore")
    logging.disable()
    for way in ("well", "refuse", "hang", "dribble", "endless"):
        with local_services.in_a_process(way) as url:
            plain, histogram = ZeusMonitor([0, 1]), EnergyHistogram([], [0, 1], "http://127.0.0.1:9" if way == "refuse" else url, way)
            times = [(timed(plain), timed(histogram)) for _ in range(2000)]
            of_plain, of_histogram = (sorted(each)[len(times) * 99 // 100] * 1e6 for each in zip(*times))
            print(f"{way:<12} plain {of_plain:7.1f} us   histogram {of_histogram:7.1f} us   difference {of_histogram - of_plain:7.1f} us")


if __name__ == "__main__":
    asked = sys.argv.pop() if sys.argv[-1] in ("--speed", "--prometheus") else ""
    if asked == "--speed":
        print_times_of_end_window()
        os._exit(0)
    unittest.main(defaultTest=["Prometheus"] if asked else ["Pushed", "Scraped"])

"""Scrapes of /metrics under faults, resets and restarts: the reference parser reads each, counters fall only at a reset,
joules never rise faster than a GPU can draw, and between resets they are the true energy.

  scrape_test.py ZEUS ZEUSD BUILD_FOLDER [--scrapes N] [--seconds S] [--seed S]

Needs root, for the daemon. The parser comes from the Python registry; without it the test is skipped with one line.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import daemon_session  # noqa: E402
import python_environment  # noqa: E402
from daemon_session import Daemon, ask, connection_to, until  # noqa: E402

INSIDE = "ZEUS_TEST_INSIDE"
GPUS = 2
SPEC = f"{GPUS}xA100@root-only@limit=300"
LOAD = "square:80-300W,700ms"
MOST_WATTS = 400.0 * 1.02  # an A100's highest limit, plus the sensors' error
COUNTER_PERIOD = 0.11  # within which a GPU's counter may stand still, and then catch up
ENERGY = "zeusd_gpu_energy_joules_total"
options = argparse.Namespace()


class Scrape:
    """One answer, as the reference parser reads it."""

    def __init__(self, where) -> None:
        from prometheus_client.parser import text_string_to_metric_families
        self.begun = time.monotonic()
        answer = ask(where, "GET", "/metrics")
        self.ended = time.monotonic()
        assert answer.status == 200, answer.text
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4"), answer.headers
        self.kinds, self.samples = {}, {}
        for family in text_string_to_metric_families(answer.text):
            assert family.documentation and family.type in ("counter", "gauge", "histogram"), family
            assert family.name not in self.kinds, f"{family.name} comes twice"
            self.kinds[family.name] = family.type
            for sample in family.samples:
                key = (sample.name, tuple(sorted(sample.labels.items())))
                assert key not in self.samples, f"{key} comes twice"
                self.samples[key] = sample.value
        [(_, labels)] = [key for key in self.samples if key[0] == "zeusd_build_info"]
        self.instance = dict(labels)["instance"]

    def uuids(self) -> dict[int, str]:
        """Of the GPUs whose energy is reported."""
        labels = [dict(labels) for sample, labels in self.samples if sample == ENERGY]
        return {int(one["gpu"]): one["uuid"] for one in labels}

    def of(self, name: str) -> dict[int, float]:
        return {int(dict(labels)["gpu"]): value for (sample, labels), value in self.samples.items() if sample == name}

    @property
    def joules(self) -> dict[int, float]:
        return self.of(ENERGY)

    def counters(self) -> dict:
        """Counters that the daemon keeps itself."""
        def counts(name: str) -> bool:
            return name.endswith(("_total", "_count", "_bucket")) and not name.startswith(("zeusd_gpu_energy", "zeusd_gpu_throttled"))
        return {key: value for key, value in self.samples.items() if counts(key[0])}


class Scrapes(unittest.TestCase):
    def setUp(self):
        driver.clear_faults()
        self.random = random.Random(options.seed)
        self.daemon = Daemon(options.zeusd).start()
        self.uuids = Scrape(self.daemon.socket).uuids()
        self.assertEqual(len(self.uuids), GPUS)
        self.addCleanup(lambda: self.daemon.__exit__())
        self.addCleanup(driver.clear_faults)
        self.over = threading.Event()
        client = threading.Thread(target=self.change, daemon=True)
        client.start()
        self.addCleanup(lambda: (self.over.set(), client.join()))
        self.last: Scrape | None = None
        self.seen: dict[int, Scrape] = {}  # the last scrape with each GPU
        self.resets: dict[int, float] = {}  # when each GPU's counter was last reset
        self.falls = self.restarts = 0

    def change(self) -> None:
        """A client that sets all the time."""
        connection = connection_to(self.daemon.socket, 10.0)
        while not self.over.is_set():
            try:
                ask(self.daemon.socket, "POST", f"/gpu/set_power_limit?gpu_ids={self.random.randrange(GPUS)}&block=true"
                    f"&power_limit_mw={self.random.randrange(200, 299)}000", connection=connection)
            except (OSError, daemon_session.http.client.HTTPException):
                connection.close()
            time.sleep(0.02)
        connection.close()

    def scrape(self) -> Scrape:
        new, old = Scrape(self.daemon.socket), self.last
        self.assertLessEqual(new.uuids().items(), self.uuids.items(), "a number always means the same GPU")
        for gpu, joules in new.joules.items():
            if (former := self.seen.get(gpu)) is not None:
                rise = joules - former.joules[gpu]
                if rise < 0:
                    self.assertGreaterEqual(self.resets.get(gpu, -1.0), former.begun, "it falls only at a reset")
                    self.assertLessEqual(joules, MOST_WATTS * (new.ended - self.resets[gpu] + COUNTER_PERIOD))
                    self.falls += 1
                else:
                    self.assertLessEqual(rise, MOST_WATTS * (new.ended - former.begun + COUNTER_PERIOD), f"GPU {gpu}")
            self.seen[gpu] = new
        if old is not None:
            if new.instance == old.instance:
                later = new.counters()
                for key, value in old.counters().items():
                    self.assertGreaterEqual(later[key], value, key)
            else:
                self.restarts += 1
            for name in old.kinds.keys() & new.kinds.keys():
                self.assertEqual(new.kinds[name], old.kinds[name], name)
        self.last = new
        return new

    def restart(self, how: int) -> None:
        self.daemon.process.send_signal(how)
        self.daemon.process.wait(60)
        while True:
            try:
                self.daemon.start()
                return
            except AssertionError as error:  # a lost GPU has come back between its looks
                if "came or went" not in str(error):
                    raise

    def reset(self) -> None:
        gpu = self.random.randrange(GPUS)
        self.resets[gpu] = time.monotonic()
        driver.fault(f"reset gpu={gpu}")

    def befall(self) -> None:
        """A fault that ends by itself: clearing the faults would bring back a counter's value from before its reset."""
        what = self.random.randrange(12)
        if what < 2:
            self.restart((signal.SIGTERM, signal.SIGKILL)[what])
        elif what == 2:
            self.reset()
        elif what == 3:
            driver.fault(f"lost gpu={self.random.randrange(GPUS)} for=300ms")
        elif what == 4:
            driver.fault(f"timeout gpu={self.random.randrange(GPUS)} times=3 delay=20ms")
        elif what == 5:
            driver.fault(f"slow delay=100ms call=nvmlDeviceSet* gpu={self.random.randrange(GPUS)} times=2")
        elif what == 6:
            driver.fault("permission call=nvmlDeviceGetTotalEnergyConsumption times=1")

    def test_scrapes_under_faults_resets_and_restarts(self):
        self.scrape()
        for number in range(options.scrapes):
            if number == options.scrapes // 2:
                while len(self.scrape().joules) < GPUS:
                    self.restart(signal.SIGKILL)
                self.reset()
            else:
                self.befall()
            self.scrape()
            time.sleep(self.random.uniform(0, 0.1))
        print(f"{options.scrapes + 1} scrapes read; joules began anew {self.falls} times, the daemon {self.restarts} times", flush=True)
        self.assertGreater(self.falls, 0)

    def test_a_gpu_that_hangs_is_missing_and_not_as_it_was(self):
        self.assertEqual(set(self.scrape().joules), {0, 1})
        hung = -10.0

        def is_missing() -> Scrape | None:
            nonlocal hung
            if time.monotonic() > hung + 5.0:  # again, if it was over before a busy daemon has noticed
                driver.fault("slow delay=3s call=nvmlDeviceGet* gpu=1 times=1")
                hung = time.monotonic()
            one = self.scrape()
            return one if set(one.joules) == {0} else None

        missing = until(is_missing, "it is missing")
        self.assertEqual([set(missing.of(f"zeusd_gpu_{name}")) for name in ("power_watts",)], [{0}])
        self.assertEqual(until(lambda: len((one := self.scrape()).joules) == GPUS and one.joules.keys(), "it is back"), {0, 1})

    def test_a_gpu_that_is_lost_at_the_start_leaves_the_others_their_numbers(self):
        driver.fault("lost gpu=0")
        self.restart(signal.SIGTERM)
        self.assertEqual(set(self.scrape().joules), {1})
        self.assertEqual(ask(self.daemon.socket, "GET", "/gpu/get_power?gpu_ids=1").status, 200)
        self.assertNotEqual(ask(self.daemon.socket, "GET", "/gpu/get_power?gpu_ids=0").status, 200)
        before = driver.limit(1)
        answer = ask(self.daemon.socket, "POST", "/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=150000")
        self.assertNotEqual(answer.status, 200)
        self.assertEqual(list(self.daemon.state.glob("absent*")), [], "nothing is leased of what is not there")
        self.assertNotEqual(driver.limit(1), 150_000, f"another GPU was set, of {before}")
        driver.clear_faults()
        self.restart(signal.SIGTERM)
        self.assertEqual(set(self.scrape().joules), {0, 1})

    def test_joules_are_the_true_energy(self):
        first = self.scrape()
        moments, joules = [(first.begun + first.ended) / 2], [first.joules]
        end = first.ended + options.seconds
        while time.monotonic() < end:
            if self.random.random() < 0.2:
                self.restart(self.random.choice((signal.SIGTERM, signal.SIGKILL)))
            elif self.random.random() < 0.2:
                driver.fault(f"lost gpu={self.random.randrange(GPUS)} for=200ms")
            time.sleep(min(0.5, options.seconds / 10))
            self.scrape()
        driver.clear_faults()
        self.restart(signal.SIGTERM)  # which opens GPUs that were lost at the last start
        last = until(lambda: len((one := self.scrape()).joules) == GPUS and one, "all are back")
        moments.append((last.begun + last.ended) / 2)
        joules.append(last.joules)
        unsure = sum(one.ended - one.begun for one in (first, last)) / 2
        pathlib.Path(options.told).write_text(json.dumps({"moments": moments, "joules": joules, "restarts": self.restarts,
                                                          "unsure": unsure}))


def truth_at(points: list, at: float) -> float:
    """Joules used until then."""
    for (begin, less), (end, more) in zip(points, points[1:]):
        if begin <= at <= end:
            return less + (more - less) * (at - begin) / (end - begin) if end > begin else more
    raise AssertionError(f"the truth goes from {points[0][0]} to {points[-1][0]}, not to {at}")


def compare(told: dict, truth: dict) -> bool:
    begin, end = told["moments"]
    well = True
    for gpu in truth["gpus"]:
        counted = told["joules"][1][str(gpu["index"])] - told["joules"][0][str(gpu["index"])]
        used = truth_at(gpu["energy_j"], end) - truth_at(gpu["energy_j"], begin)
        # Over less than a minute, the counter's period and the length of a scrape matter.
        allowed = 0.01 * used + (0.0 if options.seconds >= 60 else (3 * COUNTER_PERIOD + told["unsure"]) * MOST_WATTS)
        print(f"GPU {gpu['index']}: {counted:.1f} J told over {end - begin:.1f} s and {told['restarts']} restarts, {used:.1f} J used: "
              f"{100 * (counted / used - 1):+.2f} %", flush=True)
        well = well and abs(counted - used) <= allowed
    return well


def main() -> int:
    global driver
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("zeusd")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--scrapes", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--told")
    rest = parser.parse_known_args(namespace=options)[1]
    if INSIDE in os.environ:
        driver = daemon_session.Driver()
        return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1
    daemon_session.skip_without_root()
    try:
        python = python_environment.interpreter(options.build, "clients")
    except unittest.SkipTest as reason:
        print(reason)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        told, truth = (pathlib.Path(folder) / name for name in ("told", "truth"))
        code = subprocess.run([options.zeus, "virtual", SPEC, "--shared", "--load", LOAD, "--truth", truth, "--", str(python),
                               *sys.argv, "--told", told], env={**os.environ, INSIDE: "1"}, check=False).returncode
        if code == 0 and told.exists() and not compare(json.loads(told.read_text()), json.loads(truth.read_text())):
            print("what was told is not what was used")
            return 1
        return code


if __name__ == "__main__":
    sys.exit(main())

"""Carbon emissions and costs of windows, on two virtual V100s that draw 180 W each.

  carbon_price_test.py [--speed]     with --speed, the times of end_window beside misbehaving providers instead
"""

import contextlib
import logging
import math
import os
import pathlib
import pickle
import random
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import warnings
import zoneinfo
from datetime import datetime, timedelta, timezone
from fractions import Fraction

import local_services
from local_services import electricity_maps, hour_now

from zeus.monitor import ZeusMonitor
from zeus.monitor.carbon import (
    CarbonEmissionMonitor, CarbonIntensityFile, CarbonIntensityProvider, ElectrictyMapsClient, ZeusCarbonIntensityHTTPError,
    ZeusCarbonIntensityNotFoundError)
from zeus.monitor.price import (
    ElectricityPriceFile, ElectricityPriceProvider, EnergyCostMonitor, OpenEIClient, ZeusElectricityPriceHTTPError,
    ZeusElectricityPriceNotFoundError)
from zeus_cpp.monitor import _rated, _rates

WATTS = 180.0
KEY = "a-secret-key"
UTC = timezone.utc
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


def tariff(rate=0.25, **more) -> dict:
    always = [[0] * 24 for _ in range(12)]
    return {"items": [{"label": "A", "energyratestructure": [[{"rate": rate, **more}]], "energyweekdayschedule": always,
                       "energyweekendschedule": always}, {"label": "without prices"}]}


def hours_around_now(value) -> dict:
    """The next one too, which may begin before the end of the test."""
    now = hour_now()
    return {now + timedelta(hours=each): value for each in (-1, 0, 1)}


@contextlib.contextmanager
def civil_clock(moment: datetime):
    """Sets the civil clock, which then goes on."""
    real = time.time
    ahead = moment.timestamp() - real()
    with unittest.mock.patch("time.time", lambda: real() + ahead):
        yield


class Own(CarbonIntensityProvider):
    """A user's class. Its values are what the test says."""

    update_period = timedelta(hours=1)
    history_length = 2

    def __init__(self, recent, current=None) -> None:
        self.recent, self.current = recent, current

    def get_recent_carbon_intensity(self):
        return self.recent() if callable(self.recent) else self.recent

    def get_current_carbon_intensity(self):
        if self.current is None:
            raise RuntimeError("there is no present value")
        return self.current


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        environment = unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder.name})
        environment.start()
        self.addCleanup(environment.stop)
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("ignore")

    def measure(self, monitor, seconds=0.05):
        monitor.begin_window("w", sync_execution=False)
        time.sleep(seconds)
        return monitor.end_window("w", sync_execution=False)

    def file(self, *lines: str, name="values.csv") -> str:
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)


class Amounts(Case):
    def expect(self, detail, value: float) -> None:
        """The interval covers 95 of 100, so four times its half-width covers any."""
        self.assertAlmostEqual(detail.value, value, delta=4 * detail.uncertainty + 1e-9)

    def test_a_constant_rate_multiplies_energy_and_interval(self):
        with local_services.running(electricity_maps(400.0)) as service:
            monitor = CarbonEmissionMonitor(ElectrictyMapsClient((52.5, 13.4), url=service.url))
            measured = monitor.settle(self.measure(monitor, 0.2))
        self.assertEqual(list(measured.gpu_carbon_emission), [0, 1])
        for gpu, grams in measured.gpu_carbon_emission.items():
            self.assertAlmostEqual(grams, measured.gpu_energy[gpu] / 3.6e6 * 400.0, delta=1e-9 * grams)
            self.expect(measured.details.gpu[gpu], WATTS * measured.time / 3.6e6 * 400.0)
            self.assertEqual(str(measured.details.gpu[gpu]).split()[-1], "g")
        self.assertAlmostEqual(measured.details.total.value, sum(measured.gpu_carbon_emission.values()), delta=1e-9)

    def crossing(self, monitor, began: datetime, change: datetime, before: float, after: float):
        """A window from `began` over `change`: for each GPU, the amount at constant power."""
        for _ in range(5):  # a busy machine may cut the window late, which its interval then says
            with civil_clock(began):
                watched = monitor()
                asked = time.time()
                watched.begin_window("w", sync_execution=False)
                start = time.time()
                time.sleep(1.0)
                watched.begin_window("within the second hour", sync_execution=False)
                measured = watched.end_window("w", sync_execution=False)
                watched.end_window("within the second hour", sync_execution=False)
                measured = watched.settle(measured)
            late = start - asked
            in_time = 0.0 <= measured._source.parts[0].end - change.timestamp() < 0.03 and late < 0.01
            if in_time:
                break
        first = max(0.0, change.timestamp() - start)  # a busy machine may begin after the change
        truth = WATTS / 3.6e6 * (first * before + (measured.time - first) * after)
        for detail in measured.details.gpu.values():
            # A delay of this thread between the window's edges and the clock's is a few milliseconds of either rate.
            delay = 0.02 if in_time else 0.02 + late
            self.assertAlmostEqual(detail.value, truth, delta=4 * detail.uncertainty + WATTS / 3.6e6 * delay * abs(after - before))
            if in_time:
                self.assertGreater(abs(truth - WATTS / 3.6e6 * measured.time * before), 8 * detail.uncertainty)

    def test_a_window_over_an_hour_has_each_hours_intensity(self):
        change = datetime(2026, 11, 26, 14, tzinfo=UTC)
        provider = Own({change - timedelta(hours=1): 100.0, change: 700.0})
        self.crossing(lambda: CarbonEmissionMonitor(provider), change - timedelta(seconds=0.5), change, 100.0, 700.0)

    def test_a_tariff_follows_the_local_clock_over_its_change(self):
        """At 03:00 summer time it is 02:00 winter time again: the price of the hour from 2 to 3 holds for two hours."""
        change = datetime(2026, 10, 25, 2, tzinfo=UTC)  # 03:00 in Berlin, the second hour 2 has ended
        prices = [[0] * 24 for _ in range(12)]
        prices[9][3] = 1

        class Local(ElectricityPriceProvider):
            timezone = BERLIN
            currency = "EUR"

            def get_current_electricity_prices(self):
                return {"energy_rate_structure": [[{"rate": 0.1}], [{"rate": 0.5, "adj": 0.2}]],
                        "energy_weekday_schedule": [[0] * 24] * 12, "energy_weekend_schedule": prices}

        self.crossing(lambda: EnergyCostMonitor(Local()), change - timedelta(seconds=0.5), change, 0.1, 0.7)
        rates = _rates.Tariff(Local().get_current_electricity_prices(), BERLIN, change.timestamp())
        self.assertEqual([rates.at((change + timedelta(minutes=minutes)).timestamp()).value for minutes in (-119, -61, -59, -1, 1, 59, 61)],
                         [0.1, 0.1, 0.1, 0.1, 0.7, 0.7, 0.1])

    def test_random_tariffs_equal_a_calculation_in_exact_fractions(self):
        draw = random.Random(39)
        zones = [zoneinfo.ZoneInfo(name) for name in (
            "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham", "UTC")]
        for number in range(300):
            zone = draw.choice(zones)
            periods = [[{"rate": draw.uniform(-0.1, 0.6), **({"adj": draw.uniform(-0.05, 0.05)} if draw.random() < 0.5 else {})}]
                       for _ in range(draw.randint(1, 6))]
            schedules = {name: [[draw.randrange(len(periods)) for _ in range(24)] for _ in range(12)]
                         for name in ("energy_weekday_schedule", "energy_weekend_schedule")}
            # Days beside which a clock changes are as likely as all others together.
            day = draw.choice([datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 10, 24, tzinfo=UTC), datetime(2026, 4, 4, tzinfo=UTC),
                               datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=draw.randrange(365))])
            edge = day.timestamp() + 900 * draw.randrange(100)
            parts, exact = [], Fraction(0)
            for place in range(draw.randint(1, 200)):
                joules = draw.uniform(0.0, 5e5)
                begin = edge + 900 * place
                parts.append(_rated.Part(begin, begin + 900, types.SimpleNamespace(
                    gpu_details={0: (joules, 0.0, None, "counter", "", "")}, cpu_details={}, dram_details={},
                    total_details=(joules, 0.0, None, "counter", "", ""), settled=True)))
                local = datetime.fromtimestamp(begin, UTC).astimezone(zone)
                kind = "weekend" if local.strftime("%a") in ("Sat", "Sun") else "weekday"
                tier = periods[schedules[f"energy_{kind}_schedule"][local.month - 1][local.hour]][0]
                exact += Fraction(joules) / 3600000 * (Fraction(tier["rate"]) + Fraction(tier.get("adj", 0.0)))
            rates = _rates.Tariff({"energy_rate_structure": periods, **schedules}, zone, edge)
            charges, reason, _ = _rated._charges(parts, rates, _rates.QUARTER)
            self.assertEqual(reason, "")
            cost = _rated._amount([part.window.gpu_details[0] for part in parts], charges, "", "", "$").value
            scale = sum(part.window.gpu_details[0][0] for part in parts) / 3.6e6
            self.assertAlmostEqual(cost, float(exact), delta=1e-9 * scale, msg=f"tariff {number}")

    def test_a_part_that_ended_late_is_divided_by_time_and_says_how_far_off_that_may_be(self):
        edge = 1_800_000_000.0 // 3600 * 3600
        feed = _rates.DatedRates({edge - 3600: 100.0, edge: 300.0}, 3600.0, 0.0)
        charge, = _rated._charges([_rated.Part(edge - 30.0, edge + 10.0, None)], feed, 900.0)[0]
        self.assertAlmostEqual(charge.rate, 150.0)
        self.assertAlmostEqual(charge.spread, 50.0)

    def test_measurements_travel_as_plain_values(self):
        monitor = CarbonEmissionMonitor(Own(hours_around_now(1.0)))
        measured = self.measure(monitor)
        again = pickle.loads(pickle.dumps(measured))
        self.assertEqual(again, measured)
        self.assertEqual(again.details, measured.details)
        self.assertIs(again, monitor.settle(again))
        self.assertEqual([name for name in vars(measured) if name.startswith("_")], [])

    def test_misuse_is_refused_as_by_the_energy_monitor(self):
        monitor = EnergyCostMonitor(ElectricityPriceFile(self.file("time,value", "2020-01-01T00:00Z,1")))
        monitor.begin_window("w", sync_execution=False)
        self.assertEqual(monitor.current_keys, {"w"})
        with self.assertRaisesRegex(ValueError, "already exists"):
            monitor.begin_window("w", sync_execution=False)
        with self.assertRaisesRegex(ValueError, "does not exist"):
            monitor.end_window("x", sync_execution=False)

    def test_a_forked_child_has_windows_of_its_own_and_knows_nothing_of_open_ones(self):
        monitor = CarbonEmissionMonitor(Own(hours_around_now(1.0)))
        monitor.begin_window("w", sync_execution=False)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                inherited = monitor.end_window("w", sync_execution=False)
                os._exit(0 if inherited.details.total.reason and self.measure(monitor).details.total.value > 0.0 else 1)
            os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertGreater(monitor.end_window("w", sync_execution=False).details.total.value, 0.0)


class Unknown(Case):
    def expect_unknown(self, measured, reason: str) -> None:
        self.assertTrue(all(math.isnan(each) for each in measured.gpu_carbon_emission.values()))
        self.assertRegex(str(measured.details.total), rf"^unknown \(.*{reason}")
        self.assertTrue(all(each > 0.0 for each in measured.gpu_energy.values()))

    def test_no_window_waits_for_a_provider_and_settling_does(self):
        with local_services.running(electricity_maps(400.0)) as service:
            service.way = "hang"
            monitor = CarbonEmissionMonitor(ElectrictyMapsClient((1.0, 2.0), url=service.url, timeout=60.0))
            measured = self.measure(monitor)  # the provider answers later than this
            self.expect_unknown(measured, "has not answered for")
            service.released.set()
            self.assertGreater(monitor.settle(measured, patience=60.0).details.total.value, 0.0)

    def test_each_misbehaviour_is_a_reason(self):
        for way, reason in (("fail", "answered 500"), ("dribble", "no answer within 0.5 s"), ("hang", "no answer within 0.5 s"),
                            ("endless", "longer than 16 MiB|no answer within")):
            with self.subTest(way), local_services.running(electricity_maps()) as service, self.assertLogs("zeus.monitor.carbon") as logs:
                service.way = way
                client = ElectrictyMapsClient((1.0, 2.0), url=service.url, timeout=60.0 if way == "fail" else 0.5, token=KEY)
                with self.assertRaisesRegex(ZeusCarbonIntensityHTTPError, reason) as raised:
                    client.get_current_carbon_intensity()
                monitor = CarbonEmissionMonitor(client)
                self.expect_unknown(monitor.settle(self.measure(monitor), patience=60.0), reason)
            self.assertNotIn(KEY, str(logs.output) + str(raised.exception))
            self.assertNotIn(KEY, "".join(file.read_text() for file in self.folder.rglob("*.json")))

    def test_a_key_is_sent_without_blanks_around_it_and_shown_in_no_error(self):
        with local_services.running(electricity_maps(400.0)) as service:
            client = ElectrictyMapsClient((1.0, 2.0), url=service.url, token=KEY + "\n")
            self.assertEqual(client.get_current_carbon_intensity(), 400.0)
            with self.assertRaisesRegex(ValueError, "auth-token contains characters that cannot be sent") as raised:
                ElectrictyMapsClient((1.0, 2.0), url=service.url, token=f"two\n{KEY}")
        self.assertNotIn(KEY, str(raised.exception))

    def test_a_certificate_that_the_system_does_not_trust_is_refused(self):
        with local_services.running(electricity_maps(), certificate_in=self.folder) as service:
            with self.assertRaisesRegex(ZeusCarbonIntensityHTTPError, "no secure connection"):
                ElectrictyMapsClient((1.0, 2.0), url=service.url).get_recent_carbon_intensity()
        self.assertEqual(service.requests, [])

    def test_what_is_not_an_intensity_is_never_used(self):
        for value in (math.nan, math.inf, -1.0, "400", None, True):
            monitor = CarbonEmissionMonitor(Own(hours_around_now(value)))
            with self.subTest(value):
                self.expect_unknown(self.measure(monitor), "no value for .* is not a number of g/kWh from 0")
        for value in (math.nan, None):
            with self.subTest(answered=value), local_services.running(electricity_maps(value)) as service:
                client = ElectrictyMapsClient((1.0, 2.0), url=service.url)
                with self.assertRaises(ZeusCarbonIntensityNotFoundError):
                    client.get_current_carbon_intensity()
                monitor = CarbonEmissionMonitor(client)
                self.expect_unknown(self.measure(monitor), "ElectricityMaps has no" if value is None else "no value for")
        too_large = CarbonEmissionMonitor(Own(hours_around_now(1.7e308)))
        self.assertTrue(math.isfinite(self.measure(too_large).details.total.value or 0.0))

    def test_a_provider_that_raises_or_gives_something_else_is_named(self):
        def fail():
            raise KeyError("no such grid")

        for recent, reason in ((fail, "the provider failed: 'no such grid'"), ([1.0], "gave list, not a dictionary"),
                               ({}, "no value for")):
            with self.subTest(reason):
                self.expect_unknown(self.measure(CarbonEmissionMonitor(Own(recent))), reason)

    def test_the_present_value_serves_if_the_recent_ones_do_not_reach_so_far(self):
        monitor = CarbonEmissionMonitor(Own({hour_now() - timedelta(hours=30): 9.0}, current=50.0))
        measured = self.measure(monitor)
        self.assertAlmostEqual(measured.details.total.value, sum(measured.gpu_energy.values()) / 3.6e6 * 50.0, places=9)

    def test_the_latest_value_of_electricity_maps_has_its_own_time(self):
        for own_time, remark in ((hour_now() - timedelta(minutes=70), "with the value of"), (hour_now(), "^$"), (None, "^$")):
            told = {} if own_time is None else {"datetime": own_time.isoformat().replace("+00:00", "Z")}
            answers = {"/v3/carbon-intensity/latest": {"carbonIntensity": 400.0, **told}}
            with self.subTest(own_time), local_services.running(answers) as service:
                client = ElectrictyMapsClient((1.0, 2.0), url=service.url)
                self.assertEqual(client.get_current_carbon_intensity(), 400.0)
                measured = self.measure(CarbonEmissionMonitor(client), 0.2)
                self.assertAlmostEqual(measured.details.total.value, sum(measured.gpu_energy.values()) / 3.6e6 * 400.0, places=9)
                self.assertRegex(measured.details.total.remark, remark)
        answers["/v3/carbon-intensity/latest"]["datetime"] = "lately"
        with local_services.running(answers) as service, self.assertRaises(ZeusCarbonIntensityNotFoundError):
            ElectrictyMapsClient((1.0, 2.0), url=service.url).get_current_carbon_intensity()

    def test_an_old_value_has_its_age_and_a_very_old_one_is_none(self):
        for ago, remark in ((3, r"with the value of .* UTC, 3(\.\d*)? h old"), (2, "with the value of")):
            measured = self.measure(CarbonEmissionMonitor(Own({hour_now() - timedelta(hours=ago): 50.0})))
            self.assertRegex(measured.details.total.remark, remark)
        self.expect_unknown(self.measure(CarbonEmissionMonitor(Own({hour_now() - timedelta(hours=5): 50.0}))), "its latest before is of")

    def test_a_server_that_is_down_is_replaced_by_the_cache_of_any_process(self):
        with local_services.running(electricity_maps(300.0)) as service:
            self.measure(CarbonEmissionMonitor(ElectrictyMapsClient((1.0, 2.0), url=service.url)))
            asked = len(service.requests)
            self.measure(CarbonEmissionMonitor(ElectrictyMapsClient((1.0, 2.0), url=service.url)))
            self.assertEqual(len(service.requests), asked)  # the cache is fresh
        cached, = self.folder.rglob("rates-*.json")
        with civil_clock(datetime.now(UTC) + timedelta(hours=3)):
            later = self.measure(CarbonEmissionMonitor(ElectrictyMapsClient((1.0, 2.0), url=service.url)))
        self.assertRegex(later.details.total.remark, "with the value of .* old")
        for content in (cached.read_text().replace('"received": ', '"received": 9'), "{", "[]", '{"received": NaN}', ""):
            with self.subTest(content[:20]):
                cached.write_text(content)
                self.expect_unknown(self.measure(CarbonEmissionMonitor(ElectrictyMapsClient((1.0, 2.0), url=service.url))),
                                    "nothing listens there")

    def test_a_user_without_a_home_has_no_cache(self):
        # As in a container that is started with a number for its user: $HOME is not set, and the number has no name.
        with unittest.mock.patch.dict(os.environ), unittest.mock.patch("pwd.getpwuid", side_effect=KeyError("uid not found")):
            os.environ.pop("XDG_CACHE_HOME")
            os.environ.pop("HOME", None)
            with local_services.running(electricity_maps(300.0)) as service:
                monitor = CarbonEmissionMonitor(ElectrictyMapsClient((1.0, 2.0), url=service.url))
                self.assertGreater(monitor.settle(self.measure(monitor), patience=60.0).details.total.value, 0.0)

    def test_processes_that_share_a_cache_always_find_it_whole(self):
        cache, errors = _rates.Cache("one source"), []

        def work(number: int) -> None:
            for _ in range(20):
                cache.save(time.time(), {"values": [[float(each), float(number)] for each in range(200)]})
                received = cache.load(time.time())
                if received is None or len({value for _, value in received[1]["values"]}) != 1:
                    errors.append(received)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])


class Prices(Case):
    def test_openei_is_asked_as_the_existing_package_asks_and_its_tariff_priced(self):
        with local_services.running({"/utility_rates": tariff(0.2, adj=0.05)}) as service:
            client = OpenEIClient((40.0, -83.0), "A", "Commercial", 5, url=service.url, api_key=KEY, timezone=BERLIN)
            monitor = EnergyCostMonitor(client)
            measured = self.measure(monitor, 0.1)
            for label in ("B", "without prices"):
                client.label = label
                with self.assertRaisesRegex(ZeusElectricityPriceNotFoundError, "no tariff with the label"):
                    client.get_current_electricity_prices()
        self.assertAlmostEqual(measured.details.total.value, sum(measured.gpu_energy.values()) / 3.6e6 * 0.25, places=12)
        self.assertEqual(service.requests[0][1], f"/utility_rates?version=latest&format=json&api_key={KEY}&lat=40.0&lon=-83.0"
                                                 "&radius=5&detail=full&sector=Commercial")
        self.assertNotIn(KEY, "".join(file.read_text() for file in self.folder.rglob("*.json")))
        with self.assertRaises(ZeusElectricityPriceHTTPError) as raised:
            client.get_current_electricity_prices()
        self.assertNotIn(KEY, str(raised.exception))

    def test_a_tariff_in_another_part_of_the_world_needs_its_time_zone(self):
        with local_services.running({"/utility_rates": tariff()}) as service, self.assertLogs("zeus.monitor.price") as logs:
            offset = datetime.now().astimezone().utcoffset().total_seconds() / 3600.0
            far = EnergyCostMonitor(OpenEIClient((40.0, (offset * 15.0 + 180.0) % 360.0), "A", url=service.url))
            self.assertRegex(self.measure(far).details.total.remark, "taken from this machine's clock, 12 h from the sun")
        self.assertRegex(logs.output[0], "pass timezone=")

    def test_several_tiers_and_an_old_tariff_are_remarked_upon(self):
        always = [[0] * 24] * 12
        prices = {"energy_rate_structure": [[{"rate": 0.2, "max": 500}, {"rate": 0.3}]], "energy_weekday_schedule": always,
                  "energy_weekend_schedule": always}
        rate = _rates.Tariff(prices, UTC, 0.0).at(5 * 86400.0)
        self.assertEqual(rate.value, 0.2)
        self.assertRegex(rate.text, r"first tier; others have 0\.3; with a tariff received 5 d ago")
        self.assertIsNone(_rates.Tariff(prices, UTC, 0.0).at(31 * 86400.0).value)

    def test_a_damaged_tariff_is_refused(self):
        always = [[0] * 24] * 12
        good = {"energy_rate_structure": [[{"rate": 0.2}]], "energy_weekday_schedule": always, "energy_weekend_schedule": always}
        for name, value in (("energy_rate_structure", None), ("energy_weekday_schedule", [[0] * 23] * 12),
                            ("energy_weekend_schedule", [[1] * 24] * 12), ("energy_weekday_schedule", [[-1] * 24] * 12)):
            with self.subTest(name=name, value=str(value)[:20]), self.assertRaisesRegex(ValueError, name):
                _rates.Tariff({**good, name: value}, UTC, 0.0)
        for tiers in ([], [{}], [{"rate": math.nan}], [{"rate": "0.2"}], None):
            with self.subTest(tiers=tiers):
                self.assertRegex(_rates.Tariff({**good, "energy_rate_structure": [tiers]}, UTC, 0.0).at(0.0).text, "has no price")

    def test_negative_prices_are_prices(self):
        hours = [(hour_now() + timedelta(hours=each)).isoformat() for each in (-1, 0, 1)]
        monitor = EnergyCostMonitor(ElectricityPriceFile(self.file("time,value", *(f"{hour},-0.04" for hour in hours)), currency="EUR"))
        measured = self.measure(monitor, 0.1)
        self.assertAlmostEqual(measured.gpu_energy_cost[0], -0.04 * measured.gpu_energy[0] / 3.6e6, places=12)
        self.assertRegex(str(measured.details.gpu[0]), r"^-.* ± .* EUR$")


class Threads(Case):
    def test_two_close_times_in_a_file_do_not_divide_a_window_again_and_again(self):
        with civil_clock(hour_now() + timedelta(seconds=30)):
            path = self.file("time,value", f"{hour_now().isoformat()},1", f"{(hour_now() + timedelta(microseconds=1)).isoformat()},1")
            for monitor in (CarbonEmissionMonitor(CarbonIntensityFile(path)), EnergyCostMonitor(ElectricityPriceFile(path))):
                self.assertEqual(len(self.measure(monitor)._source.parts), 1)

    def test_without_new_threads_as_in_an_exit_handler_a_window_has_the_rates_that_are_known(self):
        refused = unittest.mock.patch("threading.Thread.start", side_effect=RuntimeError("at interpreter shutdown"))
        known = CarbonEmissionMonitor(Own({hour_now(): 1.0, hour_now() + timedelta(hours=1): 1.0}))
        with refused:
            self.assertGreater(self.measure(known).details.total.value, 0.0)
            unknown = self.measure(CarbonEmissionMonitor(Own({hour_now(): 1.0})))
        self.assertRegex(str(unknown.details.total), r"^unknown \(.*the provider cannot be asked: at interpreter shutdown")


class Files(Case):
    def test_local_times_are_read_by_the_clock_of_the_zone(self):
        path = self.file("# day-ahead", "time,value", "2026-10-25T01:00,1", "2026-10-25T02:00,2", "2026-10-25T02:00,3",
                         "2026-10-25T03:00,4", "2026-10-25T03:00Z,5")
        values = CarbonIntensityFile(path, timezone=BERLIN).get_recent_carbon_intensity()
        self.assertEqual({moment.hour if moment.day == 25 else -1: value for moment, value in values.items()}, {-1: 1, 0: 2, 1: 3, 2: 4, 3: 5})
        toml = self.file("[values]", '"2026-10-25T00:00Z" = 7', '"2026-10-25T00:15Z" = 8', name="values.toml")
        if sys.version_info >= (3, 11):
            self.assertEqual(CarbonIntensityFile(toml).update_period, timedelta(minutes=15))

    def test_a_value_that_holds_for_no_time_is_refused(self):
        path = self.file("time,value", "2026-01-01T00:00Z,1")
        for kind in (CarbonIntensityFile, ElectricityPriceFile):
            for seconds in (0, -3600):
                with self.subTest(kind=kind.__name__, seconds=seconds), self.assertRaisesRegex(ValueError, "update_period must be above 0"):
                    kind(path, update_period=timedelta(seconds=seconds))

    def test_what_is_wrong_in_a_file_is_named(self):
        for lines, reason in (
                (["2026-01-01T00:00Z,1"], "first line must be time,value"), (["time,value"], "has no values"),
                (["time,value", "2026-01-01T00:00,1"], "line 2: .* has no time zone"),
                (["time,value", "yesterday,1"], "line 2: 'yesterday' is not a time"),
                (["time,value", "2026-01-01T00:00Z,nan"], "line 2: 'nan' is not a number from 0"),
                (["time,value", "0001-01-01T00:00+01:00,1"], r"values\.csv, line 2: .* is not within the years 1 to 9999"),
                (["time,value", "2026-01-01T00:00Z," + "1" * 200_000], r"values\.csv, line 2: field larger than"),
                (["time,value", "2026-01-01T00:00Z,-1"], "is not a number from 0"), (["time,value", "a,b,c"], "3 cells, not 2"),
                (["time,value", "2026-01-01T00:00Z,1", "2026-01-01T01:00+01:00,2"], "has two values, 1 and 2")):
            with self.subTest(reason), self.assertRaisesRegex(ValueError, reason):
                CarbonIntensityFile(self.file(*lines))
        with self.assertRaisesRegex(ValueError, "does not show 2026-03-29T02:30:00"):
            CarbonIntensityFile(self.file("time,value", "2026-03-29T02:30,1"), timezone=BERLIN)
        with self.assertRaisesRegex(ValueError, "line 2: 9999-12-31T23:30 is not within the years 1 to 9999"):
            CarbonIntensityFile(self.file("time,value", "9999-12-31T23:30,1"), timezone=zoneinfo.ZoneInfo("America/New_York"))
        with self.assertRaisesRegex(ValueError, "cannot read .*: No such file"):
            CarbonIntensityFile(self.folder / "none.csv")


def print_times_of_end_window() -> None:
    """The 99th percentile of end_window beside each misbehaving provider, and of a plain monitor's, alternating."""
    def timed(monitor) -> float:
        monitor.begin_window("w", sync_execution=False)
        began = time.perf_counter()
        monitor.end_window("w", sync_execution=False)
        return time.perf_counter() - began

    warnings.simplefilter("ignore")
    logging.disable()
    with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}):
        for way in ("well", "refuse", "hang", "dribble", "endless", "certificate", "nan"):
            with local_services.running(electricity_maps(math.nan if way == "nan" else 1.0), folder if way == "certificate" else None) as service:
                service.way = way
                url = "http://127.0.0.1:9" if way == "refuse" else service.url
                plain, rated = ZeusMonitor(), CarbonEmissionMonitor(ElectrictyMapsClient((1.0, 2.0), url=url))
                times = [(timed(plain), timed(rated)) for _ in range(2000)]
                of_plain, of_rated = (sorted(each)[len(times) * 99 // 100] * 1e6 for each in zip(*times))
                print(f"{way:<12} plain {of_plain:7.1f} us   carbon {of_rated:7.1f} us   difference {of_rated - of_plain:7.1f} us")
            for file in pathlib.Path(folder).rglob("rates-*"):
                file.unlink()


if __name__ == "__main__":
    if sys.argv[1:] == ["--speed"]:
        print_times_of_end_window()
    else:
        unittest.main()

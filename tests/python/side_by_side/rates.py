"""Cases of carbon and cost: a window over a full hour and over a change of the clock. On 2xV100 at 180 W, with a civil
clock of its own, and TZ=Europe/Berlin.
"""

import datetime
import multiprocessing
import os
import pathlib
import signal
import sys
import threading
import time

import civil_clock
from cases import Cases
from zeus.monitor import carbon, price
from zeus.monitor.carbon import CarbonEmissionMonitor, CarbonIntensityProvider
from zeus.monitor.price import ElectricityPriceProvider, EnergyCostMonitor

WATTS = 180.0
BEFORE, AFTER = 8.0, 4.0  # seconds of the window; a helper process takes some to start
UTC = datetime.timezone.utc
HOUR = datetime.datetime(2026, 11, 26, 14, tzinfo=UTC)
# It is 03:00 for the second time: the clock was set back an hour before.
SET_BACK = datetime.datetime(2026, 10, 25, 2, tzinfo=UTC)
# The existing package's helper process imports this program again.
carbon.datetime = price.datetime = civil_clock.Datetime
cases = Cases()


class Grid(CarbonIntensityProvider):
    update_period = datetime.timedelta(hours=1)
    history_length = 24

    def get_current_carbon_intensity(self):
        return 700.0

    def get_recent_carbon_intensity(self):
        return {HOUR - datetime.timedelta(hours=1): 100.0, HOUR: 700.0}


class Local(ElectricityPriceProvider):
    """Expensive from 3 to 4 in the morning of a weekend's day."""

    def get_current_electricity_prices(self):
        weekend = [1 if hour == 3 else 0 for hour in range(24)]
        return {"energy_rate_structure": [[{"rate": 0.1}], [{"rate": 0.5, "adj": 0.1}]], "energy_weekday_schedule": [[0] * 24] * 12,
                "energy_weekend_schedule": [weekend] * 12}


def check(monitor, member: str, change: datetime.datetime, before: float, after: float) -> None:
    with cases.scenario(member):
        civil_clock.set_to(change - datetime.timedelta(seconds=BEFORE))
        first = change.timestamp() - time.time()
        monitor.begin_window("w", sync_execution=False)
        time.sleep(BEFORE + AFTER)
        # Where no CPU's and no memory's energy can be read, the existing package's helper process fails, and its end_window never returns.
        ended: list = []
        threading.Thread(target=lambda: ended.append(monitor.end_window("w", sync_execution=False)), daemon=True).start()
        for _ in range(200):
            if not ended:
                time.sleep(0.1)
        cases.expect("its end is there within 20 s", bool(ended), True)
        if not ended:
            return
        measured = ended[0]
        truth = WATTS / 3.6e6 * (first * before + (measured.time - first) * after)
        for gpu, amount in getattr(measured, member).items():
            cases.expect_near(f"GPU {gpu}, percent off the truth", 100.0 * (amount / truth - 1.0), 0.0, 1.0)


if __name__ == "__main__":
    check(CarbonEmissionMonitor(Grid()), "gpu_carbon_emission", HOUR, 100.0, 700.0)
    check(EnergyCostMonitor(Local()), "gpu_energy_cost", SET_BACK, 0.1, 0.6)
    cases.print()
    sys.stdout.flush()
    for helper in multiprocessing.active_children():  # which may hang, and has started others
        for process in pathlib.Path(f"/proc/{helper.pid}/task/{helper.pid}/children").read_text().split():
            os.kill(int(process), signal.SIGKILL)
        helper.kill()
    os._exit(0)

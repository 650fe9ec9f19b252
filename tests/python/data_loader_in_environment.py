"""zeus.ZeusDataLoader on virtual GPUs, with a network that really learns. Run by trainers_test.py, with the Python of an
environment that has torch.
"""

import csv
import datetime
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import torch
from prometheus_programs import free_port
from torch import nn
from torch.utils.data import IterableDataset, TensorDataset

from zeus import ZeusDataLoader
from zeus.device import get_gpus

torch.set_num_threads(1)
# In each step, so that an epoch is long enough to measure a limit; with the longer pause, a few epochs are enough for
# all limits.
SHORT_PAUSE, PAUSE = 0.002, 0.005
ALL_LIMITS = ["250000", "225000", "200000", "175000", "150000", "125000", "100000"]


def limit() -> int:
    return get_gpus().get_power_management_limit(0)


def generated(count: int, seed: int) -> TensorDataset:
    points = torch.randn(count, 16, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(points, (points[:, :2].sum(1) > 0).long())


class Training:
    """A network, and an ordinary training loop."""

    def __init__(self, pause: float = SHORT_PAUSE, **options) -> None:
        """`pause` seconds are slept in each step."""
        self.pause = pause
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.02)
        settings = dict(batch_size=20, max_epochs=30, target_metric=0.9, higher_is_better=True, shuffle=True)
        self.loader = ZeusDataLoader(generated(2000, 0), **{**settings, **options})
        self.evaluation = ZeusDataLoader(generated(400, 1), batch_size=20)
        self.epochs = []
        self.limits = []

    def run(self, metric=None) -> "Training":
        for epoch in self.loader.epochs():
            self.epochs.append(epoch)
            for points, labels in self.loader:
                self.optimizer.zero_grad()
                nn.functional.cross_entropy(self.model(points), labels).backward()
                self.optimizer.step()
                time.sleep(self.pause)
                self.limits.append(limit())
            right = sum((self.model(points).argmax(1) == labels).sum().item() for points, labels in self.evaluation)
            self.loader.report_metric(right / 400 if metric is None else metric)
        return self


class DataLoaderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "log"
        values = {"ZEUS_LOG_DIR": str(self.folder), "ZEUS_PROFILE_PARAMS": "2,8", "ZEUS_JOB_ID": "rec01+try01"}
        patch = unittest.mock.patch.dict(os.environ, values)
        patch.start()
        self.addCleanup(patch.stop)
        found = limit()
        self.addCleanup(lambda: self.assertEqual(limit(), found, "the limit found was not put back"))

    def read(self, name: str) -> dict:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def test_it_trains_to_the_target_and_leaves_its_files(self):
        training = Training(pause=PAUSE).run()
        self.assertTrue(training.loader.reached)
        self.assertEqual(training.loader.stopped_by, "target_reached")
        self.assertEqual(training.epochs, list(range(len(training.epochs))))
        result = self.read("rec01+try01+bs20.train.json")
        self.assertEqual(set(result), {"energy", "time", "cost", "num_epochs", "reached"})
        self.assertEqual((result["num_epochs"], result["reached"]), (len(training.epochs), True))
        self.assertAlmostEqual(result["cost"], 0.5 * result["energy"] + 0.5 * 250 * result["time"], delta=1e-6 * result["cost"])
        self.assertLess(result["energy"] / result["time"], 185)
        power = self.read("bs20.power.json")
        self.assertEqual(list(power), ["job_id", "train_power", "train_throughput", "eval_power", "eval_throughput", "optimal_pl"])
        self.assertEqual(power["job_id"], "rec01+try01")
        self.assertEqual(sorted(power["train_power"], key=int, reverse=True), ALL_LIMITS)
        self.assertEqual(set(power["train_throughput"]), set(ALL_LIMITS))
        self.assertIn(str(power["optimal_pl"]), ALL_LIMITS)
        self.assertIn(str(power["optimal_pl"]), power["eval_power"])
        self.assertEqual(set(power["eval_throughput"]), set(power["eval_power"]))

    def test_power_samples_are_as_the_interface_has_them(self):
        training = Training(pause=0.01, max_epochs=2, target_metric=2.0).run()  # an epoch takes a second at least
        self.assertEqual(training.epochs, [0, 1])
        rows = []
        for epoch in (1, 2):
            with open(self.folder / f"bs20+e{epoch}+gpu0.power.log", encoding="utf-8") as file:
                rows += list(csv.DictReader(file))
        self.assertGreater(len(rows), 2)
        for row in rows:
            self.assertRegex(row["Time"], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}$")
            self.assertRegex(row["Power"], r"^\d+$")
        self.assertEqual([row["Time"] for row in rows], sorted(row["Time"] for row in rows))
        last = datetime.datetime.strptime(rows[-1]["Time"][:19] + "+0000", "%Y-%m-%d %H:%M:%S%z").timestamp()
        self.assertAlmostEqual(last, time.time(), delta=10)

    def test_the_next_run_profiles_nothing_again(self):
        optimum = None
        for run in range(2):
            training = Training(pause=PAUSE, max_epochs=2, target_metric=2.0).run()
            if run == 0:
                self.assertGreater(len(set(training.limits)), 3)
                optimum = self.read("bs20.power.json")["optimal_pl"]
        self.assertEqual(set(training.limits[:20]), {optimum})

    def test_a_profile_that_the_existing_package_wrote_is_used(self):
        self.folder.mkdir()
        values = {"job_id": "zeus", "train_power": {"250000": 200.0, "175000": 170.0, "100000": 100.0},
                  "train_throughput": {"250000": 10.0, "175000": 9.9, "100000": 4.0}, "eval_power": {"175000": 150.0},
                  "eval_throughput": {"175000": 21.0}, "optimal_pl": 175000}
        (self.folder / "bs20.power.json").write_text(json.dumps(values))
        os.environ["ZEUS_ETA_KNOB"] = "0.5"
        training = Training(max_epochs=1, target_metric=2.0).run()
        self.assertEqual(set(training.limits[:20]), {175000})

    def test_a_damaged_profile_is_made_again(self):
        self.folder.mkdir()
        for content in ("", "{", "[]", '{"train_power": {}}', '{"train_power": {"1": 0}, "train_throughput": {"1": 0}}',
                        '{"train_power": {"x": 1}, "train_throughput": {"x": 1}}'):
            (self.folder / "bs20.power.json").write_text(content)
            with self.subTest(content), self.assertLogs("zeus._dataloader", "WARNING"):
                Training(max_epochs=1)

    def test_observer_mode_applies_nothing_and_says_what_would_have_been(self):
        os.environ["ZEUS_USE_OPTIMAL_PL"] = "False"
        training = Training(pause=PAUSE, max_epochs=3, target_metric=2.0).run()
        self.assertEqual(set(training.limits[-50:]), {250000})
        result = self.read("rec01+try01+bs20.train.json")
        prediction = result["prediction"]
        self.assertGreater(prediction["energy_j"]["value"], 0)
        self.assertEqual(prediction["setting"]["limit_w"] * 1000, self.read("bs20.power.json")["optimal_pl"])

    def test_what_costs_too_much_is_stopped(self):
        os.environ["ZEUS_COST_THRESH"] = "1"
        training = Training(target_metric=2.0).run()
        self.assertEqual(training.loader.stopped_by, "too_dear")
        self.assertLessEqual(len(training.epochs), 2)
        self.assertIs(self.read("rec01+try01+bs20.train.json")["reached"], False)

    def test_the_last_epoch_ends_it(self):
        training = Training(max_epochs=2, target_metric=2.0).run()
        self.assertEqual(training.loader.stopped_by, "epochs_used_up")
        self.assertIs(self.read("rec01+try01+bs20.train.json")["reached"], False)

    def test_target_and_direction_may_come_from_the_environment(self):
        os.environ.update(ZEUS_TARGET_METRIC="0.3", ZEUS_HIGHER_IS_BETTER="false")
        training = Training(target_metric=None, higher_is_better=None).run(metric=0.2)
        self.assertEqual((training.epochs, training.loader.reached), ([0], True))

    def test_the_direction_may_be_given_with_the_metric(self):
        training = Training(higher_is_better=None, target_metric=0.3, max_epochs=3)
        for _ in training.loader.epochs():
            training.loader.report_metric(0.2, False)
        self.assertTrue(training.loader.reached)

    def test_a_missing_direction_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "higher_is_better.*ZEUS_HIGHER_IS_BETTER"):
            Training(higher_is_better=None).run()

    def test_a_missing_target_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "ZEUS_TARGET_METRIC"):
            Training(target_metric=None)

    def test_settings_that_make_no_sense_are_refused(self):
        for name, value in (("ZEUS_PROFILE_PARAMS", "10"), ("ZEUS_PROFILE_PARAMS", "10,0"), ("ZEUS_PROFILE_PARAMS", "a,b"),
                            ("ZEUS_ETA_KNOB", "2"), ("ZEUS_ETA_KNOB", "much"), ("ZEUS_USE_OPTIMAL_PL", "maybe"),
                            ("ZEUS_COST_THRESH", "x")):
            with self.subTest(f"{name}={value}"), unittest.mock.patch.dict(os.environ, {name: value}):
                with self.assertRaises(ValueError):
                    Training()
        with self.assertRaises(ValueError):
            Training(target_metric=math.nan)
        with self.assertRaises(ValueError):
            Training(distributed="tp")
        with self.assertRaisesRegex(RuntimeError, "init_process_group"):
            Training(distributed="dp")

    def test_a_metric_that_is_not_a_number_reaches_nothing(self):
        with self.assertLogs("zeus._dataloader", "WARNING"):
            training = Training(max_epochs=2).run(metric=math.nan)
        self.assertEqual((training.epochs, training.loader.reached), ([0, 1], False))

    def test_a_metric_that_is_never_reported_hangs_nothing(self):
        training = Training(max_epochs=2)
        self.assertEqual(sum(len(list(training.loader)) for _ in training.loader.epochs()), 200)

    def test_an_unwritable_folder_is_reported_and_training_continues(self):
        self.folder.write_text("in the way")
        with self.assertLogs("zeus._dataloader", "WARNING"):
            training = Training(max_epochs=1).run()
        self.assertEqual(training.epochs, [0])

    def test_leaving_the_loop_puts_back_what_was_found_and_says_what_it_came_to(self):
        training = Training(max_epochs=5, target_metric=2.0)
        for epoch in training.loader.epochs():
            for index, _ in enumerate(training.loader):
                if index == 30:
                    break
            if epoch == 1:
                break
        self.assertIs(self.read("rec01+try01+bs20.train.json")["reached"], False)
        self.assertEqual(limit(), 250000)

    def test_a_look_at_the_data_is_no_training(self):
        training = Training(max_epochs=1, target_metric=2.0)
        self.assertEqual(len(list(training.loader)), 100)
        training.run()
        self.assertEqual(training.loader.result()["epochs"][0]["steps"], 100)

    def test_streams_without_a_length_are_trained_on(self):
        class Stream(IterableDataset):
            def __iter__(self):
                return iter(generated(400, 0))

        loader = ZeusDataLoader(Stream(), 10, 2, 2.0, higher_is_better=True)
        self.assertEqual(sum(len(list(loader)) for _ in loader.epochs()), 80)

    def test_evaluation_alone_is_a_plain_data_loader(self):
        with unittest.mock.patch.object(ZeusDataLoader, "_latest", None):
            loader = ZeusDataLoader(generated(100, 0), batch_size=10)
            self.assertEqual(len(list(loader)), 10)
            with self.assertRaisesRegex(ValueError, "max_epochs"):
                loader.report_metric(1.0)

    def test_two_ranks_stop_together_and_one_writes(self):
        script = self.folder.parent / "train.py"
        script.write_text(TWO_RANKS, encoding="utf-8")
        port = free_port()
        # As torchrun starts them, without its own import of PyTorch.
        ranks = [subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={
            **os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
            "RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"}) for rank in range(2)]
        said = "".join(rank.communicate(timeout=120)[0] for rank in ranks)
        self.assertEqual([rank.returncode for rank in ranks], [0, 0], said[-3000:])
        self.assertEqual(sorted(re.findall(r"rank \d .*", said)),
                         [f"rank {rank} epochs 2 reached {reached} by target_reached" for rank, reached in ((0, True), (1, False))])
        self.assertEqual(self.read("rec01+try01+bs20.train.json")["num_epochs"], 2)
        self.assertEqual(sorted(path.name for path in self.folder.glob("*e1+gpu*")),
                         ["bs20+e1+gpu0.power.log", "bs20+e1+gpu1.power.log"])


TWO_RANKS = """
import sys, torch, torch.distributed as dist
from torch.utils.data import TensorDataset
from torch.utils.data.distributed import DistributedSampler
from zeus import ZeusDataLoader
dist.init_process_group("gloo")
rank = dist.get_rank()
data = TensorDataset(torch.randn(800, 4))
loader = ZeusDataLoader(data, 10, 5, 0.9, higher_is_better=True, distributed="dp", sampler=DistributedSampler(data))
epochs = 0
for epoch in loader.epochs():
    for batch in loader:
        dist.all_reduce(torch.ones(1))
    epochs += 1
    # Ranks with different metrics follow rank 0.
    loader.report_metric(0.95 if rank == 0 and epoch == 1 else 0.1)
# In one piece, because both ranks write to one pipe, unbuffered.
sys.stdout.write(f"rank {rank} epochs {epochs} reached {loader.reached} by {loader.stopped_by}\\n")
dist.barrier()
dist.destroy_process_group()
"""

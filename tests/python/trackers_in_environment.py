"""Energies in the logs of real trainers, read back with the trackers' own readers. Run by trackers_test.py, with the Python of the
environment that has the trainers; that of the trackers is named by ZEUS_TEST_TRACKERS. Nothing leaves this machine.

  trackers_in_environment.py                   all tests
  trackers_in_environment.py --rank hugging_face|lightning FOLDER     one of two ranks, for the tests that start them
"""

import contextlib
import csv
import json
import logging
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import warnings

# Behind the trainers' own packages, some of which are the trackers' too.
sys.path.append(os.environ["ZEUS_TEST_TRACKERS"])
os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", MLFLOW_ALLOW_FILE_STORE="true", WANDB_MODE="offline",
                  WANDB_SILENT="true", WANDB_DISABLE_GIT="true", WANDB_CONSOLE="off")

import torch  # noqa: E402
from trainers_in_environment import arguments, generated, language_model, network, sentences  # noqa: E402

from zeus.integrations import _energy_log  # noqa: E402
from zeus.monitor import ZeusMonitor  # noqa: E402
from zeus.optimizer.power_limit import Energy, GlobalPowerLimitOptimizer, HFGlobalPowerLimitOptimizer  # noqa: E402

torch.set_num_threads(1)
NUMBERS = ("train_energy", "train_energy_half_width", "train_time", "total_energy", "total_energy_half_width", "total_time",
           "power_limit", "saved_energy_percent", "saved_energy_percent_half_width", "window_forward_energy",
           "window_forward_energy_half_width", "window_forward_time")
WATTS = 4 * 180


# -- What the trackers have kept: by name of a number, its values in order.


def from_tensorboard(folder: pathlib.Path, prefix: str = "") -> dict:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    return {name: [event.value for event in events.Scalars(prefix + name)] for name in NUMBERS
            if prefix + name in events.Tags()["scalars"]}


def from_mlflow(uri: str, prefix: str = "") -> dict:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(uri)
    [run] = client.search_runs([each.experiment_id for each in client.search_experiments()])
    histories = {name: client.get_metric_history(run.info.run_id, prefix + name) for name in NUMBERS}
    # It keeps the times in whole milliseconds, in which several entries may fall.
    return {name: [metric.value for metric in sorted(history, key=lambda one: (one.step, one.timestamp))]
            for name, history in histories.items() if history}


def wandb_records(content: bytes) -> list:
    """An offline run is a file of records, cut into pieces that fit into blocks of 32 KiB, with 7 bytes before each piece."""
    from wandb.proto import wandb_internal_pb2

    records, record = [], b""
    at = 7  # of the file's own header
    while at + 7 <= len(content):
        if 0x8000 - at % 0x8000 < 7:
            at += 0x8000 - at % 0x8000
            continue
        length, kind = int.from_bytes(content[at + 4:at + 6], "little"), content[at + 6]
        record += content[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last piece
            records.append(wandb_internal_pb2.Record.FromString(record))
            record = b""
    return records


def from_wandb(folder: pathlib.Path, prefix: str = "") -> dict:
    """Another process writes the file; the record of the run's end is its last."""
    [path] = folder.rglob("*.wandb")
    given_up = time.monotonic() + 60
    records = wandb_records(path.read_bytes())
    while not any(record.HasField("exit") for record in records):
        if time.monotonic() > given_up:
            raise AssertionError(f"{path} does not end")
        time.sleep(0.2)
        records = wandb_records(path.read_bytes())
    kept: dict = {}
    for record in records:
        for item in record.history.item:
            name = (item.key or "/".join(item.nested_key)).removeprefix(prefix)
            if name in NUMBERS:
                kept.setdefault(name, []).append(json.loads(item.value_json))
    return kept


def train_on_two_ranks(trainer: str, folder: pathlib.Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", __file__, "--rank", trainer,
               str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        raise AssertionError(done.stderr[-4000:])


class Logs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)  # where trackers write unless they are told otherwise
        warnings.filterwarnings("ignore", module="lightning")
        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    def expect_same(self, logged: dict, kept: dict, tracker: str):
        self.assertEqual(sorted(kept), sorted(logged), tracker)
        for name, values in logged.items():
            self.assertEqual(len(kept[name]), len(values), (tracker, name))
            for value, there in zip(values, kept[name]):
                self.assertLessEqual(abs(there - value), 1e-6 * max(abs(value), 1.0), (tracker, name))

    def expect_true(self, logged: dict, epochs: int, optimizer: GlobalPowerLimitOptimizer):
        self.assertEqual(sorted(logged), sorted(NUMBERS))
        self.assertEqual(len(logged["train_energy"]), epochs)
        self.assertEqual(logged["total_time"], sorted(logged["total_time"]))
        # The GPUs draw 180 W each under every limit from 200 W, and less below.
        for part in ("train", "total", "window_forward"):
            for energy, half_width, seconds in zip(*(logged[part + end] for end in ("_energy", "_energy_half_width", "_time"))):
                self.assertGreater(half_width, 0)
                self.assertLessEqual(energy, WATTS * seconds + 4 * half_width)
                self.assertGreaterEqual(energy, 0.4 * WATTS * seconds - 4 * half_width)
        self.assertEqual(logged["power_limit"][-1], optimizer.state.optimal_power_limit / 1000)
        saved, half_width = optimizer.saving
        by_limit = {each.power_limit: each.energy for each in optimizer.measurements}
        # All limits together say what is saved, and how far single slices scatter: of so few, one in which the machine paused is far out.
        times = [each.time for each in optimizer.measurements]
        if max(times) < 2 * min(times):
            self.assertLess(abs(saved - (1 - by_limit[logged["power_limit"][-1]] / by_limit[250])), 4 * half_width)
        self.assertGreater(half_width, 0)
        self.assertEqual((logged["saved_energy_percent"][-1], logged["saved_energy_percent_half_width"][-1]),
                         (100 * saved, 100 * half_width))


def numbers_of(entries: list) -> dict:
    found = {name: [entry[name] for entry in entries if name in entry] for name in NUMBERS}
    return {name: values for name, values in found.items() if values}


# -- Hugging Face.


def hugging_face(folder: pathlib.Path, monitor: ZeusMonitor, report_to: list, optimize: bool = False, **more):
    from transformers import Trainer, TrainingArguments

    from zeus.integrations.huggingface import EnergyLogger

    class WithAWindow(Trainer):
        def training_step(self, *inputs, **others):
            time.sleep(0.08)  # three are long beside the delays of a busy machine
            if self.state.is_world_process_zero:
                with monitor.window("forward", sync_execution=False, on_measurement=energies.add):
                    return super().training_step(*inputs, **others)
            return super().training_step(*inputs, **others)

    options = {"num_train_epochs": 2, "logging_steps": 4, **more}
    given = arguments(TrainingArguments, str(folder))
    for name, value in {**options, "report_to": report_to}.items():
        setattr(given, name, value)
    callbacks = [HFGlobalPowerLimitOptimizer(ZeusMonitor(), Energy(), warmup_steps=1, profile_steps=3, pl_step=50)] if optimize else []
    trainer = WithAWindow(model=language_model(), train_dataset=sentences(96), args=given, callbacks=callbacks)
    energies = EnergyLogger(monitor, trainer)
    trainer.add_callback(energies)
    return trainer


class HuggingFace(Logs):
    def test_energies_are_in_its_history_and_in_all_that_it_reports_to(self):
        import mlflow
        import wandb

        uri = (self.folder / "mlruns").as_uri()
        environment = {"MLFLOW_TRACKING_URI": uri, "TENSORBOARD_LOGGING_DIR": str(self.folder / "board"),
                       "WANDB_DIR": str(self.folder)}
        with unittest.mock.patch.dict(os.environ, environment):
            trainer = hugging_face(self.folder, ZeusMonitor(), ["tensorboard", "mlflow", "wandb"], optimize=True)
            trainer.train()
            mlflow.end_run()
            mlflow.flush_async_logging()
            wandb.finish()
        history = trainer.state.log_history
        logged = numbers_of(history)
        [callback] = [each for each in trainer.callback_handler.callbacks if isinstance(each, HFGlobalPowerLimitOptimizer)]
        self.expect_true(logged, 2, callback.optimizer)
        # The trainer's own entries are as they would be without ours, each with one of ours.
        losses = [entry["step"] for entry in history if "loss" in entry]
        self.assertEqual(losses, list(range(4, 49, 4)))
        self.assertEqual(len(logged["total_energy"]), len(losses) + 2 + 1)  # epochs, and the last entry
        for entry in history:
            self.assertFalse("loss" in entry and "total_energy" in entry)
        self.expect_same(logged, from_tensorboard(self.folder / "board", "train/"), "TensorBoard")
        self.expect_same(logged, from_mlflow(uri), "MLflow")
        self.expect_same(logged, from_wandb(self.folder, "train/"), "W&B")

    def test_a_tracker_that_raises_or_blocks_is_named_once_and_costs_nothing_more(self):
        from transformers import TrainerCallback

        calls = {"raises": 0, "blocks": 0, "works": 0}
        # Seconds, of a clock that no busy machine moves.
        blocked: list[float] = []
        clock = types.SimpleNamespace(monotonic=lambda: sum(blocked))

        class Raising(TrainerCallback):
            def on_log(self, args, state, control, logs=None, **others):
                if "total_energy" in logs:
                    calls["raises"] += 1
                    raise ConnectionError("the tracker is away")

        class Blocking(TrainerCallback):
            def on_log(self, args, state, control, logs=None, **others):
                if "total_energy" in logs:
                    calls["blocks"] += 1
                    blocked.append(1000.0)

        class Working(TrainerCallback):
            def on_log(self, args, state, control, logs=None, **others):
                calls["works"] += "total_energy" in logs

        with unittest.mock.patch.object(_energy_log, "time", clock), self.assertLogs("zeus", "WARNING") as said:
            trainer = hugging_face(self.folder, ZeusMonitor(), [], max_steps=12)
            for tracker in (Raising(), Blocking(), Working()):
                trainer.add_callback(tracker)
            trainer.train()
        about = [record.getMessage() for record in said.records if "no energies" in record.getMessage()]
        self.assertEqual(len(about), 2, about)
        self.assertRegex(about[0], "^Raising gets no energies any more, and the training goes on: ConnectionError: the tracker is away$")
        self.assertRegex(about[1], r"^Blocking gets no energies any more, .*it took [\d.]+ s for one entry$")
        self.assertEqual((calls["raises"], calls["blocks"]), (1, 1))
        self.assertGreaterEqual(calls["works"], 4)
        self.assertEqual(trainer.state.global_step, 12)

    def test_a_log_of_ours_does_not_answer_whether_the_trainer_logs(self):
        trainer = hugging_face(self.folder, ZeusMonitor(), [], max_steps=8, logging_strategy="epoch")
        trainer.train()
        with_ours = [entry for entry in trainer.state.log_history if "loss" in entry]
        self.assertEqual(len(with_ours), 1)

    def test_two_ranks_log_once(self):
        train_on_two_ranks("hugging_face", self.folder)
        logged = json.loads((self.folder / "history.json").read_text())
        self.assertEqual(len(logged["train_energy"]), 1)
        boards = list((self.folder / "board").glob("events*"))
        self.assertEqual(len(boards), 1)
        self.expect_same(logged, from_tensorboard(self.folder / "board", "train/"), "TensorBoard")
        self.assertEqual((self.folder / "rank1.json").read_text(), "{}")


def a_rank_of_hugging_face(folder: pathlib.Path) -> None:
    os.environ["TENSORBOARD_LOGGING_DIR"] = str(folder / "board")
    trainer = hugging_face(folder, ZeusMonitor(), ["tensorboard"], max_steps=4, logging_steps=2)
    trainer.train()
    name = "history.json" if trainer.state.is_world_process_zero else "rank1.json"
    (folder / name).write_text(json.dumps(numbers_of(trainer.state.log_history)))


# -- Lightning.


def train_with_lightning(folder: pathlib.Path, loggers: list, callbacks: tuple = (), **more):
    import lightning
    from torch import nn
    from torch.utils.data import DataLoader

    from zeus.integrations.lightning import EnergyLogger

    monitor = ZeusMonitor()
    energies = EnergyLogger(monitor)

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.network = network()

        @monitor.window("forward", sync_execution=False, on_measurement=energies.add)
        def training_step(self, batch, _):
            time.sleep(0.06)  # four are long beside the delays of a busy machine
            return nn.functional.cross_entropy(self.network(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    trainer = lightning.Trainer(**{"max_epochs": 2, **more}, accelerator="cpu", callbacks=[*callbacks, energies], logger=loggers,
                                enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                                log_every_n_steps=10, default_root_dir=folder)
    trainer.fit(Module(), DataLoader(generated(640), batch_size=16, shuffle=True))
    return trainer


def a_listening_logger():
    from lightning.pytorch.loggers import Logger

    class Listening(Logger):
        name, version, entries = "listening", "0", []

        def log_hyperparams(self, *given, **more):
            pass

        def log_metrics(self, metrics, step=None):
            self.entries.append({**metrics, "step": step})

    return Listening()


def a_rank_of_lightning(folder: pathlib.Path) -> None:
    from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

    loggers = [TensorBoardLogger(folder, name="board", version="0"), CSVLogger(folder, name="table", version="0")]
    train_with_lightning(folder, loggers, max_epochs=1, devices=2, strategy="ddp")


class Lightning(Logs):
    def test_energies_are_in_all_of_its_loggers(self):
        import wandb
        from lightning.pytorch.loggers import MLFlowLogger, TensorBoardLogger, WandbLogger

        from zeus.integrations.lightning import LightningGlobalPowerLimitOptimizer

        uri = (self.folder / "mlruns").as_uri()
        listening = a_listening_logger()
        board = TensorBoardLogger(self.folder, name="board", version="0")
        optimizer = LightningGlobalPowerLimitOptimizer(ZeusMonitor(), Energy(), warmup_steps=1, profile_steps=4, pl_step=50)
        loggers = [board, MLFlowLogger(tracking_uri=uri), WandbLogger(save_dir=self.folder, offline=True), listening]
        trainer = train_with_lightning(self.folder, loggers, (optimizer,))
        wandb.finish()
        logged = numbers_of(listening.entries)
        self.expect_true(logged, 2, optimizer.optimizer)
        self.assertEqual(len(logged["total_energy"]), 8 + 2)
        self.assertEqual(trainer.callback_metrics["train_time"].item(), torch.tensor(logged["train_time"][-1]).item())
        self.expect_same(logged, from_tensorboard(self.folder / "board" / "0"), "TensorBoard")
        self.expect_same(logged, from_mlflow(uri), "MLflow")
        self.expect_same(logged, from_wandb(self.folder), "W&B")

    def test_batches_that_only_accumulate_gradients_write_no_entries(self):
        listening = a_listening_logger()
        train_with_lightning(self.folder, [listening], max_epochs=1, accumulate_grad_batches=4)
        steps = [entry["step"] for entry in listening.entries if "total_energy" in entry]
        self.assertEqual(steps, [10, 10])  # of 40 batches: every tenth step, and the epoch

    def test_a_logger_that_raises_is_named_once(self):
        from lightning.pytorch.loggers import Logger

        class Away(Logger):
            name, version, calls = "away", "0", 0

            def log_hyperparams(self, *given, **more):
                pass

            def log_metrics(self, metrics, step=None):
                self.calls += 1
                raise ConnectionError("the tracker is away")

        away = Away()
        with self.assertLogs("zeus", "WARNING") as said:
            trainer = train_with_lightning(self.folder, [away], max_epochs=1)
        self.assertEqual(away.calls, 1)
        self.assertEqual([record.getMessage() for record in said.records if "no energies" in record.getMessage()],
                         ["Away gets no energies any more, and the training goes on: ConnectionError: the tracker is away"])
        self.assertTrue(math.isfinite(trainer.callback_metrics["train_energy"].item()))

    def test_two_ranks_log_once(self):
        train_on_two_ranks("lightning", self.folder)
        kept = from_tensorboard(self.folder / "board" / "0")
        # 20 steps of each rank: after the tenth, the twentieth, and the epoch.
        self.assertEqual((len(kept["total_energy"]), len(kept["train_energy"])), (3, 1))
        with open(self.folder / "table" / "0" / "metrics.csv", newline="", encoding="utf-8") as lines:
            table = [float(row["total_energy"]) for row in csv.DictReader(lines) if row.get("total_energy")]
        self.assertEqual([round(value, 3) for value in table[-1:]], [round(value, 3) for value in kept["total_energy"][-1:]])


if __name__ == "__main__":
    os.environ.setdefault("ZEUS_STATE_DIR", tempfile.mkdtemp())
    if sys.argv[1:2] == ["--rank"]:
        with contextlib.redirect_stdout(sys.stderr):
            {"hugging_face": a_rank_of_hugging_face, "lightning": a_rank_of_lightning}[sys.argv[2]](pathlib.Path(sys.argv[3]))
        # PyTorch's threads may still drop a tensor of the last gathering, and abort a process whose Python has ended.
        sys.stderr.flush()
        os._exit(0)
    else:
        # unittest would exit with a bool, which W&B's hook for exits refuses.
        sys.exit(int(not unittest.main(argv=[sys.argv[0], *sys.argv[1:]], exit=False).result.wasSuccessful()))

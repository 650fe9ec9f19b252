"""Real trainers that really train, on the CPU, with our callbacks on virtual GPUs. Run by trainers_test.py, with the Python
of an environment that has them. Models are tiny and created from a configuration: nothing is downloaded.
"""

import contextlib
import io
import itertools
import os
import pathlib
import re
import runpy
import sys
import tempfile
import time
import unittest
import unittest.mock

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from zeus.device import get_gpus  # noqa: E402
from zeus.monitor import ZeusMonitor  # noqa: E402
from zeus.optimizer.power_limit import Done, Energy, GlobalPowerLimitOptimizer, HFGlobalPowerLimitOptimizer  # noqa: E402

torch.set_num_threads(1)
SEEDS = pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "seeds"


def limits() -> list:
    return [get_gpus().get_power_management_limit(gpu) for gpu in range(len(get_gpus()))]


def generated(count: int, seed: int = 0) -> TensorDataset:
    """Points, and whether their first two coordinates sum to more than 0: a learnable task."""
    points = torch.randn(count, 16, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(points, (points[:, :2].sum(1) > 0).long())


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))


def accuracy(model: nn.Module) -> float:
    points, labels = generated(1000, seed=1).tensors
    with torch.no_grad():
        return (model(points).argmax(1) == labels).float().mean().item()


def pause(optimizer: GlobalPowerLimitOptimizer, seconds: float) -> None:
    """In a step, so that it is long enough while limits are compared."""
    if not isinstance(optimizer.state, Done):
        time.sleep(seconds)


class Publications(unittest.TestCase):
    """Published statements, with the indentation that the web page and the scan have lost."""

    def setUp(self):
        self.found = limits()
        self.addCleanup(lambda: self.assertEqual(limits(), self.found, "the limit found was not put back"))

    def published(self, document: str, first: str, indents: str, after: str = "") -> str:
        """The lines from `first` on, each with its depth from `indents`."""
        path = SEEDS / document
        if not path.exists():
            self.skipTest(f"skipped: {path} is not here")
        text = path.read_text(encoding="utf-8")
        lines = text[text.index(after):].splitlines()
        start = lines.index(first)
        return "\n".join("    " * int(depth) + line.strip() for line, depth in zip(lines[start:start + len(indents)], indents))

    def training(self) -> dict:
        model = network()
        return {
            "train_dataloader": DataLoader(generated(256), batch_size=16, shuffle=True),
            "model": model,
            "optim": torch.optim.SGD(model.parameters(), 0.01),
            "criterion": lambda wanted, given: nn.functional.cross_entropy(given, wanted),
        }

    def test_the_measuring_snippet(self):
        code = self.published("zeus-pytorch-blog.md", "from zeus.monitor import ZeusMonitor", "00000011122221100")
        names = self.training()
        printed = []
        exec(code, {**names, "print": printed.append})  # noqa: S102
        self.assertEqual(len(printed), 101)
        time, energy = (float(number) for number in re.findall(r"([\d.]+) (?:s|J)", printed[-1]))
        self.assertAlmostEqual(energy / time, 4 * 180, delta=40)
        self.assertGreater(accuracy(names["model"]), 0.8)

    def test_the_optimizing_snippet(self):
        code = self.published("zeus-pytorch-blog.md", "from zeus.monitor import ZeusMonitor", "000000112222221",
                              after="### GlobalPowerLimitOptimizer")
        names = self.training()
        learned, steps = names["criterion"], itertools.count()

        def criterion(wanted, given):
            if next(steps) < 400:
                time.sleep(0.01)  # an epoch has 16 steps, and less than 0.1 s cannot be measured
            return learned(wanted, given)

        names["criterion"] = criterion
        exec(code, names)  # noqa: S102
        plo = names["plo"]
        self.assertIsInstance(plo.state, Done)
        self.assertEqual(set(limits()), {plo.state.optimal_power_limit})
        self.assertGreater(accuracy(names["model"]), 0.8)
        plo.close()

    def test_the_selector_snippet(self):
        code = self.published("zeus-pytorch-blog.md", "# Built-in strategies for selecting the optimal power limit.",
                              "001111000110", after="If you’re using the HuggingFace")
        names = {"monitor": ZeusMonitor(gpu_indices=[0])}
        exec(code, names)  # noqa: S102
        self.assertEqual(names["plo"].optimum_selector.factor, 1.1)
        names["plo"].close()

    def test_the_hugging_face_snippet(self):
        code = self.published("zeus-pytorch-blog.md", "from zeus.monitor import ZeusMonitor", "000000011110",
                              after="If you’re using the HuggingFace")
        # The code that the snippet's dots leave out.
        code = code.replace("...,", "args=args,")
        import transformers

        with tempfile.TemporaryDirectory() as folder:
            names = {"Trainer": transformers.Trainer, "model": language_model(), "train_dataset": sentences(64),
                     "args": arguments(transformers.TrainingArguments, folder, max_steps=5)}
            exec(code, names)  # noqa: S102
            names["trainer"].train()
        self.assertIsInstance(names["pl_optimizer"], transformers.TrainerCallback)

    def test_listing_1(self):
        listing = self.published("zeus-nsdi23-paper.md", "1 from zeus import ZeusDataLoader", "0" * 12,
                                 after="5 Zeus Implementation")
        lines = [re.sub(r"^(\s*)\d+ ?", r"\1", line) for line in listing.splitlines()]
        lines = [line for line in lines if line.strip()]
        # The bodies of its two inner loops are only comments, so they need a statement.
        for comment, work, depth in (("# Learn from batch", "learn(batch)", 3), ("# Evaluate on batch", "evaluate(batch)", 3)):
            lines = ["    " * depth + work if comment in line else line for line in lines]
        code = "\n".join(dedented_listing(lines))
        names = self.training()
        counts = [0, 0]

        def learn(batch):
            time.sleep(0.005)  # so that an epoch is long enough to measure a limit
            names["optim"].zero_grad()
            nn.functional.cross_entropy(names["model"](batch[0]), batch[1]).backward()
            names["optim"].step()

        def evaluate(batch):
            counts[0] += (names["model"](batch[0]).argmax(1) == batch[1]).sum().item()
            counts[1] += len(batch[1])

        class Metric(float):
            """The listing's validation_metric, at the time when it is read."""

            def __float__(self):
                return counts[0] / max(counts[1], 1)

        with tempfile.TemporaryDirectory() as folder:
            environment = {"ZEUS_HIGHER_IS_BETTER": "true", "ZEUS_LOG_DIR": folder, "ZEUS_PROFILE_PARAMS": "2,6"}
            with unittest.mock.patch.dict(os.environ, environment):
                exec(code, {**names, "train_set": generated(2000), "eval_set": generated(500, 1), "batch_size": 20,  # noqa: S102
                            "max_epochs": 30, "target_metric": 0.9, "learn": learn, "evaluate": evaluate,
                            "validation_metric": Metric()})
            written = sorted(path.name for path in pathlib.Path(folder).glob("*.json"))
        self.assertGreaterEqual(accuracy(names["model"]), 0.85)
        self.assertEqual(written, ["bs20.power.json", "zeus+bs20.train.json"])


def dedented_listing(lines: list) -> list:
    """Listing 1 as its text describes it: evaluation follows learning in each epoch; the scan shows it inside."""
    depths = {"for batch in train_loader:": 1, "learn(batch)": 2, "for batch in eval_loader:": 1, "evaluate(batch)": 2,
              "train_loader.report_metric(validation_metric)": 1, "train_set, batch_size, max_epochs, target_metric)": 1}
    return ["    " * depths.get(line.strip(), 0) + line.strip() for line in lines]


# -- Hugging Face and TRL.


def arguments(kind, folder: str, **more):
    return kind(output_dir=folder, report_to=[], use_cpu=True, per_device_train_batch_size=4, learning_rate=1e-2,
                save_strategy="no", logging_steps=1, disable_tqdm=True, seed=0, **more)


def language_model() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=16, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=2))


def sentences(count: int) -> list:
    """Counting upwards: a language that a small model learns."""
    rows = [[(start + step) % 29 + 3 for step in range(12)] for start in range(count)]
    return [{"input_ids": row, "labels": row, "attention_mask": [1] * 12} for row in rows]


class HuggingFace(unittest.TestCase):
    def setUp(self):
        self.found = limits()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.seen = []

    def callback(self) -> HFGlobalPowerLimitOptimizer:
        callback = HFGlobalPowerLimitOptimizer(ZeusMonitor(), Energy(), warmup_steps=1, profile_steps=3, pl_step=50)
        step = callback.optimizer.on_step_end

        def on_step_end() -> None:
            pause(callback.optimizer, 0.034)  # three steps of which can be measured
            step()
            self.seen.append((callback.optimizer.state.copy(), limits()))

        callback.optimizer.on_step_end = on_step_end
        return callback

    def check(self, trainer, callback) -> None:
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        self.assertLess(losses[-1], losses[0] * 0.9, "it did not learn")
        self.assertIsInstance(callback.optimizer.state, Done)
        self.assertEqual([each.power_limit for each in callback.optimizer.measurements], [250, 200, 150, 100])
        chosen = callback.optimizer.state.optimal_power_limit
        self.assertEqual(self.seen[-1], (Done(optimal_power_limit=chosen), [chosen] * 4))
        self.assertEqual(limits(), self.found, "the limit found was not put back when training ended")

    def test_trainer(self):
        from transformers import Trainer, TrainingArguments

        callback = self.callback()
        trainer = Trainer(model=language_model(), train_dataset=sentences(128), callbacks=[callback],
                          args=arguments(TrainingArguments, self.folder.name, num_train_epochs=2))
        trainer.train()
        self.check(trainer, callback)
        self.assertEqual(len(self.seen), 64)

    def test_trainer_with_accumulated_gradients_counts_optimizer_steps(self):
        from transformers import Trainer, TrainingArguments

        callback = self.callback()
        trainer = Trainer(model=language_model(), train_dataset=sentences(256), callbacks=[callback],
                          args=arguments(TrainingArguments, self.folder.name, num_train_epochs=2, gradient_accumulation_steps=2))
        trainer.train()
        self.assertEqual(len(self.seen), 64)
        self.check(trainer, callback)

    def test_sft_trainer(self):
        from datasets import Dataset
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import PreTrainedTokenizerFast
        from trl import SFTConfig, SFTTrainer

        vocabulary = {"<pad>": 0, "<s>": 1, "</s>": 2, **{f"w{number}": number + 3 for number in range(29)}}
        words = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
        words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", bos_token="<s>", eos_token="</s>")
        texts = [{"text": " ".join(f"w{(start + step) % 29}" for step in range(10))} for start in range(128)]
        callback = self.callback()
        trainer = SFTTrainer(model=language_model(), train_dataset=Dataset.from_list(texts), processing_class=tokenizer,
                             callbacks=[callback],
                             args=arguments(SFTConfig, self.folder.name, num_train_epochs=2, max_length=16, bf16=False))
        trainer.train()
        self.check(trainer, callback)

    def test_the_example(self):
        printed = io.StringIO()
        example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "trainer" / "train.py"
        with contextlib.chdir(self.folder.name), contextlib.redirect_stdout(printed):
            runpy.run_path(str(example), run_name="__main__")
        self.assertRegex(printed.getvalue(), r"(?m)^done: (100|150|200|250) W$")

    def test_an_error_in_training_leaves_nothing_behind(self):
        import gc

        from transformers import Trainer, TrainingArguments

        class Failing(Trainer):
            def training_step(self, *inputs, **more):
                if self.state.global_step == 12:
                    raise RuntimeError("out of memory")
                return super().training_step(*inputs, **more)

        callback = self.callback()
        trainer = Failing(model=language_model(), train_dataset=sentences(128), callbacks=[callback],
                          args=arguments(TrainingArguments, self.folder.name, num_train_epochs=2))
        with self.assertRaisesRegex(RuntimeError, "out of memory"):
            trainer.train()
        callback.optimizer.close()
        del trainer, callback
        gc.collect()
        self.assertEqual(limits(), self.found)


# -- Lightning.


class Lightning(unittest.TestCase):
    def test_trainer(self):
        import logging
        import warnings

        warnings.filterwarnings("ignore", module="lightning")
        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
        import lightning

        from zeus.integrations.lightning import EnergyLogger, LightningGlobalPowerLimitOptimizer

        class Module(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.network = network()

            def training_step(self, batch, _):
                pause(optimizer.optimizer, 0.026)  # four of which can be measured
                return nn.functional.cross_entropy(self.network(batch[0]), batch[1])

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)

        found = limits()
        optimizer = LightningGlobalPowerLimitOptimizer(ZeusMonitor(), Energy(), warmup_steps=1, profile_steps=4, pl_step=50)
        logger = EnergyLogger(ZeusMonitor())
        module = Module()
        trainer = lightning.Trainer(max_epochs=3, accelerator="cpu", callbacks=[optimizer, logger], logger=False,
                                    enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
        trainer.fit(module, DataLoader(generated(640), batch_size=16, shuffle=True))
        self.assertGreater(accuracy(module.network), 0.85)
        self.assertIsInstance(optimizer.optimizer.state, Done)
        self.assertEqual([each.power_limit for each in optimizer.optimizer.measurements], [250, 200, 150, 100])
        self.assertGreater(trainer.callback_metrics["train_energy"].item(), 0)
        self.assertEqual(limits(), found)


class ALoopOfOnesOwn(unittest.TestCase):
    def test_data_loader_workers_do_not_disturb(self):
        found = limits()
        plo = GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[0]), Energy(), warmup_steps=1, profile_steps=4, pl_step=50)
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(3):
            plo.on_epoch_begin()
            for points, labels in DataLoader(generated(640), batch_size=16, num_workers=2):
                plo.on_step_begin()
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(points), labels).backward()
                optimizer.step()
                pause(plo, 0.026)  # four of which can be measured
                plo.on_step_end()
            plo.on_epoch_end()
        self.assertEqual(plo.state, Done(optimal_power_limit=plo.current_power_limit))
        self.assertEqual(limits()[0], plo.current_power_limit)
        plo.on_train_end()
        self.assertEqual(limits(), found)

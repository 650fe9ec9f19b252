"""Runs one of the existing package's example scripts, byte for byte unchanged, without its data sets and devices: on
generated data and on the CPU. Run by examples_test.py.

  example_runner.py ARGUMENTS...     of the script that EXAMPLE_SCRIPT names; EXAMPLE_STATES: where to write the
                                     optimizer's results, one JSON object a line; EXAMPLE_IMAGES, EXAMPLE_LINES: how many;
                                     EXAMPLE_SERVERS: JSON of the servers that the script names, "host:port" to [host, port]

The stand-ins are all here, and none is for a part of Zeus: torchvision (data sets, transforms, models), CUDA devices, NCCL, servers
elsewhere, what Transformers 5 has no longer, and the hub.
"""

import json
import os
import pathlib
import runpy
import socket
import sys
import time
import types

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import Dataset

IMAGES = int(os.environ.get("EXAMPLE_IMAGES", "4000"))


class Images(Dataset):
    """EXAMPLE_IMAGES generated images, whose brightest corner is the class. Each takes at least a millisecond: otherwise, on
    a fast machine, an epoch would be too short to measure all limits.
    """

    def __init__(self, *_, train=True, **__):
        self.count = IMAGES if train and "val" not in str(_) else 64

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(0.001)
        draw = torch.Generator().manual_seed(index)
        label = int(torch.randint(4, (), generator=draw))
        image = torch.randn(CHANNELS, 28, 28, generator=draw) * 0.3
        image[:, (label // 2) * 14:(label // 2) * 14 + 14, (label % 2) * 14:(label % 2) * 14 + 14] += 1.0
        return image, label


CHANNELS = 3


class SmallNetwork(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 4, 7, stride=7), nn.ReLU(), nn.Flatten(), nn.Linear(64, 10))


def module(name, **names):
    made = types.ModuleType(name)
    made.__dict__.update(names)
    sys.modules[name] = made
    return made


def anything(*_, **__):
    return None


def torchvision() -> None:

    transforms = {name: anything for name in ("Compose", "ToTensor", "Normalize", "RandomResizedCrop", "RandomHorizontalFlip",
                                              "Resize", "CenterCrop")}
    module("torchvision", transforms=module("torchvision.transforms", **transforms),
           datasets=module("torchvision.datasets", ImageFolder=Images, MNIST=Images, FashionMNIST=Images),
           models=module("torchvision.models", resnet18=lambda: SmallNetwork()))


def the_cpu_for_cuda() -> None:
    class Event:
        def __init__(self, **_):
            pass

        def record(self):
            pass

        def elapsed_time(self, _):
            return 0.0

    torch.cuda.set_device = lambda *_: None
    torch.cuda.Event = Event
    for kind in (torch.Tensor, nn.Module):
        kind.cuda = lambda self, *_, **__: self
        move = kind.to

        def to(self, *arguments, move=move, **more):
            if arguments and isinstance(arguments[0], int):
                return self
            return move(self, *arguments, **more)

        kind.to = to
    tensor = torch.tensor
    torch.tensor = lambda *arguments, device=None, **more: tensor(*arguments, **more)

    begin = dist.init_process_group
    dist.init_process_group = lambda backend=None, **more: begin("gloo", **more)
    parallel = nn.parallel.DistributedDataParallel
    nn.parallel.DistributedDataParallel = lambda model, **_: parallel(model)


def local_servers(servers: dict) -> None:
    connect = socket.create_connection
    socket.create_connection = lambda address, *arguments, **more: connect(
        tuple(servers.get(f"{address[0]}:{address[1]}", address)), *arguments, **more)


def language_modeling() -> None:
    """A tokenizer and sentences, as files in this folder."""
    import tokenizers
    import transformers.trainer  # which may put another module in the place of the first one

    transformers = sys.modules["transformers"]

    class Accuracy:
        def compute(self, predictions, references):
            return {"accuracy": float((predictions == references).mean())}

    module("evaluate", load=lambda *_, **__: Accuracy())
    transformers.is_torch_tpu_available = lambda *_, **__: False
    transformers.utils.send_example_telemetry = anything
    transformers.TrainingArguments.overwrite_output_dir = False
    trainer = transformers.Trainer
    transformers.Trainer = lambda tokenizer=None, **more: trainer(processing_class=tokenizer, **more)
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0, **{str(number): number + 1 for number in range(30)}}, "?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="?", model_max_length=16).save_pretrained("tokenizer")
    lines = int(os.environ["EXAMPLE_LINES"])
    pathlib.Path("text.txt").write_text("".join(
        " ".join(str((line + word) % 30) for word in range(16)) + "\n" for line in range(lines)), encoding="utf-8")


def watch(path: str) -> None:
    """Writes the optimizer's results after each epoch."""
    from zeus.device import get_gpus
    from zeus.optimizer import power_limit

    end = power_limit.GlobalPowerLimitOptimizer.on_epoch_end

    def on_epoch_end(self):
        end(self)
        limits = [get_gpus().get_power_management_limit(gpu) for gpu in self.monitor.gpu_indices]
        state = {"state": type(self.state).__name__, "limits": limits, "current": self.current_power_limit,
                 "measured": [each.power_limit for each in self.measurements], "unoptimized": self.unoptimized}
        with open(f"{path}.{os.environ.get('RANK', '0')}", "a", encoding="utf-8") as file:
            file.write(json.dumps(state) + "\n")

    power_limit.GlobalPowerLimitOptimizer.on_epoch_end = on_epoch_end


def main() -> None:
    global CHANNELS
    script = os.environ["EXAMPLE_SCRIPT"]
    sys.argv[0] = script
    torch.set_num_threads(1)
    if "fsdp" in script or "mnist" in script:
        CHANNELS = 1
    if "fsdp" in script:
        # Without an accelerator, parameters are sharded on the CPU if it is given.
        import torch.distributed.fsdp as fsdp

        sharded = fsdp.FullyShardedDataParallel
        fsdp.FullyShardedDataParallel = lambda model: sharded(model, device_id=torch.device("cpu"))
    if "run_clm" in script:
        language_modeling()
    else:
        module("tensorboardX", SummaryWriter=lambda *_: types.SimpleNamespace(add_scalar=anything))
        torchvision()
        the_cpu_for_cuda()
    local_servers(json.loads(os.environ["EXAMPLE_SERVERS"]))
    watch(os.environ["EXAMPLE_STATES"])
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()

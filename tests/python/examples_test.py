"""The existing package's example scripts, from its source archive, on virtual GPUs.

  examples_test.py PROGRAM BUILD_FOLDER [--examples FOLDER]      FOLDER: that of a checkout, in place of the archive's

The archive is fetched from the registry; without it these tests are skipped. The scripts run unchanged: example_runner.py
stands in for their data sets and devices. Not among them: those for Capriccio and for QLoRA load models and data from the hub, the
latter with kernels of CUDA; that of point-to-point power measures GPUs while they wait for NCCL; that of the pipeline's frontier does
not import Zeus (`zeus pipeline` does its work); those for the NSDI'23 paper import zeus._legacy (docs/reproduce-nsdi23.md).
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
from collections.abc import Sequence

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import existing_servers  # noqa: E402
import local_services  # noqa: E402
import processors  # noqa: E402
import prometheus_programs  # noqa: E402
import python_environment  # noqa: E402

RUNNER = pathlib.Path(__file__).resolve().parent / "example_runner.py"
program = ""
build = pathlib.Path()
checkout: pathlib.Path | None = None


def examples() -> pathlib.Path:
    """The folder of example scripts, fetched once per machine."""
    def fetch(folder: pathlib.Path) -> None:
        python_environment.download(folder, "zeus", "--no-binary", ":all:")
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive, tempfile.TemporaryDirectory(dir=folder) as taken:
            archive.extractall(taken, [each for each in archive.getmembers() if "/examples/" in each.name])
            next(pathlib.Path(taken).iterdir()).joinpath("examples").rename(folder / "examples")

    return checkout or python_environment.made_once(build, f"{python_environment.pin('zeus')}-examples", fetch) / "examples"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, gpus: str, command: list, before: Sequence = (), **environment: str) -> str:
        """What it prints."""
        words = [*before, program, "virtual", gpus, "--load", "constant:180W", "--", *command]
        # In a folder of the folder, because a script may write beside it.
        inner = self.folder / "here"
        inner.mkdir(exist_ok=True)
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=900, cwd=inner, env={
            **os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": str(self.folder / "hub"),
            "TOKENIZERS_PARALLELISM": "false", "ZEUS_STATE_DIR": str(self.folder / "state"), "XDG_CACHE_HOME": str(self.folder / "cache"),
            **environment})
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        return done.stdout

    def run_example(self, name: str, *arguments: str, ranks: int = 1, servers: dict | None = None, before: Sequence = (),
                    **environment: str) -> list:
        """The optimizer's results after each epoch, for each rank. What the example printed is in `said`."""
        python = python_environment.interpreter(build, "trainers")
        # The fully sharded example wants --local-rank, which only the older of the two launchers passes.
        launcher = "torch.distributed.launch" if "fsdp" in name else "torch.distributed.run"
        start = [python] if ranks == 1 else [python, "-m", launcher, "--standalone", "--nproc-per-node", ranks]
        states = self.folder / "states"
        self.said = self.run_command("2xV100", [*start, RUNNER, *arguments], before, EXAMPLE_SCRIPT=str(examples() / name),
                                     EXAMPLE_STATES=str(states), EXAMPLE_SERVERS=json.dumps(servers or {}), **environment)
        written = [pathlib.Path(f"{states}.{rank}") for rank in range(ranks)]
        return [[json.loads(line) for line in path.read_text().splitlines()] if path.exists() else [] for path in written]


class PowerLimitExamples(Case):
    def check(self, ranks: list, measured: list) -> None:
        for seen in ranks:
            last = seen[-1]
            self.assertEqual((last["state"], last["unoptimized"]), ("Done", ""))
            self.assertEqual(last["measured"], measured)
            self.assertEqual(set(last["limits"]), {last["current"]})
        self.assertEqual(ranks, [[{**state} for state in ranks[0]]] * len(ranks), "ranks have decided differently")

    def test_single_gpu(self):
        seen = self.run_example("power_limit_optimizer/train_single.py", "data", "--epochs", "2", "-b", "4", "-j", "0", "-p", "1000",
                                EXAMPLE_IMAGES="1600")
        self.check(seen, [250, 225, 200, 175, 150, 125, 100])
        accuracy = float(self.said.split("Top-1 accuracy: ")[-1].split()[0].replace("tensor(", "").strip(",)"))
        self.assertGreater(accuracy, 50)  # a quarter would be chance

    def test_data_parallel(self):
        seen = self.run_example("power_limit_optimizer/train_dp.py", "data", "--epochs", "2", "-b", "8", "-j", "0", "-p", "1000",
                                ranks=2, EXAMPLE_IMAGES="3200")
        self.check(seen, [250, 225, 200, 175, 150, 125, 100])

    def test_fully_sharded(self):
        seen = self.run_example("power_limit_optimizer/train_fsdp.py", "--epochs", "1", "--batch-size", "1", ranks=2, EXAMPLE_IMAGES="3200")
        self.check(seen, [250, 225, 200, 175, 150, 125, 100])


class OtherExamples(Case):
    LANGUAGE_MODELING = (
        "--model_type gpt2 --config_overrides n_embd=16,n_layer=1,n_head=2,n_positions=16,vocab_size=32 --tokenizer_name tokenizer "
        "--train_file text.txt --validation_file text.txt --do_train --do_eval --max_eval_samples 16 --output_dir out --use_cpu "
        "--report_to none --save_strategy no --disable_tqdm true --num_train_epochs 1 --per_device_train_batch_size 1").split()

    def test_metrics_reach_a_pushgateway(self):
        # The script names two CPU packages, which few virtual machines have.
        before = processors.before()
        if not before:
            self.skipTest("skipped: mounting needs root")
        with prometheus_programs.gateway() as address:
            self.run_example("prometheus/train_single.py", "data", "--epochs", "2", "-b", "32", "-j", "0", before=before,
                             servers={"localhost:9091": address.split(":")}, EXAMPLE_IMAGES="320")
            text = prometheus_programs.get(f"http://{address}/metrics")
        histogram, counter, gauge = (prometheus_programs.samples(text, f"training_{kind}")
                                     for kind in ("energy_histogram", "energy_counter", "power_gauge"))
        for device, index in (("gpu", 0), ("cpu", 0), ("cpu", 1)):
            name = f"energy_monitor_{device}_energy_joules"
            self.assertEqual(histogram[prometheus_programs.key(f"{name}_count", "training_energy", index)], 2)
            self.assertGreater(counter[prometheus_programs.key(f"{name}_total", "epoch_energy", index)],
                               histogram[prometheus_programs.key(f"{name}_sum", "training_energy", index)])
        self.assertAlmostEqual(gauge[prometheus_programs.key("power_monitor_gpu_power_watts", "epoch_power", 0)], 180.0, delta=9.0)

    def test_carbon_emissions_of_a_trainer(self):
        hosts = ("ipinfo.io", "api.electricitymap.org")
        answers = {**local_services.electricity_maps(400.0), "/json": {"loc": "52.5,13.4"}}
        with local_services.running(answers, self.folder, hosts) as service:
            servers = {f"{host}:443": service.server_address for host in hosts}
            self.run_example("carbon_emission_monitor/run_clm.py", *self.LANGUAGE_MODELING, EXAMPLE_LINES="200", servers=servers,
                             SSL_CERT_FILE=str(self.folder / "certificate"))
            self.assertTrue(any("lat=52.5&lon=13.4&disableEstimations=False" in path for _, path, _, _ in service.requests))
        found = re.findall(r"gpu_energy=\{(.*?)\}.*?gpu_carbon_emission=\{(.*?)\}", self.said)
        self.assertEqual(len(found), 2)  # of the training and of the evaluation
        for energies, emissions in found:
            for energy, emission in zip(re.findall(r": ([\d.e-]+)", energies), re.findall(r": ([\d.e-]+)", emissions), strict=True):
                self.assertAlmostEqual(float(emission) / (float(energy) * 400.0 / 3.6e6), 1.0, places=6)

    def test_a_trainer_of_hugging_face(self):
        (seen,) = self.run_example("huggingface/run_clm.py", *self.LANGUAGE_MODELING, EXAMPLE_LINES="1200")
        self.assertEqual((seen[-1]["state"], seen[-1]["unoptimized"]), ("Done", ""))

    def test_batch_sizes_of_a_server(self):
        for name, ranks in (("train_single_gpu.py", 1), ("train_dp.py", 2)):
            with self.subTest(name), existing_servers.batch_size(build) as server:
                self.run_example(f"batch_size_optimizer/mnist/{name}", "--epochs", "6", "--target-accuracy", "0.4", ranks=ranks,
                                 EXAMPLE_IMAGES="2048", ZEUS_SERVER_URL=server.url)
                self.assertIn("Chosen batach_size: 256", self.said)

    def test_jax(self):
        script = examples() / "jax" / "measure_energy.py"
        # 50,000 products of large matrices are for a GPU: here 20.
        start = ("import builtins, runpy, sys\n"
                 "runpy.run_path(sys.argv[1], {'range': lambda count: builtins.range(min(count, 20))}, '__main__')")
        said = self.run_command("2xV100", [python_environment.interpreter(build, "clients"), "-c", start, script], JAX_PLATFORMS="cpu")
        printed = re.search(r"Took ([\d.]+) seconds\.\nGPU 0 consumed ([\d.]+) Joules\.", said)
        seconds, joules = (float(number) for number in printed.groups())
        self.assertAlmostEqual(joules, 180.0 * seconds, delta=0.05 * 180.0 * seconds + 2.0)


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    if sys.argv[1:2] == ["--examples"]:
        checkout = pathlib.Path(sys.argv[2]).resolve()
        del sys.argv[1:3]
    unittest.main()

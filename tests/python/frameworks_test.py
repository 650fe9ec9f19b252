"""Programs of real frameworks, measured on four virtual V100s that draw 150 W each: the published snippet for measuring
with PyTorch, and a JAX program. The frameworks come from the registry; without it these tests are skipped.

  frameworks_test.py BUILD_FOLDER
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import python_environment  # noqa: E402

BLOG = ROOT.parent / "shared" / "seeds" / "zeus-pytorch-blog.md"
build = pathlib.Path()

# The parts that the snippet leaves to its reader: a model, data and an optimizer. They fit a line on the CPU.
TORCH_PREAMBLE = """
import torch
torch.manual_seed(1)
x_all = torch.linspace(-1, 1, 64).unsqueeze(1)
model = torch.nn.Linear(1, 1)
criterion = torch.nn.MSELoss()
optim = torch.optim.SGD(model.parameters(), lr=0.01)
train_dataloader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(x_all, 3 * x_all + 1), batch_size=16)
"""
# The indentation of each line of the snippet, which the page has lost.
DEPTHS = (0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 1, 1, 0, 0)

JAX_PROGRAM = """
import json
import jax, jax.numpy as jnp
from zeus.monitor import ZeusMonitor

@jax.jit
def product(matrix):
    return matrix @ matrix

matrix = jnp.ones((300, 300)) / 300
product(matrix).block_until_ready()

monitor = ZeusMonitor(gpu_indices=[0], sync_execution_with="jax")
monitor.begin_window("products")
for _ in range(200):
    matrix = product(matrix)
matrix.block_until_ready()
measurement = monitor.end_window("products")
print(measurement)
print(json.dumps([measurement.time, measurement.gpu_energy[0], measurement.details.gpu[0].uncertainty, float(matrix[0, 0])]))
"""


PYNVML_PROGRAM = """
import pynvml
from zeus.device import get_gpus
gpu = get_gpus().gpus[2]
assert pynvml.nvmlDeviceGetUUID(gpu.handle) == gpu.uuid
print(pynvml.nvmlDeviceGetIndex(gpu.handle))
"""


def published_snippet() -> str:
    """The first program of the page, with its indentation restored."""
    lines = re.search(r"```\n(.*?)```", BLOG.read_text(encoding="utf-8"), re.DOTALL)[1].splitlines()
    if len(lines) != len(DEPTHS):
        raise AssertionError(f"the page's first program has {len(lines)} lines, not {len(DEPTHS)}")
    return "\n".join("    " * depth + line for depth, line in zip(DEPTHS, lines))


class Frameworks(unittest.TestCase):
    def run_program(self, python: pathlib.Path, program: str) -> subprocess.CompletedProcess:
        version = subprocess.run([python, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True,
                                 check=True).stdout.strip()
        if version != str(sys.version_info[:2]):
            raise unittest.SkipTest(f"skipped: the extension is built for another Python than {python}")
        with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as script:
            script.write(program)
            script.flush()
            done = subprocess.run([python, script.name], capture_output=True, text=True, timeout=200, check=False,
                                  env={**os.environ, "JAX_PLATFORMS": "cpu"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    @unittest.skipUnless(BLOG.exists(), f"skipped: {BLOG} is not here")
    def test_the_published_snippet_runs_as_it_stands(self):
        python = python_environment.interpreter(build, "trainers")
        done = self.run_program(python, TORCH_PREAMBLE + published_snippet())
        epochs = re.findall(r"^Epoch (\d+): ([\d.e-]+) s, ([\d.]+) J$", done.stdout, re.MULTILINE)
        self.assertEqual([int(number) for number, _, _ in epochs], list(range(100)))
        whole = re.search(r"^Entire training: ([\d.]+) s, ([\d.]+) J$", done.stdout, re.MULTILINE)
        seconds, energy = float(whole[1]), float(whole[2])
        # Four GPUs of 150 W; an edge is accurate to about a joule for each.
        self.assertAlmostEqual(energy, 4 * 150 * seconds, delta=0.05 * 4 * 150 * seconds + 4)
        self.assertLessEqual(sum(float(time) for _, time, _ in epochs), seconds)
        self.assertEqual(done.stderr.count("torch has no GPU here"), 1, done.stderr)

    def test_a_gpus_handle_is_that_of_pynvml(self):
        python = python_environment.interpreter(build, "clients")
        self.assertEqual(self.run_program(python, PYNVML_PROGRAM).stdout, "2\n")

    def test_a_jax_program_is_measured(self):
        python = python_environment.interpreter(build, "clients")
        done = self.run_program(python, JAX_PROGRAM)
        printed, numbers = done.stdout.splitlines()
        self.assertRegex(printed, r"^Measurement\(time=.*, gpu_energy=\{0: ")
        seconds, energy, uncertainty, _ = json.loads(numbers)
        self.assertAlmostEqual(energy, 150 * seconds, delta=4 * uncertainty + 0.05)
        self.assertEqual(done.stderr.count("jax has no GPU here"), 1, done.stderr)

    def test_torch_is_waited_for_only_where_it_works_and_ranks_are_known(self):
        python = python_environment.interpreter(build, "trainers")
        done = self.run_program(python, """
import warnings; warnings.simplefilter("error")
from zeus.monitor import ZeusMonitor
import sys, time
m = ZeusMonitor(); m.begin_window("x"); time.sleep(0.2); m.end_window("x")
print("torch" in sys.modules)
import tempfile
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own warning if there is no numpy
    import torch.distributed as dist
from zeus.utils.framework import all_reduce, get_rank, get_world_size, is_distributed, torch_is_available
with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
    print(get_rank(), get_world_size(), is_distributed(), all_reduce([16777217.0, 0.1], "sum"))
    dist.destroy_process_group()
print(torch_is_available(ensure_cuda=False))
try: torch_is_available()
except RuntimeError as error: print(error)
""")
        self.assertEqual(done.stdout.splitlines(), ["False", "0 1 False [16777217.0, 0.1]", "True",
                                                    "PyTorch is installed, but it has no GPU here"])


if __name__ == "__main__":
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

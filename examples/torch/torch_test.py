"""The libtorch example, built against the pinned package from the registry and really trained, on virtual GPUs.

  torch_test.py ZEUS SOURCE_FOLDER BUILD_FOLDER COMPILER
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))
import python_environment  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "docs"))
import header_examples  # noqa: E402

zeus, source, build, compiler = sys.argv[1:5]
ASK = "import torch, json; print(json.dumps([torch.__path__[0], torch.compiled_with_cxx11_abi()]))"


# Both programs in one, because reading PyTorch's headers takes most of the time.
BOTH = """
#include <torch/torch.h>
#include <zeus/torch.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>
#define main header_main
#include "header_example"
#undef main
#define main torch_train
#include "torch_train.cpp"
#undef main
int main(int argc, char** argv) {
  return argc > 1 && std::string{argv[1]} == "header" ? std::invoke(header_main) : torch_train(argc, argv);
}
"""


class TorchExample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        python = python_environment.interpreter(pathlib.Path(build), "trainers")
        answer = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=True)
        torch, cxx11_abi = json.loads(answer.stdout)
        assert cxx11_abi, "this build of libtorch uses strings of another kind: nothing of C++11 can be linked with it"
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        cls.program = folder / "torch_train"
        (folder / "header_example").write_text(header_examples.program("torch.hpp", header_examples.examples()["torch.hpp"]), encoding="utf-8")
        (folder / "both.cpp").write_text(BOTH, encoding="utf-8")
        # The heavy work is in libtorch, which is optimized.
        subprocess.run([compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", folder / "both.cpp", "-o", cls.program,
                        f"-I{source}/examples/torch", f"-I{source}/include", "-isystem", f"{torch}/include", "-isystem",
                        f"{torch}/include/torch/csrc/api/include", f"-L{build}/lib", "-lzeus", f"-L{torch}/lib", "-ltorch",
                        "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{build}/lib:{torch}/lib"], check=True)

    def train(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [zeus, "virtual", "2xV100", "--load", "constant:200W", "--", self.program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)

    def test_the_example_of_the_header_compiles_and_runs(self):
        done = self.train("header")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_trains_to_its_target(self):
        done = self.train("32", "0.9")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1], r"^reached after \d+ epochs, [\d.]+ s, [\d.]+ \+- [\d.]+ J on 2 GPUs, ")

    def test_tunes_the_gpus_while_it_trains_for_long_enough(self):
        profiles = pathlib.Path(self.folder.name) / "profiles.json"
        done = self.train("32", "2", str(profiles))  # an accuracy that is never reached
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        last = done.stdout.splitlines()[-1]
        # On a busy machine steps may take longer near the end, so that the limits are profiled again.
        self.assertRegex(last, r"^not reached after 60 epochs, [\d.]+ s, [\d.]+ \+- [\d.]+ J on 2 GPUs, "
                               r"(power limit \d+ W|(power limit \d+ W, )?unoptimized: .* profiled again, because steps now take .*)$")
        self.assertEqual(json.loads(profiles.read_text(encoding="utf-8"))["profiles"][0]["batch_size"], 32)

    def test_stops_at_a_target_that_is_easily_reached(self):
        done = self.train("64", "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(int(re.search(r"reached after (\d+) epochs", done.stdout)[1]), 10)

    def test_trains_without_a_gpu_as_well(self):
        done = subprocess.run([self.program, "64", "0.5"], capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])

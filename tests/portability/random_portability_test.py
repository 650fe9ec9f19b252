"""The same draws under GCC and Clang, unoptimized and optimized, with and without fused multiply-add."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["src/base/portable_math.cpp", "src/base/random.cpp", "tests/portability/print_draws.cpp"]
GOLDEN = ROOT / "tests" / "golden" / "base" / "random_draws.txt"


class RandomPortability(unittest.TestCase):
    def draws(self, compiler: str, flags: list[str]) -> str:
        with tempfile.TemporaryDirectory() as scratch:
            program = pathlib.Path(scratch) / "print_draws"
            command = [compiler, "-std=c++20", "-ffp-contract=off", *flags, f"-I{ROOT}", f"-I{ROOT}/src",
                       f"-I{ROOT}/include", *[ROOT / source for source in SOURCES], "-o", program]
            subprocess.run(command, check=True)
            return subprocess.run([program], capture_output=True, text=True, check=True).stdout

    def test_every_compiler_and_optimization_draws_the_golden_numbers(self):
        golden = GOLDEN.read_text(encoding="utf-8")
        fused = [["-O3", "-mfma"]] if " fma " in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8") else []
        for compiler in ("g++", "clang++-16"):
            self.assertIsNotNone(shutil.which(compiler), f"{compiler} is not installed; see packaging/debian.txt")
            for flags in [["-O0", "-g"], ["-O2", "-DNDEBUG"], ["-O3", "-funroll-loops"], *fused]:
                with self.subTest(compiler=compiler, flags=flags):
                    self.assertEqual(self.draws(compiler, flags), golden)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""A report's time among 1,400 connected clients, as a ratio of its time alone, in turns.

  server_crowd_bench.py BUILD
"""

import pathlib
import subprocess
import sys

TEST = pathlib.Path(__file__).resolve().parent.parent / "tests" / "server" / "many_clients_test.py"
MOST = "3"

if __name__ == "__main__":
    words = [sys.executable, TEST, pathlib.Path(sys.argv[1]) / "bin" / "zeus", "--most", MOST]
    sys.exit(subprocess.run(words, check=False).returncode)

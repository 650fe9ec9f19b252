#!/usr/bin/env python3
"""The cost of the server beside one thread with epoll that parses nothing: round trips, and pieces to many streams."""

import pathlib
import subprocess
import sys

program = pathlib.Path(sys.argv[1]) / "bench" / "transport_round_trips"
sys.exit(subprocess.run([program, *sys.argv[2:]], check=False).returncode)

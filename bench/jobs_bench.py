"""A recurring job with a history of 100 000 entries: deciding, showing and recording, against the promised bounds.

  jobs_bench.py BUILD
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ENTRIES = 100_000


def main() -> int:
    program = pathlib.Path(sys.argv[1]) / "bench" / "jobs_history"
    with tempfile.TemporaryDirectory(prefix="zeus_jobs_") as folder:
        done = subprocess.run([program, folder, str(ENTRIES)], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return 1
    seen = json.loads(done.stdout)
    bound = 0.5 + 3 * seen["flush_ms"]
    rows = (
        ("decide, state in memory", seen["warm_ms"], 1.0),
        ("decide, new process, stored snapshot", seen["with_ms"], 5.0),
        ("decide, new process, no snapshot at all", seen["without_ms"], None),
        ("show summary and 50 tries (bound: 2 x 100 entries)", seen["view_ms"], 2 * seen["short_view_ms"]),
        ("show 50 tries from the middle", seen["page_ms"], None),
        ("record, durably (bound: 0.5 ms + 3 flushes)", seen["record_ms"], bound),
        ("yardstick: write and fdatasync 4 KiB", seen["flush_ms"], None),
        ("record, 90th percentile", seen["record_p90_ms"], 0.5 + 3 * seen["flush_p90_ms"]),
    )
    print(f"  {'a job of ' + str(seen['entries']) + ' entries':<52}{'ms':>10}{'bound':>10}{'ratio':>9}")
    for name, milliseconds, limit in rows:
        tail = f"{limit:>10.3g}{milliseconds / limit:>9.3g}" if limit else ""
        print(f"  {name:<52}{milliseconds:>10.3g}{tail}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

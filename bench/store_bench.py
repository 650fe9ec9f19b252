"""Durable appends alone, and sixteen at once that share flushes, in both databases in turns: milliseconds for each append.

  store_bench.py BUILD
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
import postgres_server  # noqa: E402

TURNS = 5


def main() -> int:
    program = pathlib.Path(sys.argv[1]) / "bench" / "store_appends"
    seen: dict[str, list[dict]] = {"SQLite": [], "PostgreSQL": []}
    with postgres_server.PostgresServer() as server, tempfile.TemporaryDirectory(prefix="zeus_store_") as folder:
        for turn in range(TURNS):
            places = {"SQLite": f"{folder}/{turn}.sqlite", "PostgreSQL": server.create_database(f"turn_{turn}")}
            for name, place in places.items():
                done = subprocess.run([program, place], capture_output=True, text=True, check=False)
                if done.returncode:
                    print(done.stderr, file=sys.stderr)
                    return 1
                seen[name].append(json.loads(done.stdout))
    print(f"  {'ms for each append':<46}{'16 at once':>10}{'alone':>10}{'ratio':>9}")
    for name, turns in seen.items():
        together, alone = (statistics.median(one[key] for one in turns) for key in ("together_ms", "alone_ms"))
        print(f"  {name:<46}{together:>10.3g}{alone:>10.3g}{together / alone:>9.3g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

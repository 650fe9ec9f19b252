"""Makes the Python environments of the tests, which takes minutes: `make test` begins it while it compiles.

  environment.py BUILD_FOLDER [clients|trainers|trackers|readers|existing|wheels|examples ...]     all of them by default
  environment.py BUILD_FOLDER unchanged                                            exit 1 if a test wrote into one

Without the registry it prints one line, and the tests that need the environment are skipped.
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import examples_test  # noqa: E402
import python_environment  # noqa: E402

ALL = ["clients", "trainers", "trackers", "readers", "existing", "wheels", "examples"]


def main() -> int:
    build, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or ALL
    if wanted == ["unchanged"]:
        changed = python_environment.changed(build)
        for path in changed:
            print(f"written by a test, though shared by all builds: {path}")
        return 1 if changed else 0
    for name in wanted:
        try:
            if name == "examples":
                examples_test.build = build
                examples_test.examples()
            else:
                python_environment.interpreter(build, name)
        except unittest.SkipTest as reason:
            print(reason)
    return 0


if __name__ == "__main__":
    sys.exit(main())

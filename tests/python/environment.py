"""Creates the environments for the tests beside it, once per build folder.

  environment.py BUILD_FOLDER servers|scripts|trainers|examples

Without the registry it prints one line, and the tests that need the environment are skipped.
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import examples_test  # noqa: E402
import existing_servers  # noqa: E402
import python_environment  # noqa: E402
import user_scripts_test  # noqa: E402

TRAINERS = ("torch", "transformers", "trl", "lightning")


def main() -> None:
    build, which = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    try:
        if which == "servers":
            python_environment.interpreter(build, *existing_servers.PACKAGES)
        elif which == "scripts":
            for packages in (user_scripts_test.BESIDE, ("zeus", *user_scripts_test.BESIDE)):
                python_environment.interpreter(build, *packages)
        elif which == "trainers":
            python_environment.interpreter(build, *TRAINERS)
        else:
            examples_test.build = build
            examples_test.examples()
    except unittest.SkipTest as reason:
        print(reason)


if __name__ == "__main__":
    main()

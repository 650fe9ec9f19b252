"""Shows what is installed under the name `zeus`, and makes it this package again: `python -m zeus_cpp`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from zeus_cpp._distribution import VERSION, InstallationError, provide, remove, repair, status, write_wheel


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m zeus_cpp", description="What is installed under the name `zeus`.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("status", help="which package `import zeus` is, and what is installed")
    providing = commands.add_parser("provide", help=f"install zeus {VERSION}, which has no files, for projects that require `zeus`")
    providing.add_argument("--wheel", type=Path, metavar="FOLDER", help="write its wheel there, and install nothing")
    commands.add_parser("repair", help="remove another package that is imported as `zeus`, and provide this one")
    commands.add_parser("remove", help=f"uninstall zeus-cpp, and zeus {VERSION}, which would require it")
    options = parser.parse_args(arguments)
    try:
        if options.command == "status":
            ours, text = status()
            print(text)
            return 0 if ours else 1
        if options.command == "repair":
            print(repair())
        elif options.command == "remove":
            print(remove())
        elif options.wheel is not None:
            print(write_wheel(options.wheel))
        else:
            print(provide())
    except (InstallationError, OSError) as error:
        print(f"zeus_cpp: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

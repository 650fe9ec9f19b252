#!/usr/bin/env python3
"""Formatting by .clang-format: refuses files that differ from it, or with --fix rewrites them.

  check_format.py [--root DIR] [--fix]
"""

import argparse
import pathlib
import subprocess
import sys

from source_tree import CPP_SUFFIXES, source_files

CLANG_FORMAT = "clang-format-16"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--fix", action="store_true", help="rewrite the files")
    options = parser.parse_args()
    files = source_files(options.root, CPP_SUFFIXES)
    mode = ["-i"] if options.fix else ["--dry-run", "-Werror"]
    style = f"--style=file:{options.root}/.clang-format"
    return 1 if subprocess.run([CLANG_FORMAT, style, *mode, *files], check=False).returncode else 0


if __name__ == "__main__":
    sys.exit(main())
